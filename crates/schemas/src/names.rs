//! Names of the embedded JSON Schemas.

use std::str::FromStr;

use crate::{SchemasError, Value};

macro_rules! schema_names {
    ($($(#[$doc:meta])* $variant:ident => $name:literal;)*) => {
        /// A JSON Schema (2020-12) that this crate embeds from `schemas/<name>.schema.json`.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum SchemaName { $($(#[$doc])* $variant,)* }

        impl SchemaName {
            /// Every embedded schema.
            pub const ALL: &'static [SchemaName] = &[$(SchemaName::$variant,)*];

            /// The name, as `quorum schema check NAME FILE` takes it.
            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// The text of the schema.
            #[must_use]
            pub fn text(self) -> &'static str {
                match self {
                    $(Self::$variant => include_str!(concat!("../schemas/", $name, ".schema.json")),)*
                }
            }
        }
    };
}

schema_names! {
    /// What a worker is asked to do, version 0.1.
    WorkUnitV01 => "work-unit-v0.1";
    /// What a worker is asked to do, version 0.2.
    WorkUnitV02 => "work-unit-v0.2";
    /// Version 0.2 as it was before its budget had to name what may be spent; read, never written.
    WorkUnitV02Early => "work-unit-v0.2-early";
    /// A worker's self-report.
    ResultManifest => "result-manifest-v0.1";
    /// The immutable identity of a candidate.
    CandidateReference => "candidate-reference-v0.1";
    /// The exact binding of work unit, manifest, candidate and requirements.
    VerificationHandoff => "verification-handoff-v0.1";
    /// A verifier's bound plan.
    QuorumPlan => "quorum-plan-v0.1";
    /// A verifier's plan template (TOML on disk).
    PlanTemplate => "plan-template-v0.1";
    /// Upstream's plan of its JSON verifier, for import.
    EvaluatorPlanV01 => "evaluator-plan-v0.1";
    /// Upstream's plan of its patch verifier by whole added lines, for import.
    EvaluatorPlanV02 => "evaluator-plan-v0.2";
    /// Upstream's plan of its patch verifier by parts of added lines, for import.
    EvaluatorPlanV03 => "evaluator-plan-v0.3";
    /// Upstream's plan of its patch verifier by parts of added and removed lines, for import.
    EvaluatorPlanV04 => "evaluator-plan-v0.4";
    /// A verifier's evidence.
    VerificationResult => "verification-result-v0.1";
    /// Upstream's older report of one validator, for import.
    EvidenceReport => "evidence-report-v0.1";
    /// What the attempts of one run showed, for export; it selects nothing.
    RunEvidenceReport => "run-evidence-report-v0.1";
    /// Who decided what about a run report, for export.
    HumanDecisionRecord => "human-decision-record-v0.1";
    /// The predicate of signed evidence: a result and where it came from.
    EvidencePredicate => "evidence-predicate-v0.1";
    /// The predicate of a signed handoff.
    HandoffPredicate => "handoff-predicate-v0.1";
    /// The recommendation and its why.
    Decision => "decision-v0.1";
    /// The predicate of a SLSA verification summary.
    Vsa => "vsa-v1";
    /// Everything that a decision was computed from beside the documents themselves.
    Facts => "facts-v0.1";
    /// The payload of a trust root.
    TrustRoot => "trust-root-v0.1";
    /// An operator's policy (TOML on disk).
    Policy => "policy-v0.1";
    /// What a policy asks and why a case ends as it does.
    PolicyExplain => "policy-explain-v0.1";
    /// An in-toto Statement v1 around one of our predicates or a verification summary.
    Statement => "statement-v1";
    /// What a command that fails writes as the last line of stderr with `--json`.
    OutputError => "output-error-v0.1";
    /// What manifest, handoff derive and the exports say with `--json` about the file of `--output`.
    OutputWritten => "output-written-v0.1";
    /// A signed document as it is written to stdout.
    OutputEnvelope => "output-envelope-v0.1";
    /// What demo `--json` writes.
    OutputDemo => "output-demo-v0.1";
    /// What init `--json` writes.
    OutputInit => "output-init-v0.1";
    /// What man `--json` writes.
    OutputFiles => "output-files-v0.1";
    /// What verify `--json` writes.
    OutputVerify => "output-verify-v0.1";
    /// What sign `--json` writes.
    OutputSign => "output-sign-v0.1";
    /// What `dsse verify --json` writes.
    OutputDsseVerify => "output-dsse-verify-v0.1";
    /// What audit `--json` writes.
    OutputAudit => "output-audit-v0.1";
    /// What `export verify --json` writes.
    OutputExportVerify => "output-export-verify-v0.1";
    /// What `import evidence-report --json` writes.
    OutputImport => "output-import-v0.1";
    /// What coordinator and verifier --check-config `--json` write.
    OutputCheckConfig => "output-check-config-v0.1";
    /// What submit `--json` writes.
    OutputSubmit => "output-submit-v0.1";
    /// One line of watch `--json`.
    OutputWatch => "output-watch-v0.1";
    /// What show `--json` writes.
    OutputShow => "output-show-v0.1";
    /// What keys new and keys show `--json` write; never a secret itself.
    OutputKey => "output-key-v0.1";
    /// What the commands that write a version of a trust root say with `--json`.
    OutputTrustVersion => "output-trust-version-v0.1";
    /// What the commands about proposals for a trust root say with `--json`.
    OutputTrustProposal => "output-trust-proposal-v0.1";
    /// What trust show `--json` writes.
    OutputTrust => "output-trust-v0.1";
    /// What policy list and schema list `--json` write.
    OutputNames => "output-names-v0.1";
    /// What policy show and completions `--json` write.
    OutputText => "output-text-v0.1";
    /// What policy check `--json` writes.
    OutputPolicyCheck => "output-policy-check-v0.1";
    /// What `policy test --json` writes.
    OutputPolicyTest => "output-policy-test-v0.1";
    /// What mesh config and mesh apply `--json` write.
    OutputMade => "output-made-v0.1";
    /// What schema show `--json` writes.
    OutputSchema => "output-schema-v0.1";
    /// What schema check `--json` writes.
    OutputSchemaCheck => "output-schema-check-v0.1";
    /// What digest `--json` writes.
    OutputDigest => "output-digest-v0.1";
    /// What errors `--json` writes.
    OutputErrors => "output-errors-v0.1";
    /// What exit-codes `--json` writes.
    OutputExitCodes => "output-exit-codes-v0.1";
    /// What reference `--json` writes.
    OutputReference => "output-reference-v0.1";
    /// Upstream's command profile, narrowed: what a workbench may run.
    CommandProfile => "command-profile-v1";
    /// Asks a workbench for one run.
    ProcessRunRequest => "process-run-request-v1";
    /// Upstream's result of one run, narrowed.
    ProcessRunResult => "process-run-result-v1";
    /// How a run of gate or decide ended: their `--json`, and `--report json`.
    Report => "report-v0.1";
}

impl SchemaName {
    /// The schema that a work unit claims to follow. Version 0.2 got two required members of `budget` while it kept its
    /// number; a unit that names neither of them is of the early form.
    #[must_use]
    pub fn of_work_unit(unit: &Value) -> Self {
        let named = |member| unit.at(&["budget", member]).is_some();
        match unit.get("schema_version").and_then(Value::as_str) {
            Some("0.1") => Self::WorkUnitV01,
            _ if named("project_spend_usd_max") || named("paid_fallback_allowed") => Self::WorkUnitV02,
            _ if unit.get("budget").and_then(Value::as_object).is_some() => Self::WorkUnitV02Early,
            _ => Self::WorkUnitV02,
        }
    }
}

impl FromStr for SchemaName {
    type Err = SchemasError;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .iter()
            .copied()
            .find(|schema| schema.as_str() == name)
            .ok_or_else(|| SchemasError::SchemaUnknown(name.to_owned()))
    }
}
