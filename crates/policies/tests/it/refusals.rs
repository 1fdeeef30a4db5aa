//! Every refusal once, by its name: an authenticity refusal has no effect at all, a weight refusal takes the support
//! away and leaves the objection.

use std::collections::BTreeMap;
use std::rc::Rc;

use quorum_attest::{Entry, PredicateType, Role};
use quorum_policies::{
    Decision, Outcome, Policy, Received, RefusalCode, RefusalKind, Standing, WorkerIdentity, decide,
};
use quorum_schemas::{Digest, SchemaName, validate};
use serde_json::Value as Json;

use crate::build::{Built, at, build, evidence_as, key_id, next_trust_root, predicate, spare_key};
use crate::cases::{
    Fault, PlainCase, PlainEnvelope, PlainPolicy, PlainSeat, PlainVerifier, PlainWorkUnit, PlainWorker, support,
};

/// One verifier of a policy of the pool's kind, off the mesh; nothing weighs against a plain support.
pub(crate) fn one_verifier() -> PlainCase {
    let policy = PlainPolicy {
        quorum: 1,
        panel: 1,
        tolerate: 0,
        reject_quorum: 1,
        max_age: 3600,
        independent_on: vec!["operator", "host"],
        min_isolation: "process-sandbox",
        min_channel: "black_box",
        fraction: None,
        groups: None,
    };
    let attributes = |operator: &str, host: &str| {
        [("operator", operator), ("host", host)]
            .into_iter()
            .map(|(axis, value)| (axis.to_owned(), value.to_owned()))
            .collect()
    };
    let verifiers: BTreeMap<usize, PlainVerifier> =
        [("acme", "h0"), ("globex", "h1"), ("initech", "h2"), ("umbrella", "h3")]
            .into_iter()
            .map(|(operator, host)| PlainVerifier {
                attributes: attributes(operator, host),
                ..PlainVerifier::default()
            })
            .enumerate()
            .collect();
    PlainCase {
        policy,
        work_unit: PlainWorkUnit {
            strategy: "quorum",
            quorum: Some(1),
            minimum_independent_verifiers: 1,
            independent_from_worker: true,
            sandbox_required: false,
        },
        worker: PlainWorker { authenticated: true, attributes: attributes("workers-inc", "w1") },
        verifiers,
        panel: 1,
        panel_closed: true,
        seats: BTreeMap::new(),
        now: 600,
        deadline: 540,
        envelopes: vec![support()],
        noise: 0,
    }
}

/// A reject that nothing weighs against.
pub(crate) fn reject() -> PlainEnvelope {
    let mut said = support();
    (said.status, said.recommendation, said.checks[0].status) = ("failed", "reject_candidate", "failed");
    said
}

pub(crate) fn decided(built: &Built) -> Decision {
    match decide(&built.case(), built.now).expect("a case that can be judged") {
        Outcome::Decided(decision) => *decision,
        Outcome::Pending(pending) => panic!("pending: {pending:?}"),
    }
}

fn codes(decision: &Decision) -> Vec<RefusalCode> {
    decision.refusals.iter().map(|refusal| refusal.code).collect()
}

/// The edit is made to a support and to a reject; both are refused by exactly `code`, with the effect of its kind.
fn refuses(code: RefusalCode, edit: impl Fn(&mut PlainCase, &mut PlainEnvelope)) {
    for (mut said, supports) in [(support(), true), (reject(), false)] {
        let mut case = one_verifier();
        edit(&mut case, &mut said);
        case.envelopes = vec![said];
        has_effect(&decided(&build(&case)), code, supports);
    }
}

/// As [`refuses`], for edits of the signed predicate.
fn refuses_predicate(code: RefusalCode, edit: impl Fn(&mut Json)) {
    for (said, supports) in [(support(), true), (reject(), false)] {
        let mut built = build(&one_verifier());
        let mut predicate = predicate(&built.intake, &said);
        edit(&mut predicate);
        let envelope = evidence_as(&built.intake, predicate, PredicateType::Evidence, 0);
        replace(&mut built, envelope);
        has_effect(&decided(&built), code, supports);
    }
}

fn replace(built: &mut Built, envelope: Vec<u8>) {
    let fact = Received { received_at: at(180), bundle_checked: true };
    built.facts.received = [(Digest::of(&envelope), fact)].into();
    built.envelopes = vec![envelope];
}

