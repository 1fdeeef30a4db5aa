//! `quorum man`: a page for each command.

use std::path::{Path, PathBuf};
use std::{fs, io};

use clap::Command;
use clap_mangen::Man;
use quorum_gate::ExitCode;
use serde_json::json;

use crate::app;
use crate::error::CliError;
use crate::ui::Ui;

/// Arguments of `quorum man`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Where to write the pages; it is made if it is not there.
    directory: PathBuf,
}

pub(crate) fn run(args: Args, ui: &mut Ui) -> Result<ExitCode, CliError> {
    let wrong = |source| CliError::Write { path: args.directory.clone(), source };
    let mut pages = Vec::new();
    let mut root = app::command();
    // Gives every command its whole name.
    root.build();
    collect(&root, &mut pages).map_err(wrong)?;
    let made = !args.directory.exists();
    fs::create_dir_all(&args.directory).map_err(wrong)?;
    let written = write(&pages, &args.directory).map_err(wrong);
    if written.is_err() && made {
        // It is empty; a leftover that cannot be removed is not the error to speak about.
        let _ = fs::remove_dir(&args.directory);
    }
    let files = written?;
    if ui.json() {
        ui.document(&json!({ "files": files }).into())?;
    } else {
        files.into_iter().try_for_each(|file| ui.line(file))?;
    }
    Ok(ExitCode::Accept)
}

/// Writes the pages and gives their paths.
fn write(pages: &[(String, Vec<u8>)], directory: &Path) -> io::Result<Vec<String>> {
    // All pages are written before the first takes its place: a full disk leaves the old ones.
    let scratch = tempfile::Builder::new().prefix(".quorum-out-").tempdir_in(directory)?;
    for (name, page) in pages {
        fs::write(scratch.path().join(name), page)?;
    }
    let mut files = Vec::new();
    for (name, _) in pages {
        let file = directory.join(name);
        fs::rename(scratch.path().join(name), &file)?;
        files.push(file.display().to_string());
    }
    Ok(files)
}

/// The page of a command and those of the commands below it, `quorum-trust-add.1` and so on.
fn collect(command: &Command, pages: &mut Vec<(String, Vec<u8>)>) -> io::Result<()> {
    let mut page = Vec::new();
    let name = command.get_display_name().unwrap_or_else(|| command.get_name());
    Man::new(command.clone()).render(&mut page)?;
    pages.push((format!("{name}.1"), page));
    command.get_subcommands().filter(|child| child.get_name() != "help").try_for_each(|child| collect(child, pages))
}
