//! Trying mutants: in a copy of the tree, one after the other, each against the tests of its own room.
//!
//! The copy and its builds stay where they are, so that only what the mutant touches is compiled again.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde::Deserialize;

use super::Mutant;
use super::compare::Outcome;
use super::patch;
use crate::error::XtaskError;

/// Tests with many cases; they run only when no other test has failed.
const SLOW: [&str; 5] = ["law_", "proof::", "random_cases", "no_flip_of", "a_bounded_number_of_versions"];
/// What the random cases are like is a question about the tests, and takes as long as all the rest.
const NEVER: &str = "the_random_cases_are_spread_over_all_outcomes";
/// A mutant that never ends is caught by the clock: many times what the tests need, so that a busy machine is no finding.
const PATIENCE: u32 = 10;
const LEAST_PATIENCE: Duration = Duration::from_secs(60);
/// In KiB: a mutant that never ends may also never stop allocating.
const MEMORY: u64 = 8 << 20;

/// The copy of the tree.
pub(super) struct Trial {
    tree: PathBuf,
    target: PathBuf,
    /// The room whose tests were seen green, and how long they took.
    ready: Option<(String, Duration)>,
}

#[derive(Deserialize)]
struct Built {
    executable: Option<PathBuf>,
    profile: Option<BuiltProfile>,
}

#[derive(Deserialize)]
struct BuiltProfile {
    test: bool,
}

fn io(path: &Path) -> impl Fn(std::io::Error) -> XtaskError {
    move |source| XtaskError::File { path: path.to_owned(), source }
}

fn start(program: &str) -> impl Fn(std::io::Error) -> XtaskError {
    move |source| XtaskError::Start { program: program.to_owned(), source }
}

impl Trial {
    /// Makes the copy what the tree is now, without touching what is the same.
    pub(super) fn new(root: &Path) -> Result<Self, XtaskError> {
        let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from);
        let tree = target.join("mutation/tree");
        // A directory of its own: cargo gives the packages of two checkouts the same names in one target directory.
        let target = target.join("mutation/build");
        let mut wanted = tracked(root)?;
        wanted.retain(|name| root.join(name).is_file());
        for name in &wanted {
            let (from, to) = (root.join(name), tree.join(name));
            let bytes = fs::read(&from).map_err(io(&from))?;
            if fs::read(&to).is_ok_and(|there| there == bytes) {
                continue;
            }
            let folder = to.parent().unwrap_or(&tree);
            fs::create_dir_all(folder).map_err(io(folder))?;
            fs::write(&to, bytes).map_err(io(&to))?;
        }
        sweep(&tree, &tree, &wanted)?;
        Ok(Self { tree, target, ready: None })
    }

    /// What becomes of one mutant. The unedited room is tried first, once; its tests must be green.
    pub(super) fn of(&mut self, mutant: &Mutant) -> Result<Outcome, XtaskError> {
        let patience = match &self.ready {
            Some((package, patience)) if *package == mutant.package => *patience,
            _ => self.prepare(&mutant.package)?,
        };
        let path = self.tree.join(&mutant.file);
        let text = fs::read_to_string(&path).map_err(io(&path))?;
        let edited = patch::apply(&text, &mutant.diff)
            .map_err(|reason| XtaskError::Malformed { what: mutant.name.clone(), reason })?;
        fs::write(&path, edited).map_err(io(&path))?;
        let outcome = match self.build(&mutant.package) {
            Ok(Some(programs)) => self.test(&mutant.package, &programs, patience),
            Ok(None) => Ok(Outcome::Unviable),
            Err(error) => Err(error),
        };
        fs::write(&path, text).map_err(io(&path))?;
        outcome
    }

    fn prepare(&mut self, package: &str) -> Result<Duration, XtaskError> {
        let begun = Instant::now();
        let failed = |words: &str| XtaskError::Failed {
            program: format!("the tests of {package}"),
            status: "a failure before any edit".to_owned(),
            words: words.to_owned(),
        };
        let programs = self.build(package)?.ok_or_else(|| failed("it does not compile"))?;
        let built = begun.elapsed();
        if self.test(package, &programs, Duration::from_secs(600))? != Outcome::Survives {
            return Err(failed("some test is red or does not end"));
        }
        let took = begun.elapsed().saturating_sub(built);
        println!("{package}: built in {:.1} s, tests green in {:.1} s", built.as_secs_f64(), took.as_secs_f64());
        let patience = (took * PATIENCE).max(LEAST_PATIENCE);
        self.ready = Some((package.to_owned(), patience));
        Ok(patience)
    }

    /// The test programs of a room; none when it does not compile.
    fn build(&self, package: &str) -> Result<Option<Vec<PathBuf>>, XtaskError> {
        let output = Command::new("cargo")
            .args([
                "test",
                "--locked",
                "--quiet",
                "--profile",
                "mutants",
                "--package",
                package,
                "--lib",
                "--test",
                "it",
            ])
            .args(["--no-run", "--message-format", "json"])
            .current_dir(&self.tree)
            .env("CARGO_TARGET_DIR", &self.target)
            .stderr(Stdio::null())
            .output()
            .map_err(start("cargo"))?;
        if !output.status.success() {
            return Ok(None);
        }
        let text = String::from_utf8_lossy(&output.stdout);
        let built = text.lines().filter_map(|line| serde_json::from_str::<Built>(line).ok());
        let programs: Vec<PathBuf> = built
            .filter(|built| built.profile.as_ref().is_some_and(|profile| profile.test))
            .filter_map(|built| built.executable)
            .collect();
        if programs.is_empty() {
            return Err(XtaskError::Malformed { what: "cargo test".to_owned(), reason: "no test program".to_owned() });
        }
        Ok(Some(programs))
    }

    fn test(&self, package: &str, programs: &[PathBuf], patience: Duration) -> Result<Outcome, XtaskError> {
        let until = Instant::now() + patience;
        let folder = self.tree.join("crates").join(package.trim_start_matches("quorum-"));
        let quick: Vec<&str> = SLOW.iter().flat_map(|name| ["--skip", name]).collect();
        let slow: Vec<&str> = ["--skip", NEVER].into_iter().chain(SLOW).collect();
        for arguments in [quick, slow] {
            for program in programs {
                let outcome = one(program, &arguments, &folder, until)?;
                if outcome != Outcome::Survives {
                    return Ok(outcome);
                }
            }
        }
        Ok(Outcome::Survives)
    }
}

