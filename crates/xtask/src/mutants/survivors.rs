//! The checked-in list: what survives, and in one sentence why that is right.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

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
pub(super) struct Survivors(pub(super) BTreeMap<Key, usize>);

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
        Ok(Self(all))
    }

    /// Entries of these packages without as many mutants.
    pub(super) fn stale(&self, mutants: &[Mutant], packages: &[&str]) -> Vec<String> {
        self.0
            .iter()
            .filter(|((package, ..), _)| packages.contains(&package.as_str()))
            .filter(|(wanted, times)| mutants.iter().filter(|mutant| key(mutant) == **wanted).count() < **times)
            .map(|((_, file, function, mutation), times)| format!("{file}: {function}: {mutation} ({times} times)"))
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
        assert_eq!(Survivors::parse(&good).expect("good").0.len(), 1);
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
        };
        let known = Survivors([(key(&mutant), 1)].into());
        assert!(known.stale(std::slice::from_ref(&mutant), &["c"]).is_empty());
        assert_eq!(known.stale(&[], &["c"]).len(), 1);
        assert!(known.stale(&[], &["other"]).is_empty());
        assert_eq!(Survivors([(key(&mutant), 2)].into()).stale(&[mutant], &["c"]).len(), 1);
    }
}
