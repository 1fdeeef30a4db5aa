//! What each command promises beside its options: examples, exit codes, the schema of its `--json`. One table feeds the
//! help, the man pages, the reference and the tests; a command that is not in it fails a test.

use clap::Command;
use quorum_gate::ExitCode::{self, *};

use crate::limits::EXAMPLE_COLUMNS;

/// An exit code and what it means here.
type Exit = (ExitCode, &'static str);

/// The promise of one command.
pub(crate) struct Contract {
    /// Its words without `quorum`, such as `trust add`.
    pub(crate) path: &'static str,
    /// Every way in which it ends.
    pub(crate) exits: &'static [Exit],
    /// The schemas of what `--json` writes to stdout; the document follows one of them.
    pub(crate) json: &'static [&'static str],
    /// Whole command lines that its parser takes.
    pub(crate) examples: &'static [&'static str],
}

const BAD_USAGE: Exit = (Usage, "usage, or a file that cannot be used");
const BROKEN: Exit = (Infrastructure, "infrastructure: a disk that is full, a process or a server that is away");
const STOPPED: Exit = (Interrupted, "interrupted");
const DONE: &[Exit] = &[(Accept, "done"), BAD_USAGE, BROKEN];
const PRINTED: &[Exit] = &[(Accept, "printed"), BAD_USAGE, (Infrastructure, "stdout takes nothing")];
const DECIDED: &[Exit] = &[
    (Accept, "accept_candidate"),
    (Reject, "reject_candidate"),
    (Usage, "usage or a control file"),
    (Insufficient, "insufficient_evidence"),
    (Escalate, "escalate"),
    BROKEN,
    (WorkerDocument, "the worker's document was refused"),
    STOPPED,
];
const VERIFIED: &[Exit] = &[
    (Accept, "evidence is written, whatever it shows"),
    (Usage, "usage or a control file"),
    (Infrastructure, "the checks could not run"),
    (WorkerDocument, "the worker's document was refused"),
    STOPPED,
];
const BOUND: &[Exit] = &[
    (Accept, "done"),
    (Usage, "usage or a control file"),
    BROKEN,
    (WorkerDocument, "the worker's document was refused"),
];
const AUDITED: &[Exit] = &[
    (Accept, "the same decision"),
    (Reject, "it differs"),
    (Usage, "there is nothing to compare: no record, or unusable"),
    BROKEN,
];
const HELD: &[Exit] = &[(Accept, "they belong together"), (Reject, "they do not"), BAD_USAGE, BROKEN];
const BELIEVED: &[Exit] = &[
    (Accept, "the signatures hold"),
    (Reject, "they do not, or the key may not say this or was not valid then"),
    (Usage, "usage, no envelope, or keys or a trust root that cannot be used"),
    BROKEN,
];
const CHECKED: &[Exit] = &[(Accept, "it can be used"), (Reject, "it cannot"), BAD_USAGE, BROKEN];
const SERVED: &[Exit] = &[(Accept, "ended as asked, by SIGTERM or SIGINT"), (Usage, "configuration"), BROKEN];
const WATCHED: &[Exit] = &[BAD_USAGE, BROKEN, STOPPED];
const TOLD: &[Exit] =
    &[(Accept, "every story ended as it should"), (Reject, "one did not"), BAD_USAGE, BROKEN, STOPPED];

/// The help of `command` and of all below it gets examples, exit codes and schemas from the table.
pub(crate) fn dress(command: Command) -> Command {
    below(command, "")
}

fn below(command: Command, path: &str) -> Command {
    let command = command.mut_subcommands(|child| {
        let path = format!("{path} {}", child.get_name());
        below(child, path.trim_start())
    });
    match CONTRACTS.iter().find(|contract| contract.path == path) {
        None => command,
        Some(contract) => {
            let own = command.get_after_help().map(|text| format!("{text}\n\n")).unwrap_or_default();
            command.after_help(format!("{own}{}", contract.help()))
        }
    }
}

impl Contract {
    /// The promise of a command.
    pub(crate) fn of(path: &str) -> Option<&'static Self> {
        CONTRACTS.iter().find(|contract| contract.path == path)
    }

    fn help(&self) -> String {
        let mut text = String::from("Examples:\n");
        for example in self.examples {
            text += &folded(example);
        }
        text += "\nExit codes:\n";
        for (code, meaning) in self.exits {
            text += &format!("  {:<4} {meaning}\n", code.number());
        }
        if !self.json.is_empty() {
            text += &format!("\nThe schema of --json: {} (`quorum schema show`)", self.json.join(" or "));
        }
        text.trim_end().to_owned()
    }
}

