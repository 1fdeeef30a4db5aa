//! Bad input of every kind, for every argument that names a file: the process ends in time and within its memory, with
//! exit 2 (a control file), 6 (the worker's document) or 5 (an output), one line on stderr, nothing on stdout, and the
//! directory as it was.

use std::fs::{self, File, Permissions};
use std::io::Write;
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use quorum_attest::Role;
use wait_timeout::ChildExt;

use crate::world::{Said, World};

/// What a file can be instead of itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Badness {
    Missing,
    Directory,
    /// A pipe that nobody writes to.
    Pipe,
    /// 2 GiB without a byte on the disk.
    Huge,
    Empty,
    Nul,
    CarriageReturns,
    ByteOrderMark,
    Utf16,
    /// In a folder that may not be entered.
    Locked,
}

use Badness::{ByteOrderMark, CarriageReturns, Directory, Empty, Huge, Locked, Missing, Nul, Pipe, Utf16};

const ALL: &[Badness] = &[Missing, Directory, Pipe, Huge, Empty, Nul, CarriageReturns, ByteOrderMark, Utf16, Locked];
/// For a path whose bytes are not ours to judge: a candidate may hold anything.
const PLACE: &[Badness] = &[Missing, Pipe, Huge, Locked];

/// For bytes that are judged and not used: evidence that is malformed is a refusal in a decision, and another trust root
/// than the record's is a difference.
const JUDGED: &[Badness] = &[Missing, Directory, Pipe, Huge, Locked];

/// For commands that look for a broker next, and so long that one such look is enough: a file with the line ends of
/// Windows is right.
const FOR_A_BROKER: &[Badness] = &[Missing, Directory, Pipe, Huge, Empty, Nul, ByteOrderMark, Utf16, Locked];

/// An argument that names a file: the command with `{}` in its place, and the file that would be right.
struct Argument {
    line: &'static str,
    good: &'static str,
    kinds: &'static [Badness],
}

const fn argument(line: &'static str, good: &'static str) -> Argument {
    Argument { line, good, kinds: ALL }
}

const fn place(line: &'static str, good: &'static str) -> Argument {
    Argument { line, good, kinds: PLACE }
}

const fn judged(line: &'static str, good: &'static str) -> Argument {
    Argument { line, good, kinds: JUDGED }
}

const fn mesh(line: &'static str, good: &'static str) -> Argument {
    Argument { line, good, kinds: FOR_A_BROKER }
}

