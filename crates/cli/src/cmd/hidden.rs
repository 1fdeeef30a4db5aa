//! Programs that this binary starts of itself. They have their own command lines, so the parser never sees them.

use std::ffi::OsString;
use std::io;

/// Runs the hidden program that the first argument names, and gives its exit status; `None` for everything else.
pub(crate) fn hidden(arguments: &[OsString]) -> Option<i32> {
    match arguments.first()?.to_str()? {
        quorum_verifier::SUBCOMMAND => {
            Some(quorum_verifier::check_child_main(&mut io::stdin(), &mut io::stdout(), &mut io::stderr()))
        }
        "engine-json-rules" => {
            let arguments: Vec<String> =
                arguments[1..].iter().map(|argument| argument.to_string_lossy().into_owned()).collect();
            Some(quorum_engine::json_rules::main(&arguments, &mut io::stdout(), &mut io::stderr()))
        }
        _ => None,
    }
}
