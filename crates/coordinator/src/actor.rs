//! The actor: everything that happens, one thing after the other.

use quorum_handoff::{CandidateSubject, Intake, candidate_subject};
use quorum_mesh::consume::DeadLetter;
use quorum_mesh::{BlobRef, BlobRole, Delivery, LeaseCall, MeshError, Place, Stored, StreamName};
use quorum_schemas::{C1Digest, Digest, Timestamp};
use quorum_tasks::Event;

use crate::admission::{Admission, admit};
use crate::board::{Board, Waiting, attempt_key};
use crate::case::{Case, Parts};
use crate::context::Context;
use crate::decide::Deadline;
use crate::documents::{Issue, ManifestDoc, Refused, read_handoff, read_manifest, read_work_unit, write_handoff};
use crate::leases::refused;
use crate::{CoordinatorError, RefusedCode, audit, clock, limits};

/// The streams that the actor follows, in the order in which a start reads them: what comes later in this list refers to
/// what came earlier.
const FOLLOWED: [StreamName; 4] = [StreamName::Work, StreamName::Decisions, StreamName::Results, StreamName::Evidence];

/// State and desk of one coordinator.
#[derive(Debug)]
pub(crate) struct Actor {
    context: Context,
    board: Board,
}

impl Actor {
    pub(crate) fn new(context: Context) -> Self {
        Self { context, board: Board::default() }
    }

    pub(crate) fn into_context(self) -> Context {
        self.context
    }

    pub(crate) fn context(&self) -> &Context {
        &self.context
    }

    /// Rebuilds everything from the streams and the lease bucket.
    pub(crate) async fn rebuild(&mut self) -> Result<(), CoordinatorError> {
        self.board = Board::default();
        let mesh = self.context.mesh.clone();
        self.context.publish_control_files().await?;
        for stored in mesh.scan(StreamName::Audit, Some("idkmesh.v1.audit.refusal.*"), 1).await? {
            // Those of evidence name a handoff, and are heard again by its case.
            if let Ok(record) = quorum_mesh::AuditRecord::parse(&stored.body)
                && record.handoff.is_none()
            {
                self.board.refused.insert((record.publisher, record.digest));
            }
        }
        for stored in mesh.scan(StreamName::Handoffs, None, 1).await? {
            if let Ok(Place::Handoff { handoff }) = stored.place() {
                self.board.handoffs.insert(handoff, stored);
            }
        }
        for stream in FOLLOWED {
            self.catch_up(stream).await?;
        }
        self.revise_all().await?;
        let (cases, waiting) = (self.board.cases.len(), self.board.waiting.len());
        tracing::info!(cases, waiting, "the state is rebuilt from the streams");
        Ok(())
    }

    /// A new trust root may take a decision's support away.
    async fn revise_all(&mut self) -> Result<(), CoordinatorError> {
        let horizon = self.board.cursor(StreamName::Evidence);
        let decided = self.board.cases.iter().filter(|(_, case)| !case.decisions.is_empty());
        let decided: Vec<_> = decided.map(|(id, case)| (*id, self.board.earlier_attempts(case))).collect();
        for (id, earlier) in decided {
            if let Some(case) = self.board.cases.get_mut(&id) {
                self.context.revise(case, horizon, &earlier).await?;
            }
        }
        Ok(())
    }

    /// Reads a stream from where it was left to its end.
    async fn catch_up(&mut self, stream: StreamName) -> Result<(), CoordinatorError> {
        let from = self.board.cursor(stream) + 1;
        for stored in self.context.mesh.scan(stream, None, from).await? {
            self.take(stream, stored).await?;
        }
        Ok(())
    }

    /// One delivery of a consumer. It is only a hint that there is something new: the stream is read in its order.
    pub(crate) async fn on_delivery(&mut self, stream: StreamName, delivery: Delivery) -> Result<(), CoordinatorError> {
        let sequence = delivery.stored.sequence;
        let cursor = self.board.cursor(stream);
        if sequence == cursor + 1 {
            self.take(stream, delivery.stored.clone()).await?;
        } else if sequence > cursor {
            self.catch_up(stream).await?;
        }
        // Nothing hangs on it, so that nothing waits for it: what is delivered again was read before.
        tokio::spawn(async move {
            if let Err(error) = delivery.ack().await {
                tracing::debug!(%error, stream = stream.as_str(), sequence, "an acknowledgement was lost");
            }
        });
        Ok(())
    }

