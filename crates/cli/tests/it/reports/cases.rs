//! Decisions to report on: some fixed ones of every kind, and random ones with hostile texts everywhere.

use std::collections::BTreeMap;

use quorum_attest::{Envelope, KeyId, PAYLOAD_TYPE, SigningKey, Statement, sign};
use quorum_gate::{CheckLine, ReportPlaces, ReportSubject};
use quorum_policies::{
    Assurance, Channel, Decision, Heard, HeardEvidence, Isolation, Missing, MissingCode, Recommendation, Refusal,
    RefusalCode, Row, Standing, Tally, Verdict, record,
};
use quorum_schemas::{Digest, Value};
use serde_json::{Value as Json, json};

use crate::world::World;

/// A decision with the record and the checks that a report of it shows.
#[derive(Clone)]
pub(super) struct Case {
    pub(super) decision: Decision,
    pub(super) checks: Vec<CheckLine>,
    pub(super) record: BTreeMap<String, Vec<u8>>,
    pub(super) places: ReportPlaces,
}

impl Case {
    pub(super) fn subject(&self) -> ReportSubject<'_> {
        ReportSubject::Decision {
            decision: &self.decision,
            checks: &self.checks,
            record: &self.record,
            places: &self.places,
        }
    }

    pub(super) fn accepts(&self) -> bool {
        self.decision.recommendation == Recommendation::AcceptCandidate
    }
}

/// What a real gate decided, and the predicate of its evidence: what the cases are made from.
pub(super) struct Base {
    decision: Decision,
    predicate: Value,
    subject: Vec<quorum_attest::Subject>,
}

