//! What every format is rendered from: one list of items, each with a level, a rule and a place.
//!
//! The levels are decided here and nowhere else, so that no format can look better than another: short of an accept the
//! first item is a failure or an error, and in an accept nothing is.

use std::collections::{BTreeMap, BTreeSet};

use quorum_attest::KeyId;
use quorum_policies::{Assurance, Decision, Heard, HeardEvidence, Recommendation, RefusalKind, Standing};
use quorum_schemas::{Digest, Value};

use super::evidence::{Shown, ShownCheck, shown};
use super::rules::{self, Rule};
use super::{Subject, clean};
use crate::ExitCode;

/// How an item looks, the worst first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Level {
    /// Something speaks against the candidate.
    Failure,
    /// Something is missing, broken or undecided.
    Error,
    /// What would be a failure, borne by an accept.
    Warning,
    /// Good to know.
    Note,
    /// Proven.
    Pass,
}

impl Level {
    /// The word in reports.
    #[must_use]
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Failure => "failure",
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Note => "note",
            Self::Pass => "pass",
        }
    }

    /// In an accept nothing fails: what was borne or not counted is told all the same.
    fn in_accept(self) -> Self {
        match self {
            Self::Failure => Self::Warning,
            Self::Error => Self::Note,
            other => other,
        }
    }
}

/// The part of a report that an item belongs to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Part {
    /// The recommendation and what concerns the whole.
    Decision,
    /// What one verifier says, by its id.
    Verifier(String),
    /// Refused evidence.
    Refusals,
    /// Seats of the panel.
    Seats,
}

/// A line of a file, as repository hosts show annotations.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    /// Path with `/`, relative to the repository.
    pub(super) file: String,
    /// From 1.
    pub(super) line: u64,
}

/// One thing that a report says. Its texts are clean: they are shown and obeyed by nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Item {
    pub(super) part: Part,
    pub(super) level: Level,
    pub(super) rule: Rule,
    /// What of the rule's kind it is about: a check, a verifier, a seat; items of one rule about one thing are one
    /// annotation.
    pub(super) about: String,
    /// The name of its test case.
    pub(super) name: String,
    pub(super) message: String,
    pub(super) place: Option<Place>,
}

impl Item {
    fn new(part: Part, level: Level, rule: Rule, about: &str, message: &str) -> Self {
        let about = clean::name(about);
        let name = if about.is_empty() { rule.id.to_owned() } else { format!("{}: {about}", rule.id) };
        Self { part, level, rule, about, name, message: clean::message(message), place: None }
    }

    fn named(mut self, name: &str) -> Self {
        self.name = clean::name(name);
        self
    }

    fn at(mut self, place: Option<Place>) -> Self {
        self.place = place;
        self
    }
}

/// How the run ended.
#[derive(Debug, Clone, Copy)]
pub(super) enum End<'a> {
    Decided(&'a Decision),
    Undecided(ExitCode),
}

/// A report before it has a format.
#[derive(Debug)]
pub(super) struct Model<'a> {
    pub(super) subject: &'a Subject<'a>,
    pub(super) end: End<'a>,
    pub(super) items: Vec<Item>,
}

impl<'a> Model<'a> {
    pub(super) fn new(subject: &'a Subject<'a>) -> Self {
        match subject {
            Subject::Decision { decision, .. } => {
                let mut items = vec![headline(decision)];
                items.extend(notes(decision));
                items.extend(decision.heard.iter().flat_map(|heard| verifier(subject, decision, heard)));
                items.extend(decision.refusals.iter().map(|refusal| refused(decision, refusal)));
                items.extend(silent_seats(decision));
                if accepts(decision) {
                    for item in &mut items {
                        item.level = item.level.in_accept();
                    }
                }
                Self { subject, end: End::Decided(decision), items }
            }
            Subject::NoDecision { code, message, exit_code } => {
                let item = Item::new(Part::Decision, Level::Error, rules::NO_DECISION, code, message);
                Self { subject, end: End::Undecided(*exit_code), items: vec![item.named("recommendation")] }
            }
        }
    }

    /// Whether the recommendation is accept_candidate: the only thing that may look like success.
    pub(super) fn accepts(&self) -> bool {
        matches!(self.end, End::Decided(decision) if accepts(decision))
    }

