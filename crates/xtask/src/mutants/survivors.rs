//! The checked-in list: what survives, in one sentence why that is right, and which files were tried whole.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use quorum_schemas::Digest;
use serde::Deserialize;

use super::Mutant;
use crate::error::XtaskError;

/// Where the list is.
pub(super) const FILE: &str = "mutants/survivors.toml";

/// What a mutant is called while lines move: package, file, function, mutation.
pub(super) type Key = (String, String, String, String);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ListText {
    #[serde(default)]
    survivor: Vec<SurvivorText>,
    #[serde(default)]
    tried: Vec<TriedText>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TriedText {
    file: String,
    /// Of the file as it was then.
    digest: Digest,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SurvivorText {
    #[serde(rename = "crate")]
    package: String,
    file: String,
    function: String,
    mutation: String,
    /// The same mutation may survive at several places of one function.
    #[serde(default = "once")]
    times: usize,
    why: String,
}

fn once() -> usize {
    1
}

/// The list.
pub(super) struct Survivors {
    /// How many places of each survive.
    pub(super) listed: BTreeMap<Key, usize>,
    /// Files whose every mutant was tried, as they were then.
    tried: BTreeMap<String, Digest>,
}

pub(super) fn key(mutant: &Mutant) -> Key {
    (mutant.package.clone(), mutant.file.clone(), mutant.function.clone(), mutant.mutation.clone())
}

impl Survivors {
    pub(super) fn read(path: &Path) -> Result<Self, XtaskError> {
        let text = fs::read_to_string(path).map_err(|source| XtaskError::File { path: path.to_owned(), source })?;
        Self::parse(&text).map_err(|reason| XtaskError::Malformed { what: path.display().to_string(), reason })
    }

    fn parse(text: &str) -> Result<Self, String> {
        let list: ListText = toml::from_str(text).map_err(|error| error.to_string())?;
        let mut all = BTreeMap::new();
        for survivor in list.survivor {
            let sentence = survivor.why.trim();
            if !sentence.ends_with('.') || sentence.len() < 20 {
                return Err(format!("{}: {}: `why` is no sentence", survivor.file, survivor.mutation));
            }
            let place = format!("{}: {}", survivor.file, survivor.mutation);
            let key = (survivor.package, survivor.file, survivor.function, survivor.mutation);
            if survivor.times == 0 || all.insert(key, survivor.times).is_some() {
                return Err(format!("{place}: it stands twice, or never"));
            }
        }
        let mut tried = BTreeMap::new();
        for TriedText { file, digest } in list.tried {
            if tried.insert(file.clone(), digest).is_some() {
                return Err(format!("{file}: it was tried twice"));
            }
        }
        Ok(Self { listed: all, tried })
    }

    #[cfg(test)]
    pub(super) fn of(listed: BTreeMap<Key, usize>) -> Self {
        Self { listed, tried: BTreeMap::new() }
    }

    /// Whether every mutant of this file was tried, as it was then.
    pub(super) fn tried_whole(&self, file: &str) -> bool {
        self.tried.contains_key(file)
    }

    /// What is to be known of the files of these mutants: those never tried whole, and those changed since.
    pub(super) fn untried(&self, root: &Path, mutants: &[Mutant]) -> Result<(Vec<String>, Vec<String>), XtaskError> {
        let (mut never, mut changed) = (Vec::new(), Vec::new());
        let files: BTreeSet<&String> = mutants.iter().map(|mutant| &mutant.file).collect();
        for file in files {
            match self.tried.get(file) {
                None => never.push(file.clone()),
                Some(then) if *then != digest_of(root, file)? => changed.push(file.clone()),
                Some(_) => {}
            }
        }
        Ok((never, changed))
    }

    /// Entries of these packages without as many mutants, and files without any.
    pub(super) fn stale(&self, mutants: &[Mutant], packages: &[&str]) -> Vec<String> {
        let of_a_package = |file: &str| {
            packages.iter().any(|name| file.starts_with(&format!("crates/{}/", name.trim_start_matches("quorum-"))))
        };
        let gone = self
            .tried
            .keys()
            .filter(|file| of_a_package(file) && !mutants.iter().any(|mutant| mutant.file == **file))
            .map(|file| format!("{file}: no mutant of a file that was tried"));
        self.listed
            .iter()
            .filter(|((package, ..), _)| packages.contains(&package.as_str()))
            .filter(|(wanted, times)| mutants.iter().filter(|mutant| key(mutant) == **wanted).count() < **times)
            .map(|((_, file, function, mutation), times)| format!("{file}: {function}: {mutation} ({times} times)"))
            .chain(gone)
            .collect()
    }
}

/// An entry for the list, whose sentence is still to be written.
pub(super) fn entry(mutant: &Mutant) -> String {
    let text = |text: &str| toml::Value::from(text).to_string();
    format!(
        "[[survivor]]\ncrate = {}\nfile = {}\nfunction = {}\nmutation = {}\nwhy = \"\"",
        text(&mutant.package),
        text(&mutant.file),
        text(&mutant.function),
        text(&mutant.mutation)
    )
}

/// The entry of a file that was tried whole just now.
pub(super) fn tried_entry(root: &Path, file: &str) -> Result<String, XtaskError> {
    Ok(format!("[[tried]]\nfile = \"{file}\"\ndigest = \"{}\"", digest_of(root, file)?))
}

fn digest_of(root: &Path, file: &str) -> Result<Digest, XtaskError> {
    let path = root.join(file);
    let bytes = fs::read(&path).map_err(|source| XtaskError::File { path, source })?;
    Ok(Digest::of(&bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_of_this_repository_is_read_and_every_entry_has_a_sentence() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(FILE);
        Survivors::read(&path).expect("the list of this repository");
    }

    #[test]
    fn an_entry_without_a_sentence_or_twice_is_refused() {
        let entry = "[[survivor]]\ncrate = \"c\"\nfile = \"f\"\nfunction = \"g\"\nmutation = \"m\"\n";
        let good = format!("{entry}why = \"The two are the same number here.\"\n");
        assert_eq!(Survivors::parse(&good).expect("good").listed.len(), 1);
        for bad in [
            format!("{entry}why = \"\"\n"),
            format!("{entry}why = \"equivalent, always the same\"\n"),
            format!("{good}{good}"),
        ] {
            assert!(Survivors::parse(&bad).is_err(), "{bad}");
        }
        assert!(Survivors::parse(&good.replace("why", "times = 0\nwhy")).is_err());
        assert!(Survivors::parse(&good.replace("why", "line = 3\nwhy")).is_err());
    }

    #[test]
    fn an_entry_without_its_mutant_is_stale() {
        let mutant = Mutant {
            name: "f:1:1: m".to_owned(),
            package: "c".to_owned(),
            file: "f".to_owned(),
            function: "g".to_owned(),
            mutation: "m".to_owned(),
            diff: String::new(),
        };
        let listed = |times| Survivors::of([(key(&mutant), times)].into());
        let known = listed(1);
        assert!(known.stale(std::slice::from_ref(&mutant), &["c"]).is_empty());
        assert_eq!(known.stale(&[], &["c"]).len(), 1);
        assert!(known.stale(&[], &["other"]).is_empty());
        assert_eq!(listed(2).stale(std::slice::from_ref(&mutant), &["c"]).len(), 1);
    }

    /// The digest of the sources says whether a file is what it was when it was tried.
    #[test]
    fn a_tried_file_is_whole_changed_or_gone() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let file = "crates/attest/src/urn.rs";
        let mutant = |file: &str| Mutant {
            name: format!("{file}:1:1: m"),
            package: "quorum-attest".to_owned(),
            file: file.to_owned(),
            function: "g".to_owned(),
            mutation: "m".to_owned(),
            diff: String::new(),
        };
        let mutants = [mutant(file), mutant("crates/attest/src/lib.rs")];
        let now = Survivors::parse(&tried_entry(&root, file).expect("the file is there")).expect("an entry");
        assert!(now.tried_whole(file) && !now.tried_whole("crates/attest/src/lib.rs"));
        let never = vec!["crates/attest/src/lib.rs".to_owned()];
        assert_eq!(now.untried(&root, &mutants).expect("the files are there"), (never.clone(), Vec::new()));
        let digest: Digest = Digest::of(b"then");
        let then = format!("[[tried]]\nfile = \"{file}\"\ndigest = \"{digest}\"");
        let then_list = Survivors::parse(&then).expect("an entry");
        let changed = vec![file.to_owned()];
        assert_eq!(then_list.untried(&root, &mutants).expect("the files are there"), (never, changed));
        assert_eq!(now.stale(&mutants[1..], &["quorum-attest"]).len(), 1);
        assert_eq!(now.stale(&mutants[1..], &["quorum-handoff"]), Vec::<String>::new());
        assert!(Survivors::parse(&format!("{then}\n{then}")).is_err());
    }
}
