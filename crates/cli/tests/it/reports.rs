//! Reports: every format of every kind of decision, read by programs that others wrote.

mod cases;

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use quorum_gate::{Format, ReportSubject, workflow_commands};
use quorum_policies::{Recommendation, Standing};
use quorum_schemas::{SchemaName, Value, parse, upstream, validate};
use serde_json::Value as Json;

use self::cases::{Base, Case, Said, fixed, random};
use crate::world::{World, normal};

/// The suffix by which the foreign readers know a format.
fn suffix(format: Format) -> &'static str {
    match format {
        Format::Junit => "xml",
        Format::Sarif => "sarif",
        Format::Markdown => "md",
        Format::Text => "txt",
        _ => "json",
    }
}

/// What the foreign readers see in a folder of reports; nothing where they are not installed (never in CI).
fn foreign(folder: &Path) -> Option<BTreeMap<String, Json>> {
    let python = upstream::foreign_python()?;
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/foreign/read_reports.py");
    let output = Command::new(python).arg(script).arg(folder).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(serde_json::from_slice(&output.stdout).unwrap())
}

/// Check marks and their like: what makes a line green without a word.
fn green(text: &str) -> bool {
    text.contains(['\u{2705}', '\u{2714}', '\u{2611}', '\u{2713}', '\u{1f7e2}', '\u{1f7e9}'])
}

#[test]
fn formats_of_every_kind_of_decision() {
    let base = Base::new();
    for (name, case) in fixed(&base) {
        for format in Format::ALL {
            let mut text = format.render(&case.subject());
            if *format == Format::Json {
                // Its other members; the decision has a snapshot-free schema of its own, and times in it.
                let mut report: Json = serde_json::from_str(&text).unwrap();
                report.as_object_mut().unwrap().remove("decision").unwrap();
                text = format!("{report:#}");
            }
            insta::assert_snapshot!(format!("{name}.{format}"), normal(&text));
        }
        insta::assert_snapshot!(format!("{name}.commands"), normal(&workflow_commands(&case.subject())));
    }
}

#[test]
fn a_run_without_a_decision_is_no_success_in_any_format() {
    let subject = ReportSubject::NoDecision {
        code: "cannot_read",
        message: "cannot read plan.toml: \u{2705} no such\n::notice::file",
        exit_code: quorum_gate::ExitCode::Usage,
    };
    let folder = tempfile::tempdir().unwrap();
    for format in Format::ALL {
        let text = format.render(&subject);
        assert!(!green(&text), "{format}: {text}");
        insta::assert_snapshot!(format!("no_decision.{format}"), text);
        std::fs::write(folder.path().join(format!("{format}.{}", suffix(*format))), &text).unwrap();
    }
    validate(SchemaName::Report, &parse(Format::Json.render(&subject).trim_end().as_bytes()).unwrap()).unwrap();
    let Some(seen) = foreign(folder.path()) else { return };
    assert_eq!(seen["junit.xml"]["errors"], 1, "{seen:?}");
    assert_eq!(seen["sarif.sarif"]["successful"], false, "{seen:?}");
}

/// Random decisions with hostile texts: nothing short of accept looks green, and an accept hides nothing.
#[test]
fn nothing_short_of_accept_looks_green_in_any_format() {
    let base = Base::new();
    let folder = tempfile::tempdir().unwrap();
    let mut cases: Vec<Case> = fixed(&base).into_iter().map(|(_, case)| case).collect();
    cases.extend((0..200).map(|seed| random(&base, seed)));
    let mut kinds = BTreeMap::new();
    for (at, case) in cases.iter().enumerate() {
        *kinds.entry(case.decision.recommendation).or_insert(0) += 1;
        for format in Format::ALL {
            let text = format.render(&case.subject());
            std::fs::write(folder.path().join(format!("{at}.{format}.{}", suffix(*format))), &text).unwrap();
            assert!(!text.contains("##[") && !text.contains("##vso["), "{at} {format}: {text}");
            assert!(!text.lines().any(|line| line.trim_start().starts_with("::")), "{at} {format}: {text}");
        }
        assert_text(at, case);
        assert_json(at, case, &base);
        assert_annotations(at, case);
    }
    assert!(kinds.len() == 4 && kinds.values().all(|count| *count >= 30), "every kind is tried often: {kinds:?}");
    let Some(seen) = foreign(folder.path()) else { return };
    for (at, case) in cases.iter().enumerate() {
        assert_junit(at, case, &seen[&format!("{at}.junit.xml")]);
        assert_sarif(at, case, &seen[&format!("{at}.sarif.sarif")]);
        assert_markdown(at, case, &seen[&format!("{at}.markdown.md")]);
    }
}

