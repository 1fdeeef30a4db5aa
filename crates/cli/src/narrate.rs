//! One line for people about each message of the mesh: what `watch` prints and the demo tells.

use quorum_attest::{Envelope, Statement};
use quorum_mesh::{AuditRecord, Place};
use quorum_schemas::Value;

/// The line, or nothing for what would only repeat another line (chunks of blobs).
pub(crate) fn line(subject: &str, body: &[u8]) -> Option<String> {
    let place = Place::parse(subject).ok()?;
    let text = match &place {
        Place::Work { work, version } => format!("work unit  {work} version {version}"),
        Place::Result { worker, work, attempt, .. } => format!("result     {worker} answers {work}, attempt {attempt}"),
        Place::Handoff { handoff } => format!("handoff    {}", short(&handoff.hex())),
        Place::Offer { verifier, handoff, seat, try_no } => {
            format!("offer      {} seat {seat} try {try_no} to {verifier}", short(&handoff.hex()))
        }
        Place::Evidence { verifier, handoff, seat, try_no } => {
            let says = said(body, &["result", "status"]);
            format!("evidence   {} seat {seat} try {try_no} of {verifier}: {says}", short(&handoff.hex()))
        }
        Place::Decision { handoff, revision } => {
            let says = said(body, &["recommendation"]);
            format!("decision   {} revision {revision}: {says}", short(&handoff.hex()))
        }
        Place::Audit { .. } => audit(body),
        Place::Blob { chunk, .. } if *chunk > 0 => return None,
        Place::Blob { role, publisher, sha256, .. } => {
            format!("blob       {} of {} {publisher}", short(&sha256.hex()), role.as_str())
        }
    };
    Some(text)
}

/// The first digits of a digest: enough to tell a demo's handoffs apart.
pub(crate) fn short(hex: &str) -> &str {
    hex.get(..12).unwrap_or(hex)
}

fn audit(body: &[u8]) -> String {
    let Ok(record) = AuditRecord::parse(body) else { return "audit      an unreadable record".into() };
    let handoff = record.handoff.map_or_else(String::new, |id| format!("{} ", short(&id.hex())));
    format!("{:<10} {handoff}{} at {} by {}", record.kind, record.code, record.place, record.publisher)
}

/// A word of what a signed statement claims; nothing is verified here, this is talk.
fn said(body: &[u8], path: &[&str]) -> String {
    let statement = Envelope::parse(body).and_then(|envelope| Statement::parse(envelope.payload()));
    let word = statement.ok().and_then(|it| it.predicate.at(path).and_then(Value::as_str).map(str::to_owned));
    word.unwrap_or_else(|| "unreadable".into())
}
