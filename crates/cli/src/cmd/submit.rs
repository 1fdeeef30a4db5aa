//! `quorum submit`: an author publishes a work unit, a worker publishes a candidate and its manifest.

use std::path::{Path, PathBuf};
use std::time::Duration;

use quorum_attest::{Envelope, PAYLOAD_TYPE, PredicateType, SigningKey, Statement, Subject, sign};
use quorum_gate::ExitCode;
use quorum_handoff::{Intake, WorkUnit, candidate_subject, intake_values};
use quorum_mesh::{BlobRole, Mesh, MeshError, NatsConfig, Place};
use quorum_schemas::limits::ENVELOPE;
use quorum_schemas::{C1Digest, Digest, Value, parse, parse_with};
use serde_json::json;

use crate::codes::CliCode;
use crate::error::CliError;
use crate::input;
use crate::ui::Ui;

/// How long a broker may take to answer at the start.
const PATIENCE: Duration = Duration::from_secs(10);

/// Arguments of `quorum submit`.
#[derive(clap::Args)]
#[command(group = clap::ArgGroup::new("what").required(true).args(["result", "work_unit"]))]
pub(crate) struct Args {
    #[command(flatten)]
    broker: BrokerOptions,
    /// A worker's manifest: signed, or bare with --key.
    #[arg(long, value_name = "FILE", requires = "candidate")]
    result: Option<PathBuf>,
    /// The candidate that the manifest offers: a directory, or one file.
    #[arg(long, value_name = "PATH", requires = "result")]
    candidate: Option<PathBuf>,
    /// An author's work unit: signed, or bare with --key.
    #[arg(long, value_name = "FILE")]
    work_unit: Option<PathBuf>,
    /// What workers start from; the work unit's input `baseline` names its digest.
    #[arg(long, value_name = "PATH", requires = "work_unit")]
    baseline: Option<PathBuf>,
    /// The author's id, under which a baseline is stored.
    #[arg(long, value_name = "ID", requires = "baseline")]
    author: Option<String>,
    /// The key that signs a bare document.
    #[arg(long, value_name = "FILE")]
    key: Option<PathBuf>,
}

/// The broker and who we are to it.
#[derive(clap::Args)]
pub(crate) struct BrokerOptions {
    /// Address of the broker.
    #[arg(long, value_name = "URL", default_value = "nats://127.0.0.1:4222")]
    nats: String,
    /// File with the user and the password, mode 0600.
    #[arg(long, value_name = "FILE")]
    credentials: PathBuf,
}

impl BrokerOptions {
    pub(crate) async fn connect(&self) -> Result<Mesh, CliError> {
        let config = NatsConfig { url: self.nats.clone(), credentials: self.credentials.clone() };
        Mesh::open(&config, PATIENCE).await.map_err(|error| match error {
            MeshError::FileUnreadable { .. }
            | MeshError::CredentialsExposed { .. }
            | MeshError::CredentialsMalformed { .. } => CliError::control(error.code(), error),
            other => broken(other),
        })
    }
}

/// An error of the mesh as a command's.
pub(crate) fn broken(error: MeshError) -> CliError {
    CliError::infrastructure(error.code(), error)
}

/// Runs asynchronous work of one command to its end.
pub(crate) fn block_on<T>(work: impl Future<Output = Result<T, CliError>>) -> Result<T, CliError> {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().map_err(|error| {
            CliError::infrastructure(CliCode::RuntimeUnavailable, format!("cannot start threads: {error}"))
        })?;
    runtime.block_on(work)
}

pub(crate) fn run(args: Args, ui: &mut Ui) -> Result<ExitCode, CliError> {
    // What is wrong with a file is told without a broker.
    let ready = Ready::of(&args)?;
    let stored = block_on(async {
        let mesh = args.broker.connect().await?;
        let stored = ready.submit(&mesh).await?;
        mesh.close().await.map_err(broken)?;
        Ok(stored)
    })?;
    if ui.json() {
        let document = json!({"subject": stored.subject, "digest": stored.digest, "handoff": stored.handoff});
        ui.document(&Value::from_serde(document))?;
    } else {
        ui.line(format!("{} {}", stored.digest, stored.subject))?;
        if let Some(handoff) = stored.handoff {
            ui.line(format!("handoff {handoff}"))?;
        }
    }
    Ok(ExitCode::Accept)
}

