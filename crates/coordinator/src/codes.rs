//! Why the coordinator gives a published document no effect, or a verifier no lease, where no room below has a word.

use quorum_schemas::code_words;

code_words! {
    /// Stands in audit records and in replies to verifiers; ends nothing.
    pub enum RefusedCode in "coordinator" {
        /// Another manifest was handed in for this work unit, worker and attempt.
        AttemptConflict = "attempt_conflict", "Hand it in as the next attempt.";
        /// The work unit allows no more attempts.
        AttemptsExhausted = "attempts_exhausted", "Ask the author for a new version of the work unit.";
        /// The lease bucket was busy; nothing is decided.
        Busy = "busy", "Nothing: the verifier asks again.";
        /// The candidate's bytes are not on the mesh.
        CandidateMissing = "candidate_missing", "Publish the candidate before its manifest, as `quorum submit` does.";
        /// This candidate was rejected for this work unit already.
        CandidateRejected = "candidate_rejected", "Hand in something else, or let the policy say `reverify = true`.";
        /// The candidate's bytes are not what they should be.
        CandidateUnreadable = "candidate_unreadable", "Submit it again.";
        /// The mesh cannot carry a candidate of this kind.
        CandidateUnsupported = "candidate_unsupported", "Hand in a bundle; a pull request is for the gate.";
        /// A message was delivered as often as it may be and never dealt with.
        DeliveriesExhausted = "deliveries_exhausted", "Look at the coordinator's log for what it met.";
        /// A verifier signed two different answers for one seat and try.
        Equivocation = "equivocation", "Find out who uses the key; revoke it if it is not its owner.";
        /// The handoff is decided.
        HandoffDecided = "handoff_decided", "Nothing: the verifier forgets the offer.";
        /// The signed subject is not what the document is about.
        Inconsistent = "inconsistent", "Sign the document with quorum.";
        /// A lease ran out unanswered.
        Lapsed = "lapsed", "Nothing: the seat is offered again; look at the verifier if it repeats.";
        /// The document is not in the form of its kind.
        Malformed = "malformed", "Publish what quorum wrote, unchanged.";
        /// The document does not follow its schema.
        SchemaInvalid = "schema_invalid", "Correct the places that the record names.";
        /// The seat was answered, or its tries are used up.
        SeatClosed = "seat_closed", "Nothing: the verifier forgets the offer.";
        /// The work unit has a newer version.
        SupersededWorkUnit = "superseded_work_unit", "Answer the newest version.";
        /// Evidence for a seat and try that were never given, and not the first such message.
        TooMany = "too_many", "Find out who publishes it.";
        /// There is no such handoff yet.
        UnknownHandoff = "unknown_handoff", "Nothing: the verifier asks again.";
        /// The manifest's work unit did not come in time.
        UnknownWorkUnit = "unknown_work_unit", "Have its author submit it, and hand in again.";
        /// The manifest names another worker than the one whose key signed it.
        WorkerMismatch = "worker_mismatch", "The worker signs its own manifest with its own key.";
        /// The candidate is not the one that the manifest offers.
        WrongCandidate = "wrong_candidate", "Make the manifest anew for this candidate.";
        /// The document is about a handoff that does not exist.
        WrongHandoff = "wrong_handoff", "Give evidence about the handoff that was offered.";
        /// The document stands at a subject that is not its own.
        WrongPlace = "wrong_place", "Publish with quorum, which knows the subjects.";
    }
}