/// Every argument of the commands, of those of the mesh as far as they come without a server. The paths that are right are those of [`world`].
const ARGUMENTS: &[Argument] = &[
    argument(
        "gate --work-unit {} --candidate example/good --plan example/plan.toml --out out",
        "example/work-unit.json",
    ),
    argument(
        "gate --work-unit example/work-unit.json --candidate example/good --plan {} --out out",
        "example/plan.toml",
    ),
    argument(
        "gate --work-unit example/work-unit.json --candidate example/good --plan example/plan.toml --policy {} --out out",
        "example/policy.toml",
    ),
    argument(
        "gate --work-unit example/work-unit.json --candidate example/good --plan example/plan.toml --result {} --out out",
        "bare.json",
    ),
    argument("gate --work-unit example/work-unit.json --candidate example/good --trust {} --out out", "trust.json"),
    argument(
        "gate --work-unit example/work-unit.json --candidate example/good --plan example/plan.toml --trust trust.json \
         --key {} --out out",
        "verifier-a.pem",
    ),
    argument(
        "gate --work-unit example/work-unit.json --candidate example/good --trust trust.json --decision-key {} --out out",
        "gate.pem",
    ),
    judged(
        "gate --work-unit example/work-unit.json --candidate example/good --trust trust.json --evidence {} --out out",
        "evidence/evidence.dsse.json",
    ),
    place("gate --work-unit example/work-unit.json --candidate {} --plan example/plan.toml --out out", "example/good"),
    place(
        "gate --work-unit example/work-unit.json --candidate example/good --baseline {} --plan example/plan.toml --out out",
        "example/wrong",
    ),
    argument(
        "verify --work-unit {} --result manifest.json --candidate example/good --plan example/plan.toml --trust trust.json \
         --unsigned --out out",
        "example/work-unit.json",
    ),
    argument(
        "verify --work-unit example/work-unit.json --result {} --candidate example/good --plan example/plan.toml \
         --trust trust.json --unsigned --out out",
        "manifest.json",
    ),
    argument(
        "verify --work-unit example/work-unit.json --result manifest.json --candidate example/good --plan {} \
         --trust trust.json --unsigned --out out",
        "example/plan.toml",
    ),
    argument(
        "verify --work-unit example/work-unit.json --result manifest.json --candidate example/good \
         --plan example/plan.toml --trust {} --unsigned --out out",
        "trust.json",
    ),
    argument(
        "verify --work-unit example/work-unit.json --result manifest.json --candidate example/good \
         --plan example/plan.toml --trust trust.json --key {} --out out",
        "verifier-a.pem",
    ),
    place(
        "verify --work-unit example/work-unit.json --result manifest.json --candidate {} --plan example/plan.toml \
         --trust trust.json --unsigned --out out",
        "example/good",
    ),
    argument("dsse verify {} --trust trust.json", "evidence/evidence.dsse.json"),
    argument("dsse verify {} --public-key gate.pem", "evidence/evidence.dsse.json"),
    argument("dsse verify evidence/evidence.dsse.json --trust {}", "trust.json"),
    argument("dsse verify evidence/evidence.dsse.json --public-key {}", "verifier-a.pem"),
    argument("decide --work-unit {} --result manifest.json --trust trust.json --out out", "example/work-unit.json"),
    argument("decide --work-unit example/work-unit.json --result {} --trust trust.json --out out", "manifest.json"),
    argument("decide --work-unit example/work-unit.json --result manifest.json --trust {} --out out", "trust.json"),
    argument(
        "decide --work-unit example/work-unit.json --result manifest.json --trust trust.json --policy {} --out out",
        "example/policy.toml",
    ),
    judged(
        "decide --work-unit example/work-unit.json --result manifest.json --trust trust.json --evidence {} --out out",
        "evidence/evidence.dsse.json",
    ),
    argument(
        "decide --work-unit example/work-unit.json --result manifest.json --trust trust.json --decision-key {} --out out",
        "gate.pem",
    ),
    argument("sign --key {} --trust trust.json statement.json -o out", "verifier-a.pem"),
    argument("sign --key verifier-a.pem --trust {} statement.json -o out", "trust.json"),
    argument("sign --key verifier-a.pem --trust trust.json {} -o out", "statement.json"),
    judged("audit record --trust {}", "record/trust.json"),
    argument("handoff derive --work-unit {} --result bare.json -o out", "example/work-unit.json"),
    argument("handoff derive --work-unit example/work-unit.json --result {} -o out", "bare.json"),
    argument(
        "handoff derive --work-unit example/work-unit.json --result manifest.json --trust {} -o out",
        "trust.json",
    ),
    argument("manifest --work-unit {} --candidate example/good --worker worker -o out", "example/work-unit.json"),
    argument(
        "manifest --work-unit example/work-unit.json --candidate example/good --worker worker --key {} -o out",
        "worker.pem",
    ),
    place("manifest --work-unit example/work-unit.json --candidate {} --worker worker -o out", "example/good"),
    argument("policy check {}", "example/policy.toml"),
    argument("trust show {}", "trust.json"),
    argument("trust init out --root-key {}", "root.pem"),
    argument("trust init out --root-key root.pem --root-public {}", "gate.pem"),
    argument("trust init out --root-key root.pem --policy {}", "example/policy.toml"),
    argument("trust retire {} --root-key root.pem --role gate --id gate -o out", "trust.json"),
    argument("trust retire trust.json --root-key {} --role gate --id gate -o out", "root.pem"),
    argument("trust sign {} --trust trust.json --root-key root.pem -o out", "proposal.json"),
    argument("trust sign proposal.json --trust {} --root-key root.pem -o out", "trust.json"),
    argument("trust sign proposal.json --trust trust.json --root-key {} -o out", "root.pem"),
    argument("trust diff {} proposal.json", "trust.json"),
    argument("trust diff trust.json {}", "proposal.json"),
    argument("trust verify {}", "trust.json"),
    argument("trust admit-policy trust.json --root-key root.pem {} -o out", "example/mesh-policy.toml"),
    argument("policy explain {}", "example/policy.toml"),
    argument("policy explain local --work-unit {}", "example/work-unit.json"),
    argument("policy test {}", "mine.cases.toml"),
    argument("policy test mine.cases.toml --policy {}", "mine.toml"),
    argument("policy export-tlog {} --leave-out rest --trust trust.json", "groups.toml"),
    argument("policy export-tlog groups.toml --leave-out rest --trust {}", "trust.json"),
    argument("policy import-tlog {} --trust trust.json", "witnesses.policy"),
    argument(
        "export human-decision --report {} --id a/b --decision reject --rationale n --decider d -o out",
        "report.json",
    ),
    argument("export verify --report {} --run run.json", "report.json"),
    argument("export verify --report report.json --run {}", "run.json"),
    argument("import evidence-report {} --result bare.json", "report.json"),
    argument("import evidence-report report.json --result {}", "bare.json"),
    argument("keys show {}", "gate.pem"),
    argument("schema check work-unit-v0.1 {}", "example/work-unit.json"),
    argument("schema check policy-v0.1 {}", "example/policy.toml"),
    argument("digest {}", "example/work-unit.json"),
    mesh("submit --nats NOBODY --credentials {} --work-unit example/work-unit.json --key gate.pem", "user.toml"),
    mesh("submit --nats NOBODY --credentials user.toml --work-unit {} --key gate.pem", "example/work-unit.json"),
    mesh("submit --nats NOBODY --credentials user.toml --work-unit example/work-unit.json --key {}", "gate.pem"),
    mesh("submit --nats NOBODY --credentials user.toml --result {} --candidate example/good", "manifest.json"),
    place("submit --nats NOBODY --credentials user.toml --result manifest.json --candidate {}", "example/good"),
    place(
        "submit --nats NOBODY --credentials user.toml --work-unit example/work-unit.json --key gate.pem --author a \
         --baseline {}",
        "example/good/answer.json",
    ),
    mesh("mesh apply --nats NOBODY --credentials {} --verifier a", "user.toml"),
    mesh("watch --nats NOBODY --credentials {}", "user.toml"),
    mesh("show SOME-HANDOFF --nats NOBODY --credentials {}", "user.toml"),
    argument("coordinator --check-config --config {}", "coordinator.toml"),
    argument("verifier --check-config --config {}", "verifier.toml"),
];

