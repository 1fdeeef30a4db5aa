//! What every command writes with `--json` follows the schema that it names, when it succeeds and when it fails.

use std::collections::{BTreeMap, BTreeSet};

use quorum_attest::Role;
use quorum_schemas::{SchemaName, Value, parse, validate};

use crate::world::{Said, World};

/// Command lines that end with a document, by command; the paths are those of [`world`].
const GOOD: &[(&str, &[&str])] = &[
    ("init", &["init"]),
    (
        "manifest",
        &[
            "manifest --work-unit example/work-unit.json --candidate example/good --worker w",
            "manifest --work-unit example/work-unit.json --candidate example/good --worker w --key worker.pem",
            "manifest --work-unit example/work-unit.json --candidate example/good --worker w -o made.json",
        ],
    ),
    (
        "gate",
        &[
            "gate --work-unit example/work-unit.json --candidate example/good --plan example/plan.toml",
            "gate --work-unit example/work-unit.json --candidate example/wrong --plan example/plan.toml --out gated",
            "gate --work-unit example/work-unit.json --candidate example/good --trust trust.json",
        ],
    ),
    (
        "handoff derive",
        &[
            "handoff derive --work-unit example/work-unit.json --result bare.json",
            "handoff derive --work-unit example/work-unit.json --result bare.json -o handoff.json",
        ],
    ),
    (
        "verify",
        &[
            "verify --work-unit example/work-unit.json --result bare.json --candidate example/good --plan example/plan.toml \
             --unsigned --out unsigned",
            "verify --work-unit example/work-unit.json --result bare.json --candidate example/wrong --plan example/plan.toml \
             --key verifier-a.pem --trust trust.json --out signed",
        ],
    ),
    ("sign", &["sign --key verifier-a.pem --trust trust.json statement.json -o evidence.json"]),
    (
        "dsse verify",
        &["dsse verify evidence.dsse.json --trust trust.json", "dsse verify evidence.dsse.json --public-key gate.pem"],
    ),
    (
        "decide",
        &[
            "decide --work-unit example/work-unit.json --result bare.json --trust trust.json --evidence evidence.dsse.json",
        ],
    ),
    ("audit", &["audit record", "audit broken"]),
    ("keys new", &["keys new new.pem", "keys new new.secret --seat-secret"]),
    ("keys show", &["keys show gate.pem", "keys show gate.pem --pem"]),
    (
        "trust init",
        &["trust init new.json --root-key root.pem", "trust init never.json --root-key root.pem --propose p0.json"],
    ),
    (
        "trust add",
        &[
            "trust add trust.json --root-key root.pem --policy strict-all -o t1.json",
            "trust add trust.json --root-key root.pem --policy strict-all --propose p1.json",
        ],
    ),
    (
        "trust revoke",
        &[
            "trust revoke trust.json --root-key root.pem --role gate --id gate -o t2.json",
            "trust revoke trust.json --root-key root.pem --role gate --id gate --propose p2.json",
        ],
    ),
    (
        "trust retire",
        &[
            "trust retire trust.json --root-key root.pem --role gate --id gate -o t3.json",
            "trust retire trust.json --root-key root.pem --role gate --id gate --propose p3.json",
        ],
    ),
    (
        "trust admit-policy",
        &[
            "trust admit-policy trust.json --root-key root.pem two-of-three -o t4.json",
            "trust admit-policy trust.json --root-key root.pem two-of-three --propose p4.json",
        ],
    ),
    (
        "trust withdraw-policy",
        &[
            "trust withdraw-policy trust.json --root-key root.pem local -o t5.json",
            "trust withdraw-policy trust.json --root-key root.pem local --propose p5.json",
        ],
    ),
    (
        "trust rotate",
        &[
            "trust rotate trust.json --root-key root.pem --root-key spare.pem --new-root spare.pem --threshold 1 -o t6.json",
            "trust rotate trust.json --root-key root.pem --new-root spare.pem --threshold 1 --propose p6.json",
        ],
    ),
    (
        "trust replace-key",
        &[
            "trust replace-key trust.json --root-key root.pem --role gate --id gate --public-key spare.pem -o t7.json",
            "trust replace-key trust.json --root-key root.pem --role gate --id gate --public-key spare.pem \
             --propose p7.json",
        ],
    ),
    ("trust sign", &["trust sign proposal.json --trust trust.json --root-key root.pem -o signed-proposal.json"]),
    ("trust accept", &["trust accept accepted/trust.json proposal.json"]),
    ("trust verify", &["trust verify trust.json"]),
    ("trust diff", &["trust diff trust.json revoked.json", "trust diff trust.json proposal.json"]),
    ("trust show", &["trust show trust.json", "trust show revoked.json"]),
    ("policy list", &["policy list"]),
    ("policy show", &["policy show local"]),
    ("policy check", &["policy check example/policy.toml", "policy check broken.toml"]),
    ("policy explain", &["policy explain local", "policy explain --record record"]),
    ("policy test", &["policy test mine.cases.toml"]),
    ("policy init", &["policy init two-of-three -o other.toml"]),
    (
        "policy import-tlog",
        &[
            "policy import-tlog witnesses.policy --trust trust.json",
            "policy import-tlog witnesses.policy --trust trust.json -o w.toml",
        ],
    ),
    (
        "policy export-tlog",
        &[
            "policy export-tlog groups.toml --leave-out rest --trust trust.json",
            "policy export-tlog groups.toml --leave-out rest --trust trust.json -o w.policy",
        ],
    ),
    ("export run-report", &["export run-report record", "export run-report record -o report2.json"]),
    (
        "export human-decision",
        &[
            "export human-decision --report report.json --id decision/7 --decision reject --rationale no --decider ann",
            "export human-decision --report report.json --id decision/8 --decision reject --rationale no --decider ann -o d.json",
        ],
    ),
    (
        "export verify",
        &["export verify --report report.json --run run.json", "export verify --report report.json --run bare.json"],
    ),
    ("import evidence-report", &["import evidence-report bare.json --result bare.json"]),
    ("mesh config", &["mesh config --out mesh --coordinator c --verifier a"]),
    ("schema list", &["schema list"]),
    ("schema show", &["schema show decision-v0.1", "schema show output-audit-v0.1"]),
    (
        "schema check",
        &["schema check work-unit-v0.1 example/work-unit.json", "schema check work-unit-v0.1 broken.json"],
    ),
    ("digest", &["digest bare.json", "digest bare.json --form jcs --canonical"]),
    ("errors", &["errors", "errors wrong_role"]),
    ("exit-codes", &["exit-codes"]),
    ("completions", &["completions bash"]),
    ("man", &["man pages"]),
    ("reference", &["reference"]),
];

