//! What is done on a second core: schemas that every run needs, and the half of a task.

use std::thread;

use quorum_schemas::{SchemaName, prepare};

/// What a run of the gate needs last, in the order of need. What it needs first, it makes ready itself meanwhile.
pub(crate) const RUN: &[SchemaName] = &[
    SchemaName::VerificationHandoff,
    SchemaName::QuorumPlan,
    SchemaName::VerificationResult,
    SchemaName::EvidencePredicate,
    SchemaName::TrustRoot,
    SchemaName::Decision,
];

/// What an audit needs, but for the trust root's and the work unit's: with these it begins itself.
pub(crate) const AUDIT: &[SchemaName] =
    &[SchemaName::Decision, SchemaName::EvidencePredicate, SchemaName::VerificationHandoff, SchemaName::Vsa];

/// Uses the time in which the run reads files and waits for its child, and the second core. Only time depends on this: a
/// run that comes to a schema first makes it itself, as it does where no thread can be started.
pub(crate) fn schemas(needed: &'static [SchemaName]) {
    let _ = thread::Builder::new().name("schemas".to_owned()).spawn(|| needed.iter().copied().for_each(prepare));
}

/// Both results, `aside` from another thread where one can be started.
pub(crate) fn beside<A: Send, B>(aside: &(dyn Fn() -> A + Sync), here: impl FnOnce() -> B) -> (A, B) {
    thread::scope(|scope| {
        let started = thread::Builder::new().spawn_scoped(scope, aside);
        let here = here();
        let aside = match started.map(thread::ScopedJoinHandle::join) {
            Ok(Ok(done)) => done,
            // It panicked, or there is no thread: here as there.
            Ok(Err(_)) | Err(_) => aside(),
        };
        (aside, here)
    })
}
