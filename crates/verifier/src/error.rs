//! Why a verifier could not do its work. None of these is a verdict about a candidate.

use quorum_schemas::{ErrorEntry, error_codes};
use thiserror::Error;

use crate::EvaluatorRule;
use crate::diff::DiffReason;

/// Everything that keeps a verifier from an answer; exit code 2 (a control file) or 5 (infrastructure), never a verdict.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum VerifierError {
    /// A file of the candidate or the baseline is no longer what it was when the tree was listed.
    #[error(
        "tree_changed: `{path}` changed while it was being checked; nothing was concluded from it, keep writers away from \
         the candidate and check again"
    )]
    TreeChanged {
        /// The path in the tree.
        path: String,
    },
    /// The plan is not TOML or JSON at all.
    #[error("plan_syntax: {0}")]
    PlanSyntax(String),
    /// A key that no plan has.
    #[error("plan_unknown_key: {place} has no key `{key}`{hint}", hint = hint(.suggestion))]
    PlanUnknownKey {
        /// Where the key stands.
        place: String,
        /// The key.
        key: String,
        /// The nearest known key.
        suggestion: Option<String>,
    },
    /// A key that every plan needs.
    #[error("plan_missing_key: {place} needs `{key}`")]
    PlanMissingKey {
        /// Where it is missing.
        place: String,
        /// The key.
        key: &'static str,
    },
    /// A value of the wrong kind or out of range.
    #[error("plan_bad_value: {place} is {found}, wanted {wanted}")]
    PlanBadValue {
        /// Where the value stands.
        place: String,
        /// What was found.
        found: String,
        /// What would be right.
        wanted: String,
    },
    /// Two checks with one id.
    #[error("plan_duplicate_check: the check `{0}` stands twice; give every required validator exactly one check")]
    PlanDuplicateCheck(String),
    /// A kind of check that nobody knows.
    #[error("plan_unknown_kind: check `{id}` has the unknown kind `{kind}`{hint}", hint = hint(.suggestion))]
    PlanUnknownKind {
        /// The check.
        id: String,
        /// The kind as written.
        kind: String,
        /// The nearest known kind.
        suggestion: Option<String>,
    },
    /// A kind of check of the design that this version does not have yet.
    #[error(
        "plan_kind_unsupported: check `{id}` has the kind `{kind}`, which comes with {version}; \
         use another kind until then"
    )]
    PlanKindUnsupported {
        /// The check.
        id: String,
        /// The kind.
        kind: String,
        /// The version that brings it.
        version: &'static str,
    },
    /// The plan's checks are not exactly the required validators (upstream E7).
    #[error(
        "plan_validators_differ: the checks must be exactly the required validators; missing: [{missing}], extra: [{extra}]",
        missing = .missing.join(", "), extra = .extra.join(", ")
    )]
    PlanValidatorsDiffer {
        /// Required validators without a check.
        missing: Vec<String>,
        /// Checks that no required validator asks for.
        extra: Vec<String>,
    },
    /// A bound plan for something else (upstream E2 to E5).
    #[error("plan_wrong_handoff: `{field}` is {plan} in the plan and {handoff} in the handoff")]
    PlanWrongHandoff {
        /// The field of the binding.
        field: &'static str,
        /// The plan's value.
        plan: String,
        /// The handoff's value.
        handoff: String,
    },
    /// A bound plan that does not follow its schema or its own digest rules.
    #[error("plan_invalid: {0}")]
    PlanInvalid(String),
    /// The verifier of the plan is the worker (upstream E10).
    #[error("self_verification: the plan's verifier `{0}` is the worker; another identity must verify")]
    SelfVerification(String),
    /// An EvaluatorPlan that may not be run on this candidate.
    #[error("{rule}: the EvaluatorPlan: {message}")]
    EvaluatorPlan {
        /// The rule.
        rule: EvaluatorRule,
        /// The place and what is wrong there.
        message: String,
    },
    /// The harness directory of a command check is not usable.
    #[error("harness_unusable: the harness {path} of check `{check}`: {why}")]
    HarnessUnusable {
        /// The check.
        check: String,
        /// The directory.
        path: String,
        /// Why.
        why: String,
    },
    /// A file operation failed.
    #[error("io: {doing} {path}: {error}")]
    Io {
        /// What was tried.
        doing: &'static str,
        /// On what.
        path: String,
        /// What the system said.
        error: String,
    },
    /// A tree holds more than can be checked.
    #[error("tree_too_large: {path} has more than {limit} {what}")]
    TreeTooLarge {
        /// The place.
        path: String,
        /// What is too many.
        what: &'static str,
        /// The limit.
        limit: u64,
    },
    /// A tree holds a device, socket or pipe.
    #[error("tree_special_file: {0} is neither a file, a directory nor a symlink")]
    TreeSpecialFile(String),
    /// A path that no document can name.
    #[error("path_unsafe: `{path}` {why}")]
    PathUnsafe {
        /// The path.
        path: String,
        /// Why it is refused.
        why: &'static str,
    },
    /// Bytes that are not one of our ZIPs.
    #[error("bundle_malformed: {0}")]
    BundleMalformed(String),
    /// A ZIP beyond its limits.
    #[error("bundle_too_large: {found} {what}, the limit is {limit}")]
    BundleTooLarge {
        /// What is counted.
        what: &'static str,
        /// How much there is.
        found: u64,
        /// How much may be.
        limit: u64,
    },
    /// A bundle that is not the one the evidence speaks about.
    #[error("bundle_differs: {what} is {found}, the evidence says {expected}")]
    BundleDiffers {
        /// Which digest.
        what: String,
        /// The evidence's digest.
        expected: String,
        /// The recomputed digest.
        found: String,
    },
    /// An evidence item that names no file of the bundle.
    #[error("bundle_incomplete: evidence `{id}` names `{locator}`, which the bundle does not hold")]
    BundleIncomplete {
        /// The evidence item.
        id: String,
        /// Its locator.
        locator: String,
    },
    /// The candidate has a form that these checks cannot read.
    #[error("candidate_unusable: {0}")]
    CandidateUnusable(String),
    /// A command without isolation could read the key.
    #[error(
        "key_in_reach: the plan starts programs, isolation is `none` and a key is on this machine; \
         isolate them, or verify with --unsigned and sign in another job"
    )]
    KeyInReach,
    /// The check child could not be started.
    #[error("check_child_not_started: {0}")]
    ChildNotStarted(String),
    /// The check child ended without a report.
    #[error("check_child_died: {end}; stderr: {stderr}")]
    ChildDied {
        /// How it ended.
        end: String,
        /// The tail of its stderr.
        stderr: String,
    },
    /// What the check child would have to be told does not fit a request.
    #[error(
        "check_request_too_large: what the checks must know of the candidate has {bytes} bytes, the limit is {limit}; \
         take submodules out of it, or shorten their paths or the commit's message"
    )]
    RequestTooLarge {
        /// Its size.
        bytes: usize,
        /// The most that it may have.
        limit: usize,
    },
    /// The check child did not end in time.
    #[error("check_child_timeout: no report within {0} ms; the child was killed")]
    ChildTimeout(u64),
    /// The check child wrote something that is not a report on this request.
    #[error("check_child_garbage: {0}")]
    ChildGarbage(String),
    /// Our own result breaks a rule: a defect of this program, nothing is signed.
    #[error("own_result_invalid: {}", .0.join("; "))]
    OwnResultInvalid(Vec<String>),
}

