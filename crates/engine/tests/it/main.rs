//! The table, the recorded runs of real engines, and real runs of fake ones.

mod arguments;
mod hashes;
mod replay;
mod rules;
mod runs;
mod support;
mod table;
