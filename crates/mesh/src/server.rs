//! The generated server configuration.
//!
//! A broker checks who may publish on a subject, but not what a publisher names as its *reply* subject: there the server
//! itself writes its acknowledgement, or whatever message it was asked to read. In one account a worker could so have the
//! server write a lease, a decision, or bytes of its choice on a verifier's evidence subject. Therefore whoever is not the
//! operator has an account of its own, which imports exactly the subjects that it may use: replies stay in it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use crate::permissions::{MeshUser, Permissions, permissions};
use crate::{MeshError, limits, streams};

/// The account of the streams and of the operator's users.
const CORE: &str = "IDKMESH";

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

/// What one user is and may do.
struct Seat<'a> {
    user: &'a MeshUser,
    allowed: Permissions,
    /// Requests that leave its account.
    services: Vec<String>,
    /// Messages that come into it.
    feeds: Vec<String>,
}

impl<'a> Seat<'a> {
    fn new(user: &'a MeshUser) -> Result<Self, MeshError> {
        let allowed = permissions(user)?;
        let services = allowed.publish.clone();
        let foreign = |subject: &&String| !subject.starts_with("_INBOX.") && !services.contains(subject);
        let feeds = allowed.subscribe.iter().filter(foreign).cloned().collect();
        Ok(Self { user, allowed, services, feeds })
    }

    fn account(&self) -> &str {
        self.user.credentials.user()
    }
}

/// Lines with their depth.
#[derive(Default)]
struct Text(String);

impl Text {
    fn line(&mut self, depth: usize, content: &str) {
        self.0.push_str(&"  ".repeat(depth));
        self.0.push_str(content);
        self.0.push('\n');
    }
}

/// The configuration file of a loopback nats-server with exactly these users. It holds passwords: write it 0600.
///
/// # Errors
/// `id_empty`, `id_too_long`.
pub fn server_config(settings: &ServerSettings, users: &[MeshUser]) -> Result<String, MeshError> {
    let seats = users.iter().map(Seat::new).collect::<Result<Vec<_>, _>>()?;
    let (operators, others): (Vec<Seat<'_>>, Vec<Seat<'_>>) =
        seats.into_iter().partition(|seat| seat.user.role.is_operator());
    let mut text = Text::default();
    text.line(0, "# Written by `quorum mesh config`; holds passwords, keep it 0600.");
    text.line(0, &format!("listen: \"127.0.0.1:{}\"", settings.port));
    if let Some(port) = settings.http_port {
        text.line(0, &format!("http: \"127.0.0.1:{port}\""));
    }
    text.line(0, &format!("server_name: {}", quoted(&settings.name)));
    text.line(0, &format!("max_payload: {}", limits::MESSAGE_BYTES + limits::HEADER_BYTES));
    text.line(0, "jetstream {");
    text.line(1, &format!("store_dir: {}", quoted(&settings.store_dir.to_string_lossy())));
    text.line(1, "# An acknowledgement means that the message is on the disk.");
    text.line(1, "sync_interval: always");
    text.line(1, "max_mem: 67108864");
    text.line(1, &format!("max_file: {}", settings.max_file));
    text.line(0, "}");
    text.line(0, "accounts {");
    text.line(1, "SYS { users: [] }");
    core(&mut text, &operators, &others);
    others.iter().for_each(|seat| account(&mut text, seat));
    text.line(0, "}");
    text.line(0, "system_account: SYS");
    Ok(text.0)
}

/// The account of the streams, with what it lets the others use.
fn core(text: &mut Text, operators: &[Seat<'_>], others: &[Seat<'_>]) {
    let mut exports: BTreeMap<(&str, &str), BTreeSet<&str>> = BTreeMap::new();
    for seat in others {
        let services = seat.services.iter().map(|subject| ("service", subject.as_str()));
        let feeds = seat.feeds.iter().map(|subject| ("stream", subject.as_str()));
        for export in services.chain(feeds) {
            exports.entry(export).or_default().insert(seat.account());
        }
    }
    text.line(1, &format!("{CORE} {{"));
    text.line(2, "jetstream: enabled");
    text.line(2, "users: [");
    operators.iter().for_each(|seat| user(text, seat));
    text.line(2, "]");
    text.line(2, "exports: [");
    for ((kind, subject), accounts) in exports {
        // One pull brings many messages; every other request has one answer.
        let many = if subject.starts_with("$JS.API.CONSUMER.MSG.NEXT.") { ", response_type: \"Stream\"" } else { "" };
        let accounts: Vec<String> = accounts.into_iter().map(str::to_owned).collect();
        text.line(3, &format!("{{ {kind}: {}, accounts: [{}]{many} }}", quoted(subject), list(&accounts)));
    }
    text.line(2, "]");
    text.line(1, "}");
}

/// The account of one user who is not the operator.
fn account(text: &mut Text, seat: &Seat<'_>) {
    text.line(1, &format!("{} {{", quoted(seat.account())));
    text.line(2, "users: [");
    user(text, seat);
    text.line(2, "]");
    text.line(2, "imports: [");
    for (kind, subjects) in [("service", &seat.services), ("stream", &seat.feeds)] {
        for subject in subjects {
            text.line(3, &format!("{{ {kind}: {{ account: {CORE}, subject: {} }} }}", quoted(subject)));
        }
    }
    text.line(2, "]");
    text.line(1, "}");
}

fn user(text: &mut Text, seat: &Seat<'_>) {
    let (credentials, allowed) = (&seat.user.credentials, &seat.allowed);
    let (name, password) = (quoted(credentials.user()), quoted(credentials.password()));
    text.line(3, &format!("{{ user: {name}, password: {password}, permissions {{"));
    text.line(4, &format!("publish {{ allow: [{}] }}", list(&allowed.publish)));
    text.line(4, &format!("subscribe {{ allow: [{}] }}", list(&allowed.subscribe)));
    if allowed.answers {
        text.line(4, "allow_responses: { max: 1, expires: \"1m\" }");
    }
    text.line(3, "} }");
}

fn list(subjects: &[String]) -> String {
    subjects.iter().map(|subject| quoted(subject)).collect::<Vec<_>>().join(", ")
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}
