//! Between a tlog-policy and the `[groups]` of a policy of ours.

use std::collections::{BTreeMap, BTreeSet};

use quorum_attest::{Role, TrustRoot};

use super::parse::{TlogGroup, TlogPolicy, TlogWitness, show};
use super::vkey::{COSIGNATURE, Vkey};
use crate::axes::words;
use crate::{Groups, Member, PoliciesError, Policy, limits};

words! {
    /// What may be left out on purpose, since the other side cannot say it.
    LeaveOut {
        /// Import: the logs.
        Logs => "logs",
        /// Import: where logs and witnesses are.
        Urls => "urls",
        /// Import: the witnesses' keys; without it a trust root says which operator has a key.
        Keys => "keys",
        /// Import: witnesses and groups that the quorum does not need.
        Unused => "unused",
        /// Export: everything of a policy but its groups.
        Rest => "rest",
    }
}

/// Groups that came from a tlog-policy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Imported {
    /// The groups; `None` for `quorum none`.
    pub groups: Option<Groups>,
    /// What was left out on purpose, one line each.
    pub left_out: Vec<String>,
}

const OURS: &str = "a policy of ours";
const THEIRS: &str = "a tlog-policy";

fn no_twin(what: String, other: &'static str, kind: Option<LeaveOut>) -> PoliciesError {
    PoliciesError::TlogNoTwin { what, other, kind }
}

/// What is left out: an error unless its kind was named.
struct Gate<'a> {
    allowed: &'a BTreeSet<LeaveOut>,
    left_out: Vec<String>,
}

impl Gate<'_> {
    fn leave(&mut self, what: String, other: &'static str, kind: LeaveOut) -> Result<(), PoliciesError> {
        if !self.allowed.contains(&kind) {
            return Err(no_twin(what, other, Some(kind)));
        }
        self.left_out.push(what);
        Ok(())
    }
}

impl TlogPolicy {
    /// The groups as ours. With a trust root a witness is the operator of the verifier that has its key; without one
    /// its name is the operator's.
    ///
    /// # Errors
    /// [`PoliciesError::TlogNoTwin`] for everything that ours cannot say and `leave_out` does not name.
    pub fn import(&self, trust: Option<&TrustRoot>, leave_out: &BTreeSet<LeaveOut>) -> Result<Imported, PoliciesError> {
        let mut gate = Gate { allowed: leave_out, left_out: Vec::new() };
        for log in &self.logs {
            gate.leave(format!("the log `{}`", show(&log.key.name)), OURS, LeaveOut::Logs)?;
            if let Some(url) = &log.url {
                gate.leave(format!("the log's address `{}`", show(url)), OURS, LeaveOut::Urls)?;
            }
        }
        let mut operators = BTreeMap::new();
        for witness in &self.witnesses {
            if let Some(url) = &witness.url {
                let what = format!("the address `{}` of witness `{}`", show(url), show(&witness.name));
                gate.leave(what, OURS, LeaveOut::Urls)?;
            }
            operators.insert(witness.name.as_slice(), operator(witness, trust, &mut gate)?);
        }
        let mut used = BTreeSet::new();
        let groups = match &self.quorum {
            None => None,
            Some(name) => Some(match self.member(name, &operators, &mut used, 1)? {
                Member::Group(group) => group,
                operator @ Member::Operator(_) => Groups { k: 1, of: vec![operator] },
            }),
        };
        for name in
            self.witnesses.iter().map(|witness| &witness.name).chain(self.groups.iter().map(|group| &group.name))
        {
            if !used.contains(name.as_slice()) {
                gate.leave(format!("`{}`, which the quorum does not need", show(name)), OURS, LeaveOut::Unused)?;
            }
        }
        let named: Vec<&str> = groups.as_ref().map(Groups::operators).unwrap_or_default();
        if let Some(twice) = named.iter().enumerate().find(|(at, name)| named[..*at].contains(name)) {
            return Err(no_twin(format!("operator `{}` behind two witnesses", twice.1), OURS, None));
        }
        if named.len() > limits::GROUP_MEMBERS {
            return Err(no_twin(format!("{} witnesses in groups", named.len()), OURS, None));
        }
        Ok(Imported { groups, left_out: gate.left_out })
    }

