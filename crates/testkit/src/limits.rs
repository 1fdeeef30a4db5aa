//! All limits of this room, each with its reason.

use std::time::Duration;

/// How long a server or daemon may take until it answers; it takes 70 ms on a quiet machine.
pub const READY: Duration = Duration::from_secs(20);

/// Pause between two looks at something that is about to happen.
pub const POLL: Duration = Duration::from_millis(10);

/// How long a stopped process may take to end after SIGTERM before it is killed.
pub const GRACE: Duration = Duration::from_secs(10);

/// Starts on fresh ports, because a port found free may be taken by somebody else before the server binds it.
pub const PORT_ATTEMPTS: usize = 5;

/// How long before now a world's trust root and keys begin to hold: clocks of a virtual machine may jump a little.
pub const TRUST_BACKDATED: i64 = 3600;

/// How long they hold.
pub const TRUST_LIFETIME: i64 = 24 * 3600;
