//! The codes of our results, each with its stage, whether to try again, and what to do (W-090).

use quorum_schemas::code_words;

code_words! {
    /// Why a run was refused, or why nothing is known about it. The words are upstream's where upstream has one.
    #[non_exhaustive]
    pub enum RefusalCode in "workbench" {
        /// The pin of the request is not the digest of the profile that it carries.
        CommandProfileDigestMismatch = "command-profile-digest-mismatch", "Pin the profile that is meant; `quorum digest --form jcs` shows its digest.";
        /// The owner of the workbench did not admit this profile.
        CommandProfileMissing = "command-profile-missing", "Have the owner admit the profile by its digest.";
        /// The profile can never be run, or not here: its limits, its program or its roots forbid it.
        CommandProfileDenied = "command-profile-denied", "Correct the profile at the place that the message names, and pin it anew.";
        /// An argument is none that the profile admits.
        ArgvInvalid = "argv-invalid", "Use an argument that starts with a prefix of the profile.";
        /// A variable is named like a credential.
        CredentialEnvDenied = "credential-env-denied", "Leave it out; no command gets a credential.";
        /// A request sets a variable that the profile does not let it set.
        EnvOverrideDenied = "env-override-denied", "Set only variables of the profile's `keys`.";
        /// More time is asked for than the profile allows.
        TimeoutAboveProfile = "timeout-above-profile", "Ask for less time, or have the owner raise `max_timeout_ms`.";
        /// More time is asked for than a run can have.
        TimeoutAboveChannel = "timeout-above-channel", "Ask for at most 300000 ms.";
        /// The grant of the request is none that the owner gave.
        GrantRequired = "grant-required", "Have the owner give a grant, and name it.";
        /// A mutation needs a grant that the operator confirmed.
        OperatorConfirmationRequired = "operator-confirmation-required", "Have the operator confirm the grant.";
        /// The workspace or the root is not one of this workbench.
        WorkspaceRootUnknown = "workspace-root-unknown", "Name a root that the workbench was started with.";
        /// The working directory is no folder below its root.
        PathRefused = "path-refused", "Name a folder of the root; links are not followed.";
        /// The program does not exist.
        CommandNotFound = "command-not-found", "Install the program, or correct `executable` in the profile.";
        /// The program cannot be started.
        CommandSpawnFailed = "command-spawn-failed", "Look at the system's error; make the program executable.";
        /// A run has no idempotency key.
        IdempotencyKeyRequired = "idempotency-key-required", "Give every run a key of its own.";
        /// The idempotency key is malformed.
        IdempotencyKeyInvalid = "idempotency-key-invalid", "Use 1 to 128 characters of A-Z a-z 0-9 . _ : / -.";
        /// The key was used for another request.
        IdempotencyKeyConflict = "idempotency-key-conflict", "Use a new key for a new request.";
        /// The question that the key belongs to is decided already.
        IdempotencyKeyRetired = "idempotency-key-retired", "Do not ask again; a decision is final.";
        /// Another process is running this key now.
        OperationInProgress = "operation-in-progress", "Wait for its result and ask again with the same key.";
        /// The request names a generation that is gone.
        WorkbenchRestartRequiredRelink = "workbench-restart-required-relink", "Ask for the current generation and use a new key.";
        /// The generation may have been changed by an observation.
        EnvironmentTainted = "environment-tainted", "Make a new generation of the workspace.";
        /// This machine cannot enforce what the profile's effect mode asks for.
        EffectModeUnenforceable = "effect-mode-unenforceable", "Run where namespaces can be made.";
        /// A step of the sandbox failed; nothing ran.
        ObservationSandboxFailed = "observation-sandbox-failed", "Look at the step and the system's error; try again.";
        /// The workspace is beyond the bounds within which an observation can be proved; nothing ran.
        ObservationRootsUnprovable = "observation-roots-unprovable", "Make the workspace smaller.";
        /// The workspace differs after an observation.
        ObservationEffectDetected = "observation-effect-detected", "Do not use the generation; the command is no observation.";
        /// The observation ran out of time, nothing of it is left, and the workspace is unchanged.
        ObservationTimeoutQuiesced = "observation-timeout-quiesced", "Ask again with a new key and more time.";
        /// Nothing can be proved about an observation.
        ObservationOutcomeUnknown = "observation-outcome-unknown", "Make a new generation and ask with a new key.";
        /// The workbench ended between start and result.
        OperationInterrupted = "operation-interrupted", "Make a new generation and ask with a new key.";
        /// A mutation ran out of time; what it did is unknown and thrown away.
        ProcessTimeout = "process-timeout", "Ask with a new key and more time.";
        /// The command was ended because it flooded its output.
        OutputFlood = "output-flood", "Make the command say less.";
    }
}