fn assert_text(at: usize, case: &Case) {
    for format in [Format::Text, Format::Markdown] {
        let text = format.render(&case.subject());
        let marks = text.matches('\u{2705}').count();
        assert_eq!(marks, usize::from(case.accepts() && format == Format::Markdown), "{at} {format}: {text}");
        assert!(!green(&text.replacen('\u{2705}', "", 1)), "{at} {format}: {text}");
        assert!(!text.contains(['\u{1b}', '\u{202e}', '\u{fffe}', '\u{0}']), "{at} {format}: {text:?}");
        let says = |line: &str| line.starts_with("accept_candidate: ");
        assert_eq!(text.lines().any(says), case.accepts(), "{at} {format}: {text}");
    }
}

fn assert_json(at: usize, case: &Case, base: &Base) {
    let report = parse(Format::Json.render(&case.subject()).trim_end().as_bytes()).unwrap();
    // Ids of random cases are hostile, and a decision's schema knows what ids are.
    let mut known = report.clone();
    if let Value::Object(members) = &mut known {
        members.insert("decision".to_owned(), base.decision().to_value());
        members.insert("checks".to_owned(), Value::Array(Vec::new()));
    }
    validate(SchemaName::Report, &known).unwrap_or_else(|wrong| panic!("{at}: {wrong:?}"));
    let code = report.get("exit_code").and_then(Value::as_u64).unwrap();
    assert_eq!(code == 0, case.accepts(), "{at}");
    assert_eq!(report.get("decision"), Some(&case.decision.to_value()), "{at}: the exact decision is in it");
    let levels: Vec<&str> = report
        .get("findings")
        .and_then(Value::as_array)
        .unwrap()
        .iter()
        .map(|it| it.get("level").unwrap().as_str().unwrap())
        .collect();
    assert_eq!(levels.iter().any(|level| ["failure", "error"].contains(level)), !case.accepts(), "{at}: {levels:?}");
}

fn assert_annotations(at: usize, case: &Case) {
    let commands = workflow_commands(&case.subject());
    for line in commands.lines() {
        let known = ["::error file=", "::warning file=", "::notice file="].iter().any(|start| line.starts_with(start));
        assert!(known, "{at}: {line}");
    }
    let fails = commands.lines().any(|line| line.starts_with("::error "));
    assert_eq!(fails, !case.accepts(), "{at}: {commands}");
    let batches: Json = serde_json::from_str(&Format::GithubAnnotations.render(&case.subject())).unwrap();
    let all: Vec<&Json> =
        batches["batches"].as_array().unwrap().iter().flat_map(|batch| batch.as_array().unwrap()).collect();
    assert_eq!(all.len(), commands.lines().count(), "{at}");
    assert!(all.iter().all(|one| one["title"].as_str().unwrap().chars().count() <= 255), "{at}");
}

