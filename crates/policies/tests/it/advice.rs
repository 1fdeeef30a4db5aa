//! Warnings: each at its edge, and none on this side of it.

use quorum_attest::{Entry, Role, SigningKey, TrustDraft, TrustRoot};
use quorum_policies::{Policy, WarningCode, advise};
use quorum_schemas::Timestamp;

use crate::build::intake_of;
use crate::cases::PlainWorkUnit;

use WarningCode::{
    EveryObjectionBorne, FractionUnreachable, GroupsOverPanel, GroupsUnsatisfiable, NoIsolation, NotAdmitted,
    NothingIndependent, OperatorRuleMissing, OperatorUnknown, QuorumOverPanel, RejectQuorumOverPanel, TooFewVerifiers,
    TooFewVoices,
};

fn policy(rest: &str) -> Policy {
    Policy::parse(format!("schema_version = \"0.1\"\nid = \"p\"\n{rest}").as_bytes()).expect(rest)
}

#[test]
fn by_itself_each_warning_has_its_edge() {
    for (rest, expected) in [
        ("", &[][..]),
        ("quorum = 2\npanel = 2", &[]),
        ("reject_quorum = 1", &[]),
        ("reject_quorum = 2", &[RejectQuorumOverPanel]),
        ("reject_quorum = 2\npanel = 2", &[]),
        ("tolerate = 1\npanel = 2", &[]),
        ("tolerate = 2\npanel = 2", &[EveryObjectionBorne]),
        ("independent_on = []", &[]),
        ("independent_on = []\nquorum = 2", &[NothingIndependent]),
        ("min_isolation = \"none\"", &[NoIsolation]),
        ("groups = { k = 1, of = [\"a\", \"b\"] }", &[]),
        ("groups = { k = 2, of = [\"a\", \"b\"] }", &[GroupsOverPanel]),
        ("panel = 2\ngroups = { k = 2, of = [\"a\", \"b\"] }", &[]),
        ("panel = 2\ngroups = { k = 2, of = [{ k = 2, of = [\"a\", \"b\"] }, \"c\", \"d\"] }", &[]),
        ("panel = 2\ngroups = { k = 2, of = [{ k = 2, of = [\"a\", \"b\"] }, \"c\"] }", &[GroupsOverPanel]),
        ("panel = 3\ngroups = { k = 2, of = [{ k = 2, of = [\"a\", \"b\"] }, \"c\"] }", &[]),
    ] {
        let codes: Vec<WarningCode> = advise(&policy(rest), None, None).iter().map(|warning| warning.code).collect();
        assert_eq!(codes, expected, "{rest}");
    }
}

#[test]
fn a_work_unit_adds_its_own_demands() {
    let unit = |strategy, quorum, sandbox_required| PlainWorkUnit {
        strategy,
        quorum,
        minimum_independent_verifiers: 1,
        independent_from_worker: true,
        sandbox_required,
    };
    for (rest, unit, expected) in [
        ("", unit("quorum", Some(1), false), &[][..]),
        ("", unit("quorum", Some(2), false), &[QuorumOverPanel]),
        ("panel = 2", unit("quorum", Some(2), false), &[]),
        ("", unit("threshold", None, false), &[OperatorRuleMissing]),
        ("fraction = \"1/2\"", unit("threshold", None, false), &[]),
        ("groups = { k = 1, of = [\"a\"] }", unit("threshold", None, false), &[OperatorRuleMissing]),
        ("", unit("custom", None, false), &[OperatorRuleMissing]),
        ("groups = { k = 1, of = [\"a\"] }", unit("custom", None, false), &[]),
        ("min_isolation = \"none\"", unit("quorum", Some(1), true), &[]),
        ("tolerate = 2\npanel = 2", unit("all_required", None, false), &[]),
    ] {
        let intake = intake_of(unit, 0);
        let found = advise(&policy(rest), Some(&intake.work_unit), None);
        assert_eq!(found.iter().map(|warning| warning.code).collect::<Vec<_>>(), expected, "{rest} {unit:?}");
    }
}

/// Three verifiers of two operators on three hosts, one that is retired, one that is revoked, and a worker.
fn trust(admitted: &Policy) -> TrustRoot {
    let (from, until) = (Timestamp::from_micros(0), Timestamp::from_micros(4_000_000_000_000_000));
    let key = |seed: u8| SigningKey::from_seed(&[seed; 32]);
    let mut draft = TrustDraft::new(from, until, 1, vec![key(200).public()]);
    for (seed, role, operator, host) in [
        (1, Role::Verifier, "acme", "h1"),
        (2, Role::Verifier, "acme", "h2"),
        (3, Role::Verifier, "globex", "h3"),
        (4, Role::Verifier, "retired", "h4"),
        (5, Role::Verifier, "revoked", "h5"),
        (6, Role::Worker, "worker", "h6"),
    ] {
        let entry = Entry::new(role, format!("e{seed}"), key(seed).public(), from, until);
        let mut entry = entry.with_attribute("operator", operator).with_attribute("host", host);
        entry.retired_at = (operator == "retired").then_some(Timestamp::from_micros(5));
        entry.revoked_at = (operator == "revoked").then_some(Timestamp::from_micros(5));
        draft.add(entry).unwrap();
    }
    draft.admit_policy(admitted.digest()).unwrap();
    TrustRoot::load(&draft.sign(&[&key(200)]).unwrap()).unwrap()
}

#[test]
fn a_trust_root_says_what_its_verifiers_cannot_do() {
    for (rest, expected) in [
        ("", &[][..]),
        ("panel = 3", &[]),
        ("panel = 4", &[TooFewVerifiers]),
        ("quorum = 2\npanel = 3", &[]),
        ("quorum = 3\npanel = 3", &[TooFewVoices]),
        ("quorum = 3\npanel = 3\nindependent_on = [\"host\"]", &[]),
        ("panel = 3\nfraction = \"2/3\"", &[]),
        ("panel = 3\nfraction = \"3/4\"", &[FractionUnreachable]),
        ("panel = 2\ngroups = { k = 2, of = [\"acme\", \"globex\"] }", &[]),
        ("panel = 2\ngroups = { k = 2, of = [\"acme\", \"globex\", \"retired\"] }", &[OperatorUnknown]),
        ("panel = 2\ngroups = { k = 2, of = [\"acme\", \"revoked\"] }", &[OperatorUnknown, GroupsUnsatisfiable]),
        ("panel = 2\ngroups = { k = 1, of = [\"worker\"] }", &[OperatorUnknown, GroupsUnsatisfiable]),
    ] {
        let policy = policy(rest);
        let found = advise(&policy, None, Some(&trust(&policy)));
        assert_eq!(found.iter().map(|warning| warning.code).collect::<Vec<_>>(), expected, "{rest}: {found:?}");
    }
    let other = policy("max_tries = 1");
    let codes: Vec<WarningCode> =
        advise(&policy(""), None, Some(&trust(&other))).iter().map(|warning| warning.code).collect();
    assert_eq!(codes, [NotAdmitted]);
}