/// The command with `path` in its place. Where nothing is wrong with the files, nobody answers at the broker's address.
fn command_line(argument: &Argument, path: &str) -> String {
    let handoff = format!("sha256:{}", "0".repeat(64));
    argument.line.replace("{}", path).replace("NOBODY", "nats://127.0.0.1:1").replace("SOME-HANDOFF", &handoff)
}

/// Whether the command ended as it does with files that are right.
fn right(argument: &Argument, said: &Said) -> bool {
    match argument.line.contains("NOBODY") {
        true => said.code == 5 && said.stderr.starts_with("error[connect_failed]"),
        false => matches!(said.code, 0 | 1 | 3),
    }
}

/// Where `nobody` can read and write; also a folder of keys, evidence and a record.
fn world() -> World {
    let mut world = World::with_example();
    world.identity(Role::Verifier, "verifier-a", 2, &[("operator", "acme"), ("host", "one")]);
    world.identity(Role::Gate, "gate", 4, &[]);
    world.identity(Role::Worker, "worker", 5, &[("operator", "initech"), ("host", "three")]);
    world.admit("one-verifier");
    world.admit("example/policy.toml");
    world.root_key("root.pem");
    world.trust();
    let make = "manifest --work-unit example/work-unit.json --candidate example/good --worker worker";
    world.run(&format!("{make} -o bare.json")).exits(0);
    world.run(&format!("{make} --key worker.pem -o manifest.json")).exits(0);
    let verify = "verify --work-unit example/work-unit.json --result manifest.json --candidate example/good \
                  --plan example/plan.toml --trust trust.json";
    world.run(&format!("{verify} --key verifier-a.pem --out evidence")).exits(0);
    world.run(&format!("{verify} --unsigned --out unsigned")).exits(0);
    world.copy(&world.path("unsigned/evidence.statement.json"), "statement.json");
    let gate = "gate --work-unit example/work-unit.json --candidate example/good --plan example/plan.toml";
    world.run(&format!("{gate} --out record")).exits(0);
    world.run("trust admit-policy trust.json --root-key root.pem strict-all --propose proposal.json").exits(0);
    world.run("policy init two-of-three -o mine.toml").exits(0);
    world.write("groups.toml", "schema_version = \"0.1\"\nid = \"g\"\n[groups]\nk = 1\nof = [\"acme\"]\n");
    world.run("policy export-tlog groups.toml --leave-out rest --trust trust.json -o witnesses.policy").exits(0);
    world.run("export run-report record --run run.json -o report.json").exits(0);
    let user = world.write("user.toml", "user = \"w\"\npassword = \"p\"\n");
    fs::set_permissions(user, Permissions::from_mode(0o600)).unwrap();
    world.write("coordinator.toml", "id = \"c\"\n");
    world.write("verifier.toml", "id = \"v\"\n");
    world
}

