"""Makes the record of a decision over ten evidences, as ten verifiers on ten machines would: with the program itself."""

import re
import subprocess

VERIFIERS = 10

POLICY = f"""schema_version = "0.1"
id = "ten"
quorum = {VERIFIERS}
panel = {VERIFIERS}
independent_on = ["operator", "host"]
"""


def make(quorum, example, directory):
    """Writes everything below `directory`, which must be empty; returns the record's path."""
    directory.mkdir(parents=True, exist_ok=True)

    def run(*arguments):
        done = subprocess.run([quorum, *map(str, arguments)], cwd=directory, capture_output=True, text=True)
        if done.returncode:
            raise SystemExit(f"quorum {' '.join(map(str, arguments))}: exit {done.returncode}: {done.stderr}")
        return done.stdout

    def party(role, name):
        run("keys", "new", f"{name}.pem")
        public = directory / f"{name}.pub.pem"
        public.write_text(run("keys", "show", f"{name}.pem", "--pem"))
        run("trust", "add", "trust.json", "--root-key", "root.pem", "--role", role, "--id", name, "--public-key",
            public, "--attribute", f"operator={name}", "--attribute", f"host={name}")

    (directory / "policy.toml").write_text(POLICY)
    run("keys", "new", "root.pem")
    run("trust", "init", "trust.json", "--root-key", "root.pem", "--policy", "policy.toml")
    names = [f"verifier-{number}" for number in range(VERIFIERS)]
    for role, name in [("worker", "the-worker"), ("gate", "the-gate"), *(("verifier", name) for name in names)]:
        party(role, name)
    unit, candidate = example / "work-unit.json", example / "good"
    run("manifest", "--work-unit", unit, "--candidate", candidate, "--worker", "the-worker", "--key", "the-worker.pem",
        "-o", "result.dsse.json")
    evidence = []
    for name in names:
        plan = (example / "plan.toml").read_text()
        (directory / f"{name}.toml").write_text(re.sub(r'id = "verifier-a"', f'id = "{name}"', plan))
        run("verify", "--work-unit", unit, "--result", "result.dsse.json", "--candidate", candidate, "--plan",
            f"{name}.toml", "--key", f"{name}.pem", "--trust", "trust.json", "--out", f"evidence-{name}")
        evidence += ["--evidence", f"evidence-{name}/evidence.dsse.json"]
    run("decide", "--work-unit", unit, "--result", "result.dsse.json", "--policy", "policy.toml", "--trust",
        "trust.json", "--decision-key", "the-gate.pem", *evidence, "--out", "record")
    return directory / "record"
