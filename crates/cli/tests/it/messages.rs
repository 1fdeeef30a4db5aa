//! Every message that the command line can show is a snapshot: each code of the rooms `cli` and `gate` has a case here,
//! or a reason why no test can bring it about.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use quorum_attest::{PAYLOAD_TYPE, PredicateType, Role, SigningKey, Statement, Subject, sign};
use quorum_schemas::{Digest, Value, parse};

use crate::world::{World, normal};

const GATE: &str = "gate --work-unit example/work-unit.json --candidate example/good --plan example/plan.toml";
const VERIFY: &str =
    "verify --work-unit example/work-unit.json --result bare.json --candidate example/good --plan example/plan.toml";
const GIT: &str = "gate --git repo --base main --work-unit example/work-unit.json --plan example/plan.toml";

/// One code, and the command that ends with it in the [`world`].
fn cases() -> Vec<(&'static str, String)> {
    let with = |code, rest: &str| (code, format!("{GATE} {rest}"));
    let trusted = "gate --work-unit example/work-unit.json --candidate example/good --trust trust.json";
    let submit = "submit --nats nats://127.0.0.1:1 --credentials absent.toml";
    vec![
        ("usage", "gat".to_owned()),
        ("usage", "gate --work-unit example/work-unit.json".to_owned()),
        ("usage", format!("{GATE} --isolation some")),
        ("usage", "trust add trust.json --root-key root.pem --role verifer --id v --public-key v.pem".to_owned()),
        ("usage", "completions tcsh".to_owned()),
        ("cannot_read", "digest absent.json".to_owned()),
        ("cannot_read", "policy check example".to_owned()),
        ("cannot_write", "keys new absent/key.pem".to_owned()),
        (
            "cannot_write",
            "manifest --work-unit example/work-unit.json --candidate example/good --worker w -o no/f".to_owned(),
        ),
        ("code_unknown", "errors plan_mising".to_owned()),
        ("policy_exists", "policy init two-of-three -o trust.json".to_owned()),
        ("policy_not_named", "policy test nameless.cases.toml".to_owned()),
        (
            "proposal_differs",
            format!(
                "trust sign proposal.json --trust trust.json --root-key root.pem --content sha256:{}",
                "0".repeat(64)
            ),
        ),
        ("record_differs", "policy explain --record broken".to_owned()),
        ("record_differs", "export run-report broken".to_owned()),
        ("export_without_decision", "export run-report undecided".to_owned()),
        ("export_of_several_policies", "export run-report record strict".to_owned()),
        ("output_is_input", format!("{GATE} --report json=example/plan.toml")),
        ("report_in_record", "audit record --report json=record/r.json".to_owned()),
        ("report_twice", format!("{GATE} --report json=r --report markdown=r")),
        (
            "trust_file_exists",
            "trust retire trust.json --root-key root.pem --role gate --id gate -o gate.pem".to_owned(),
        ),
        ("trust_version_exists", "trust retire old/trust.json --root-key root.pem --role gate --id gate".to_owned()),
        ("base_missing", format!("{GIT} --head HEADID").replace(" --base main", "")),
        ("key_exists", "keys new gate.pem".to_owned()),
        ("key_malformed", "keys show example/work-unit.json".to_owned()),
        ("key_malformed", "keys show binary".to_owned()),
        ("key_malformed", format!("{GATE} --trust trust.json --key secret.bin")),
        ("key_permissions", format!("{GATE} --trust trust.json --key open.pem")),
        ("key_permissions", "trust init new.json --root-key open.pem".to_owned()),
        ("nats_server_missing", "demo --nats-server absent".to_owned()),
        ("policy_not_admitted", "trust withdraw-policy trust.json --root-key root.pem strict-all".to_owned()),
        ("policy_not_admitted", format!("{trusted} --policy strict-all")),
        ("schema_unknown", "schema show work-unit".to_owned()),
        ("toml_not_utf8", "schema check policy-v0.1 binary.toml".to_owned()),
        ("toml_syntax", "schema check policy-v0.1 array.toml".to_owned()),
        ("trust_root_exists", "trust init trust.json --root-key root.pem".to_owned()),
        ("trust_root_expired", "trust retire expired.json --root-key root.pem --role gate --id gate".to_owned()),
        ("not_signed", format!("{submit} --work-unit example/work-unit.json")),
        ("already_signed", format!("{submit} --work-unit unit.dsse.json --key gate.pem")),
        ("file_unreadable", format!("{submit} --work-unit example/work-unit.json --key gate.pem")),
        ("config_malformed", "coordinator --config unknown.toml".to_owned()),
        ("config_malformed", "verifier --config unknown.toml".to_owned()),
        ("baseline_in_candidate", with("", "--baseline example").1),
        ("control_file_in_candidate", with("", "--baseline example/good").1),
        ("baseline_missing", GATE.replace("example/plan.toml", "base.toml")),
        ("baseline_not_a_directory", with("", "--baseline example/policy.toml").1),
        ("candidate_unusable", GATE.replace("example/good", "linked")),
        ("control_file_in_candidate", GATE.replace("example/good", "example")),
        ("control_file_too_large", GATE.replace("example/plan.toml", "huge")),
        ("evidence_needs_trust", with("", "--evidence x").1),
        ("git_not_a_repository", format!("{GIT} --head HEADID").replace("repo", "example")),
        ("git_object_id", format!("{GIT} --head main")),
        ("git_unknown_revision", format!("{GIT} --head HEADID").replace("main", "absent")),
        ("git_ambiguous_revision", format!("{GIT} --head HEADID").replace("--base main", "--base twice")),
        ("git_no_merge_base", format!("{GIT} --head OTHERID")),
        ("control_file_not_in_ref", format!("{GIT} --head HEADID").replace("example/plan.toml", "repo/absent.toml")),
        ("pull_request_malformed", format!("{GIT} --head HEADID --pr seven")),
        ("git_shallow", format!("{GIT} --head HEADID").replace("repo", "shallow")),
        ("isolation_none_not_admitted", with("", "--isolation none --policy example/policy.toml").1),
        ("isolation_unknown", format!("{VERIFY} --unsigned --isolation some --out out")),
        (
            "key_needs_isolation",
            format!("{GATE} --trust trust.json --key verifier-a.pem --policy local --isolation none")
                .replace("example/plan.toml", "engine.toml"),
        ),
        ("key_needs_trust", with("", "--key verifier-a.pem").1),
        ("key_not_in_trust_root", format!("{GATE} --trust trust.json --key root.pem")),
        ("not_a_record", "audit example".to_owned()),
        ("out_not_empty", with("", "--out example").1),
        ("out_not_empty", with("", "--out trust.json").1),
        ("pin_malformed", with("", "--pin example/plan.toml").1),
        ("pin_mismatch", with("", &format!("--pin example/plan.toml=sha256:{}", "0".repeat(64))).1),
        ("pin_twice", with("", &format!("--pin p=sha256:{0} --pin p=sha256:{0}", "0".repeat(64))).1),
        ("pin_unused", with("", &format!("--pin example/policy.toml=sha256:{}", "0".repeat(64))).1),
        ("plan_missing", "gate --work-unit example/work-unit.json --candidate example/good".to_owned()),
        ("plan_needs_key", with("", "--trust trust.json").1),
        (
            "plan_wrong_verifier",
            format!("{GATE} --trust trust.json --key verifier-a.pem").replace("plan.toml", "plan-b.toml"),
        ),
        ("policy_unknown_name", with("", "--policy two-of-there").1),
        ("policy_unknown_name", "policy show two-of-there".to_owned()),
        ("report_malformed", with("", "--report xml=r").1),
        ("result_not_a_file", with("", "--result pipe").1),
        ("result_too_large", with("", "--result huge").1),
        ("signed_document_needs_trust", with("", "--result signed.json").1),
        ("too_many_links", GATE.replace("example/plan.toml", "loop")),
        ("too_much_evidence", format!("{trusted}{}", " --evidence array.toml".repeat(257))),
        ("trust_version_needs_trust", with("", "--trust-min-version 1").1),
        ("trust_version_too_old", format!("{trusted} --trust-min-version 9")),
        ("worker_mismatch", with("", "--trust trust.json --key verifier-a.pem --result lent.json").1),
        ("worker_unauthenticated", GATE.replace("example/work-unit.json", "identified.json")),
        ("wrong_role", format!("{GATE} --trust trust.json --key worker.pem")),
        ("wrong_role", with("", "--trust trust.json --key verifier-a.pem --result role.json").1),
        ("wrong_subject", with("", "--trust trust.json --key verifier-a.pem --result subject.json").1),
        ("schema_invalid", GATE.replace("example/work-unit.json", "empty.json")),
        ("schema_invalid", with("", "--result extra.json").1),
        ("json_syntax", "digest array.toml".to_owned()),
        ("json_bom", "digest bom.json".to_owned()),
        ("json_not_utf8", "digest utf16.json".to_owned()),
        ("json_duplicate_key", "digest twice.json".to_owned()),
        ("json_trailing_bytes", "digest two.json".to_owned()),
        ("json_too_large", "digest huge".to_owned()),
        ("idk_h06", with("", "--result other.json").1),
        ("plan_unknown_key", GATE.replace("example/plan.toml", "key.toml")),
        ("plan_unknown_kind", GATE.replace("example/plan.toml", "kind.toml")),
        ("plan_validators_differ", GATE.replace("example/plan.toml", "short.toml")),
        ("policy_unknown_key", with("", "--policy ./key-policy.toml").1),
        ("policy_value", with("", "--policy ./value-policy.toml").1),
    ]
}

