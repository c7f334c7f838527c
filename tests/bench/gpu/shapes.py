"""Shapes that are measured: of sweeps, and of layers of models that are split over `tensor` chips."""
import dataclasses
import random


@dataclasses.dataclass(frozen=True)
class Model:
    name: str
    d_model: int
    n_heads: int
    n_kv_heads: int
    d_ff: int
    vocabulary: int = 128256
    d_head: int = 128
    experts: int = 0
    chosen: int = 0  # experts of a token; d_ff is an expert's width

    def split(self, tensor):
        """The part of one chip of `tensor`: what a layer multiplies there."""
        return dataclasses.replace(self, name=f"{self.name} over {tensor}", n_heads=self.n_heads // tensor,
                                   n_kv_heads=max(1, self.n_kv_heads // tensor), d_ff=self.d_ff // tensor,
                                   vocabulary=self.vocabulary // tensor)

    def products(self):
        """(name, inputs, outputs) of the products of a layer, and of the output head."""
        d = self.d_model
        queries = self.n_heads * self.d_head
        return [("qkv", d, queries + 2 * self.n_kv_heads * self.d_head), ("attention_out", queries, d),
                ("gate_up", d, 2 * self.d_ff), ("down", self.d_ff, d), ("logits", d, self.vocabulary)]


LLAMA_1B = Model("Llama 3.2 1B", 2048, 32, 8, 8192, d_head=64)
LLAMA_8B = Model("Llama 3.1 8B", 4096, 32, 8, 14336)
LLAMA_70B = Model("Llama 3.1 70B", 8192, 64, 8, 28672)
LLAMA_405B = Model("Llama 3.1 405B", 16384, 128, 8, 53248)
MIXTRAL = Model("Mixtral 8x7B", 4096, 32, 8, 14336, 32000, experts=8, chosen=2)
QWEN3_MOE = Model("Qwen3 30B-A3B", 2048, 32, 4, 768, 151936, experts=128, chosen=8)
GPT_OSS = Model("gpt-oss 20B", 2880, 64, 8, 2880, 201088, d_head=64, experts=32, chosen=4)

ROWS = (64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384)
WIDTHS = (512, 1024, 2048, 4096, 8192, 16384)


def products():
    """(table, m, n, k) of matrix products, in an order that is the same each time and of which a part is a sample."""
    out = {}
    for model in (LLAMA_8B, LLAMA_70B, LLAMA_405B):
        for tensor in (1, 2, 4, 8):
            for _, inputs, outputs in model.split(tensor).products():
                for rows in (16, 256, 8192):
                    out.setdefault((rows, outputs, inputs), "layer")
    for m in ROWS:
        for n in WIDTHS:
            for k in WIDTHS:
                out.setdefault((m, n, k), "sweep")
    rows = [(table, *shape) for shape, table in out.items()]
    random.Random(1).shuffle(rows)
    return rows


def attentions():
    """(batch, tokens, heads, kv_heads, d_head, causal)."""
    out = []
    for d_head in (128, 64):
        for tokens in (512, 1024, 2048, 4096, 8192, 16384):
            out.append((max(1, 16384 // tokens), tokens, 32, 8, d_head, True))
        for tokens in (32768, 65536, 131072):
            out.append((1, tokens, 8, 1, d_head, True))
        for tokens in (1024, 2048, 4096, 8192):  # a chip's part of a layer that is split, and few tokens
            out.append((1, tokens, 8, 1, d_head, True))
        for tokens in (2048, 8192):
            out.append((2, tokens, 16, 16, d_head, True))
            out.append((2, tokens, 16, 16, d_head, False))
    return out


def grouped():
    """(groups, rows of each, n, k): to the width of experts and back."""
    out = []
    for groups, d_model, width in ((128, 2048, 768), (32, 7168, 2048), (32, 2880, 2880), (8, 4096, 14336)):
        for rows in (16, 64, 256, 1024, 4096):
            if groups * rows <= 131072:
                out += [(groups, rows, 2 * width, d_model), (groups, rows, d_model, width)]
    return out
