//! One request from its key to its result, in the order that a crash cannot break.

use std::collections::{BTreeMap, VecDeque};
use std::path::PathBuf;

use quorum_sandbox::RunReport;
use quorum_schemas::Timestamp;

use crate::execute::execute;
use crate::{
    Effect, Event, Host, Outcome, Ref, RefusalCode, Request, Retention, RunResult, Store, WorkbenchError, admit, fault,
    step,
};

/// Where things lie on this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The folder of each root. An observation covers all of them (W-022), whichever of them it runs in.
    pub roots: BTreeMap<Ref, PathBuf>,
    /// What no command may see: the store, keys.
    pub hidden: Vec<PathBuf>,
    /// Where a program without `/` is sought, in this order; absolute folders.
    pub search: Vec<PathBuf>,
}

/// What the caller knows about this moment.
#[derive(Debug, Clone, Copy)]
pub struct Now<'a> {
    /// The generation of the workspace that is current.
    pub generation: &'a Ref,
    /// Whether the question that the key belongs to is decided.
    pub decided: bool,
    /// How long results are kept.
    pub retention: Retention,
    /// The clock.
    pub clock: fn() -> Timestamp,
}

/// The answer to a request.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// The result.
    pub result: RunResult,
    /// It was there before, and nothing ran.
    pub replayed: bool,
    /// What the sandbox said of a run that came to an end just now: the changes of a mutation, the bounds and what kept
    /// them. The contract has no member for it, so that it is not kept and no replay has it.
    pub report: Option<Box<RunReport>>,
}

/// Runs an admitted request once, or gives the result that is kept under its key.
///
/// # Errors
/// A refusal before anything was written (the key is not used up), or a store that cannot be used. Everything after the
/// start marker is a result.
pub fn run(
    request: &Request,
    host: &Host,
    place: &Place,
    store: &Store,
    now: Now<'_>,
) -> Result<Answer, WorkbenchError> {
    let admitted = admit(request, host)?;
    let held = store.hold(request.key())?;
    let unknown = named(request, &admitted.request.encoded())?;
    let asked = Event::Asked {
        request: admitted.request,
        unknown: Box::new(unknown.clone()),
        current: now.generation.clone(),
        tainted: store.tainted(now.generation)?,
        decided: now.decided,
        now: (now.clock)(),
    };
    // The lock is ours, so that whoever wrote a marker without a result is gone.
    let mut events = VecDeque::from([Event::Reopened { now: (now.clock)() }, asked]);
    let (mut entry, mut answer, mut launched, mut report) = (held.load()?, None, false, None);
    while let Some(event) = events.pop_front() {
        let (next, effects) = step(entry, event, now.retention);
        entry = next;
        for effect in effects {
            match effect {
                Effect::Taint(generation) => store.taint(&generation)?,
                Effect::Keep => {
                    fault::point(if launched { "workbench_before_store" } else { "" });
                    held.keep(&entry)?;
                    fault::point(if launched { "workbench_after_store" } else { "workbench_after_marker" });
                }
                Effect::Launch => {
                    launched = true;
                    let (outcome, said) = execute(request, &admitted, place);
                    report = said;
                    let result = Box::new(RunResult { outcome, ..unknown.clone() });
                    events.push_back(Event::Ran { result, now: (now.clock)() });
                }
                Effect::Reply(result) => answer = Some(*result),
                Effect::Refuse(refusal) => return Err(refusal.into()),
            }
        }
    }
    let result = answer.expect("an asked key is answered or refused; tested on the state machine");
    Ok(Answer { result, replayed: !launched, report })
}

/// The result of this request as it stands if nothing more is heard of it.
fn named(request: &Request, digest: &str) -> Result<RunResult, WorkbenchError> {
    let profile = request.profile();
    Ok(RunResult {
        reference: Ref::new(&format!("process-run:{digest}"))?,
        address: request.address().clone(),
        profile: profile.reference().clone(),
        profile_digest: profile.digest(),
        generation: request.generation().clone(),
        outcome: Outcome::Unknown { mode: profile.effect(), code: RefusalCode::OperationInterrupted.into() },
    })
}