impl Badness {
    /// Makes the bad thing from the good one and gives its path in the world.
    fn make(self, world: &World, good: &str) -> PathBuf {
        let name = format!("bad/{}", Path::new(good).file_name().unwrap().to_str().unwrap());
        let bytes = || fs::read(world.path(good)).unwrap();
        let text = || String::from_utf8(bytes()).unwrap();
        match self {
            Missing => {}
            Directory => fs::create_dir_all(world.path(&name)).unwrap(),
            Pipe => {
                fs::create_dir_all(world.path("bad")).unwrap();
                nix::unistd::mkfifo(&world.path(&name), nix::sys::stat::Mode::from_bits_truncate(0o600)).unwrap();
            }
            Huge => File::create(world.write(&name, "")).unwrap().set_len(2 << 30).unwrap(),
            Empty => drop(world.write(&name, "")),
            Nul => drop(world.write(&name, [0; 64])),
            CarriageReturns => drop(world.write(&name, text().replace('\n', "\r\n"))),
            ByteOrderMark => drop(world.write(&name, [b"\xef\xbb\xbf", bytes().as_slice()].concat())),
            Utf16 => {
                let units = text().encode_utf16().collect::<Vec<_>>();
                let bytes = [0xfeff].into_iter().chain(units).flat_map(u16::to_le_bytes);
                world.write(&name, bytes.collect::<Vec<u8>>());
            }
            Locked => drop(world.write(&name, if world.path(good).is_dir() { Vec::new() } else { bytes() })),
        }
        let path = world.path(&name);
        if path.is_file() {
            // A key that others may read is refused for that.
            fs::set_permissions(&path, Permissions::from_mode(0o600)).unwrap();
        }
        PathBuf::from(name)
    }
}

/// Runs `quorum` as a user that permissions bind, with a bound on its memory and its time.
fn bounded(world: &World, line: &str) -> Said {
    let shell = "ulimit -v 1500000; exec \"$0\" \"$@\"";
    let mut command = if nix::unistd::geteuid().is_root() {
        let mut command = Command::new("setpriv");
        command.args(["--reuid=65534", "--regid=65534", "--clear-groups", "sh", "-c", shell]);
        command
    } else {
        let mut command = Command::new("sh");
        command.args(["-c", shell]);
        command
    };
    let command = command.arg(env!("CARGO_BIN_EXE_quorum")).args(line.split_whitespace());
    finish(command.current_dir(world.path("")), line)
}

/// The end of a process that may take a minute, of which a loaded machine needs some.
fn finish(command: &mut Command, line: &str) -> Said {
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    if child.wait_timeout(Duration::from_secs(60)).unwrap().is_none() {
        child.kill().unwrap();
        child.wait().unwrap();
        panic!("`{line}` hangs");
    }
    Said::of(child.wait_with_output().unwrap())
}

/// Every path below the world and its size; the shape of what a command may not change.
fn listing(root: &Path) -> Vec<(PathBuf, u64)> {
    let mut found = Vec::new();
    let mut ahead = vec![root.to_owned()];
    while let Some(folder) = ahead.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let entry = entry.unwrap();
            let data = entry.metadata().unwrap();
            if data.is_dir() {
                ahead.push(entry.path());
            }
            found.push((entry.path(), if data.is_file() { data.len() } else { 0 }));
        }
    }
    found.sort();
    found
}

/// Gives the world to `nobody`, when it is root that tests.
fn hand_over(world: &World) {
    if nix::unistd::geteuid().is_root() {
        for (path, _) in listing(&world.path("")) {
            chown(&path, Some(65534), Some(65534)).unwrap();
        }
        chown(world.path(""), Some(65534), Some(65534)).unwrap();
    }
}

