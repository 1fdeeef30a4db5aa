//! The why of a decision, as data and as text.

use std::borrow::Cow;
use std::fmt::Write as _;

use quorum_attest::KeyId;
use quorum_handoff::candidate_subject;
use quorum_schemas::{Digest, Timestamp, counted, one_line};

use crate::decide::{Counted, Weighed};
use crate::{
    Assurance, BoundDocument, Candidate, Case, Decision, FactSheet, Heard, HeardEvidence, Missing, MissingCode,
    Recommendation, Row, Standing,
};

/// The decision with everything that led to it.
pub(crate) fn decision(
    case: &Case<'_>,
    now: Timestamp,
    weighed: Weighed<'_>,
    row: Row,
    recommendation: Recommendation,
) -> Decision {
    let (handoff, policy, trust) = (case.handoff, case.policy, case.trust);
    let subject = candidate_subject(case.binding);
    let facts =
        FactSheet { now, panel: case.panel, deadline: case.deadline, worker: case.worker, facts: case.facts.clone() };
    let required = handoff.required_validator_ids();
    let heard: Vec<Heard> =
        weighed.heard.iter().zip(&weighed.standing).map(|(one, standing)| heard(&weighed, one, *standing)).collect();
    let accepts = recommendation == Recommendation::AcceptCandidate;
    let because = heard.iter().map(|heard| (heard.id.as_str(), heard.because.as_str()));
    let missing = if accepts { Vec::new() } else { missing(&weighed, because) };
    let (voices, shared) = weighed.voices.listed();
    Decision {
        schema_version: "0.1".to_owned(),
        kind: "quorum-decision".to_owned(),
        recommendation,
        row,
        revision: 1,
        supersedes: None,
        withdraws: false,
        handoff_id: handoff.id(),
        work_unit: bound(handoff.work_unit_id(), handoff.work_unit_version(), handoff.work_unit_digest()),
        result_manifest: bound(handoff.result_manifest_id(), handoff.attempt(), handoff.result_manifest_digest()),
        candidate: Candidate {
            name: subject.name().to_owned(),
            digest: [(subject.algorithm().to_owned(), subject.hex())].into(),
        },
        worker_id: handoff.worker_id().to_owned(),
        worker_identity: case.worker.as_str().to_owned(),
        assurance: case.facts.assurance,
        policy: bound(&policy.id, 1, policy.digest()),
        trust: bound("trust-root", trust.version(), trust.digest()),
        tally: weighed.tally,
        heard,
        shared,
        missing,
        rule: weighed.rule,
        voices,
        refusals: weighed.refusals,
        unrequired_request: case
            .binding
            .requested_validators()
            .iter()
            .filter(|id| !required.contains(id))
            .cloned()
            .collect(),
        reissued_seats: case.facts.seats.iter().filter(|(_, seat)| seat.try_no > 1).map(|(seat, _)| *seat).collect(),
        facts,
        files: Vec::new(),
    }
}

fn bound<F>(id: &str, version: u64, digest: Digest<F>) -> BoundDocument<F> {
    BoundDocument { id: id.to_owned(), version, digest }
}

/// `standing` is that of the key.
fn heard(weighed: &Weighed<'_>, (key, said): (&KeyId, &Vec<Counted<'_>>), standing: Standing) -> Heard {
    let signer = &said[0].evidence.signer;
    Heard {
        key_id: *key,
        id: signer.id.clone(),
        standing,
        because: because(weighed, *key, standing),
        attributes: signer.attributes.clone(),
        evidence: said
            .iter()
            .map(|counted| counted.evidence)
            .map(|evidence| HeardEvidence {
                envelope: evidence.envelope,
                verdict: evidence.verdict,
                seat: evidence.seat,
                r#try: evidence.try_no,
                epoch: evidence.epoch,
                channel: evidence.channel,
                isolation: evidence.isolation,
                extra_checks: evidence.extra_checks.clone(),
            })
            .collect(),
    }
}

/// Why a supporter is no voice: whom it shares what with.
pub(crate) fn because(weighed: &Weighed<'_>, key: KeyId, standing: Standing) -> String {
    if !matches!(standing, Standing::SharesWithVoice | Standing::SharesWithWorker) {
        return String::new();
    }
    let mut text = "shares ".to_owned();
    let mut several = false;
    for (a, b, what) in &weighed.voices.edges {
        let other = match b {
            _ if *a != key && *b != Some(key) => continue,
            None => Cow::Borrowed("the worker"),
            Some(_) if standing == Standing::SharesWithWorker => continue,
            Some(b) => {
                let other = if *a == key { *b } else { *a };
                if weighed.voices.chosen.binary_search(&other).is_err() {
                    continue;
                }
                name(weighed, other)
            }
        };
        if several {
            text.push_str("; ");
        }
        several = true;
        for (index, one) in what.iter().enumerate() {
            text.push_str(if index == 0 { "" } else { ", " });
            text.push_str(one);
        }
        text.push_str(" with ");
        text.push_str(&other);
    }
    text
}

fn name<'a>(weighed: &'a Weighed<'_>, key: KeyId) -> Cow<'a, str> {
    match weighed.heard.get(&key) {
        Some(said) => Cow::Borrowed(&said[0].evidence.signer.id),
        None => Cow::Owned(key.to_string()),
    }
}