fn assert_junit(at: usize, case: &Case, seen: &Json) {
    assert_eq!(seen.get("complaint"), None, "{at}");
    let count = |name: &str| seen[name].as_u64().unwrap();
    assert_eq!(count("skipped"), 0, "{at}: {seen}");
    assert_eq!(count("failures") + count("errors") > 0, !case.accepts(), "{at}: {seen}");
    let kind = match case.decision.recommendation {
        Recommendation::RejectCandidate => "failures",
        _ => "errors",
    };
    assert_eq!(count(kind) > 0, !case.accepts(), "{at}: {seen}");
    let passed: Vec<&str> = seen["passed"].as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect();
    assert_eq!(passed.contains(&"quorum/recommendation"), case.accepts(), "{at}: {seen}");
    // What passes is proven: a check that passed in evidence that counts, or a voice.
    let proven = case.decision.heard.iter().map(|heard| proven_cases(case, heard)).sum::<usize>();
    assert_eq!(passed.len(), proven + usize::from(case.accepts()), "{at}: {seen}");
    let told = seen["system_out"].as_str().unwrap();
    for refusal in &case.decision.refusals {
        assert!(told.contains(refusal.code.as_str()), "{at}: {} is told in {told}", refusal.code);
    }
}

/// How many test cases of a verifier may pass.
fn proven_cases(case: &Case, heard: &quorum_policies::Heard) -> usize {
    let evidence = &heard.evidence[0];
    let refused = case.decision.refusals.iter().any(|refusal| refusal.envelope == evidence.envelope);
    let distrusted =
        matches!(heard.standing, Standing::SharesWithWorker | Standing::RefusedSupport | Standing::Equivocates);
    let voice = usize::from(heard.standing == Standing::Voice);
    if refused || distrusted {
        return voice;
    }
    let bytes = &case.record[&quorum_policies::record::evidence(&evidence.envelope)];
    let envelope = quorum_attest::Envelope::parse(bytes).unwrap();
    // What its own strict reader refuses shows no checks.
    let Ok(statement) = quorum_attest::Statement::parse(envelope.payload()) else { return voice };
    let checks = statement.predicate.at(&["result", "checks"]).and_then(Value::as_array).unwrap();
    let passed = |check: &&Value| {
        let id = check.get("id").and_then(Value::as_str).unwrap();
        check.get("status").and_then(Value::as_str) == Some("passed")
            && !evidence.extra_checks.iter().any(|it| it == id)
    };
    voice + checks.iter().filter(passed).count()
}

fn assert_sarif(at: usize, case: &Case, seen: &Json) {
    assert_eq!(seen.get("complaint"), None, "{at}");
    let list = |name: &str| seen[name].as_array().unwrap().iter().map(|it| it.as_str().unwrap()).collect::<Vec<_>>();
    let (levels, rules, uris) = (list("levels"), list("rules"), list("uris"));
    assert_eq!(levels.contains(&"error"), !case.accepts(), "{at}: {seen}");
    assert_eq!(seen["successful"], case.accepts(), "{at}");
    for refusal in &case.decision.refusals {
        assert!(rules.contains(&refusal.code.as_str()), "{at}: {} in {seen}", refusal.code);
    }
    for uri in uris {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~/%".contains(&byte);
        assert!(!uri.is_empty() && !uri.starts_with('/') && uri.bytes().all(plain), "{at}: {uri}");
        assert!(!uri.split('/').any(|segment| segment == ".."), "{at}: {uri}");
    }
}

fn assert_markdown(at: usize, case: &Case, seen: &Json) {
    assert_eq!(seen.get("complaint"), None, "{at}");
    let tags: Vec<&str> = seen["tags"].as_array().unwrap().iter().map(|it| it.as_str().unwrap()).collect();
    let known =
        ["blockquote", "code", "details", "h2", "p", "pre", "summary", "table", "tbody", "td", "th", "thead", "tr"];
    assert!(tags.iter().all(|tag| known.contains(tag)), "{at}: {tags:?}");
    let words = seen["words"].as_str().unwrap();
    for obeyed in [":white_check_mark:", "@everyone", "://", "#1", "[x]"] {
        assert!(!words.contains(obeyed), "{at}: {words}");
    }
    let headings = seen["headings"].as_array().unwrap();
    assert_eq!(headings.len(), 1, "{at}: {headings:?}");
    let heading = headings[0].as_str().unwrap();
    assert!(heading.ends_with(&format!("Quorum: {}", case.decision.recommendation)), "{at}: {heading}");
}

