//! Mutation testing of the pure rooms by cargo-mutants, held against a checked-in list of survivors.

mod compare;
mod patch;
mod sample;
mod survivors;
mod tool;
mod trial;

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Instant;

pub(crate) use tool::Mutant;

use self::compare::{Outcome, compare};
use self::survivors::{FILE, Survivors};
use self::trial::Trial;
use crate::error::XtaskError;

/// The rooms: what decides and what proves.
const PACKAGES: [&str; 3] = ["quorum-policies", "quorum-handoff", "quorum-attest"];

/// Arguments of `xtask mutants`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Try every mutant.
    #[arg(long, conflicts_with = "sample")]
    all: bool,
    /// Try this many of one room, chosen by --seed from the files that were tried whole (or from --file).
    #[arg(long, value_name = "N", default_value_t = 6)]
    sample: usize,
    /// Chooses the sample; without it the sources of the rooms do, so that a change of them chooses others.
    #[arg(long, value_name = "S")]
    seed: Option<String>,
    /// Only this room; repeatable.
    #[arg(long = "package", value_name = "NAME", value_parser = PACKAGES)]
    packages: Vec<String>,
    /// Only mutants of files whose path ends in this; repeatable.
    #[arg(long = "file", value_name = "PATH")]
    files: Vec<String>,
    /// Only print what would be tried.
    #[arg(long)]
    list: bool,
    /// Print the entries that mutants/survivors.toml lacks: new survivors and, with --all, files tried whole.
    #[arg(long)]
    print_entries: bool,
}

/// Whether what survived is what the file says.
pub(crate) fn run(args: &Args, root: &Path) -> Result<bool, XtaskError> {
    let packages: Vec<&str> =
        if args.packages.is_empty() { PACKAGES.to_vec() } else { args.packages.iter().map(String::as_str).collect() };
    let all = tool::list(root, &packages)?;
    let known = Survivors::read(&root.join(FILE))?;
    let stale = known.stale(&all, &packages);
    let (never, changed) = known.untried(root, &all)?;
    println!("{} files never tried whole: {}", never.len(), never.join(" "));
    println!("{} files tried whole and changed since: {}", changed.len(), changed.join(" "));
    let mut mutants = all.clone();
    mutants.retain(|mutant| args.files.is_empty() || args.files.iter().any(|file| mutant.file.ends_with(file)));
    let of = mutants.len();
    if !args.all {
        let seed = match &args.seed {
            Some(seed) => seed.clone(),
            None => sample::seed(root, &packages)?,
        };
        if args.files.is_empty() {
            mutants.retain(|mutant| known.tried_whole(&mutant.file));
            mutants = sample::one_room(mutants, &seed);
        }
        mutants = sample::choose(mutants, args.sample, &seed);
        println!("sample of {} by seed {seed}", mutants.len());
    }
    if mutants.is_empty() {
        return Err(XtaskError::Nothing("look at --package and --file"));
    }
    if args.list {
        mutants.iter().for_each(|mutant| println!("{}", mutant.name));
        return Ok(true);
    }
    let tried = try_all(root, &mutants)?;
    let found = compare(&tried, &all, &known);
    report(&tried, of, &found, &stale);
    if args.print_entries {
        print_entries(root, &found, if args.all { &mutants } else { &[] })?;
    }
    Ok(found.new.is_empty() && found.caught.is_empty() && stale.is_empty())
}

/// One after the other; what is no plain catch is said at once.
fn try_all(root: &Path, mutants: &[Mutant]) -> Result<Vec<(Mutant, Outcome)>, XtaskError> {
    let mut trial = Trial::new(root)?;
    let mut tried = Vec::new();
    for mutant in mutants {
        let begun = Instant::now();
        let outcome = trial.of(mutant)?;
        println!("{:5.1} s {} {}", begun.elapsed().as_secs_f64(), outcome.word(), mutant.name);
        tried.push((mutant.clone(), outcome));
    }
    Ok(tried)
}

/// What the list lacks after this run, for `whole` files of which every mutant was tried.
fn print_entries(root: &Path, found: &compare::Found, whole: &[Mutant]) -> Result<(), XtaskError> {
    found.new.iter().for_each(|mutant| println!("\n{}", survivors::entry(mutant)));
    let files: BTreeSet<&String> = whole.iter().map(|mutant| &mutant.file).collect();
    for file in files {
        println!("\n{}", survivors::tried_entry(root, file)?);
    }
    Ok(())
}

fn report(tried: &[(Mutant, Outcome)], of: usize, found: &compare::Found, stale: &[String]) {
    let count = |wanted: Outcome| tried.iter().filter(|(_, outcome)| *outcome == wanted).count();
    println!(
        "{} of {of} mutants tried: {} caught, {} timed out, {} do not compile, {} survive",
        tried.len(),
        count(Outcome::Caught),
        count(Outcome::TimedOut),
        count(Outcome::Unviable),
        count(Outcome::Survives)
    );
    for mutant in &found.new {
        println!("new survivor: {}", mutant.name);
    }
    for mutant in &found.caught {
        println!("listed as a survivor, and caught now: {}", mutant.name);
    }
    for entry in stale {
        println!("listed as a survivor, and there is no such mutant: {entry}");
    }
    if !(found.new.is_empty() && found.caught.is_empty() && stale.is_empty()) {
        println!("the survivors are not those of {FILE}: write a test, or change the list with a sentence why");
    }
}