/// Codes of `cli` and `gate` that no command line of one machine in good order can bring about.
const ELSEWHERE: &[(&str, &str)] = &[
    ("git_history_too_long", "needs 200 000 commits"),
    ("pull_request_differs", "gate_git::a_manifest_of_another_pull_request_is_refused"),
    ("unknown_work_unit", "read after a broker has answered: tests/e2e"),
    ("wrong_candidate", "read after a broker has answered: tests/e2e"),
    ("connection_closed", "a broker that goes away while somebody watches"),
    ("nothing_to_submit", "the parser asks for it first; stands where a match must be whole"),
    ("candidate_missing", "the parser asks for it first; stands where a match must be whole"),
    ("cannot_write_stdout", "bad_input::a_stdout_that_takes_nothing_exits_5"),
    ("input_too_large", "bad_input: needs a file of 2 GiB"),
    ("clock_unusable", "needs a clock before 1970"),
    ("no_randomness", "needs a kernel without randomness"),
    ("own_program_unknown", "needs a system without /proc"),
    ("runtime_unavailable", "needs a system without threads"),
    ("signals_unavailable", "needs a system without threads"),
    ("log_filter_invalid", "read when a daemon with a usable configuration starts: tests/e2e"),
    ("demo_step_failed", "needs a mesh that breaks in the middle of the demo"),
    ("no_evidence", "needs a mesh that breaks in the middle of the demo"),
    ("no_lease", "needs a mesh that breaks in the middle of the demo"),
    ("no_refusal", "needs a mesh that breaks in the middle of the demo"),
    ("process_left", "needs a process that survives kill -9"),
    ("decision_schema_invalid", "a defect of this program"),
    ("refused_without_reason", "a defect of this program"),
    ("still_pending", "a defect of this program"),
    ("git_copy_failed", "needs a disk that fills up in the middle of a copy"),
    ("git_failed", "needs a git that answers nonsense"),
    ("git_missing", "gate_git: needs a PATH without git"),
    ("git_not_utf8", "needs a repository in a directory whose name is not UTF-8"),
    ("git_object_corrupt", "gate_git: needs an object with another content"),
    ("git_object_kind", "the name of the commit is looked up first"),
    ("git_object_missing", "needs a repository that lost objects: gate_git"),
    ("git_object_too_large", "gate_git_bounds: needs a commit of more than 1 MiB"),
    ("git_tree_too_large", "gate_git_bounds: needs thousands of submodules"),
    ("git_several_merge_bases", "gate_git: needs a criss-cross history"),
    ("init_exists", "the command takes no path: gate_small"),
    ("no_revision_due", "the audit of a revised decision: gate_audit"),
    ("no_scratch_space", "needs a TMPDIR that cannot be written"),
    ("record_too_large", "needs two thousand files"),
];

