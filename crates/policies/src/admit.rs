//! From the bytes of one envelope to evidence of known weight, or to the reasons why it has none.

use std::cell::RefCell;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;

use quorum_attest::{AttestError, Authentic, Entry, Envelope, Hashed, KeyId, PredicateType, authenticate};
use quorum_handoff::{Rule, Violation, candidate_subject, check_result_rules};
use quorum_schemas::{C1Digest, Digest, SchemaName, SchemaViolation, Timestamp, Value, validate};

use crate::axes::{Channel, Isolation};
use crate::conjunction::isolation_floor;
use crate::verdict::verdict;
use crate::voices::Declared;
use crate::{Case, Received, Refusal, RefusalCode, RefusalKind, Verdict, limits};

/// Authentic evidence, with the refusals of its weight.
#[derive(Debug, Clone)]
pub(crate) struct Evidence {
    pub(crate) envelope: Digest,
    pub(crate) key_id: KeyId,
    pub(crate) signer: Entry,
    pub(crate) verdict: Verdict,
    pub(crate) seat: u64,
    pub(crate) try_no: u64,
    pub(crate) epoch: u64,
    pub(crate) channel: Channel,
    pub(crate) isolation: Isolation,
    pub(crate) declared: Declared,
    pub(crate) timed_out_within_limits: bool,
    pub(crate) extra_checks: Vec<String>,
    pub(crate) weight: Vec<Refusal>,
}

impl Evidence {
    /// Whether it may support: a support that nothing weighs against.
    pub(crate) fn admitted_support(&self) -> bool {
        self.verdict == Verdict::Supports && self.weight.is_empty()
    }

    /// The seat and try that it answers for. Off the mesh every key has its own seat, whatever number is signed.
    pub(crate) fn place(&self, panel_closed: bool) -> (u64, u64) {
        (if panel_closed { 0 } else { self.seat }, self.try_no)
    }

    /// Which of two duplicates stands, the lesser: with weight before without, saying more against its own independence
    /// before less, timed out before not, then the lower digest.
    pub(crate) fn precedence(&self) -> (bool, Reverse<Declared>, bool, Digest) {
        (!self.weight.is_empty(), Reverse(self.declared), !self.timed_out_within_limits, self.envelope)
    }
}

pub(crate) fn refusal(
    envelope: Digest,
    signer: Option<KeyId>,
    code: RefusalCode,
    pointer: &str,
    message: &str,
) -> Refusal {
    let mut shortened: String = message.chars().take(limits::MESSAGE_CHARS).collect();
    if shortened.len() < message.len() {
        shortened.push('…');
    }
    Refusal { envelope, kind: code.kind(), code, signer, pointer: pointer.to_owned(), message: shortened }
}

/// What an authenticated envelope says, once its shape is known.
struct Reading<'a> {
    authentic: &'a Authentic,
    predicate: &'a Value,
    refusals: BTreeMap<RefusalCode, (String, String)>,
}

impl Reading<'_> {
    fn refuse(&mut self, code: RefusalCode, pointer: &str, message: impl Into<String>) {
        self.refusals.entry(code).or_insert_with(|| (pointer.to_owned(), message.into()));
    }

    fn text(&self, path: &[&str]) -> &str {
        self.predicate.at(path).and_then(Value::as_str).unwrap_or_default()
    }
}

/// What is true of an envelope whoever asks: a function of its bytes, the trust root, the time of reception and the
/// handoff's documents.
#[derive(Debug, Clone)]
pub(crate) struct Established {
    authentic: Authentic,
    violations: Vec<Violation>,
}

/// Remembers what was established, under everything that it is a function of. Random tests judge the same envelopes
/// thousands of times; the daemon and the gate do not need it.
#[derive(Debug, Default)]
pub struct Memo(RefCell<Known>);

type Known = HashMap<(Digest, Digest, Timestamp, C1Digest), Result<Rc<Established>, Vec<Refusal>>>;

impl Memo {
    fn establish(
        &self,
        case: &Case<'_>,
        bytes: Hashed<'_>,
        received_at: Timestamp,
    ) -> Result<Rc<Established>, Vec<Refusal>> {
        let key = (bytes.digest(), case.trust.digest(), received_at, case.handoff.id());
        if let Some(known) = self.0.borrow().get(&key) {
            return known.clone();
        }
        let established = establish(case, bytes, received_at).map(Rc::new);
        self.0.borrow_mut().insert(key, established.clone());
        established
    }
}

