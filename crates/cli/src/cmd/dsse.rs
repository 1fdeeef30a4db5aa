//! `quorum dsse verify`: one envelope, checked by hand.

use std::path::{Path, PathBuf};

use quorum_attest::{AttestError, Envelope, ForeignEnvelope, PAYLOAD_TYPE, PublicKey, Role, Statement, authenticate};
use quorum_gate::ExitCode;
use quorum_schemas::{Digest, Timestamp, limits, one_line};
use serde_json::{Value as Json, json};

use crate::error::CliError;
use crate::ui::Ui;
use crate::{input, keyfile};

/// Arguments of `quorum dsse`.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(clap::Subcommand)]
enum Command {
    /// Check the signatures of a DSSE envelope; what it says is printed only if they hold.
    Verify(VerifyArgs),
}

/// Arguments of `quorum dsse verify`.
#[derive(clap::Args)]
#[command(group = clap::ArgGroup::new("keys").required(true).args(["trust", "public_key"]))]
struct VerifyArgs {
    /// The trust root: an envelope of the mesh, signed by one of its entries that may say this and was valid then.
    #[arg(long, value_name = "FILE")]
    trust: Option<PathBuf>,
    /// The signer must have this role: author, worker, coordinator, verifier or gate.
    #[arg(long, value_name = "ROLE", conflicts_with = "public_key")]
    role: Option<Role>,
    /// When it was received: the time at which key and trust root must have been valid [default: now].
    #[arg(long, value_name = "TIME", conflicts_with = "public_key")]
    at: Option<Timestamp>,
    /// A key, for any DSSE envelope with Ed25519 signatures: a PEM file, or the base64 of its SPKI; repeatable.
    #[arg(long, value_name = "KEY")]
    public_key: Vec<String>,
    /// So many different ones of these keys must have signed.
    #[arg(long, value_name = "N", conflicts_with = "trust", default_value_t = 1)]
    threshold: usize,
    /// Write the signed bytes to stdout, and the rest to stderr.
    #[arg(long)]
    payload: bool,
    /// The envelope; `-` reads stdin.
    file: PathBuf,
}

pub(crate) fn run(args: Args, ui: &mut Ui) -> Result<ExitCode, CliError> {
    let Command::Verify(args) = args.command;
    let bytes = input::read(&args.file, limits::ENVELOPE.bytes as u64 + 1)?;
    let found = match &args.trust {
        Some(trust) => by_trust(&args, trust, &bytes)?,
        None => by_keys(&args, &bytes)?,
    };
    match found {
        Ok(held) => tell(&held, args.payload, ui)?,
        Err(error) => return refuse(&error, Digest::of(&bytes), args.payload, ui),
    }
    Ok(ExitCode::Accept)
}

/// What an envelope says, and who said it.
struct Held {
    envelope: Digest,
    payload_type: String,
    predicate_type: Option<String>,
    payload: Vec<u8>,
    signers: Vec<Signer>,
}

struct Signer {
    key: PublicKey,
    entry: Option<(Role, String)>,
}

/// As the mesh takes it: our own form, one signature, an entry that may sign this.
fn by_trust(args: &VerifyArgs, trust: &Path, bytes: &[u8]) -> Result<Result<Held, AttestError>, CliError> {
    let root = keyfile::trust(trust)?;
    let at = args.at.map_or_else(keyfile::now, Ok)?;
    root.check_current(at).map_err(|error| keyfile::refused(trust, &error))?;
    let envelope = Envelope::parse(bytes).map_err(|error| {
        let why = format!("{}; --public-key reads envelopes in the forms of other tools", error.words());
        input::refused(&args.file, error.code(), &why)
    })?;
    let held = || {
        // The signature first: nothing of the payload is believed, nor told in an error, before.
        let key_id = envelope.key_id();
        let signer = root.by_key_id(&key_id).ok_or(AttestError::UnknownSigner { key_id })?;
        envelope.verify(&signer.public_key)?;
        if envelope.payload_type() != PAYLOAD_TYPE {
            let found = one_line(envelope.payload_type());
            return Err(AttestError::WrongType { expected: PAYLOAD_TYPE, found });
        }
        let predicate_type = Statement::parse(envelope.payload())?.predicate_type;
        if args.role.is_some_and(|role| role != signer.role) {
            return Err(AttestError::WrongRole { role: signer.role, id: signer.id.clone(), predicate_type });
        }
        let authentic = authenticate(&envelope, &root, predicate_type, at)?;
        Ok(Held {
            envelope: authentic.envelope(),
            payload_type: envelope.payload_type().to_owned(),
            predicate_type: Some(predicate_type.uri().to_owned()),
            payload: envelope.payload().to_vec(),
            signers: vec![Signer { key: signer.public_key, entry: Some((signer.role, signer.id.clone())) }],
        })
    };
    Ok(held())
}