/// Removes a file or a directory, if it is there.
fn remove(left: &Path) {
    if left.is_dir() {
        fs::remove_dir_all(left).unwrap();
    } else if left.exists() {
        fs::remove_file(left).unwrap();
    }
}

fn check(arguments: &[Argument]) {
    let mut wrong = Vec::new();
    let world = world();
    for argument in arguments {
        for badness in argument.kinds {
            let path = badness.make(&world, argument.good);
            let line = command_line(argument, path.to_str().unwrap());
            hand_over(&world);
            let before = listing(&world.path(""));
            let bad = world.path("bad");
            if *badness == Locked {
                fs::set_permissions(&bad, Permissions::from_mode(0o000)).unwrap();
            }
            let said = bounded(&world, &line);
            if bad.exists() {
                fs::set_permissions(&bad, Permissions::from_mode(0o755)).unwrap();
            }
            let mut complain = |what: &str| {
                wrong.push(format!(
                    "{badness:?}: {line}: {what}\n    exit {} {}{}",
                    said.code, said.stdout, said.stderr
                ));
            };
            // Line ends of Windows are white space in JSON, TOML and PEM: the file is as good as it was, or refused.
            let fine = *badness == CarriageReturns && right(argument, &said);
            let judged = matches!(said.code, 1) && argument.line.contains(" check");
            if !fine && !judged {
                if !matches!(said.code, 2 | 6) {
                    complain("exits with something else than 2 or 6");
                }
                if said.stderr.lines().count() != 1 || !said.stderr.starts_with("error[") {
                    complain("does not say so in one line");
                }
                if !said.stdout.is_empty() {
                    complain("writes data");
                }
                if listing(&world.path("")) != before {
                    complain("leaves something behind");
                }
            }
            remove(&world.path("out"));
            remove(&world.path("bad"));
        }
    }
    assert!(wrong.is_empty(), "{} of them:\n{}", wrong.len(), wrong.join("\n"));
}

fn of(commands: &[&str]) -> Vec<Argument> {
    let named = |argument: &&Argument| commands.iter().any(|name| argument.line.starts_with(&format!("{name} ")));
    ARGUMENTS.iter().filter(named).map(|Argument { line, good, kinds }| Argument { line, good, kinds }).collect()
}

#[test]
fn files_for_gate() {
    check(&of(&["gate"]));
}

#[test]
fn files_for_verify() {
    check(&of(&["verify"]));
}

#[test]
fn files_for_decide_and_sign() {
    check(&of(&["decide", "sign"]));
}

#[test]
fn files_for_audit_handoff_and_manifest() {
    check(&of(&["audit", "dsse", "handoff", "manifest"]));
}

#[test]
fn files_for_trust_roots_keys_schemas_and_daemons() {
    check(&of(&["trust", "keys", "schema", "digest", "coordinator", "verifier"]));
}

#[test]
fn files_for_commands_of_the_mesh() {
    check(&of(&["submit", "mesh", "watch", "show"]));
}

#[test]
fn files_for_policies_exports_and_imports() {
    check(&of(&["policy", "export", "import"]));
}

#[test]
fn every_argument_is_tried_and_right_without_badness() {
    let world = world();
    let tried: usize = ["gate", "verify", "decide", "sign", "audit", "handoff", "manifest", "policy", "trust", "keys"]
        .iter()
        .chain(&["schema", "digest", "coordinator", "verifier", "export", "import", "dsse"])
        .chain(&["submit", "mesh", "watch", "show"])
        .map(|name| of(&[name]).len())
        .sum();
    assert_eq!(tried, ARGUMENTS.len());
    let mut brokers = 0;
    for argument in ARGUMENTS {
        if argument.line.contains("NOBODY") {
            brokers += 1;
            if brokers > 1 {
                continue;
            }
        }
        let said = world.run(&command_line(argument, argument.good));
        // The daemons' files name others that this world does not have.
        if !argument.line.contains("--check-config") {
            assert!(right(argument, &said), "{}: {}", argument.line, said.stderr);
        }
        remove(&world.path("out"));
    }
}

