//! Whether a manifest becomes a handoff. Pure: what the streams hold, and when each message came, decides.

use quorum_handoff::{Intake, WorkUnit, intake_values};
use quorum_policies::Policy;
use quorum_schemas::{C1Digest, Digest, Timestamp};

use crate::RefusedCode;
use crate::documents::{ManifestDoc, Refused, WorkUnitDoc, check_candidate, handoff_refusal};
use crate::limits;

/// What is known beside the manifest.
pub(crate) struct Known<'a> {
    /// The WorkUnit that the manifest names, if it has come.
    pub(crate) work_unit: Option<&'a WorkUnitDoc>,
    /// The newest version of that WorkUnit, and when it came.
    pub(crate) newest: Option<(u64, Timestamp)>,
    /// The digest of the first manifest of this work unit version, worker and attempt.
    pub(crate) first: Option<C1Digest>,
    /// Whether a handoff was issued already: what was once admitted stays so, whatever was learnt since.
    pub(crate) issued: &'a dyn Fn(&C1Digest) -> bool,
    /// When a candidate of this work unit was rejected, by its digest.
    pub(crate) rejected: &'a dyn Fn(&Digest) -> Option<Timestamp>,
}

/// What to do with a manifest.
#[derive(Debug)]
pub(crate) enum Admission {
    /// Make it a handoff.
    Admit(Box<Intake>),
    /// Its WorkUnit may still come.
    Wait,
    /// The very same manifest was admitted before.
    Again,
    /// No handoff.
    Refuse(Refused),
}

/// Judges a manifest. `now` only ends the waiting for the WorkUnit.
pub(crate) fn admit(manifest: &ManifestDoc, known: &Known<'_>, policy: &Policy, now: Timestamp) -> Admission {
    match known.first {
        Some(first) if first != manifest.digest => {
            let message = format!("attempt {} was used for {first}", manifest.attempt);
            return Admission::Refuse(Refused::new(RefusedCode::AttemptConflict, "/attempt", message));
        }
        Some(_) => return Admission::Again,
        None => {}
    }
    let until = manifest.received_at.plus_seconds(limits::WAIT_SECONDS);
    let Some(work_unit) = known.work_unit.filter(|doc| doc.received_at <= until) else {
        if now <= until {
            return Admission::Wait;
        }
        let message = format!("no author published {} version {}", manifest.work, manifest.version);
        return Admission::Refuse(Refused::new(RefusedCode::UnknownWorkUnit, "/work_unit_id", message));
    };
    match intake_values(work_unit.work_unit.value().clone(), manifest.value.clone(), None) {
        Err(errors) => Admission::Refuse(handoff_refusal(&errors)),
        Ok(intake) if (known.issued)(&intake.handoff.id()) => Admission::Admit(Box::new(intake)),
        Ok(intake) => match may_verify(manifest, &work_unit.work_unit, &intake, known, policy) {
            Ok(()) => Admission::Admit(Box::new(intake)),
            Err(refused) => Admission::Refuse(refused),
        },
    }
}

fn may_verify(
    manifest: &ManifestDoc,
    work_unit: &WorkUnit,
    intake: &Intake,
    known: &Known<'_>,
    policy: &Policy,
) -> Result<(), Refused> {
    check_candidate(manifest, &intake.binding)?;
    if let Some((newest, came)) = known.newest
        && newest > manifest.version
        && came < manifest.received_at
    {
        let message = format!("version {} was superseded by {newest}", manifest.version);
        return Err(Refused::new(RefusedCode::SupersededWorkUnit, "/work_unit_version", message));
    }
    if policy.reverify {
        return Ok(());
    }
    if manifest.attempt > work_unit.max_attempts() {
        let message = format!("attempt {} of at most {}", manifest.attempt, work_unit.max_attempts());
        return Err(Refused::new(RefusedCode::AttemptsExhausted, "/attempt", message));
    }
    let candidate = intake.binding.candidate_digest();
    match (known.rejected)(&candidate) {
        Some(at) if at <= manifest.received_at => {
            let message = format!("{candidate} was rejected for this work unit at {at}; hand in another candidate");
            Err(Refused::new(RefusedCode::CandidateRejected, "", message))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use quorum_attest::{Entry, Role, SigningKey};
    use quorum_schemas::{Object, Value};

    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_micros(1_700_000_000_000_000).plus_seconds(seconds)
    }

    /// A manifest that came at second 0.
    fn manifest() -> ManifestDoc {
        let key = SigningKey::from_seed(&[1; 32]).public();
        let value = Value::Object(Object::new());
        ManifestDoc {
            envelope: Vec::new(),
            subject: "a subject".into(),
            about: Vec::new(),
            digest: Digest::c1(&value),
            value,
            worker_key: key.key_id(),
            worker: Entry::new(Role::Worker, "w", key, at(-1000), at(1000)),
            work: "work/unit".into(),
            version: 1,
            attempt: 1,
            received_at: at(0),
        }
    }

    fn outcome(first: Option<C1Digest>, now: Timestamp) -> String {
        let (issued, rejected) = (|_: &C1Digest| false, |_: &Digest| None);
        let known = Known { work_unit: None, newest: None, first, issued: &issued, rejected: &rejected };
        let policy = b"schema_version = \"0.1\"\nid = \"p\"\n";
        match admit(&manifest(), &known, &Policy::parse(policy).expect("a policy"), now) {
            Admission::Admit(_) => "admit".to_owned(),
            Admission::Wait => "wait".to_owned(),
            Admission::Again => "again".to_owned(),
            Admission::Refuse(refused) => refused.code.to_owned(),
        }
    }

    #[test]
    fn design_6_a_manifest_waits_sixty_seconds_for_its_work_unit() {
        for (seconds, expected) in [(0, "wait"), (60, "wait"), (61, "unknown_work_unit"), (10_000, "unknown_work_unit")]
        {
            assert_eq!(outcome(None, at(seconds)), expected, "after {seconds} s");
        }
    }

    #[test]
    fn design_6_one_manifest_per_attempt() {
        assert_eq!(outcome(Some(manifest().digest), at(0)), "again");
        assert_eq!(outcome(Some(Digest::c1(&"another manifest".into())), at(0)), "attempt_conflict");
    }
}
