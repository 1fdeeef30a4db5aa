//! Voices: the largest set of supporters that share nothing with each other and nothing with the worker.

use std::collections::{BTreeMap, BTreeSet};

use quorum_attest::KeyId;

use crate::axes::Axis;
use crate::decision::Shared;
use crate::limits;

/// What a verifier says about itself; it can only take weight away.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(crate) struct Declared {
    pub(crate) shared_model_family: bool,
    pub(crate) shared_runtime: bool,
    pub(crate) not_independent: bool,
}

impl Declared {
    pub(crate) fn and(self, other: Self) -> Self {
        Self {
            shared_model_family: self.shared_model_family || other.shared_model_family,
            shared_runtime: self.shared_runtime || other.shared_runtime,
            not_independent: self.not_independent || other.not_independent,
        }
    }
}

/// A supporter: its key, what the trust root says of it and what it says of itself.
#[derive(Debug, Clone)]
pub(crate) struct Supporter<'a> {
    pub(crate) key_id: KeyId,
    pub(crate) id: &'a str,
    pub(crate) attributes: &'a BTreeMap<String, String>,
    pub(crate) declared: Declared,
}

/// The outcome of the count.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Voices {
    /// Sorted.
    pub(crate) chosen: Vec<KeyId>,
    pub(crate) worker_neighbours: BTreeSet<KeyId>,
    /// Every edge, with what is shared, in the order of the keys; `None` is the worker and comes first.
    pub(crate) edges: Vec<(KeyId, Option<KeyId>, Vec<String>)>,
}

impl Voices {
    /// The voices and the edges, as the decision lists them.
    pub(crate) fn listed(self) -> (Vec<KeyId>, Vec<Shared>) {
        let text = |key: KeyId| key.digest().hex();
        let end = |key: Option<KeyId>| key.map_or_else(|| "worker".to_owned(), text);
        let shared = self.edges.into_iter().map(|(a, b, what)| Shared { a: text(a), b: end(b), what });
        (self.chosen, shared.collect())
    }
}

/// Counts the voices among `supporters` (at most [`limits::PANEL`], each key once). `worker` are the worker's
/// attributes; none are known of an unauthenticated one.
pub(crate) fn voices(supporters: &[Supporter<'_>], worker: &BTreeMap<String, String>, axes: &[Axis]) -> Voices {
    let mut supporters: Vec<&Supporter<'_>> = supporters.iter().collect();
    supporters.sort_by_key(|supporter| supporter.key_id);
    debug_assert!(supporters.len() <= limits::PANEL as usize);
    let sharing = Sharing::new(&supporters, worker, axes);
    let adjacency: Vec<u32> = (0..supporters.len()).map(|index| sharing.neighbours(index)).collect();
    let mut found = Voices::default();
    let mut candidates = 0;
    for (index, supporter) in supporters.iter().enumerate() {
        let mut what = sharing.in_common(index, supporters.len());
        what.extend(declared_in_common(supporter.declared, axes));
        if what.is_empty() {
            candidates |= bit(index);
        } else {
            found.worker_neighbours.insert(supporter.key_id);
            found.edges.push((supporter.key_id, None, what));
        }
        // Each pair once.
        for other in nodes(adjacency[index] & !(bit(index) | (bit(index) - 1))) {
            let mut what = sharing.in_common(index, other);
            if supporter.id == supporters[other].id {
                // One verifier that replaced its key in between is one voice, whatever the policy's axes are.
                what.push(format!("id={}", supporter.id));
            }
            found.edges.push((supporter.key_id, Some(supporters[other].key_id), what));
        }
    }
    found.chosen = nodes(first_largest(candidates, &adjacency)).map(|index| supporters[index].key_id).collect();
    found
}

/// Who has the same value where: everybody is held against everybody, and bits do that at once. The worker comes after
/// the supporters.
struct Sharing<'a> {
    axes: &'a [Axis],
    /// By axis and member; an unknown value is a value, which all unknown ones share.
    values: Vec<Vec<Option<&'a str>>>,
    /// By axis and member: everybody with the same value, the member included.
    same: Vec<Vec<u64>>,
    /// By supporter: every key of the same verifier.
    keys: Vec<u64>,
}

