//! Nested k-of-n over operators, each name at most once, as C2SP tlog-policy has it.

use std::collections::BTreeSet;

use quorum_schemas::Value;
use serde::{Deserialize, Serialize};

use crate::{PoliciesError, limits};

/// One k-of-n group of a policy's `[groups]`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Groups {
    /// How many members must hold; 1 to the number of members.
    pub k: usize,
    /// The members, in file order.
    pub of: Vec<Member>,
}

/// A member of a group.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Member {
    /// An operator; holds when one of its verifiers supports.
    Operator(String),
    /// A group; holds when `k` of its members hold.
    Group(Groups),
}

/// Which members of a group hold, and whether they are enough.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct GroupProof {
    /// Members needed.
    pub k: usize,
    /// Members that hold.
    pub holding: usize,
    /// Whether they are enough.
    pub holds: bool,
    /// The members, in file order.
    pub of: Vec<MemberProof>,
}

/// One member in a [`GroupProof`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum MemberProof {
    /// An operator; holds when one of its verifiers supports.
    Operator {
        /// The operator.
        operator: String,
        /// Whether one of its verifiers supports.
        holds: bool,
    },
    /// A group.
    Group(GroupProof),
}

impl MemberProof {
    /// Whether the member holds.
    #[must_use]
    pub fn holds(&self) -> bool {
        match self {
            Self::Operator { holds, .. } => *holds,
            Self::Group(group) => group.holds,
        }
    }
}

impl Groups {
    /// Whether the group holds for these operators.
    #[must_use]
    pub fn holds(&self, operators: &BTreeSet<&str>) -> bool {
        self.holding(operators) >= self.k
    }

    /// How many members hold for these operators.
    pub(crate) fn holding(&self, operators: &BTreeSet<&str>) -> usize {
        let holds = |member: &&Member| match member {
            Member::Operator(name) => operators.contains(name.as_str()),
            Member::Group(group) => group.holds(operators),
        };
        self.of.iter().filter(holds).count()
    }

    /// Why the group holds for these operators, or does not: which of its members do.
    #[must_use]
    pub fn proof(&self, operators: &BTreeSet<&str>) -> GroupProof {
        let of: Vec<MemberProof> = self
            .of
            .iter()
            .map(|member| match member {
                Member::Operator(name) => {
                    MemberProof::Operator { operator: name.clone(), holds: operators.contains(name.as_str()) }
                }
                Member::Group(group) => MemberProof::Group(group.proof(operators)),
            })
            .collect();
        GroupProof { k: self.k, holding: self.holding(operators), holds: self.holds(operators), of }
    }

    /// Every operator that the group names, in file order.
    #[must_use]
    pub fn operators(&self) -> Vec<&str> {
        self.of
            .iter()
            .flat_map(|member| match member {
                Member::Operator(name) => vec![name.as_str()],
                Member::Group(group) => group.operators(),
            })
            .collect()
    }

    /// The group as the decision and the schema show it: `{"k": 2, "of": ["acme", {"k": 1, "of": [..]}]}`.
    #[must_use]
    pub fn to_value(&self) -> Value {
        let of: Vec<Value> = self
            .of
            .iter()
            .map(|member| match member {
                Member::Operator(name) => name.as_str().into(),
                Member::Group(group) => group.to_value(),
            })
            .collect();
        Value::Object([("k".to_owned(), (self.k as u64).into()), ("of".to_owned(), Value::Array(of))].into())
    }

    /// The group in words: `2 of (acme, globex, 1 of (initech, umbrella))`.
    #[must_use]
    pub fn describe(&self) -> String {
        let members: Vec<String> = self
            .of
            .iter()
            .map(|member| match member {
                Member::Operator(name) => name.clone(),
                Member::Group(group) => group.describe(),
            })
            .collect();
        format!("{} of ({})", self.k, members.join(", "))
    }

    pub(crate) fn parse(table: &toml::Table) -> Result<Self, PoliciesError> {
        let mut names = BTreeSet::new();
        Self::parse_at(table, "groups", 1, &mut names)
    }

    fn parse_at(
        table: &toml::Table,
        place: &str,
        depth: usize,
        names: &mut BTreeSet<String>,
    ) -> Result<Self, PoliciesError> {
        let bad = |key: String, found: String, expected: String| PoliciesError::Value { key, found, expected };
        if depth > limits::GROUP_DEPTH {
            let expected = format!("groups nest at most {} deep", limits::GROUP_DEPTH);
            return Err(bad(place.to_owned(), "..".to_owned(), expected));
        }
        crate::policy::known_keys(table, place, &["k", "of"])?;
        let members = match table.get("of") {
            Some(toml::Value::Array(members)) if !members.is_empty() => members,
            Some(other) => {
                return Err(bad(format!("{place}.of"), other.to_string(), "a list of at least one member".to_owned()));
            }
            None => return Err(bad(place.to_owned(), "no `of`".to_owned(), "a list of members".to_owned())),
        };
        let mut of = Vec::with_capacity(members.len());
        for (index, member) in members.iter().enumerate() {
            let place = format!("{place}.of[{index}]");
            of.push(match member {
                toml::Value::String(name) if !name.is_empty() => {
                    if !names.insert(name.clone()) {
                        let expected = "each operator stands at most once in all groups".to_owned();
                        return Err(bad(place, format!("{name:?}"), expected));
                    }
                    Member::Operator(name.clone())
                }
                toml::Value::Table(group) => Member::Group(Self::parse_at(group, &place, depth + 1, names)?),
                other => return Err(bad(place, other.to_string(), "an operator's name or a group".to_owned())),
            });
        }
        if names.len() > limits::GROUP_MEMBERS {
            let expected = format!("at most {} operators", limits::GROUP_MEMBERS);
            return Err(bad(place.to_owned(), format!("{} operators", names.len()), expected));
        }
        let k = match table.get("k") {
            Some(toml::Value::Integer(k)) => usize::try_from(*k).ok().filter(|k| (1..=of.len()).contains(k)),
            _ => None,
        };
        let k = k.ok_or_else(|| {
            let found = table.get("k").map_or_else(|| "missing".to_owned(), ToString::to_string);
            bad(format!("{place}.k"), found, format!("a count from 1 to its {} members", of.len()))
        })?;
        Ok(Self { k, of })
    }
}
