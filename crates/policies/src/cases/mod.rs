//! Tables of cases for a policy: who says what, and what has to come of it. The real [`crate::decide`] judges real
//! signed documents; only keys, ids and times are made up, the same ones every time.

mod documents;
mod file;
mod run;

pub use file::{CaseFile, CaseFormat};
pub use run::{CaseReport, Mismatch};
