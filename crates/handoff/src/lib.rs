//! Documents of the handoff: derivation and binding rules.