    /// Looks through the streams for what another replica was handed, and again at what waits.
    pub(crate) async fn on_resync(&mut self) -> Result<(), CoordinatorError> {
        for stream in FOLLOWED {
            if self.context.mesh.last_sequence(stream).await? > self.board.cursor(stream) {
                self.catch_up(stream).await?;
            }
        }
        self.retry_waiting().await
    }

    /// One message. What only a person can put right is logged, and stops nothing else.
    async fn take(&mut self, stream: StreamName, stored: Stored) -> Result<(), CoordinatorError> {
        let sequence = stored.sequence;
        let subject = stored.subject.clone();
        let taken = match stream {
            StreamName::Work => self.take_work_unit(&stored).await,
            StreamName::Results => self.take_manifest(stored).await,
            StreamName::Evidence => self.take_evidence(&stored).await,
            StreamName::Decisions => self.take_decision(stored),
            _ => Ok(()),
        };
        match taken {
            Err(error) if error.needs_a_person() => tracing::error!(%error, code = error.code(), subject, "left alone"),
            other => other?,
        }
        self.board.advance(stream, sequence);
        Ok(())
    }

    async fn take_work_unit(&mut self, stored: &Stored) -> Result<(), CoordinatorError> {
        match read_work_unit(stored, &self.context.loaded.trust) {
            Ok(doc) => {
                let versions = self.board.work.entry(doc.work_unit.id().to_owned()).or_default();
                versions.insert(doc.work_unit.version(), doc);
                self.retry_waiting().await
            }
            Err(refused) => self.refuse(stored, &refused, None).await,
        }
    }

    async fn take_manifest(&mut self, stored: Stored) -> Result<(), CoordinatorError> {
        if self.board.refused.contains(&(publisher(&stored), stored.digest())) {
            // Its attempt is used up all the same.
            if let Ok(manifest) = read_manifest(&stored, &self.context.loaded.trust) {
                self.board.attempts.entry(attempt_key(&manifest)).or_insert(manifest.digest);
            }
            return Ok(());
        }
        match read_manifest(&stored, &self.context.loaded.trust) {
            Ok(manifest) => {
                if self.board.work.get(&manifest.work).is_none_or(|versions| !versions.contains_key(&manifest.version))
                {
                    self.catch_up_work().await?;
                }
                self.consider(manifest, stored).await
            }
            Err(refused) => self.refuse(&stored, &refused, None).await,
        }
    }

    /// WorkUnits have their own consumer; one that was published before a manifest must be known before it.
    async fn catch_up_work(&mut self) -> Result<(), CoordinatorError> {
        let from = self.board.cursor(StreamName::Work) + 1;
        for stored in self.context.mesh.scan(StreamName::Work, None, from).await? {
            match read_work_unit(&stored, &self.context.loaded.trust) {
                Ok(doc) => {
                    let versions = self.board.work.entry(doc.work_unit.id().to_owned()).or_default();
                    versions.insert(doc.work_unit.version(), doc);
                }
                Err(refused) => self.refuse(&stored, &refused, None).await?,
            }
            self.board.advance(StreamName::Work, stored.sequence);
        }
        Ok(())
    }

    async fn retry_waiting(&mut self) -> Result<(), CoordinatorError> {
        for Waiting { manifest, stored } in std::mem::take(&mut self.board.waiting) {
            let subject = stored.subject.clone();
            match self.consider(manifest, stored).await {
                Err(error) if error.needs_a_person() => {
                    tracing::error!(%error, code = error.code(), subject, "left alone");
                }
                other => other?,
            }
        }
        Ok(())
    }

    fn judge(&self, manifest: &ManifestDoc, now: Timestamp) -> Admission {
        let rejected = |candidate: &Digest| self.board.rejected(&manifest.work, candidate);
        let issued = |id: &C1Digest| self.board.handoffs.contains_key(id);
        admit(manifest, &self.board.known(manifest, &issued, &rejected), &self.context.loaded.policy, now)
    }

