//! The names in a decision's record (design section 9): the gate writes it, the mesh exports it, the audit reads it.

use quorum_schemas::Digest;

/// The decision's own file.
pub const SIGNED_DECISION: &str = "decision.dsse.json";
/// The decision's own file when nobody signed it.
pub const UNSIGNED_DECISION: &str = "decision.json";
/// The decision as a SLSA verification summary, signed by the key that signed the decision.
pub const SIGNED_VSA: &str = "vsa.dsse.json";
/// The verification summary beside a decision that nobody signed: the bare statement.
pub const UNSIGNED_VSA: &str = "vsa.json";
/// The work unit, without its extension: `.json` bare, `.dsse.json` signed.
pub const WORK_UNIT: &str = "work-unit";
/// The manifest, without its extension.
pub const RESULT_MANIFEST: &str = "result-manifest";
/// The derived handoff, off the mesh.
pub const HANDOFF: &str = "handoff.json";
/// The coordinator's envelope of the handoff.
pub const SIGNED_HANDOFF: &str = "handoff.dsse.json";
/// The policy.
pub const POLICY: &str = "policy.toml";
/// The trust root.
pub const TRUST: &str = "trust.json";
/// Everything that went in beside the documents.
pub const FACTS: &str = "facts.json";
/// A public plan.
pub const PLAN: &str = "plan.json";

/// The path of an evidence envelope.
#[must_use]
pub fn evidence(envelope: &Digest) -> String {
    format!("evidence/{}.dsse.json", envelope.hex())
}

/// The path of a bundle.
#[must_use]
pub fn bundle(bundle: &Digest) -> String {
    format!("bundles/bundle-{}.zip", bundle.hex())
}

/// The path of a document that may be signed or bare: `stem` is [`WORK_UNIT`] or [`RESULT_MANIFEST`].
#[must_use]
pub fn document(stem: &str, signed: bool) -> String {
    format!("{stem}.{}", if signed { "dsse.json" } else { "json" })
}

/// Whether a path is that of a signed document which a decision rests on, beside the evidence.
#[must_use]
pub fn is_signed_document(path: &str) -> bool {
    path == SIGNED_HANDOFF || [WORK_UNIT, RESULT_MANIFEST].iter().any(|stem| path == document(stem, true))
}
