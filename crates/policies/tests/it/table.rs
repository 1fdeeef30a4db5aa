//! The verdict table and the decision table, row by row.

use quorum_policies::{
    Decision, MissingCode, Outcome, Recommendation, Row, Standing, Verdict, decide, recompute, revise, verdict,
};
use quorum_schemas::Value;
use serde_json::json;

use crate::build::build;
use crate::cases::{PlainCase, PlainEnvelope, PlainGroup, PlainMember, PlainSeat, support};
use crate::refusals::{decided, one_verifier, reject};

fn result(status: &str, recommendation: &str, checks: &[(&str, &str)]) -> Value {
    let checks: Vec<_> =
        checks.iter().map(|(id, status)| json!({"id": id, "status": status, "required": false})).collect();
    json!({"status": status, "checks": checks, "decision_support": {"recommendation": recommendation}}).into()
}

#[test]
fn verdict_first_match() {
    let required = ["a".to_owned(), "b".to_owned()];
    let both = |a, b| vec![("a", a), ("b", b)];
    for (status, recommendation, checks, expected) in [
        ("error", "reject_candidate", both("failed", "failed"), Verdict::Absent),
        ("timeout", "insufficient_evidence", both("passed", "error"), Verdict::Absent),
        ("cancelled", "accept_candidate", both("passed", "passed"), Verdict::Absent),
        ("failed", "insufficient_evidence", both("passed", "failed"), Verdict::Rejects),
        ("passed", "reject_candidate", both("passed", "passed"), Verdict::Rejects),
        ("failed", "reject_candidate", both("error", "failed"), Verdict::Rejects),
        ("passed", "accept_candidate", both("passed", "passed"), Verdict::Supports),
        ("inconclusive", "insufficient_evidence", both("passed", "error"), Verdict::Absent),
        ("inconclusive", "insufficient_evidence", both("passed", "inconclusive"), Verdict::Abstains),
        ("inconclusive", "insufficient_evidence", both("skipped", "passed"), Verdict::Abstains),
        ("passed", "escalate", both("passed", "passed"), Verdict::Abstains),
        ("inconclusive", "accept_candidate", both("passed", "passed"), Verdict::Abstains),
        ("passed", "accept_candidate", vec![("a", "passed")], Verdict::Abstains),
        ("passed", "accept_candidate", vec![("a", "passed"), ("b", "passed"), ("c", "failed")], Verdict::Supports),
    ] {
        assert_eq!(verdict(&result(status, recommendation, &checks), &required), expected, "{status} {checks:?}");
    }
}

fn says(key: usize, said: &PlainEnvelope) -> PlainEnvelope {
    PlainEnvelope { key, ..said.clone() }
}

fn abstains() -> PlainEnvelope {
    let mut said = support();
    (said.status, said.recommendation, said.checks[0].status) = ("inconclusive", "insufficient_evidence", "skipped");
    said
}

fn timed_out(baseline: Option<u64>) -> PlainEnvelope {
    let mut said = support();
    (said.status, said.recommendation, said.checks[1].status) = ("timeout", "insufficient_evidence", "error");
    said.checks[1].timed_out = Some((1000, baseline));
    said
}

fn ends(case: &PlainCase, row: Row, recommendation: Recommendation) -> Decision {
    let decision = decided(&build(case));
    assert_eq!((decision.row, decision.recommendation), (row, recommendation), "{}", decision.why_text());
    decision.to_bytes().expect("the decision follows its schema");
    decision
}

#[test]
fn row_1_an_open_seat_is_waited_for_until_the_deadline() {
    let mut case = one_verifier();
    (case.panel_closed, case.panel, case.policy.panel) = (false, 2, 2);
    case.seats = [(0, PlainSeat { holder: 0, try_no: 1, epoch: 0, open: false })].into();
    case.deadline = case.now + 1;
    let built = build(&case);
    match decide(&built.case(), built.now).expect("a good case") {
        Outcome::Pending(pending) => assert_eq!((pending.open_seats, pending.deadline), (vec![1], built.deadline)),
        Outcome::Decided(decision) => panic!("decided while a seat was open: {}", decision.why_text()),
    }
    case.deadline = case.now;
    ends(&case, Row::QuorumMet, Recommendation::AcceptCandidate);
}

