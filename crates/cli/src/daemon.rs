//! What the daemons share: their log, their end, their `--check-config`.

use std::io::IsTerminal as _;

use tokio::signal::unix::{SignalKind, signal};
use tracing_subscriber::EnvFilter;

use crate::codes::CliCode;
use crate::error::CliError;

/// The variable that sets what is logged, for example `quorum_mesh=debug,info`.
const LEVELS: &str = "QUORUM_LOG";

/// Logs to stderr: lines for people on a terminal, JSON otherwise.
///
/// # Errors
/// `log_filter_invalid` for a `QUORUM_LOG` that cannot be read.
pub(crate) fn start_log() -> Result<(), CliError> {
    let wanted = std::env::var(LEVELS).unwrap_or_else(|_| "info".to_owned());
    let filter = EnvFilter::try_new(&wanted)
        .map_err(|error| CliError::control(CliCode::LogFilterInvalid, format!("{LEVELS}=`{wanted}`: {error}")))?;
    let log = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr);
    // A second start in one process keeps the first log: nothing is lost by that.
    let _ = if std::io::stderr().is_terminal() { log.try_init() } else { log.json().try_init() };
    Ok(())
}

/// Ready at the first SIGTERM or SIGINT.
///
/// # Errors
/// `signals_unavailable`.
pub(crate) fn shutdown() -> Result<impl Future<Output = ()>, CliError> {
    let unavailable =
        |error| CliError::infrastructure(CliCode::SignalsUnavailable, format!("cannot wait for signals: {error}"));
    let mut terminate = signal(SignalKind::terminate()).map_err(unavailable)?;
    let mut interrupt = signal(SignalKind::interrupt()).map_err(unavailable)?;
    Ok(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
    })
}