/// Commands whose document needs a mesh: tests/e2e/json_output.rs runs them.
const ON_A_MESH: &[&str] = &["coordinator", "demo", "mesh apply", "show", "submit", "verifier", "watch"];

/// A command line of every command that fails, and the code that it fails with.
const BAD: &[(&str, &str)] = &[
    ("audit absent", "cannot_read"),
    ("completions tcsh", "usage"),
    ("coordinator --config absent", "file_unreadable"),
    ("decide --work-unit absent --result bare.json --trust trust.json", "cannot_read"),
    ("demo --nats-server absent", "nats_server_missing"),
    ("digest broken.toml", "json_syntax"),
    ("dsse verify bare.json --trust trust.json", "malformed"),
    ("errors nonsense", "code_unknown"),
    ("exit-codes surplus", "usage"),
    ("gate --work-unit example/work-unit.json --candidate example/good --plan broken.toml", "plan_unknown_key"),
    ("handoff derive --work-unit example/work-unit.json --result broken.json", "idk_h06"),
    ("export run-report absent", "cannot_read"),
    (
        "export human-decision --report broken.json --id decision/7 --decision reject --rationale no --decider ann",
        "schema_invalid",
    ),
    ("export verify --report absent", "cannot_read"),
    ("import evidence-report absent --result bare.json", "cannot_read"),
    ("init surplus", "usage"),
    ("keys new gate.pem", "key_exists"),
    ("keys show broken.toml", "key_malformed"),
    ("man trust.json", "cannot_write"),
    ("manifest --work-unit broken.json --candidate example/good --worker w", "schema_invalid"),
    ("mesh apply --credentials absent", "file_unreadable"),
    ("mesh config --out record --coordinator c", "cannot_write"),
    ("policy check absent.toml", "cannot_read"),
    ("policy explain --record example", "not_a_record"),
    ("policy export-tlog absent.toml --trust trust.json", "cannot_read"),
    ("policy import-tlog absent --trust trust.json", "cannot_read"),
    ("policy init two-of-three -o trust.json", "policy_exists"),
    ("policy list surplus", "usage"),
    ("policy test absent.toml", "cannot_read"),
    ("policy show nonsense", "policy_unknown_name"),
    ("reference surplus", "usage"),
    ("schema check nonsense example/work-unit.json", "schema_unknown"),
    ("schema list surplus", "usage"),
    ("schema show nonsense", "schema_unknown"),
    ("show nonsense --credentials absent", "usage"),
    ("sign --key gate.pem --trust trust.json statement.json -o no.json", "wrong_role"),
    ("submit --credentials absent --work-unit example/work-unit.json --key gate.pem", "file_unreadable"),
    ("trust accept trust.json broken.toml", "malformed"),
    ("trust diff trust.json broken.toml", "malformed"),
    ("trust replace-key trust.json --root-key root.pem --role gate --id gat --public-key spare.pem", "entry_unknown"),
    ("trust sign broken.toml --trust trust.json --root-key root.pem", "malformed"),
    ("trust verify trust.json --min-version 9", "trust_version_too_old"),
    ("trust add trust.json --root-key gate.pem --policy strict-all -o no.json", "unknown_signer"),
    ("trust admit-policy absent.json --root-key root.pem local", "cannot_read"),
    ("trust init trust.json --root-key root.pem", "trust_root_exists"),
    ("trust retire trust.json --root-key root.pem --role gate --id gat -o no.json", "entry_unknown"),
    ("trust revoke trust.json --root-key root.pem --role gate --id gat -o no.json", "entry_unknown"),
    ("trust rotate trust.json --root-key root.pem --new-root broken.toml --threshold 1", "key_malformed"),
    ("trust show broken.toml", "malformed"),
    ("trust withdraw-policy trust.json --root-key root.pem strict-all", "policy_not_admitted"),
    ("verifier --config absent", "file_unreadable"),
    (
        "verify --work-unit example/work-unit.json --result bare.json --candidate absent --plan example/plan.toml --unsigned \
         --out no",
        "cannot_read",
    ),
    ("watch --credentials absent", "file_unreadable"),
];

