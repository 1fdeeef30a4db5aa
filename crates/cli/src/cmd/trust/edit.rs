//! Writing versions of a trust root.

use std::fs::File;
use std::io;
use std::path::Path;

use quorum_attest::{AttestError, Entry, PublicKey, Revocation, SigningKey, TrustDraft, TrustRoot};
use quorum_gate::{ExitCode, newest_trust, replace_trust, write_atomically};
use quorum_policies::Axis;
use quorum_schemas::{Digest, Timestamp};
use serde_json::json;

use super::arguments::{Attribute, Point, policy_digest};
use super::proposal::show as show_proposal;
use super::{AddArgs, EditArgs, InitArgs, PolicyArgs, ReplaceKeyArgs, RetireArgs, RevokeArgs, RotateArgs};
use crate::codes::CliCode;
use crate::error::CliError;
use crate::keyfile;
use crate::ui::Ui;

pub(super) fn init(args: &InitArgs, ui: &mut Ui) -> Result<ExitCode, CliError> {
    let _lock = lock(&args.file)?;
    if args.file.exists() {
        let message = format!("{} exists; `quorum trust add` writes its next version", args.file.display());
        return Err(CliError::control(CliCode::TrustRootExists, message));
    }
    let now = keyfile::now()?;
    let signers = private_keys(&args.root_keys)?;
    let mut root_keys: Vec<PublicKey> = signers.iter().map(SigningKey::public).collect();
    for argument in &args.root_publics {
        root_keys.push(keyfile::public(argument)?);
    }
    let mut draft = TrustDraft::new(now, args.expires.resolve(now), args.threshold, root_keys);
    for policy in &args.policies {
        draft.admit_policy(policy_digest(policy)?).map_err(|error| keyfile::refused_change(&error))?;
    }
    if let Some(proposal) = &args.propose {
        return propose(&draft, &signers, proposal, ui);
    }
    let root = complete(&draft, &signers)?;
    write_new(&args.file, root.bytes())?;
    say_version(&root, &args.file, ui)
}

pub(super) fn add(args: &AddArgs, ui: &mut Ui) -> Result<ExitCode, CliError> {
    let policies = digests(&args.policies)?;
    let key = args.public_key.as_deref().map(keyfile::public).transpose()?;
    for attribute in &args.attributes {
        warn_unknown_axis(attribute, ui);
    }
    edit(&args.edit, ui, |draft, now, expires_at| {
        for policy in &policies {
            draft.admit_policy(*policy)?;
        }
        // clap demands all three or none.
        let (Some(role), Some(id), Some(key)) = (args.role, args.id.as_ref(), key) else { return Ok(()) };
        let valid_from = args.valid_from.map_or(now, |point| point.resolve(now));
        let valid_until = args.valid_until.map_or(expires_at, |point| point.resolve(now));
        let mut entry = Entry::new(role, id, key, valid_from, valid_until);
        for Attribute { axis, value } in &args.attributes {
            if entry.attributes.insert(axis.clone(), value.clone()).is_some() {
                let place = format!("{role} `{id}`");
                let reason = "it is given twice; one entry has one value on an axis";
                return Err(AttestError::AttributeInvalid { place, axis: axis.clone(), reason });
            }
        }
        draft.add(entry)
    })
}

pub(super) fn revoke(args: &RevokeArgs, ui: &mut Ui) -> Result<ExitCode, CliError> {
    edit(&args.edit, ui, |draft, now, _| {
        let at = args.entry.at.map_or(now, |point| point.resolve(now));
        let compromised_since = args.compromised_since.map(|point| point.resolve(now));
        draft.revoke((args.entry.role, &args.entry.id), args.entry.key_id, Revocation { at, compromised_since })
    })
}

pub(super) fn retire(args: &RetireArgs, ui: &mut Ui) -> Result<ExitCode, CliError> {
    edit(&args.edit, ui, |draft, now, _| {
        let at = good_order(args.entry.at, now);
        draft.retire((args.entry.role, &args.entry.id), args.entry.key_id, at)
    })
}

pub(super) fn admit_policies(args: &PolicyArgs, ui: &mut Ui) -> Result<ExitCode, CliError> {
    let policies = digests(&args.policies)?;
    edit(&args.edit, ui, |draft, _, _| policies.iter().try_for_each(|policy| draft.admit_policy(*policy)))
}

pub(super) fn withdraw_policies(args: &PolicyArgs, ui: &mut Ui) -> Result<ExitCode, CliError> {
    let policies = digests(&args.policies)?;
    let root = keyfile::trust(&newest_trust(&args.edit.file))?;
    if let Some(unknown) = policies.iter().find(|policy| !root.admits_policy(policy)) {
        let message = format!("{} does not admit {unknown}; nothing is withdrawn", args.edit.file.display());
        return Err(CliError::control(CliCode::PolicyNotAdmitted, message));
    }
    edit(&args.edit, ui, |draft, _, _| {
        for policy in &policies {
            draft.withdraw_policy(policy);
        }
        Ok(())
    })
}

pub(super) fn rotate(args: &RotateArgs, ui: &mut Ui) -> Result<ExitCode, CliError> {
    let new_roots = args.new_roots.iter().map(|key| keyfile::public(key)).collect::<Result<Vec<_>, _>>()?;
    edit(&args.edit, ui, |draft, _, _| draft.set_root_keys(args.threshold, new_roots))
}

pub(super) fn replace_key(args: &ReplaceKeyArgs, ui: &mut Ui) -> Result<ExitCode, CliError> {
    let key = keyfile::public(&args.public_key)?;
    edit(&args.edit, ui, |draft, now, expires_at| {
        let at = good_order(args.at, now);
        let until = args.valid_until.map_or(expires_at, |point| point.resolve(now));
        let since = args.compromised_since.map(|point| point.resolve(now));
        let revocation = since.map(|since| Revocation { at, compromised_since: Some(since) });
        draft.replace_key((args.role, &args.id), key, (at, until), revocation)
    })
}

