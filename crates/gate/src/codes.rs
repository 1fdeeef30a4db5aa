//! The codes that the gate says of itself; those of the rooms below pass through it.

use quorum_schemas::{ErrorEntry, code_words};

code_words! {
    /// Why a command of the gate ended without its result.
    pub enum GateCode in "gate" {
        /// An input cannot be read: it is not there, not a regular file, or not permitted.
        CannotRead = "cannot_read", "Correct the path or its permissions.", exit 2;
        /// An output cannot be written; nothing half written is left.
        CannotWrite = "cannot_write", "Make room, or name a place that can be written.", exit 5;
        /// The baseline lies inside the candidate.
        BaselineInCandidate = "baseline_in_candidate", "Give a baseline that the candidate cannot change.", exit 2;
        /// The plan compares with a baseline, and none was given.
        BaselineMissing = "baseline_missing", "Give --baseline, or `allowed_files` in the plan.", exit 2;
        /// A commit is judged, and nothing says what it started from.
        BaseMissing = "base_missing", "Give --base, the branch that the commit is for.", exit 2;
        /// The baseline is not a directory.
        BaselineNotADirectory = "baseline_not_a_directory", "Give the directory that the work started from.", exit 2;
        /// There is no candidate at the place named.
        CandidateMissing = "candidate_missing", "Give --candidate, or --git with --base and --head.", exit 2;
        /// The candidate cannot be bundled, so no digest names it.
        CandidateUnusable = "candidate_unusable",
            "Hand in files, directories and symlinks that stay inside, within the limits.", exit 6;
        /// This machine's clock is before 1970.
        ClockUnusable = "clock_unusable", "Set the clock.", exit 5;
        /// A control file lies in the candidate, which could then decide over itself.
        ControlFileInCandidate = "control_file_in_candidate", "Keep it where the candidate cannot reach it.", exit 2;
        /// A control file inside the repository is not in the control ref.
        ControlFileNotInRef = "control_file_not_in_ref",
            "Commit it to the branch that --control-ref names, or give a file outside the repository.", exit 2;
        /// A control file has more bytes than one may have.
        ControlFileTooLarge = "control_file_too_large", "Give the right file, or make it smaller.", exit 2;
        /// The decision that was made breaks its own schema: a defect of this program.
        DecisionSchemaInvalid = "decision_schema_invalid", "Report it with the message.", exit 5;
        /// Evidence is given, and nothing says whose evidence counts.
        EvidenceNeedsTrust = "evidence_needs_trust", "Give --trust.", exit 2;
        /// A short name of a revision stands for several things.
        GitAmbiguousRevision = "git_ambiguous_revision", "Write the whole ref: refs/heads/NAME, refs/remotes/REMOTE/NAME.", exit 2;
        /// A file of a git object could not be copied.
        GitCopyFailed = "git_copy_failed", "Make room in TMPDIR.", exit 5;
        /// Git answered something that cannot be read.
        GitFailed = "git_failed", "Run the same git command by hand; update git.", exit 5;
        /// More commits lie between base and head than are hashed again.
        GitHistoryTooLong = "git_history_too_long", "Rebase the candidate onto its base.", exit 2;
        /// The git program cannot be run.
        GitMissing = "git_missing", "Install git, or put it on the PATH.", exit 5;
        /// The two commits have no merge base.
        GitNoMergeBase = "git_no_merge_base", "Give a base of which the head descends; fetch the whole history.", exit 2;
        /// The directory is no git repository, or git refuses it.
        GitNotARepository = "git_not_a_repository", "Give the directory of a repository that you own.", exit 2;
        /// Git answered in another encoding than UTF-8.
        GitNotUtf8 = "git_not_utf8", "Rename what is not UTF-8.", exit 2;
        /// An object does not have the content that its id promises.
        GitObjectCorrupt = "git_object_corrupt", "Run `git fsck`; fetch the repository again.", exit 2;
        /// The text is not a full commit id.
        GitObjectId = "git_object_id", "Give all 40 or 64 hex digits; `git rev-parse REF` prints them.", exit 2;
        /// The object is of another kind.
        GitObjectKind = "git_object_kind", "Give the id of a commit.", exit 2;
        /// The repository does not have the object.
        GitObjectMissing = "git_object_missing", "Fetch it.", exit 2;
        /// An object is larger than one may be.
        GitObjectTooLarge = "git_object_too_large", "Take the large file out of the commit, or shorten its message.", exit 2;
        /// The two commits have several merge bases, so no one tree is the baseline.
        GitSeveralMergeBases = "git_several_merge_bases", "Merge the base into the branch and try again.", exit 2;
        /// The repository has only a part of its history.
        GitShallow = "git_shallow", "Fetch the whole history: `git fetch --unshallow`.", exit 2;
        /// A tree has more files, bytes, submodules or longer names than can be verified here.
        GitTreeTooLarge = "git_tree_too_large", "Verify a smaller repository.", exit 2;
        /// The repository does not know the revision.
        GitUnknownRevision = "git_unknown_revision", "Fetch it, or correct the name.", exit 2;
        /// What `init` would write is there already.
        InitExists = "init_exists", "Remove the folder, or go on with what is in it.", exit 2;
        /// `--isolation none` needs a policy and a work unit that admit it.
        IsolationNoneNotAdmitted = "isolation_none_not_admitted", "Leave it out, or name it in the policy.", exit 2;
        /// The word is not an isolation class.
        IsolationUnknown = "isolation_unknown", "Use none or process-sandbox.", exit 2;
        /// The key file is not a private key in PEM.
        KeyMalformed = "key_malformed", "Make a key with `quorum keys new`.", exit 2;
        /// A command without isolation could read the key.
        KeyNeedsIsolation = "key_needs_isolation",
            "Isolate the commands, or verify with --unsigned and sign in another job.", exit 2;
        /// A key is given, and nothing says whose key it is.
        KeyNeedsTrust = "key_needs_trust", "Give --trust.", exit 2;
        /// No entry of the trust root has this key.
        KeyNotInTrustRoot = "key_not_in_trust_root", "Have it added with `quorum trust add`.", exit 2;
        /// The key file can be read by others, so it is no secret.
        KeyPermissions = "key_permissions", "Run `chmod 600` on it.", exit 2;
        /// The system gives no randomness.
        NoRandomness = "no_randomness", "Look at the system; /dev/urandom must work.", exit 5;
        /// Nothing that was given leads to another decision than the one that stands.
        NoRevisionDue = "no_revision_due", "Nothing: the decision stands.", exit 2;
        /// No temporary directory can be made.
        NoScratchSpace = "no_scratch_space", "Make room, or set TMPDIR.", exit 5;
        /// The directory holds no decision.
        NotARecord = "not_a_record", "Name a directory that `gate`, `decide` or `show` wrote with --out.", exit 2;
        /// The records were decided by several policies, and a run report names one.
        ExportOfSeveralPolicies = "export_of_several_policies", "Export the records of each policy apart.", exit 2;
        /// No directory holds a decision, so no policy is known that a run report could name.
        ExportWithoutDecision = "export_without_decision", "Name at least one record with a decision.", exit 2;
        /// The output directory is there and not empty.
        OutNotEmpty = "out_not_empty", "Name a new directory.", exit 2;
        /// A pin is not FILE=sha256:HEX.
        PinMalformed = "pin_malformed", "Write FILE=sha256: and 64 lower-case hex digits.", exit 2;
        /// A pinned file has another digest.
        PinMismatch = "pin_mismatch", "Find out who changed it; change the pin only if the change is right.", exit 2;
        /// One file is pinned twice.
        PinTwice = "pin_twice", "Pin it once.", exit 2;
        /// A pin names a file that no option of the command reads.
        PinUnused = "pin_unused", "Correct the path: a pin on a file that nobody reads guards nothing.", exit 2;
        /// Nothing says what this machine should check.
        PlanMissing = "plan_missing", "Give --plan; `quorum init` writes one.", exit 2;
        /// A plan is given with a trust root, and no key would sign the evidence.
        PlanNeedsKey = "plan_needs_key", "Give --key.", exit 2;
        /// The plan names another verifier than the key's.
        PlanWrongVerifier = "plan_wrong_verifier", "Give the plan and the key of one verifier.", exit 2;
        /// No shipped policy has this name, and no file is there.
        PolicyUnknownName = "policy_unknown_name", "`quorum policy list` prints the names.", exit 2;
        /// The trust root does not list this policy.
        PolicyNotAdmitted = "policy_not_admitted",
            "Use a listed policy, or have this one added with `quorum trust admit-policy`.", exit 2;
        /// The result manifest names another pull request than --pr, or none.
        PullRequestDiffers = "pull_request_differs", "Hand in the manifest of this pull request.", exit 6;
        /// The pull request is not OWNER/REPO#NUMBER.
        PullRequestMalformed = "pull_request_malformed", "Write it as OWNER/REPO#NUMBER.", exit 2;
        /// A record is not what an audit would confirm, so nothing is reported of it.
        RecordDiffers = "record_differs", "Run `quorum audit` on it; name an untouched record.", exit 2;
        /// The directory holds more than a record can hold.
        RecordTooLarge = "record_too_large", "Name the directory of one record.", exit 2;
        /// The documents were refused and no reason was given: a defect of this program.
        RefusedWithoutReason = "refused_without_reason", "Report it.", exit 5;
        /// A report is not FORMAT=FILE.
        ReportMalformed = "report_malformed", "Write FORMAT=FILE with a format that --help names.", exit 2;
        /// The worker's document is a pipe or a device.
        ResultNotAFile = "result_not_a_file", "Hand in a regular file.", exit 6;
        /// The worker's document is larger than one may be.
        ResultTooLarge = "result_too_large", "Hand in a smaller manifest.", exit 6;
        /// A document is signed, and nothing says whose key that is.
        SignedDocumentNeedsTrust = "signed_document_needs_trust", "Give --trust, or the bare document.", exit 2;
        /// The case has no outcome, although no seat is open: a defect of this program.
        StillPending = "still_pending", "Report it.", exit 5;
        /// A path goes through more links than Linux follows.
        TooManyLinks = "too_many_links", "Give a path with fewer links.", exit 2;
        /// More evidence files than one decision weighs.
        TooMuchEvidence = "too_much_evidence", "Give fewer.", exit 2;
        /// Another file stands where an earlier version of the trust root belongs.
        TrustVersionExists = "trust_version_exists", "Find out whose it is and move it away.", exit 2;
        /// A least version is asked of a trust root that was not given.
        TrustVersionNeedsTrust = "trust_version_needs_trust", "Give --trust.", exit 2;
        /// The trust root is older than --trust-min-version.
        TrustVersionTooOld = "trust_version_too_old", "Bring the newest trust root.", exit 2;
        /// The manifest names another worker than the one whose key signed it.
        WorkerMismatch = "worker_mismatch", "The worker signs its own manifest with its own key.", exit 6;
        /// The work unit or the policy asks for a signed manifest, and nobody signed it.
        WorkerUnauthenticated = "worker_unauthenticated", "Sign it with `manifest --key` or `submit --key`.", exit 6;
        /// The key's role may not do this.
        WrongRole = "wrong_role", "Use a key of the right role; `quorum trust show` lists roles.", exit 2 | 6;
        /// An envelope is about something else than the document in it.
        WrongSubject = "wrong_subject", "Sign the document with quorum.", exit 2 | 6;
    }
}

/// The part of the error catalogue that belongs to this crate.
#[must_use]
pub fn errors() -> Vec<ErrorEntry> {
    GateCode::ENTRIES.to_vec()
}
