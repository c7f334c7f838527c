"""Times of work on one device, and the lines they are written to. Needs torch.

A sample is the time between two events around the work, after the L2 cache was filled with other data and with the host
far enough ahead that it is never waited for; what is reported is the median. With `dry` everything runs on the CPU.
"""
import json
import statistics
import subprocess
import time
import traceback

import torch

FLUSH_BYTES = 256 << 20  # more than four times the 60 MB L2 of an H200
CYCLES_PER_SECOND = 1.9e9  # of torch.cuda._sleep, about; it only has to be long enough


class Bench:
    """The device, the file of results, and the time that is left."""

    def __init__(self, path, seconds, dry=False):
        self.dry = dry
        self.device = "cpu" if dry else "cuda"
        self.file = open(path, "a", encoding="utf-8")
        self.end = time.monotonic() + seconds
        self.section_end = self.end
        self.section = ""
        self.flush = None
        if not dry:
            self.make_flush()

    def make_flush(self):
        self.flush = torch.empty(FLUSH_BYTES, dtype=torch.int8, device="cuda")

    def write(self, **row):
        self.file.write(json.dumps({"section": self.section, **row}) + "\n")
        self.file.flush()

    def time_left(self):
        return min(self.end, self.section_end) - time.monotonic()

    def run_section(self, name, seconds, work):
        """One section, held to its time; what goes wrong in it does not keep the next from running."""
        self.section = name
        self.section_end = time.monotonic() + seconds
        begin = time.monotonic()
        try:
            work(self)
        except Exception:  # the next section is worth more than this one's rest
            self.write(op="failed", error=traceback.format_exc()[-1500:])
        if not self.dry:
            torch.cuda.synchronize()
            torch.cuda.empty_cache()
        self.write(op="clocks", state=self.clocks(), section_s=time.monotonic() - begin)
        print(f"{name}: {time.monotonic() - begin:.1f} s", flush=True)

    def clocks(self):
        if self.dry:
            return ""
        query = "--query-gpu=clocks.sm,clocks.mem,power.draw,temperature.gpu"
        return subprocess.run(["nvidia-smi", query, "--format=csv,noheader"], capture_output=True, text=True,
                              check=False).stdout.strip()

    def attempt(self, shape, work, ahead_s=1.5e-4, budget_s=0.02, **more):
        """Times `work` and writes a row with `shape`; says why where it cannot run."""
        if self.time_left() < 0:
            self.write(op="skipped", shape=shape)
            return None
        try:
            row = self.sample(work, ahead_s, budget_s)
        except Exception as error:
            self.write(op="failed", shape=shape, error=f"{type(error).__name__}: {str(error)[:300]}")
            return None
        self.write(**shape, **row, **more)
        return row["time_s"]

    def sample(self, work, ahead_s, budget_s):
        if self.dry:
            begin = time.perf_counter()
            work()
            return {"time_s": time.perf_counter() - begin, "repeats": 1}
        for _ in range(2):
            work()
        first = self.between_events(work, 1, ahead_s)[0]
        repeats = max(5, min(30, int(budget_s / max(first, 1e-6))))
        times = sorted(self.between_events(work, repeats, ahead_s))
        return {"time_s": statistics.median(times), "low_s": times[len(times) // 10],
                "high_s": times[-1 - len(times) // 10], "repeats": repeats}

    def between_events(self, work, repeats, ahead_s):
        pairs = []
        for _ in range(repeats):
            start, stop = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
            self.flush.zero_()
            torch.cuda._sleep(int(ahead_s * CYCLES_PER_SECOND))  # the host gets ahead meanwhile
            start.record()
            work()
            stop.record()
            pairs.append((start, stop))
        torch.cuda.synchronize()
        return [start.elapsed_time(stop) / 1e3 for start, stop in pairs]