    /// Holds a manifest against what is known: a handoff, a refusal, or a wait.
    async fn consider(&mut self, manifest: ManifestDoc, stored: Stored) -> Result<(), CoordinatorError> {
        let now = clock::now();
        match self.judge(&manifest, now) {
            Admission::Again => Ok(()),
            Admission::Wait => {
                self.board.waiting.push(Waiting { manifest, stored });
                Ok(())
            }
            Admission::Refuse(refused) => self.refuse_manifest(&manifest, &stored, &refused).await,
            Admission::Admit(intake) => match self.candidate(&manifest, &intake).await? {
                Ok(Some(candidate)) => {
                    self.board.attempts.insert(attempt_key(&manifest), manifest.digest);
                    self.open_case(&manifest, &intake, candidate).await
                }
                Ok(None) if now <= manifest.received_at.plus_seconds(limits::WAIT_SECONDS) => {
                    self.board.waiting.push(Waiting { manifest, stored });
                    Ok(())
                }
                Ok(None) => {
                    let message = "the candidate's blob is not on the mesh; publish it before the manifest";
                    self.refuse_manifest(&manifest, &stored, &Refused::new(RefusedCode::CandidateMissing, "", message))
                        .await
                }
                Err(refused) => self.refuse_manifest(&manifest, &stored, &refused).await,
            },
        }
    }

    /// A refused manifest has used up its attempt.
    async fn refuse_manifest(
        &mut self,
        manifest: &ManifestDoc,
        stored: &Stored,
        refused: &Refused,
    ) -> Result<(), CoordinatorError> {
        self.board.attempts.entry(attempt_key(manifest)).or_insert(manifest.digest);
        self.refuse(stored, refused, None).await
    }

    /// The candidate's bytes on the mesh: published by the worker under the digest that its signature names, whole and
    /// readable, so that no verifier takes a seat for nothing.
    async fn candidate(
        &self,
        manifest: &ManifestDoc,
        intake: &Intake,
    ) -> Result<Result<Option<BlobRef>, Refused>, CoordinatorError> {
        let CandidateSubject::Sha256 { digest, .. } = candidate_subject(&intake.binding) else {
            let message = "the mesh carries bytes; hand the head tree in as an artifact_bundle";
            return Ok(Err(Refused::new(RefusedCode::CandidateUnsupported, "", message)));
        };
        let found = match self.context.mesh.find_blob(BlobRole::Worker, &manifest.worker.id, digest).await {
            // A handoff that stands was issued for a candidate that was whole.
            Ok(Some(blob)) if !self.board.handoffs.contains_key(&intake.handoff.id()) => {
                self.context.mesh.check_blob(&blob).await.map(|()| Some(blob))
            }
            other => other,
        };
        match found {
            Ok(found) => Ok(Ok(found)),
            // Its first chunks stand there, the others may still come.
            Err(MeshError::NotFound(_)) => Ok(Ok(None)),
            Err(
                error @ (MeshError::TooLarge { .. }
                | MeshError::MessageMalformed { .. }
                | MeshError::BlobCorrupt { .. }),
            ) => Ok(Err(Refused::new(RefusedCode::CandidateUnreadable, "", error.to_string()))),
            Err(error) => Err(error.into()),
        }
    }

