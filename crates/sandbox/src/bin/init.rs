//! The sandbox helper as a program of its own, for callers whose `main` is not theirs to change.

fn main() -> std::process::ExitCode {
    quorum_sandbox::init_main();
    // Started by hand: there is nothing to do without a caller that holds the other end.
    std::process::ExitCode::from(2)
}