/// When a key ends in good order. The clock is read in whole seconds, and what was received in the one that has begun was
/// received before: the end is its end.
fn good_order(at: Option<Point>, now: Timestamp) -> Timestamp {
    at.map_or(now.plus_seconds(1), |point| point.resolve(now))
}

/// Reads the present version, changes a draft of the next one, and puts it in its place. Whoever edits the same file at
/// the same time waits, so that no change is lost.
fn edit(
    args: &EditArgs,
    ui: &mut Ui,
    change: impl FnOnce(&mut TrustDraft, Timestamp, Timestamp) -> Result<(), AttestError>,
) -> Result<ExitCode, CliError> {
    let file = newest_trust(&args.file);
    let _lock = lock_present(&file)?;
    let present = keyfile::trust(&file)?;
    let signers = private_keys(&args.root_keys)?;
    let now = keyfile::now()?;
    let expires_at = match args.expires {
        Some(point) => point.resolve(now),
        None if now >= present.expires_at() => {
            let message = format!("{} expired at {}; give --expires", file.display(), present.expires_at());
            return Err(CliError::control(CliCode::TrustRootExpired, message));
        }
        None => present.expires_at(),
    };
    let mut draft = TrustDraft::from(&present);
    // A clock that went back must not make a version that was issued before the one it follows.
    draft.next_version(now.max(present.issued_at()), expires_at);
    change(&mut draft, now, expires_at).map_err(|error| keyfile::refused_change(&error))?;
    if let Some(proposal) = &args.propose {
        return propose(&draft, &signers, proposal, ui);
    }
    let next = complete(&draft, &signers)?;
    match &args.output {
        Some(output) => write_new(output, next.bytes())?,
        None => replace_trust(&file, &present, &next)?,
    }
    say_version(&next, args.output.as_deref().unwrap_or(&file), ui)
}

fn complete(draft: &TrustDraft, signers: &[SigningKey]) -> Result<TrustRoot, CliError> {
    let proposal = draft.propose(&signers.iter().collect::<Vec<_>>());
    proposal.and_then(|proposal| proposal.finish()).map_err(|error| match error {
        AttestError::ThresholdNotMet { .. } => {
            let why = format!("{}; nothing was written: with --propose FILE others can sign it there", error.words());
            CliError::control(error.code(), why)
        }
        error => keyfile::refused_change(&error),
    })
}

fn propose(draft: &TrustDraft, signers: &[SigningKey], file: &Path, ui: &mut Ui) -> Result<ExitCode, CliError> {
    let proposal = draft.propose(&signers.iter().collect::<Vec<_>>());
    let proposal = proposal.map_err(|error| keyfile::refused_change(&error))?;
    write_new(file, &proposal.bytes())?;
    show_proposal(&proposal, Some(file), ui)
}

/// Writes a file that must not be there.
pub(super) fn write_new(file: &Path, bytes: &[u8]) -> Result<(), CliError> {
    if file.symlink_metadata().is_ok() {
        let message = format!("{} exists and is not overwritten; name a new file", file.display());
        return Err(CliError::control(CliCode::TrustFileExists, message));
    }
    Ok(write_atomically(file, bytes)?)
}

/// Says which version was written where.
pub(super) fn say_version(root: &TrustRoot, file: &Path, ui: &mut Ui) -> Result<ExitCode, CliError> {
    print_version(root, file, ui)?;
    ui.say(format!("wrote {}", file.display()));
    Ok(ExitCode::Accept)
}

/// Version, digest and expiry on stdout.
pub(super) fn print_version(root: &TrustRoot, file: &Path, ui: &mut Ui) -> Result<(), CliError> {
    if ui.json() {
        let document = json!({
            "digest": root.digest(),
            "expires_at": root.expires_at(),
            "file": file.display().to_string(),
            "version": root.version(),
        });
        return ui.document(&document.into());
    }
    ui.line(format!("version     {}", root.version()))?;
    ui.line(format!("digest      {}", root.digest()))?;
    ui.line(format!("expires at  {}", root.expires_at()))
}

pub(super) fn private_keys(paths: &[std::path::PathBuf]) -> Result<Vec<SigningKey>, CliError> {
    paths.iter().map(|path| keyfile::private(path)).collect()
}

fn digests(policies: &[String]) -> Result<Vec<Digest>, CliError> {
    policies.iter().map(|policy| policy_digest(policy)).collect()
}

/// An axis that no policy can name is no error, but most often a slip: independence would be judged without it.
fn warn_unknown_axis(attribute: &Attribute, ui: &mut Ui) {
    let known: Vec<&str> = Axis::ALL.iter().map(|axis| axis.as_str()).collect();
    if !known.contains(&attribute.axis.as_str()) {
        ui.say(format!("note: no policy can name the axis `{}`; the axes are {}", attribute.axis, known.join(", ")));
    }
}

/// As [`lock`], of a file that must be there.
pub(super) fn lock_present(file: &Path) -> Result<File, CliError> {
    std::fs::metadata(file).map_err(|source| CliError::Read { path: file.to_owned(), source })?;
    lock(file)
}

/// The lock is on the folder: the file itself is replaced. It ends with the process at the latest.
pub(super) fn lock(file: &Path) -> Result<File, CliError> {
    let open = || -> io::Result<File> {
        let absolute = std::path::absolute(file)?;
        let folder = File::open(absolute.parent().unwrap_or(Path::new("/")))?;
        folder.lock()?;
        Ok(folder)
    };
    open().map_err(|source| CliError::Write { path: file.to_owned(), source })
}