/// What stands between the tally and an accept.
///
/// `because` are the ids of those heard, each with why it is no voice.
pub(crate) fn missing<'a>(weighed: &Weighed<'_>, because: impl Iterator<Item = (&'a str, &'a str)>) -> Vec<Missing> {
    let (tally, rule) = (weighed.tally, &weighed.rule);
    let mut missing = Vec::new();
    let mut add = |code, message| missing.push(Missing { code, message });
    if !weighed.has_operator_rule {
        let (strategy, key) = (&rule.strategy, if rule.strategy == "threshold" { "fraction" } else { "groups" });
        let message = format!("the work unit asks for strategy {strategy} and the policy has no `{key}`");
        add(MissingCode::OperatorRule, message);
    }
    if tally.s < tally.q {
        let mut message = voices_of(tally.s, tally.q);
        for (id, because) in because.filter(|(_, because)| !because.is_empty()) {
            let _ = write!(message, "; supporter {id} {because}");
        }
        add(MissingCode::Voices, message);
    }
    if tally.o > tally.tolerate {
        let message = format!("{}, {} borne", counted(tally.o, "objection"), tally.tolerate);
        add(MissingCode::Objections, message);
    }
    if let Some(fraction) = rule.fraction.filter(|_| !weighed.fraction_holds()) {
        let message = format!("{} of {} support, at least {fraction} must", tally.s, tally.n);
        add(MissingCode::Fraction, message);
    }
    if let Some(groups) = rule.groups.as_ref().filter(|_| !weighed.groups_hold()) {
        let have: Vec<&str> = weighed.operators.iter().copied().collect();
        let have = if have.is_empty() { "none".to_owned() } else { have.join(", ") };
        add(MissingCode::Groups, format!("{} must support, heard from operators: {have}", groups.describe()));
    }
    missing
}

impl Decision {
    /// The why in words, one fact a line, for people. What documents say stays on its own line.
    #[must_use]
    pub fn why_text(&self) -> String {
        self.why_lines().iter().map(|line| one_line(line) + "\n").collect()
    }

    fn why_lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        if self.assurance == Assurance::Local {
            lines.push("1 local verifier, not independent of this machine".to_owned());
        }
        let tally = self.tally;
        lines.push(format!("{}: {}", self.recommendation, self.row_text()));
        if self.withdraws {
            lines.push(format!("revision {} withdraws an earlier accept_candidate", self.revision));
        }
        lines.push(format!(
            "tally: voices s={}, objections o={}, others a={}, n={}; needed q={}, tolerate={}",
            tally.s, tally.o, tally.a, tally.n, tally.q, tally.tolerate
        ));
        lines.extend(self.heard.iter().map(heard_text));
        for refusal in &self.refusals {
            let place = if refusal.pointer.is_empty() { "/" } else { &refusal.pointer };
            let (kind, code) = (refusal.kind, refusal.code);
            // Messages of the rooms below begin with the code, which stands here already.
            let message = refusal.message.strip_prefix(&format!("{code}: ")).unwrap_or(&refusal.message);
            lines.push(format!("refused ({kind}): {code} {} at {place}: {message}", refusal.envelope));
        }
        for missing in &self.missing {
            let label = if missing.code == MissingCode::Objections { "too many" } else { "missing" };
            lines.push(format!("{label}: {}", missing.message));
        }
        if self.relies_on_in_process() {
            lines.push("in_process: the candidate's own process reported a result; it could have forged it".to_owned());
        }
        if !self.unrequired_request.is_empty() {
            let ids = self.unrequired_request.join(", ");
            lines.push(format!("unrequired_request: the worker also asked for {ids}; not counted"));
        }
        lines
    }

    fn row_text(&self) -> String {
        let tally = self.tally;
        let object = verb(tally.o, "key", "object");
        match self.row {
            Row::QuorumMet => {
                let (support, objections) =
                    (verb(tally.s, "independent voice", "support"), counted(tally.o, "objection"));
                format!("{support} ({} needed), {objections} ({} borne)", tally.q, tally.tolerate)
            }
            Row::NoOperatorRule => format!("strategy {} without a rule in the policy", self.rule.strategy),
            Row::SupportAndObjection => format!("{} and {object}", verb(tally.s, "voice", "support")),
            Row::RejectQuorumMet => format!("{object} ({} needed), nobody supports", self.rule.reject_quorum),
            Row::ExhaustsVerifiers => {
                "exhausts_verifiers: verifiers timed out where their baseline does not".to_owned()
            }
            Row::NotEnough => voices_of(tally.s, tally.q),
            Row::WithdrawnAndRejected => format!("the accept is taken back, and {object}"),
        }
    }
}

fn heard_text(heard: &Heard) -> String {
    let mut text = format!("heard: {} ({})", heard.id, heard.standing);
    if !heard.because.is_empty() {
        let _ = write!(text, " {}", heard.because);
    }
    for evidence in &heard.evidence {
        let (verdict, envelope, channel) = (evidence.verdict, evidence.envelope, evidence.channel);
        let _ = write!(text, "; {verdict} by {envelope} over {channel}, isolation {}", evidence.isolation);
    }
    text
}

fn voices_of(found: u64, needed: u64) -> String {
    format!("{found} of {}", counted(needed, "independent voice"))
}

/// `1 key objects`, `2 keys object`.
fn verb(number: u64, noun: &str, verb: &str) -> String {
    format!("{} {verb}{}", counted(number, noun), if number == 1 { "s" } else { "" })
}
