//! Static roles: who may publish and read what.

use crate::place::ROOT;
use crate::{Credentials, MeshError, StreamName, provision, streams, token};

/// What a user of the broker may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum UserRole {
    /// Publishes its manifests and candidates.
    Worker,
    /// Takes offers, claims leases, publishes its evidence and bundles.
    Verifier,
    /// Publishes handoffs, offers, decisions and audit records; owns the leases.
    Coordinator,
    /// Publishes WorkUnits and baselines.
    Author,
    /// Makes streams and consumers; runs `quorum mesh apply` and nothing else.
    Provisioner,
    /// Reads everything, writes nothing.
    Auditor,
}

impl UserRole {
    /// The name.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Worker => "worker",
            Self::Verifier => "verifier",
            Self::Coordinator => "coordinator",
            Self::Author => "author",
            Self::Provisioner => "provisioner",
            Self::Auditor => "auditor",
        }
    }

    /// Whether it may read whole streams; told by the name that [`user_name`] gives.
    pub(crate) fn reads_all(user: &str) -> bool {
        [Self::Coordinator, Self::Auditor]
            .iter()
            .any(|role| user.strip_prefix(role.as_str()).is_some_and(|rest| rest.starts_with('-')))
    }

    /// Whether the operator's own hands hold its credentials. Everybody else gets an account of its own: see
    /// [`crate::server`].
    pub(crate) fn is_operator(self) -> bool {
        matches!(self, Self::Coordinator | Self::Provisioner | Self::Auditor)
    }
}

/// One user of the broker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MeshUser {
    /// What it may do.
    pub role: UserRole,
    /// Trust-root id of worker, verifier, coordinator and author; any name for the others.
    pub id: String,
    /// User name and password.
    pub credentials: Credentials,
}

impl MeshUser {
    /// A user with the given password; its name is `<role>-<token of id>`.
    ///
    /// # Errors
    /// `id_empty`, `id_too_long`.
    pub fn new(role: UserRole, id: &str, password: &str) -> Result<Self, MeshError> {
        let user = user_name(role, id)?;
        Ok(Self { role, id: id.to_owned(), credentials: Credentials::new(user, password) })
    }

    /// A user with a fresh random password of 256 bits.
    ///
    /// # Errors
    /// Those of [`MeshUser::new`]; `broker` if the system has no randomness.
    pub fn generate(role: UserRole, id: &str) -> Result<Self, MeshError> {
        let mut bytes = [0; 32];
        getrandom::fill(&mut bytes).map_err(|error| MeshError::broker("random password", error))?;
        Self::new(role, id, &<quorum_schemas::Digest>::from_bytes(bytes).hex())
    }
}

/// The broker's user name of a role and id; its replies go to `_INBOX.<user>.>`.
///
/// # Errors
/// `id_empty`, `id_too_long`.
pub fn user_name(role: UserRole, id: &str) -> Result<String, MeshError> {
    Ok(format!("{}-{}", role.as_str(), token::encode(id)?))
}

/// The subjects that a role may publish and subscribe to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Permissions {
    /// Publishable subjects.
    pub publish: Vec<String>,
    /// Subscribable subjects.
    pub subscribe: Vec<String>,
    /// Whether it may answer the requests that reach it.
    pub answers: bool,
}

/// Exactly what a user may do; everything else is denied.
///
/// # Errors
/// `id_empty`, `id_too_long`.
pub fn permissions(user: &MeshUser) -> Result<Permissions, MeshError> {
    let id = token::encode(&user.id)?;
    let (publish, subscribe) = match user.role {
        UserRole::Worker => (
            [own(&["result.@.>", "blob.worker.@.>"], &id), gets(&["result.@.>", "blob.worker.@.>"], &id), public()]
                .concat(),
            live(),
        ),
        UserRole::Author => {
            ([own(&["work.>", "blob.author.@.>"], &id), gets(&["blob.author.@.>"], &id), public()].concat(), live())
        }
        UserRole::Verifier => {
            let consumer = provision::offers_consumer(&id);
            let writes = ["evidence.@.>", "blob.verifier.@.>", "lease.@.>"];
            let reads = ["evidence.@.>", "blob.verifier.@.>", "blob.worker.>", "blob.author.>"];
            ([own(&writes, &id), gets(&reads, &id), public(), consumes(StreamName::Offers, &consumer)].concat(), live())
        }
        UserRole::Coordinator => {
            let mut publish = own(&["handoff.*", "offer.>", "decision.>", "audit.>", "blob.coordinator.@.>"], &id);
            publish.push(format!("$KV.{}.>", streams::LEASE_BUCKET));
            publish.extend(reads_all());
            publish
                .extend(provision::INTAKE.iter().flat_map(|stream| consumes(*stream, provision::COORDINATOR_CONSUMER)));
            let mut subscribe = live();
            subscribe.push(format!("{ROOT}.lease.>"));
            subscribe.push("$JS.EVENT.ADVISORY.CONSUMER.MAX_DELIVERIES.>".to_owned());
            (publish, subscribe)
        }
        UserRole::Auditor => (reads_all(), vec![format!("{ROOT}.>")]),
        UserRole::Provisioner => (vec!["$JS.API.>".to_owned()], Vec::new()),
    };
    let mut permissions = Permissions { publish, subscribe, answers: user.role == UserRole::Coordinator };
    permissions.subscribe.push(format!("_INBOX.{}.>", user.credentials.user()));
    Ok(permissions)
}

/// Subjects below the root; `@` is the user's own token.
fn own(subjects: &[&str], id: &str) -> Vec<String> {
    subjects.iter().map(|subject| format!("{ROOT}.{}", subject.replace('@', id))).collect()
}

/// Reading the last message of a subject of these.
fn gets(subjects: &[&str], id: &str) -> Vec<String> {
    let stream_of = |subject: &str| {
        let first = subject.split('.').next()?;
        StreamName::ALL.into_iter().find(|stream| stream.filter() == format!("{ROOT}.{first}.>"))
    };
    let streams = subjects.iter().filter_map(|subject| stream_of(subject));
    let pairs = streams.zip(own(subjects, id));
    pairs.map(|(stream, subject)| format!("$JS.API.DIRECT.GET.{}.{subject}", stream.as_str())).collect()
}

/// What every participant may read: work, handoffs and decisions.
fn public() -> Vec<String> {
    gets(&["work.>", "handoff.>", "decision.>"], "")
}

/// What every participant may watch live.
fn live() -> Vec<String> {
    own(&["work.>", "handoff.>", "decision.>", "audit.refusal.*"], "")
}

/// Everything can be read, nothing is changed by it.
fn reads_all() -> Vec<String> {
    let streams = StreamName::ALL.iter();
    streams
        .flat_map(|stream| {
            let name = stream.as_str();
            [
                format!("$JS.API.STREAM.INFO.{name}"),
                format!("$JS.API.STREAM.MSG.GET.{name}"),
                format!("$JS.API.DIRECT.GET.{name}"),
                format!("$JS.API.DIRECT.GET.{name}.>"),
            ]
        })
        .collect()
}

/// Pulling from one durable consumer and acknowledging to it. Asking for its state is none of it: outside the streams'
/// account the server answers such a request twice, once for an account without JetStream.
fn consumes(stream: StreamName, consumer: &str) -> Vec<String> {
    let object = format!("{}.{consumer}", stream.as_str());
    vec![
        format!("$JS.API.CONSUMER.MSG.NEXT.{object}"),
        format!("$JS.ACK.{object}.>"),
        format!("$JS.ACK.*.*.{object}.>"),
    ]
}