fn establish(case: &Case<'_>, bytes: Hashed<'_>, received_at: Timestamp) -> Result<Established, Vec<Refusal>> {
    let digest = bytes.digest();
    let one = |signer, code, message: &str| vec![refusal(digest, signer, code, "", message)];
    let envelope =
        Envelope::parse_hashed(bytes).map_err(|error| one(None, attest_code(&error), &attest_message(&error)))?;
    let key_id = envelope.key_id();
    let authentic = authenticate(&envelope, case.trust, PredicateType::Evidence, received_at)
        .map_err(|error| one(Some(key_id), attest_code(&error), &attest_message(&error)))?;
    let schema_invalid = |(pointer, schema): (String, SchemaName)| {
        let message = format!("it does not follow {}; `quorum schema check` says why", schema.as_str());
        vec![refusal(digest, Some(key_id), RefusalCode::SchemaInvalid, &pointer, &message)]
    };
    let result = schemas(&authentic).map_err(schema_invalid)?;
    // The predicate's schema has the result's in it, so V1 holds.
    let violations = check_result_rules(result, case.handoff, case.binding, case.work_unit);
    Ok(Established { authentic, violations })
}

/// Judges one envelope. `aged_at` is the time that ages are taken at.
pub(crate) fn admit(
    case: &Case<'_>,
    bytes: Hashed<'_>,
    fact: Received,
    aged_at: Timestamp,
    memo: &Memo,
) -> Result<Evidence, Vec<Refusal>> {
    let (digest, received_at) = (bytes.digest(), fact.received_at);
    let established = memo.establish(case, bytes, received_at)?;
    let authentic = &established.authentic;
    let key_id = authentic.signer().public_key.key_id();
    let predicate = authentic.predicate();
    let nothing = Value::Null;
    let result = predicate.get("result").unwrap_or(&nothing);
    let mut reading = Reading { authentic, predicate, refusals: BTreeMap::new() };
    bindings(case, &mut reading);
    result_rules(&established.violations, &mut reading);
    let times = claimed_times(&mut reading);
    seat(case, &mut reading, key_id);
    let (channel, isolation) = strength(case, &mut reading);
    ages(case, &mut reading, &times, received_at, aged_at);
    if !fact.bundle_checked {
        reading.refuse(RefusalCode::BundleMissing, "/predicate/bundle_digest", "the bundle was not there to recompute");
    }
    since_revoked(&mut reading, received_at);
    let listed: Vec<Refusal> = reading
        .refusals
        .iter()
        .map(|(code, (pointer, message))| refusal(digest, Some(key_id), *code, pointer, message))
        .collect();
    let (authenticity, weight): (Vec<Refusal>, Vec<Refusal>) =
        listed.into_iter().partition(|refusal| refusal.kind == RefusalKind::Authenticity);
    if !authenticity.is_empty() {
        // What has no effect at all has no weight either.
        return Err(authenticity);
    }
    Ok(Evidence {
        envelope: digest,
        key_id,
        signer: authentic.signer().clone(),
        verdict: verdict(result, case.handoff.required_validator_ids()),
        seat: number(predicate, "seat"),
        try_no: number(predicate, "try"),
        epoch: number(predicate, "epoch"),
        channel,
        isolation,
        declared: declared(result),
        timed_out_within_limits: timed_out_within_limits(predicate, result),
        extra_checks: extra_checks(result, case.handoff.required_validator_ids()),
        weight,
    })
}

/// What a decision says of an envelope that is not authentic; for what cannot be read no parser's words are taken over.
fn attest_message(error: &AttestError) -> String {
    match attest_code(error) {
        RefusalCode::Malformed => "it is not an envelope and statement in the form that is read here".to_owned(),
        _ => error.to_string(),
    }
}

fn attest_code(error: &AttestError) -> RefusalCode {
    RefusalCode::from_word(error.code()).unwrap_or(RefusalCode::Malformed)
}

fn number(value: &Value, name: &str) -> u64 {
    value.get(name).and_then(Value::as_u64).unwrap_or_default()
}

