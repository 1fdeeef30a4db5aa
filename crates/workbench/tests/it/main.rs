//! Tests of the workbench, one binary.
#![allow(clippy::unwrap_used, clippy::print_stderr, missing_docs)]

mod agreement;
mod assess;
mod crash;
mod documents;
mod profile;
mod request;
mod result;
mod run;
mod state;
mod support;
