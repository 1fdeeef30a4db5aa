//! The numbered rules of upstream as types, so that every refusal can be traced to its sentence.

use std::fmt;

use quorum_schemas::ErrorEntry;

macro_rules! numbered {
    ($(#[$doc:meta])* $name:ident, $action:literal { $($variant:ident = $text:literal, $summary:literal;)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name { $(#[doc = $summary] $variant,)* }

        impl $name {
            /// Every rule, in order.
            pub const ALL: &'static [$name] = &[$($name::$variant,)*];

            /// The stable code.
            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text,)* }
            }

            /// The entries of the error catalogue: the rule is the meaning.
            #[must_use]
            pub fn entries() -> Vec<ErrorEntry> {
                let entry = |rule: &Self| ErrorEntry::new("handoff", rule.as_str(), rule.summary(), $action, &[]);
                Self::ALL.iter().map(entry).collect()
            }

            /// What the rule says, in one line.
            #[must_use]
            pub fn summary(self) -> &'static str {
                match self { $(Self::$variant => $summary,)* }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.as_str())
            }
        }
    };
}

numbered! {
    /// The 47 refusals of the derivation, in the order in which they are evaluated.
    DerivationRule, "Correct the place that the message names; if it is the manifest's, make that anew with `quorum manifest`." {
        H1 = "idk_h01", "The work unit is a JSON object.";
        H2 = "idk_h02", "The manifest is a JSON object.";
        H3 = "idk_h03", "The manifest claims no authority at its top level.";
        H4 = "idk_h04", "The work unit's id is a non-empty string.";
        H5 = "idk_h05", "The work unit's version is an integer of at least 1.";
        H6 = "idk_h06", "The manifest names this work unit's id.";
        H7 = "idk_h07", "The manifest names this work unit's version.";
        H8 = "idk_h08", "The manifest's provenance is an object.";
        H9 = "idk_h09", "The declared work unit digest is a lower-case sha256 digest.";
        H10 = "idk_h10", "The declared work unit digest is that of the exact work unit content.";
        H11 = "idk_h11", "The manifest's source revision is not blank.";
        H12 = "idk_h12", "The work unit's provenance is an object.";
        H13 = "idk_h13", "The work unit's source revision, if present, is not blank.";
        H14 = "idk_h14", "Both source revisions are equal where the work unit declares one.";
        H15 = "idk_h15", "The verification request is an object.";
        H16 = "idk_h16", "The expected validator ids are an array.";
        H17 = "idk_h17", "Every expected validator id is a non-empty string.";
        H18 = "idk_h18", "No expected validator id appears twice.";
        H19 = "idk_h19", "The work unit's validators are an array.";
        H20 = "idk_h20", "Every validator is an object.";
        H21 = "idk_h21", "Every validator id is a non-empty string.";
        H22 = "idk_h22", "No validator id appears twice in the work unit.";
        H23 = "idk_h23", "Every validator says whether it is required as a boolean.";
        H24 = "idk_h24", "The work unit requires at least one validator.";
        H25 = "idk_h25", "The request omits no required validator.";
        H26 = "idk_h26", "The evidence artifact ids are an array of distinct non-empty strings.";
        H27 = "idk_h27", "The candidate is named where the request has no single evidence artifact.";
        H28 = "idk_h28", "The candidate artifact id is not blank.";
        H29 = "idk_h29", "The candidate is one of the requested evidence artifacts.";
        H30 = "idk_h30", "The produced artifacts are an array.";
        H31 = "idk_h31", "The candidate id matches exactly one produced artifact.";
        H32 = "idk_h32", "The candidate's digest is a lower-case sha256 digest.";
        H33 = "idk_h33", "The verification policy is an object.";
        H34 = "idk_h34", "The verification strategy is a non-empty string.";
        H35 = "idk_h35", "The verification strategy is a known one.";
        H36 = "idk_h36", "`independent_from_worker` is a boolean.";
        H37 = "idk_h37", "`minimum_independent_verifiers` is an integer of at least 0.";
        H38 = "idk_h38", "Strategy `quorum` has a quorum of at least 1.";
        H39 = "idk_h39", "A quorum under another strategy is an integer of at least 1.";
        H40 = "idk_h40", "The worker is an object.";
        H41 = "idk_h41", "The manifest's id is a non-empty string.";
        H42 = "idk_h42", "The attempt is an integer of at least 1.";
        H43 = "idk_h43", "The worker's id is a non-empty string.";
        H44 = "idk_h44", "The handoff has schema version 0.1.";
        H45 = "idk_h45", "Independent verification asks for at least one independent verifier.";
        H46 = "idk_h46", "The required validator ids are distinct non-empty strings, at least one.";
        H47 = "idk_h47", "A handoff with strategy `quorum` has a quorum.";
    }
}

