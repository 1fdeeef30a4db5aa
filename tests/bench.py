#!/usr/bin/env python3
"""Measures what docs/performance.md promises: `./x bench`.

Every figure stands beside a raw operation or a peer of the same run, because ratios travel between machines and
milliseconds do not. Prints tables; exits 1 if a bound does not hold.

`--ci` is for a loaded machine: it takes the examples of the build that the tests have made anyway, counts instructions, and
asserts only their ratios to one `verify_strict` of the same run. Where there is no valgrind it takes CPU time instead, with
twice the bound, and says so.
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

# One operation in verifications (`verify_strict` of one envelope), both as instructions: what was measured, and a quarter
# more, but no more than is promised. In a release build, and in the build of the tests, which checks itself as it goes
# (debug assertions).
OPERATIONS = {
    "admission": ("admission", ["--count"], 5, 25),
    "decision, apart": ("decide32", ["--count"], 10, 60),
    "decision, pairs": ("decide32", ["--count"], 10, 60),
    "decision, rook": ("decide32", ["--count"], 10, 60),
}
RELEASE = {"admission": 2.2, "decision, apart": 0.86, "decision, pairs": 1.03, "decision, rook": 2.57}
TESTS = {"admission": 4.0, "decision, apart": 1.58, "decision, pairs": 2.57, "decision, rook": 10.6}

# How much more a ratio of CPU times may be than one of instructions: caches, other processes, a clock in steps.
CPU_TIME_MARGIN = 2


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


def examples(profile):
    """The folder of the built examples; a build of the tests has made those of its profile already."""
    # The whole workspace has the same features as the build of the tests, so that nothing is built again.
    which = ["--release", "--package", "quorum-policies"] if profile == "release" else ["--workspace"]
    cargo("build", "--locked", "--quiet", *which, "--examples")
    return pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / profile / "examples"


def digest(bounds):
    figures = cargo("bench", "--locked", "--quiet", "--package", "quorum-schemas", "--bench", "digest", check=False)
    if figures is None:
        bounds.check(False, "the digest's bench did not run")
        return
    figures = json.loads(figures)
    # The least of many rounds: what the machine does when nothing else has the core.
    nanoseconds, ratios = figures["least"]["nanoseconds"], figures["least"]["ratios"]
    print(f"digest of {figures['bytes']} bytes, ns: " + ", ".join(f"{k} {v:.0f}" for k, v in nanoseconds.items()))
    bounds.least("CPython over ours, bytes to C1 digest", ratios["cpython_over_bytes_to_digest"], 5)
    bounds.most("bytes to C1 digest over bare SHA-256", ratios["bytes_to_digest_over_sha256"], 4)


def operations(bounds, folder):
    """Single operations, each in turns with its raw operation."""
    said = subprocess.run([folder / "admission"], check=True, stdout=subprocess.PIPE).stdout
    for name, one in json.loads(said).items():
        print(f"admission, {name}: {one}")
        bounds.most(f"admission, {name}, over bare verify_strict", one["ratio"], 2.2)
    said = subprocess.run([folder / "decide32"], check=True, stdout=subprocess.PIPE).stdout
    for name, one in json.loads(said).items():
        print(f"decision over 32 envelopes, {name}: {one}")
        bounds.most(f"decision over 32 envelopes, {name}", one["decide_us"], 50, " us")


def ratios(bounds, folder, most):
    """Each operation in verifications. Neither load nor clock moves a count of instructions."""
    counted = shutil.which("valgrind") is not None
    cost, unit = (instructions, "instructions") if counted else (cpu_seconds, "seconds of CPU")
    if not counted:
        print(f"     valgrind is not here: CPU time instead of instructions, {CPU_TIME_MARGIN} times the bound is allowed")

    def each(program, arguments, few, many):
        """Of one operation: two runs that differ by nothing else."""
        if not counted:
            # Long enough for the system's clock.
            few, many = 20 * few, 20 * many
        low, high = (cost([folder / program, arguments[0], str(count), *arguments[1:]]) for count in (few, many))
        return (high - low) / (many - few)

    verification = each("admission", ["--bare"], 20, 120)
    print(f"     verify_strict of one envelope: {verification:.6g} {unit}")
    for name, (program, arguments, few, many) in OPERATIONS.items():
        shape = name.partition(", ")[2]
        one = each(program, [*arguments, shape] if shape else arguments, few, many)
        print(f"     {name}: {one:.6g} {unit}")
        bound = most[name] if counted else CPU_TIME_MARGIN * most[name]
        bounds.most(f"{name}, in verifications", one / verification, bound)


def instructions(argv):
    done = subprocess.run(["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", *argv], check=True,
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    return int(re.search(r"Collected : (\d+)", done.stderr).group(1))


def cpu_seconds(argv):
    """The least of a few runs."""
    least = None
    for _ in range(5):
        process = subprocess.Popen(argv, stdout=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            sys.exit(f"{argv}: exit {process.returncode}")
        seconds = usage.ru_utime + usage.ru_stime
        least = seconds if least is None else min(least, seconds)
    return least


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", type=pathlib.Path, default=ROOT / "target" / "release" / "quorum")
    parser.add_argument("--rounds", type=int, default=50)
    parser.add_argument("--ci", action="store_true")
    args = parser.parse_args()
    bounds = Bounds()
    if args.ci:
        ratios(bounds, examples("debug"), TESTS)
    else:
        digest(bounds)
        folder = examples("release")
        operations(bounds, folder)
        ratios(bounds, folder, RELEASE)
        args.binary = args.binary.resolve()
        with tempfile.TemporaryDirectory() as scratch:
            processes(args, bounds, pathlib.Path(scratch))
    for text in bounds.missed:
        print(f"bench: {text}", file=sys.stderr)
    return 1 if bounds.missed else 0


if __name__ == "__main__":
    sys.exit(main())