fn hint(suggestion: &Option<String>) -> String {
    suggestion.as_ref().map_or_else(String::new, |name| format!("; did you mean `{name}`?"))
}

error_codes! {
    impl VerifierError in "verifier" {
        Self::PlanSyntax(_) => "plan_syntax", "The plan is not TOML or JSON.",
            "Correct it at the place that the message names.", exit 2;
        Self::PlanUnknownKey { .. } => "plan_unknown_key", "A key that no plan has.",
            "Correct the spelling, or remove the key.", exit 2;
        Self::PlanMissingKey { .. } => "plan_missing_key", "A key that every plan needs is missing.", "Add it.", exit 2;
        Self::PlanBadValue { .. } => "plan_bad_value", "A value of the wrong kind or out of range.",
            "Write what the message asks for.", exit 2;
        Self::PlanDuplicateCheck(_) => "plan_duplicate_check", "Two checks of the plan have one id.",
            "Give every required validator exactly one check.", exit 2;
        Self::PlanUnknownKind { .. } => "plan_unknown_kind", "A kind of check that nobody knows.",
            "Use a kind that the message or the documentation names.", exit 2;
        Self::PlanKindUnsupported { .. } => "plan_kind_unsupported",
            "A kind of check that this version does not have yet.",
            "Use another kind until then.", exit 2;
        Self::PlanValidatorsDiffer { .. } => "plan_validators_differ",
            "The checks are not exactly the validators that the work unit requires.",
            "Add the missing checks and remove the others.", exit 2;
        Self::PlanWrongHandoff { .. } => "plan_wrong_handoff", "The bound plan belongs to another handoff.",
            "Bind the template to this handoff, or give the template.", exit 2;
        Self::PlanInvalid(_) => "plan_invalid", "The bound plan does not follow its schema or its own digests.",
            "Make it anew from its template.", exit 2;
        Self::SelfVerification(_) => "self_verification", "The plan's verifier is the worker.",
            "Have somebody else verify.", exit 2;
        Self::HarnessUnusable { .. } => "harness_unusable", "The directory of the plan's harness cannot be used.",
            "Correct `harness` in the plan.", exit 2;
        Self::Io { .. } => "io", "A file operation failed.", "Look at the path and the system's error.";
        Self::TreeTooLarge { .. } => "tree_too_large", "A tree holds more than can be checked.",
            "Make it smaller, or leave out what does not belong to it.";
        Self::TreeChanged { .. } => "tree_changed", "A file changed between two looks at it.",
            "Keep every writer away from the candidate while it is checked, and check again.";
        Self::TreeSpecialFile(_) => "tree_special_file", "A tree holds a device, a socket or a pipe.",
            "Remove it; a candidate is files, directories and symlinks.";
        Self::PathUnsafe { .. } => "path_unsafe", "A path that no document can name.", "Rename it.";
        Self::BundleMalformed(_) => "bundle_malformed", "The bytes are not one of our ZIPs.",
            "Get the bundle again from whoever made it.";
        Self::BundleTooLarge { .. } => "bundle_too_large", "A ZIP is beyond its limits.",
            "Have the verifier make a smaller bundle.";
        Self::BundleDiffers { .. } => "bundle_differs", "The bundle is not the one that the evidence speaks about.",
            "Bring the bundle that its name and the evidence name.";
        Self::BundleIncomplete { .. } => "bundle_incomplete",
            "The evidence names a file that its bundle does not hold.",
            "Get the bundle again from whoever made it.";
        Self::CandidateUnusable(_) => "candidate_unusable", "The candidate has a form that these checks cannot read.",
            "Hand in files, directories and symlinks within the limits.", exit 6;
        Self::KeyInReach => "key_in_reach", "A command without isolation could read the key.",
            "Isolate the commands, or verify with --unsigned and sign in another job.", exit 2;
        Self::ChildNotStarted(_) => "check_child_not_started", "The process that runs the checks could not be started.",
            "Look at the system's error; limits of processes and memory are the usual cause.", exit 5;
        Self::RequestTooLarge { .. } => "check_request_too_large",
            "What the checks must know of the candidate beside its files does not fit their request.",
            "Hand in a candidate with fewer submodules or a shorter commit message.", exit 6;
        Self::ChildDied { .. } => "check_child_died", "The process that runs the checks ended without a report.",
            "Look at the end of its stderr in the message; try again.", exit 5;
        Self::ChildTimeout(_) => "check_child_timeout", "The process that runs the checks did not end in time.",
            "Shorten the plan's timeouts, or find out what hangs.", exit 5;
        Self::ChildGarbage(_) => "check_child_garbage",
            "The process that runs the checks wrote something that is no report on this request.",
            "Use one version of quorum for both; if it happens again, report it.", exit 5;
        Self::OwnResultInvalid(_) => "own_result_invalid",
            "A result of our own breaks a rule, so nothing was signed: a defect of this program.",
            "Report it with the message.", exit 5;
    }
    passes {
        Self::EvaluatorPlan { rule, .. } => rule.code();
    }
}

