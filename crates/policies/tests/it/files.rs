//! Policy files: defaults, refusals with suggestions, and the shipped ones.

use quorum_policies::{Axis, Channel, Isolation, Policy};
use quorum_schemas::{SchemaName, Value, validate};

const HEAD: &str = "schema_version = \"0.1\"\nid = \"p\"\n";

fn parse(rest: &str) -> Result<Policy, quorum_policies::PoliciesError> {
    Policy::parse(format!("{HEAD}{rest}").as_bytes())
}

#[test]
fn absent_keys_have_the_defaults_of_design_section_10() {
    let policy = parse("").expect("a policy");
    assert_eq!((policy.quorum, policy.panel, policy.tolerate, policy.reject_quorum), (1, 1, 0, 1));
    assert_eq!((policy.deadline_seconds, policy.max_age_seconds, policy.max_tries), (1800, 86_400, 3));
    assert_eq!(policy.independent_on, [Axis::Operator, Axis::Host]);
    assert_eq!((policy.min_isolation, policy.min_channel), (Isolation::ProcessSandbox, Channel::InProcess));
    assert!(!policy.reverify && !policy.require_signed_worker && policy.fraction.is_none() && policy.groups.is_none());
    assert_eq!(parse("quorum = 3").expect("a policy").panel, 3);
}

#[test]
fn what_a_policy_cannot_say_is_refused_with_its_place() {
    for (rest, code, words) in [
        ("qourum = 2", "policy_unknown_key", "did you mean `quorum`?"),
        ("min_isolation = \"procces-sandbox\"", "policy_value", "did you mean `process-sandbox`?"),
        ("independent_on = [\"operater\"]", "policy_value", "did you mean `operator`?"),
        ("independent_on = [\"host\", \"host\"]", "policy_value", "each axis at most once"),
        ("quorum = 0", "policy_value", "a count from 1"),
        ("quorum = 2.0", "policy_value", "a count from 1"),
        ("quorum = 33", "policy_value", "at most 32 seats"),
        ("quorum = 3\npanel = 2", "policy_value", "at least `quorum` = 3"),
        ("panel = 33", "policy_value", "a count from 1 to 32"),
        ("tolerate = -1", "policy_value", "a count from 0"),
        ("deadline = \"30\"", "policy_value", "such as \"30m\""),
        ("deadline = \"0m\"", "policy_value", "such as \"30m\""),
        ("deadline = 30", "policy_value", "such as \"30m\""),
        ("fraction = \"3/2\"", "policy_value", "at most 1"),
        ("fraction = \"0/2\"", "policy_value", "above 0"),
        ("fraction = 0.5", "policy_value", "such as \"2/3\""),
        ("groups = { k = 0, of = [\"a\"] }", "policy_value", "a count from 1 to its 1 members"),
        ("groups = { k = 2, of = [\"a\"] }", "policy_value", "a count from 1 to its 1 members"),
        ("groups = { k = 1, of = [] }", "policy_value", "at least one member"),
        ("groups = { k = 1, of = [\"a\", { k = 1, of = [\"a\"] }] }", "policy_value", "at most once in all groups"),
        ("groups = { k = 1, off = [\"a\"] }", "policy_unknown_key", "did you mean `of`?"),
        ("f_budget = 1", "policy_unknown_key", "is not a key of a policy"),
        ("quorum = ", "policy_syntax", "quorum"),
    ] {
        let error = parse(rest).expect_err(rest);
        assert_eq!(error.code(), code, "{rest}: {error}");
        assert!(error.to_string().contains(words), "{rest}: {error}");
    }
    assert_eq!(Policy::parse(b"id = \"p\"").expect_err("no version").code(), "policy_missing_key");
    assert_eq!(Policy::parse(b"schema_version = \"0.2\"\nid = \"p\"").expect_err("unknown").code(), "policy_value");
    let marked = Policy::parse(b"\xef\xbb\xbfschema_version = \"0.1\"\nid = \"p\"").expect_err("a byte order mark");
    assert_eq!(marked.code(), "policy_syntax");
    assert_eq!(Policy::parse(&vec![b'#'; 70_000]).expect_err("large").code(), "policy_too_large");
}