/// The predicate and the result in it follow their schemas; that of the statement is what its parser reads. Yields the
/// result. Only the first violation is named: a stranger could write thousands.
fn schemas(authentic: &Authentic) -> Result<&Value, (String, SchemaName)> {
    // The place is the document's; the library's words for what is wrong there may change, and a decision's bytes not.
    let first = |prefix: &'static str, schema: SchemaName| {
        move |violations: Vec<SchemaViolation>| {
            let pointer = violations.first().map_or("", |violation| violation.pointer.as_str());
            (format!("{prefix}{pointer}"), schema)
        }
    };
    let predicate = authentic.predicate();
    validate(SchemaName::EvidencePredicate, predicate).map_err(first("/predicate", SchemaName::EvidencePredicate))?;
    predicate.get("result").ok_or_else(|| ("/predicate".to_owned(), SchemaName::EvidencePredicate))
}

/// It is evidence for this handoff and this candidate, and its parts name each other.
fn bindings(case: &Case<'_>, reading: &mut Reading<'_>) {
    let handoff_id = case.handoff.id().to_string();
    let found = reading.text(&["handoff_id"]).to_owned();
    if found != handoff_id {
        reading.refuse(RefusalCode::WrongHandoff, "/predicate/handoff_id", format!("{found}, expected {handoff_id}"));
    }
    let candidate = candidate_subject(case.binding);
    let subjects = &reading.authentic.statement().subject;
    let expected = BTreeMap::from([(candidate.algorithm().to_owned(), candidate.hex())]);
    if subjects.len() != 1 || subjects[0].digest != expected {
        let message = format!("the subject is not the candidate, {} {}", candidate.algorithm(), candidate.hex());
        reading.refuse(RefusalCode::WrongCandidate, "/subject", message);
    }
    let plan = reading.text(&["plan_digest"]).to_owned();
    let config = reading.text(&["result", "provenance", "verifier_config_digest"]).to_owned();
    if plan != config {
        let message = format!("plan_digest is {plan}, verifier_config_digest is {config:?}");
        reading.refuse(RefusalCode::Inconsistent, "/predicate/plan_digest", message);
    }
    let verifier = reading.text(&["result", "verifier", "id"]).to_owned();
    let signer = reading.authentic.signer().id.clone();
    if verifier != signer && verifier != case.binding.worker_id() {
        let message = format!("the result is of verifier {verifier:?}, the signature of {signer:?}");
        reading.refuse(RefusalCode::Inconsistent, "/predicate/result/verifier/id", message);
    }
    let worker_key = match case.worker {
        crate::WorkerIdentity::Authenticated { key_id } => Some(key_id),
        crate::WorkerIdentity::Unauthenticated => None,
    };
    let own_key = reading.authentic.signer().public_key.key_id();
    if signer == case.binding.worker_id() || worker_key == Some(own_key) {
        let message = format!("the signer {signer:?} is the worker");
        reading.refuse(RefusalCode::SelfVerification, "", message);
    }
}

/// The numbered rules of upstream, as the refusals that design section 5 names. V10 has no say: a worker who asks for
/// one more validator must not be able to void every result.
fn result_rules(violations: &[Violation], reading: &mut Reading<'_>) {
    for violation in violations {
        let Some(code) = rule_code(violation.rule, &violation.pointer) else { continue };
        let pointer = format!("/predicate/result{}", violation.pointer);
        reading.refuse(code, &pointer, format!("{}: {}", violation.rule, violation.message));
    }
}

pub(crate) fn rule_code(rule: Rule, pointer: &str) -> Option<RefusalCode> {
    Some(match rule {
        Rule::V1 => RefusalCode::SchemaInvalid,
        Rule::P4 | Rule::P6 | Rule::V5 => RefusalCode::WrongManifest,
        Rule::P5 | Rule::V6 if pointer == "/attempt" => RefusalCode::WrongManifest,
        Rule::P5 | Rule::P7 | Rule::V6 | Rule::V7 => RefusalCode::WrongWorkUnit,
        Rule::V9 => RefusalCode::IncompleteChecks,
        Rule::P8 | Rule::P9 | Rule::V8 | Rule::V11 | Rule::V14 | Rule::V15 | Rule::V16 | Rule::RepeatedCheck => {
            RefusalCode::Inconsistent
        }
        Rule::P10 | Rule::V13 => RefusalCode::SelfVerification,
        Rule::V12 => RefusalCode::NotIndependent,
        Rule::V10 | Rule::P1 | Rule::P2 | Rule::P3 | Rule::V3 | Rule::V4 => return None,
    })
}