/// At 0, 1, 49, 50, 51 and 143 annotations: batches of at most 50, and the log says what it leaves out.
#[test]
fn annotations_in_batches_of_fifty() {
    let base = Base::new();
    for wanted in [0_usize, 1, 49, 50, 51, 143] {
        let ids: Vec<String> = (1..wanted).map(|nth| format!("check-{nth:03}")).collect();
        let checks = ids.iter().map(|id| (id.as_str(), "failed", "it does not hold")).collect::<Vec<_>>();
        let (recommendation, said) = match wanted {
            0 => (Recommendation::AcceptCandidate, Vec::new()),
            1 => (Recommendation::InsufficientEvidence, Vec::new()),
            // The objector, its checks but two, and the recommendation.
            _ => {
                let checks = checks[1..].to_vec();
                let said = Said { id: "v", standing: Standing::Objector, checks, findings: Vec::new() };
                (Recommendation::RejectCandidate, vec![said])
            }
        };
        let mut case = base.case(recommendation, &said);
        case.decision.worker_identity = "authenticated".to_owned();
        case.decision.tally.n = said.len() as u64;
        let document: Json = serde_json::from_str(&Format::GithubAnnotations.render(&case.subject())).unwrap();
        let sizes: Vec<usize> =
            document["batches"].as_array().unwrap().iter().map(|batch| batch.as_array().unwrap().len()).collect();
        let expected: Vec<usize> = match wanted {
            0 => vec![],
            143 => vec![50, 50, 43],
            51 => vec![50, 1],
            few => vec![few],
        };
        assert_eq!(sizes, expected, "{wanted}");
        assert_eq!(document["total"], wanted);
        assert_eq!(document["showing"], format!("showing {} of {wanted}", wanted.min(50)));
        let commands = workflow_commands(&case.subject());
        let lines: Vec<&str> = commands.lines().collect();
        let shown = lines.iter().filter(|line| line.starts_with("::")).count();
        assert_eq!(shown, wanted.min(50), "{wanted}");
        let last = format!("showing 50 of {wanted}");
        assert_eq!(lines.last().copied() == Some(last.as_str()), wanted > 50, "{wanted}: {:?}", lines.last());
        assert_eq!(lines.len(), shown + usize::from(wanted > 50), "{wanted}");
        // What the log leaves out is in the other reports.
        for format in [Format::Junit, Format::Sarif, Format::Json] {
            let text = format.render(&case.subject());
            assert!(ids.iter().skip(1).all(|id| text.contains(id.as_str())), "{format} of {wanted}");
        }
        if wanted > 0 {
            assert!(lines[0].starts_with("::error ") && lines[0].contains("recommendation"), "{}", lines[0]);
        }
    }
}

/// What one rule says about one thing is one annotation, however many verifiers say it.
#[test]
fn annotations_are_deduplicated_by_rule() {
    let base = Base::new();
    let checks = vec![("answer", "failed", "wrong")];
    let ids = ["a", "b", "c"];
    let said: Vec<Said<'_>> = ids
        .iter()
        .map(|id| Said { id, standing: Standing::Objector, checks: checks.clone(), findings: Vec::new() })
        .collect();
    let case = base.case(Recommendation::RejectCandidate, &said);
    let commands = workflow_commands(&case.subject());
    let about: Vec<&str> = commands.lines().filter(|line| line.contains("title=Quorum%3A answer")).collect();
    assert_eq!(about.len(), 1, "{commands}");
    assert!(about[0].ends_with("(and 2 more of this rule)"), "{}", about[0]);
}

const GATE: &str = "gate --work-unit example/work-unit.json --candidate example/good --plan example/plan.toml";

