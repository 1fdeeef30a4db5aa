//! Tests of schemas, one binary.
#![allow(clippy::unwrap_used, clippy::print_stderr, missing_docs)]

mod canonical;
mod differential;
mod golden;
mod ours;
mod parsing;
mod schemas;
mod text;