fn world() -> World {
    let mut world = World::with_example();
    world.identity(Role::Verifier, "verifier-a", 2, &[("operator", "acme"), ("host", "one")]);
    world.identity(Role::Gate, "gate", 4, &[]);
    world.identity(Role::Worker, "worker", 5, &[("operator", "initech")]);
    world.admit("one-verifier");
    world.admit("local");
    world.root_key("root.pem");
    world.trust();
    world.run("keys new spare.pem").exits(0);
    world.run("trust revoke trust.json --root-key root.pem --role gate --id gate -o revoked.json").exits(0);
    world.run("manifest --work-unit example/work-unit.json --candidate example/good --worker w -o bare.json").exits(0);
    let verify = "verify --work-unit example/work-unit.json --result bare.json --candidate example/good \
                  --plan example/plan.toml --trust trust.json";
    world.run(&format!("{verify} --unsigned --out made")).exits(0);
    world.copy(&world.path("made/evidence.statement.json"), "statement.json");
    world.run("sign --key verifier-a.pem --trust trust.json statement.json -o evidence.dsse.json").exits(0);
    let gate = "gate --work-unit example/work-unit.json --candidate example/good --plan example/plan.toml";
    world.run(&format!("{gate} --out record")).exits(0);
    world.copy(&world.path("record"), "broken");
    world.write("broken/policy.toml", "changed");
    world.run("trust admit-policy trust.json --root-key root.pem strict-all --propose proposal.json").exits(0);
    world.copy(&world.path("trust.json"), "accepted/trust.json");
    world.run("policy init two-of-three -o mine.toml").exits(0);
    world.write("groups.toml", "schema_version = \"0.1\"\nid = \"g\"\n[groups]\nk = 1\nof = [\"acme\"]\n");
    world.run("policy export-tlog groups.toml --leave-out rest --trust trust.json -o witnesses.policy").exits(0);
    world.run("export run-report record --run run.json -o report.json").exits(0);
    world.write("broken.toml", "quorm = 2\n");
    world.write("broken.json", "{\"id\": \"x\"}");
    world
}

