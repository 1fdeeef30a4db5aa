//! The `quorum` binary, each test with real processes.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on shall panic, also in its helpers")]

mod keys_trust;
