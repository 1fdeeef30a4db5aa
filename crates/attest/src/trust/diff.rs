//! What one version changes, for people.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use super::entry::Entry;
use super::payload::Payload;
use super::proposal::TrustProposal;
use super::root::TrustRoot;

/// One difference between two versions.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct TrustChange {
    /// What it is about: `trust root`, or a role, an id and the first digits of a key id.
    pub subject: String,
    /// Which member of it.
    pub member: String,
    /// The value before; none where it was not there.
    pub before: Option<String>,
    /// The value after; none where it is no longer there.
    pub after: Option<String>,
}

impl fmt::Display for TrustChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { subject, member, before, after } = self;
        match (before, after) {
            (Some(before), Some(after)) => write!(f, "~ {subject}: {member} {before} -> {after}"),
            (None, Some(after)) => write!(f, "+ {subject}: {member} {after}"),
            (Some(before), None) => write!(f, "- {subject}: {member} {before}"),
            (None, None) => write!(f, "  {subject}: {member}"),
        }
    }
}

impl TrustRoot {
    /// Every difference of `next` from this root, in a fixed order; the issue time and the signatures are none.
    #[must_use]
    pub fn changes_to(&self, next: &Self) -> Vec<TrustChange> {
        changes(&self.payload, &next.payload)
    }
}

impl TrustProposal {
    /// What this proposal changes; everything, for version 1.
    #[must_use]
    pub fn changes(&self) -> Vec<TrustChange> {
        match &self.previous {
            Some(previous) => changes(&previous.payload, &self.payload),
            None => difference(&BTreeMap::new(), &members(&self.payload)),
        }
    }
}

type Members = BTreeMap<(String, String), String>;

fn changes(before: &Payload, after: &Payload) -> Vec<TrustChange> {
    difference(&members(before), &members(after))
}

fn difference(before: &Members, after: &Members) -> Vec<TrustChange> {
    let names: BTreeSet<_> = before.keys().chain(after.keys()).collect();
    names
        .into_iter()
        .filter(|name| before.get(*name) != after.get(*name))
        .map(|name| TrustChange {
            subject: name.0.clone(),
            member: name.1.clone(),
            before: before.get(name).cloned(),
            after: after.get(name).cloned(),
        })
        .collect()
}

/// The content as one flat table: two contents are equal where their tables are.
fn members(payload: &Payload) -> Members {
    let root = |member: &str| ("trust root".to_owned(), member.to_owned());
    let mut all = Members::from([
        (root("version"), payload.version.to_string()),
        (root("expires_at"), payload.expires_at.to_string()),
        (root("threshold"), payload.threshold.to_string()),
    ]);
    for key in &payload.root_keys {
        all.insert(root(&format!("root key {}", key.key_id())), "listed".to_owned());
    }
    for policy in &payload.policies {
        all.insert(root(&format!("policy {policy}")), "admitted".to_owned());
    }
    for entry in &payload.entries {
        entry_members(entry, &mut all);
    }
    all
}

fn entry_members(entry: &Entry, all: &mut Members) {
    let key_id = entry.public_key.key_id().to_string();
    // Two keys of one id are told apart; whole key ids are in `key`.
    let short: String = key_id.chars().take(12).collect();
    let subject = format!("{} `{}` {short}", entry.role, entry.id);
    let mut put = |member: &str, value: String| drop(all.insert((subject.clone(), member.to_owned()), value));
    put("key", key_id);
    put("valid_from", entry.valid_from.to_string());
    put("valid_until", entry.valid_until.to_string());
    let ends = [
        ("retired_at", entry.retired_at),
        ("compromised_since", entry.compromised_since),
        ("revoked_at", entry.revoked_at),
    ];
    for (member, time) in ends {
        if let Some(time) = time {
            put(member, time.to_string());
        }
    }
    for (axis, value) in &entry.attributes {
        put(&format!("attribute {axis}"), value.clone());
    }
}
