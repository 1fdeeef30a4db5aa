//! The shipped engine as a program of its own.

use std::process::ExitCode;

fn main() -> ExitCode {
    quorum_sandbox::init_main();
    let args: Vec<String> = std::env::args().skip(1).collect();
    let status = quorum_engine::json_rules::main(&args, &mut std::io::stdout(), &mut std::io::stderr());
    ExitCode::from(u8::try_from(status).unwrap_or(1))
}
