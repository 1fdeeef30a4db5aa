//! The six stories. Whatever the table says is read back from the streams and audited again.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use quorum_attest::{Envelope, PAYLOAD_TYPE, PredicateType, Role, Statement, sign};
use quorum_coordinator::export;
use quorum_gate::{AuditOutcome, audit};
use quorum_mesh::{AuditRecord, Mesh, MeshError, Place, StreamName, UserRole, fault};
use quorum_schemas::{C1Digest, Digest, Value};
use quorum_testkit::{AUDITOR, AUTHOR, World};
use tokio::process::Command;
use tokio::sync::mpsc::Sender;
use tokio::time::{Instant, sleep};

use super::broken;
use super::table::Row;
use crate::cmd::submit;
use crate::codes::CliCode;
use crate::error::CliError;
use crate::narrate::short;

/// How long one story may take: a lease has to lapse in the longest.
const PATIENCE: Duration = Duration::from_secs(60);
/// Pause between two looks at the audit stream.
const POLL: Duration = Duration::from_millis(20);

/// Tells all stories in order.
pub(super) async fn tell(world: &mut World, examples: &Path, say: &Sender<String>) -> Result<Vec<Row>, CliError> {
    let auditor = world.connect(UserRole::Auditor, AUDITOR).await.map_err(broken)?;
    let mut teller = Teller { world, examples, auditor, say, program: super::program()? };
    teller.publish_work_unit().await?;
    let mut rows = Vec::new();
    let (good, undisturbed) = teller.decided("good", "good candidate", "worker-good", "accept_candidate").await?;
    rows.push(good);
    rows.push(teller.decided("wrong", "wrong answer", "worker-wrong", "reject_candidate").await?.0);
    rows.push(teller.decided("forbidden", "forbidden path", "worker-forbidden", "reject_candidate").await?.0);
    rows.push(teller.accepts_itself().await?);
    rows.extend(teller.own_evidence(&undisturbed).await?);
    rows.push(teller.killed_verifier(&undisturbed).await?);
    teller.auditor.close().await.map_err(submit::broken)?;
    Ok(rows)
}

struct Teller<'a> {
    world: &'a mut World,
    examples: &'a Path,
    auditor: Mesh,
    say: &'a Sender<String>,
    program: PathBuf,
}

/// A manifest on its way.
#[derive(Clone, Copy)]
struct Submitted {
    handoff: C1Digest,
    /// Of the manifest's envelope.
    envelope: Digest,
}

/// What one decision rests on.
struct Told {
    handoff: C1Digest,
    /// The recommendation, or `refused: CODE` where the coordinator took no handoff.
    recommendation: String,
    /// Who said what: (key id, verdict).
    verdicts: BTreeSet<(String, String)>,
}