/// Command -> the schemas of its document, as the program itself lists them.
fn promised() -> BTreeMap<String, Vec<SchemaName>> {
    let said = World::new().run("reference --json").exits(0).json();
    let mut promised = BTreeMap::new();
    for command in said.get("commands").and_then(Value::as_array).unwrap() {
        let name = command.get("command").and_then(Value::as_str).unwrap().to_owned();
        let schemas = command.get("json").and_then(Value::as_array).unwrap_or_default();
        let schemas: Vec<SchemaName> = schemas.iter().map(|it| it.as_str().unwrap().parse().unwrap()).collect();
        assert!(!schemas.is_empty(), "{name} names no schema for --json");
        promised.insert(name, schemas);
    }
    promised
}

#[track_caller]
fn one_document(line: &str, said: &Said, schemas: &[SchemaName]) {
    let text = said.stdout.strip_suffix('\n').unwrap_or(&said.stdout);
    let value = parse(text.as_bytes()).unwrap_or_else(|error| panic!("{line}: {error}\n{}", said.stdout));
    let mut found = Vec::new();
    for schema in schemas {
        match validate(*schema, &value) {
            Ok(()) => return,
            Err(violations) => found.extend(violations.iter().map(|it| format!("{}: {it}", schema.as_str()))),
        }
    }
    panic!("{line} follows none of its schemas:\n{}\n{text}", found.join("\n"));
}

#[test]
fn json_of_every_command_follows_its_schema() {
    let promised = promised();
    let tried: BTreeSet<&str> = GOOD.iter().map(|(name, _)| *name).chain(ON_A_MESH.iter().copied()).collect();
    let missing: Vec<_> = promised.keys().filter(|name| !tried.contains(name.as_str())).collect();
    assert!(missing.is_empty(), "no case for {missing:?}");
    let world = world();
    for (name, lines) in GOOD {
        let schemas = promised.get(*name).unwrap_or_else(|| panic!("no command `{name}`"));
        let mut used: BTreeSet<SchemaName> = BTreeSet::new();
        for line in *lines {
            let said = world.run(&format!("{line} --json"));
            assert!(matches!(said.code, 0 | 1 | 3), "{line}: exit {}: {}", said.code, said.stderr);
            one_document(line, &said, schemas);
            let value = said.json();
            used.extend(schemas.iter().copied().filter(|schema| validate(*schema, &value).is_ok()));
        }
        assert_eq!(used.len(), schemas.len(), "{name}: a schema that no case follows is a promise without a proof");
    }
}

#[test]
fn json_errors_of_every_command_follow_theirs() {
    let world = world();
    let mut tried = BTreeSet::new();
    for (line, code) in BAD {
        let said = world.run(&format!("--json {line}"));
        assert_eq!(said.stdout, "", "{line}: an error is no data");
        assert_eq!(said.stderr.lines().count(), 1, "{line}: one line: {}", said.stderr);
        let error =
            parse(said.stderr.trim_end().as_bytes()).unwrap_or_else(|error| panic!("{line}: {error} {}", said.stderr));
        validate(SchemaName::OutputError, &error).unwrap_or_else(|violations| panic!("{line}: {violations:?}"));
        assert_eq!(error.at(&["error", "code"]).and_then(Value::as_str), Some(*code), "{line}: {}", said.stderr);
        let exit = error.at(&["error", "exit"]).and_then(Value::as_u64);
        assert_eq!(exit, u64::try_from(said.code).ok(), "{line}");
        let words: Vec<&str> = line.split(' ').collect();
        tried.insert(words[0].to_owned());
        tried.insert(words[..2.min(words.len())].join(" "));
    }
    let missing: Vec<String> = promised().into_keys().filter(|name| !tried.contains(name)).collect();
    assert!(missing.is_empty(), "no failing case for {missing:?}");
}

/// The form of an error is known before the arguments are.
#[test]
fn the_form_of_an_error_follows_json_wherever_it_stands() {
    let world = World::new();
    for line in ["--json gat", "gat --json", "digest --json", "digest absent --json"] {
        let said = world.run(line).exits(2);
        assert!(said.stderr.starts_with("{\"error\":{\"code\":"), "{line}: {}", said.stderr);
    }
    assert!(world.run("").exits(2).stderr.contains("Usage: quorum"), "nothing is asked: the help");
}