impl<'a> Sharing<'a> {
    fn new(supporters: &[&'a Supporter<'_>], worker: &'a BTreeMap<String, String>, axes: &'a [Axis]) -> Self {
        let attributes = || supporters.iter().map(|supporter| supporter.attributes).chain([worker]);
        let value = |of: &'a BTreeMap<String, String>, axis: &Axis| of.get(axis.as_str()).map(String::as_str);
        let values: Vec<Vec<Option<&str>>> =
            axes.iter().map(|axis| attributes().map(|of| value(of, axis)).collect()).collect();
        let ids: Vec<&str> = supporters.iter().map(|supporter| supporter.id).collect();
        Self { axes, same: values.iter().map(|values| same(values)).collect(), values, keys: same(&ids) }
    }

    /// The other supporters that share something with this one.
    fn neighbours(&self, index: usize) -> u32 {
        let all = self.same.iter().fold(self.keys[index], |all, axis| all | axis[index]);
        // The worker's bit is behind those of the supporters.
        let supporters = all & ((1 << self.keys.len()) - 1);
        u32::try_from(supporters).expect("at most 32 supporters") & !bit(index)
    }

    /// Two share an axis where their values are the same bytes, and where both are unknown.
    fn in_common(&self, a: usize, b: usize) -> Vec<String> {
        let mut what = Vec::new();
        for ((axis, values), same) in self.axes.iter().zip(&self.values).zip(&self.same) {
            if same[a] >> b & 1 == 1 {
                what.push(match values[a] {
                    Some(value) => [axis.as_str(), "=", value].concat(),
                    None => format!("{axis} unknown"),
                });
            }
        }
        what
    }
}

/// For each of `values` a bit for everyone that is equal to it, itself included.
fn same<T: Ord>(values: &[T]) -> Vec<u64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_unstable_by(|a, b| values[*a].cmp(&values[*b]));
    let mut same = vec![0; values.len()];
    for equal in order.chunk_by(|a, b| values[*a] == values[*b]) {
        let mask = equal.iter().fold(0, |mask, index| mask | 1 << index);
        for index in equal {
            same[*index] = mask;
        }
    }
    same
}

fn declared_in_common(declared: Declared, axes: &[Axis]) -> Vec<String> {
    let mut what = Vec::new();
    if declared.shared_model_family && axes.contains(&Axis::ModelFamily) {
        what.push("shared_model_family declared".to_owned());
    }
    if declared.shared_runtime && axes.contains(&Axis::Runtime) {
        what.push("shared_runtime declared".to_owned());
    }
    if declared.not_independent {
        what.push("independent_from_worker disclaimed".to_owned());
    }
    what
}

fn bit(index: usize) -> u32 {
    1 << index
}

/// The places of the bits, ascending.
fn nodes(mut rest: u32) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let node = rest.trailing_zeros();
        rest &= rest.checked_sub(1)?;
        Some(node as usize)
    })
}

/// Of all largest independent subsets of `candidates` the one whose sorted members come first: the lowest node that
/// still leaves a largest set possible is taken, again and again.
fn first_largest(candidates: u32, adjacency: &[u32]) -> u32 {
    let mut rest = candidates;
    let mut wanted = largest(rest, adjacency);
    let mut chosen = 0;
    while wanted > 0 {
        let node = rest.trailing_zeros() as usize;
        rest &= !bit(node);
        let without_neighbours = rest & !adjacency[node];
        if without_neighbours == rest {
            // Nothing that is left stands against it: it is in every largest set.
            chosen |= bit(node);
            wanted -= 1;
            continue;
        }
        if reaches(without_neighbours, wanted - 1, adjacency) {
            chosen |= bit(node);
            rest = without_neighbours;
            wanted -= 1;
        }
    }
    chosen
}

/// The size of a largest independent subset, exactly.
fn largest(rest: u32, adjacency: &[u32]) -> u32 {
    (0..=cliques(rest, adjacency)).rev().find(|size| reaches(rest, *size, adjacency)).unwrap_or_default()
}