numbered! {
    /// The refusals of a source binding: a work unit tied to the exact git revision that its work starts from.
    SourceRule, "Give the work unit and the git revision that belong together; the message names both." {
        B1 = "idk_b01", "The work unit is a JSON object.";
        B2 = "idk_b02", "The work unit's id is a non-empty string.";
        B3 = "idk_b03", "The work unit's version is an integer of at least 1.";
        B4 = "idk_b04", "The source revision is a git object id of 40 or 64 hex digits.";
        B5 = "idk_b05", "The work unit's provenance is an object.";
        B6 = "idk_b06", "The revision that the work unit declares, if any, is a git object id.";
        B7 = "idk_b07", "The trusted revision is the one that the work unit declares, in any case of its digits.";
        B8 = "idk_b08", "The binding is a source binding.";
        B9 = "idk_b09", "The binding names this work unit's id.";
        B10 = "idk_b10", "The binding names this work unit's version.";
        B11 = "idk_b11", "The work unit's content has not changed since it was bound.";
        B12 = "idk_b12", "The observed source revision is the bound one.";
        B13 = "idk_b13", "The bound work unit digest is a lower-case sha256 digest.";
    }
}

numbered! {
    /// The refusals of a CandidateReference, in the order in which they are evaluated.
    ReferenceRule, "Correct the place that the message names, or make the manifest anew with `quorum manifest`." {
        C1 = "idk_c01", "The reference is a JSON object.";
        C2 = "idk_c02", "The reference has schema version 0.1.";
        C3 = "idk_c03", "The type is `github_pull_request` or `artifact_bundle`.";
        C4 = "idk_c04", "No member of the type is missing.";
        C5 = "idk_c05", "No member beyond those of the type is there.";
        C6 = "idk_c06", "The repository is `owner/name`.";
        C7 = "idk_c07", "The pull request's number is an integer of at least 1.";
        C8 = "idk_c08", "The head is a git object id of 40 or 64 hex digits.";
        C9 = "idk_c09", "The locator is a non-empty string.";
        C10 = "idk_c10", "The digest is a lower-case sha256 digest.";
        C11 = "idk_c11", "The media type, if present, is a non-empty string.";
    }
}

numbered! {
    /// The refusals of the manifest builder, in the order in which they are evaluated.
    BuildRule, "Correct the argument that the message names." {
        R1 = "idk_r01", "The binding is a source binding.";
        R2 = "idk_r02", "The work unit is the bound one, at the bound revision.";
        R3 = "idk_r03", "The manifest's id has 3 to 128 characters of a-z0-9._/- and starts with a letter or digit.";
        R4 = "idk_r04", "The attempt is an integer of at least 1.";
        R5 = "idk_r05", "The worker has an id, a known type and an adapter, and no blank detail.";
        R6 = "idk_r06", "The status is a known one.";
        R7 = "idk_r07", "Resources are finite numbers of at least 0, tokens an integer.";
        R8 = "idk_r08", "Both times have an offset, and the work ends no earlier than it began.";
        R9 = "idk_r09", "The candidate is a CandidateReference.";
        R10 = "idk_r10", "The self-report's source is `absent` exactly where there is none.";
        R11 = "idk_r11", "A confidence has a value from 0 to 1 and a known meaning, or neither.";
        R12 = "idk_r12", "Every log has a known type, a locator and, if any, a sha256 digest.";
        R13 = "idk_r13", "The worker's configuration digest, if present, is a lower-case sha256 digest.";
        R14 = "idk_r14", "The work unit has validators with distinct non-empty ids.";
        R15 = "idk_r15", "Metrics are finite numbers or null under non-empty names.";
        R16 = "idk_r16", "The environment's details and tool versions are non-empty strings.";
        R17 = "idk_r17", "The verification notes, if present, are a string.";
    }
}