/// Each command that writes, told to write over one of its own inputs, by its name or by a link to it.
const OVER: &[(&str, &str)] = &[
    ("manifest --work-unit example/work-unit.json --candidate example/good --worker w --key {} -o {}", "worker.pem"),
    ("manifest --work-unit example/work-unit.json --candidate {} --worker w -o {}", "example/good/answer.json"),
    ("handoff derive --work-unit {} --result bare.json -o {}", "example/work-unit.json"),
    ("sign --key verifier-a.pem --trust trust.json {} -o {}", "statement.json"),
    ("sign --key {} --trust trust.json statement.json -o {}", "verifier-a.pem"),
    (
        "gate --work-unit example/work-unit.json --candidate example/good --plan {} --report markdown=r.md --report json={}",
        "example/plan.toml",
    ),
    (
        "decide --work-unit example/work-unit.json --result manifest.json --trust {} --out made --report junit={}",
        "trust.json",
    ),
    ("audit record --trust {} --report json={}", "trust.json"),
    ("export run-report record --run {} -o {}", "run.json"),
    ("export human-decision --report {} --id a/b --decision reject --rationale n --decider d -o {}", "report.json"),
    ("policy export-tlog {} --leave-out rest --trust trust.json -o {}", "groups.toml"),
    ("policy import-tlog {} --trust trust.json -o {}", "witnesses.policy"),
    ("trust sign {} --trust trust.json --root-key root.pem -o {}", "proposal.json"),
    ("trust retire trust.json --root-key {} --role gate --id gate --propose {}", "root.pem"),
];

#[test]
fn no_command_writes_over_what_it_reads() {
    let world = world();
    for (line, input) in OVER {
        let line = line.replacen("{}", input, 1);
        let hard = world.path("hard");
        fs::hard_link(world.path(input), &hard).unwrap();
        std::os::unix::fs::symlink(world.path(input), world.path("soft")).unwrap();
        let before = (listing(&world.path("")), world.read(input));
        for name in [*input, "hard", "soft", "./example/../soft"] {
            world.run(&line.replace("{}", name)).refuses(2, "output_is_input");
            assert_eq!((listing(&world.path("")), world.read(input)), before, "{line}");
        }
        fs::remove_file(hard).unwrap();
        fs::remove_file(world.path("soft")).unwrap();
    }
}

#[test]
fn init_follows_no_link() {
    for link in [".quorum", ".quorum/example", ".quorum/example/candidate"] {
        let world = World::new();
        fs::create_dir(world.path("elsewhere")).unwrap();
        let place = world.path(&format!("repo/{link}"));
        fs::create_dir_all(place.parent().unwrap()).unwrap();
        std::os::unix::fs::symlink(world.path("elsewhere"), place).unwrap();
        let mut command = world.command();
        Said::of(command.arg("init").current_dir(world.path("repo")).output().unwrap()).refuses(2, "init_exists");
        assert_eq!(listing(&world.path("elsewhere")), [], "{link}");
    }
}

/// Every command that writes, with its output in `full/`.
const OUTPUTS: &[&str] = &[
    "gate --work-unit example/work-unit.json --candidate example/good --plan example/plan.toml --out full/out",
    "gate --work-unit example/work-unit.json --candidate example/good --plan example/plan.toml --report json=full/out",
    "verify --work-unit example/work-unit.json --result manifest.json --candidate example/good --plan example/plan.toml \
     --trust trust.json --unsigned --out full/out",
    "decide --work-unit example/work-unit.json --result manifest.json --trust trust.json --out full/out",
    "sign --key verifier-a.pem --trust trust.json statement.json -o full/out",
    "handoff derive --work-unit example/work-unit.json --result bare.json -o full/out",
    "manifest --work-unit example/work-unit.json --candidate example/good --worker worker -o full/out",
    "trust init full/out --root-key root.pem",
    "trust retire trust.json --root-key root.pem --role gate --id gate -o full/out",
    "keys new full/out",
    "mesh config --out full/out --coordinator c",
    "man full/out",
];