fn has_effect(decision: &Decision, code: RefusalCode, supports: bool) {
    assert_eq!(codes(decision), [code], "{}", decision.why_text());
    let (s, o, a) = match (code.kind(), supports) {
        (RefusalKind::Authenticity, _) => (0, 0, 0),
        (RefusalKind::Weight, true) => (0, 0, 1),
        (RefusalKind::Weight, false) => (0, 1, 0),
    };
    assert_eq!((decision.tally.s, decision.tally.o, decision.tally.a), (s, o, a), "{}", decision.why_text());
    assert_eq!(decision.refusals[0].kind, code.kind());
    validate(SchemaName::Decision, &decision.to_value()).expect("the decision follows its schema");
}

#[test]
fn a_plain_support_is_admitted_and_a_plain_reject_objects() {
    let mut case = one_verifier();
    let decision = decided(&build(&case));
    assert_eq!((decision.tally.s, decision.refusals.len()), (1, 0), "{}", decision.why_text());
    case.envelopes = vec![reject()];
    let decision = decided(&build(&case));
    assert_eq!((decision.tally.o, decision.refusals.len()), (1, 0), "{}", decision.why_text());
}

#[test]
fn the_why_counts_one_as_one() {
    let mut case = one_verifier();
    let text = decided(&build(&case)).why_text();
    assert!(text.contains("1 independent voice supports (1 needed), 0 objections (0 borne)\n"), "{text}");
    case.envelopes = vec![reject()];
    let text = decided(&build(&case)).why_text();
    assert!(text.contains("1 key objects (1 needed), nobody supports\n"), "{text}");
    assert!(text.contains("missing: 0 of 1 independent voice\n"), "{text}");
    assert!(text.contains("too many: 1 objection, 0 borne\n"), "{text}");
}

/// What was signed, or sent by anybody, stays on its own line of the why.
#[test]
fn no_message_starts_a_line_of_the_why() {
    let mut decision = decided(&build(&one_verifier()));
    let lines = decision.why_text().lines().count();
    decision.unrequired_request = vec!["a\nb\u{2028}c\u{202e}d".to_owned()];
    let text = decision.why_text();
    assert_eq!(text.lines().count(), lines + 1, "{text}");
    assert!(text.contains("a b c d"), "{text}");
}

macro_rules! faults {
    ($($name:ident: $code:ident <- $fault:ident;)*) => {
        $(#[test]
        fn $name() {
            refuses(RefusalCode::$code, |_, said| said.fault = Fault::$fault);
        })*
    };
}

faults! {
    authenticity_malformed: Malformed <- Malformed;
    authenticity_schema_invalid_idk_v1: SchemaInvalid <- SchemaInvalid;
    authenticity_wrong_role_self_report_by_the_worker_key: WrongRole <- WrongRole;
    authenticity_unknown_signer: UnknownSigner <- UnknownSigner;
    authenticity_bad_signature: BadSignature <- BadSignature;
    authenticity_wrong_handoff_replay: WrongHandoff <- WrongHandoff;
    authenticity_wrong_candidate: WrongCandidate <- WrongCandidate;
    authenticity_wrong_work_unit_idk_p5_version: WrongWorkUnit <- WrongWorkUnit;
    authenticity_wrong_manifest_idk_p4_v5: WrongManifest <- WrongManifest;
    authenticity_inconsistent_plan_digest: Inconsistent <- Inconsistent;
}

#[test]
fn authenticity_incomplete_checks_idk_v9() {
    // A result that says passed without a required check is inconsistent as well (idk_v14): here it says less.
    let mut case = one_verifier();
    let mut said = support();
    (said.status, said.recommendation) = ("failed", "reject_candidate");
    said.fault = Fault::IncompleteChecks;
    case.envelopes = vec![said];
    has_effect(&decided(&build(&case)), RefusalCode::IncompleteChecks, false);
}

#[test]
fn authenticity_wrong_type() {
    for said in [support(), reject()] {
        let mut built = build(&one_verifier());
        let predicate = predicate(&built.intake, &said);
        let envelope = evidence_as(&built.intake, predicate, PredicateType::Decision, 0);
        replace(&mut built, envelope);
        has_effect(&decided(&built), RefusalCode::WrongType, true);
    }
}

#[test]
fn authenticity_key_not_valid_then() {
    refuses(RefusalCode::KeyNotValidThen, |case, _| {
        case.verifiers.get_mut(&0).expect("verifier 0").retired_at = Some(180);
    });
}

#[test]
fn authenticity_key_revoked_whatever_time_is_claimed() {
    refuses(RefusalCode::KeyRevoked, |case, said| {
        case.verifiers.get_mut(&0).expect("verifier 0").revoked_at = Some(180);
        (said.started, said.finished) = (10, 20);
    });
}

