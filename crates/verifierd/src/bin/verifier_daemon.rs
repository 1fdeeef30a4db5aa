//! The daemon as a program of its own, for tests of this room: `verifier --config FILE`, and the check child.

use std::path::Path;
use std::process::ExitCode;

use quorum_verifierd::{Config, VerifierdError, serve};

fn main() -> ExitCode {
    quorum_sandbox::init_main();
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let status = match args.as_slice() {
        [quorum_verifier::SUBCOMMAND] => {
            quorum_verifier::check_child_main(&mut std::io::stdin(), &mut std::io::stdout(), &mut std::io::stderr())
        }
        ["verifier", "--config", config] => {
            tracing_subscriber::fmt().with_writer(std::io::stderr).with_ansi(false).init();
            match daemon(Path::new(config)) {
                Ok(()) => 0,
                Err(error) => {
                    tracing::error!(code = error.code(), %error, "ended");
                    if error.is_control_file() { 2 } else { 5 }
                }
            }
        }
        _ => 2,
    };
    ExitCode::from(u8::try_from(status).unwrap_or(1))
}

fn daemon(config: &Path) -> Result<(), VerifierdError> {
    let program = std::env::current_exe().map_err(|error| VerifierdError::Runtime(error.to_string()))?;
    serve(&Config::load(config)?, &program)
}