/// At which stage a code is said.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Stage {
    /// Before anything is written or started.
    Admission,
    /// The key, its marker and its stored result.
    Replay,
    /// The sandbox, before the command exists.
    Sandbox,
    /// The command existed or may have.
    Run,
}

/// Whether the same question may be asked again, in upstream's words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Retry {
    /// Never as it is.
    Terminal,
    /// When an operator did something.
    AfterOperatorAction,
    /// When the owner made a new generation.
    AfterOwnerReconcile,
    /// At any time.
    Transient,
}

impl Retry {
    /// The word.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Terminal => "terminal",
            Self::AfterOperatorAction => "after-operator-action",
            Self::AfterOwnerReconcile => "after-owner-reconcile",
            Self::Transient => "transient",
        }
    }
}

impl Stage {
    /// The word.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Admission => "admission",
            Self::Replay => "replay",
            Self::Sandbox => "sandbox",
            Self::Run => "run",
        }
    }
}

impl RefusalCode {
    /// Stage and retry class. The match has no arm for "the rest", so that a new code does not compile without its own.
    #[must_use]
    pub const fn class(self) -> (Stage, Retry) {
        match self {
            Self::CommandProfileDigestMismatch
            | Self::ArgvInvalid
            | Self::CredentialEnvDenied
            | Self::EnvOverrideDenied
            | Self::TimeoutAboveProfile
            | Self::TimeoutAboveChannel
            | Self::PathRefused
            | Self::IdempotencyKeyRequired
            | Self::IdempotencyKeyInvalid => (Stage::Admission, Retry::Terminal),
            Self::CommandProfileMissing
            | Self::CommandProfileDenied
            | Self::GrantRequired
            | Self::OperatorConfirmationRequired
            | Self::WorkspaceRootUnknown
            | Self::CommandNotFound => (Stage::Admission, Retry::AfterOperatorAction),
            Self::IdempotencyKeyConflict | Self::IdempotencyKeyRetired => (Stage::Replay, Retry::Terminal),
            Self::OperationInProgress => (Stage::Replay, Retry::Transient),
            Self::WorkbenchRestartRequiredRelink | Self::EnvironmentTainted => {
                (Stage::Replay, Retry::AfterOwnerReconcile)
            }
            Self::CommandSpawnFailed | Self::EffectModeUnenforceable | Self::ObservationRootsUnprovable => {
                (Stage::Sandbox, Retry::AfterOperatorAction)
            }
            Self::ObservationSandboxFailed => (Stage::Sandbox, Retry::Transient),
            Self::ObservationEffectDetected => (Stage::Run, Retry::Terminal),
            Self::ObservationTimeoutQuiesced => (Stage::Run, Retry::Transient),
            Self::ObservationOutcomeUnknown | Self::OperationInterrupted | Self::ProcessTimeout | Self::OutputFlood => {
                (Stage::Run, Retry::AfterOwnerReconcile)
            }
        }
    }
}

/// A refusal with its reason for people.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{code}: {why}", code = .code.code())]
pub struct Refusal {
    /// The code, as it stands in the result.
    pub code: RefusalCode,
    /// The value and the place. Not in the result: upstream has no member for it.
    pub why: String,
}

impl Refusal {
    pub(crate) fn new(code: RefusalCode, why: String) -> Self {
        Self { code, why }
    }
}
