//! What is kept under one idempotency key, as a pure state machine.
//!
//! An entry is what lies on the disk; the effects are in the order in which the caller has to carry them out, each made
//! durable before the next.

use std::time::Duration;

use quorum_schemas::Timestamp;

use crate::{ContentDigest, Outcome, Ref, Refusal, RefusalCode, RunResult, WorkbenchError};

/// How long results are kept: longer than anybody may still ask (W-065).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retention(Duration);

impl Retention {
    /// `keep` must be longer than the longest lease and the time within which a message may come again, together.
    ///
    /// # Errors
    /// [`WorkbenchError::RetentionTooShort`].
    pub fn new(keep: Duration, lease: Duration, redelivery: Duration) -> Result<Self, WorkbenchError> {
        let horizon = lease.saturating_add(redelivery);
        if keep <= horizon {
            return Err(WorkbenchError::RetentionTooShort { keep_s: keep.as_secs(), horizon_s: horizon.as_secs() });
        }
        Ok(Self(keep))
    }
}

/// What is kept under one key.
#[derive(Debug, Clone, PartialEq)]
pub enum Entry {
    /// Nothing.
    Free,
    /// A run was started and its result is not kept yet. `unknown` is the result if it never will be.
    Started {
        /// What the key is bound to.
        request: ContentDigest,
        /// The result of an interruption.
        unknown: Box<RunResult>,
    },
    /// A run has this result.
    Done {
        /// What the key is bound to.
        request: ContentDigest,
        /// The result.
        result: Box<RunResult>,
        /// When it was kept.
        at: Timestamp,
    },
}

/// What happens to a key.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// An admitted request asks for its result.
    Asked {
        /// What the key is bound to.
        request: ContentDigest,
        /// The result if the run is interrupted: `unknown`, `operation-interrupted`, under the request's generation.
        unknown: Box<RunResult>,
        /// The generation that is current.
        current: Ref,
        /// That generation may have been changed by an observation.
        tainted: bool,
        /// The question that the key belongs to is decided.
        decided: bool,
        /// The time.
        now: Timestamp,
    },
    /// The store was opened by a process that did not start this run; whoever did is gone (W-064).
    Reopened {
        /// The time.
        now: Timestamp,
    },
    /// The run that this process started has a result.
    Ran {
        /// The result.
        result: Box<RunResult>,
        /// The time.
        now: Timestamp,
    },
}

/// What the caller has to do, in order.
#[derive(Debug, Clone, PartialEq)]
pub enum Effect {
    /// Make the new entry durable: the start marker, the result, or nothing.
    Keep,
    /// Say of a generation that an observation may have changed it; durable, and first.
    Taint(Ref),
    /// Start the command, after the marker is durable.
    Launch,
    /// Answer with this result; nothing runs.
    Reply(Box<RunResult>),
    /// Answer with a refusal; nothing runs and nothing is kept.
    Refuse(Refusal),
}

/// The next entry and what has to be done for it.
#[must_use]
pub fn step(entry: Entry, event: Event, retention: Retention) -> (Entry, Vec<Effect>) {
    match event {
        Event::Asked { request, unknown, current, tainted, decided, now } => {
            let entry = match entry {
                Entry::Done { at, .. } if expired(at, now, retention) => Entry::Free,
                other => other,
            };
            asked(entry, request, unknown, &current, [tainted, decided])
        }
        Event::Reopened { now } => match entry {
            Entry::Started { request, unknown } => finish(request, unknown, now),
            Entry::Done { at, .. } if expired(at, now, retention) => (Entry::Free, vec![Effect::Keep]),
            other => (other, Vec::new()),
        },
        Event::Ran { result, now } => match entry {
            Entry::Started { request, .. } => finish(request, result, now),
            // A result without a marker of ours is nobody's: what is kept stays.
            other => (other, Vec::new()),
        },
    }
}

fn asked(
    entry: Entry,
    request: ContentDigest,
    unknown: Box<RunResult>,
    current: &Ref,
    [tainted, decided]: [bool; 2],
) -> (Entry, Vec<Effect>) {
    let refuse = |entry, code, why: String| (entry, vec![Effect::Refuse(Refusal::new(code, why))]);
    match entry {
        Entry::Done { request: bound, .. } | Entry::Started { request: bound, .. } if bound != request => {
            let why = format!("the key is bound to {bound}, the request is {request}");
            refuse(entry, RefusalCode::IdempotencyKeyConflict, why)
        }
        // A replay needs no current generation: it runs nothing (W-060, W-063).
        Entry::Done { ref result, .. } => {
            let reply = Effect::Reply(result.clone());
            (entry, vec![reply])
        }
        Entry::Started { .. } => {
            refuse(entry, RefusalCode::OperationInProgress, "a run of this key has no result yet".to_owned())
        }
        Entry::Free if decided => {
            refuse(Entry::Free, RefusalCode::IdempotencyKeyRetired, "the question is decided".to_owned())
        }
        Entry::Free if unknown.generation != *current => {
            let why = format!("the request names {}, current is {current}", unknown.generation);
            refuse(Entry::Free, RefusalCode::WorkbenchRestartRequiredRelink, why)
        }
        Entry::Free if tainted => {
            refuse(Entry::Free, RefusalCode::EnvironmentTainted, format!("{current} may have been changed"))
        }
        Entry::Free => (Entry::Started { request, unknown }, vec![Effect::Keep, Effect::Launch]),
    }
}

fn finish(request: ContentDigest, result: Box<RunResult>, now: Timestamp) -> (Entry, Vec<Effect>) {
    let mut effects = Vec::new();
    if result.outcome.taints() {
        effects.push(Effect::Taint(result.generation.clone()));
    }
    effects.extend([Effect::Keep, Effect::Reply(result.clone())]);
    (Entry::Done { request, result, at: now }, effects)
}

fn expired(at: Timestamp, now: Timestamp, retention: Retention) -> bool {
    // A clock that went back never makes a result vanish.
    now.micros().saturating_sub(at.micros()) > i64::try_from(retention.0.as_micros()).unwrap_or(i64::MAX)
}

/// The result of a run that is interrupted before it has one.
impl RunResult {
    /// The same run with the outcome `unknown`, `operation-interrupted` (W-040, W-064).
    #[must_use]
    pub fn interrupted(self) -> Self {
        let mode = self.outcome.mode();
        Self { outcome: Outcome::Unknown { mode, code: RefusalCode::OperationInterrupted.into() }, ..self }
    }
}
