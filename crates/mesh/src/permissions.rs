//! Static roles and the generated server configuration.

use std::path::PathBuf;

use crate::place::ROOT;
use crate::{Credentials, MeshError, StreamName, limits, provision, streams, token};

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
        Self::new(role, id, &quorum_schemas::Digest::from_bytes(bytes).hex())
    }
}

/// The broker's user name of a role and id; its replies go to `_INBOX.<user>.>`.
///
/// # Errors
/// `id_empty`, `id_too_long`.
pub fn user_name(role: UserRole, id: &str) -> Result<String, MeshError> {
    Ok(format!("{}-{}", role.as_str(), token::encode(id)?))
}

/// Where the server listens and stores.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerSettings {
    /// Port on 127.0.0.1.
    pub port: u16,
    /// Monitoring port on 127.0.0.1.
    pub http_port: Option<u16>,
    /// Directory of the store.
    pub store_dir: PathBuf,
    /// Server name.
    pub name: String,
    /// Bytes of file store; at least [`streams::reserved_bytes`].
    pub max_file: i64,
}

impl ServerSettings {
    /// A server on this port with its store there and the sizes that `mesh apply` reserves.
    #[must_use]
    pub fn local(port: u16, http_port: Option<u16>, store_dir: PathBuf) -> Self {
        Self { port, http_port, store_dir, name: "quorum".to_owned(), max_file: streams::reserved_bytes() * 5 / 4 }
    }
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
                format!("$JS.API.DIRECT.GET.{name}"),
                format!("$JS.API.DIRECT.GET.{name}.>"),
            ]
        })
        .collect()
}

/// Pulling from one durable consumer and acknowledging to it.
fn consumes(stream: StreamName, consumer: &str) -> Vec<String> {
    let object = format!("{}.{consumer}", stream.as_str());
    vec![
        format!("$JS.API.CONSUMER.INFO.{object}"),
        format!("$JS.API.CONSUMER.MSG.NEXT.{object}"),
        format!("$JS.ACK.{object}.>"),
        format!("$JS.ACK.*.*.{object}.>"),
    ]
}

/// The configuration file of a loopback nats-server with exactly these users. It holds passwords: write it 0600.
///
/// # Errors
/// `id_empty`, `id_too_long`.
pub fn server_config(settings: &ServerSettings, users: &[MeshUser]) -> Result<String, MeshError> {
    let mut text = String::from("# Written by `quorum mesh config`; holds passwords, keep it 0600.\n");
    let mut line = |depth: usize, content: &str| {
        text.push_str(&"  ".repeat(depth));
        text.push_str(content);
        text.push('\n');
    };
    line(0, &format!("listen: \"127.0.0.1:{}\"", settings.port));
    if let Some(port) = settings.http_port {
        line(0, &format!("http: \"127.0.0.1:{port}\""));
    }
    line(0, &format!("server_name: {}", quoted(&settings.name)));
    line(0, &format!("max_payload: {}", limits::MESSAGE_BYTES + limits::HEADER_BYTES));
    line(0, "jetstream {");
    line(1, &format!("store_dir: {}", quoted(&settings.store_dir.to_string_lossy())));
    line(1, "# An acknowledgement means that the message is on the disk.");
    line(1, "sync_interval: always");
    line(1, "max_mem: 67108864");
    line(1, &format!("max_file: {}", settings.max_file));
    line(0, "}");
    line(0, "accounts {");
    line(1, "SYS { users: [] }");
    line(1, "IDKMESH {");
    line(2, "jetstream: enabled");
    line(2, "users: [");
    for user in users {
        let allowed = permissions(user)?;
        let credentials = &user.credentials;
        line(
            3,
            &format!(
                "{{ user: {}, password: {}, permissions {{",
                quoted(credentials.user()),
                quoted(credentials.password())
            ),
        );
        line(4, &format!("publish {{ allow: [{}] }}", list(&allowed.publish)));
        line(4, &format!("subscribe {{ allow: [{}] }}", list(&allowed.subscribe)));
        if allowed.answers {
            line(4, "allow_responses: { max: 1, expires: \"1m\" }");
        }
        line(3, "} }");
    }
    line(2, "]");
    line(1, "}");
    line(0, "}");
    line(0, "system_account: SYS");
    Ok(text)
}

fn list(subjects: &[String]) -> String {
    subjects.iter().map(|subject| quoted(subject)).collect::<Vec<_>>().join(", ")
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}