#[test]
fn authenticity_wrong_manifest_idk_p5_attempt() {
    refuses_predicate(RefusalCode::WrongManifest, |predicate| predicate["result"]["attempt"] = 2.into());
}

#[test]
fn authenticity_wrong_manifest_idk_p6_digest() {
    let other = format!("sha256:{}", "7".repeat(64));
    refuses_predicate(RefusalCode::WrongManifest, |predicate| {
        predicate["result"]["provenance"]["result_manifest_digest"] = other.as_str().into();
    });
}

#[test]
fn authenticity_wrong_work_unit_idk_p7_digest() {
    let other = format!("sha256:{}", "7".repeat(64));
    refuses_predicate(RefusalCode::WrongWorkUnit, |predicate| {
        predicate["result"]["provenance"]["work_unit_digest"] = other.as_str().into();
    });
}

#[test]
fn authenticity_inconsistent_idk_p8_p9_v8_and_a_repeated_check_id() {
    let edits: [fn(&mut Json); 5] = [
        |predicate| predicate["result"]["provenance"]["source_revision"] = "rev-2".into(),
        |predicate| predicate["result"]["independence"]["worker_id_observed"] = "worker-2".into(),
        |predicate| predicate["result"]["checks"][0]["evidence_ids"] = serde_json::json!(["unknown"]),
        |predicate| {
            let twice = predicate["result"]["checks"][0].clone();
            predicate["result"]["checks"].as_array_mut().expect("an array").push(twice);
        },
        |predicate| predicate["result"]["verifier"]["id"] = "verifier-1".into(),
    ];
    for edit in edits {
        refuses_predicate(RefusalCode::Inconsistent, edit);
    }
}

#[test]
fn authenticity_inconsistent_idk_v14_v15_v16() {
    for (status, recommendation, check) in [
        ("passed", "insufficient_evidence", "failed"),
        ("failed", "accept_candidate", "passed"),
        ("failed", "accept_candidate", "failed"),
    ] {
        let mut case = one_verifier();
        let mut said = support();
        (said.status, said.recommendation, said.checks[0].status) = (status, recommendation, check);
        case.envelopes = vec![said];
        has_effect(&decided(&build(&case)), RefusalCode::Inconsistent, true);
    }
}

#[test]
fn authenticity_duplicate_the_lowest_digest_stands() {
    for said in [support(), reject()] {
        let mut case = one_verifier();
        case.envelopes = (0..3).map(|wording| PlainEnvelope { wording, ..said.clone() }).collect();
        let built = build(&case);
        let decision = decided(&built);
        assert_eq!(codes(&decision), [RefusalCode::Duplicate; 2]);
        assert_eq!(decision.tally.s + decision.tally.o, 1);
        let lowest = built.digests().into_iter().min().expect("three");
        assert!(decision.refusals.iter().all(|refusal| refusal.envelope != lowest));
    }
}

#[test]
fn weight_clock_skew_counts_from_121_seconds() {
    refuses(RefusalCode::ClockSkew, |_, said| said.started = said.received + 121);
    let mut case = one_verifier();
    case.envelopes[0].finished = case.envelopes[0].received + 120;
    assert_eq!(decided(&build(&case)).tally.s, 1);
}

#[test]
fn weight_too_old_by_the_earlier_of_claim_and_reception() {
    refuses(RefusalCode::TooOld, |case, said| said.finished = case.now - 3601);
    let mut case = one_verifier();
    case.envelopes[0].finished = case.now - 3600;
    assert_eq!(decided(&build(&case)).tally.s, 1);
}

#[test]
fn weight_isolation_too_weak() {
    refuses(RefusalCode::IsolationTooWeak, |_, said| {
        (said.isolation, said.checks[0].isolation, said.checks[0].channel) = ("none", "none", "black_box");
    });
}

#[test]
fn weight_isolation_too_weak_where_the_work_unit_requires_a_sandbox() {
    refuses(RefusalCode::IsolationTooWeak, |case, said| {
        case.policy.min_isolation = "none";
        case.work_unit.sandbox_required = true;
        (said.isolation, said.checks[0].isolation) = ("none", "none");
        // The policy of this case is not in the pool: the trust root of the test admits it.
    });
}

#[test]
fn weight_channel_too_weak_for_results_that_the_candidate_can_forge() {
    refuses(RefusalCode::ChannelTooWeak, |_, said| {
        (said.checks[1].channel, said.checks[1].isolation, said.isolation) =
            ("in_process", "process-sandbox", "process-sandbox");
    });
}

