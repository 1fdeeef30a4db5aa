//! One command run under limits, with what was really enforced.
