"""Results of measure.py as measurements: python3 to_evidence.py RESULT.jsonl... -o presets/evidence/kernels-h200.json

Left out of every fit, by a rule that anyone can repeat: the shapes of which the FNV-1a hash of the id, without its last
eight bits, is a multiple of five. Python's standard library is enough.
"""
import argparse
import json
import statistics

CHIP = {"chip_id": "h200", "count": 1}
PLAN = {"dp": 1, "tp": 1, "pp": 1, "zero": 0}
LAYERS = {"Llama 3.1 8B": 32, "Llama 3.1 70B": 80, "Llama 3.1 405B": 126, "Llama 3.2 1B": 16, "Mixtral 8x7B": 32,
          "Qwen3 30B-A3B": 48, "gpt-oss 20B": 24}
PASSES = {"forward": "forward_ms", "backward": "backward_ms", "forward_recomputed_backward": "recomputed_ms"}
VECTORS = ("rms_norm", "softmax", "silu", "copy", "add", "fill", "sum")
LINKS = ("host_to_device", "device_to_host")


def left_out(name):
    value = 2166136261
    for byte in name.encode():
        value = (value ^ byte) * 16777619 & 0xFFFFFFFF
    return (value >> 8) % 5 == 0


def digits(x):
    return float(f"{x:.4g}")


def model_of(row, layers=None):
    """A layer's part of a split model is a model of those widths: what it multiplies is what counts."""
    m = row["model"]
    of = layers or LAYERS[m["name"].split(" over ")[0]]
    out = {"name": m["name"], "n_layers": of, "d_model": m["d_model"], "d_ff": m["d_ff"], "n_heads": m["n_heads"],
           "n_kv_heads": m["n_kv_heads"], "d_head": m["d_head"], "vocab_size": m["vocabulary"], "gated_mlp": True,
           "tied_embeddings": False}
    if m["experts"]:
        out["moe"] = {"n_routed_experts": m["experts"], "experts_per_token": m["chosen"], "d_ff_expert": m["d_ff"]}
    return out


class Tables:
    """Entries that are alike as one table."""

    def __init__(self, source):
        self.source = source
        self.tables = {}
        self.models = {}

    def model(self, row, layers=None):
        model = model_of(row, layers)
        key = model["name"].lower().replace(" ", "-") + (f"-{layers}-layers" if layers else "")
        self.models[key] = model
        return key

    def add(self, table, entry, columns):
        shared = {"family": "kernels-h200", "table": table, "kind": "measured", "hardware": CHIP, **entry,
                  "config_completeness": "full"}
        key = (table, json.dumps(shared, sort_keys=True), tuple(columns))
        self.tables.setdefault(key, (shared, {}))[1][columns["id"]] = list(columns.values())

    def json(self):
        tables = [{"entry": entry, "columns": list(key[2]), "rows": [rows[i] for i in sorted(rows)]}
                  for key, (entry, rows) in sorted(self.tables.items(), key=lambda item: item[0][:2])]
        return {"format": "roofscape/evidence", "version": 1, "name": "kernels on one H200", "license": "MIT",
                "method": "tests/bench/gpu: medians of CUDA events with a cold L2 cache, random operands, clocks as found",
                "models": self.models, "tables": tables}