/// The times that the result claims. The schema asserts their form; what still cannot be read is no time.
fn claimed_times(reading: &mut Reading<'_>) -> Vec<(&'static str, Timestamp)> {
    let mut times = Vec::new();
    for name in ["started_at", "finished_at"] {
        match reading.text(&["result", name]).parse::<Timestamp>() {
            Ok(time) => times.push((name, time)),
            Err(error) => {
                reading.refuse(RefusalCode::SchemaInvalid, &format!("/predicate/result/{name}"), error.to_string());
            }
        }
    }
    times
}

/// On the mesh only who holds the seat, in this try and under this lease, may support.
fn seat(case: &Case<'_>, reading: &mut Reading<'_>, key_id: KeyId) {
    if case.facts.panel_closed {
        return;
    }
    let (seat, try_no, epoch) =
        (number(reading.predicate, "seat"), number(reading.predicate, "try"), number(reading.predicate, "epoch"));
    let held = u32::try_from(seat).ok().filter(|seat| *seat < case.panel).and_then(|seat| case.facts.seats.get(&seat));
    let holds =
        held.is_some_and(|held| held.holder == key_id && u64::from(held.try_no) == try_no && held.epoch == epoch);
    if !holds {
        let current = held.map_or_else(
            || "nobody holds that seat".to_owned(),
            |held| format!("{} holds it in try {} epoch {}", held.holder, held.try_no, held.epoch),
        );
        let message = format!("for seat {seat} try {try_no} epoch {epoch}; {current}");
        reading.refuse(RefusalCode::StaleEpoch, "/predicate/epoch", message);
    }
}

/// The most forgeable channel of the required checks and the weakest isolation of all, against what is asked. A check
/// that the evidence says nothing of counts as the weakest.
fn strength(case: &Case<'_>, reading: &mut Reading<'_>) -> (Channel, Isolation) {
    let checks = reading.predicate.get("checks").and_then(Value::as_array).unwrap_or_default();
    let word = |check: &Value, name: &str| check.get(name).and_then(Value::as_str).map(str::to_owned);
    let mut channel = Channel::Data;
    for id in case.handoff.required_validator_ids() {
        let check = checks.iter().find(|check| word(check, "id").as_deref() == Some(id));
        let own = check.and_then(|check| Channel::from_word(&word(check, "channel")?)).unwrap_or(Channel::InProcess);
        channel = channel.min(own);
    }
    let isolation = checks
        .iter()
        .map(|check| word(check, "isolation"))
        .chain([Some(reading.text(&["isolation"]).to_owned())])
        .map(|word| word.and_then(|word| Isolation::from_word(&word)).unwrap_or(Isolation::None))
        .min()
        .unwrap_or(Isolation::None);
    let wanted = isolation_floor(case.work_unit.sandbox_required()).max(case.policy.min_isolation);
    if isolation < wanted {
        let message = format!("isolation {isolation}, at least {wanted} is asked");
        reading.refuse(RefusalCode::IsolationTooWeak, "/predicate/isolation", message);
    }
    if channel < case.policy.min_channel {
        let message =
            format!("a required check's result came over {channel}, at least {} is asked", case.policy.min_channel);
        reading.refuse(RefusalCode::ChannelTooWeak, "/predicate/checks", message);
    }
    (channel, isolation)
}