#[test]
fn the_shipped_policies_parse_follow_the_schema_and_are_named_as_their_files() {
    for name in Policy::shipped_names() {
        let text = Policy::shipped(name).expect("a shipped name");
        let policy = Policy::parse(text.as_bytes()).expect(name);
        assert_eq!(policy.id, name);
        assert!(text.starts_with(&format!("# {name}: ")), "{name} says what it is for");
        validate(SchemaName::Policy, &policy.to_value()).expect(name);
        let table: toml::Table = text.parse().expect(name);
        let value = Value::from_serde(serde_json::to_value(table).expect("TOML is JSON here"));
        validate(SchemaName::Policy, &value).expect(name);
        let signed = matches!(name, "three-operators" | "strict-all");
        assert_eq!(policy.require_signed_worker, signed, "{name}");
    }
    let local = Policy::parse(Policy::shipped("local").expect("shipped").as_bytes()).expect("local");
    assert_eq!((local.quorum, local.panel, local.independent_on.len()), (1, 1, 0));
    assert_eq!((local.min_isolation, local.min_channel), (Isolation::None, Channel::InProcess));
    let error = Policy::shipped_text("two-of-tree").expect_err("no such name");
    assert!(error.to_string().contains("did you mean `two-of-three`?"), "{error}");
}

/// Threat 8 of docs/security.md, each kind of group that would say nothing or contradict itself. There are no names for
/// groups in a policy of ours, so that a group cannot contain itself; `tlog.rs` refuses the cycle where names exist.
#[test]
fn threat_8_threshold_zero_is_refused() {
    refused("groups = { k = 0, of = [\"a\", \"b\"] }", "policy_value", "groups.k");
    refused("groups = { k = -1, of = [\"a\"] }", "policy_value", "groups.k");
    refused("groups = { of = [\"a\"] }", "policy_value", "groups.k");
    refused("quorum = 0", "policy_value", "quorum");
    refused("reject_quorum = 0", "policy_value", "reject_quorum");
}

#[test]
fn threat_8_threshold_over_its_members_is_refused() {
    refused("groups = { k = 3, of = [\"a\", \"b\"] }", "policy_value", "groups.k");
    refused("groups = { k = 1, of = [\"a\", { k = 2, of = [\"b\"] }] }", "policy_value", "groups.of[1].k");
    refused("quorum = 3\npanel = 2", "policy_value", "panel");
}

#[test]
fn threat_8_empty_group_is_refused() {
    refused("groups = { k = 1, of = [] }", "policy_value", "groups.of");
    refused("groups = { k = 1 }", "policy_value", "groups");
    refused("groups = { k = 1, of = [\"a\", { k = 1, of = [] }] }", "policy_value", "groups.of[1].of");
    refused("groups = { k = 1, of = [\"\"] }", "policy_value", "groups.of[0]");
}

#[test]
fn threat_8_duplicate_member_is_refused() {
    refused("groups = { k = 1, of = [\"a\", \"a\"] }", "policy_value", "groups.of[1]");
    refused(
        "groups = { k = 1, of = [{ k = 1, of = [\"a\"] }, { k = 1, of = [\"a\"] }] }",
        "policy_value",
        "groups.of[1].of[0]",
    );
}

/// The nearest that TOML has to a cycle is nesting without end.
#[test]
fn threat_8_endless_nesting_is_refused() {
    let nested = |depth: usize| {
        let mut text = "{ k = 1, of = [\"a\"] }".to_owned();
        for _ in 1..depth {
            text = format!("{{ k = 1, of = [{text}] }}");
        }
        format!("groups = {text}")
    };
    assert!(parse(&nested(8)).is_ok());
    refused(&nested(9), "policy_value", "nest at most 8 deep");
    let many = |count: usize| {
        let names: Vec<String> = (0..count).map(|number| format!("\"o{number}\"")).collect();
        format!("groups = {{ k = 1, of = [{}] }}", names.join(", "))
    };
    assert!(parse(&many(256)).is_ok());
    refused(&many(257), "policy_value", "at most 256 operators");
}

#[track_caller]
fn refused(rest: &str, code: &str, place: &str) {
    let error = parse(rest).expect_err(rest);
    assert_eq!(error.code(), code, "{rest}: {error}");
    assert!(error.to_string().contains(place), "{rest}: {error}");
}