#[test]
fn all_formats_in_one_run_and_annotations_on_stderr() {
    let world = World::with_example();
    let all = Format::ALL.iter().map(|it| format!("--report {it}={it}.{}", suffix(*it))).collect::<Vec<_>>().join(" ");
    for (candidate, code) in [("good", 0), ("wrong", 1), ("forbidden", 1)] {
        let line = GATE.replace("example/good", &format!("example/{candidate}"));
        let said = world.run(&format!("{line} {all} --annotations github")).exits(code);
        for format in Format::ALL {
            assert!(!world.read(&format!("{format}.{}", suffix(*format))).is_empty(), "{format}");
        }
        assert_eq!(said.stderr.contains("::error file=example/work-unit.json,line=1,"), code != 0, "{}", said.stderr);
        assert!(!said.stdout.contains("::"), "{}", said.stdout);
        let report = parse(world.read("json.json").trim_ascii_end()).unwrap();
        validate(SchemaName::Report, &report).unwrap();
        let quiet = world.run(&line).exits(code);
        assert!(!quiet.stderr.contains("::"), "nothing is annotated unasked: {}", quiet.stderr);
        if let Some(seen) = foreign(&world.path("")) {
            assert_eq!(seen["junit.xml"]["failures"] == 0, code == 0, "{seen:?}");
            assert_eq!(seen["junit.xml"]["errors"], 0, "{seen:?}");
            assert_eq!(seen["sarif.sarif"]["successful"], code == 0, "{seen:?}");
        }
    }
    world.run(&format!("{GATE} --report junit=a --report sarif=a")).refuses(2, "report_twice");
    world.run(&format!("{GATE} --report html=a")).refuses(2, "report_malformed");
    world.run(&format!("{GATE} --annotations gitlab")).refuses(2, "usage");
}

/// Reports again, of a record alone: what `audit` writes looks as green as the decision was, and a record that differs is
/// no success whatever it says.
#[test]
fn an_audit_publishes_the_reports_of_a_record() {
    let world = World::with_example();
    let all = Format::ALL.iter().map(|it| format!("--report {it}={it}.{}", suffix(*it))).collect::<Vec<_>>().join(" ");
    let green = |world: &World, accepts: bool, what: &str| {
        let text = |format: Format| String::from_utf8(world.read(&format!("{format}.{}", suffix(format)))).unwrap();
        let report = parse(text(Format::Json).trim_end().as_bytes()).unwrap();
        validate(SchemaName::Report, &report).unwrap();
        assert_eq!(report.get("exit_code").and_then(Value::as_u64) == Some(0), accepts, "{what}");
        assert_eq!(self::green(&text(Format::Markdown)), accepts, "{what}");
        let failing = ["<failure", "<error"].iter().any(|tag| text(Format::Junit).contains(tag));
        assert_eq!(failing, !accepts, "{what}: {}", text(Format::Junit));
        assert_eq!(text(Format::Sarif).contains("\"level\": \"error\""), !accepts, "{what}");
        if let Some(seen) = foreign(&world.path("")) {
            let clean = seen["junit.xml"]["failures"] == 0 && seen["junit.xml"]["errors"] == 0;
            assert_eq!(clean, accepts, "{what}: {seen:?}");
            assert_eq!(seen["sarif.sarif"]["successful"], accepts, "{seen:?}");
        }
        report
    };
    for (candidate, code) in [("good", 0), ("wrong", 1), ("forbidden", 1)] {
        let gate = GATE.replace("example/good", &format!("example/{candidate}"));
        world.run(&format!("{gate} --out {candidate}-record --report json=before.json")).exits(code);
        let said = world.run(&format!("audit {candidate}-record {all} --annotations github")).exits(0);
        assert!(said.stdout.starts_with("same: "), "{}", said.stdout);
        assert_eq!(said.stderr.contains("::error "), code != 0, "{}", said.stderr);
        let report = green(&world, code == 0, candidate);
        let before = parse(world.read("before.json").trim_ascii_end()).unwrap();
        assert_eq!(report.get("decision"), before.get("decision"), "{candidate}");
    }
    // Undecided, and then a record that somebody touched.
    world.run(&format!("{GATE} --policy two-of-three --out thin-record")).exits(3);
    world.run(&format!("audit thin-record {all}")).exits(0);
    green(&world, false, "insufficient");
    world.write("good-record/policy.toml", "changed");
    let said = world.run(&format!("audit good-record {all} --annotations github")).exits(1);
    assert!(said.stderr.contains("::error "), "{}", said.stderr);
    let report = green(&world, false, "differs");
    assert_eq!(report.at(&["error", "code"]).and_then(Value::as_str), Some("record_differs"));
    world.run(&format!("audit absent {all}")).exits(2);
    let report = green(&world, false, "no record");
    assert_eq!(report.at(&["error", "code"]).and_then(Value::as_str), Some("cannot_read"));
    // A report never becomes a file of the record.
    for inside in ["wrong-record/r.json", "./wrong-record/../wrong-record/r.json"] {
        world.run(&format!("audit wrong-record --report json={inside}")).refuses(2, "report_in_record");
    }
    world.run("audit wrong-record").exits(0);
}