#[test]
fn row_2_enough_voices_and_no_more_objections_than_borne() {
    let mut case = one_verifier();
    let decision = ends(&case, Row::QuorumMet, Recommendation::AcceptCandidate);
    assert!(decision.missing.is_empty() && decision.voices.len() == 1);
    case.policy.tolerate = 1;
    case.envelopes.push(says(1, &reject()));
    ends(&case, Row::QuorumMet, Recommendation::AcceptCandidate);
    case.work_unit.strategy = "all_required";
    case.work_unit.quorum = None;
    ends(&case, Row::SupportAndObjection, Recommendation::Escalate);
}

#[test]
fn row_2_the_quorum_is_the_largest_demand() {
    for (work_unit, minimum, policy) in [(2, 1, 1), (1, 2, 1), (1, 1, 2)] {
        let mut case = one_verifier();
        case.work_unit.quorum = Some(work_unit);
        case.work_unit.minimum_independent_verifiers = minimum;
        (case.policy.quorum, case.policy.panel, case.panel) = (policy, 3, 3);
        let decision = ends(&case, Row::NotEnough, Recommendation::InsufficientEvidence);
        assert_eq!((decision.tally.q, decision.tally.n), (2, 3));
        assert_eq!(decision.missing[0].message, "1 of 2 independent voices");
        case.envelopes.push(says(1, &support()));
        ends(&case, Row::QuorumMet, Recommendation::AcceptCandidate);
    }
}

#[test]
fn row_2_who_abstains_stays_in_the_denominator() {
    let mut case = one_verifier();
    case.policy.fraction = Some((2, 3));
    case.envelopes.push(says(1, &abstains()));
    let decision = ends(&case, Row::NotEnough, Recommendation::InsufficientEvidence);
    assert_eq!(decision.missing[0].message, "1 of 2 support, at least 2/3 must");
    case.envelopes.push(says(2, &support()));
    ends(&case, Row::QuorumMet, Recommendation::AcceptCandidate);
}

#[test]
fn row_2_groups_are_judged_on_operators() {
    use PlainMember::{Group, Operator};
    let mut case = one_verifier();
    let nested = PlainGroup { k: 1, of: vec![Operator("initech"), Operator("umbrella")] };
    case.policy.groups = Some(PlainGroup { k: 2, of: vec![Operator("acme"), Operator("globex"), Group(nested)] });
    let decision = ends(&case, Row::NotEnough, Recommendation::InsufficientEvidence);
    assert_eq!(decision.missing[0].code, MissingCode::Groups);
    case.envelopes.push(says(3, &support()));
    ends(&case, Row::QuorumMet, Recommendation::AcceptCandidate);
}

#[test]
fn threshold_or_custom_without_an_operators_rule_escalate() {
    for strategy in ["threshold", "custom"] {
        let mut case = one_verifier();
        (case.work_unit.strategy, case.work_unit.quorum) = (strategy, None);
        ends(&case, Row::NoOperatorRule, Recommendation::Escalate);
    }
}

#[test]
fn row_3_a_support_and_an_objection_escalate() {
    let mut case = one_verifier();
    case.envelopes.push(says(1, &reject()));
    ends(&case, Row::SupportAndObjection, Recommendation::Escalate);
}

#[test]
fn row_4_objections_reject_when_nobody_supports() {
    let mut case = one_verifier();
    case.envelopes = vec![reject(), says(1, &abstains())];
    ends(&case, Row::RejectQuorumMet, Recommendation::RejectCandidate);
    case.policy.reject_quorum = 2;
    ends(&case, Row::NotEnough, Recommendation::InsufficientEvidence);
}

#[test]
fn row_5_two_keys_that_time_out_where_the_baseline_does_not_escalate() {
    let mut case = one_verifier();
    case.envelopes = vec![timed_out(Some(999)), says(1, &timed_out(Some(999)))];
    ends(&case, Row::ExhaustsVerifiers, Recommendation::Escalate);
    for baseline in [Some(1000), None] {
        case.envelopes[1] = says(1, &timed_out(baseline));
        ends(&case, Row::NotEnough, Recommendation::InsufficientEvidence);
    }
}

#[test]
fn row_6_everything_else_is_not_enough() {
    let mut case = one_verifier();
    case.envelopes.clear();
    ends(&case, Row::NotEnough, Recommendation::InsufficientEvidence);
}