impl Teller<'_> {
    async fn say(&self, line: impl Into<String>) {
        // The listener ends only after the stories.
        let _ = self.say.send(line.into()).await;
    }

    /// Runs `quorum` as the author or a worker would, and returns what it printed.
    async fn quorum(&self, arguments: &[&str], paths: &[(&str, &Path)]) -> Result<Vec<u8>, CliError> {
        let mut command = Command::new(&self.program);
        command.args(arguments).kill_on_drop(true);
        for (flag, path) in paths {
            command.arg(flag).arg(path);
        }
        let output = command.output().await.map_err(|error| failed(arguments, &error))?;
        if output.status.success() {
            return Ok(output.stdout);
        }
        Err(failed(arguments, &String::from_utf8_lossy(&output.stderr).trim()))
    }

    async fn publish_work_unit(&self) -> Result<(), CliError> {
        let (credentials, key) =
            (self.world.credentials(UserRole::Author, AUTHOR), self.world.key_file(Role::Author, AUTHOR));
        let paths = [
            ("--work-unit", &*self.examples.join("work-unit.json")),
            ("--credentials", &*credentials),
            ("--key", &*key),
        ];
        self.quorum(&["submit", "--nats", &self.world.server.url()], &paths).await.map(drop)
    }

    /// Builds, signs and submits a manifest for a candidate, as the worker.
    async fn submit(&self, worker: &str, candidate: &str) -> Result<Submitted, CliError> {
        let result = self.manifest(worker, candidate).await?;
        let credentials = self.world.credentials(UserRole::Worker, worker);
        let candidate = self.examples.join(candidate);
        let paths = [("--result", &*result), ("--candidate", &*candidate), ("--credentials", &*credentials)];
        let printed = self.quorum(&["submit", "--json", "--nats", &self.world.server.url()], &paths).await?;
        let answer = quorum_schemas::parse(&printed).map_err(|error| failed(&["submit"], &error))?;
        let text = |key: &str| answer.get(key).and_then(Value::as_str).unwrap_or_default();
        match (text("handoff").parse(), text("digest").parse()) {
            (Ok(handoff), Ok(envelope)) => Ok(Submitted { handoff, envelope }),
            _ => Err(failed(&["submit"], &"it named no handoff")),
        }
    }

    async fn manifest(&self, worker: &str, candidate: &str) -> Result<PathBuf, CliError> {
        let output = self.world.dir().join(format!("{worker}.result.dsse.json"));
        let key = self.world.key_file(Role::Worker, worker);
        let paths = [
            ("--work-unit", &*self.examples.join("work-unit.json")),
            ("--candidate", &*self.examples.join(candidate)),
            ("--key", &*key),
            ("--output", &*output),
        ];
        self.quorum(&["manifest", "--worker", worker], &paths).await?;
        Ok(output)
    }

    /// A candidate that is handed in and decided on.
    async fn decided(
        &self,
        candidate: &str,
        story: &'static str,
        worker: &str,
        expected: &'static str,
    ) -> Result<(Row, Told), CliError> {
        self.say(format!("story      {story}")).await;
        let submitted = self.submit(worker, candidate).await?;
        let told = self.read_back(submitted).await?;
        let row = Row {
            story,
            expected,
            found: told.recommendation.clone(),
            because: verdicts(&told),
            audit: self.audited(&told, candidate).await?,
        };
        Ok((row, told))
    }

    /// Waits for the decision, or for the refusal of the manifest.
    async fn read_back(&self, submitted: Submitted) -> Result<Told, CliError> {
        let handoff = submitted.handoff;
        let refused = async {
            let code = self.refusal(submitted.envelope).await?.code;
            Ok(Told { handoff, recommendation: format!("refused: {code}"), verdicts: BTreeSet::new() })
        };
        tokio::select! {
            told = self.decision(handoff) => told,
            told = refused => told,
        }
    }

    async fn decision(&self, handoff: C1Digest) -> Result<Told, CliError> {
        let (_, decision) = self.world.decision(handoff, 1, PATIENCE).await.map_err(broken)?;
        let text = |value: &Value, key: &str| value.get(key).and_then(Value::as_str).unwrap_or("?").to_owned();
        let heard = decision.get("heard").and_then(Value::as_array).unwrap_or_default();
        let verdicts = heard
            .iter()
            .flat_map(|heard| {
                let evidence = heard.get("evidence").and_then(Value::as_array).unwrap_or_default();
                evidence.iter().map(|evidence| (text(heard, "key_id"), text(evidence, "verdict")))
            })
            .collect();
        Ok(Told { handoff, recommendation: text(&decision, "recommendation"), verdicts })
    }

    /// Exports the record of a decision and audits it against the trust root that we know.
    async fn audited(&self, told: &Told, name: &str) -> Result<String, CliError> {
        if told.recommendation.starts_with("refused") {
            return Ok("-".to_owned());
        }
        let records = self.world.dir().join("records");
        let unwritable = |source| CliError::Write { path: records.clone(), source };
        std::fs::create_dir_all(&records).map_err(unwritable)?;
        let directory = records.join(name);
        export(&self.auditor, told.handoff, &directory)
            .await
            .map_err(|error| CliError::infrastructure(error.code(), error))?;
        Ok(match audit(&directory, Some(&self.world.dir().join("trust.json")))? {
            AuditOutcome::Same(_) => "same".to_owned(),
            AuditOutcome::Differs(difference) => format!("{}: {}", difference.file, difference.message),
        })
    }

    /// A manifest that says `accepted: true`. Our own `submit` would not send it, so the worker sends it by itself.
    async fn accepts_itself(&self) -> Result<Row, CliError> {
        self.say("story      self-accepting manifest").await;
        let worker = "worker-self";
        let path = self.manifest(worker, "good").await?;
        let honest = std::fs::read(&path).map_err(|source| CliError::Read { path, source })?;
        let unreadable = |error: quorum_attest::AttestError| failed(&["manifest"], &error);
        let envelope = Envelope::parse(&honest).map_err(unreadable)?;
        let mut statement = Statement::parse(envelope.payload()).map_err(unreadable)?;
        let work = statement.predicate.get("work_unit_id").and_then(Value::as_str).unwrap_or_default().to_owned();
        let version = statement.predicate.get("work_unit_version").and_then(Value::as_u64).unwrap_or_default();
        if let Value::Object(members) = &mut statement.predicate {
            members.insert("accepted".to_owned(), true.into());
        }
        let key = self.world.key(Role::Worker, worker).map_err(broken)?;
        let forged = sign(PAYLOAD_TYPE, &statement.to_bytes(), key);
        let mesh = self.world.connect(UserRole::Worker, worker).await.map_err(broken)?;
        let place = Place::Result { worker: worker.to_owned(), work, version, attempt: 1 };
        mesh.publish(&place, &forged).await.map_err(submit::broken)?;
        mesh.close().await.map_err(submit::broken)?;
        let refusal = self.refusal(Digest::of(&forged)).await?;
        Ok(Row {
            story: "self-accepting manifest",
            expected: "refused",
            found: "refused".to_owned(),
            because: format!("{} at {}", refusal.code, refusal.place),
            audit: "-".to_owned(),
        })
    }

    /// Waits for the coordinator's refusal of the message with this digest.
    async fn refusal(&self, digest: Digest) -> Result<AuditRecord, CliError> {
        let deadline = Instant::now() + PATIENCE;
        loop {
            if let Some(record) = self.refused(digest).await? {
                return Ok(record);
            }
            if Instant::now() >= deadline {
                return Err(CliError::infrastructure(CliCode::NoRefusal, format!("nobody refused {digest}")));
            }
            sleep(POLL).await;
        }
    }

    /// The coordinator's refusal of the message with this digest, if there is one by now.
    async fn refused(&self, digest: Digest) -> Result<Option<AuditRecord>, CliError> {
        let stored = self.auditor.scan(StreamName::Audit, None, 1).await.map_err(submit::broken)?;
        let mut records = stored.iter().filter_map(|stored| AuditRecord::parse(&stored.body).ok());
        Ok(records.find(|record| record.kind == "refusal" && record.digest == digest))
    }

    /// The worker of an accepted candidate says once more itself that it is good: under its own credentials, and under
    /// those of a verifier.
    async fn own_evidence(&self, about: &Told) -> Result<[Row; 2], CliError> {
        self.say("story      the worker's own evidence").await;
        let real = self.evidence_of("verifier-a", about.handoff).await?;
        let unreadable = |error: quorum_attest::AttestError| failed(&["evidence"], &error);
        let payload = Envelope::parse(&real.body).map_err(unreadable)?.payload().to_vec();
        let key = self.world.key(Role::Worker, "worker-good").map_err(broken)?;
        let forged = sign(PAYLOAD_TYPE, &payload, key);
        let place = |verifier: &str| Place::Evidence {
            verifier: verifier.to_owned(),
            handoff: about.handoff,
            seat: 0,
            // A try that nobody used, so that the message cannot be taken for a repetition.
            try_no: 9,
        };
        let mesh = self.world.connect(UserRole::Worker, "worker-good").await.map_err(broken)?;
        let denied = mesh.publish(&place("verifier-a"), &forged).await;
        mesh.close().await.map_err(submit::broken)?;
        let (found, because) = match denied {
            Err(MeshError::PermissionDenied { server, .. }) => ("permission violation", server),
            Err(error) => ("another error", error.to_string()),
            Ok(published) => ("stored", published.digest.to_string()),
        };
        let violation = Row {
            story: "worker's evidence, its own credentials",
            expected: "permission violation",
            found: found.to_owned(),
            because,
            audit: "-".to_owned(),
        };
        let mesh = self.world.connect(UserRole::Verifier, "verifier-c").await.map_err(broken)?;
        mesh.publish(&place("verifier-c"), &forged).await.map_err(submit::broken)?;
        mesh.close().await.map_err(submit::broken)?;
        let refusal = self.refusal(Digest::of(&forged)).await?;
        let smuggled = Row {
            story: "worker's evidence, a verifier's credentials",
            expected: "wrong_role",
            found: refusal.code,
            because: format!("the key of worker-good may not sign {}", PredicateType::Evidence.uri()),
            audit: "-".to_owned(),
        };
        Ok([violation, smuggled])
    }

    async fn evidence_of(&self, verifier: &str, handoff: C1Digest) -> Result<quorum_mesh::Stored, CliError> {
        let stored = self.auditor.scan(StreamName::Evidence, None, 1).await.map_err(submit::broken)?;
        let wanted = |place: &Place| matches!(place, Place::Evidence { verifier: by, handoff: about, .. } if by == verifier && *about == handoff);
        let found = stored.into_iter().find(|stored| stored.place().is_ok_and(|place| wanted(&place)));
        found.ok_or_else(|| {
            CliError::infrastructure(CliCode::NoEvidence, format!("{verifier} has no evidence about {handoff}"))
        })
    }

    /// The same candidate again, with a verifier that is killed with -9 while it holds a seat.
    async fn killed_verifier(&mut self, undisturbed: &Told) -> Result<Row, CliError> {
        let story = "good candidate, a verifier killed with -9";
        self.say(format!("story      {story}")).await;
        let victim = "verifier-b";
        let held = [(fault::VARIABLE.to_owned(), "after_lease".to_owned())];
        self.world.verifier(victim).map_err(broken)?.stop().map_err(broken)?;
        self.world.start_verifier(victim, &held).map_err(broken)?;
        let submitted = self.submit("worker-again", "good").await?;
        if self.holds_a_seat(victim, submitted).await? {
            let process = self.world.verifier(victim).map_err(broken)?;
            let pid = process.pid();
            process.kill9().map_err(broken)?;
            self.say(format!("killed     {victim}, process {pid}, with -9 while it held its seat")).await;
        }
        self.world.start_verifier(victim, &[]).map_err(broken)?;
        let pid = self.world.verifier(victim).map_err(broken)?.pid();
        self.say(format!("started    {victim} again as process {pid}")).await;
        let told = self.read_back(submitted).await?;
        let same = told.verdicts == undisturbed.verdicts;
        let found = if same { told.recommendation.clone() } else { format!("{}, other verdicts", told.recommendation) };
        let because = format!("{}; the same as without ({})", verdicts(&told), short(&undisturbed.handoff.hex()));
        Ok(Row { story, expected: "accept_candidate", found, because, audit: self.audited(&told, "killed").await? })
    }

    /// Waits until the verifier has stopped itself right after it got its seat; false if there are no seats to get.
    async fn holds_a_seat(&mut self, verifier: &str, submitted: Submitted) -> Result<bool, CliError> {
        let deadline = Instant::now() + PATIENCE;
        while Instant::now() < deadline {
            if self.world.verifier(verifier).map_err(broken)?.is_stopped().map_err(broken)? {
                return Ok(true);
            }
            if self.refused(submitted.envelope).await?.is_some() {
                return Ok(false);
            }
            sleep(POLL).await;
        }
        Err(CliError::infrastructure(CliCode::NoLease, format!("{verifier} never got its seat")))
    }
}

fn verdicts(told: &Told) -> String {
    let count = |verdict: &str| told.verdicts.iter().filter(|(_, said)| said == verdict).count();
    let (supports, rejects) = (count("supports"), count("rejects"));
    let others = told.verdicts.len() - supports - rejects;
    format!("{supports} support, {rejects} reject, {others} neither")
}

fn failed(arguments: &[&str], why: &dyn std::fmt::Display) -> CliError {
    let command = arguments.first().copied().unwrap_or_default();
    CliError::infrastructure(CliCode::DemoStepFailed, format!("quorum {command}: {why}"))
}
