//! What each refusal of evidence means and what to do about it.

use quorum_schemas::ErrorEntry;

use crate::RefusalCode;

impl RefusalCode {
    /// The entries of the error catalogue, in the order of [`RefusalCode::ALL`]. None of them ends a command: a refusal is
    /// listed in the decision.
    #[must_use]
    pub fn entries() -> Vec<ErrorEntry> {
        let entry = |code: &Self| {
            let (meaning, action) = code.words();
            ErrorEntry::new("policies", code.as_str(), meaning, action, &[])
        };
        Self::ALL.iter().map(entry).collect()
    }

    /// Meaning and action: what evidence must be for the code not to appear is its verifier's to bring about.
    fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::Malformed => (
                "Evidence: not an envelope in our own form, or no statement in it; it has no effect.",
                "Have it written by `quorum verify` or `quorum sign`, and carry it unchanged.",
            ),
            Self::SchemaInvalid => (
                "Evidence: statement, predicate or result do not follow their schema; it has no effect.",
                "Have the verifier use a version of quorum that writes this schema.",
            ),
            Self::WrongType => (
                "Evidence: the signed statement is no evidence; it has no effect.",
                "Give evidence.dsse.json to --evidence.",
            ),
            Self::WrongRole => (
                "Evidence: the key's role may not sign evidence; it has no effect.",
                "Sign evidence with a key of role verifier.",
            ),
            Self::UnknownSigner => (
                "Evidence: the trust root does not name the key; it has no effect.",
                "Have the verifier's key added with `quorum trust add`.",
            ),
            Self::BadSignature => (
                "Evidence: the signature does not verify; it has no effect.",
                "Get the original file again; if it is the original, do not trust it.",
            ),
            Self::KeyNotValidThen => (
                "Evidence: received outside the key's validity, or after it retired; it has no effect.",
                "Sign with a valid key.",
            ),
            Self::KeyRevoked => {
                ("Evidence: received after the key was revoked; it has no effect.", "Verify again with another key.")
            }
            Self::WrongHandoff => {
                ("Evidence: it is about another handoff; it has no effect.", "Give evidence about this handoff.")
            }
            Self::WrongCandidate => {
                ("Evidence: it is about another candidate; it has no effect.", "Give evidence about this candidate.")
            }
            Self::WrongWorkUnit => (
                "Evidence: the result binds another work unit; it has no effect.",
                "Verify with the work unit of this handoff.",
            ),
            Self::WrongManifest => (
                "Evidence: the result binds another manifest or attempt; it has no effect.",
                "Verify with the manifest of this handoff.",
            ),
            Self::Inconsistent => (
                "Evidence: the result contradicts itself or its signed frame; it has no effect.",
                "Have the verifier find out how it was made; verify again.",
            ),
            Self::IncompleteChecks => (
                "Evidence: a required check is missing; it has no effect.",
                "Verify with a plan that covers every required validator.",
            ),
            Self::Duplicate => ("Evidence: the same key said the same in other bytes; one of them counts.", "Nothing."),
            Self::ClockSkew => (
                "Evidence: a claimed time lies more than 120 s after its reception; it cannot support.",
                "Set the verifier's clock and verify again.",
            ),
            Self::TooOld => (
                "Evidence: it is older than the policy's max_age; it cannot support.",
                "Verify again, or raise max_age.",
            ),
            Self::IsolationTooWeak => (
                "Evidence: its isolation is weaker than the policy or the work unit asks; it cannot support.",
                "Verify where that isolation can be enforced.",
            ),
            Self::ChannelTooWeak => (
                "Evidence: a required check's result came over a weaker channel than the policy asks; it cannot support.",
                "Let the plan check by data or black box, or lower min_channel.",
            ),
            Self::StaleEpoch => (
                "Evidence: it is not for the seat, try and epoch that its key holds; it cannot support.",
                "Nothing: the seat is answered by its holder.",
            ),
            Self::NotIndependent => (
                "Evidence: the work unit wants independence and the result disclaims it; it cannot support.",
                "Have somebody verify who is independent of the worker.",
            ),
            Self::SelfVerification => {
                ("Evidence: the verifier is the worker; it cannot support.", "Have somebody else verify.")
            }
            Self::BundleMissing => (
                "Evidence: its bundle was not recomputed; it cannot support.",
                "Bring the bundle beside the evidence, or name its folder with --bundle.",
            ),
            Self::Equivocation => (
                "Evidence: one key said different things about one seat and try; it cannot support.",
                "Find out who uses the key; revoke it if it is not its owner.",
            ),
            Self::SignerSinceRevoked => (
                "Evidence: received after the time since which the key counts as compromised; it cannot support.",
                "Verify again with another key.",
            ),
        }
    }
}