def converted(rows, fitted):
    machine = next(r for r in rows if r["op"] == "machine")
    source = (f"measured for Roofscape on one H200 (torch {machine['torch'].split('+')[0]}, CUDA {machine['cuda']}), "
              f"{machine['date']}")
    out = Tables(source)

    def common(name, short=True, in_fits=fitted):
        return {"id": name, "held_out": not in_fits or left_out(name), "short_run": short}

    def time(row):
        return digits(row["time_s"] * 1e6)

    layers, sustained = {}, []
    for r in rows:
        op, dtype = r["op"], r.get("dtype")
        kernel = {"task": op, "precision_id": dtype, "source": source}
        if op == "gemm" and "time_s" in r:
            m, n, k = r["m"], r["n"], r["k"]
            out.add("gemm", {**kernel, "op": {"op": op}}, {**common(f"h200-gemm-{dtype}-{m}x{n}x{k}"), "op.m": m, "op.n": n,
                                                        "op.k": k, "measured.time_us": time(r)})
        elif op == "grouped_gemm" and "time_s" in r:
            groups, m, n, k = r["groups"], r["m_per_group"], r["n"], r["k"]
            out.add("grouped-gemm", {**kernel, "op": {"op": op}},
                    {**common(f"h200-grouped-{dtype}-{groups}x{m}x{n}x{k}"), "op.groups": groups, "op.m_per_group": m,
                     "op.n": n, "op.k": k, "measured.time_us": time(r)})
        elif op == "attention" and "time_s" in r and r["algorithm"] == "cudnn":
            # Of the two, the one that training on Hopper uses: FlashAttention 3's rates; the other is version 2's.
            name = (f"h200-attention-{r['pass']}-{r['batch']}x{r['tokens']}-{r['heads']}of{r['d_head']}"
                    f"-{r['kv_heads']}{'' if r['causal'] else '-full'}")
            out.add("attention", {**kernel, "op": {"op": f"attention_{r['pass']}", "algorithm": "cuDNN"}},
                    {**common(name), "op.batch": r["batch"], "op.tokens": r["tokens"], "op.heads": r["heads"],
                     "op.kv_heads": r["kv_heads"], "op.d_head": r["d_head"], "op.causal": r["causal"],
                     "measured.time_us": time(r)})
        elif op in VECTORS and "time_s" in r:
            out.add("vector", {**kernel, "op": {"op": op}},
                    {**common(f"h200-{op}-{r['rows']}x{r['width']}"), "op.elements": r["elements"],
                     "measured.time_us": time(r)})
        elif op in LINKS and "time_s" in r:
            out.add("host-link", {"task": "copy", "precision_id": "bf16", "source": source, "op": {"op": op}},
                    {**common(f"h200-{op}-{r['bytes']}"), "op.bytes": r["bytes"], "measured.time_us": time(r)})
        elif op == "layer" and "time_s" in r and r["pass"] in PASSES:
            key = (r["model"]["name"], r["batch"], r["tokens"], r.get("compiled", False))
            layers.setdefault(key, (r, {}))[1][PASSES[r["pass"]]] = digits(r["time_s"] * 1e3)
        elif op == "decode_layer" and "time_s" in r and r.get("compiled"):
            name = f"h200-decode-{out.model(r)}-{r['batch']}x{r['context']}"
            out.add("decode", {"task": "layer", "what": "decode", "precision_id": "bf16", "parallelism": PLAN,
                               "source": source + ", torch.compile in a graph"},
                    {**common(name), "model": out.model(r), "batch.batch": r["batch"],
                     "batch.prompt_tokens": r["context"], "batch.output_tokens": 1,
                     "measured.decode_ms": digits(r["time_s"] * 1e3)})
        elif op == "sustained" and r["work"] == "gemm" and r["at_s"] > 5:
            sustained.append(r)
        elif op == "training_step":
            layers_of = r["layers"]
            name = (f"h200-step-{out.model(r, layers_of)}-{r['batch']}x{r['tokens']}"
                    f"{'-recomputed' if r['recomputed'] else ''}")
            measured = {"measured.completed": int(r["completed"])}
            if r["completed"]:
                measured |= {"measured.memory_gb_nvidia_smi": digits(r["used_bytes"] / 1e9),
                             "measured.max_allocated_gb": digits(r["allocated_bytes"] / 1e9)}
            compiled = r.get("compiled", False)
            name += "-compiled" if compiled else ""
            out.add("memory", {"task": "pretrain", "precision_id": r["dtype"], "parallelism": PLAN,
                               "checkpointing_id": "block" if r["recomputed"] else "none", "schedule_id": "none",
                               "kernels": {"loss": "fused"} if compiled else {"loss": "plain", "elementwise": "eager"},
                               "source": source + (", torch.compile" if compiled else ", eager")},
                    {**common(name, False, True), "model": out.model(r, layers_of), "batch.global": r["batch"],
                     "batch.micro": r["batch"], "batch.seq": r["tokens"], **measured})
    if sustained:
        size = sustained[0]["size"]
        out.add("gemm", {"task": "gemm", "precision_id": "bf16", "source": source + ", for twelve seconds", "op": {"op": "gemm"}},
                {**common(f"h200-gemm-bf16-{size}-sustained", False), "op.m": size, "op.n": size, "op.k": size,
                 "measured.time_us": digits(statistics.median(r["time_s"] for r in sustained) * 1e6)})
    for (_, batch, tokens, compiled), (r, times) in layers.items():
        name = f"h200-layer-{out.model(r)}-{batch}x{tokens}{'-compiled' if compiled else ''}"
        out.add("layer", {"task": "layer", "precision_id": "bf16", "parallelism": PLAN, "checkpointing_id": "none",
                          "schedule_id": "none",
                          "source": source + (", torch.compile" if compiled else ", eager")},
                {**common(name), "model": out.model(r), "batch.global": batch, "batch.micro": batch, "batch.seq": tokens,
                 **{f"measured.{q}": t for q, t in times.items()}})
    return out.json()


def pretty(data):
    """A row to a line."""
    lines = ["{"]
    for key in ("format", "version", "name", "license", "method"):
        lines.append(f" {json.dumps(key)}: {json.dumps(data[key])},")
    lines.append(' "models": {')
    lines.append(",\n".join(f"  {json.dumps(k)}: {json.dumps(v)}" for k, v in sorted(data["models"].items())))
    lines.append(' },\n "tables": [')
    tables = []
    for t in data["tables"]:
        rows = ",\n".join(f"   {json.dumps(row)}" for row in t["rows"])
        tables.append(f'  {{"entry": {json.dumps(t["entry"])},\n   "columns": {json.dumps(t["columns"])},\n'
                      f'   "rows": [\n{rows}\n  ]}}')
    return "\n".join(lines) + "\n" + ",\n".join(tables) + "\n ]\n}\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("results", nargs="+", help="of the same operation the first counts")
    parser.add_argument("-o", "--out", required=True)
    parser.add_argument("--fitted", action="store_true", help="fits may use times too, not memory alone")
    options = parser.parse_args()
    rows = []
    for path in options.results:
        with open(path, encoding="utf-8") as file:
            rows += [json.loads(line) for line in file]
    seen, first = set(), []
    for r in rows:
        shape = json.dumps({k: v for k, v in r.items() if not k.endswith("_s") and k not in ("repeats", "section")},
                           sort_keys=True)
        if shape not in seen or r["op"] in ("clocks", "machine"):
            first.append(r)
        seen.add(shape)
    with open(options.out, "w", encoding="utf-8") as file:
        file.write(pretty(converted(first, options.fitted)))


if __name__ == "__main__":
    main()
