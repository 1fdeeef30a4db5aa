//! The codes that the command line says of itself, and the error catalogue of the whole product.

use quorum_schemas::{ErrorEntry, code_words};

code_words! {
    /// Why a command ended early, where no room below has a word for it.
    pub(crate) enum CliCode in "cli" {
        /// The arguments are not what the command takes.
        Usage = "usage", "Run the command with --help.", exit 2;
        /// An input cannot be read: it is not there, not a regular file, or not permitted.
        CannotRead = "cannot_read", "Correct the path or its permissions.", exit 2;
        /// An output cannot be written; nothing half written is left.
        CannotWrite = "cannot_write", "Make room, or name a place that can be written.", exit 5;
        /// Stdout is closed, full, or its reader is gone.
        CannotWriteStdout = "cannot_write_stdout", "Give stdout a place that takes the output.", exit 5;
        /// An input has more bytes than it may have.
        InputTooLarge = "input_too_large", "Give the right file, or make it smaller.", exit 2;
        /// The document carries its signature already.
        AlreadySigned = "already_signed", "Leave --key out.", exit 2;
        /// Neither a directory nor a commit was given as the candidate.
        CandidateMissing = "candidate_missing", "Give --candidate, or --git with --base and --head.", exit 2;
        /// This machine's clock is before 1970.
        ClockUnusable = "clock_unusable", "Set the clock.", exit 5;
        /// No error has this code.
        CodeUnknown = "code_unknown", "`quorum errors` lists them.", exit 2;
        /// The broker closed the connection for good.
        ConnectionClosed = "connection_closed", "Look at the server; start the command again.", exit 5;
        /// A step of the demo failed.
        DemoStepFailed = "demo_step_failed", "Look at the message and at the logs in --keep DIR.", exit 5;
        /// The file is there, and a key is never overwritten.
        KeyExists = "key_exists", "Name a new file.", exit 2;
        /// The key file is not PEM.
        KeyMalformed = "key_malformed", "Make a key with `quorum keys new`.", exit 2;
        /// QUORUM_LOG cannot be read.
        LogFilterInvalid = "log_filter_invalid", "Write it as `info` or `quorum_mesh=debug,info`.", exit 2;
        /// There is no nats-server binary.
        NatsServerMissing = "nats_server_missing", "Run `./x setup`, or give --nats-server.", exit 5;
        /// The demo looked for evidence that did not come.
        NoEvidence = "no_evidence", "Look at the logs in --keep DIR; the machine may be too slow.", exit 5;
        /// The demo looked for a lease that was not given.
        NoLease = "no_lease", "Look at the logs in --keep DIR; the machine may be too slow.", exit 5;
        /// The demo looked for a refusal that did not come.
        NoRefusal = "no_refusal", "Look at the logs in --keep DIR; the machine may be too slow.", exit 5;
        /// The document is bare, and no key was given to sign it.
        NotSigned = "not_signed", "Give --key, or the signed document.", exit 2;
        /// Nothing to publish was given.
        NothingToSubmit = "nothing_to_submit", "Give --work-unit, or --result with --candidate.", exit 2;
        /// A file to write is one that the same command reads, or writes as something else.
        OutputIsInput = "output_is_input", "Name another file to write.", exit 2;
        /// The path of this program cannot be found, and it runs the checks.
        OwnProgramUnknown = "own_program_unknown", "Start quorum by a path that exists; mount /proc.", exit 5;
        /// A policy or its cases are there, and neither is overwritten.
        PolicyExists = "policy_exists", "Name a new file.", exit 2;
        /// A file with cases does not say which policy they are of.
        PolicyNotNamed = "policy_not_named", "Give --policy, or `policy = ...` in the file.", exit 2;
        /// A record that does not hold is not explained.
        RecordDiffers = "record_differs", "`quorum audit` says the difference.", exit 2;
        /// The trust root does not list this policy.
        PolicyNotAdmitted = "policy_not_admitted", "`quorum trust show` lists the policies.", exit 2;
        /// A process of the demo still runs after its end.
        ProcessLeft = "process_left", "End it by its number, which the message names.", exit 5;
        /// A report would be written into the record that is audited.
        ReportInRecord = "report_in_record", "Name a file outside the record.", exit 2;
        /// Two reports would be written to one file.
        ReportTwice = "report_twice", "Name two files.", exit 2;
        /// Threads for the connection cannot be started.
        RuntimeUnavailable = "runtime_unavailable", "Look at the system's limits.", exit 5;
        /// The document does not follow its schema.
        SchemaInvalid = "schema_invalid", "Correct the places that the message names.", exit 2 | 6;
        /// Signals cannot be waited for.
        SignalsUnavailable = "signals_unavailable", "Look at the system's limits.", exit 5;
        /// The TOML file is not UTF-8.
        TomlNotUtf8 = "toml_not_utf8", "Save it as UTF-8.", exit 2;
        /// The file is not TOML.
        TomlSyntax = "toml_syntax", "Correct it at the place that the message names.", exit 2;
        /// The proposal says something else than the content that was to be signed.
        ProposalDiffers = "proposal_differs", "Ask who proposed it; look at it with `quorum trust diff`.", exit 2;
        /// A file that would be written is there already.
        TrustFileExists = "trust_file_exists", "Name a new file.", exit 2;
        /// The trust root is older than --min-version.
        TrustVersionTooOld = "trust_version_too_old", "Bring the newest trust root.", exit 2;
        /// The trust root to write is there already.
        TrustRootExists = "trust_root_exists", "Name a new file, or use `quorum trust add`.", exit 2;
        /// The expiry that was given is over.
        TrustRootExpired = "trust_root_expired", "Give a time in the future.", exit 2;
        /// The mesh does not have the work unit that the manifest names.
        UnknownWorkUnit = "unknown_work_unit", "Have its author submit it first.", exit 2;
        /// The candidate is not the one that the manifest offers.
        WrongCandidate = "wrong_candidate", "Give the candidate of this manifest, or make the manifest anew.", exit 2;
    }
}

/// The whole error catalogue, room by room from the bottom of the house to its top.
pub(crate) fn catalogue() -> Vec<ErrorEntry> {
    let rooms: [fn() -> Vec<ErrorEntry>; 14] = [
        quorum_schemas::errors,
        quorum_attest::errors,
        quorum_handoff::errors,
        quorum_policies::errors,
        quorum_tasks::errors,
        quorum_sandbox::errors,
        quorum_workbench::errors,
        quorum_engine::errors,
        quorum_verifier::errors,
        quorum_gate::errors,
        quorum_mesh::errors,
        quorum_verifierd::errors,
        quorum_coordinator::errors,
        quorum_testkit::errors,
    ];
    rooms.iter().flat_map(|room| room()).chain(CliCode::ENTRIES.iter().copied()).collect()
}
