//! Real commands in the real sandbox, and real attempts to get out of it, as the caller and as an ordinary user.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "helpers of tests fail and speak like tests")]
#![allow(unsafe_code, reason = "attackers make system calls that no crate wraps")]

mod attacks;
mod basics;
mod bounds;
mod documents;
mod escapes;
mod mutations;
mod observations;
mod pairs;
mod support;
mod trees;
