//! The check child as a program of its own, for callers whose `main` is not theirs to change. It also holds the shipped
//! engine, as `quorum` does.

use std::process::ExitCode;

fn main() -> ExitCode {
    quorum_sandbox::init_main();
    let args: Vec<String> = std::env::args().skip(1).collect();
    let (mut input, mut output, mut errors) = (std::io::stdin(), std::io::stdout(), std::io::stderr());
    let status = match args.first().map(String::as_str) {
        Some(quorum_verifier::SUBCOMMAND) => quorum_verifier::check_child_main(&mut input, &mut output, &mut errors),
        Some("engine-json-rules") => quorum_engine::json_rules::main(&args[1..], &mut output, &mut errors),
        _ => 2,
    };
    ExitCode::from(u8::try_from(status).unwrap_or(1))
}