/// Claimed times only weaken: ahead of the reception they are not believed, and the earlier of both is the age.
fn ages(
    case: &Case<'_>,
    reading: &mut Reading<'_>,
    times: &[(&'static str, Timestamp)],
    received_at: Timestamp,
    aged_at: Timestamp,
) {
    for (name, time) in times {
        if *time > received_at.plus_seconds(limits::CLOCK_SKEW_SECONDS) {
            let message = format!("{name} {time} is more than {} s after {received_at}", limits::CLOCK_SKEW_SECONDS);
            reading.refuse(RefusalCode::ClockSkew, &format!("/predicate/result/{name}"), message);
        }
    }
    let finished = times.iter().find(|(name, _)| *name == "finished_at").map_or(received_at, |(_, time)| *time);
    let oldest = received_at.min(finished);
    let age = aged_at.micros_since(oldest);
    let most = i64::try_from(case.policy.max_age_seconds).unwrap_or(i64::MAX).saturating_mul(1_000_000);
    if age > most {
        let message = format!("from {oldest}, older than {} s at {aged_at}", case.policy.max_age_seconds);
        reading.refuse(RefusalCode::TooOld, "/predicate/result/finished_at", message);
    }
}

/// Since when the key counts as compromised, what it supports has no weight. A revocation that names no such time covers
/// everything before it: nobody knows how long the key was in other hands.
fn since_revoked(reading: &mut Reading<'_>, received_at: Timestamp) {
    let signer = reading.authentic.signer();
    let message = match (signer.compromised_since, signer.revoked_at) {
        (Some(since), _) if received_at >= since => {
            format!("received at {received_at}, the key counts as compromised since {since}")
        }
        (None, Some(revoked)) => {
            format!("the key was revoked at {revoked} without a time since when it is compromised")
        }
        _ => return,
    };
    reading.refuse(RefusalCode::SignerSinceRevoked, "", message);
}

fn declared(result: &Value) -> Declared {
    let says = |name: &str| result.at(&["independence", name]).and_then(Value::as_bool);
    Declared {
        shared_model_family: says("shared_model_family") == Some(true),
        shared_runtime: says("shared_runtime") == Some(true),
        not_independent: says("independent_from_worker") != Some(true),
    }
}

fn extra_checks(result: &Value, required: &[String]) -> Vec<String> {
    let checks = result.get("checks").and_then(Value::as_array).unwrap_or_default();
    let ids: BTreeSet<&str> = checks.iter().filter_map(|check| check.get("id")?.as_str()).collect();
    ids.into_iter().filter(|id| !required.iter().any(|known| known == id)).map(str::to_owned).collect()
}

/// Timed out: status timeout, and every check that ran into its limit has a baseline run that stays within it. At least
/// one such check, else nothing shows that the candidate is what takes so long.
fn timed_out_within_limits(predicate: &Value, result: &Value) -> bool {
    if result.get("status").and_then(Value::as_str) != Some("timeout") {
        return false;
    }
    let checks = predicate.get("checks").and_then(Value::as_array).unwrap_or_default();
    let mut timed_out =
        checks.iter().filter(|check| check.get("timed_out").and_then(Value::as_bool) == Some(true)).peekable();
    let milliseconds = |check: &Value, name: &str| check.get(name).and_then(Value::as_u64);
    timed_out.peek().is_some()
        && timed_out.all(|check| match (milliseconds(check, "baseline_ms"), milliseconds(check, "limit_ms")) {
            (Some(baseline), Some(limit)) => baseline < limit,
            _ => false,
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_has_the_refusal_of_design_section_5() {
        let expected = |rule: Rule| match rule {
            Rule::V1 => Some("schema_invalid"),
            Rule::P4 | Rule::P6 | Rule::V5 => Some("wrong_manifest"),
            Rule::P5 | Rule::P7 | Rule::V6 | Rule::V7 => Some("wrong_work_unit"),
            Rule::V9 => Some("incomplete_checks"),
            Rule::P8 | Rule::P9 | Rule::V8 | Rule::V11 | Rule::V14 | Rule::V15 | Rule::V16 | Rule::RepeatedCheck => {
                Some("inconsistent")
            }
            Rule::P10 | Rule::V13 => Some("self_verification"),
            Rule::V12 => Some("not_independent"),
            Rule::P1 | Rule::P2 | Rule::P3 | Rule::V3 | Rule::V4 | Rule::V10 => None,
        };
        for rule in Rule::ALL {
            assert_eq!(rule_code(*rule, "/work_unit_id").map(RefusalCode::as_str), expected(*rule), "{rule}");
        }
        for rule in [Rule::P5, Rule::V6] {
            assert_eq!(rule_code(rule, "/attempt"), Some(RefusalCode::WrongManifest), "{rule}");
        }
    }
}
