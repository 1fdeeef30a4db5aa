//! Tests of schemas, one binary.
#![allow(clippy::unwrap_used, clippy::print_stderr, missing_docs)]

mod agreement;
mod canonical;
mod differential;
mod document;
mod golden;
mod golden_files;
mod jcs;
mod ours;
mod parsing;
mod random;
mod schemas;
mod text;
