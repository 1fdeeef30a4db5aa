//! What must hold inside one trust root, beyond its schema.

use std::collections::{BTreeMap, BTreeSet};

use quorum_schemas::Timestamp;

use super::entry::Entry;
use super::payload::Payload;
use crate::{AttestError, PublicKey, limits};

impl Payload {
    pub(super) fn check(&self) -> Result<(), AttestError> {
        at_most("root keys", self.root_keys.len(), limits::ROOT_KEYS)?;
        at_most("entries", self.entries.len(), limits::TRUST_ENTRIES)?;
        at_most("policies", self.policies.len(), limits::TRUST_POLICIES)?;
        if self.version == 0 || self.version > limits::TRUST_VERSION {
            let reason = format!("/version: {} is not 1 to 2^53 - 1", self.version);
            return Err(AttestError::malformed("trust root", reason));
        }
        check_order("/", ("issued_at", self.issued_at), ("expires_at", self.expires_at))?;
        self.check_keys()?;
        if self.threshold == 0 || self.threshold > self.root_keys.len() as u64 {
            let root_keys = self.root_keys.len();
            return Err(AttestError::ThresholdInvalid { threshold: self.threshold, root_keys });
        }
        for (index, entry) in self.entries.iter().enumerate() {
            check_entry(entry, &format!("/entries/{index}"))?;
        }
        self.check_ids()?;
        let mut policies = BTreeSet::new();
        match self.policies.iter().find(|digest| !policies.insert(**digest)) {
            Some(digest) => Err(AttestError::DuplicatePolicy { digest: digest.to_string() }),
            None => Ok(()),
        }
    }

    /// At any time an id of a role has one key. Keys that followed each other stay: what the earlier ones signed is still
    /// judged by them.
    fn check_ids(&self) -> Result<(), AttestError> {
        let mut in_force: Vec<_> = self.entries.iter().filter(|entry| entry.valid_from < entry.ends_at()).collect();
        in_force.sort_by(|a, b| (a.role, &a.id, a.valid_from).cmp(&(b.role, &b.id, b.valid_from)));
        for pair in in_force.windows(2) {
            let [first, second] = pair else { continue };
            if (first.role, &first.id) == (second.role, &second.id) && second.valid_from < first.ends_at() {
                return Err(AttestError::DuplicateId { role: first.role, id: first.id.clone() });
            }
        }
        Ok(())
    }

    /// Each public key once, over root keys and entries of every role: compared as bytes, not as ids.
    fn check_keys(&self) -> Result<(), AttestError> {
        let mut places: BTreeMap<PublicKey, String> = BTreeMap::new();
        let root_keys = self.root_keys.iter().enumerate().map(|(index, key)| (*key, format!("/root_keys/{index}")));
        let entries = self.entries.iter().map(|entry| (entry.public_key, format!("{} `{}`", entry.role, entry.id)));
        for (key, second) in root_keys.chain(entries) {
            if let Some(first) = places.insert(key, second.clone()) {
                return Err(AttestError::DuplicatePublicKey { key_id: key.key_id(), first, second });
            }
        }
        Ok(())
    }
}

fn check_entry(entry: &Entry, place: &str) -> Result<(), AttestError> {
    let invalid =
        |reason| AttestError::IdInvalid { place: format!("{place}/id"), id: limits::shorten(&entry.id), reason };
    if entry.id.is_empty() {
        return Err(invalid("an id has at least one character"));
    }
    if entry.id.len() > limits::ID_BYTES {
        return Err(invalid("an id has at most 96 bytes"));
    }
    if entry.id.chars().any(char::is_control) {
        return Err(invalid("an id has no control characters"));
    }
    check_order(place, ("valid_from", entry.valid_from), ("valid_until", entry.valid_until))?;
    if let (Some(since), Some(revoked)) = (entry.compromised_since, entry.revoked_at)
        && since > revoked
    {
        let reason = format!("compromised_since {since} is later than revoked_at {revoked}");
        return Err(AttestError::TimesInconsistent { place: place.to_owned(), reason });
    }
    check_attributes(entry, place)
}

fn check_attributes(entry: &Entry, place: &str) -> Result<(), AttestError> {
    at_most("attributes of one entry", entry.attributes.len(), limits::ATTRIBUTES)?;
    for (axis, value) in &entry.attributes {
        let invalid = |reason| AttestError::AttributeInvalid {
            place: format!("{place}/attributes"),
            axis: limits::shorten(axis),
            reason,
        };
        let letters = axis.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_');
        if axis.is_empty() || axis.len() > limits::AXIS_BYTES || !letters || !axis.as_bytes()[0].is_ascii_lowercase() {
            return Err(invalid("an axis is a lower-case letter and at most 63 of a-z, 0-9 and _"));
        }
        if value.is_empty() {
            return Err(invalid("an empty value says nothing; leave the attribute out, then it is unknown"));
        }
        if value.len() > limits::ATTRIBUTE_BYTES {
            return Err(invalid("a value has at most 256 bytes"));
        }
        if value.chars().any(char::is_control) {
            return Err(invalid("a value has no control characters"));
        }
    }
    Ok(())
}

fn check_order(place: &str, from: (&str, Timestamp), until: (&str, Timestamp)) -> Result<(), AttestError> {
    if from.1 >= until.1 {
        let reason = format!("{} {} is not before {} {}", from.0, from.1, until.0, until.1);
        return Err(AttestError::TimesInconsistent { place: place.to_owned(), reason });
    }
    Ok(())
}

fn at_most(what: &'static str, found: usize, limit: usize) -> Result<(), AttestError> {
    if found > limit { Err(AttestError::TooMany { what, found, limit }) } else { Ok(()) }
}