#[test]
fn two_keys_of_one_operator_are_one_voice_and_the_why_names_it() {
    let mut case = one_verifier();
    (case.policy.quorum, case.policy.panel, case.panel) = (2, 2, 2);
    let acme = case.verifiers[&0].attributes["operator"].clone();
    case.verifiers.get_mut(&1).expect("verifier 1").attributes.insert("operator".to_owned(), acme);
    case.envelopes.push(says(1, &support()));
    let decision = ends(&case, Row::NotEnough, Recommendation::InsufficientEvidence);
    let message = &decision.missing[0].message;
    assert!(message.starts_with("1 of 2 independent voices; supporter verifier-"), "{message}");
    assert!(message.contains("shares operator=acme with verifier-"), "{message}");
}

#[test]
fn who_shares_with_the_worker_or_knows_as_little_is_no_voice() {
    let mut case = one_verifier();
    case.verifiers.get_mut(&0).expect("verifier 0").attributes.insert("host".to_owned(), "w1".to_owned());
    let decision = ends(&case, Row::NotEnough, Recommendation::InsufficientEvidence);
    assert_eq!(decision.heard[0].standing, Standing::SharesWithWorker);
    assert_eq!(decision.heard[0].because, "shares host=w1 with the worker");
    case.verifiers.get_mut(&0).expect("verifier 0").attributes.remove("host");
    ends(&case, Row::QuorumMet, Recommendation::AcceptCandidate);
    case.worker.authenticated = false;
    let decision = ends(&case, Row::NotEnough, Recommendation::InsufficientEvidence);
    assert_eq!(decision.heard[0].because, "shares host unknown with the worker");
}

#[test]
fn an_accept_is_withdrawn_by_a_late_objection_and_never_comes_back() {
    let mut case = one_verifier();
    let accept = ends(&case, Row::QuorumMet, Recommendation::AcceptCandidate);
    assert_eq!(build(&case).revise(&accept), None);
    case.envelopes.push(says(1, &reject()));
    case.now += 60;
    let withdrawn = build(&case).revise(&accept).expect("the recommendation changes");
    assert_eq!((withdrawn.revision, withdrawn.withdraws), (2, true));
    assert_eq!(withdrawn.recommendation, Recommendation::Escalate);
    assert_eq!(withdrawn.supersedes.as_ref().map(|previous| previous.digest), Some(accept.digest()));
    let built = build(&case);
    assert_eq!(recompute(&built.case(), &withdrawn).expect("a good case"), Some(withdrawn.clone()));
    assert_eq!(recompute(&build(&one_verifier()).case(), &accept).expect("a good case"), Some(accept));
    withdrawn.to_bytes().expect("the decision follows its schema");
    case.envelopes.pop();
    assert_eq!(build(&case).revise(&withdrawn), None);
}

/// Its only supporter's key turns out to be stolen, and the objection that the policy bore is left alone.
#[test]
fn row_withdrawn_and_rejected_an_accept_that_would_be_a_reject_now_goes_to_people() {
    let mut case = one_verifier();
    case.policy.tolerate = 1;
    case.envelopes.push(says(1, &reject()));
    let accept = ends(&case, Row::QuorumMet, Recommendation::AcceptCandidate);
    let key = case.verifiers.get_mut(&0).expect("verifier 0");
    (key.revoked_at, key.compromised_since) = (Some(500), Some(100));
    case.now += 60;
    ends(&case, Row::RejectQuorumMet, Recommendation::RejectCandidate);
    let revision = build(&case).revise(&accept).expect("the recommendation changes");
    assert_eq!((revision.row, revision.recommendation), (Row::WithdrawnAndRejected, Recommendation::Escalate));
    assert!(revision.withdraws && revision.missing.iter().any(|missing| missing.code == MissingCode::NewPanel));
    let built = build(&case);
    assert_eq!(revise(&built.case(), built.now, &accept).expect("a good case"), Some(revision));
    // What was no accept is rejected without people.
    let mut undecided = case.clone();
    undecided.envelopes.pop();
    let first = ends(&undecided, Row::NotEnough, Recommendation::InsufficientEvidence);
    let revision = build(&case).revise(&first).expect("the recommendation changes");
    assert_eq!((revision.row, revision.recommendation), (Row::RejectQuorumMet, Recommendation::RejectCandidate));
    assert!(!revision.withdraws && revision.missing.iter().all(|missing| missing.code != MissingCode::NewPanel));
}
