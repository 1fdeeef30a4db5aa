//! The rules that a report names: stable codes, as decisions have them, each with what it means and what to do.

use quorum_policies::{RefusalCode, Standing};

/// What an item of a report is an instance of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Rule {
    /// Stable snake_case code.
    pub(super) id: &'static str,
    /// What it means, one sentence.
    pub(super) meaning: &'static str,
    /// What to do, one sentence.
    pub(super) action: &'static str,
}

macro_rules! rules {
    ($($name:ident = $id:literal: $meaning:literal, $action:literal;)*) => {
        $(pub(super) const $name: Rule = Rule { id: $id, meaning: $meaning, action: $action };)*
    };
}

rules! {
    ACCEPT = "accept_candidate":
        "Enough independent voices support the candidate.", "Integration is somebody else's decision.";
    REJECT = "reject_candidate":
        "Verifiers object and nobody supports the candidate.", "Read the objections and hand in another attempt.";
    ESCALATE = "escalate":
        "The evidence cannot settle it.", "A person has to look at the evidence on both sides.";
    INSUFFICIENT = "insufficient_evidence":
        "Not enough independent evidence was heard.", "Bring the evidence that is missing; running the same again helps only if a verifier failed to come.";
    NO_DECISION = "no_decision":
        "The run ended without a decision.", "Mend what the message names and run it again.";
    WITHDRAWN = "withdrawn":
        "An earlier accept_candidate is taken back.", "Stop relying on the earlier decision; a new accept needs a new panel.";
    CHECK_PASSED = "check_passed":
        "A check holds, in evidence that nothing was refused of.", "Nothing.";
    CHECK_FAILED = "check_failed":
        "A check does not hold for this candidate.", "Read what the check shows and mend the candidate.";
    CHECK_ERROR = "check_error":
        "A check could not be run to an end.", "Mend the verifier's plan or machine; this says nothing about the candidate.";
    CHECK_INCONCLUSIVE = "check_inconclusive":
        "A check ran and shows nothing.", "Find out why the check could not tell; it is not a pass.";
    CHECK_SKIPPED = "check_skipped":
        "A check did not apply.", "Ask why a required check does not apply; it is not a pass.";
    CHECK_NOT_COUNTED = "check_not_counted":
        "A check passed in evidence that does not count.", "See why the evidence is not counted.";
    EXTRA_CHECK = "extra_check":
        "A check that nobody required; it is listed and never counted.", "Nothing: it has no say.";
    CANDIDATE_FINDING = "candidate_finding":
        "A check names this place of the candidate.", "Mend the candidate there.";
    OBJECTOR = "objector":
        "An authentic verifier rejects the candidate.", "Read its failed checks; only a refusal of its authenticity removes an objection.";
    ABSTAINS = "abstains":
        "A verifier looked and could not tell.", "See its inconclusive checks; it stays in the denominator.";
    ABSENT = "absent":
        "A verifier did not come to look.", "See its errors and let it try again.";
    EQUIVOCATES = "equivocates":
        "One key said different things for one seat and try.", "Distrust the key until its owner explains.";
    REFUSED_SUPPORT = "refused_support":
        "Support was refused its weight.", "See the refusals of this evidence.";
    SHARES_WITH_VOICE = "shares_with_voice":
        "A supporter shares an axis of independence with a voice, and is no voice of its own.", "Ask a verifier that differs on the policy's axes.";
    SHARES_WITH_WORKER = "shares_with_worker":
        "A supporter shares an axis of independence with the worker, and is not counted.", "Ask a verifier that differs from the worker on the policy's axes.";
    VOICE = "voice":
        "An independent voice that supports the candidate.", "Nothing.";
    SEAT_SILENT = "seat_silent":
        "A seat of the panel gave no evidence.", "Bring that verifier's evidence; who is silent stays in the denominator.";
    LOCAL_ASSURANCE = "local_assurance":
        "This machine was the one verifier, with keys of its own making.", "Use a trust root and verifiers of others where that is not enough.";
    WORKER_UNAUTHENTICATED = "worker_unauthenticated":
        "The manifest is not signed: the worker's id is only a name.", "Sign it with `quorum manifest --key` where the worker matters.";
    IN_PROCESS = "in_process":
        "The candidate's own process reported a result: it could have forged it.", "Use a check of channel data or black_box, or a policy that asks for one.";
    UNREQUIRED_REQUEST = "unrequired_request":
        "The worker asked for validators that the work unit does not require; they are not counted.", "Nothing: it has no say.";
    REISSUED_SEAT = "reissued_seat":
        "A seat needed more than one try.", "Look at the earlier tries if it happens often.";
}

/// The rule of what a key counts as.
pub(super) fn standing(standing: Standing) -> Rule {
    match standing {
        Standing::Voice => VOICE,
        Standing::SharesWithVoice => SHARES_WITH_VOICE,
        Standing::SharesWithWorker => SHARES_WITH_WORKER,
        Standing::Objector => OBJECTOR,
        Standing::RefusedSupport => REFUSED_SUPPORT,
        Standing::Equivocates => EQUIVOCATES,
        Standing::Abstains => ABSTAINS,
        Standing::Absent => ABSENT,
    }
}

/// The rule of a refusal: its own code.
pub(super) fn refusal(code: RefusalCode) -> Rule {
    let meaning = match code.kind() {
        quorum_policies::RefusalKind::Authenticity => "Evidence was refused: it has no effect at all.",
        quorum_policies::RefusalKind::Weight => {
            "Evidence was refused its weight: it cannot support, a reject still objects."
        }
    };
    Rule {
        id: code.as_str(),
        meaning,
        action: "The message names the value and the place; see the documentation of the code.",
    }
}