    /// The recommendation, or what stands for it.
    pub(super) fn word(&self) -> &'static str {
        match self.end {
            End::Decided(decision) => decision.recommendation.as_str(),
            End::Undecided(_) => rules::NO_DECISION.id,
        }
    }

    pub(super) fn exit_code(&self) -> ExitCode {
        match self.end {
            End::Decided(decision) => decision.recommendation.into(),
            End::Undecided(code) => code,
        }
    }

    /// The why, one clean fact a line.
    pub(super) fn why(&self) -> Vec<String> {
        match self.end {
            End::Decided(decision) => decision.why_text().lines().map(clean::line).collect(),
            End::Undecided(_) => {
                self.items.iter().map(|item| format!("no_decision: {}: {}", item.about, item.message)).collect()
            }
        }
    }

    /// What makes the item the same in the next run: the rule, the work unit, what and who it is about, and where; not
    /// the digests of this run. The occurrence tells apart what is otherwise the same.
    pub(super) fn fingerprints(&self) -> Vec<String> {
        let mut seen: BTreeMap<_, u64> = BTreeMap::new();
        let unit = match self.end {
            End::Decided(decision) => decision.work_unit.id.as_str(),
            End::Undecided(_) => "",
        };
        let prints = self.items.iter().map(|item| {
            let who = match &item.part {
                Part::Verifier(id) => id.as_str(),
                _ => "",
            };
            let file = item.place.as_ref().map_or("", |place| place.file.as_str());
            let parts = [item.rule.id, unit, &item.about, who, file];
            let digest = Digest::c1(&Value::Array(parts.iter().map(|part| Value::from(*part)).collect()));
            let occurrence = seen.entry(digest).or_default();
            *occurrence += 1;
            format!("{}:{occurrence}", digest.hex())
        });
        prints.collect()
    }
}

fn accepts(decision: &Decision) -> bool {
    decision.recommendation == Recommendation::AcceptCandidate
}

/// The recommendation itself: short of an accept it always fails.
fn headline(decision: &Decision) -> Item {
    let (rule, level) = match decision.recommendation {
        Recommendation::AcceptCandidate => (rules::ACCEPT, Level::Pass),
        Recommendation::RejectCandidate => (rules::REJECT, Level::Failure),
        Recommendation::Escalate => (rules::ESCALATE, Level::Error),
        Recommendation::InsufficientEvidence => (rules::INSUFFICIENT, Level::Error),
    };
    let why = decision.why_text();
    let word = decision.recommendation.as_str();
    let mut message = why.lines().find(|line| line.starts_with(word)).unwrap_or(word).to_owned();
    for missing in &decision.missing {
        message.push_str("; ");
        message.push_str(&missing.message);
    }
    Item::new(Part::Decision, level, rule, "", &message).named("recommendation")
}

/// What concerns the whole and changes nothing.
fn notes(decision: &Decision) -> Vec<Item> {
    let mut items = Vec::new();
    let mut note = |rule: Rule, about: &str, message: &str| {
        items.push(Item::new(Part::Decision, Level::Note, rule, about, message));
    };
    if decision.assurance == Assurance::Local {
        note(rules::LOCAL_ASSURANCE, "", "1 local verifier, not independent of this machine");
    }
    if decision.worker_identity == "unauthenticated" {
        let message = format!("the manifest is not signed; `{}` is only a name", clean::name(&decision.worker_id));
        note(rules::WORKER_UNAUTHENTICATED, "", &message);
    }
    if decision.relies_on_in_process() {
        note(rules::IN_PROCESS, "", rules::IN_PROCESS.meaning);
    }
    for id in &decision.unrequired_request {
        note(rules::UNREQUIRED_REQUEST, id, &format!("the worker also asked for `{}`; not counted", clean::name(id)));
    }
    for seat in &decision.reissued_seats {
        note(rules::REISSUED_SEAT, &seat.to_string(), &format!("seat {seat} needed more than one try"));
    }
    if decision.withdraws {
        let message = format!("revision {} withdraws an earlier accept_candidate", decision.revision);
        items.push(Item::new(Part::Decision, Level::Error, rules::WITHDRAWN, "", &message));
    }
    items
}