    /// The author's baseline. One that nobody can read is as good as none: a check that needs it ends in error, and the
    /// work that does not need it goes on.
    async fn baseline(&self, author: &str, digest: Digest) -> Result<Option<BlobRef>, CoordinatorError> {
        match self.context.mesh.find_blob(BlobRole::Author, author, digest).await {
            Ok(found) => Ok(found),
            Err(
                error @ (MeshError::TooLarge { .. }
                | MeshError::MessageMalformed { .. }
                | MeshError::BlobCorrupt { .. }
                | MeshError::NotFound(_)),
            ) => {
                tracing::warn!(%error, code = error.code(), author, "the baseline cannot be read");
                Ok(None)
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Publishes the handoff, or takes over the one that stands there, and offers its seats.
    async fn open_case(
        &mut self,
        manifest: &ManifestDoc,
        intake: &Intake,
        candidate: BlobRef,
    ) -> Result<(), CoordinatorError> {
        let id = intake.handoff.id();
        let stored = match self.board.handoffs.get(&id) {
            Some(stored) => stored.clone(),
            None => self.publish_handoff(manifest, intake).await?,
        };
        let doc = read_handoff(&stored, &self.context.loaded.trust).map_err(|refused| {
            CoordinatorError::OwnDocument { place: stored.subject.clone(), reason: refused.message }
        })?;
        let policy = self.context.policy(id, doc.policy_digest).await?;
        let Some(work_unit) = self.board.work.get(&manifest.work).and_then(|v| v.get(&manifest.version)) else {
            return Ok(());
        };
        let baseline = match work_unit.work_unit.baseline_digest() {
            Some(digest) => self.baseline(&work_unit.author, digest).await?,
            None => None,
        };
        let parts = Parts { manifest, work_unit, policy, candidate, baseline };
        let mut case = Case::new(doc, parts, &self.context.loaded, &self.context.timing)?;
        for stored in self.board.decisions.remove(&id).unwrap_or_default().into_values() {
            if let Err(error) = self.context.adopt(&mut case, &stored) {
                tracing::error!(%error, code = error.code(), "left alone");
                case.stuck = true;
            }
        }
        if case.is_live() {
            self.context.refresh(&mut case).await?;
            let now = clock::now();
            let effects = case.note(&Event::Resumed { now });
            self.context.carry_out(&case, effects, now).await?;
        }
        self.board.cases.insert(id, case);
        Ok(())
    }

    async fn publish_handoff(&self, manifest: &ManifestDoc, intake: &Intake) -> Result<Stored, CoordinatorError> {
        let (loaded, policy) = (&self.context.loaded, &self.context.loaded.policy);
        let handoff = &intake.handoff;
        let work_unit = self.board.work.get(&manifest.work).and_then(|versions| versions.get(&manifest.version));
        let voices = handoff.quorum().unwrap_or(1).max(handoff.minimum_independent_verifiers());
        let voices = u32::try_from(voices).unwrap_or(u32::MAX).min(quorum_tasks::limits::SEATS);
        let issued_at = clock::now();
        let deadline = i64::try_from(policy.deadline_seconds).unwrap_or(i64::MAX);
        let issue = Issue {
            work_unit_envelope: Digest::of(work_unit.map(|doc| doc.envelope.as_slice()).unwrap_or_default()),
            policy_digest: policy.digest(),
            trust_version: loaded.trust.version(),
            // A panel that cannot reach what the work unit asks for would only waste its verifiers.
            panel: policy.panel.max(voices),
            issued_at,
            deadline: issued_at.plus_seconds(deadline),
        };
        let envelope = write_handoff(intake, &issue, &loaded.key)?;
        let place = Place::Handoff { handoff: handoff.id() };
        match self.context.mesh.publish(&place, &envelope).await {
            Ok(_) => {
                tracing::info!(handoff = %handoff.id(), worker = manifest.worker.id, manifest = manifest.subject, "handoff")
            }
            Err(MeshError::AlreadyPublished { .. }) => {}
            Err(error) => return Err(error.into()),
        }
        let stored = self.context.mesh.read(&place).await?;
        Ok(stored.ok_or_else(|| MeshError::NotFound(place.subject().unwrap_or_default()))?)
    }

    async fn take_evidence(&mut self, stored: &Stored) -> Result<(), CoordinatorError> {
        let place = stored.place();
        let Ok(Place::Evidence { verifier, handoff, seat, try_no }) = place else {
            return self
                .refuse(stored, &Refused::new(RefusedCode::WrongPlace, "", "not an evidence subject"), None)
                .await;
        };
        if !self.board.cases.contains_key(&handoff) {
            // The manifest may have been handed to another replica.
            Box::pin(self.catch_up(StreamName::Results)).await?;
        }
        let horizon = stored.sequence;
        let earlier = self.board.cases.get(&handoff).map(|case| self.board.earlier_attempts(case));
        let (Some(case), Some(earlier)) = (self.board.cases.get_mut(&handoff), earlier) else {
            let refused = Refused::new(RefusedCode::WrongHandoff, "", "there is no such handoff");
            return self.refuse(stored, &refused, Some(handoff)).await;
        };
        if !case.hears(&verifier, seat, try_no) {
            let refused =
                Refused::new(RefusedCode::TooMany, "", "no such seat and try, and not the first such message");
            return self.refuse(stored, &refused, Some(handoff)).await;
        }
        self.context.take_evidence(case, &verifier, stored).await?;
        if case.is_live() {
            self.context.decide(case, Deadline::Ahead, horizon, &earlier).await
        } else {
            self.context.revise(case, horizon, &earlier).await
        }
    }

    fn take_decision(&mut self, stored: Stored) -> Result<(), CoordinatorError> {
        let Ok(Place::Decision { handoff, revision }) = stored.place() else { return Ok(()) };
        match self.board.cases.get_mut(&handoff) {
            Some(case) => self.context.adopt(case, &stored),
            None => {
                self.board.decisions.entry(handoff).or_default().insert(revision, stored);
                Ok(())
            }
        }
    }

    /// A message that no delivery could finish: it stays on its stream, and the record says so.
    pub(crate) async fn on_dead_letter(&mut self, letter: &DeadLetter) -> Result<(), CoordinatorError> {
        let (stream, sequence) = &letter.sequence;
        let message = format!("{} deliveries by {} of {stream} {sequence}", letter.deliveries, letter.consumer);
        let Some(stored) = &letter.stored else {
            tracing::error!(message, "a dead letter that cannot be read");
            return Ok(());
        };
        let refused = Refused::new(RefusedCode::DeliveriesExhausted, "", message);
        let subject = &stored.subject;
        let record = audit::record("dead-letter", &refused, subject, stored.digest(), &letter.consumer, None);
        self.context.audit(&record).await
    }

    async fn refuse(
        &mut self,
        stored: &Stored,
        refused: &Refused,
        handoff: Option<C1Digest>,
    ) -> Result<(), CoordinatorError> {
        let publisher = publisher(stored);
        if !self.board.refused.insert((publisher.clone(), stored.digest())) {
            return Ok(());
        }
        tracing::warn!(code = refused.code, subject = stored.subject, reason = refused.message, "refused");
        self.context.audit(&audit::refusal(stored, &publisher, refused, handoff)).await
    }

    /// One lease request; answered after its write is stored.
    pub(crate) async fn on_lease(&mut self, call: LeaseCall) -> Result<(), CoordinatorError> {
        let handoff = call.request.handoff;
        if !self.board.cases.contains_key(&handoff) {
            self.catch_up(StreamName::Results).await?;
        }
        let reply = match self.board.cases.get_mut(&handoff) {
            Some(case) => self.context.lease(case, &call.verifier, &call.request, clock::now()).await?,
            None => refused(RefusedCode::UnknownHandoff),
        };
        tracing::debug!(verifier = call.verifier, request = ?call.request, ?reply, "lease");
        if let Err(error) = call.reply(&reply).await {
            tracing::warn!(%error, "a lease reply was lost; the verifier asks again");
        }
        Ok(())
    }

    /// Time passes: offers move on, leases lapse, deadlines come.
    pub(crate) async fn on_tick(&mut self) -> Result<(), CoordinatorError> {
        let now = clock::now();
        for case in self.board.cases.values_mut().filter(|case| case.is_live()) {
            self.context.tick(case, now).await?;
        }
        self.end_deadlines(now).await?;
        self.end_exhausted().await
    }

    /// Handoffs whose deadline has passed on the stream's clock too are decided on what was published before it.
    async fn end_deadlines(&mut self, now: Timestamp) -> Result<(), CoordinatorError> {
        let due: Vec<C1Digest> = self.undecided(|case| case.doc.deadline <= now);
        if due.is_empty() {
            return Ok(());
        }
        let server = self.context.mesh.server_time().await?;
        self.catch_up(StreamName::Evidence).await?;
        for id in due {
            self.end(id, Deadline::Passed, |case| case.doc.deadline < server).await?;
        }
        Ok(())
    }

    /// Panels that closed without evidence: the last try of the last open seat lapsed.
    async fn end_exhausted(&mut self) -> Result<(), CoordinatorError> {
        for id in self.undecided(|case| case.state.panel_closed()) {
            self.end(id, Deadline::Ahead, |_| true).await?;
        }
        Ok(())
    }

    fn undecided(&self, also: impl Fn(&Case) -> bool) -> Vec<C1Digest> {
        let cases = self.board.cases.iter().filter(|(_, case)| case.is_live() && also(case));
        cases.map(|(id, _)| *id).collect()
    }

    async fn end(
        &mut self,
        id: C1Digest,
        deadline: Deadline,
        really: impl Fn(&Case) -> bool,
    ) -> Result<(), CoordinatorError> {
        let horizon = self.board.cursor(StreamName::Evidence);
        let Some(case) = self.board.cases.get(&id).filter(|case| really(case)) else { return Ok(()) };
        let earlier = self.board.earlier_attempts(case);
        let Some(case) = self.board.cases.get_mut(&id) else { return Ok(()) };
        let ended = match self.context.decide(case, deadline, horizon, &earlier).await {
            Ok(()) => self.context.revise(case, horizon, &earlier).await,
            Err(error) => Err(error),
        };
        match ended {
            Err(error) if error.needs_a_person() => {
                tracing::error!(%error, code = error.code(), handoff = %id, "left alone");
                case.stuck = true;
                Ok(())
            }
            other => other,
        }
    }
}

/// Who published a document, as the server's permissions vouch for its subject.
fn publisher(stored: &Stored) -> String {
    match stored.place() {
        Ok(Place::Result { worker, .. }) => worker,
        Ok(Place::Evidence { verifier, .. }) => verifier,
        // Any author may publish any work unit; the subject does not say who did.
        _ => String::new(),
    }
}