impl VerifierError {
    /// Whether a file that the operator wrote is at fault (exit code 2); everything else is infrastructure (exit code 5).
    #[must_use]
    pub fn is_control_file(&self) -> bool {
        // E14 is about our own result.
        self.code().starts_with("plan_")
            || matches!(self, Self::SelfVerification(_) | Self::HarnessUnusable { .. } | Self::KeyInReach)
            || matches!(self, Self::EvaluatorPlan { rule, .. } if *rule != EvaluatorRule::E14)
    }

    pub(crate) fn io(doing: &'static str, path: &std::path::Path, error: &std::io::Error) -> Self {
        Self::Io { doing, path: path.display().to_string(), error: error.to_string() }
    }
}

/// The part of the error catalogue that belongs to this crate.
#[must_use]
pub fn errors() -> Vec<ErrorEntry> {
    // Whoever opens files keeps these, and has codes for it.
    let elsewhere = [EvaluatorRule::E11, EvaluatorRule::E12, EvaluatorRule::E15].map(EvaluatorRule::code);
    let rules = EvaluatorRule::ENTRIES.iter().filter(|entry| !elsewhere.contains(&entry.code));
    VerifierError::ENTRIES.iter().chain(rules).chain(DiffReason::ENTRIES).copied().collect()
}
