//! Tables of cases: the shipped ones hold, a wrong expectation is found, and a bad file is refused with its line.

use std::path::{Path, PathBuf};

use quorum_policies::{CaseFile, CaseFormat, Policy};
use quorum_schemas::c1;

use crate::build::intake_of;
use crate::cases::PlainWorkUnit;

fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/policies")
}

fn shipped(name: &str) -> (CaseFile, Policy) {
    let bytes = std::fs::read(examples().join(format!("{name}.cases.toml"))).expect(name);
    let file = CaseFile::parse(&bytes, CaseFormat::Toml).unwrap_or_else(|error| panic!("{name}: {error}"));
    assert_eq!(file.policy(), Some(name), "the file is about its policy");
    (file, Policy::parse(Policy::shipped(name).expect(name).as_bytes()).expect(name))
}

#[test]
fn every_shipped_policy_has_cases_and_they_hold() {
    for name in Policy::shipped_names() {
        let (file, policy) = shipped(name);
        let reports = file.run(&policy).expect(name);
        assert!(reports.len() >= 6, "{name} has only {} cases", reports.len());
        for report in reports {
            assert_eq!(report.mismatches, [], "{name}: {}", report.name);
        }
    }
    let files = std::fs::read_dir(examples()).unwrap().count();
    assert_eq!(files, Policy::shipped_names().len(), "no file without a policy");
}

/// Under another policy the same cases end otherwise, so that a table that always holds would be found here.
#[test]
fn cases_find_another_policy() {
    let (file, _) = shipped("two-of-three");
    let other = Policy::parse(Policy::shipped("one-verifier").unwrap().as_bytes()).unwrap();
    let reports = file.run(&other).unwrap();
    assert!(reports.iter().filter(|report| !report.mismatches.is_empty()).count() >= 5);
}

#[test]
fn every_case_can_be_explained_and_concludes_as_it_runs() {
    for name in Policy::shipped_names() {
        let (file, policy) = shipped(name);
        for report in file.run(&policy).expect(name) {
            match file.explain(&policy, &report.name) {
                Ok(explanation) => {
                    let proof = explanation.proof.as_ref().expect("a case has a proof");
                    assert_eq!(proof.conclusion, report.found, "{name}: {}", report.name);
                    explanation.to_value().unwrap_or_else(|error| panic!("{name}: {}: {error}", report.name));
                }
                Err(error) => assert_eq!(error.code(), report.found, "{name}: {}", report.name),
            }
        }
    }
}

#[test]
fn explanations_are_stable_text() {
    let (file, policy) = shipped("two-of-three");
    for (snapshot, case) in [
        ("explain_accept", "two voices are enough"),
        ("explain_shared", "two keys of one operator are one voice"),
        ("explain_pending", "nothing is decided while a seat is open"),
        ("explain_refused", "a stranger's envelope changes nothing"),
        ("explain_equivocation", "two different answers of one key are none, and a reject among them objects"),
    ] {
        insta::assert_snapshot!(snapshot, file.explain(&policy, case).unwrap().text());
    }
    let text = "schema_version = \"0.1\"\nid = \"groups\"\npanel = 3\n\
                groups = { k = 2, of = [\"acme\", \"globex\", { k = 1, of = [\"initech\", \"hooli\"] }] }\n";
    let groups = Policy::parse(text.as_bytes()).unwrap();
    insta::assert_snapshot!("explain_groups", file.explain(&groups, "one voice is not enough").unwrap().text());
}

/// Every number of a proof, in the form that programs read, for a case of each row.
#[test]
fn explanations_are_stable_json() {
    let (file, _) = shipped("two-of-three");
    let text = "schema_version = \"0.1\"\nid = \"numbers\"\nquorum = 2\npanel = 3\ntolerate = 1\nreject_quorum = 2\n\
                fraction = \"2/3\"\ngroups = { k = 1, of = [\"acme\", \"globex\"] }\n";
    let policy = Policy::parse(text.as_bytes()).unwrap();
    let proofs: Vec<String> = file
        .names()
        .iter()
        .map(|name| {
            let explanation = file.explain(&policy, name).unwrap();
            let value = explanation.to_value().unwrap();
            let part = |name: &str| value.at(&["proof", name]).map(|value| String::from_utf8(c1(value)).unwrap());
            let parts: Vec<String> = ["conclusion", "tally", "rows", "groups", "open_seats"]
                .iter()
                .map(|name| format!("  {name}: {}", part(name).unwrap_or_default()))
                .collect();
            format!("{name}\n{}\n", parts.join("\n"))
        })
        .collect();
    insta::assert_snapshot!("explain_numbers", proofs.join("\n"));
}

