//! Lease requests: one compare-and-set each.

use quorum_mesh::{LeaseOp, LeaseReply, LeaseRequest, MeshError, Place};
use quorum_schemas::Timestamp;
use quorum_tasks::{Effect, Event, step};

use crate::case::Case;
use crate::context::Context;
use crate::{CoordinatorError, RefusedCode, limits};

impl Context {
    /// Answers one request after its write is stored. Effects beside the answer (offers) are carried out too.
    pub(crate) async fn lease(
        &self,
        case: &mut Case,
        verifier: &str,
        request: &LeaseRequest,
        now: Timestamp,
    ) -> Result<LeaseReply, CoordinatorError> {
        if !case.is_live() {
            return Ok(refused(RefusedCode::HandoffDecided));
        }
        let event = match event(verifier, request, now) {
            Ok(event) => event,
            Err(code) => return Ok(refused(code)),
        };
        for _ in 0..limits::CAS_ATTEMPTS {
            self.refresh(case).await?;
            self.recall_offer(case, verifier, request).await?;
            let (next, effects) = step(&case.terms, &case.state, &event);
            if effects.contains(&Effect::Save) {
                let value = next.record().to_bytes();
                match self.leases.put(&case.id().hex(), &value, case.state.revision()).await {
                    Ok(revision) => {
                        case.state = next;
                        case.note(&Event::Stored { revision });
                    }
                    Err(MeshError::LeaseConflict { .. }) => continue,
                    Err(error) => return Err(error.into()),
                }
            } else {
                case.state = next;
            }
            let released = LeaseReply::Granted { epoch: request.epoch.unwrap_or(0), until: now };
            let reply = reply(case, request.seat, &effects, released);
            self.carry_out(case, effects, now).await?;
            return Ok(reply);
        }
        Ok(refused(RefusedCode::Busy))
    }

    /// Offers that were made before this process started, or by another replica, stand on the stream.
    async fn recall_offer(
        &self,
        case: &mut Case,
        verifier: &str,
        request: &LeaseRequest,
    ) -> Result<(), CoordinatorError> {
        let (seat, try_no) = (request.seat, request.try_no);
        if request.op != LeaseOp::Claim || case.state.was_offered(verifier, seat, try_no) {
            return Ok(());
        }
        let place = Place::Offer { verifier: verifier.to_owned(), handoff: case.id(), seat, try_no };
        if self.mesh.read(&place).await?.is_some() {
            case.note(&Event::Offered { verifier: verifier.to_owned(), seat, try_no });
        }
        Ok(())
    }
}

fn event(verifier: &str, request: &LeaseRequest, now: Timestamp) -> Result<Event, &'static str> {
    let verifier = verifier.to_owned();
    let (seat, try_no) = (request.seat, request.try_no);
    match (request.op, request.epoch) {
        (LeaseOp::Claim, _) => Ok(Event::Claim { now, verifier, seat, try_no }),
        (LeaseOp::Renew, Some(epoch)) => Ok(Event::Renew { now, verifier, seat, epoch }),
        (LeaseOp::Release, Some(epoch)) => Ok(Event::Release { now, verifier, seat, epoch }),
        (LeaseOp::Renew | LeaseOp::Release, None) => Err("epoch_missing"),
    }
}

/// The answer that the effects stand for; `released` is that of a seat given back.
fn reply(case: &Case, seat: u32, effects: &[Effect], released: LeaseReply) -> LeaseReply {
    for effect in effects {
        match effect {
            Effect::Denied(denied) => return refused(denied.code()),
            Effect::Granted { .. } => {
                let hold = case.state.seats().get(seat as usize).and_then(|seat| seat.hold.as_ref());
                if let Some((epoch, until)) = hold.and_then(|hold| Some((hold.epoch?, hold.until))) {
                    return LeaseReply::Granted { epoch, until };
                }
            }
            Effect::Released { .. } => return released,
            _ => {}
        }
    }
    refused(RefusedCode::SeatClosed)
}

pub(crate) fn refused(code: impl Into<&'static str>) -> LeaseReply {
    LeaseReply::Refused { code: code.into().to_owned() }
}
