//! What a run did and what was enforced.

use std::time::Duration;

use crate::Isolation;

/// How a run ended. Says nothing about what it shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// The command exited with this status.
    Exited(i32),
    /// The command was ended by this signal, not by us.
    Signaled(i32),
    /// We ended it at its deadline.
    TimedOut,
    /// We ended it because it flooded a stream (see [`crate::limits::FLOOD_SLACK`]).
    OutputLimit,
}

/// One output stream.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Captured {
    /// The first bytes, up to the bound of the spec.
    pub bytes: Vec<u8>,
    /// There was more. A truncated stream must not be parsed as a result.
    pub truncated: bool,
}

/// One finished run. The whole tree of the command has been killed and reaped when this exists.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunReport {
    /// How it ended.
    pub end: End,
    /// Standard output.
    pub stdout: Captured,
    /// Standard error.
    pub stderr: Captured,
    /// From the start of the helper until everything was reaped.
    pub duration: Duration,
    /// The class that it really had.
    pub isolation: Isolation,
    /// Layers that were established, in order: `pidns`, `netns`, `mount-ro-recursive`, `seccomp`, ...
    pub enforced: Vec<String>,
}
