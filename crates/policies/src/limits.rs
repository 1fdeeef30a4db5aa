//! All limits of this crate, each with its reason.

/// Largest policy file, in bytes. The shipped ones are under 2 KiB; a policy is read by people.
pub const POLICY_BYTES: usize = 64 * 1024;

/// Most seats of a panel and most supporters that voices are counted over: the independent set is found exactly on a
/// 32-bit mask (design section 5).
pub const PANEL: u32 = 32;

/// Most tries of one seat. A try costs a full check run; more than this is an outage, not bad luck.
pub const TRIES: u32 = 100;

/// Longest duration that a policy file may name, in seconds (ten years): beyond it a deadline is a typing mistake.
pub const DURATION_SECONDS: u64 = 10 * 366 * 24 * 3600;

/// Deepest nesting of groups. C2SP tlog-policy files in the wild use two levels.
pub const GROUP_DEPTH: usize = 8;

/// Most operators in one group tree; an operator without a seat cannot matter.
pub const GROUP_MEMBERS: usize = 256;

/// Largest numerator or denominator of a fraction, so that products stay far inside 64 bits.
pub const FRACTION_TERM: u64 = 1_000_000;

/// Largest count that a policy may ask for; counts beyond the panel can never be met.
pub const COUNT: u64 = 1_000_000;

/// A claimed time may be this far ahead of the receiver's clock, in seconds (design section 5, `clock_skew`).
pub const CLOCK_SKEW_SECONDS: i64 = 120;

/// Keys that must have timed out, within limits that their baseline meets, before a candidate is said to exhaust its
/// verifiers (design section 5, row 5): one may be a slow machine.
pub const EXHAUSTED_KEYS: usize = 2;

/// Longest message of one refusal, in characters: it quotes values that a stranger chose.
pub const MESSAGE_CHARS: usize = 300;

/// Largest file with cases of a policy, in bytes: a case is a few lines, and people write them.
pub const CASES_BYTES: usize = 1024 * 1024;

/// Most cases in one file: each makes keys and signatures, and a table of more is no table for people.
pub const CASES: usize = 1_000;

/// Most evidence in one case: twice the largest panel, so that duplicates and equivocations fit.
pub const CASE_EVIDENCE: usize = 64;

/// Most logs, witnesses and groups of a tlog-policy, each. The specification asks for at least 32.
pub const TLOG_ENTRIES: usize = 256;
