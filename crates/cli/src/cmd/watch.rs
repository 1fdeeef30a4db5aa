//! `quorum watch`.

use quorum_gate::ExitCode;
use quorum_schemas::Value;
use serde_json::json;

use super::submit::{BrokerOptions, block_on, broken};
use crate::codes::CliCode;
use crate::error::CliError;
use crate::narrate;
use crate::ui::Ui;

/// Arguments of `quorum watch`.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    broker: BrokerOptions,
    /// Which subjects; what the user's role may not read stays silent.
    #[arg(long, value_name = "SUBJECT", default_value = "idkmesh.v1.>")]
    subjects: String,
}

pub(crate) fn run(args: Args, ui: &mut Ui) -> Result<ExitCode, CliError> {
    block_on(async {
        let mesh = args.broker.connect().await?;
        let mut watch = mesh.watch(&args.subjects).await.map_err(broken)?;
        ui.say(format!("watching {} as {}; stop with Ctrl-C", args.subjects, mesh.user()));
        loop {
            let message = tokio::select! {
                message = watch.next() => message,
                // Stopping is how watching ends.
                _ = tokio::signal::ctrl_c() => return Ok(ExitCode::Interrupted),
            };
            let Some((subject, body)) = message else {
                return Err(CliError::infrastructure(
                    CliCode::ConnectionClosed,
                    "the broker closed the connection for good",
                ));
            };
            let Some(line) = narrate::line(&subject, &body) else { continue };
            if ui.json() {
                ui.document(&Value::from_serde(json!({"subject": subject, "line": line, "bytes": body.len()})))?;
            } else {
                ui.line(line)?;
            }
            ui.flush()?;
        }
    })
}
