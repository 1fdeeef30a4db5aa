//! End-to-end tests: the built binary, real daemons, a real nats-server. They live apart because they are slow, and in
//! one program because linking it is.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test that cannot go on says where, and prints its numbers"
)]

mod bench;
mod chaos;
mod crash;
mod demo;
mod foreign;
mod guide;
mod json_output;
mod messages;
mod security;
mod trust;
mod watch;
mod withdrawal;
