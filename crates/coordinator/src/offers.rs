//! What the seats' state machine asks for: offers, lapses, and the newest stored leases.

use quorum_mesh::{MeshError, Offer, Place};
use quorum_schemas::Timestamp;
use quorum_tasks::{Effect, Event, Record};

use crate::CoordinatorError;
use crate::RefusedCode;
use crate::audit;
use crate::case::Case;
use crate::context::Context;
use crate::documents::Refused;

impl Context {
    /// Reads the stored leases of a handoff into its state: another replica may have written them.
    pub(crate) async fn refresh(&self, case: &mut Case) -> Result<(), CoordinatorError> {
        let Some(entry) = self.leases.get(&case.id().hex()).await? else { return Ok(()) };
        let record = Record::parse(&entry.value)?;
        case.note(&Event::Observed { record, revision: entry.revision });
        Ok(())
    }

    /// Lets time pass. A lapse is only believed after the stored leases were read again.
    pub(crate) async fn tick(&self, case: &mut Case, now: Timestamp) -> Result<(), CoordinatorError> {
        let event = Event::Tick { now };
        let (_, effects) = quorum_tasks::step(&case.terms, &case.state, &event);
        if effects.iter().any(|effect| matches!(effect, Effect::Lapsed { .. } | Effect::Deadline)) {
            self.refresh(case).await?;
        }
        let effects = case.note(&event);
        self.carry_out(case, effects, now).await
    }

    pub(crate) async fn carry_out(
        &self,
        case: &Case,
        effects: Vec<Effect>,
        now: Timestamp,
    ) -> Result<(), CoordinatorError> {
        for effect in effects {
            match effect {
                Effect::Offer { verifier, seat, try_no, again: false } => {
                    self.offer(case, &verifier, seat, try_no).await?;
                }
                // The verifier's consumer keeps an offer until it is acknowledged; a second message would add nothing.
                Effect::Offer { again: true, .. } => {}
                Effect::Lapsed { seat, verifier, try_no } => {
                    self.tell_lapse(case, seat, &verifier, try_no).await?;
                }
                Effect::SeatClosed { seat, why } => {
                    tracing::info!(handoff = %case.id(), seat, ?why, "seat closed");
                }
                Effect::PanelClosed => tracing::info!(handoff = %case.id(), %now, "panel closed"),
                Effect::Deadline => tracing::info!(handoff = %case.id(), %now, "deadline passed"),
                Effect::Save | Effect::Granted { .. } | Effect::Released { .. } | Effect::Denied(_) => {}
            }
        }
        Ok(())
    }

    async fn offer(&self, case: &Case, verifier: &str, seat: u32, try_no: u32) -> Result<(), CoordinatorError> {
        let offer = Offer {
            handoff: case.doc.envelope.clone(),
            work_unit: case.work_unit_envelope.clone(),
            candidate: case.candidate.clone(),
            baseline: case.baseline.clone(),
            seat,
            try_no,
        };
        let place = Place::Offer { verifier: verifier.to_owned(), handoff: case.id(), seat, try_no };
        match self.mesh.publish(&place, &offer.to_bytes()?).await {
            Ok(published) if published.fresh => {
                tracing::info!(handoff = %case.id(), verifier, seat, try_no, "offered");
                Ok(())
            }
            // Another replica was first; it may have seen a baseline that came a moment later.
            Ok(_) | Err(MeshError::AlreadyPublished { .. }) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    async fn tell_lapse(&self, case: &Case, seat: u32, verifier: &str, try_no: u32) -> Result<(), CoordinatorError> {
        let handoff = case.id();
        let place = Place::Offer { verifier: verifier.to_owned(), handoff, seat, try_no }.subject()?;
        let refused = Refused::new(RefusedCode::Lapsed, "", "the lease ran out unanswered");
        self.audit(&audit::record("lease", &refused, &place, handoff.of_bytes(), verifier, Some(handoff))).await
    }
}
