//! Mutation testing of the pure rooms by cargo-mutants, held against a checked-in list of survivors.

mod compare;
mod sample;
mod survivors;
mod tool;

use std::path::Path;

pub(crate) use tool::Mutant;

use self::compare::{Outcome, compare};
use self::survivors::{FILE, Survivors};
use crate::error::XtaskError;

/// The rooms: what decides and what proves.
const PACKAGES: [&str; 3] = ["quorum-policies", "quorum-handoff", "quorum-attest"];

/// Arguments of `xtask mutants`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Try every mutant.
    #[arg(long, conflicts_with = "sample")]
    all: bool,
    /// Try this many, chosen by --seed.
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
    /// Print an entry for mutants/survivors.toml for every survivor that is not in it.
    #[arg(long)]
    print_entries: bool,
}

/// Whether what survived is what the file says.
pub(crate) fn run(args: &Args, root: &Path) -> Result<bool, XtaskError> {
    let packages: Vec<&str> =
        if args.packages.is_empty() { PACKAGES.to_vec() } else { args.packages.iter().map(String::as_str).collect() };
    let mut mutants = tool::list(root, &packages)?;
    let known = Survivors::read(&root.join(FILE))?;
    let stale = known.stale(&mutants, &packages);
    let all = mutants.clone();
    mutants.retain(|mutant| args.files.is_empty() || args.files.iter().any(|file| mutant.file.ends_with(file)));
    let of = mutants.len();
    if !args.all {
        let seed = match &args.seed {
            Some(seed) => seed.clone(),
            None => sample::seed(root, &packages)?,
        };
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
    let tried = tool::run(root, &packages, &mutants)?;
    let found = compare(&tried, &all, &known);
    report(&tried, of, &found, &stale);
    if args.print_entries {
        found.new.iter().for_each(|mutant| println!("\n{}", survivors::entry(mutant)));
    }
    Ok(found.new.is_empty() && found.caught.is_empty() && stale.is_empty())
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
