//! The policy engine: decide(), policy files, the why.