#[test]
fn weight_stale_epoch_for_another_holder_try_or_epoch() {
    let edits: [fn(&mut PlainSeat); 3] = [|seat| seat.holder = 1, |seat| seat.try_no = 2, |seat| seat.epoch = 5];
    for edit in edits {
        refuses(RefusalCode::StaleEpoch, |case, said| {
            case.panel_closed = false;
            let mut seat = PlainSeat { holder: 0, try_no: 1, epoch: 4, open: false };
            said.epoch = 4;
            edit(&mut seat);
            case.seats = [(0, seat)].into();
        });
    }
}

#[test]
fn weight_not_independent_idk_v12() {
    refuses(RefusalCode::NotIndependent, |_, said| said.independent_from_worker = false);
}

#[test]
fn weight_self_verification_idk_v13() {
    for (said, supports) in [(support(), true), (reject(), false)] {
        let mut built = build(&one_verifier());
        let mut predicate = predicate(&built.intake, &said);
        predicate["result"]["verifier"]["id"] = "worker-1".into();
        let envelope = evidence_as(&built.intake, predicate, PredicateType::Evidence, 0);
        replace(&mut built, envelope);
        has_effect(&decided(&built), RefusalCode::SelfVerification, supports);
    }
}

#[test]
fn weight_bundle_missing() {
    refuses(RefusalCode::BundleMissing, |_, said| said.bundle_checked = false);
}

#[test]
fn weight_signer_since_revoked_objections_received_before_the_revocation_stand() {
    refuses(RefusalCode::SignerSinceRevoked, |case, _| {
        let key = case.verifiers.get_mut(&0).expect("verifier 0");
        (key.compromised_since, key.revoked_at) = (Some(100), Some(400));
    });
}

#[test]
fn weight_equivocation_objects_if_any_rejects_and_never_supports() {
    let mut case = one_verifier();
    case.envelopes = vec![support(), reject()];
    let decision = decided(&build(&case));
    assert_eq!(codes(&decision), [RefusalCode::Equivocation; 2]);
    assert_eq!((decision.tally.s, decision.tally.o), (0, 1));
    let mut abstains = support();
    (abstains.status, abstains.recommendation) = ("inconclusive", "insufficient_evidence");
    abstains.checks[0].status = "inconclusive";
    case.envelopes = vec![support(), abstains];
    let decision = decided(&build(&case));
    assert_eq!(codes(&decision), [RefusalCode::Equivocation; 2]);
    assert_eq!((decision.tally.s, decision.tally.o, decision.tally.a), (0, 0, 1));
    assert_eq!(decision.heard[0].standing, Standing::Equivocates);
}

#[test]
fn a_case_whose_parts_do_not_belong_together_is_no_decision() {
    let mut built = build(&one_verifier());
    let code = |built: &Built| decide(&built.case(), built.now).expect_err("must be refused").code();
    built.policy = Policy::parse(b"schema_version = \"0.1\"\nid = \"stranger\"\n").expect("a policy");
    assert_eq!(code(&built), "policy_not_admitted");
    let mut built = build(&one_verifier());
    built.facts.received.clear();
    assert_eq!(code(&built), "fact_missing");
    let mut built = build(&one_verifier());
    built.envelopes.clear();
    assert_eq!(code(&built), "envelope_missing");
    let mut built = build(&one_verifier());
    built.facts.rules_version = 2;
    assert_eq!(code(&built), "rules_unknown");
    let mut built = build(&one_verifier());
    built.worker = WorkerIdentity::Authenticated { key_id: key_id(0) };
    assert_eq!(code(&built), "case_inconsistent");
    // Another worker than the manifest's, and a verifier that has the name of the manifest's worker.
    for (place, (role, id)) in [(Role::Worker, "worker-2"), (Role::Verifier, "worker-1")].into_iter().enumerate() {
        let mut built = build(&one_verifier());
        let (root, key) = (Rc::clone(&built.trust), spare_key(place));
        built.worker = WorkerIdentity::Authenticated { key_id: key.key_id() };
        built.trust = Rc::new(next_trust_root(&root, |draft| {
            draft.add(Entry::new(role, id, key, root.issued_at(), root.expires_at())).expect("a fresh entry");
        }));
        assert_eq!(code(&built), "case_inconsistent", "{role} {id}");
    }
    let mut built = build(&one_verifier());
    built.panel = 33;
    assert_eq!(code(&built), "panel_out_of_range");
}

#[test]
fn every_refusal_code_has_a_kind_and_reads_back() {
    assert_eq!(RefusalCode::ALL.len(), 25);
    for code in RefusalCode::ALL {
        assert_eq!(RefusalCode::from_word(code.as_str()), Some(*code));
    }
}
