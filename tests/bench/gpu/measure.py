"""Measures one accelerator: python3 measure.py OUT.jsonl [--seconds N] [--sections a,b] [--dry]. See README.md."""
import argparse
import sys
import time

import torch

import kernels
import layers
from timing import Bench

# In the order of what they are worth, with the most seconds each may take.
SECTIONS = {
    "gemm_bf16": (45, kernels.gemm("bf16")),
    "attention": (40, kernels.attention),
    "gemm_fp8": (40, kernels.gemm("fp8")),
    "layers": (30, layers.training_layers),
    "grouped_gemm_bf16": (10, kernels.grouped_gemm("bf16")),
    "decoding": (25, layers.decoding),
    "vectors": (10, kernels.vectors),
    "copies": (15, kernels.copies),
    "memory": (90, layers.memory),
    "grouped_gemm_fp8": (10, kernels.grouped_gemm("fp8")),
    "compiled_layers": (120, layers.compiled_layers),
    "compiled_decoding": (120, layers.compiled_decoding),
    "sustained": (30, layers.sustained),
    "compiled_memory": (330, layers.compiled_memory),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out")
    parser.add_argument("--seconds", type=float, default=600, help="after which nothing new is begun")
    parser.add_argument("--sections", default=",".join(SECTIONS))
    parser.add_argument("--dry", action="store_true", help="tiny shapes on the CPU, to see that it runs")
    options = parser.parse_args()
    begin = time.monotonic()
    torch.manual_seed(0)
    bench = Bench(options.out, options.seconds, options.dry)
    bench.section = "machine"
    about = {"torch": str(torch.__version__), "cuda": str(torch.version.cuda)}
    if not options.dry:
        about |= {"device": torch.cuda.get_device_name(), "cudnn": torch.backends.cudnn.version(),
                  "memory_bytes": torch.cuda.get_device_properties(0).total_memory,
                  "units": torch.cuda.get_device_properties(0).multi_processor_count}
    bench.write(op="machine", date=time.strftime("%Y-%m-%d", time.gmtime()), clocks=bench.clocks(), **about)
    for name in options.sections.split(","):
        seconds, work = SECTIONS[name]
        bench.run_section(name, seconds, work)
    print(f"all: {time.monotonic() - begin:.1f} s", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