/// A directory with everything that the cases name, and the ids of its repository.
fn world() -> (World, BTreeMap<&'static str, String>) {
    let mut world = World::with_example();
    world.identity(Role::Verifier, "verifier-a", 2, &[("operator", "acme"), ("host", "one")]);
    world.identity(Role::Gate, "gate", 4, &[]);
    world.identity(Role::Worker, "worker", 5, &[("operator", "initech")]);
    world.identity(Role::Worker, "other", 6, &[]);
    world.admit("one-verifier");
    world.admit("local");
    world.root_key("root.pem");
    let expired = fs::read(world.trust_between(-7200, -3600)).unwrap();
    world.write("expired.json", expired);
    world.trust();
    let text = |name: &str| String::from_utf8(world.read(name)).unwrap();
    let make = "manifest --work-unit example/work-unit.json --candidate example/good --worker";
    world.run(&format!("{make} w -o bare.json")).exits(0);
    world.run(&format!("{make} worker --key worker.pem -o signed.json")).exits(0);
    world.run(&format!("{make} worker --key other.pem -o lent.json")).exits(0);
    world.run(&format!("{make} verifier-a --key verifier-a.pem -o role.json")).exits(0);
    let manifest = Statement {
        subject: vec![Subject::sha256("another", Digest::of(b"another"))],
        predicate_type: PredicateType::ResultManifest,
        predicate: parse(text("bare.json").replace("\"w\"", "\"worker\"").as_bytes()).unwrap(),
    };
    world.write("subject.json", sign(PAYLOAD_TYPE, &manifest.to_bytes(), &SigningKey::from_seed(&[5; 32])));
    let unit = Statement {
        subject: vec![Subject::sha256("unit", Digest::of(b"unit"))],
        predicate_type: PredicateType::WorkUnit,
        predicate: parse(text("example/work-unit.json").as_bytes()).unwrap(),
    };
    world.write("unit.dsse.json", sign(PAYLOAD_TYPE, &unit.to_bytes(), &SigningKey::from_seed(&[5; 32])));
    world.write("other.json", text("bare.json").replace("examples/json-answer", "examples/json-onswer"));
    world.write("extra.json", text("bare.json").replacen('{', "{\"extra\": 1,", 1));
    world.write("identified.json", text("example/work-unit.json").replace("\"untrusted\"", "\"identified\""));
    world.write("binary", [0xff, 0xfe, 0x00]);
    world.write("binary.toml", [0xff, 0xfe, 0x00]);
    let secret = world.write("secret.bin", [0xff; 32]);
    fs::set_permissions(secret, fs::Permissions::from_mode(0o600)).unwrap();
    world.write("open.pem", SigningKey::from_seed(&[9; 32]).to_pkcs8_pem().as_bytes());
    fs::set_permissions(world.path("open.pem"), fs::Permissions::from_mode(0o644)).unwrap();
    world.write("array.toml", "[1, 2");
    world.write("empty.json", "{}");
    world.write("bom.json", "\u{feff}{}");
    world.write("utf16.json", [0xff, 0xfe, b'{', 0, b'}', 0]);
    world.write("twice.json", "{\"a\": 1, \"a\": 2}");
    world.write("two.json", "{} {}");
    world.write("huge", vec![b' '; 3 << 20]);
    world.write("unknown.toml", "trsut = \"t.json\"\n");
    let plan = text("example/plan.toml");
    world.write("base.toml", plan.replace("allowed_files = [\"answer.json\"]\n", ""));
    world.write("key.toml", plan.replace("visibility", "visibilty"));
    world.write("kind.toml", plan.replace("\"scope\"", "\"scoop\""));
    world.write("short.toml", plan.split("[[check]]\nid = \"independent").next().unwrap());
    world.write("engine.toml", text("example/plan-c.toml").replace("verifier-c", "verifier-a"));
    world.copy(&world.path("example/rules"), "rules");
    world.write(
        "strict.toml",
        "schema_version = \"0.1\"\nid = \"strict\"\nindependent_on = []\nmin_isolation = \"none\"\n",
    );
    world.write("key-policy.toml", "schema_version = \"0.1\"\nid = \"x\"\nquorm = 2\n");
    world.write("value-policy.toml", "schema_version = \"0.1\"\nid = \"x\"\nquorum = 0\n");
    fs::create_dir(world.path("linked")).unwrap();
    std::os::unix::fs::symlink("/etc/passwd", world.path("linked/passwd")).unwrap();
    std::os::unix::fs::symlink("loop", world.path("loop")).unwrap();
    nix::unistd::mkfifo(&world.path("pipe"), nix::sys::stat::Mode::from_bits_truncate(0o600)).unwrap();
    world.run(&format!("{GATE} --out record")).exits(0);
    world.run(&format!("{GATE} --policy ./strict.toml --out strict"));
    world.copy(&world.path("record"), "broken");
    world.write("broken/policy.toml", "changed");
    world.copy(&world.path("example/work-unit.json"), "undecided/work-unit.json");
    world.run("policy init two-of-three -o mine.toml").exits(0);
    let cases = text("mine.cases.toml");
    let nameless: Vec<&str> = cases.lines().filter(|line| !line.starts_with("policy")).collect();
    world.write("nameless.cases.toml", nameless.join("\n"));
    world.run("trust admit-policy trust.json --root-key root.pem strict-all --propose proposal.json").exits(0);
    world.copy(&world.path("trust.json"), "old/trust.json");
    world.write("old/trust.1.json", "another");
    let ids = repository(&world);
    (world, ids)
}

