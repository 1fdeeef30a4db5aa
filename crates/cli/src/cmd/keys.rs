//! `quorum keys`.

use std::path::{Path, PathBuf};

use quorum_attest::{PublicKey, SigningKey};
use quorum_gate::ExitCode;
use serde_json::json;

use crate::error::CliError;
use crate::keyfile;
use crate::ui::Ui;

/// Arguments of `quorum keys`.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(clap::Subcommand)]
enum Command {
    /// Make a private key: PKCS#8 PEM, readable by you alone. An existing file is never overwritten.
    New {
        /// The file to write.
        file: PathBuf,
        /// Make a coordinator's seat secret (32 random bytes) instead of a key.
        #[arg(long)]
        seat_secret: bool,
    },
    /// Print the key id and the public key of a key file.
    Show {
        /// A private or a public key as PEM; `-` reads stdin.
        file: PathBuf,
        /// Print the public key as PEM, to hand it to whoever keeps the trust root.
        #[arg(long)]
        pem: bool,
    },
}

pub(crate) fn run(args: Args, ui: &mut Ui) -> Result<ExitCode, CliError> {
    match args.command {
        Command::New { file, seat_secret: true } => {
            keyfile::create(&file, &*quorum_gate::random()?)?;
            if ui.json() {
                ui.document(&json!({"file": file.display().to_string(), "bytes": 32}).into())?;
            }
            ui.say(format!("wrote {}; copy it to every replica of the coordinator", file.display()));
        }
        Command::New { file, seat_secret: false } => {
            let key = SigningKey::from_seed(&*quorum_gate::random()?);
            keyfile::create(&file, key.to_pkcs8_pem().as_bytes())?;
            print(&key.public(), Some(&file), ui)?;
        }
        Command::Show { file, pem } => {
            let key = keyfile::public(&file.to_string_lossy())?;
            if pem && ui.json() {
                ui.document(&json!({"pem": key.spki_pem()}).into())?;
            } else if pem {
                ui.bytes(key.spki_pem().as_bytes())?;
            } else {
                print(&key, None, ui)?;
            }
        }
    }
    Ok(ExitCode::Accept)
}

fn print(key: &PublicKey, file: Option<&Path>, ui: &mut Ui) -> Result<(), CliError> {
    if ui.json() {
        let mut document = json!({"key_id": key.key_id().to_string(), "public_key": key.spki_base64()});
        if let Some(file) = file {
            document["file"] = file.display().to_string().into();
        }
        return ui.document(&document.into());
    }
    ui.line(format!("key id      {}", key.key_id()))?;
    ui.line(format!("public key  {}", key.spki_base64()))
}