/// As DSSE has it: any form, any payload, a threshold of the keys that were given.
fn by_keys(args: &VerifyArgs, bytes: &[u8]) -> Result<Result<Held, AttestError>, CliError> {
    let keys: Vec<PublicKey> = args.public_key.iter().map(|key| keyfile::public(key)).collect::<Result<_, _>>()?;
    let envelope = ForeignEnvelope::parse(bytes).map_err(|error| keyfile::refused(&args.file, &error))?;
    let verified = match envelope.verify(&keys, args.threshold) {
        Ok(verified) => verified,
        Err(error @ AttestError::NotEnoughSigners { .. }) => return Ok(Err(error)),
        Err(error) => return Err(keyfile::refused_change(&error)),
    };
    Ok(Ok(Held {
        envelope: verified.envelope(),
        payload_type: verified.payload_type().to_owned(),
        predicate_type: verified.statement().ok().map(|statement| statement.predicate_type),
        payload: verified.payload().to_vec(),
        signers: verified.signers().iter().map(|key| Signer { key: *key, entry: None }).collect(),
    }))
}

fn tell(held: &Held, payload: bool, ui: &mut Ui) -> Result<(), CliError> {
    if ui.json() {
        return ui.document(&held.to_json().into());
    }
    let mut lines = Vec::new();
    for Signer { key, entry } in &held.signers {
        let who = entry.as_ref().map(|(role, id)| format!("{role} `{id}`, ")).unwrap_or_default();
        lines.push(format!("signed by     {who}key {}", key.key_id()));
    }
    lines.push(format!("envelope      {}", held.envelope));
    lines.push(format!("payload type  {}", held.payload_type));
    lines.extend(held.predicate_type.as_ref().map(|uri| format!("predicate     {uri}")));
    lines.push(format!("payload       {}, {} bytes", Digest::of(&held.payload), held.payload.len()));
    for line in lines.iter().map(|line| one_line(line)) {
        if payload {
            ui.say(line);
        } else {
            ui.line(line)?;
        }
    }
    if payload { ui.bytes(&held.payload) } else { Ok(()) }
}

impl Held {
    fn to_json(&self) -> Json {
        let signers = self.signers.iter().map(|Signer { key, entry }| {
            let mut signer = json!({"key_id": key.key_id().to_string()});
            if let Some((role, id)) = entry {
                signer["role"] = role.as_str().into();
                signer["id"] = id.as_str().into();
            }
            signer
        });
        let mut value = json!({
            "holds": true,
            "envelope": self.envelope,
            "payload_type": self.payload_type,
            "payload_digest": Digest::of(&self.payload),
            "payload": std::str::from_utf8(&self.payload).ok(),
            "signers": signers.collect::<Vec<_>>(),
        });
        if let Some(uri) = &self.predicate_type {
            value["predicate_type"] = uri.as_str().into();
        }
        value
    }
}

/// With --payload stdout is for the payload alone, and there is none.
fn refuse(error: &AttestError, envelope: Digest, payload: bool, ui: &mut Ui) -> Result<ExitCode, CliError> {
    let line = one_line(&format!("does not hold: {error}"));
    if ui.json() {
        let message = one_line(&error.words());
        ui.document(&json!({"holds": false, "envelope": envelope, "code": error.code(), "message": message}).into())?;
    } else if payload {
        ui.say(line);
    } else {
        ui.line(line)?;
    }
    Ok(ExitCode::Reject)
}
