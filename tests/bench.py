#!/usr/bin/env python3
"""Measures what docs/performance.md promises: `./x bench`.

Every figure stands beside a raw operation or a peer of the same run, because ratios travel between machines and
milliseconds do not. Prints tables; exits 1 if a bound does not hold. `--ci` measures only what does not need the release
binary, and asserts only ratios and instruction counts, which hold on a loaded machine too.
"""

import argparse
import json
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import bench_record

ROOT = pathlib.Path(__file__).resolve().parent.parent
EXAMPLE = ROOT / "examples" / "json-answer"
FOREIGN = ROOT / ".tools" / "foreign" / "bin"

# Instructions, counted by valgrind, of one operation in a release build: what was measured, and a tenth more. They are the
# same on every x86-64 machine with this compiler and these crates; on another architecture they are shown, not asserted.
INSTRUCTIONS = {"decide": 458_000, "admit": 1_143_000}


class Bounds:
    """Collects what did not hold."""

    def __init__(self):
        self.missed = []

    def most(self, what, found, bound, unit=""):
        self.check(found <= bound, f"{what}: {found:.2f}{unit}, at most {bound}{unit}")

    def least(self, what, found, bound, unit=""):
        self.check(found >= bound, f"{what}: {found:.2f}{unit}, at least {bound}{unit}")

    def check(self, held, text):
        print(f"{'ok  ' if held else 'MISS'} {text}")
        if not held:
            self.missed.append(text)


def once(argv, expected, cwd=None):
    """One process: wall milliseconds and its peak resident memory in MiB."""
    start = time.perf_counter()
    process = subprocess.Popen(argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=cwd)
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
        for name, (argv, cwd) in cases.items():
            samples[name].append(once(argv, 0, cwd))
    return samples


def table(samples, base):
    print(f"{'what':<44}{'min ms':>9}{'median ms':>11}{'max ms':>9}{'peak MiB':>10}{'x true':>8}")
    base = statistics.median(wall for wall, _ in samples[base])
    for name, runs in samples.items():
        walls = [wall for wall, _ in runs]
        median = statistics.median(walls)
        peak = max(rss for _, rss in runs)
        print(f"{name:<44}{min(walls):>9.2f}{median:>11.2f}{max(walls):>9.2f}{peak:>10.1f}{median / base:>8.1f}")


def processes(args, bounds, scratch):
    """Whole processes, from start to exit."""
    record = bench_record.make(args.binary, EXAMPLE, scratch / "ten")
    links = scratch / "links"
    subprocess.run([FOREIGN / "python", ROOT / "tests" / "foreign" / "layout.py", links,
                    EXAMPLE / "good" / "answer.json"], check=True)
    nothing, gate = "a process that does nothing (true)", "quorum gate, JSON example"
    audit, peer = "quorum audit, ten evidences", "in-toto-verify, ten links"
    samples = measure(args.rounds, {
        nothing: (["true"], None),
        "quorum digest work-unit.json": ([args.binary, "digest", EXAMPLE / "work-unit.json"], None),
        gate: ([args.binary, "gate", "--work-unit", EXAMPLE / "work-unit.json", "--candidate", EXAMPLE / "good",
                "--plan", EXAMPLE / "plan.toml"], None),
        audit: ([args.binary, "audit", record], None),
        peer: ([FOREIGN / "in-toto-verify", "--layout", "root.layout", "--verification-keys", "owner.pem", "--link-dir",
                "."], links),
    })
    table(samples, nothing)

    def median(name):
        return statistics.median(wall for wall, _ in samples[name])

    bounds.most("gate, median", median(gate), 25, " ms")
    bounds.most("gate, peak", max(rss for _, rss in samples[gate]), 40, " MiB")
    bounds.most("audit of ten evidences, median", median(audit), 15, " ms")
    bounds.least("in-toto-verify over audit", median(peer) / median(audit), 20)


def cargo(*arguments, check=True):
    """What it printed; `None` if it failed and printed nothing, where that is not the end."""
    done = subprocess.run(["cargo", *arguments], cwd=ROOT, check=check, stdout=subprocess.PIPE, text=True)
    return None if done.returncode and not done.stdout.strip() else done.stdout


def target():
    return pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release"


def operations(bounds, ci):
    """Single operations, each in turns with its raw operation."""
    cargo("build", "--locked", "--release", "--package", "quorum-policies", "--examples")
    examples = target() / "examples"
    digest = cargo("bench", "--locked", "--quiet", "--package", "quorum-schemas", "--bench", "digest", check=False)
    if digest is None:
        bounds.check(False, "the digest's bench did not run")
    elif digest.strip():
        figures = json.loads(digest)
        # The least of many rounds: what the machine does when nothing else has the core.
        nanoseconds, ratios = figures["least"]["nanoseconds"], figures["least"]["ratios"]
        print(f"digest of {figures['bytes']} bytes, ns: " + ", ".join(f"{k} {v:.0f}" for k, v in nanoseconds.items()))
        bounds.least("CPython over ours, bytes to C1 digest", ratios["cpython_over_bytes_to_digest"], 5)
        bounds.most("bytes to C1 digest over bare SHA-256", ratios["bytes_to_digest_over_sha256"], 4)
    admission = json.loads(subprocess.run([examples / "admission"], check=True, stdout=subprocess.PIPE).stdout)
    for name, one in admission.items():
        print(f"admission, {name}: {one}")
    bounds.most("admission of one envelope over bare verify_strict", admission["one"]["ratio"], 2.2)
    decisions = json.loads(subprocess.run([examples / "decide32"], check=True, stdout=subprocess.PIPE).stdout)
    for name, one in decisions.items():
        print(f"decision over 32 envelopes, {name}: {one}")
        if not ci:
            bounds.most(f"decision over 32 envelopes, {name}", one["decide_us"], 50, " us")
    for name, program, few, many in [("decide", "decide32", 10, 110), ("admit", "admission", 5, 25)]:
        count = instructions(examples / program, few, many)
        if count is None:
            print(f"     {name}: valgrind is not here, instructions are not counted")
        elif os.uname().machine == "x86_64":
            bounds.most(f"{name}, instructions", count, INSTRUCTIONS[name])
        else:
            print(f"     {name}: {count:.0f} instructions")


def instructions(program, few, many):
    """Instructions of one operation: two runs that differ by nothing else."""
    if shutil.which("valgrind") is None:
        return None
    counts = []
    for count in (few, many):
        done = subprocess.run(["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", program, "--count",
                               str(count)], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        counts.append(int(re.search(r"Collected : (\d+)", done.stderr).group(1)))
    return (counts[1] - counts[0]) / (many - few)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", type=pathlib.Path, default=ROOT / "target" / "release" / "quorum")
    parser.add_argument("--rounds", type=int, default=50)
    parser.add_argument("--ci", action="store_true")
    args = parser.parse_args()
    bounds = Bounds()
    operations(bounds, args.ci)
    if not args.ci:
        args.binary = args.binary.resolve()
        with tempfile.TemporaryDirectory() as scratch:
            processes(args, bounds, pathlib.Path(scratch))
    for text in bounds.missed:
        print(f"bench: {text}", file=sys.stderr)
    return 1 if bounds.missed else 0


if __name__ == "__main__":
    sys.exit(main())