/// What one key that was heard counts as, and its checks.
fn verifier(subject: &Subject<'_>, decision: &Decision, heard: &Heard) -> Vec<Item> {
    let id = clean::name(&heard.id);
    let part = || Part::Verifier(id.clone());
    let rule = rules::standing(heard.standing);
    let level = match heard.standing {
        Standing::Voice => Level::Pass,
        Standing::Objector => Level::Failure,
        _ => Level::Error,
    };
    let verdicts: BTreeSet<&str> = heard.evidence.iter().map(|evidence| evidence.verdict.as_str()).collect();
    let mut message = format!("{id} {}", verdicts.into_iter().collect::<Vec<_>>().join(" and "));
    if !heard.because.is_empty() {
        message.push_str(&format!(", but {}", heard.because));
    }
    let mut items = vec![Item::new(part(), level, rule, &heard.id, &message).named(rule.id)];
    let refused: BTreeSet<Digest> = decision.refusals.iter().map(|refusal| refusal.envelope).collect();
    for evidence in &heard.evidence {
        let Some(shown) = subject.envelope(&evidence.envelope).and_then(shown) else { continue };
        // Several tries of one verifier keep their checks apart.
        let suffix = match heard.evidence.len() {
            1 => String::new(),
            _ => format!(" (seat {} try {} {})", evidence.seat, evidence.r#try, &evidence.envelope.hex()[..8]),
        };
        let counts = !refused.contains(&evidence.envelope)
            && !matches!(heard.standing, Standing::SharesWithWorker | Standing::RefusedSupport | Standing::Equivocates);
        let checks = shown.checks.iter().map(|check| check_item(part(), evidence, check, counts, &suffix));
        items.extend(checks);
        items.extend(findings(subject, &part(), &shown));
    }
    items
}

/// One check of one evidence. It passes only where it is proven: in evidence that nothing was refused of.
fn check_item(part: Part, evidence: &HeardEvidence, check: &ShownCheck, counts: bool, suffix: &str) -> Item {
    let summary = clean::message(&check.summary);
    let (level, rule, message) = match check.status.as_str() {
        _ if evidence.extra_checks.contains(&check.id) => {
            let message = format!("{}, not required and not counted: {summary}", clean::name(&check.status));
            (Level::Note, rules::EXTRA_CHECK, message)
        }
        "failed" => (Level::Failure, rules::CHECK_FAILED, summary),
        "passed" if counts => (Level::Pass, rules::CHECK_PASSED, summary),
        "passed" => (Level::Error, rules::CHECK_NOT_COUNTED, format!("not counted: {summary}")),
        "inconclusive" => (Level::Error, rules::CHECK_INCONCLUSIVE, format!("inconclusive: {summary}")),
        "skipped" => (Level::Error, rules::CHECK_SKIPPED, format!("skipped: {summary}")),
        _ => (Level::Error, rules::CHECK_ERROR, summary),
    };
    Item::new(part, level, rule, &check.id, &message).named(&format!("{}{suffix}", check.id))
}

/// What the checks of one evidence say about files of the candidate.
fn findings(subject: &Subject<'_>, part: &Part, shown: &Shown) -> Vec<Item> {
    let items = shown.findings.iter().filter_map(|finding| {
        let level = if finding.severity == "info" { Level::Note } else { Level::Failure };
        let path = finding.path.as_deref()?;
        let message = format!("{} ({}): {}", finding.category, finding.severity, finding.summary);
        let item = Item::new(part.clone(), level, rules::CANDIDATE_FINDING, path, &message);
        Some(item.at(subject.candidate_file(path).map(|file| Place { file, line: 1 })))
    });
    items.collect()
}

/// Evidence that was refused: its content is not shown, only why.
fn refused(decision: &Decision, refusal: &quorum_policies::Refusal) -> Item {
    let rule = rules::refusal(refusal.code);
    let place = if refusal.pointer.is_empty() { "/" } else { &refusal.pointer };
    let effect = match refusal.kind {
        RefusalKind::Authenticity => "no effect",
        RefusalKind::Weight => "cannot support",
    };
    let who = refusal.signer.map_or_else(String::new, |key| format!(" of {}", signer(decision, key)));
    let message = refusal.message.strip_prefix(&format!("{}: ", rule.id)).unwrap_or(&refusal.message);
    let message = format!("evidence {}{who} refused ({effect}) at {place}: {message}", refusal.envelope);
    Item::new(Part::Refusals, Level::Error, rule, "", &message).named(&format!(
        "{} {}",
        rule.id,
        &refusal.envelope.hex()[..16]
    ))
}

fn signer(decision: &Decision, key: KeyId) -> String {
    let heard = decision.heard.iter().find(|heard| heard.key_id == key);
    heard.map_or_else(|| format!("key {key}"), |heard| clean::name(&heard.id))
}

/// Seats of the panel from which nothing authentic came.
fn silent_seats(decision: &Decision) -> Vec<Item> {
    let silent = decision.tally.n.saturating_sub(decision.heard.len() as u64);
    let answered: BTreeSet<u64> =
        decision.heard.iter().flat_map(|heard| &heard.evidence).map(|evidence| evidence.seat).collect();
    let seats = decision.facts.facts.seats.keys().filter(|seat| !answered.contains(&u64::from(**seat)));
    let mut numbers = seats.map(ToString::to_string);
    let items = (1..=silent).map(|nth| {
        // Off the mesh every key has its own seat, and a silent one has no number.
        let about = numbers.next().unwrap_or_else(|| format!("{nth} of {silent} silent"));
        let message = format!(
            "seat {about}: no authentic evidence came; {} of {} answered",
            decision.heard.len(),
            decision.tally.n
        );
        Item::new(Part::Seats, Level::Error, rules::SEAT_SILENT, &about, &message)
    });
    items.collect()
}
