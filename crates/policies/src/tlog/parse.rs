//! The file: lines of octets, backward references only.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::vkey::{ED25519, Vkey};
use crate::{PoliciesError, limits};

/// A C2SP tlog-policy. Names are octets.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TlogPolicy {
    /// Logs, of which one has to have signed.
    pub logs: Vec<TlogLog>,
    /// Witnesses.
    pub witnesses: Vec<TlogWitness>,
    /// Groups, each after its members.
    pub groups: Vec<TlogGroup>,
    /// The witness or group that has to hold; `None` is `quorum none`.
    pub quorum: Option<Vec<u8>>,
}

/// A log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TlogLog {
    /// Its key.
    pub key: Vkey,
    /// Where it is.
    pub url: Option<Vec<u8>>,
}

/// A witness.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TlogWitness {
    /// What groups call it.
    pub name: Vec<u8>,
    /// Its key.
    pub key: Vkey,
    /// Where it is.
    pub url: Option<Vec<u8>>,
}

/// A group: `k` of its members have to hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TlogGroup {
    /// What other groups and the quorum call it.
    pub name: Vec<u8>,
    /// How many members have to hold.
    pub k: usize,
    /// Its members.
    pub members: Vec<Vec<u8>>,
}

/// What is known while the lines are read.
#[derive(Default)]
struct Reader {
    policy: TlogPolicy,
    quorum_seen: bool,
    /// Every witness and group, and the group that it is a member of.
    member_of: BTreeMap<Vec<u8>, Option<Vec<u8>>>,
}

impl TlogPolicy {
    /// Reads a policy file.
    ///
    /// # Errors
    /// [`PoliciesError::TooLarge`], or [`PoliciesError::TlogSyntax`] with the line and what is wrong there.
    pub fn parse(bytes: &[u8]) -> Result<Self, PoliciesError> {
        if bytes.len() > limits::POLICY_BYTES {
            return Err(PoliciesError::TooLarge { found: bytes.len(), limit: limits::POLICY_BYTES });
        }
        let mut reader = Reader::default();
        let mut lines = 0;
        for (index, line) in bytes.split(|byte| *byte == b'\n').enumerate() {
            lines = index + 1;
            reader.line(line).map_err(|reason| PoliciesError::TlogSyntax { line: lines, reason })?;
        }
        if !bytes.is_empty() && bytes.last() != Some(&b'\n') {
            let reason = "the last line does not end in a newline".to_owned();
            return Err(PoliciesError::TlogSyntax { line: lines, reason });
        }
        if !reader.quorum_seen {
            return Err(PoliciesError::TlogSyntax { line: lines, reason: "there is no quorum line".to_owned() });
        }
        Ok(reader.policy)
    }

    /// The file: logs, witnesses, groups, the quorum.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut lines: Vec<Vec<u8>> = Vec::new();
        let url = |url: &Option<Vec<u8>>| url.as_ref().map_or_else(Vec::new, |url| [b" ", url.as_slice()].concat());
        for log in &self.logs {
            lines.push([&b"log "[..], &log.key.to_bytes(), &url(&log.url)].concat());
        }
        for witness in &self.witnesses {
            let (name, key) = (&witness.name, witness.key.to_bytes());
            lines.push([&b"witness "[..], name, b" ", &key, &url(&witness.url)].concat());
        }
        for group in &self.groups {
            let k = match group.k {
                k if k == group.members.len() => "all".to_owned(),
                1 => "any".to_owned(),
                k => k.to_string(),
            };
            lines.push([&b"group "[..], &group.name, b" ", k.as_bytes(), b" ", &group.members.join(&b' ')].concat());
        }
        let quorum = self.quorum.as_deref().unwrap_or(b"none");
        lines.push([&b"quorum "[..], quorum].concat());
        lines.iter().flat_map(|line| [line.as_slice(), b"\n"].concat()).collect()
    }
}

impl Reader {
    fn line(&mut self, line: &[u8]) -> Result<(), String> {
        if let Some(byte) = line.iter().find(|byte| (**byte < 0x20 && **byte != b'\t') || **byte == 0x7f) {
            return Err(format!("the octet 0x{byte:02x} may not stand in a policy"));
        }
        let items: Vec<&[u8]> =
            line.split(|byte| matches!(byte, b' ' | b'\t')).filter(|item| !item.is_empty()).collect();
        match items.as_slice() {
            [] => Ok(()),
            [first, ..] if first.starts_with(b"#") => Ok(()),
            [b"log", key] => self.log(key, None),
            [b"log", key, url] => self.log(key, Some(url)),
            [b"witness", name, key] => self.witness(name, key, None),
            [b"witness", name, key, url] => self.witness(name, key, Some(url)),
            [b"group", name, k, members @ ..] => self.group(name, k, members),
            [b"quorum", name] => self.quorum(name),
            [b"log", ..] => Err("a log line is `log VKEY [URL]`".to_owned()),
            [b"witness", ..] => Err("a witness line is `witness NAME VKEY [URL]`".to_owned()),
            [b"group", ..] => Err("a group line is `group NAME all|any|K MEMBER...`".to_owned()),
            [b"quorum", ..] => Err("a quorum line is `quorum NAME` or `quorum none`".to_owned()),
            [word, ..] => {
                Err(format!("`{}` begins no line; lines begin with log, witness, group or quorum", show(word)))
            }
        }
    }