/// What a strategy makes of a policy that has no rule for it, and of one that has.
#[test]
fn the_effective_rule_is_stable_text_for_every_strategy() {
    let bare = Policy::parse(b"schema_version = \"0.1\"\nid = \"bare\"\n").unwrap();
    let full = Policy::parse(Policy::shipped("strict-all").unwrap().as_bytes()).unwrap();
    let mut texts = Vec::new();
    for policy in [&bare, &full] {
        for strategy in ["all_required", "quorum", "threshold", "custom"] {
            let unit = PlainWorkUnit {
                strategy,
                quorum: Some(4),
                minimum_independent_verifiers: 2,
                independent_from_worker: false,
                sandbox_required: true,
            };
            let text = quorum_policies::explain_policy(policy, Some(&intake_of(unit, 0).work_unit)).text();
            texts.push(format!("strategy {strategy}\n{text}"));
        }
    }
    insta::assert_snapshot!("effective_rules", texts.join("\n"));
}

const HEAD: &str = "schema_version = \"0.1\"\n\n[verifiers.a]\noperator = \"acme\"\n\n";

fn json(case: &str) -> String {
    format!(
        "{{\"schema_version\": \"0.1\",\n \"verifiers\": {{\"a\": {{\"operator\": \"acme\"}}}},\n \"case\": [\n{case}]}}"
    )
}

#[test]
fn toml_and_json_say_the_same() {
    let policy = Policy::parse(b"schema_version = \"0.1\"\nid = \"p\"\nindependent_on = []\n").unwrap();
    let toml = format!("{HEAD}[[case]]\nname = \"one\"\nevidence = [\"a supports\"]\nexpect = \"accept_candidate\"\n");
    let json = json("{\"name\": \"one\", \"evidence\": [\"a supports\"], \"expect\": \"accept_candidate\"}\n");
    let toml = CaseFile::parse(toml.as_bytes(), CaseFormat::Toml).unwrap().run(&policy).unwrap();
    let json = CaseFile::parse(json.as_bytes(), CaseFormat::Json).unwrap().run(&policy).unwrap();
    assert_eq!((toml[0].line, json[0].line), (6, 4));
    assert_eq!((&toml[0].name, &toml[0].found, toml[0].tally), (&json[0].name, &json[0].found, json[0].tally));
    assert!(toml[0].mismatches.is_empty() && json[0].mismatches.is_empty(), "{toml:?} {json:?}");
}

#[test]
fn a_bad_file_is_refused_with_its_line() {
    let case = |rest: &str| format!("{HEAD}[[case]]\nname = \"one\"\nexpect = \"escalate\"\n{rest}");
    for (text, code, line, words) in [
        (case("evidence = [\"a supports\", \"b supports\"]\n"), "cases_value", 6, "no verifier `b`"),
        (case("evidence = [\"a agrees\"]\n"), "cases_syntax", 9, "`agrees` is none of supports"),
        (case("evidence = [\"supports\"]\n"), "cases_syntax", 9, "\"NAME supports\""),
        (case("evidence = [{ by = \"a\", says = \"supports\", isolation = \"jail\" }]\n"), "cases_syntax", 9, "`jail`"),
        (case("evidence = [{ by = \"a\", says = \"supports\", age = \"1y\" }]\n"), "cases_syntax", 9, "no duration"),
        (case("tally = { s = 1 }\n"), "cases_syntax", 9, "missing field"),
        (case("row = \"quorum\"\n"), "cases_value", 6, "no row `quorum`"),
        (case("refused = [\"a too_bad\"]\n"), "cases_value", 6, "NAME refusal_code"),
        (case("voices = [\"b\"]\n"), "cases_value", 6, "no verifier `b`"),
        (case("expects = \"escalate\"\n"), "cases_syntax", 9, "unknown field `expects`"),
        (case("\n[[case]]\nname = \"one\"\nexpect = \"escalate\"\n"), "cases_value", 10, "stands twice"),
        (case("name = 1\n"), "cases_syntax", 9, "duplicate key"),
        (HEAD.to_owned(), "cases_syntax", 1, "missing field `case`"),
        (HEAD.replace("0.1", "0.2") + "case = []\n", "cases_syntax", 6, ""),
        (format!("case = []\n{HEAD}"), "cases_value", 1, "0 cases"),
        (format!("case = []\n{}", HEAD.replace("0.1", "0.2")), "cases_value", 1, "the only version"),
    ] {
        let error = CaseFile::parse(text.as_bytes(), CaseFormat::Toml).expect_err(&text);
        let message = error.to_string();
        assert_eq!(error.code(), code, "{text}: {message}");
        assert!(message.contains(words), "{text}: {message}");
        if !words.is_empty() {
            assert!(message.contains(&format!("line {line}:")), "line {line} of\n{text}: {message}");
        }
    }
    let text = json("{\"name\": \"one\", \"evidence\": [\"b supports\"], \"expect\": \"escalate\"}");
    let error = CaseFile::parse(text.as_bytes(), CaseFormat::Json).unwrap_err().to_string();
    assert!(error.contains("line 4: case \"one\": there is no verifier `b`"), "{error}");
    let error = CaseFile::parse(b"{\"schema_version\":\n1}", CaseFormat::Json).unwrap_err();
    assert!(error.to_string().contains("line 2"), "{error}");
    let error = CaseFile::parse(b"a\nb\xff", CaseFormat::Toml).unwrap_err();
    assert!(error.to_string().contains("line 2: not UTF-8"), "{error}");
    let error = CaseFile::parse(&vec![b'#'; 2 << 20], CaseFormat::Toml).unwrap_err();
    assert_eq!(error.code(), "cases_too_large");
    let file = CaseFile::parse(case("").as_bytes(), CaseFormat::Toml).unwrap();
    let policy = Policy::parse(b"schema_version = \"0.1\"\nid = \"p\"\n").unwrap();
    assert_eq!(file.explain(&policy, "two").unwrap_err().code(), "cases_value");
}