fn repository(world: &World) -> BTreeMap<&'static str, String> {
    fs::create_dir(world.path("repo")).unwrap();
    world.write("repo/answer.json", "{}");
    let git = |line: &str| {
        let mut git = Command::new("git");
        git.args(["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false"]);
        git.args(line.split(' ')).current_dir(world.path("repo"));
        let output = git.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1").output().unwrap();
        assert!(output.status.success(), "git {line}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    };
    git("init -q -b main");
    git("add -A");
    git("commit -q -m one");
    git("commit -q --allow-empty -m two");
    let head = git("rev-parse HEAD");
    let tree = git("rev-parse HEAD^{tree}");
    git("checkout -q --orphan other");
    git("commit -q -m other");
    let other = git("rev-parse HEAD");
    git("checkout -q main");
    let whole = world.path("repo").canonicalize().unwrap();
    git("branch twice");
    git("tag twice");
    git(&format!("clone -q --depth 1 --branch main file://{} ../shallow", whole.display()));
    [("HEADID", head), ("TREEID", tree), ("OTHERID", other)].into()
}

/// Text with its times replaced.
fn timeless(text: &str) -> String {
    let words = text.split(' ').map(|word| {
        let bare = word.trim_end_matches([';', ',', '\n']);
        let is_time = bare.starts_with("20") && bare.contains('T') && bare.ends_with('Z');
        if is_time { word.replace(bare, "TIME") } else { word.to_owned() }
    });
    words.collect::<Vec<_>>().join(" ")
}

/// What the rooms say of themselves: code to the exit codes that its entry promises.
fn promised(world: &World) -> BTreeMap<(String, String), Vec<u64>> {
    let said = world.run("errors --json").exits(0).json();
    let text = |entry: &Value, key: &str| entry.get(key).and_then(Value::as_str).unwrap().to_owned();
    let mut all = BTreeMap::new();
    for entry in said.as_array().unwrap() {
        let exits = entry.get("exits").and_then(Value::as_array).unwrap().iter().filter_map(Value::as_u64).collect();
        all.insert((text(entry, "room"), text(entry, "code")), exits);
    }
    all
}

#[test]
fn every_message_is_a_snapshot_and_exits_as_the_catalogue_says() {
    let (world, ids) = world();
    let promised = promised(&world);
    let (mut page, mut wrong) = (String::new(), Vec::new());
    for (code, line) in cases() {
        let mut line = line;
        for (name, id) in &ids {
            line = line.replace(name, id);
        }
        let said = world.run(&line);
        if !said.stderr.starts_with(&format!("error[{code}]: "))
            || said.stderr.lines().count() != 1
            || !said.stdout.is_empty()
        {
            wrong.push(format!("{code}: {line}\n    exit {} {}{}", said.code, said.stdout, said.stderr));
            continue;
        }
        let entries: Vec<_> = promised.iter().filter(|((_, known), _)| known == code).collect();
        assert!(!entries.is_empty(), "the catalogue has no `{code}`");
        let number = u64::try_from(said.code).unwrap();
        let exit = said.code;
        let holds = entries.iter().any(|(_, exits)| exits.is_empty() || exits.contains(&number));
        assert!(holds, "{line}: exits {number}, the catalogue promises {entries:?}\n{}", said.stderr);
        let mut shown = normal(&line).replace(" --evidence array.toml", " -e a");
        if shown.len() > 300 {
            shown.truncate(300);
        }
        for (name, id) in &ids {
            shown = shown.replace(id.as_str(), name);
        }
        let mut stderr = timeless(&normal(&said.stderr));
        for (name, id) in &ids {
            stderr = stderr.replace(id.as_str(), name);
        }
        let home = world.path("").canonicalize().unwrap();
        let stderr = stderr.replace(home.to_str().unwrap().trim_end_matches('/'), "HOME");
        page += &format!("$ quorum {shown}\n[{exit}] {stderr}\n");
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    insta::assert_snapshot!("messages", page);
}

#[test]
fn every_code_of_the_command_line_has_a_case_or_a_reason() {
    let promised = promised(&World::new());
    let cased: Vec<&str> = cases().iter().map(|(code, _)| *code).collect();
    let mut missing = Vec::new();
    for (room, code) in promised.keys() {
        let elsewhere = ELSEWHERE.iter().any(|(known, _)| known == code);
        if matches!(room.as_str(), "cli" | "gate") && !elsewhere && !cased.contains(&code.as_str()) {
            missing.push(format!("{room}: {code}"));
        }
    }
    assert!(missing.is_empty(), "no case and no reason: {missing:?}");
    for (code, why) in ELSEWHERE {
        assert!(promised.keys().any(|(_, known)| known == code), "{code} is no code any more");
        assert!(!cased.contains(code) && !why.is_empty(), "{code} has a case: the reason is no longer true");
    }
}

/// A code stands once in a room, is snake_case, and says what it means and what to do in whole sentences. The codes of a
/// process run's result are upstream's own words, which have hyphens.
#[test]
fn the_catalogue_is_well_formed() {
    let said = World::new().run("errors --json").exits(0).json();
    let mut seen = std::collections::BTreeSet::new();
    for entry in said.as_array().unwrap() {
        let text = |key: &str| entry.get(key).and_then(Value::as_str).unwrap().to_owned();
        let (room, code) = (text("room"), text("code"));
        assert!(seen.insert((room.clone(), code.clone())), "{room} has `{code}` twice");
        let word = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
        let hyphened = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        let upstreams = matches!(room.as_str(), "sandbox" | "workbench") && code.bytes().all(hyphened);
        assert!(code.bytes().all(word) || upstreams, "{room}: {code}");
        for sentence in [text("meaning"), text("action")] {
            assert!(sentence.ends_with(['.', '?']) && !sentence.contains("  "), "{room} {code}: {sentence}");
            assert!(sentence.len() > 5, "{room} {code}");
        }
    }
}

/// The source holds no code outside the tables, and every error enum is in one.
#[test]
fn no_code_is_written_outside_its_table() {
    let crates = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let listed = World::new().run("errors --json").exits(0).json();
    let rooms: std::collections::BTreeSet<&str> =
        listed.as_array().unwrap().iter().filter_map(|entry| entry.get("room").and_then(Value::as_str)).collect();
    let mut wrong = Vec::new();
    for room in fs::read_dir(&crates).unwrap().map(|entry| entry.unwrap().path()) {
        let name = room.file_name().unwrap().to_str().unwrap().to_owned();
        let files = sources(&room.join("src"));
        let all: Vec<String> = files.iter().map(|file| fs::read_to_string(file).unwrap()).collect();
        for (file, text) in files.iter().zip(&all) {
            for constructor in [
                "GateError::control(",
                "GateError::worker(",
                "GateError::infrastructure(",
                "CliError::control(",
                "CliError::infrastructure(",
            ] {
                for (at, _) in text.match_indices(constructor) {
                    if text[at + constructor.len()..].trim_start().starts_with('"') {
                        let line = text[..at].lines().count();
                        wrong.push(format!("{}:{line}: a code as a literal", file.display()));
                    }
                }
            }
            // A code is made by a table; the two enums that only pass codes on are the exceptions.
            let by_hand =
                text.contains("fn code(&self) -> &'static str") || text.contains("fn code(self) -> &'static str");
            let passes_on = text.contains("enum GateError") || text.contains("enum CliError");
            if by_hand && !passes_on && name != "schemas" && !file.to_string_lossy().contains("tests") {
                wrong.push(format!("{}: codes outside a table", file.display()));
            }
            // And every table stands in its room's part of the catalogue, which is in the whole.
            for table in tables(text) {
                let listed = [format!("{table}::ENTRIES"), format!("{table}::entries()")];
                if !all.iter().any(|source| listed.iter().any(|it| source.contains(it))) {
                    wrong.push(format!("{}: {table} is not in the catalogue", file.display()));
                }
            }
            if text.contains("fn errors() -> Vec<ErrorEntry>") && !rooms.contains(name.as_str()) {
                wrong.push(format!("{}: the catalogue does not ask this room", file.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The enums of the tables in a source: `impl X in "room"` and `enum X in "room"`.
fn tables(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for line in text.lines().filter(|line| line.contains(" in \"") && !line.starts_with("///")) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let name = words.windows(3).find(|it| matches!(it[0], "impl" | "enum") && it[2] == "in").map(|it| it[1]);
        found.extend(name.map(str::to_owned));
    }
    found
}

fn sources(folder: &std::path::Path) -> Vec<std::path::PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(sources(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
    found
}