/// Whether `rest` has an independent subset of `wanted` nodes, exactly: nodes with at most one neighbour are always taken,
/// otherwise both choices for the node with most neighbours are tried, as long as enough cliques are left.
fn reaches(mut rest: u32, mut wanted: u32, adjacency: &[u32]) -> bool {
    while wanted > 0 {
        let degree = |node: usize| (adjacency[node] & rest).count_ones();
        if let Some(node) = nodes(rest).find(|node| degree(*node) <= 1) {
            wanted -= 1;
            rest &= !(adjacency[node] | bit(node));
            continue;
        }
        let Some(node) = nodes(rest).max_by_key(|node| degree(*node)) else { return false };
        return cliques(rest, adjacency) >= wanted
            && (reaches(rest & !(adjacency[node] | bit(node)), wanted - 1, adjacency)
                || reaches(rest & !bit(node), wanted, adjacency));
    }
    true
}

/// How many cliques cover `rest`, taken greedily: an independent set has at most one node of each.
fn cliques(mut rest: u32, adjacency: &[u32]) -> u32 {
    let mut count = 0;
    while rest != 0 {
        let mut joined = rest;
        while joined != 0 {
            let node = joined.trailing_zeros() as usize;
            rest &= !bit(node);
            joined &= adjacency[node];
        }
        count += 1;
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Law 5 over a rotation: the old and the new key of one verifier are one voice, also where no axis is named.
    #[test]
    fn law_5_two_keys_of_one_id_are_one_voice() {
        let nothing = BTreeMap::new();
        let key = |seed| quorum_attest::SigningKey::from_seed(&[seed; 32]).public().key_id();
        let count = |ids: [&str; 3]| {
            let supporters: Vec<Supporter<'_>> = (1..)
                .zip(ids)
                .map(|(seed, id)| Supporter {
                    key_id: key(seed),
                    id,
                    attributes: &nothing,
                    declared: Declared::default(),
                })
                .collect();
            voices(&supporters, &nothing, &[]).chosen.len()
        };
        assert_eq!(count(["a", "b", "c"]), 3);
        assert_eq!(count(["a", "b", "a"]), 2);
        assert_eq!(count(["a", "a", "a"]), 1);
    }

    /// All subsets: the definition itself.
    fn by_definition(candidates: u32, adjacency: &[u32]) -> u32 {
        let nodes: Vec<usize> = (0..adjacency.len()).filter(|node| candidates & bit(*node) != 0).collect();
        let mut best: Vec<usize> = Vec::new();
        for subset in 0_u32..1 << nodes.len() {
            let members: Vec<usize> =
                nodes.iter().enumerate().filter(|(at, _)| subset & bit(*at) != 0).map(|(_, node)| *node).collect();
            let mask = members.iter().fold(0, |mask, node| mask | bit(*node));
            let independent = members.iter().all(|node| adjacency[*node] & mask == 0);
            if independent && (members.len() > best.len() || (members.len() == best.len() && members < best)) {
                best = members;
            }
        }
        best.iter().fold(0, |mask, node| mask | bit(*node))
    }

    #[test]
    fn the_first_largest_set_is_the_one_of_the_definition() {
        let mut state = 1_u64;
        for round in 0..4000 {
            let size = 1 + round % 9;
            let mut adjacency = vec![0_u32; size];
            for a in 0..size {
                for b in 0..a {
                    state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                    if (state >> 60) < 5 + (round as u64 % 7) {
                        adjacency[a] |= bit(b);
                        adjacency[b] |= bit(a);
                    }
                }
            }
            let candidates = (state >> 20) as u32 & ((1 << size) - 1);
            assert_eq!(first_largest(candidates, &adjacency), by_definition(candidates, &adjacency), "{adjacency:?}");
        }
    }

    #[test]
    fn thirty_two_supporters_in_a_ring_are_sixteen_voices() {
        let adjacency: Vec<u32> = (0..32_usize).map(|node| bit((node + 1) % 32) | bit((node + 31) % 32)).collect();
        assert_eq!(first_largest(u32::MAX, &adjacency).count_ones(), 16);
        assert_eq!(first_largest(u32::MAX, &adjacency), 0x5555_5555);
    }

    #[test]
    fn cliques_cover_every_node_once() {
        let adjacency = [0b0110, 0b0101, 0b0011, 0b0000];
        for (rest, expected) in [(0, 0), (0b0001, 1), (0b0111, 1), (0b1000, 1), (0b1110, 2), (0b1111, 2)] {
            assert_eq!(cliques(rest, &adjacency), expected, "{rest:04b}");
        }
        let square = [0b1010, 0b0101, 0b1010, 0b0101];
        assert_eq!(cliques(0b1111, &square), 2);
    }
}
