"""Kernels one by one: products, grouped products, attention, passes over vectors, copies, the host's link."""
import torch
import torch.nn.functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

import shapes


def small(bench, values, count=3):
    return values[:count] if bench.dry else values


def gemm(dtype):
    def section(bench):
        rows = small(bench, shapes.products())
        if bench.dry:
            rows = [("sweep", 16, 32, 64)]
        most_a = max(m * k for _, m, _, k in rows)
        most_b = max(n * k for _, _, n, k in rows)
        # Operands are views of one pool of random numbers.
        a_pool = torch.randn(most_a, dtype=torch.bfloat16, device=bench.device)
        b_pool = torch.randn(most_b, dtype=torch.bfloat16, device=bench.device)
        if dtype == "fp8":
            a_pool, b_pool = a_pool.to(torch.float8_e4m3fn), b_pool.to(torch.float8_e4m3fn)
        one = torch.ones((), device=bench.device)
        for table, m, n, k in rows:
            a, b = a_pool[:m * k].view(m, k), b_pool[:n * k].view(n, k).t()
            shape = {"op": "gemm", "table": table, "m": m, "n": n, "k": k, "dtype": dtype}
            if dtype == "fp8":
                bench.attempt(shape, lambda: torch._scaled_mm(a, b, scale_a=one, scale_b=one,
                                                              out_dtype=torch.bfloat16, use_fast_accum=True))
            else:
                bench.attempt(shape, lambda: a @ b)
    return section


def grouped_gemm(dtype):
    def section(bench):
        for groups, rows, n, k in small(bench, shapes.grouped()):
            if bench.dry:
                groups, rows, n, k = 2, 16, 32, 64
            a = torch.randn(groups * rows, k, dtype=torch.bfloat16, device=bench.device)
            b = torch.randn(groups, n, k, dtype=torch.bfloat16, device=bench.device)
            ends = torch.arange(1, groups + 1, dtype=torch.int32, device=bench.device) * rows
            shape = {"op": "grouped_gemm", "groups": groups, "m_per_group": rows, "n": n, "k": k, "dtype": dtype}
            if dtype == "bf16":
                b = b.transpose(1, 2)
                bench.attempt(shape, lambda: torch._grouped_mm(a, b, offs=ends))
                continue
            a, b = a.to(torch.float8_e4m3fn), b.to(torch.float8_e4m3fn).transpose(1, 2)
            scale_a = torch.ones(groups * rows, device=bench.device)
            scale_b = torch.ones(groups, n, device=bench.device)
            bench.attempt(shape, lambda: torch._scaled_grouped_mm(a, b, scale_a, scale_b, offs=ends,
                                                                  out_dtype=torch.bfloat16, use_fast_accum=True))
    return section


def attention(bench):
    backends = {"flash": SDPBackend.FLASH_ATTENTION, "cudnn": SDPBackend.CUDNN_ATTENTION}
    if bench.dry:
        backends = {"math": SDPBackend.MATH}
    for batch, tokens, heads, kv_heads, d_head, causal in small(bench, shapes.attentions()):
        if bench.dry:
            tokens = 64

        def random(n):
            return torch.randn(batch, tokens, n, d_head, dtype=torch.bfloat16, device=bench.device) \
                .transpose(1, 2).requires_grad_()

        q, k, v, g = random(heads), random(kv_heads), random(kv_heads), random(heads).detach()
        for name, backend in backends.items():
            shape = {"op": "attention", "batch": batch, "tokens": tokens, "heads": heads, "kv_heads": kv_heads,
                     "d_head": d_head, "causal": causal, "algorithm": name, "dtype": "bf16"}

            def forward():
                return F.scaled_dot_product_attention(q, k, v, is_causal=causal, enable_gqa=heads != kv_heads)

            with sdpa_kernel(backend):
                with torch.no_grad():
                    done = bench.attempt({**shape, "pass": "forward"}, forward)
                if done is None:
                    continue
                try:
                    out = forward()
                except Exception as error:
                    bench.write(op="failed", shape=shape, error=str(error)[:300])
                    continue
                bench.attempt({**shape, "pass": "backward"},
                              lambda: torch.autograd.grad(out, (q, k, v), g, retain_graph=True), ahead_s=4e-4)
                del out


def vectors(bench):
    """Each reads and writes what it must once, where it is one kernel: `passes` counts reads and writes of a tensor."""
    for rows, width in small(bench, ((512, 4096), (2048, 4096), (8192, 2048), (8192, 4096), (8192, 8192),
                                     (32768, 8192), (131072, 8192)), 1):
        x, y = (torch.randn(rows, width, dtype=torch.bfloat16, device=bench.device) for _ in range(2))
        w = torch.randn(width, dtype=torch.bfloat16, device=bench.device)
        out = torch.empty_like(x)
        kernels = {"rms_norm": (2, lambda: F.rms_norm(x, (width,), w, 1e-5)), "softmax": (2, lambda: x.softmax(-1)),
                   "silu": (2, lambda: F.silu(x)), "copy": (2, lambda: out.copy_(x)),
                   "add": (3, lambda: torch.add(x, y, out=out)), "fill": (1, out.zero_), "sum": (1, x.sum)}
        for name, (passes, run) in kernels.items():
            bench.attempt({"op": name, "rows": rows, "width": width, "passes": passes, "elements": rows * width,
                           "dtype": "bf16"}, run)


def copies(bench):
    """Pinned host memory to the device and back, one way at a time and both at once."""
    sizes = small(bench, [1 << i for i in (12, 16, 18, 20, 22, 24, 26, 28, 30)], 1)
    for size in sizes:
        host = torch.empty(size, dtype=torch.uint8, pin_memory=not bench.dry)
        back = torch.empty(size, dtype=torch.uint8, pin_memory=not bench.dry)
        here, there = (torch.zeros(size, dtype=torch.uint8, device=bench.device) for _ in range(2))
        shape = {"bytes": size}
        bench.attempt({"op": "host_to_device", **shape}, lambda: here.copy_(host, non_blocking=True), budget_s=0.2)
        bench.attempt({"op": "device_to_host", **shape}, lambda: back.copy_(there, non_blocking=True), budget_s=0.2)
        if bench.dry:
            continue
        other = torch.cuda.Stream()

        def both():
            now = torch.cuda.current_stream()
            other.wait_stream(now)
            with torch.cuda.stream(other):
                back.copy_(there, non_blocking=True)
            here.copy_(host, non_blocking=True)
            now.wait_stream(other)

        bench.attempt({"op": "both_ways", **shape}, both, budget_s=0.2)
    for size in small(bench, [1 << i for i in (20, 24, 28, 30, 33)], 1):
        source = torch.ones(size, dtype=torch.uint8, device=bench.device)
        target = torch.empty_like(source)
        bench.attempt({"op": "device_copy", "bytes": size}, lambda: target.copy_(source))
