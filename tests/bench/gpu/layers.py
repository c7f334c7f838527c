"""Layers: forward, backward and computed again; decoding; memory of a training step up to the first that does not fit."""
import dataclasses
import gc
import time

import torch
import torch._functorch.config
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.checkpoint import checkpoint

import shapes

TINY = shapes.Model("tiny", 64, 4, 2, 128, 256, 16)
TINY_MOE = shapes.Model("tiny experts", 64, 4, 2, 32, 256, 16, experts=4, chosen=2)
BACKENDS = [SDPBackend.CUDNN_ATTENTION, SDPBackend.FLASH_ATTENTION, SDPBackend.MATH]


def linear(inputs, outputs, device):
    layer = nn.Linear(inputs, outputs, bias=False, device=device, dtype=torch.bfloat16)
    nn.init.normal_(layer.weight, std=0.02)
    return layer


class Norm(nn.Module):
    def __init__(self, width, device):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width, device=device, dtype=torch.bfloat16))

    def forward(self, x):
        return F.rms_norm(x, (x.shape[-1],), self.weight, 1e-5)


class Attention(nn.Module):
    def __init__(self, m, tokens, device):
        super().__init__()
        self.m = m
        self.qkv = linear(m.d_model, (m.n_heads + 2 * m.n_kv_heads) * m.d_head, device)
        self.out = linear(m.n_heads * m.d_head, m.d_model, device)
        angle = torch.arange(tokens, device=device)[:, None] * 5e5 ** (
            -torch.arange(0, m.d_head, 2, device=device) / m.d_head)
        self.cos, self.sin = (f(angle).to(torch.bfloat16)[None, :, None, :] for f in (torch.cos, torch.sin))

    def rotated(self, x):
        a, b = x.chunk(2, -1)
        return torch.cat((a * self.cos - b * self.sin, b * self.cos + a * self.sin), -1)

    def forward(self, x):
        m = self.m
        batch, tokens, _ = x.shape
        q, k, v = self.qkv(x).view(batch, tokens, -1, m.d_head).split((m.n_heads, m.n_kv_heads, m.n_kv_heads), 2)
        q, k, v = (y.transpose(1, 2) for y in (self.rotated(q), self.rotated(k), v))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=m.n_heads != m.n_kv_heads)
        return self.out(y.transpose(1, 2).reshape(batch, tokens, -1))


class Mlp(nn.Module):
    def __init__(self, m, device):
        super().__init__()
        self.gate_up = linear(m.d_model, 2 * m.d_ff, device)
        self.down = linear(m.d_ff, m.d_model, device)

    def forward(self, x):
        gate, up = self.gate_up(x).chunk(2, -1)
        return self.down(F.silu(gate) * up)