    fn member<'a>(
        &'a self,
        name: &'a [u8],
        operators: &BTreeMap<&[u8], String>,
        used: &mut BTreeSet<&'a [u8]>,
        depth: usize,
    ) -> Result<Member, PoliciesError> {
        used.insert(name);
        if let Some(operator) = operators.get(name) {
            return Ok(Member::Operator(operator.clone()));
        }
        let group = self.groups.iter().find(|group| group.name == name);
        let group = group.ok_or_else(|| no_twin(format!("`{}`, which is not defined,", show(name)), OURS, None))?;
        if depth > limits::GROUP_DEPTH {
            return Err(no_twin(format!("groups nested more than {} deep", limits::GROUP_DEPTH), OURS, None));
        }
        let of = group.members.iter().map(|member| self.member(member, operators, used, depth + 1));
        Ok(Member::Group(Groups { k: group.k, of: of.collect::<Result<_, _>>()? }))
    }

    /// The groups of a policy as a tlog-policy: each operator is a witness with the key of its one verifier.
    ///
    /// # Errors
    /// [`PoliciesError::TlogNoTwin`] for everything that a tlog-policy cannot say and `leave_out` does not name.
    pub fn export(policy: &Policy, trust: &TrustRoot, leave_out: &BTreeSet<LeaveOut>) -> Result<Self, PoliciesError> {
        if !leave_out.contains(&LeaveOut::Rest) {
            let what = format!("everything of the policy `{}` but its groups", policy.id);
            return Err(no_twin(what, THEIRS, Some(LeaveOut::Rest)));
        }
        let mut out = Self::default();
        let Some(groups) = &policy.groups else { return Ok(out) };
        for name in groups.operators() {
            out.witnesses.push(witness(name, trust)?);
        }
        let quorum = out.push_group(groups);
        out.quorum = Some(quorum);
        Ok(out)
    }

    /// Adds the group after its members; yields its name.
    fn push_group(&mut self, group: &Groups) -> Vec<u8> {
        let members = group
            .of
            .iter()
            .map(|member| match member {
                Member::Operator(name) => name.as_bytes().to_vec(),
                Member::Group(group) => self.push_group(group),
            })
            .collect();
        let taken = |name: &[u8]| self.witnesses.iter().any(|witness| witness.name == name);
        let free = (self.groups.len() + 1..).map(|number| format!("group-{number}").into_bytes());
        let mut free = free.filter(|name| !taken(name) && self.groups.iter().all(|group| group.name != *name));
        let name = free.next().expect("numbers do not end");
        self.groups.push(TlogGroup { name: name.clone(), k: group.k, members });
        name
    }
}

/// The operator behind a witness.
fn operator(witness: &TlogWitness, trust: Option<&TrustRoot>, gate: &mut Gate<'_>) -> Result<String, PoliciesError> {
    let shown = show(&witness.name);
    let Some(trust) = trust else {
        gate.leave(format!("the key of witness `{shown}`"), OURS, LeaveOut::Keys)?;
        return String::from_utf8(witness.name.clone())
            .map_err(|_| no_twin(format!("the name `{shown}`, which is not UTF-8,"), OURS, None));
    };
    let mut entries = trust.entries().iter().filter(|entry| entry.role == Role::Verifier);
    let known = entries
        .find(|entry| witness.key.kind == COSIGNATURE && entry.public_key.as_bytes().as_slice() == witness.key.key);
    known.and_then(|entry| entry.attributes.get("operator").cloned()).ok_or_else(|| {
        no_twin(format!("witness `{shown}`, whose key is that of no verifier with an operator,"), OURS, None)
    })
}

/// The witness that an operator is: its name and the key of its one verifier.
fn witness(name: &str, trust: &TrustRoot) -> Result<TlogWitness, PoliciesError> {
    let sayable =
        name != "none" && !name.contains(|letter: char| letter.is_whitespace() || letter.is_control() || letter == '+');
    if !sayable {
        return Err(no_twin(format!("an operator called {name:?}"), THEIRS, None));
    }
    let keys: Vec<_> = trust
        .entries()
        .iter()
        .filter(|entry| entry.role == Role::Verifier && entry.attributes.get("operator").is_some_and(|own| own == name))
        .map(|entry| &entry.public_key)
        .collect();
    match keys.as_slice() {
        [key] => Ok(TlogWitness { name: name.as_bytes().to_vec(), key: Vkey::cosigner(name, key), url: None }),
        other => Err(no_twin(
            format!("operator `{name}` with {} verifiers' keys in the trust root", other.len()),
            THEIRS,
            None,
        )),
    }
}

impl Imported {
    /// A policy file with these groups; every other key has its default, and there is a seat for every operator.
    ///
    /// # Errors
    /// As [`Policy::parse`].
    pub fn to_policy(&self, id: &str) -> Result<String, PoliciesError> {
        let mut table = toml::Table::new();
        table.insert("schema_version".to_owned(), "0.1".into());
        table.insert("id".to_owned(), id.into());
        if let Some(groups) = &self.groups {
            let seats = groups.operators().len().min(limits::PANEL as usize);
            table.insert("panel".to_owned(), i64::try_from(seats).unwrap_or(i64::from(limits::PANEL)).into());
            let groups = toml::Value::try_from(groups).map_err(|error| PoliciesError::Syntax(error.to_string()))?;
            table.insert("groups".to_owned(), groups);
        }
        let text = table.to_string();
        Policy::parse(text.as_bytes())?;
        Ok(text)
    }
}