/// A run that ends early leaves no report of an earlier run standing, and writes none into the candidate.
#[test]
fn an_error_is_told_in_the_reports() {
    let world = World::with_example();
    let reports = "--report junit=r.xml --report json=r.json --report markdown=r.md --report sarif=r.sarif";
    world.run(&format!("{GATE} {reports}")).exits(0);
    let said = world.run(&format!("{} {reports}", GATE.replace("plan.toml", "absent.toml"))).exits(2);
    assert!(said.stderr.starts_with("error[cannot_read]: "), "{}", said.stderr);
    let report = parse(world.read("r.json").trim_ascii_end()).unwrap();
    validate(SchemaName::Report, &report).unwrap();
    assert_eq!(report.at(&["error", "code"]).and_then(Value::as_str), Some("cannot_read"));
    assert_eq!(report.get("recommendation"), Some(&Value::Null));
    for (file, sign) in [("r.xml", "<error "), ("r.md", "no_decision"), ("r.sarif", "\"executionSuccessful\": false")] {
        let text = String::from_utf8(world.read(file)).unwrap();
        assert!(text.contains(sign) && !text.contains('\u{2705}'), "{file}: {text}");
    }
    // The worker's document, and steps apart.
    world.write("bad.json", "{\"accepted\": true}");
    world.run(&format!("{GATE} --result bad.json --report json=w.json")).exits(6);
    assert_eq!(parse(world.read("w.json").trim_ascii_end()).unwrap().get("exit_code").and_then(Value::as_u64), Some(6));
    let decide = "decide --work-unit example/work-unit.json --result bad.json --trust absent.json --report json=d.json";
    world.run(decide).exits(2);
    assert!(world.path("d.json").exists());
    // Neither a report nor an error about it is written where the candidate is.
    let inside = format!("{GATE} --report json=example/good/r.json");
    world.run(&inside).refuses(2, "control_file_in_candidate");
    assert!(!world.path("example/good/r.json").exists());
}

/// A worker may read what a CI job writes: of a hidden plan it learns ids and statuses.
#[test]
fn a_hidden_plan_shows_no_summaries() {
    let world = World::with_example();
    let plan = String::from_utf8(world.read("example/plan.toml")).unwrap();
    world.write("hidden.toml", plan.replace("visibility = \"public\"", "visibility = \"hidden\""));
    let line = GATE.replace("example/plan.toml", "hidden.toml").replace("example/good", "example/wrong");
    let reports = Format::ALL.iter().map(|it| format!("--report {it}=r.{it}")).collect::<Vec<_>>().join(" ");
    let said = world.run(&format!("{line} {reports} --annotations github")).exits(1);
    let open = world.run(&line.replace("hidden.toml", "example/plan.toml")).exits(1);
    let summary = "equals the required JSON";
    let secret = open.stdout.lines().find(|line| line.trim_start().starts_with("failed ")).unwrap();
    let secret = secret.split_once("independent-acceptance").unwrap().1.trim();
    assert!(secret.len() > 10, "{secret}");
    let mut told = vec![said.stdout.clone(), said.stderr.clone()];
    told.extend(Format::ALL.iter().map(|it| String::from_utf8(world.read(&format!("r.{it}"))).unwrap()));
    for text in told {
        assert!(!text.contains(secret) && !text.contains(summary), "{text}");
    }
    assert!(said.stdout.contains("failed        independent-acceptance"), "{}", said.stdout);
}