/// One verifier of a case: its id, what it counts as, and its checks as (id, status, summary).
pub(super) struct Said<'a> {
    pub(super) id: &'a str,
    pub(super) standing: Standing,
    pub(super) checks: Vec<(&'a str, &'a str, &'a str)>,
    pub(super) findings: Vec<(&'a str, &'a str, &'a str)>,
}

impl Base {
    pub(super) fn new() -> Self {
        let world = World::with_example();
        let gate =
            "gate --work-unit example/work-unit.json --candidate example/good --plan example/plan.toml --out out";
        let report = world.run(&format!("{gate} --json")).exits(0).json();
        let decision = Decision::parse(report.get("decision").unwrap()).unwrap();
        let envelope = world.files("out").into_iter().find(|file| file.starts_with("evidence/")).unwrap();
        let envelope = Envelope::parse(&world.read(&format!("out/{envelope}"))).unwrap();
        let statement = Statement::parse(envelope.payload()).unwrap();
        Self { decision, predicate: statement.predicate, subject: statement.subject }
    }

    /// The real decision.
    pub(super) fn decision(&self) -> &Decision {
        &self.decision
    }

    /// A case with these verifiers; the recommendation is given and not computed, so that no rule of the policy engine
    /// keeps a report from being tried.
    pub(super) fn case(&self, recommendation: Recommendation, said: &[Said<'_>]) -> Case {
        let mut decision = self.decision.clone();
        decision.recommendation = recommendation;
        decision.row = match recommendation {
            Recommendation::AcceptCandidate => Row::QuorumMet,
            Recommendation::RejectCandidate => Row::RejectQuorumMet,
            Recommendation::Escalate => Row::SupportAndObjection,
            Recommendation::InsufficientEvidence => Row::NotEnough,
        };
        decision.assurance = Assurance::TrustRoot;
        let mut record = BTreeMap::new();
        decision.heard = said.iter().enumerate().map(|(at, said)| self.heard(at, said, &mut record)).collect();
        let count = |wanted: &[Standing]| said.iter().filter(|said| wanted.contains(&said.standing)).count() as u64;
        let (s, o) = (count(&[Standing::Voice]), count(&[Standing::Objector]));
        let a = said.len() as u64 - s - o;
        decision.tally = Tally { s, o, a, n: (s + o + a).max(3), q: 2, tolerate: 0 };
        decision.voices =
            decision.heard.iter().filter(|it| it.standing == Standing::Voice).map(|it| it.key_id).collect();
        let missing = Missing { code: MissingCode::Voices, message: format!("{s} of 2 independent voices") };
        decision.missing = if recommendation == Recommendation::AcceptCandidate { Vec::new() } else { vec![missing] };
        let places = ReportPlaces { work_unit: Some(".quorum/work-unit.json".into()), candidate: Some("src".into()) };
        Case { decision, checks: Vec::new(), record, places }
    }

    fn heard(&self, at: usize, said: &Said<'_>, record: &mut BTreeMap<String, Vec<u8>>) -> Heard {
        let bytes = self.envelope(at, said);
        let envelope = Digest::of(&bytes);
        record.insert(record::evidence(&envelope), bytes);
        let verdict = match said.standing {
            Standing::Objector => Verdict::Rejects,
            Standing::Abstains => Verdict::Abstains,
            Standing::Absent => Verdict::Absent,
            _ => Verdict::Supports,
        };
        let shares = matches!(said.standing, Standing::SharesWithVoice | Standing::SharesWithWorker);
        Heard {
            key_id: key(at),
            id: said.id.to_owned(),
            standing: said.standing,
            because: if shares { "shares operator=acme with verifier-a".to_owned() } else { String::new() },
            attributes: BTreeMap::new(),
            evidence: vec![HeardEvidence {
                envelope,
                verdict,
                seat: 0,
                r#try: 1,
                epoch: 0,
                channel: Channel::Data,
                isolation: Isolation::ProcessSandbox,
                extra_checks: Vec::new(),
            }],
        }
    }

    /// Evidence with these checks, signed.
    fn envelope(&self, at: usize, said: &Said<'_>) -> Vec<u8> {
        let mut predicate: Json = self.predicate.to_serde();
        let checks = said.checks.iter().map(|(id, status, summary)| {
            json!({"id": id, "type": "test", "required": true, "status": status, "summary": summary, "evidence_ids": []})
        });
        predicate["result"]["checks"] = checks.collect();
        let findings = said.findings.iter().map(|(category, summary, path)| {
            json!({"severity": "high", "category": category, "summary": summary, "path": path})
        });
        predicate["result"]["findings"] = findings.collect();
        let statement = Statement {
            subject: self.subject.clone(),
            predicate_type: quorum_attest::PredicateType::Evidence,
            predicate: Value::from_serde(predicate),
        };
        sign(PAYLOAD_TYPE, &statement.to_bytes(), &signer(at))
    }
}

fn signer(at: usize) -> SigningKey {
    SigningKey::from_seed(&[u8::try_from(at % 200).unwrap() + 1; 32])
}

fn key(at: usize) -> KeyId {
    signer(at).public().key_id()
}

/// A refusal of evidence that nobody heard.
pub(super) fn refusal(nth: u64, code: RefusalCode, message: &str) -> Refusal {
    Refusal {
        envelope: Digest::of(&nth.to_le_bytes()),
        kind: code.kind(),
        code,
        signer: None,
        pointer: "/predicate".to_owned(),
        message: message.to_owned(),
    }
}

const GOOD: [(&str, &str, &str); 2] = [
    ("artifact-digest", "passed", "the ZIP of the candidate directory has the declared digest"),
    ("independent-acceptance", "passed", "`answer.json` equals the required JSON"),
];
const WRONG: [(&str, &str, &str); 2] =
    [GOOD[0], ("independent-acceptance", "failed", "`answer.json` differs from the required JSON at /answer")];
const UNCLEAR: [(&str, &str, &str); 2] = [
    ("artifact-digest", "error", "the machine has no disk space left"),
    ("independent-acceptance", "inconclusive", "an expected test is missing"),
];

fn said(id: &'static str, standing: Standing, checks: &[(&'static str, &'static str, &'static str)]) -> Said<'static> {
    Said { id, standing, checks: checks.to_vec(), findings: Vec::new() }
}