class Gathered(torch.autograd.Function):
    """Each token as often as it has experts, in their order; back it is gathered too, and added up."""

    @staticmethod
    def forward(ctx, x, order, inverse, each):
        ctx.inverse, ctx.each = inverse, each
        return x.index_select(0, order // each)

    @staticmethod
    def backward(ctx, g):
        g = g.index_select(0, ctx.inverse)
        return g.view(-1, ctx.each, g.shape[-1]).sum(1), None, None, None


class Reordered(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, order, inverse):
        ctx.inverse = inverse
        return x.index_select(0, order)

    @staticmethod
    def backward(ctx, g):
        return g.index_select(0, ctx.inverse), None, None


class Experts(nn.Module):
    """Tokens in the order of their experts, grouped products, and back. Nothing waits for the host."""

    def __init__(self, m, device):
        super().__init__()
        self.m = m
        self.router = linear(m.d_model, m.experts, device)
        # Stored with the contraction last, as grouped products want it.
        self.gate_up = nn.Parameter(0.02 * torch.randn(m.experts, 2 * m.d_ff, m.d_model, device=device,
                                                       dtype=torch.bfloat16))
        self.down = nn.Parameter(0.02 * torch.randn(m.experts, m.d_model, m.d_ff, device=device,
                                                    dtype=torch.bfloat16))

    def forward(self, x):
        m = self.m
        flat = x.view(-1, x.shape[-1])
        weight, chosen = self.router(flat).float().softmax(-1).topk(m.chosen)
        order = chosen.view(-1).argsort(stable=True)
        inverse = order.argsort()
        ends = torch.histc(chosen.view(-1).float(), bins=m.experts, min=0, max=m.experts).cumsum(0).to(torch.int32)
        rows = Gathered.apply(flat, order, inverse, m.chosen)
        gate, up = torch._grouped_mm(rows, self.gate_up.transpose(1, 2), offs=ends).chunk(2, -1)
        y = torch._grouped_mm(F.silu(gate) * up, self.down.transpose(1, 2), offs=ends)
        y = Reordered.apply(y, inverse, order).view(-1, m.chosen, m.d_model)
        return (y * weight.to(y.dtype)[..., None]).sum(1).view_as(x)


class Layer(nn.Module):
    def __init__(self, m, tokens, device):
        super().__init__()
        self.attention_norm, self.mlp_norm = Norm(m.d_model, device), Norm(m.d_model, device)
        self.attention = Attention(m, tokens, device)
        self.mlp = Experts(m, device) if m.experts else Mlp(m, device)

    def forward(self, x):
        x = x + self.attention(self.attention_norm(x))
        return x + self.mlp(self.mlp_norm(x))


def layer(bench, m, batch, tokens, compiled=False):
    if bench.time_left() < 0:
        return
    shape = {"op": "layer", "model": dataclasses.asdict(m), "batch": batch, "tokens": tokens, "dtype": "bf16",
             "compiled": compiled}
    try:
        block = Layer(m, tokens, bench.device)
        inputs = list(block.parameters())
        if compiled:
            torch._dynamo.reset()
            torch._functorch.config.donated_buffer = False  # the graph is kept for the next repeat
            block = torch.compile(block, dynamic=False)
        x = torch.randn(batch, tokens, m.d_model, dtype=torch.bfloat16, device=bench.device, requires_grad=True)
        g = torch.randn_like(x)
        inputs.append(x)
        with sdpa_kernel(BACKENDS, set_priority=True):
            with torch.no_grad():
                bench.attempt({**shape, "pass": "forward"}, lambda: block(x), ahead_s=4e-3)
            y = block(x)
            bench.attempt({**shape, "pass": "backward"},
                          lambda: torch.autograd.grad(y, inputs, g, retain_graph=True), ahead_s=4e-3)
            del y
            bench.attempt({**shape, "pass": "forward_backward"}, lambda: torch.autograd.grad(block(x), inputs, g),
                          ahead_s=4e-3)
            bench.attempt({**shape, "pass": "forward_recomputed_backward"},
                          lambda: torch.autograd.grad(checkpoint(block, x, use_reentrant=False), inputs, g),
                          ahead_s=6e-3)
    except Exception as error:
        bench.write(op="failed", shape=shape, error=f"{type(error).__name__}: {str(error)[:300]}")


def training_layers(bench):
    if bench.dry:
        layer(bench, TINY, 1, 32)
        layer(bench, TINY_MOE, 1, 32)
        return
    for m, batch, tokens in ((shapes.LLAMA_8B, 1, 8192), (shapes.LLAMA_70B, 1, 8192),
                             (shapes.LLAMA_70B.split(8), 1, 8192), (shapes.LLAMA_8B, 4, 2048),
                             (shapes.MIXTRAL, 1, 8192), (shapes.QWEN3_MOE, 2, 4096), (shapes.GPT_OSS, 2, 4096),
                             (shapes.LLAMA_8B.split(8), 1, 8192), (shapes.LLAMA_405B.split(8), 1, 8192),
                             (shapes.LLAMA_8B, 1, 32768), (shapes.QWEN3_MOE, 4, 4096), (shapes.MIXTRAL, 4, 4096),
                             (shapes.LLAMA_1B, 4, 4096)):
        layer(bench, m, batch, tokens)
        torch.cuda.empty_cache()


def compiled_layers(bench):
    """The same with the passes over vectors fused by torch.compile, as training programs run them."""
    for m, batch, tokens in ((TINY, 1, 32),) if bench.dry else (
            (shapes.LLAMA_8B, 1, 8192), (shapes.LLAMA_70B.split(8), 1, 8192), (shapes.LLAMA_8B, 4, 2048),
            (shapes.LLAMA_405B.split(8), 1, 8192), (shapes.LLAMA_1B, 4, 4096), (shapes.LLAMA_70B, 1, 8192),
            (shapes.LLAMA_8B, 1, 32768), (shapes.LLAMA_8B.split(8), 1, 8192)):
        layer(bench, m, batch, tokens, compiled=not bench.dry)


BATCHES = ((1, 1024), (1, 8192), (1, 131072), (8, 1024), (8, 8192), (32, 1024), (32, 8192), (128, 1024), (128, 8192),
           (256, 1024), (256, 4096))


def decoding(bench):
    """One layer of one token for each of a batch: its weights and the keys and values so far are read once. Captured
    as a graph, as servers do."""
    for m in (TINY,) if bench.dry else (shapes.LLAMA_8B, shapes.LLAMA_70B.split(8), shapes.LLAMA_70B):
        for batch, context in ((2, 32),) if bench.dry else BATCHES:
            for name, backend in (("flash", SDPBackend.FLASH_ATTENTION), ("cudnn", SDPBackend.CUDNN_ATTENTION)):
                decode(bench, m, batch, context, name, SDPBackend.MATH if bench.dry else backend)


def compiled_decoding(bench):
    """The same with what is between the products fused by torch.compile."""
    for m in (TINY,) if bench.dry else (shapes.LLAMA_8B, shapes.LLAMA_70B.split(8), shapes.LLAMA_70B):
        for batch, context in ((2, 32),) if bench.dry else BATCHES:
            decode(bench, m, batch, context, "cudnn", SDPBackend.MATH if bench.dry else SDPBackend.CUDNN_ATTENTION,
                   compiled=not bench.dry)


def decode(bench, m, batch, context, name, backend, compiled=False):
    if bench.time_left() < 0:
        return
    shape = {"op": "decode_layer", "model": dataclasses.asdict(m), "batch": batch, "context": context,
             "algorithm": name, "dtype": "bf16", "compiled": compiled}
    try:
        block = Layer(m, 1, bench.device)
        x = torch.randn(batch, 1, m.d_model, dtype=torch.bfloat16, device=bench.device)
        cache = torch.randn(2, batch, context, m.n_kv_heads, m.d_head, dtype=torch.bfloat16, device=bench.device)
        keys, values = cache[0], cache[1]

        def step(x, keys, values):
            a = block.attention
            q, k, v = a.qkv(block.attention_norm(x)).view(batch, 1, -1, m.d_head) \
                .split((m.n_heads, m.n_kv_heads, m.n_kv_heads), 2)
            keys[:, -1:], values[:, -1:] = a.rotated(k), v
            y = F.scaled_dot_product_attention(a.rotated(q).transpose(1, 2), keys.transpose(1, 2),
                                               values.transpose(1, 2), enable_gqa=m.n_heads != m.n_kv_heads)
            h = x + a.out(y.transpose(1, 2).reshape(batch, 1, -1))
            return h + block.mlp(block.mlp_norm(h))

        if compiled:
            torch._dynamo.reset()
            step = torch.compile(step, dynamic=False)
        with torch.no_grad(), sdpa_kernel(backend):
            if bench.dry:
                bench.attempt(shape, lambda: step(x, keys, values))
                return
            stream = torch.cuda.Stream()
            with torch.cuda.stream(stream):
                step(x, keys, values)
                step(x, keys, values)
            torch.cuda.synchronize()
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph):
                step(x, keys, values)
            bench.attempt(shape, graph.replay)
            del graph
    except Exception as error:
        bench.write(op="failed", shape=shape, error=f"{type(error).__name__}: {str(error)[:300]}")


