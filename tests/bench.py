#!/usr/bin/env python3
"""Times the release binary as a user would run it: `./x bench`.

Every figure stands beside a raw operation of the same run, because ratios travel between machines and milliseconds do
not. Prints a table; exits 1 if a bound of docs/performance.md does not hold.
"""

import argparse
import os
import pathlib
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
EXAMPLE = ROOT / "examples" / "json-answer"


def once(argv, expected):
    """One process: wall milliseconds and its peak resident memory in MiB."""
    start = time.perf_counter()
    process = subprocess.Popen(argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    elapsed = (time.perf_counter() - start) * 1000
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != expected:
        sys.exit(f"{' '.join(map(str, argv))}: exit {process.returncode}, expected {expected}")
    return elapsed, usage.ru_maxrss / 1024


def measure(rounds, cases):
    """Runs all cases in turn, round after round, so that a busy moment hits all of them."""
    samples = {name: [] for name in cases}
    for _ in range(rounds):
        for name, (argv, expected) in cases.items():
            samples[name].append(once(argv, expected))
    return samples


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--binary", type=pathlib.Path, default=ROOT / "target" / "release" / "quorum")
    parser.add_argument("--rounds", type=int, default=50)
    args = parser.parse_args()
    gate = [args.binary, "gate", "--work-unit", EXAMPLE / "work-unit.json", "--candidate", EXAMPLE / "good",
            "--plan", EXAMPLE / "plan.toml"]
    samples = measure(args.rounds, {
        "a process that does nothing (true)": (["true"], 0),
        "quorum digest work-unit.json": ([args.binary, "digest", EXAMPLE / "work-unit.json"], 0),
        "quorum gate, JSON example": (gate, 0),
    })
    print(f"{'what':<38}{'min ms':>9}{'median ms':>11}{'max ms':>9}{'peak MiB':>10}{'x true':>8}")
    base = statistics.median(wall for wall, _ in samples["a process that does nothing (true)"])
    for name, runs in samples.items():
        walls = [wall for wall, _ in runs]
        peak = max(rss for _, rss in runs)
        median = statistics.median(walls)
        print(f"{name:<38}{min(walls):>9.2f}{median:>11.2f}{max(walls):>9.2f}{peak:>10.1f}{median / base:>8.1f}")
    runs = samples["quorum gate, JSON example"]
    median, peak = statistics.median(wall for wall, _ in runs), max(rss for _, rss in runs)
    missed = [text for held, text in [(median < 25, f"median {median:.1f} ms, the bound is 25"),
                                      (peak < 40, f"peak {peak:.1f} MiB, the bound is 40")] if not held]
    for text in missed:
        print(f"gate: {text}", file=sys.stderr)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
