//! Running cargo-mutants and reading what it found.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use serde::Deserialize;

use super::compare::Outcome;
use crate::error::XtaskError;

/// One edit of one place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Mutant {
    /// The tool's name, with line and column.
    pub(crate) name: String,
    pub(crate) package: String,
    /// From the root of the repository.
    pub(crate) file: String,
    pub(crate) function: String,
    /// The name without the place: stable while lines move.
    pub(crate) mutation: String,
}

#[derive(Deserialize)]
struct Listed {
    name: String,
    package: String,
    file: String,
    function: Option<ListedFunction>,
}

#[derive(Deserialize)]
struct ListedFunction {
    function_name: String,
}

impl From<Listed> for Mutant {
    fn from(listed: Listed) -> Self {
        let place = format!("{}:", listed.file);
        let rest = listed.name.strip_prefix(&place).unwrap_or(&listed.name);
        // `39:9: replace ...`
        let mutation = rest.split_once(": ").map_or(rest, |(_, mutation)| mutation).to_owned();
        let function = listed.function.map(|function| function.function_name).unwrap_or_default();
        Self { name: listed.name, package: listed.package, file: listed.file, function, mutation }
    }
}

/// The tool: the one of `./x setup_mutants`, else the one on the PATH.
fn tool(root: &Path) -> Command {
    let own = root.join(".tools/bin/cargo-mutants");
    let mut command = Command::new(if own.exists() { own } else { "cargo-mutants".into() });
    command.arg("mutants").current_dir(root);
    command
}

/// Every mutant of these packages, in the tool's order.
pub(crate) fn list(root: &Path, packages: &[&str]) -> Result<Vec<Mutant>, XtaskError> {
    let mut command = tool(root);
    command.args(["--list", "--json"]);
    packages.iter().for_each(|package| {
        command.args(["-p", package]);
    });
    let output = command
        .stderr(Stdio::inherit())
        .output()
        .map_err(|source| XtaskError::Start { program: "cargo-mutants".to_owned(), source })?;
    if !output.status.success() {
        return Err(failed(output.status.to_string(), &String::from_utf8_lossy(&output.stdout)));
    }
    let listed: Vec<Listed> = serde_json::from_slice(&output.stdout).map_err(|error| XtaskError::Malformed {
        what: "cargo mutants --list".to_owned(),
        reason: error.to_string(),
    })?;
    Ok(listed.into_iter().map(Mutant::from).collect())
}

fn failed(status: String, words: &str) -> XtaskError {
    let end: Vec<&str> = words.lines().rev().take(5).collect();
    let words = end.into_iter().rev().collect::<Vec<_>>().join(" | ");
    XtaskError::Failed { program: "cargo-mutants".to_owned(), status, words }
}

#[derive(Deserialize)]
struct Outcomes {
    outcomes: Vec<OneOutcome>,
}

#[derive(Deserialize)]
struct OneOutcome {
    scenario: serde_json::Value,
    summary: String,
}

/// Tries these mutants, one after the other, in a copy of the tree. Only the tests of the mutated package run.
pub(crate) fn run(root: &Path, packages: &[&str], mutants: &[Mutant]) -> Result<Vec<(Mutant, Outcome)>, XtaskError> {
    let out = root.join("target/mutants");
    fs::create_dir_all(&out).map_err(|source| XtaskError::File { path: out.clone(), source })?;
    let chosen = out.join("chosen.txt");
    let names: String = mutants.iter().map(|mutant| format!("{}\n", mutant.name)).collect();
    fs::write(&chosen, names).map_err(|source| XtaskError::File { path: chosen, source })?;
    let mut command = tool(root);
    command.arg("--output").arg(&out).args(["--jobs", "1", "--no-shuffle", "--colors", "never"]);
    packages.iter().for_each(|package| {
        command.args(["-p", package]);
    });
    for mutant in mutants {
        command.arg("--re").arg(format!("^{}$", escaped(&mutant.name)));
    }
    // The laws over 150 cases each find what they find over 10 000, but for what is rare; the rest runs whole.
    command
        .env("QUORUM_LAW_CASES", "150")
        .env("CASES", "10000")
        .env("PROPTEST_CASES", "32")
        .env("INSTA_UPDATE", "no")
        .env("NEXTEST_PROFILE", "mutants");
    let status =
        command.status().map_err(|source| XtaskError::Start { program: "cargo-mutants".to_owned(), source })?;
    // 0: all caught, 2: some survive, 3: some timed out. Everything else is no result.
    if !matches!(status.code(), Some(0 | 2 | 3)) {
        return Err(failed(status.to_string(), "its words stand above"));
    }
    read_outcomes(&out.join("mutants.out/outcomes.json"), mutants)
}

fn read_outcomes(path: &Path, mutants: &[Mutant]) -> Result<Vec<(Mutant, Outcome)>, XtaskError> {
    let malformed = |reason: String| XtaskError::Malformed { what: path.display().to_string(), reason };
    let text = fs::read(path).map_err(|source| XtaskError::File { path: path.to_owned(), source })?;
    let outcomes: Outcomes = serde_json::from_slice(&text).map_err(|error| malformed(error.to_string()))?;
    let mut by_name = BTreeMap::new();
    for outcome in outcomes.outcomes {
        let Some(name) = outcome.scenario.pointer("/Mutant/name").and_then(serde_json::Value::as_str) else { continue };
        let word = Outcome::from_word(&outcome.summary)
            .ok_or_else(|| malformed(format!("{name}: `{}` is not known", outcome.summary)))?;
        by_name.insert(name.to_owned(), word);
    }
    mutants
        .iter()
        .map(|mutant| {
            let outcome = by_name.get(&mutant.name).copied();
            let outcome = outcome.ok_or_else(|| malformed(format!("{} was not tried", mutant.name)))?;
            Ok((mutant.clone(), outcome))
        })
        .collect()
}

/// A regular expression for exactly this text.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len() * 2);
    for letter in text.chars() {
        if !letter.is_alphanumeric()
            && !matches!(
                letter,
                ' ' | '_' | '/' | '"' | '\'' | '<' | '>' | ',' | ';' | '=' | '!' | '%' | '@' | '`' | ':'
            )
        {
            out.push('\\');
        }
        out.push(letter);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mutation_has_no_place() {
        let listed = Listed {
            name: "crates/a/src/b.rs:39:9: replace B::c -> bool with true".to_owned(),
            package: "a".to_owned(),
            file: "crates/a/src/b.rs".to_owned(),
            function: Some(ListedFunction { function_name: "B::c".to_owned() }),
        };
        let mutant = Mutant::from(listed);
        assert_eq!(mutant.mutation, "replace B::c -> bool with true");
        assert_eq!(escaped("a.rs:1: replace && with || (x)"), "a\\.rs:1: replace \\&\\& with \\|\\| \\(x\\)");
    }
}