struct Submitted {
    subject: String,
    digest: Digest,
    handoff: Option<C1Digest>,
}

/// What will be published, read and checked as far as this machine alone can.
enum Ready<'a> {
    Work { place: Place, envelope: Vec<u8>, baseline: Option<(&'a str, Vec<u8>)> },
    Result { file: &'a Path, candidate: &'a Path, document: Document, key: Option<Box<SigningKey>>, bytes: Vec<u8> },
}

impl<'a> Ready<'a> {
    fn of(args: &'a Args) -> Result<Self, CliError> {
        let (file, candidate) = match (&args.work_unit, &args.result, &args.candidate) {
            (Some(file), ..) => (file, None),
            (None, Some(file), Some(candidate)) => (file, Some(candidate)),
            _ => {
                let why = "give --work-unit, or --result with --candidate";
                return Err(CliError::control(CliCode::NothingToSubmit, why));
            }
        };
        let document = Document::read(file)?;
        let key = document.key(args.key.as_deref(), file)?;
        if let Some(candidate) = candidate {
            let bytes = blob(candidate)?;
            return Ok(Self::Result { file, candidate, document, key: key.map(Box::new), bytes });
        }
        let unit =
            WorkUnit::from_value(document.value.clone()).map_err(|error| input::refused(file, error.code(), &error))?;
        let subject = Subject::sha256(unit.id(), unit.digest());
        let baseline = match (&args.baseline, &args.author) {
            (Some(baseline), Some(author)) => Some((author.as_str(), blob(baseline)?)),
            _ => None,
        };
        let place = Place::Work { work: unit.id().to_owned(), version: unit.version() };
        Ok(Self::Work { place, envelope: document.envelope(PredicateType::WorkUnit, subject, key), baseline })
    }

    async fn submit(self, mesh: &Mesh) -> Result<Submitted, CliError> {
        match self {
            Self::Work { place, envelope, baseline } => {
                if let Some((author, bytes)) = &baseline {
                    mesh.put_blob(BlobRole::Author, author, bytes).await.map_err(broken)?;
                }
                publish(mesh, &place, &envelope, None).await
            }
            Self::Result { file, candidate, document, key, bytes } => {
                let intake = admit(mesh, file, &document.value).await?;
                submit_result(mesh, &intake, document, key.map(|key| *key), (candidate, &bytes)).await
            }
        }
    }
}

async fn submit_result(
    mesh: &Mesh,
    intake: &Intake,
    document: Document,
    key: Option<SigningKey>,
    (candidate, bytes): (&Path, &[u8]),
) -> Result<Submitted, CliError> {
    let (manifest, binding) = (&intake.manifest, &intake.binding);
    let about = candidate_subject(binding);
    let subject =
        Subject { name: about.name().to_owned(), digest: [(about.algorithm().to_owned(), about.hex())].into() };
    let envelope = document.envelope(PredicateType::ResultManifest, subject, key);
    if about.algorithm() == "sha256" && about.hex() != Digest::of(bytes).hex() {
        let why = format!("it has sha256:{}, the manifest offers sha256:{}", Digest::of(bytes).hex(), about.hex());
        return Err(input::refused(candidate, CliCode::WrongCandidate, &why));
    }
    // The candidate is there before anybody can be asked to look at it.
    mesh.put_blob(BlobRole::Worker, manifest.worker_id(), bytes).await.map_err(broken)?;
    let place = Place::Result {
        worker: manifest.worker_id().to_owned(),
        work: intake.work_unit.id().to_owned(),
        version: intake.work_unit.version(),
        attempt: manifest.attempt(),
    };
    publish(mesh, &place, &envelope, Some(intake.handoff.id())).await
}

/// Holds the manifest against the work unit that the mesh knows, so that a worker learns at once what is wrong.
async fn admit(mesh: &Mesh, file: &Path, manifest: &Value) -> Result<Intake, CliError> {
    let named = |key: &'static str| manifest.get(key).cloned().unwrap_or(Value::Null);
    let (Value::String(work), Some(version)) = (named("work_unit_id"), named("work_unit_version").as_u64()) else {
        return Err(input::refused(
            file,
            CliCode::SchemaInvalid,
            &"/work_unit_id and /work_unit_version name no work unit",
        ));
    };
    let place = Place::Work { work: work.clone(), version };
    let stored = mesh.read(&place).await.map_err(broken)?.ok_or_else(|| {
        input::refused(
            file,
            CliCode::UnknownWorkUnit,
            &format!("the mesh has no work unit `{work}` of version {version}"),
        )
    })?;
    let statement = Envelope::parse(&stored.body)
        .and_then(|envelope| Statement::parse(envelope.payload()))
        .map_err(|error| CliError::infrastructure(error.code(), format!("the stored work unit: {error}")))?;
    intake_values(statement.predicate, manifest.clone(), None).map_err(|errors| {
        let all: Vec<String> = errors.iter().map(ToString::to_string).collect();
        let code = errors.first().map_or("schema_invalid", |error| error.code());
        CliError::Gate(quorum_gate::GateError::WorkerDocument { code, message: all.join("; ") })
    })
}

async fn publish(
    mesh: &Mesh,
    place: &Place,
    envelope: &[u8],
    handoff: Option<C1Digest>,
) -> Result<Submitted, CliError> {
    mesh.publish(place, envelope).await.map_err(broken)?;
    Ok(Submitted { subject: place.subject().map_err(broken)?, digest: Digest::of(envelope), handoff })
}

/// A document, in its envelope or bare.
struct Document {
    value: Value,
    envelope: Option<Vec<u8>>,
}

impl Document {
    fn read(file: &Path) -> Result<Self, CliError> {
        let bytes = input::read(file, ENVELOPE.bytes as u64 + 1)?;
        let unreadable = |error: quorum_schemas::ParseError| input::refused(file, error.reason.code(), &error);
        let outer = parse_with(&bytes, ENVELOPE).map_err(unreadable)?;
        if outer.get("payloadType").is_none() {
            return Ok(Self { value: parse(&bytes).map_err(unreadable)?, envelope: None });
        }
        let statement = Envelope::parse(&bytes)
            .and_then(|envelope| Statement::parse(envelope.payload()))
            .map_err(|error| input::refused(file, error.code(), &error))?;
        Ok(Self { value: statement.predicate, envelope: Some(bytes) })
    }

    /// The key that signs it: one, or none for what is signed already.
    fn key(&self, key: Option<&Path>, file: &Path) -> Result<Option<SigningKey>, CliError> {
        match (&self.envelope, key) {
            (Some(_), None) => Ok(None),
            (Some(_), Some(_)) => Err(input::refused(file, CliCode::AlreadySigned, &"it is signed; leave --key out")),
            (None, None) => Err(input::refused(file, CliCode::NotSigned, &"it is bare; give --key to sign it")),
            (None, Some(path)) => Ok(Some(crate::keyfile::private(path)?)),
        }
    }

    /// What is published: the envelope as it was read, or one that `key` signs.
    fn envelope(self, predicate_type: PredicateType, subject: Subject, key: Option<SigningKey>) -> Vec<u8> {
        let Some(key) = key else { return self.envelope.unwrap_or_default() };
        let statement = Statement { subject: vec![subject], predicate_type, predicate: self.value };
        sign(PAYLOAD_TYPE, &statement.to_bytes(), &key)
    }
}

/// The bytes that travel for a path: the file's own, or the deterministic ZIP of a directory.
fn blob(path: &Path) -> Result<Vec<u8>, CliError> {
    let wrong = |source| CliError::Read { path: path.to_owned(), source };
    let found = std::fs::metadata(path).map_err(wrong)?;
    if found.is_dir() {
        return quorum_verifier::bundle::zip_dir(path).map_err(|error| input::refused(path, error.code(), &error));
    }
    let limit = quorum_mesh::limits::BLOB_BYTES;
    if found.len() > limit {
        let why = format!("it has {} bytes, the mesh takes {limit}", found.len());
        return Err(input::refused(path, CliCode::InputTooLarge, &why));
    }
    input::read(path, limit)
}
