//! Versions that several holders of root keys sign, each on a machine of their own, and what a version changes.

use std::path::Path;

use quorum_attest::{Lacking, TrustChange, TrustHistory, TrustProposal, TrustRoot, limits};
use quorum_gate::{ExitCode, follow_trust, newest_trust, replace_trust, write_atomically};
use quorum_schemas::Digest;
use serde_json::{Value, json};

use super::edit::{lock, lock_present, print_version, private_keys, say_version, write_new};
use super::{AcceptArgs, DiffArgs, SignArgs, VerifyArgs};
use crate::codes::CliCode;
use crate::error::CliError;
use crate::ui::Ui;
use crate::{input, keyfile};

pub(super) fn sign(args: &SignArgs, ui: &mut Ui) -> Result<ExitCode, CliError> {
    let _lock = lock_present(&args.proposal)?;
    let previous = args.trust.as_deref().map(|path| keyfile::trust(&newest_trust(path))).transpose()?;
    let mut proposal = read(&args.proposal, previous.as_ref())?;
    if let Some(content) = args.content.filter(|content| *content != proposal.content()) {
        let found = proposal.content();
        let message = format!("{} says {found}, --content {content}; nothing is signed", args.proposal.display());
        return Err(CliError::control(CliCode::ProposalDiffers, message));
    }
    for key in private_keys(&args.root_keys)? {
        proposal.sign(&key).map_err(|error| keyfile::refused(&args.proposal, &error))?;
    }
    match &args.output {
        Some(output) => write_new(output, &proposal.bytes())?,
        None => write_atomically(&args.proposal, &proposal.bytes())?,
    }
    show(&proposal, Some(args.output.as_deref().unwrap_or(&args.proposal)), ui)
}

pub(super) fn accept(args: &AcceptArgs, ui: &mut Ui) -> Result<ExitCode, CliError> {
    let file = newest_trust(&args.file);
    let _lock = lock(&file)?;
    let present = file.exists().then(|| keyfile::trust(&file)).transpose()?;
    let proposal = read(&args.proposal, present.as_ref())?;
    let next = proposal.finish().map_err(|error| keyfile::refused(&args.proposal, &error))?;
    // What daemons would refuse must not take the place of what they use.
    next.check_current(keyfile::now()?).map_err(|error| keyfile::refused(&args.proposal, &error))?;
    match &present {
        Some(present) => replace_trust(&file, present, &next)?,
        None => write_new(&file, next.bytes())?,
    }
    say_version(&next, &file, ui)
}

pub(super) fn verify(args: &VerifyArgs, ui: &mut Ui) -> Result<ExitCode, CliError> {
    let known = args.known.as_deref().map(keyfile::trust).transpose()?;
    let root = follow_trust(&args.file, &TrustHistory::new(args.pin, known), keyfile::now()?)?;
    if let Some(least) = args.min_version.filter(|least| root.version() < *least) {
        let message = format!("{} is version {}, asked is {least} or newer", args.file.display(), root.version());
        return Err(CliError::control(CliCode::TrustVersionTooOld, message));
    }
    print_version(&root, &newest_trust(&args.file), ui)?;
    Ok(ExitCode::Accept)
}

pub(super) fn diff(args: &DiffArgs, ui: &mut Ui) -> Result<ExitCode, CliError> {
    let before = keyfile::trust(&newest_trust(&args.before))?;
    let after = newest_trust(&args.after);
    // Versions that are further apart are compared as they are; the next one may still lack signatures.
    if let Ok(root) = TrustRoot::load(&bytes(&after)?)
        && before.version().checked_add(1) != Some(root.version())
    {
        let changes = before.changes_to(&root);
        let signers: Vec<String> = root.signers().map(|key_id| key_id.to_string()).collect();
        let complete = Lacking { own: 0, previous: 0 };
        return print(&document(root.version(), None, &changes, &signers, complete), &changes, &[], ui);
    }
    show(&read(&after, Some(&before))?, None, ui)
}

fn bytes(path: &Path) -> Result<Vec<u8>, CliError> {
    input::read(path, limits::TRUST_FILE.bytes as u64 + 1)
}

fn read(path: &Path, previous: Option<&TrustRoot>) -> Result<TrustProposal, CliError> {
    TrustProposal::read(&bytes(path)?, previous).map_err(|error| keyfile::refused(path, &error))
}

/// What a proposal changes, who signed it and who still has to.
pub(super) fn show(proposal: &TrustProposal, file: Option<&Path>, ui: &mut Ui) -> Result<ExitCode, CliError> {
    let lacking = proposal.lacking().map_err(|error| keyfile::refused_change(&error))?;
    let changes = proposal.changes();
    let signers: Vec<String> = proposal.signers().map(|key_id| key_id.to_string()).collect();
    let mut document = document(proposal.version(), Some(proposal.content()), &changes, &signers, lacking);
    if let Some(file) = file {
        document["file"] = file.display().to_string().into();
    }
    let mut lines = vec![format!("content     {}", proposal.content())];
    lines.extend(signers.iter().map(|key_id| format!("signed by   {key_id}")));
    lines.push(missing(lacking));
    print(&document, &changes, &lines, ui)?;
    if let Some(file) = file {
        ui.say(format!("wrote {}", file.display()));
    }
    Ok(ExitCode::Accept)
}

fn missing(lacking: Lacking) -> String {
    let Lacking { own, previous } = lacking;
    if lacking.is_nothing() {
        return "complete    every signature is there: `quorum trust accept`".to_owned();
    }
    format!("missing     {previous} of the previous version's root keys, {own} of this version's: `quorum trust sign`")
}

fn document(
    version: u64,
    content: Option<Digest>,
    changes: &[TrustChange],
    signers: &[String],
    lacking: Lacking,
) -> Value {
    let changes: Vec<Value> = changes
        .iter()
        .map(|change| {
            let mut entry = json!({"subject": change.subject, "member": change.member});
            for (name, value) in [("before", &change.before), ("after", &change.after)] {
                if let Some(value) = value {
                    entry[name] = value.as_str().into();
                }
            }
            entry
        })
        .collect();
    let mut document = json!({
        "version": version,
        "changes": changes,
        "signed_by": signers,
        "missing": {"previous": lacking.previous, "own": lacking.own},
    });
    if let Some(content) = content {
        document["content"] = content.to_string().into();
    }
    document
}

fn print(document: &Value, changes: &[TrustChange], lines: &[String], ui: &mut Ui) -> Result<ExitCode, CliError> {
    if ui.json() {
        ui.document(&document.clone().into())?;
        return Ok(ExitCode::Accept);
    }
    for change in changes {
        ui.line(change.to_string())?;
    }
    for line in lines {
        ui.line(line)?;
    }
    Ok(ExitCode::Accept)
}
