//! The verification summary of a decision: which decisions have one, what it says, and that it is a function.

use std::collections::{BTreeMap, BTreeSet};

use quorum_attest::{PredicateType, Role, Statement};
use quorum_policies::{Decision, Recommendation, VSA_EXTENSION, resource_uri, vsa};
use quorum_schemas::{Digest, SchemaName, Value, validate};

use crate::build::build;
use crate::cases::{self, PlainCase, PlainEnvelope, support};
use crate::laws::cases_of;
use crate::refusals::{decided, one_verifier, reject};

const GATE: Option<(Role, &str)> = Some((Role::Gate, "gate/1"));

fn text<'a>(value: &'a Value, path: &[&str]) -> &'a str {
    value.at(path).and_then(Value::as_str).unwrap_or_else(|| panic!("{path:?} in {value:?}"))
}

/// The documents of a record on the mesh, of which three are signed.
fn with_record(decision: Decision) -> Decision {
    let names = ["facts.json", "handoff.dsse.json", "policy.toml", "result-manifest.dsse.json", "trust.json"];
    let mut files: BTreeMap<String, Digest> =
        names.iter().map(|name| ((*name).to_owned(), Digest::of(name.as_bytes()))).collect();
    files.insert("work-unit.dsse.json".into(), Digest::of(b"unit"));
    files.insert("bundles/bundle-1.zip".into(), Digest::of(b"bundle"));
    decision.with_files(&files)
}

fn of(case: &PlainCase) -> (Decision, Option<Statement>) {
    let decision = with_record(decided(&build(case)));
    let statement = vsa(&decision, GATE).expect("a decision has a summary that follows the schema");
    (decision, statement)
}

fn digests(statement: &Statement) -> Vec<&str> {
    let listed = statement.predicate.get("inputAttestations").and_then(Value::as_array).unwrap();
    listed.iter().map(|input| text(input, &["digest", "sha256"])).collect()
}

#[test]
fn an_accept_is_passed_and_claims_no_level() {
    let (decision, statement) = of(&one_verifier());
    assert_eq!(decision.recommendation, Recommendation::AcceptCandidate);
    let statement = statement.unwrap();
    assert_eq!(statement.predicate_type, PredicateType::Vsa);
    assert_eq!(statement.subject.len(), 1);
    assert_eq!(statement.subject[0].name, decision.candidate.name);
    assert_eq!(statement.subject[0].digest, decision.candidate.digest);
    let predicate = &statement.predicate;
    assert_eq!(text(predicate, &["verifier", "id"]), "urn:idkmesh-quorum:gate:gate%2F1");
    assert_eq!(text(predicate, &["verifier", "version", "idkmesh-quorum-rules"]), "1");
    assert_eq!(text(predicate, &["timeVerified"]), decision.facts.now.to_string());
    let (work_unit, candidate) = (&decision.work_unit, &decision.candidate);
    assert_eq!(text(predicate, &["resourceUri"]), resource_uri(&work_unit.id, work_unit.version, &candidate.name));
    assert_eq!(text(predicate, &["policy", "uri"]), "urn:idkmesh-quorum:policy:random");
    assert_eq!(text(predicate, &["policy", "digest", "sha256"]), decision.policy.digest.hex());
    assert_eq!(text(predicate, &["verificationResult"]), "PASSED");
    let levels = predicate.get("verifiedLevels").and_then(Value::as_array).unwrap();
    assert_eq!(levels.iter().filter_map(Value::as_str).collect::<Vec<_>>(), ["SLSA_BUILD_LEVEL_UNEVALUATED"]);
    assert!(predicate.get("dependencyLevels").is_none(), "nothing is claimed of dependencies");
    assert_eq!(text(predicate, &[VSA_EXTENSION, "recommendation"]), "accept_candidate");
}

#[test]
fn a_reject_is_failed_and_so_is_its_level() {
    let (decision, statement) = of(&PlainCase { envelopes: vec![reject()], ..one_verifier() });
    assert_eq!(decision.recommendation, Recommendation::RejectCandidate);
    let statement = statement.unwrap();
    assert_eq!(text(&statement.predicate, &["verificationResult"]), "FAILED");
    let levels = statement.predicate.get("verifiedLevels").and_then(Value::as_array).unwrap();
    assert_eq!(levels.iter().filter_map(Value::as_str).collect::<Vec<_>>(), ["FAILED"]);
}

