//! The shipped engine: checks a JSON document against a file of rules.

use std::io::Write;

/// Runs the engine with the arguments after its name; returns the exit status.
pub fn main(_args: &[String], _stdout: &mut dyn Write, _stderr: &mut dyn Write) -> i32 {
    todo!()
}