def sustained(bench):
    """A layer and a product again and again: what power and heat leave of the rate of a few in a row."""
    m = TINY if bench.dry else shapes.LLAMA_70B
    tokens, size, seconds = (32, 64, 0.1) if bench.dry else (8192, 8192, 12)
    block = Layer(m, tokens, bench.device)
    x = torch.randn(1, tokens, m.d_model, dtype=torch.bfloat16, device=bench.device, requires_grad=True)
    g = torch.randn_like(x)
    inputs = [x, *block.parameters()]
    a, b = (torch.randn(size, size, dtype=torch.bfloat16, device=bench.device) for _ in range(2))
    works = {"layer": (10, lambda: torch.autograd.grad(block(x), inputs, g)), "gemm": (400, lambda: a @ b)}
    for name, (each, work) in works.items():
        begin = time.monotonic()
        with sdpa_kernel(BACKENDS, set_priority=True):
            while (now := time.monotonic()) - begin < seconds:
                for _ in range(each):
                    work()
                if not bench.dry:
                    torch.cuda.synchronize()
                bench.write(op="sustained", work=name, model=m.name, tokens=tokens, size=size, at_s=now - begin,
                            time_s=(time.monotonic() - now) / each, clocks=bench.clocks())


def entropy(logits, words):
    return F.cross_entropy(logits.flatten(0, 1).float(), words.flatten())


class Decoder(nn.Module):
    def __init__(self, m, layers, tokens, device, compiled):
        super().__init__()
        self.embedding = nn.Embedding(m.vocabulary, m.d_model, device=device, dtype=torch.bfloat16)
        self.layers = nn.ModuleList(Layer(m, tokens, device) for _ in range(layers))
        self.norm = Norm(m.d_model, device)
        self.head = linear(m.d_model, m.vocabulary, device)
        self.entropy = entropy
        if compiled:  # block by block and the loss, as torchtitan does
            self.blocks = [torch.compile(block, dynamic=False) for block in self.layers]
            self.entropy = torch.compile(entropy, dynamic=False)
        else:
            self.blocks = list(self.layers)

    def loss(self, words, again):
        x = self.embedding(words)
        for block in self.blocks:
            x = checkpoint(block, x, use_reentrant=False) if again else block(x)
        return self.entropy(self.head(self.norm(x)), words)


