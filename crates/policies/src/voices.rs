//! Voices: the largest set of supporters that share nothing with each other and nothing with the worker.

use std::collections::{BTreeMap, BTreeSet};

use petgraph::graph::{NodeIndex, UnGraph};
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
    /// Every edge, with what is shared; `None` is the worker.
    pub(crate) edges: Vec<(KeyId, Option<KeyId>, Vec<String>)>,
}

impl Voices {
    pub(crate) fn shared(&self) -> Vec<Shared> {
        let end = |key: Option<KeyId>| key.map_or_else(|| "worker".to_owned(), |key| key.to_string());
        self.edges.iter().map(|(a, b, what)| Shared { a: a.to_string(), b: end(*b), what: what.clone() }).collect()
    }
}

type Graph = UnGraph<Option<KeyId>, Vec<String>>;

/// Counts the voices among `supporters` (at most [`limits::PANEL`], each key once). `worker` are the worker's
/// attributes; none are known of an unauthenticated one.
pub(crate) fn voices(supporters: &[Supporter<'_>], worker: &BTreeMap<String, String>, axes: &[Axis]) -> Voices {
    let mut supporters: Vec<&Supporter<'_>> = supporters.iter().collect();
    supporters.sort_by_key(|supporter| supporter.key_id);
    debug_assert!(supporters.len() <= limits::PANEL as usize);
    let (graph, nodes, worker_node) = relations(&supporters, worker, axes);
    let worker_neighbours: BTreeSet<KeyId> = graph.neighbors(worker_node).filter_map(|node| graph[node]).collect();
    let adjacency: Vec<u32> = nodes
        .iter()
        .map(|node| {
            graph.neighbors(*node).filter(|other| *other != worker_node).fold(0, |mask, o| mask | bit(o.index()))
        })
        .collect();
    let candidates = nodes
        .iter()
        .filter(|node| graph[**node].is_some_and(|key| !worker_neighbours.contains(&key)))
        .fold(0, |mask, node| mask | bit(node.index()));
    let chosen = first_largest(candidates, &adjacency);
    Voices {
        chosen: supporters
            .iter()
            .enumerate()
            .filter(|(index, _)| chosen & bit(*index) != 0)
            .map(|(_, supporter)| supporter.key_id)
            .collect(),
        worker_neighbours,
        edges: edges(graph),
    }
}

/// One node per supporter, in order, then the worker; an edge where two share something.
fn relations(
    supporters: &[&Supporter<'_>],
    worker: &BTreeMap<String, String>,
    axes: &[Axis],
) -> (Graph, Vec<NodeIndex>, NodeIndex) {
    let mut graph = Graph::new_undirected();
    let nodes: Vec<NodeIndex> = supporters.iter().map(|supporter| graph.add_node(Some(supporter.key_id))).collect();
    let worker_node = graph.add_node(None);
    let mut values = Values::new(axes);
    let known: Vec<Vec<usize>> = supporters.iter().map(|supporter| values.numbers(supporter.attributes)).collect();
    let worker = values.numbers(worker);
    for (index, supporter) in supporters.iter().enumerate() {
        for (other_index, other) in supporters.iter().enumerate().skip(index + 1) {
            let mut what = values.in_common(&known[index], &known[other_index]);
            if supporter.id == other.id {
                // One verifier that replaced its key in between is one voice, whatever the policy's axes are.
                what.push(format!("id={}", supporter.id));
            }
            if !what.is_empty() {
                graph.add_edge(nodes[index], nodes[other_index], what);
            }
        }
        let mut what = values.in_common(&known[index], &worker);
        what.extend(declared_in_common(supporter.declared, axes));
        if !what.is_empty() {
            graph.add_edge(nodes[index], worker_node, what);
        }
    }
    (graph, nodes, worker_node)
}

/// The values on each axis, numbered: every supporter is compared with every other, and numbers compare fast.
struct Values<'a> {
    axes: &'a [Axis],
    /// By axis: the values by number; an unknown value is a value, which all unknown ones share.
    names: Vec<Vec<Option<&'a str>>>,
}

impl<'a> Values<'a> {
    fn new(axes: &'a [Axis]) -> Self {
        Self { axes, names: vec![Vec::new(); axes.len()] }
    }

    fn numbers(&mut self, attributes: &'a BTreeMap<String, String>) -> Vec<usize> {
        let mut numbers = Vec::with_capacity(self.axes.len());
        for (axis, names) in self.axes.iter().zip(&mut self.names) {
            let value = attributes.get(axis.as_str()).map(String::as_str);
            numbers.push(names.iter().position(|known| *known == value).unwrap_or_else(|| {
                names.push(value);
                names.len() - 1
            }));
        }
        numbers
    }

    /// Two share an axis where their values are the same bytes, and where both are unknown.
    fn in_common(&self, a: &[usize], b: &[usize]) -> Vec<String> {
        let mut what = Vec::new();
        for (at, axis) in self.axes.iter().enumerate() {
            if a[at] == b[at] {
                what.push(match self.names[at][a[at]] {
                    Some(value) => [axis.as_str(), "=", value].concat(),
                    None => format!("{axis} unknown"),
                });
            }
        }
        what
    }
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

fn edges(graph: Graph) -> Vec<(KeyId, Option<KeyId>, Vec<String>)> {
    let (nodes, edges) = graph.into_nodes_edges();
    let key = |node: NodeIndex| nodes[node.index()].weight;
    let mut edges: Vec<(KeyId, Option<KeyId>, Vec<String>)> = edges
        .into_iter()
        .filter_map(|edge| {
            let (from, to) = (key(edge.source()), key(edge.target()));
            Some((from?, to, edge.weight))
        })
        .collect();
    edges.sort();
    edges
}

fn bit(index: usize) -> u32 {
    1 << index
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
        let nodes = (0..adjacency.len()).filter(|node| rest & bit(*node) != 0);
        if let Some(node) = nodes.clone().find(|node| degree(*node) <= 1) {
            wanted -= 1;
            rest &= !(adjacency[node] | bit(node));
            continue;
        }
        let Some(node) = nodes.max_by_key(|node| degree(*node)) else { return false };
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
