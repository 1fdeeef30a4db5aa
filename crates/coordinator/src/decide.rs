//! Decisions: asked for when the panel is closed or the deadline has passed, published once per revision.

use quorum_attest::PredicateType;
use quorum_mesh::{BlobRole, MeshError, Place, Stored, fault};
use quorum_policies::{Decision, EarlierAttempt, Outcome, revise};
use quorum_schemas::{SchemaName, Timestamp, validate};

use crate::case::{Case, Decided};
use crate::context::Context;
use crate::documents::{open, write_decision};
use crate::{CoordinatorError, limits, record};

/// When the deadline of a handoff is known to have passed: only the stream's clock says so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Deadline {
    /// Not that anybody knew.
    Ahead,
    /// The stream's clock has passed it, and everything published before it was read.
    Passed,
}

impl Context {
    /// Publishes revision 1 if nothing is waited for any more. `horizon` is the last sequence of the evidence stream
    /// that was read.
    pub(crate) async fn decide(
        &self,
        case: &mut Case,
        deadline: Deadline,
        horizon: u64,
        earlier: &[EarlierAttempt],
    ) -> Result<(), CoordinatorError> {
        if !case.is_live() || (deadline == Deadline::Ahead && !case.state.panel_closed()) {
            return Ok(());
        }
        let facts = case.facts(&self.loaded.trust, case.doc.deadline, horizon, earlier);
        let latest = facts.received.values().map(|received| received.received_at).max();
        let now = match deadline {
            Deadline::Passed if !case.state.panel_closed() => case.doc.deadline,
            // A panel can close without any evidence: every try lapsed.
            _ => latest.unwrap_or(case.doc.issued_at),
        };
        let decision = match case.decide(&self.loaded.trust, &facts, now) {
            Ok(Outcome::Decided(decision)) => *decision,
            Ok(Outcome::Pending(pending)) => {
                tracing::warn!(handoff = %case.id(), ?pending, "the seats are closed and the policy engine waits");
                return Ok(());
            }
            Err(error) => {
                tracing::error!(handoff = %case.id(), %error, "no decision is possible");
                case.stuck = true;
                return Ok(());
            }
        };
        fault::point("after_evidence_stored_before_decision");
        self.publish_decision(case, decision).await
    }

    /// Publishes later revisions for as long as what has come since changes the recommendation.
    pub(crate) async fn revise(
        &self,
        case: &mut Case,
        horizon: u64,
        earlier: &[EarlierAttempt],
    ) -> Result<(), CoordinatorError> {
        while let Some(last) = case.decisions.last() {
            if last.decision.revision >= limits::REVISIONS {
                return Ok(());
            }
            let known = &last.decision.facts.facts.received;
            let mut facts = case.facts(&self.loaded.trust, Timestamp::from_micros(i64::MAX), horizon, earlier);
            if !known.keys().all(|digest| facts.received.contains_key(digest)) {
                // While a start reads the stream again, what it has not come to yet is no evidence that is gone.
                return Ok(());
            }
            let same_trust = last.decision.trust.digest == self.loaded.trust.digest();
            if same_trust && facts.received.keys().all(|digest| known.contains_key(digest)) {
                return Ok(());
            }
            // What a seat was when revision 1 was decided stays: later leases belong to nobody's panel.
            facts.seats.clone_from(&last.decision.facts.facts.seats);
            let latest = facts.received.values().map(|received| received.received_at).max();
            let mut now = latest.unwrap_or(case.doc.issued_at).max(last.decision.facts.now);
            if !same_trust {
                // What a trust root changes, it changes from when it was issued.
                now = now.max(self.loaded.trust.issued_at());
            }
            let previous = last.decision.clone();
            let revised = case.with(&self.loaded.trust, &facts, case.doc.deadline, |ask| revise(ask, now, &previous));
            match revised {
                Ok(Some(decision)) => self.publish_decision(case, decision).await?,
                Ok(None) => return Ok(()),
                Err(error) => {
                    tracing::error!(handoff = %case.id(), %error, "no revision is possible");
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// Signs and publishes one revision; if one stands there already, that one is the truth.
    async fn publish_decision(&self, case: &mut Case, decision: Decision) -> Result<(), CoordinatorError> {
        let (decision, summary) = record::with_files(self, case, decision)?;
        let handoff = case.id();
        let place = Place::Decision { handoff, revision: decision.revision };
        let predicate = decision.to_value();
        validate(SchemaName::Decision, &predicate).map_err(|violations| CoordinatorError::OwnDocument {
            place: "the decision to be signed".into(),
            reason: violations.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "),
        })?;
        // Before the decision that lists it, as a bundle goes before its evidence. A summary that no decision lists was
        // overtaken by another coordinator's decision.
        if let Some(summary) = summary {
            self.mesh.put_blob(BlobRole::Coordinator, &self.loaded.id, &summary).await?;
        }
        let envelope = write_decision(predicate, &case.doc.binding, &self.loaded.key);
        match self.mesh.publish(&place, &envelope).await {
            Ok(published) => {
                let (recommendation, revision) = (decision.recommendation.as_str(), decision.revision);
                tracing::info!(%handoff, revision, recommendation, "decided");
                case.decisions.push(Decided { decision, stored_at: published.stored_at });
                fault::point("after_decision_before_ack");
                Ok(())
            }
            Err(MeshError::AlreadyPublished { .. }) => {
                let stored = self.mesh.read(&place).await?;
                let stored = stored.ok_or_else(|| MeshError::NotFound(place.subject().unwrap_or_default()))?;
                self.adopt(case, &stored)
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Takes over a revision that stands on the stream.
    pub(crate) fn adopt(&self, case: &mut Case, stored: &Stored) -> Result<(), CoordinatorError> {
        let own = |reason: String| CoordinatorError::OwnDocument { place: stored.subject.clone(), reason };
        let authentic = open(stored, &self.loaded.trust, PredicateType::Decision);
        let authentic = authentic.map_err(|refused| own(refused.message))?;
        let decision = Decision::parse(authentic.predicate()).map_err(|error| own(error.to_string()))?;
        let next = case.decisions.last().map_or(1, |last| last.decision.revision + 1);
        if decision.handoff_id != case.id() || decision.revision > next {
            return Err(own(format!("revision {} of {}, expected {next}", decision.revision, decision.handoff_id)));
        }
        if decision.revision == next {
            tracing::debug!(handoff = %case.id(), revision = next, "adopted a published decision");
            case.decisions.push(Decided { decision, stored_at: stored.received_at });
        }
        Ok(())
    }
}
