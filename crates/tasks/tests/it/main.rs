//! The state machine against its invariants: a table of single rules, and random worlds of two coordinators.

mod rules;
mod world;