#[test]
fn escalate_and_insufficient_evidence_have_none() {
    let both = vec![support(), PlainEnvelope { key: 1, ..reject() }];
    for (envelopes, recommendation) in
        [(both, Recommendation::Escalate), (Vec::new(), Recommendation::InsufficientEvidence)]
    {
        let (decision, statement) = of(&PlainCase { envelopes, ..one_verifier() });
        assert_eq!(decision.recommendation, recommendation);
        assert_eq!(statement, None);
    }
}

#[test]
fn every_input_is_listed_by_digest_and_the_refused_ones_with_their_reason() {
    let too_old = PlainEnvelope { key: 1, finished: -100_000, ..support() };
    let case = PlainCase { envelopes: vec![support(), too_old], ..one_verifier() };
    let (decision, statement) = of(&case);
    let statement = statement.unwrap();
    let built = build(&case);
    let mut expected: Vec<String> = ["handoff.dsse.json", "result-manifest.dsse.json"]
        .iter()
        .map(|name| Digest::of(name.as_bytes()).hex())
        .chain([Digest::of(b"unit").hex()])
        .collect();
    let evidence: BTreeSet<String> = built.digests().iter().map(|digest| digest.hex()).collect();
    expected.extend(evidence);
    assert_eq!(digests(&statement), expected, "signed documents, then all evidence");
    let refused = statement.predicate.at(&[VSA_EXTENSION, "refused"]).and_then(Value::as_array).unwrap();
    assert_eq!(refused.len(), decision.refusals.len());
    assert_eq!(text(&refused[0], &["code"]), "too_old");
    assert_eq!(text(&refused[0], &["envelope"]), built.digests()[1].to_string());
}

#[test]
fn the_signer_is_named_and_nobody_is_nobody() {
    let decision = with_record(decided(&build(&one_verifier())));
    for (signer, uri) in [
        (Some((Role::Coordinator, "c")), "urn:idkmesh-quorum:coordinator:c"),
        (Some((Role::Gate, "ü:")), "urn:idkmesh-quorum:gate:%C3%BC%3A"),
        (None, "urn:idkmesh-quorum:unsigned"),
    ] {
        let statement = vsa(&decision, signer).unwrap().unwrap();
        assert_eq!(text(&statement.predicate, &["verifier", "id"]), uri);
    }
}

/// Over random cases: only accept and reject have a summary, it follows its schema, lists all evidence once, and adding
/// its own file to the decision's list changes nothing in it.
#[test]
fn of_random_cases_a_summary_is_a_function_of_the_decision_and_its_signer() {
    let mut seen = BTreeMap::<&str, usize>::new();
    for seed in 0..cases_of(400) {
        let built = build(&cases::generate(seed));
        let outcome = built.decide();
        let Some(decision) = outcome.decision().cloned().map(with_record) else { continue };
        *seen.entry(decision.recommendation.as_str()).or_default() += 1;
        let summary = vsa(&decision, GATE).unwrap();
        let has = matches!(decision.recommendation, Recommendation::AcceptCandidate | Recommendation::RejectCandidate);
        assert_eq!(summary.is_some(), has);
        let Some(summary) = summary else { continue };
        validate(SchemaName::Vsa, &summary.predicate).unwrap();
        let listed = digests(&summary);
        let distinct: BTreeSet<&str> = listed.iter().copied().collect();
        assert_eq!(distinct.len(), listed.len());
        for digest in decision.facts.facts.received.keys() {
            assert!(distinct.contains(digest.hex().as_str()));
        }
        let mut files: BTreeMap<String, Digest> =
            decision.files.iter().map(|file| (file.path.clone(), file.sha256)).collect();
        files.insert("vsa.dsse.json".into(), Digest::of(&summary.to_bytes()));
        let listing_itself = decision.with_files(&files);
        assert_eq!(vsa(&listing_itself, GATE).unwrap().unwrap().to_bytes(), summary.to_bytes());
    }
    assert!(seen.len() == 4, "not every recommendation came up: {seen:?}");
}
