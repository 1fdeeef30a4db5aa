//! Integration tests of the policy engine.

mod cases;