def training_step(m, layers, batch, tokens, again, device, compiled):
    """Two steps of Adam, all in 16 bits; the bytes they took at the most, and the seconds of the second."""
    cuda = device == "cuda"
    model = Decoder(m, layers, tokens, device, compiled)
    adam = torch.optim.AdamW(model.parameters(), lr=1e-5, fused=cuda)
    words = torch.randint(0, m.vocabulary, (batch, tokens), device=device)
    seconds = 0.0
    for _ in range(2):
        if cuda:
            start, stop = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
            start.record()
        model.loss(words, again).backward()
        adam.step()
        adam.zero_grad(set_to_none=False)
        if cuda:
            stop.record()
            torch.cuda.synchronize()
            seconds = start.elapsed_time(stop) / 1e3
    if not cuda:
        return {"step_s": seconds}
    free, total = torch.cuda.mem_get_info()
    return {"allocated_bytes": torch.cuda.max_memory_allocated(), "reserved_bytes": torch.cuda.max_memory_reserved(),
            "used_bytes": total - free, "total_bytes": total, "step_s": seconds,
            "parameters": sum(p.numel() for p in model.parameters())}


def free_memory():
    gc.collect()
    if torch.cuda.is_available():
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()


def memory(bench):
    grow(bench, [("batch", shapes.LLAMA_8B, 32, 2048, False, 5), ("layers", shapes.LLAMA_70B, 1, 4096, True, 16),
                 ("batch", shapes.LLAMA_1B, 16, 4096, False, 9), ("batch", shapes.LLAMA_8B, 32, 8192, True, 4),
                 ("layers", shapes.MIXTRAL, 1, 4096, True, 10), ("layers", shapes.LLAMA_8B, 1, 8192, False, 34),
                 ("layers", shapes.QWEN3_MOE, 1, 4096, False, 20), ("layers", shapes.LLAMA_8B, 1, 8192, True, 60),
                 ("batch", shapes.LLAMA_1B, 16, 8192, True, 7)], False)


def compiled_memory(bench):
    """The same with passes over vectors fused, which then keep less for the backward, and so the loss."""
    grow(bench, [("layers", shapes.LLAMA_8B, 1, 8192, False, 46), ("layers", shapes.LLAMA_70B, 1, 4096, True, 17),
                 ("layers", shapes.LLAMA_8B, 1, 8192, True, 74), ("batch", shapes.LLAMA_8B, 32, 2048, False, 8),
                 ("batch", shapes.LLAMA_1B, 16, 4096, False, 18), ("batch", shapes.LLAMA_8B, 32, 8192, True, 12),
                 ("batch", shapes.LLAMA_1B, 16, 8192, True, 26)], True)


def grow(bench, cases, compiled):
    """Each case grows from a first guess by a quarter, and then by halves of what is between, to the last that fits and
    the first that does not."""
    if not bench.dry:
        bench.flush = None  # nothing else is to be in memory
    if bench.dry:
        cases = [("batch", TINY, 2, 32, True, 1)]
    for grows, m, layers, tokens, again, size in cases:
        fits, fails = 0, None
        if compiled:
            torch._dynamo.reset()
            torch._dynamo.config.recompile_limit = 64  # a batch is a shape of its own
        while bench.time_left() > 0:
            n_layers, batch = (size, 1) if grows == "layers" else (layers, size)
            shape = {"op": "training_step", "model": dataclasses.asdict(m), "layers": n_layers, "batch": batch,
                     "tokens": tokens, "recomputed": again, "grows": grows, "dtype": "bf16_pure",
                     "compiled": compiled}
            free_memory()
            if compiled and not bench.dry and torch.cuda.memory_allocated() > 1 << 30:  # a cache holds the last model
                torch._dynamo.reset()
                free_memory()
            failure = None
            try:
                with sdpa_kernel(BACKENDS, set_priority=True):
                    result = training_step(m, n_layers, batch, tokens, again, bench.device, compiled and not bench.dry)
            except RuntimeError as error:
                if "out of memory" not in str(error) and "ALLOC_FAILED" not in str(error):
                    raise
                failure = str(error)[:200]
            if failure is None:
                bench.write(**shape, completed=True, **result)
                fits = size
            else:
                bench.write(**shape, completed=False, error=failure)
                fails = size
            if bench.dry or (fails is not None and fails - fits <= 1):
                break
            if fails is None:
                size = max(size + 1, size * 5 // 4)
            else:
                size = (fits + fails) // 2 if fits > 0 else max(1, fails * 4 // 5)
    free_memory()
    if not bench.dry:
        bench.make_flush()
