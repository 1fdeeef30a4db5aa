//! Evidence intake: from a message to an item with its facts.

use quorum_attest::{Envelope, PredicateType, Statement};
use quorum_mesh::{BlobRole, MeshError, Stored};
use quorum_policies::{Received, RefusalKind};
use quorum_schemas::{Digest, Value};
use quorum_tasks::Effect;

use crate::audit;
use crate::case::{Case, Item};
use crate::context::Context;
use crate::documents::{Refused, open};
use crate::{CoordinatorError, RefusedCode, clock};

impl Context {
    /// Takes one message of the evidence stream into its case and tells the seats. Nothing is dropped: what is refused
    /// is listed in the decision and on the audit stream.
    pub(crate) async fn take_evidence(
        &self,
        case: &mut Case,
        verifier: &str,
        stored: &Stored,
    ) -> Result<(), CoordinatorError> {
        let digest = stored.digest();
        if case.items.contains_key(&digest) {
            return Ok(());
        }
        let known = case.decisions.last().and_then(|last| last.decision.facts.facts.received.get(&digest)).copied();
        let item = |received, bundle| Item { bytes: stored.body.to_vec(), sequence: stored.sequence, received, bundle };
        if let Some(received) = known {
            // A published decision has settled what this is; a start need not fetch its bundle again.
            let bundle = if received.bundle_checked { named_bundle(&stored.body) } else { None };
            case.items.insert(digest, item(received, bundle));
            return Ok(());
        }
        let bundle = self.check_bundle(case, stored).await?;
        let received = Received { received_at: stored.received_at, bundle_checked: bundle.is_some() };
        case.items.insert(digest, item(received, bundle));
        self.hear(case, verifier, stored).await
    }

    /// Lists what the policy engine refuses, and tells the seats of a panel that is still at work.
    async fn hear(&self, case: &mut Case, verifier: &str, stored: &Stored) -> Result<(), CoordinatorError> {
        let digest = stored.digest();
        let hearing = match case.hear(&self.loaded.trust) {
            Ok(hearing) => hearing,
            Err(error) => {
                tracing::error!(handoff = %case.id(), %error, "the evidence cannot be judged");
                return Ok(());
            }
        };
        let refusals = hearing.refusals.iter().filter(|refusal| refusal.envelope == digest);
        for refusal in refusals.filter(|refusal| refusal.kind == RefusalKind::Authenticity) {
            let refused = Refused::new(refusal.code.as_str(), refusal.pointer.clone(), refusal.message.clone());
            self.audit(&audit::refusal(stored, verifier, &refused, Some(case.id()))).await?;
        }
        for refusal in hearing.refusals.iter().filter(|refusal| refusal.code.as_str() == "equivocation") {
            let refused = Refused::new(RefusedCode::Equivocation, refusal.pointer.clone(), refusal.message.clone());
            let record =
                audit::record("equivocation", &refused, &stored.subject, refusal.envelope, verifier, Some(case.id()));
            self.audit(&record).await?;
        }
        if !case.is_live() {
            return Ok(());
        }
        self.refresh(case).await?;
        let now = clock::now();
        for event in hearing.events {
            let effects: Vec<Effect> = case.note(&event);
            self.carry_out(case, effects, now).await?;
        }
        Ok(())
    }

    /// The digest of the bundle if it is on the mesh and every digest that the evidence names was recomputed from it.
    async fn check_bundle(&self, case: &Case, stored: &Stored) -> Result<Option<Digest>, CoordinatorError> {
        // What nobody signed is worth no download.
        if Envelope::parse(&stored.body).is_err() {
            return Ok(None);
        }
        let Ok(authentic) = open(stored, &self.loaded.trust, PredicateType::Evidence) else { return Ok(None) };
        // A relayed envelope has its signer's bundle.
        let verifier = authentic.signer().id.as_str();
        let predicate = authentic.predicate();
        let Some(digest) = named_bundle(&stored.body) else { return Ok(None) };
        let bundle = match self.mesh.find_blob(BlobRole::Verifier, verifier, digest).await {
            Ok(Some(blob)) => self.mesh.get_blob(&blob).await,
            Ok(None) => return Ok(None),
            Err(error) => Err(error),
        };
        let bundle = match bundle {
            Ok(bundle) => bundle,
            Err(
                error @ (MeshError::NotFound(_)
                | MeshError::BlobCorrupt { .. }
                | MeshError::TooLarge { .. }
                | MeshError::MessageMalformed { .. }),
            ) => {
                tracing::warn!(handoff = %case.id(), verifier, %error, "a bundle cannot be read");
                return Ok(None);
            }
            Err(error) => return Err(error.into()),
        };
        match quorum_verifier::bundle::check(&bundle, predicate) {
            Ok(()) => Ok(Some(digest)),
            Err(error) => {
                tracing::warn!(handoff = %case.id(), verifier, %error, "a bundle does not hold what its evidence says");
                Ok(None)
            }
        }
    }
}

/// The bundle that an envelope names, whoever signed it.
pub(crate) fn named_bundle(envelope: &[u8]) -> Option<Digest> {
    let statement = Statement::parse(Envelope::parse(envelope).ok()?.payload()).ok()?;
    statement.predicate.get("bundle_digest").and_then(Value::as_str)?.parse().ok()
}