numbered! {
    /// The refusals of exports and imports. Upstream gives them no numbers.
    ExportRule, "Give the documents that belong to each other, and correct the place that the message names." {
        UnknownRun = "run_unknown_kind", "The run record is of the known kind and version.";
        MalformedRun = "run_malformed", "The run record has ids, digests and attempts in their form.";
        ClaimsAuthority = "run_claims_authority", "A run claims no authority.";
        NoAttempts = "run_without_attempts", "A run has at least one attempt.";
        AttemptRepeated = "run_attempt_repeated", "No attempt's id appears twice in a run.";
        AttemptOrder = "run_attempt_order", "The attempts stand in their recorded order.";
        UnknownState = "run_attempt_state", "An attempt is in a known state, with an error exactly where it failed.";
        ClaimsEvidence = "run_attempt_claims_evidence",
            "An attempt that failed claims no evidence from after its failure.";
        LacksEvidence = "run_attempt_lacks_evidence", "An attempt has the evidence that its state speaks of.";
        UnknownRecommendation = "run_unknown_recommendation",
            "A verifier's recommendation is one of upstream's four words.";
        OtherManifest = "bound_to_other_manifest", "The evidence is bound to the manifest beside it.";
        OtherWorkUnit = "bound_to_other_work_unit", "The evidence is bound to the work unit beside it.";
        OtherRevision = "bound_to_other_revision", "The evidence is bound to the manifest's source revision.";
        EvidenceState = "run_report_evidence_state", "An attempt's evidence state follows from its recommendation.";
        ReportCounts = "run_report_counts", "The counts of a report are those of its attempts.";
        ReportDiffers = "run_report_differs", "The report is the one that its run gives.";
        OtherReport = "human_decision_other_report", "The decision is bound to exactly this report.";
        UnknownDecision = "human_decision_unknown_word",
            "A human says accept, reject or escalate, and no machine's word.";
        UnknownDecider = "human_decision_unknown_decider", "The decider is named, and is a human or a governance body.";
        NoRationale = "human_decision_no_rationale", "The decision has a reason in words, not only a machine's word.";
        UnknownAttempt = "human_decision_unknown_attempt",
            "The decision is about an attempt of the report, or about none.";
        SelfVerification = "evidence_report_self_verification", "The verifier of an imported report is not the worker.";
        UnknownArtifact = "evidence_report_unknown_artifact",
            "The manifest has every artifact that the report evaluated.";
        UnknownValidator = "evidence_report_unknown_validator",
            "The work unit has the validator that the report speaks of.";
        Contradiction = "evidence_report_contradiction", "An imported report does not contradict itself.";
    }
}

numbered! {
    /// Rules that bind documents to each other. V2 and V17 need an experiment manifest and live with campaigns.
    Rule, "Give documents that belong to each other; the one that the message names is made anew by its author." {
        P1 = "idk_p01", "The manifest names this work unit's id.";
        P2 = "idk_p02", "The manifest names this work unit's version.";
        P3 = "idk_p03", "The manifest declares this work unit's digest.";
        P4 = "idk_p04", "The result names this manifest's id.";
        P5 = "idk_p05", "The result names the manifest's work unit, version and attempt.";
        P6 = "idk_p06", "The result declares this manifest's digest.";
        P7 = "idk_p07", "The result declares this work unit's digest.";
        P8 = "idk_p08", "The result and the manifest name the same source revision.";
        P9 = "idk_p09", "The result observed this manifest's worker.";
        P10 = "idk_p10", "A verifier that claims independence is not the worker.";
        V1 = "idk_v01", "The document follows its schema.";
        V3 = "idk_v03", "The manifest names this work unit's version.";
        V4 = "idk_v04", "Every artifact that the manifest asks to verify was produced.";
        V5 = "idk_v05", "The result names this manifest.";
        V6 = "idk_v06", "The result names the manifest's work unit, version and attempt.";
        V7 = "idk_v07", "The result's work unit is known.";
        V8 = "idk_v08", "Every evidence id that a check cites exists in the result.";
        V9 = "idk_v09", "The result has a check for every required validator.";
        V10 = "idk_v10", "The result has a check for every validator that the worker requested.";
        V11 = "idk_v11", "The result observed this manifest's worker.";
        V12 = "idk_v12", "The result is independent where the work unit asks for it.";
        V13 = "idk_v13", "The verifier is not the worker.";
        V14 = "idk_v14", "A passed result has passed every required check.";
        V15 = "idk_v15", "accept_candidate comes with status passed.";
        V16 = "idk_v16", "accept_candidate comes with every required check passed.";
        RepeatedCheck = "repeated_check", "No check id appears twice in one result.";
    }
}

/// One broken rule, its place and the value that breaks it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Violation {
    /// The rule.
    pub rule: Rule,
    /// JSON Pointer into the judged document; empty for the root.
    pub pointer: String,
    /// What is wrong, naming the value and what was expected.
    pub message: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = if self.pointer.is_empty() { "/" } else { &self.pointer };
        write!(f, "{} {place}: {}", self.rule, self.message)
    }
}
