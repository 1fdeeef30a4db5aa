//! What cargo-mutants would edit.

use std::path::Path;
use std::process::{Command, Stdio};

use serde::Deserialize;

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
    /// The edit as a unified diff of the file.
    pub(crate) diff: String,
}

#[derive(Deserialize)]
struct Listed {
    name: String,
    package: String,
    file: String,
    function: Option<ListedFunction>,
    diff: String,
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
        Self { name: listed.name, package: listed.package, file: listed.file, function, mutation, diff: listed.diff }
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
    command.args(["--list", "--json", "--diff"]);
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
            diff: String::new(),
        };
        let mutant = Mutant::from(listed);
        assert_eq!(mutant.mutation, "replace B::c -> bool with true");
    }
}