/// One case of every kind, for snapshots.
pub(super) fn fixed(base: &Base) -> Vec<(&'static str, Case)> {
    use Recommendation as R;
    use Standing as S;
    let two = || vec![said("verifier-a", S::Voice, &GOOD), said("verifier-b", S::Voice, &GOOD)];
    let mut objector = said("verifier-c", S::Objector, &WRONG);
    objector.findings = vec![("correctness", "the answer is 41", "answer.json")];
    let accept = base.case(R::AcceptCandidate, &two());
    let mut refused = base.case(
        R::AcceptCandidate,
        &[two(), vec![said("verifier-c", S::RefusedSupport, &GOOD), said("verifier-d", S::Objector, &WRONG)]]
            .concat_said(),
    );
    refused.decision.tally.tolerate = 1;
    let mut weight = refusal(1, RefusalCode::IsolationTooWeak, "isolation none, process-sandbox is asked for");
    // The bytes of real evidence hold times; a snapshot shows a part of this digest.
    let (real, fixed) = (refused.decision.heard[2].evidence[0].envelope, Digest::of(b"evidence of verifier-c"));
    let bytes = refused.record.remove(&record::evidence(&real)).unwrap();
    refused.record.insert(record::evidence(&fixed), bytes);
    refused.decision.heard[2].evidence[0].envelope = fixed;
    weight.envelope = fixed;
    weight.signer = Some(refused.decision.heard[2].key_id);
    refused.decision.refusals =
        vec![weight, refusal(2, RefusalCode::BadSignature, "the signature of key 01ab does not verify")];
    let reject = base.case(R::RejectCandidate, &[objector]);
    let mut escalate = base.case(R::Escalate, &[two(), vec![said("verifier-c", S::Objector, &WRONG)]].concat_said());
    escalate.decision.withdraws = true;
    escalate.decision.revision = 2;
    let mut insufficient = base.case(
        R::InsufficientEvidence,
        &[
            said("verifier-a", S::Voice, &GOOD),
            said("verifier-b", S::SharesWithVoice, &GOOD),
            said("verifier-c", S::Abstains, &UNCLEAR),
        ],
    );
    insufficient.decision.tally.n = 5;
    insufficient.decision.refusals = vec![refusal(3, RefusalCode::TooOld, "25h old, max_age is 24h")];
    insufficient.decision.unrequired_request = vec!["benchmark".to_owned()];
    vec![
        ("accept", accept),
        ("accept_with_refusals", refused),
        ("reject", reject),
        ("escalate", escalate),
        ("insufficient", insufficient),
    ]
}

trait ConcatSaid<'a> {
    fn concat_said(self) -> Vec<Said<'a>>;
}

impl<'a> ConcatSaid<'a> for [Vec<Said<'a>>; 2] {
    fn concat_said(self) -> Vec<Said<'a>> {
        self.into_iter().flatten().collect()
    }
}

/// A generator of numbers that is the same everywhere.
pub(super) struct Chance(u64);

impl Chance {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(1))
    }

    /// SplitMix64.
    pub(super) fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = self.0;
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((word ^ (word >> 31)) % bound as u64).unwrap()
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }
}

/// Texts that try to be something else than text.
pub(super) const HOSTILE: &[&str] = &[
    "plain words",
    "",
    "accept_candidate: 3 independent voices support",
    "\n::error file=x,line=1::forged",
    "::notice::forged",
    "##[error]forged ##[group]x",
    "##vso[task.complete result=Succeeded;]DONE",
    "a %0A::warning::b, c:d",
    "\u{2705} accept_candidate \u{2714}\u{fe0f} \u{1f7e2} passed",
    ":white_check_mark: :heavy_check_mark: @everyone #1 https://evil.example www.evil.example",
    "![x](https://evil.example/x.png) [passed](javascript:alert(1)) <img src=x onerror=alert(1)>",
    "</code></details><h1>passed</h1><script>alert(1)</script><!--",
    "```\n# passed\n\n## \u{2705} Quorum: accept_candidate\n",
    "` | x | passed | y |\n|---|---|",
    "~~~\n> quote\n1. list\n- [x] passed\n---\n",
    "]]></system-out><testcase name=\"forged\"/><!-- & &#0; &amp; \" '",
    "\u{1b}[32mpassed\u{1b}[0m\u{7}\u{8}\u{0}\u{9b}31m",
    "\u{202e}detcejer\u{202c}\u{2066}\u{2069}\u{200f}",
    "\u{fffe}\u{ffff}\u{fdd0}\u{1fffe}\u{10ffff}\u{feff}\u{200b}",
    "\u{e0041}\u{e0042} gr\u{fc}n \u{65e5}\u{672c} \u{1f600}",
    "\\ \\| \\` \\\\` \\n % %25 %2C",
    "Quorum: accept_candidate",
];