/// One test program.
fn one(program: &Path, arguments: &[&str], folder: &Path, until: Instant) -> Result<Outcome, XtaskError> {
    let mut child = Command::new("sh")
        .args(["-c", &format!("ulimit -v {MEMORY}; exec \"$0\" --quiet \"$@\"")])
        .arg(program)
        .args(arguments)
        .current_dir(folder)
        // Few random cases find what many find, but for what is rare; the rest runs whole.
        .envs([("QUORUM_LAW_CASES", "60"), ("PROPTEST_CASES", "32"), ("INSTA_UPDATE", "no")])
        // Comparisons with other programs and with files outside the tree are no part of this.
        .env_remove("CI")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .map_err(start("sh"))?;
    loop {
        if let Some(status) = child.try_wait().map_err(start("sh"))? {
            return Ok(if status.success() { Outcome::Survives } else { Outcome::Caught });
        }
        if Instant::now() > until {
            child.kill().and_then(|()| child.wait()).map_err(start("sh"))?;
            return Ok(Outcome::TimedOut);
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Every file that git knows or would know.
fn tracked(root: &Path) -> Result<BTreeSet<PathBuf>, XtaskError> {
    let output = Command::new("git")
        .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
        .current_dir(root)
        .output()
        .map_err(start("git"))?;
    let text = String::from_utf8_lossy(&output.stdout);
    if !output.status.success() || text.is_empty() {
        let reason = String::from_utf8_lossy(&output.stderr).into_owned();
        return Err(XtaskError::Malformed { what: "git ls-files".to_owned(), reason });
    }
    Ok(text.split('\0').filter(|name| !name.is_empty()).map(PathBuf::from).collect())
}

/// Removes what is no longer wanted.
fn sweep(tree: &Path, folder: &Path, wanted: &BTreeSet<PathBuf>) -> Result<(), XtaskError> {
    for entry in fs::read_dir(folder).map_err(io(folder))? {
        let entry = entry.map_err(io(folder))?;
        let path = entry.path();
        if entry.file_type().map_err(io(&path))?.is_dir() {
            sweep(tree, &path, wanted)?;
        } else if !wanted.contains(path.strip_prefix(tree).unwrap_or(&path)) {
            fs::remove_file(&path).map_err(io(&path))?;
        }
    }
    Ok(())
}
