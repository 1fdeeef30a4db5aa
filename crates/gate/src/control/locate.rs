//! Where a path really leads, name by name.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::fs;
use std::path::{Component, Path, PathBuf};

use crate::{GateCode, GateError, limits};

/// Where a control file lives.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Located {
    /// On disk, links resolved.
    Disk(PathBuf),
    /// In the repository of `--git`, relative to the top of the working tree that holds it.
    Repository(PathBuf),
}

/// The places that matter; canonical.
pub(super) struct Places {
    pub(super) candidate: Option<PathBuf>,
    /// The working trees of the repository of `--git`.
    pub(super) repository: Vec<PathBuf>,
}

impl Places {
    /// Follows `path` name by name. A step into the candidate is refused, even where a link would lead out again: the
    /// link is the candidate's. Inside the repository nothing on disk is followed, since the working tree may be the
    /// candidate's.
    pub(super) fn locate(&self, option: &'static str, path: &Path) -> Result<Located, GateError> {
        let here = std::env::current_dir().map_err(|source| GateError::Read { path: ".".into(), source })?;
        let mut ahead = steps(&here.join(path));
        let mut at = PathBuf::from("/");
        let mut links = 0;
        while let Some(step) = ahead.pop_front() {
            let Step::Name(name) = step else {
                at.pop();
                continue;
            };
            let next = at.join(name);
            if self.candidate.as_ref().is_some_and(|root| next.starts_with(root)) {
                return Err(GateError::control(
                    GateCode::ControlFileInCandidate,
                    format!(
                        "{option} {} leads into the candidate, which must not control its own verification; move it out",
                        path.display()
                    ),
                ));
            }
            if let Ok(target) = fs::read_link(&next) {
                links += 1;
                if links > limits::LINKS {
                    return Err(GateError::control(GateCode::TooManyLinks, format!("{option} {}", path.display())));
                }
                if target.is_absolute() {
                    at = PathBuf::from("/");
                }
                ahead = steps(&target).into_iter().chain(ahead).collect();
                continue;
            }
            at = next;
            if self.repository.contains(&at) {
                match inside(&ahead) {
                    Ok(relative) => return Ok(Located::Repository(relative)),
                    // More `..` than names: it leaves the repository again.
                    Err(rest) => ahead = rest,
                }
            }
        }
        Ok(Located::Disk(at))
    }
}

#[derive(Debug, Clone)]
enum Step {
    Up,
    Name(OsString),
}

fn steps(path: &Path) -> VecDeque<Step> {
    path.components()
        .filter_map(|component| match component {
            Component::ParentDir => Some(Step::Up),
            Component::Normal(name) => Some(Step::Name(name.to_owned())),
            Component::CurDir | Component::RootDir | Component::Prefix(_) => None,
        })
        .collect()
}

/// The remaining steps as a path below the repository, or what is left of them from the step that leaves it.
fn inside(ahead: &VecDeque<Step>) -> Result<PathBuf, VecDeque<Step>> {
    let mut relative = PathBuf::new();
    for (index, step) in ahead.iter().enumerate() {
        match step {
            Step::Name(name) => relative.push(name),
            Step::Up if relative.pop() => {}
            Step::Up => return Err(ahead.iter().skip(index).cloned().collect()),
        }
    }
    Ok(relative)
}