fn text(chance: &mut Chance) -> String {
    let one = chance.pick(HOSTILE);
    match chance.below(20) {
        0 => one.repeat(200),
        1..4 => format!("{one}{}", chance.pick(HOSTILE)),
        _ => one.to_owned(),
    }
}

/// A random decision: any recommendation beside any verifiers, refusals and texts.
pub(super) fn random(base: &Base, seed: u64) -> Case {
    let mut chance = Chance::new(seed);
    let recommendation = chance.pick(Recommendation::ALL);
    let texts: Vec<String> = (0..40).map(|_| text(&mut chance)).collect();
    let statuses = ["passed", "failed", "error", "inconclusive", "skipped"];
    let mut verifiers = Vec::new();
    for _ in 0..chance.below(5) {
        let standing = chance.pick(Standing::ALL);
        let mut any = || texts[chance.below(texts.len())].as_str();
        let id = any();
        let count = chance.below(4);
        let checks = (0..count).map(|_| {
            let id = texts[chance.below(texts.len())].as_str();
            // The schema of results wants an id and bounds what it says.
            let id = if id.is_empty() || id.len() > 200 { "check" } else { id };
            (id, chance.pick(&statuses), texts[chance.below(texts.len())].as_str())
        });
        let checks = checks.collect();
        let findings = (0..chance.below(3)).map(|_| {
            let path = texts[chance.below(texts.len())].as_str();
            ("correctness", "found", if path.is_empty() { "a" } else { path })
        });
        let findings = findings.collect();
        verifiers.push(Said { id, standing, checks, findings });
    }
    let mut case = base.case(recommendation, &verifiers);
    let decision = &mut case.decision;
    let any = |chance: &mut Chance| texts[chance.below(texts.len())].clone();
    decision.work_unit.id = any(&mut chance);
    decision.worker_id = any(&mut chance);
    decision.policy.id = any(&mut chance);
    if chance.below(2) == 0 {
        decision.assurance = Assurance::Local;
    }
    decision.withdraws = chance.below(4) == 0;
    decision.row = chance.pick(Row::ALL);
    for heard in &mut decision.heard {
        heard.because = any(&mut chance);
        if chance.below(3) == 0 {
            heard.evidence[0].channel = Channel::InProcess;
        }
        if chance.below(4) == 0 {
            heard.evidence[0].extra_checks = vec![any(&mut chance)];
        }
    }
    for nth in 0..chance.below(4) {
        let mut refusal = refusal(nth as u64, chance.pick(RefusalCode::ALL), &any(&mut chance));
        refusal.pointer = any(&mut chance);
        if let Some(heard) = decision.heard.first().filter(|_| chance.below(2) == 0) {
            (refusal.envelope, refusal.signer) = (heard.evidence[0].envelope, Some(heard.key_id));
        }
        decision.refusals.push(refusal);
    }
    decision.unrequired_request = (0..chance.below(3)).map(|_| any(&mut chance)).collect();
    decision.missing.iter_mut().for_each(|missing| missing.message = any(&mut chance));
    case.places.work_unit = [None, Some(any(&mut chance)), Some("a b/w#u.json".to_owned())][chance.below(3)].clone();
    case.checks = (0..chance.below(3))
        .map(|_| CheckLine {
            id: any(&mut chance),
            kind: "command".to_owned(),
            status: chance.pick(&statuses).to_owned(),
            summary: any(&mut chance),
            channel: "data".to_owned(),
            isolation: "none".to_owned(),
            duration_ms: 1,
        })
        .collect();
    case
}
