//! Printing a trust root.

use std::path::Path;

use quorum_attest::{Entry, TrustRoot};
use quorum_gate::ExitCode;
use quorum_schemas::Timestamp;
use serde_json::{Value, json};

use crate::error::CliError;
use crate::keyfile;
use crate::ui::Ui;

pub(super) fn run(file: &Path, ui: &mut Ui) -> Result<ExitCode, CliError> {
    let root = keyfile::trust(file)?;
    let now = keyfile::now()?;
    if ui.json() {
        ui.document(&document(&root, now).into())?;
        return Ok(ExitCode::Accept);
    }
    for line in text(&root, now) {
        ui.line(line)?;
    }
    Ok(ExitCode::Accept)
}

fn document(root: &TrustRoot, now: Timestamp) -> Value {
    let root_keys: Vec<Value> = root
        .root_keys()
        .iter()
        .map(|key| json!({"key_id": key.key_id().to_string(), "public_key": key.spki_base64()}))
        .collect();
    let entries: Vec<Value> = root.entries().iter().map(|entry| entry_document(entry, now)).collect();
    json!({
        "version": root.version(),
        "digest": root.digest(),
        "issued_at": root.issued_at(),
        "expires_at": root.expires_at(),
        "state": root_state(root, now),
        "threshold": root.threshold(),
        "root_keys": root_keys,
        "signed_by": root.signers().map(|key_id| key_id.to_string()).collect::<Vec<_>>(),
        "entries": entries,
        "policies": root.policies(),
    })
}

fn entry_document(entry: &Entry, now: Timestamp) -> Value {
    let mut document = json!({
        "role": entry.role.as_str(),
        "id": entry.id,
        "key_id": entry.public_key.key_id().to_string(),
        "public_key": entry.public_key.spki_base64(),
        "valid_from": entry.valid_from,
        "valid_until": entry.valid_until,
        "attributes": entry.attributes,
        "state": state(entry, now).0,
    });
    let optional = [
        ("retired_at", entry.retired_at),
        ("compromised_since", entry.compromised_since),
        ("revoked_at", entry.revoked_at),
    ];
    for (name, time) in optional {
        if let Some(time) = time {
            document[name] = json!(time);
        }
    }
    document
}

fn text(root: &TrustRoot, now: Timestamp) -> Vec<String> {
    let mut lines = vec![
        format!("version     {} ({})", root.version(), root_state(root, now)),
        format!("digest      {}", root.digest()),
        format!("issued at   {}", root.issued_at()),
        format!("expires at  {}", root.expires_at()),
        format!("root keys   {} of {} must sign", root.threshold(), root.root_keys().len()),
    ];
    let signers: Vec<_> = root.signers().collect();
    for key in root.root_keys() {
        let signed = if signers.contains(&key.key_id()) { "signed" } else { "did not sign" };
        lines.push(format!("  {}  {signed}", key.key_id()));
    }
    lines.push(format!("entries     {}", root.entries().len()));
    let width = root.entries().iter().map(|entry| entry.id.chars().count()).max().unwrap_or_default();
    for entry in root.entries() {
        let (state, since) = state(entry, now);
        let since = since.map(|time| format!(" {time}")).unwrap_or_default();
        lines.push(format!("  {:<11}  {:<width$}  {state}{since}", entry.role.as_str(), entry.id));
        lines.push(format!("    key id      {}", entry.public_key.key_id()));
        lines.push(format!("    valid       {} to {}", entry.valid_from, entry.valid_until));
        if let Some(since) = entry.compromised_since {
            lines.push(format!("    compromised since {since}"));
        }
        for (axis, value) in &entry.attributes {
            lines.push(format!("    {axis} = {value}"));
        }
    }
    lines.push(format!("policies    {}", root.policies().len()));
    lines.extend(root.policies().iter().map(|digest| format!("  {digest}")));
    lines
}

fn root_state(root: &TrustRoot, now: Timestamp) -> &'static str {
    root.check_current(now).map_or_else(|error| error.code(), |()| "current")
}

/// The first that holds, and since or until when.
fn state(entry: &Entry, now: Timestamp) -> (&'static str, Option<Timestamp>) {
    if let Some(at) = entry.revoked_at {
        return (if now < at { "to be revoked" } else { "revoked" }, Some(at));
    }
    if let Some(at) = entry.retired_at {
        return (if now < at { "to be retired" } else { "retired" }, Some(at));
    }
    if now < entry.valid_from {
        return ("not yet valid until", Some(entry.valid_from));
    }
    if now >= entry.valid_until {
        return ("expired", Some(entry.valid_until));
    }
    ("valid", None)
}