/// Every short form does what it says: each ends in the refusal or the row that it is for.
#[test]
fn every_short_form_has_its_effect() {
    let policy = Policy::parse(b"schema_version = \"0.1\"\nid = \"p\"\nmin_channel = \"black_box\"\n").unwrap();
    let head = "schema_version = \"0.1\"\n[worker]\nmodel_family = \"m\"\nruntime = \"r\"\n[verifiers.a]\noperator = \"acme\"\nhost = \"h\"\n\
                [verifiers.gone]\nrevoked = \"1h\"\n";
    for (said, code) in [
        ("fault = \"malformed\"", "malformed"),
        ("fault = \"unknown_signer\"", "unknown_signer"),
        ("fault = \"wrong_role\"", "wrong_role"),
        ("fault = \"bad_signature\"", "bad_signature"),
        ("fault = \"wrong_handoff\"", "wrong_handoff"),
        ("fault = \"wrong_candidate\"", "wrong_candidate"),
        ("bundle = false", "bundle_missing"),
        ("age = \"25h\"", "too_old"),
        ("channel = \"in_process\"", "channel_too_weak"),
        ("isolation = \"none\"", "isolation_too_weak"),
        ("declares = [\"not_independent\"]", "not_independent"),
    ] {
        let text = format!(
            "{head}[[case]]\nname = \"one\"\nexpect = \"insufficient_evidence\"\nrefused = [\"a {code}\"]\n\
             evidence = [{{ by = \"a\", says = \"supports\", {said} }}]\n"
        );
        let file = CaseFile::parse(text.as_bytes(), CaseFormat::Toml).unwrap_or_else(|error| panic!("{said}: {error}"));
        let reports = file.run(&policy).unwrap();
        assert_eq!(reports[0].mismatches, [], "{said}");
    }
    for (by, age, code) in [("gone", "30m", "key_revoked"), ("gone", "2h", "signer_since_revoked")] {
        let text = format!(
            "{head}[[case]]\nname = \"one\"\nexpect = \"insufficient_evidence\"\nrefused = [\"{by} {code}\"]\n\
             evidence = [{{ by = \"{by}\", says = \"supports\", age = \"{age}\" }}]\n"
        );
        let reports = CaseFile::parse(text.as_bytes(), CaseFormat::Toml).unwrap().run(&policy).unwrap();
        assert_eq!(reports[0].mismatches, [], "{by} {age}");
    }
    for (axis, word) in [("model_family", "shared_model_family"), ("runtime", "shared_runtime")] {
        let policy = format!("schema_version = \"0.1\"\nid = \"p\"\nindependent_on = [\"{axis}\"]\n");
        let policy = Policy::parse(policy.as_bytes()).unwrap();
        let text = format!(
            "{head}{axis} = \"x\"\n[[case]]\nname = \"alone\"\nexpect = \"insufficient_evidence\"\n\
             tally = {{ s = 0, o = 0, a = 0, n = 1 }}\n\
             evidence = [{{ by = \"gone\", says = \"supports\", age = \"2h\", declares = [\"{word}\"] }}]\n"
        )
        .replace("revoked = \"1h\"\n", "");
        let reports = CaseFile::parse(text.as_bytes(), CaseFormat::Toml).unwrap().run(&policy).unwrap();
        assert_eq!(reports[0].mismatches, [], "{word}");
    }
}