    fn log(&mut self, key: &[u8], url: Option<&[u8]>) -> Result<(), String> {
        let key = Vkey::parse(key)?;
        if key.kind == super::vkey::COSIGNATURE {
            return Err("a log's key is of a witness's type".to_owned());
        }
        if self.policy.logs.iter().any(|log| log.key.key == key.key) {
            return Err("another log has this key".to_owned());
        }
        if self.policy.logs.len() == limits::TLOG_ENTRIES {
            return Err(format!("more than {} logs", limits::TLOG_ENTRIES));
        }
        self.policy.logs.push(TlogLog { key, url: url.map(<[u8]>::to_vec) });
        Ok(())
    }

    fn witness(&mut self, name: &[u8], key: &[u8], url: Option<&[u8]>) -> Result<(), String> {
        let key = Vkey::parse(key)?;
        if key.kind == ED25519 {
            return Err("a witness's key is of a log's type".to_owned());
        }
        if self.policy.witnesses.iter().any(|witness| witness.key.key == key.key) {
            return Err("another witness has this key".to_owned());
        }
        if self.policy.witnesses.len() == limits::TLOG_ENTRIES {
            return Err(format!("more than {} witnesses", limits::TLOG_ENTRIES));
        }
        self.define(name)?;
        self.policy.witnesses.push(TlogWitness { name: name.to_vec(), key, url: url.map(<[u8]>::to_vec) });
        Ok(())
    }

    fn group(&mut self, name: &[u8], k: &[u8], members: &[&[u8]]) -> Result<(), String> {
        if members.is_empty() {
            return Err(format!("group `{}` has no members", show(name)));
        }
        let count = match k {
            b"all" => members.len(),
            b"any" => 1,
            digits if digits.iter().all(u8::is_ascii_digit) => show(digits).parse().unwrap_or(usize::MAX),
            other => return Err(format!("`{}` is neither all, any nor a count", show(other))),
        };
        if !(1..=members.len()).contains(&count) {
            let (name, k, members) = (show(name), show(k), members.len());
            return Err(format!("group `{name}` needs {k} of its {members} members; a count is 1 to {members}"));
        }
        if self.policy.groups.len() == limits::TLOG_ENTRIES {
            return Err(format!("more than {} groups", limits::TLOG_ENTRIES));
        }
        for member in members {
            match self.member_of.get_mut(*member) {
                None => {
                    return Err(format!("`{}` is no witness or group of a line before this one", show(member)));
                }
                Some(Some(group)) => {
                    return Err(format!("`{}` is a member already, of `{}`", show(member), show(group)));
                }
                Some(free) => *free = Some(name.to_vec()),
            }
        }
        self.define(name)?;
        let members = members.iter().map(|member| member.to_vec()).collect();
        self.policy.groups.push(TlogGroup { name: name.to_vec(), k: count, members });
        Ok(())
    }

    fn quorum(&mut self, name: &[u8]) -> Result<(), String> {
        if self.quorum_seen {
            return Err("there is a quorum line already".to_owned());
        }
        self.quorum_seen = true;
        if name == b"none" {
            return Ok(());
        }
        if !self.member_of.contains_key(name) {
            return Err(format!("`{}` is no witness or group of a line before this one", show(name)));
        }
        self.policy.quorum = Some(name.to_vec());
        Ok(())
    }

    /// Witnesses and groups share their names.
    fn define(&mut self, name: &[u8]) -> Result<(), String> {
        if name == b"none" {
            return Err("`none` is no name of a witness or group".to_owned());
        }
        if self.member_of.insert(name.to_vec(), None).is_some() {
            return Err(format!("`{}` is defined twice", show(name)));
        }
        Ok(())
    }
}

/// A name for people: what is not printable ASCII as `\xNN`.
pub(super) fn show(name: &[u8]) -> String {
    name.iter().fold(String::new(), |mut text, byte| {
        match byte {
            0x21..0x7f => text.push(char::from(*byte)),
            other => {
                let _ = write!(text, "\\x{other:02x}");
            }
        }
        text
    })
}
