//! Which mutants are tried in a bounded run: the same ones for the same sources and seed.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use quorum_schemas::Digest;

use super::Mutant;
use crate::error::XtaskError;

/// The digest of every source of these packages: another tree is another sample.
pub(super) fn seed(root: &Path, packages: &[&str]) -> Result<String, XtaskError> {
    let mut text = String::new();
    for package in packages {
        let folder = root.join("crates").join(package.trim_start_matches("quorum-")).join("src");
        for path in sources(&folder)? {
            let bytes = fs::read(&path).map_err(|source| XtaskError::File { path: path.clone(), source })?;
            let digest: Digest = Digest::of(&bytes);
            text.push_str(&format!("{} {digest}\n", path.strip_prefix(root).unwrap_or(&path).display()));
        }
    }
    let digest: Digest = Digest::of(text.as_bytes());
    Ok(digest.hex()[..16].to_owned())
}

fn sources(folder: &Path) -> Result<Vec<PathBuf>, XtaskError> {
    let mut found = Vec::new();
    let wrong = |source| XtaskError::File { path: folder.to_owned(), source };
    for entry in fs::read_dir(folder).map_err(wrong)? {
        let path = entry.map_err(wrong)?.path();
        if path.is_dir() {
            found.extend(sources(&path)?);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

/// `count` of the mutants, in the tool's order: those whose digest with the seed comes first.
pub(super) fn choose(mutants: Vec<Mutant>, count: usize, seed: &str) -> Vec<Mutant> {
    let mut ranked: Vec<(String, usize)> = mutants
        .iter()
        .enumerate()
        .map(|(at, mutant)| {
            let digest: Digest = Digest::of(format!("{seed}\n{}", mutant.name).as_bytes());
            (digest.hex(), at)
        })
        .collect();
    ranked.sort();
    let mut chosen: Vec<usize> = ranked.into_iter().take(count).map(|(_, at)| at).collect();
    chosen.sort_unstable();
    chosen.into_iter().map(|at| mutants[at].clone()).collect()
}

/// The mutants of one room, chosen by the seed: each room more would be built for its tests first.
pub(super) fn one_room(mutants: Vec<Mutant>, seed: &str) -> Vec<Mutant> {
    let rooms: BTreeSet<&String> = mutants.iter().map(|mutant| &mutant.package).collect();
    let ranked = rooms.into_iter().min_by_key(|room| {
        let digest: Digest = Digest::of(format!("{seed}\n{room}").as_bytes());
        digest.hex()
    });
    let Some(room) = ranked.cloned() else { return mutants };
    mutants.into_iter().filter(|mutant| mutant.package == room).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mutants() -> Vec<Mutant> {
        let mutant = |number: usize| Mutant {
            name: format!("src/a.rs:{number}:1: replace x"),
            package: "quorum-policies".to_owned(),
            file: "src/a.rs".to_owned(),
            function: "x".to_owned(),
            mutation: "replace x".to_owned(),
            diff: String::new(),
        };
        (0..100).map(mutant).collect()
    }

    #[test]
    fn the_same_seed_chooses_the_same_and_another_others() {
        let first = choose(mutants(), 5, "one");
        assert_eq!(first, choose(mutants(), 5, "one"));
        assert_ne!(first, choose(mutants(), 5, "two"));
        assert_eq!((first.len(), choose(mutants(), 500, "one").len()), (5, 100));
    }

    #[test]
    fn one_room_is_chosen_and_not_always_the_same() {
        let mut of_two = mutants();
        of_two.iter_mut().take(50).for_each(|mutant| mutant.package = "quorum-attest".to_owned());
        let room = |seed: &str| {
            let chosen = one_room(of_two.clone(), seed);
            assert_eq!(chosen.len(), 50);
            chosen[0].package.clone()
        };
        assert_eq!(room("1"), room("1"));
        let rooms: BTreeSet<String> = (0..20).map(|seed| room(&seed.to_string())).collect();
        assert_eq!(rooms.len(), 2);
        assert!(one_room(Vec::new(), "1").is_empty());
    }

    #[test]
    fn the_seed_is_that_of_the_sources() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let policies = seed(&root, &["quorum-policies"]).expect("the sources are there");
        assert_eq!(policies, seed(&root, &["quorum-policies"]).expect("the sources are there"));
        assert_ne!(policies, seed(&root, &["quorum-attest"]).expect("the sources are there"));
    }
}