/// A file system of one page that is full, in a mount namespace of its own: it needs no privilege where user namespaces
/// are allowed, which the sandbox needs too.
#[test]
fn a_full_disk_leaves_nothing_half_written() {
    let world = world();
    fs::create_dir(world.path("full")).unwrap();
    let mut wrong = Vec::new();
    for line in OUTPUTS {
        let script = "mount -t tmpfs -o size=8k none full && head -c 8192 /dev/zero > full/filler 2>/dev/null; \
                      \"$0\" \"$@\"; code=$?; find full -mindepth 1 ! -name filler >&2; exit $code";
        let mut command = Command::new("unshare");
        command.args(["--user", "--map-root-user", "--mount", "sh", "-c", script]);
        command.arg(env!("CARGO_BIN_EXE_quorum")).args(line.split_whitespace());
        let said = finish(command.current_dir(world.path("")), line);
        let one = said.stderr.lines().count() == 1 && said.stderr.starts_with("error[");
        // A gate has decided before it writes; what it decided is not on stdout then.
        if said.code != 5 || !one || !said.stdout.is_empty() {
            wrong.push(format!("{line}:\n    exit {} {}{}", said.code, said.stdout, said.stderr));
        }
    }
    assert!(wrong.is_empty(), "{} of them:\n{}", wrong.len(), wrong.join("\n"));
}

/// Commands with data on stdout, one of each way to write it.
const TALKERS: &[&str] = &[
    "gate --work-unit example/work-unit.json --candidate example/good --plan example/plan.toml",
    "audit record",
    "handoff derive --work-unit example/work-unit.json --result bare.json",
    "digest example/work-unit.json --canonical",
    "policy show local",
    "schema list --json",
    "trust show trust.json",
    "errors",
    "completions bash",
    "reference",
    "--help",
    "gate --help",
    "--version",
];

/// The one line that says that stdout took nothing, in either form.
fn lost(stderr: &str) -> bool {
    let forms = ["error[cannot_write_stdout]: ", "{\"error\":{\"code\":\"cannot_write_stdout\","];
    stderr.lines().count() == 1 && forms.iter().any(|form| stderr.starts_with(form))
}

#[test]
fn a_stdout_that_takes_nothing_exits_5() {
    let world = world();
    let mut wrong = Vec::new();
    for line in TALKERS {
        for (what, script) in [("closed", "exec \"$0\" \"$@\" >&-"), ("full", "exec \"$0\" \"$@\" >/dev/full")] {
            let mut command = Command::new("sh");
            command.args(["-c", script]).arg(env!("CARGO_BIN_EXE_quorum")).args(line.split_whitespace());
            let said = finish(command.current_dir(world.path("")), line);
            if said.code != 5 || !lost(&said.stderr) {
                wrong.push(format!("{what}: {line}: exit {} {}", said.code, said.stderr));
            }
        }
        // A reader that is gone before the first byte.
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let mut command = Command::new(env!("CARGO_BIN_EXE_quorum"));
        command.args(line.split_whitespace()).current_dir(world.path("")).stdin(Stdio::null());
        let output = command.stdout(writer).stderr(Stdio::piped()).spawn().unwrap().wait_with_output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        if output.status.code() != Some(5) || !lost(&said) {
            wrong.push(format!("broken pipe: {line}: {:?} {said}", output.status.code()));
        }
    }
    assert!(wrong.is_empty(), "{} of them:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn a_stdout_that_is_closed_or_null_is_told_apart() {
    let world = world();
    // Nothing is written, so nothing is lost.
    let quiet = "manifest --work-unit example/work-unit.json --candidate example/good --worker worker -o out";
    let mut command = Command::new("sh");
    command.args(["-c", "exec \"$0\" \"$@\" >&-"]).arg(env!("CARGO_BIN_EXE_quorum")).args(quiet.split_whitespace());
    finish(command.current_dir(world.path("")), quiet).exits(0);
    for stdout in [">/dev/null", "1<>/dev/null", "2>&-"] {
        let mut command = Command::new("sh");
        command.args(["-c", &format!("exec \"$0\" \"$@\" {stdout}")]).arg(env!("CARGO_BIN_EXE_quorum"));
        finish(command.args(["policy", "list"]).current_dir(world.path("")), stdout).exits(0);
    }
}

#[test]
fn stdin_is_a_document_too() {
    let world = world();
    for (input, code) in [(&b"{}"[..], 0), (b"", 2), (b"\xef\xbb\xbf{}", 2), (b"{} {}", 2), (b"\0", 2)] {
        let mut command = world.command();
        let mut child = command
            .args(["digest", "-"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(input).unwrap();
        Said::of(child.wait_with_output().unwrap()).exits(code);
    }
}