/// A command line to copy: longer than a page is wide it goes on in the next line, as a shell reads it. An option stays
/// with its value.
fn folded(example: &str) -> String {
    let mut parts: Vec<String> = vec![String::new()];
    let mut quoted = false;
    for word in example.split(' ') {
        if word.starts_with('-') && !quoted {
            parts.push(String::new());
        }
        if let Some(part) = parts.last_mut() {
            part.push(' ');
            part.push_str(word);
        }
        quoted ^= word.matches('\'').count() % 2 == 1;
    }
    let (mut text, mut width) = (String::from(" "), 1);
    for part in parts {
        if width + part.len() + " \\".len() > EXAMPLE_COLUMNS {
            text += " \\\n     ";
            width = 5;
        }
        text += &part;
        width += part.len();
    }
    text + "\n"
}

/// Every command that does something, in the order of the help.
pub(crate) const CONTRACTS: &[Contract] = &[
    Contract {
        path: "demo",
        exits: TOLD,
        json: &["output-demo-v0.1"],
        examples: &["quorum demo --nats-server .tools/nats-server", "quorum demo --dir demo"],
    },
    Contract { path: "init", exits: DONE, json: &["output-init-v0.1"], examples: &["quorum init"] },
    Contract {
        path: "manifest",
        exits: BOUND,
        json: &["result-manifest-v0.1", "output-envelope-v0.1", "output-written-v0.1"],
        examples: &[
            "quorum manifest --work-unit work-unit.json --candidate out/ --worker ann -o manifest.json",
            "quorum manifest --work-unit work-unit.json --candidate out/ --worker ann --key ann.pem -o manifest.dsse.json",
        ],
    },
    Contract {
        path: "gate",
        exits: DECIDED,
        json: &["report-v0.1"],
        examples: &[
            "quorum gate --work-unit work-unit.json --candidate out/ --plan plan.toml",
            "quorum gate --work-unit work-unit.json --candidate out/ --plan plan.toml --out record --report junit=quorum.xml",
            "quorum gate --work-unit work-unit.json --git . --base main --head 0123456789abcdef0123456789abcdef01234567 \
             --pr acme/app#7 --plan plan.toml",
            "quorum gate --work-unit work-unit.json --result manifest.json --candidate out/ --trust trust.json \
             --policy two-of-three --evidence a/evidence.dsse.json --evidence b/evidence.dsse.json",
        ],
    },
    Contract {
        path: "handoff derive",
        exits: BOUND,
        json: &["verification-handoff-v0.1", "output-written-v0.1"],
        examples: &["quorum handoff derive --work-unit work-unit.json --result manifest.json -o handoff.json"],
    },
    Contract {
        path: "verify",
        exits: VERIFIED,
        json: &["output-verify-v0.1"],
        examples: &[
            "quorum verify --work-unit work-unit.json --result manifest.json --candidate out/ --plan plan.toml \
             --key verifier.pem --trust trust.json --out evidence",
            "quorum verify --work-unit work-unit.json --result manifest.json --candidate out/ --plan plan.toml \
             --unsigned --out evidence",
        ],
    },
    Contract {
        path: "sign",
        exits: DONE,
        json: &["output-sign-v0.1"],
        examples: &["quorum sign --key verifier.pem --trust trust.json evidence.statement.json -o evidence.dsse.json"],
    },
    Contract {
        path: "dsse verify",
        exits: BELIEVED,
        json: &["output-dsse-verify-v0.1"],
        examples: &[
            "quorum dsse verify record/decision.dsse.json --trust trust.json --role gate",
            "quorum dsse verify evidence.dsse.json --trust trust.json --at 2026-01-31T12:00:00Z --payload",
            "quorum dsse verify foreign.dsse.json --public-key a.pub.pem --public-key b.pub.pem --threshold 2",
        ],
    },
    Contract {
        path: "decide",
        exits: DECIDED,
        json: &["report-v0.1"],
        examples: &[
            "quorum decide --work-unit work-unit.json --result manifest.json --policy two-of-three --trust trust.json \
             --evidence a/evidence.dsse.json --evidence b/evidence.dsse.json --out record",
        ],
    },
    Contract {
        path: "audit",
        exits: AUDITED,
        json: &["output-audit-v0.1"],
        examples: &[
            "quorum audit record",
            "quorum audit record --trust trust.json --json",
            "quorum audit record --report junit=quorum.xml",
        ],
    },
    Contract {
        path: "export run-report",
        exits: DONE,
        json: &["run-evidence-report-v0.1", "output-written-v0.1"],
        examples: &[
            "quorum export run-report record-1 record-2 --run run.json -o run-report.json",
            "quorum export run-report failed-attempt record-2 --run-id run/nightly-7",
        ],
    },
    Contract {
        path: "export human-decision",
        exits: DONE,
        json: &["human-decision-record-v0.1", "output-written-v0.1"],
        examples: &["quorum export human-decision --report run-report.json --id decision/7 --decision accept \
             --rationale 'I read the change and ran it' --decider maintainer/ann -o decision-7.json"],
    },
    Contract {
        path: "export verify",
        exits: HELD,
        json: &["output-export-verify-v0.1"],
        examples: &["quorum export verify --report run-report.json --run run.json --decision decision-7.json"],
    },
    Contract {
        path: "import evidence-report",
        exits: HELD,
        json: &["output-import-v0.1"],
        examples: &[
            "quorum import evidence-report evidence-report.json --result manifest.json --work-unit work-unit.json",
        ],
    },
    Contract {
        path: "coordinator",
        exits: SERVED,
        json: &["output-check-config-v0.1"],
        examples: &[
            "quorum coordinator --config coordinator.toml --check-config",
            "quorum coordinator --config c.toml",
        ],
    },
    Contract {
        path: "verifier",
        exits: SERVED,
        json: &["output-check-config-v0.1"],
        examples: &["quorum verifier --config verifier.toml --check-config", "quorum verifier --config verifier.toml"],
    },
    Contract {
        path: "submit",
        exits: BOUND,
        json: &["output-submit-v0.1"],
        examples: &[
            "quorum submit --credentials author.toml --work-unit work-unit.json --key author.pem",
            "quorum submit --credentials worker.toml --result manifest.dsse.json --candidate out/",
        ],
    },
    Contract {
        path: "watch",
        exits: WATCHED,
        json: &["output-watch-v0.1"],
        examples: &[
            "quorum watch --credentials auditor.toml",
            "quorum watch --credentials worker.toml --subjects 'idkmesh.v1.decision.>' --json",
        ],
    },
    Contract {
        path: "show",
        exits: DONE,
        json: &["output-show-v0.1"],
        examples: &[
            "quorum show sha256:5a3ec1d2f0a14b6f8e9d7c6b5a49382716f5e4d3c2b1a09f8e7d6c5b4a392817 --credentials auditor.toml \
             --out record",
        ],
    },
    Contract {
        path: "keys new",
        exits: DONE,
        json: &["output-key-v0.1"],
        examples: &["quorum keys new verifier.pem", "quorum keys new seats.secret --seat-secret"],
    },
    Contract {
        path: "keys show",
        exits: PRINTED,
        json: &["output-key-v0.1"],
        examples: &["quorum keys show verifier.pem", "quorum keys show verifier.pem --pem"],
    },
    Contract {
        path: "trust init",
        exits: DONE,
        json: &["output-trust-version-v0.1", "output-trust-proposal-v0.1"],
        examples: &["quorum trust init trust.json --root-key root.pem --policy two-of-three --expires 365d"],
    },
    Contract {
        path: "trust add",
        exits: DONE,
        json: &["output-trust-version-v0.1", "output-trust-proposal-v0.1"],
        examples: &[
            "quorum trust add trust.json --root-key root.pem --role verifier --id acme-1 --public-key acme-1.pub.pem \
             --attribute operator=acme --attribute host=one",
        ],
    },
    Contract {
        path: "trust revoke",
        exits: DONE,
        json: &["output-trust-version-v0.1", "output-trust-proposal-v0.1"],
        examples: &["quorum trust revoke trust.json --root-key root.pem --role verifier --id acme-1 \
             --compromised-since 2026-01-31T12:00:00Z"],
    },
    Contract {
        path: "trust retire",
        exits: DONE,
        json: &["output-trust-version-v0.1", "output-trust-proposal-v0.1"],
        examples: &["quorum trust retire trust.json --root-key root.pem --role worker --id ann"],
    },
    Contract {
        path: "trust admit-policy",
        exits: DONE,
        json: &["output-trust-version-v0.1", "output-trust-proposal-v0.1"],
        examples: &["quorum trust admit-policy trust.json --root-key root.pem policy.toml"],
    },
    Contract {
        path: "trust withdraw-policy",
        exits: DONE,
        json: &["output-trust-version-v0.1", "output-trust-proposal-v0.1"],
        examples: &["quorum trust withdraw-policy trust.json --root-key root.pem local"],
    },
    Contract {
        path: "trust rotate",
        exits: DONE,
        json: &["output-trust-version-v0.1", "output-trust-proposal-v0.1"],
        examples: &[
            "quorum trust rotate trust.json --root-key old.pem --root-key new.pem --new-root new.pem --threshold 1",
        ],
    },
    Contract {
        path: "trust replace-key",
        exits: DONE,
        json: &["output-trust-version-v0.1", "output-trust-proposal-v0.1"],
        examples: &["quorum trust replace-key trust.json --root-key root.pem --role verifier --id acme-1 \
             --public-key acme-1.new.pub.pem"],
    },
    Contract {
        path: "trust sign",
        exits: DONE,
        json: &["output-trust-proposal-v0.1"],
        examples: &["quorum trust sign next.json --trust trust.json --root-key second.pem"],
    },
    Contract {
        path: "trust accept",
        exits: DONE,
        json: &["output-trust-version-v0.1"],
        examples: &["quorum trust accept trust.json next.json"],
    },
    Contract {
        path: "trust verify",
        exits: PRINTED,
        json: &["output-trust-version-v0.1"],
        examples: &["quorum trust verify trust.json --known trust.3.json --min-version 5"],
    },
    Contract {
        path: "trust diff",
        exits: PRINTED,
        json: &["output-trust-proposal-v0.1"],
        examples: &["quorum trust diff trust.json next.json"],
    },
    Contract {
        path: "trust show",
        exits: PRINTED,
        json: &["output-trust-v0.1"],
        examples: &["quorum trust show trust.json"],
    },
    Contract { path: "policy list", exits: PRINTED, json: &["output-names-v0.1"], examples: &["quorum policy list"] },
    Contract {
        path: "policy show",
        exits: PRINTED,
        json: &["output-text-v0.1"],
        examples: &["quorum policy show two-of-three"],
    },
    Contract {
        path: "policy check",
        exits: CHECKED,
        json: &["output-policy-check-v0.1"],
        examples: &["quorum policy check policy.toml", "quorum policy check two-of-three --trust trust.json --strict"],
    },
    Contract {
        path: "policy explain",
        exits: PRINTED,
        json: &["policy-explain-v0.1"],
        examples: &[
            "quorum policy explain two-of-three --work-unit work-unit.json",
            "quorum policy explain --record record",
            "quorum policy explain --case policy.cases.toml --name 'two voices are enough'",
        ],
    },
    Contract {
        path: "policy test",
        exits: &[(Accept, "every case is as expected"), (Reject, "one is not"), BAD_USAGE, BROKEN],
        json: &["output-policy-test-v0.1"],
        examples: &[
            "quorum policy test policy.cases.toml",
            "quorum policy test policy.cases.toml --policy two-of-three",
        ],
    },
    Contract {
        path: "policy init",
        exits: DONE,
        json: &["output-files-v0.1"],
        examples: &["quorum policy init two-of-three -o policy.toml"],
    },
    Contract {
        path: "policy import-tlog",
        exits: DONE,
        json: &["output-text-v0.1", "output-written-v0.1"],
        examples: &[
            "quorum policy import-tlog witnesses.policy --trust trust.json --leave-out logs,urls -o policy.toml",
        ],
    },
    Contract {
        path: "policy export-tlog",
        exits: DONE,
        json: &["output-text-v0.1", "output-written-v0.1"],
        examples: &["quorum policy export-tlog policy.toml --trust trust.json --leave-out rest -o witnesses.policy"],
    },
    Contract {
        path: "mesh config",
        exits: DONE,
        json: &["output-made-v0.1"],
        examples: &[
            "quorum mesh config --out mesh --coordinator c1 --author ann --worker w1 --verifier a --verifier b --verifier c",
        ],
    },
    Contract {
        path: "mesh apply",
        exits: DONE,
        json: &["output-made-v0.1"],
        examples: &[
            "quorum mesh apply --credentials mesh/provisioner-mesh.toml --verifier a --verifier b --verifier c",
        ],
    },
    Contract { path: "schema list", exits: PRINTED, json: &["output-names-v0.1"], examples: &["quorum schema list"] },
    Contract {
        path: "schema show",
        exits: PRINTED,
        json: &["output-schema-v0.1"],
        examples: &["quorum schema show decision-v0.1"],
    },
    Contract {
        path: "schema check",
        exits: CHECKED,
        json: &["output-schema-check-v0.1"],
        examples: &["quorum schema check work-unit-v0.1 work-unit.json", "quorum schema check policy-v0.1 policy.toml"],
    },
    Contract {
        path: "digest",
        exits: PRINTED,
        json: &["output-digest-v0.1"],
        examples: &["quorum digest work-unit.json", "quorum digest --form jcs --canonical -"],
    },
    Contract {
        path: "errors",
        exits: PRINTED,
        json: &["output-errors-v0.1"],
        examples: &["quorum errors", "quorum errors plan_validators_differ"],
    },
    Contract {
        path: "exit-codes",
        exits: PRINTED,
        json: &["output-exit-codes-v0.1"],
        examples: &["quorum exit-codes --json"],
    },
    Contract {
        path: "completions",
        exits: PRINTED,
        json: &["output-text-v0.1"],
        examples: &["quorum completions bash", "quorum completions fish"],
    },
    Contract { path: "man", exits: DONE, json: &["output-files-v0.1"], examples: &["quorum man share/man/man1"] },
    Contract {
        path: "reference",
        exits: PRINTED,
        json: &["output-reference-v0.1"],
        examples: &["quorum reference", "quorum reference gate"],
    },
];
