//! Which paths a sandboxed command sees, as an ordered plan without duplicates.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::wire::{View, ViewKind};
use crate::{Effect, SandboxError, Spec};

/// Homes, runtime sockets and mount points of other people's media. `/tmp`, `/var/tmp` and `/dev/shm` are private.
const MASKED: [&str; 6] = ["/run", "/root", "/home", "/mnt", "/media", "/srv"];
pub(crate) const PRIVATE: [&str; 2] = ["/tmp", "/var/tmp"];
/// Places of their own making in the sandbox.
const OWN: [&str; 3] = ["/proc", "/dev", "/sys"];

/// The plan for a spec; every path is canonical and exists.
pub(crate) fn plan(spec: &Spec, cwd: &Path, pipes: &[PathBuf]) -> Result<Vec<View>, SandboxError> {
    let mut plan: BTreeMap<PathBuf, ViewKind> = BTreeMap::new();
    let home = std::env::var_os("HOME").map(PathBuf::from).filter(|home| home.is_absolute());
    for path in MASKED.into_iter().map(PathBuf::from).chain(home) {
        // `/` as a home would hide everything.
        if let Ok(path) = path.canonicalize().map_err(drop)
            && path.parent().is_some()
        {
            plan.insert(path, ViewKind::Masked);
        }
    }
    for path in PRIVATE {
        if let Ok(path) = Path::new(path).canonicalize() {
            plan.insert(path, ViewKind::Private);
        }
    }
    for path in &spec.read_only {
        insert_exception(&mut plan, path, ViewKind::ReadOnly, "read_only")?;
    }
    for path in &spec.writable {
        insert_exception(&mut plan, path, ViewKind::Writable, "writable")?;
    }
    if let Effect::Mutation { trees } = &spec.effect {
        for (number, path) in trees.iter().enumerate() {
            insert_exception(&mut plan, path, ViewKind::Throwaway(number), "effect")?;
        }
    }
    for path in &spec.hidden {
        // What does not exist cannot be seen; nothing can be created there by the command either.
        let Ok(path) = path.canonicalize() else { continue };
        if path.parent().is_none() {
            return Err(invalid("hidden", &path, "is the root of the file system"));
        }
        if let Some(ViewKind::ReadOnly | ViewKind::Writable | ViewKind::Throwaway(_)) =
            plan.insert(path.clone(), ViewKind::Masked)
        {
            return Err(invalid("hidden", &path, "is also to be visible"));
        }
    }
    show_cwd(&mut plan, cwd, &spec.hidden)?;
    plan.extend(pipes.iter().map(|path| (path.clone(), ViewKind::Masked)));
    Ok(plan.into_iter().map(|(path, kind)| View { path, kind }).collect())
}

fn invalid(field: &'static str, path: &Path, why: &str) -> SandboxError {
    SandboxError::InvalidSpec { field, why: format!("{} {why}", path.display()) }
}

fn insert_exception(
    plan: &mut BTreeMap<PathBuf, ViewKind>,
    path: &Path,
    kind: ViewKind,
    field: &'static str,
) -> Result<(), SandboxError> {
    let real = path.canonicalize().map_err(|source| SandboxError::Path { path: path.to_owned(), source })?;
    if real.parent().is_none() || OWN.iter().any(|own| real.starts_with(own)) {
        return Err(invalid(field, &real, "cannot be an exception; name a folder of your own"));
    }
    if matches!(kind, ViewKind::Writable | ViewKind::Throwaway(_)) && !real.is_dir() {
        return Err(invalid(field, &real, "is no directory"));
    }
    plan.insert(real, kind);
    Ok(())
}

/// The working directory is visible even when nobody named it, but not against a spec that hides it.
fn show_cwd(plan: &mut BTreeMap<PathBuf, ViewKind>, cwd: &Path, hidden: &[PathBuf]) -> Result<(), SandboxError> {
    let nearest = cwd.ancestors().find(|path| plan.contains_key(*path));
    let Some(nearest) = nearest.filter(|path| matches!(plan[*path], ViewKind::Masked | ViewKind::Private)) else {
        return Ok(());
    };
    if hidden.iter().any(|path| path.canonicalize().is_ok_and(|path| path == nearest)) {
        return Err(invalid("cwd", cwd, "is hidden"));
    }
    plan.insert(cwd.to_owned(), ViewKind::ReadOnly);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec(cwd: &Path) -> Spec {
        Spec::new(vec!["true".to_owned()], cwd.to_owned())
    }

    fn kind(plan: &[View], path: &Path) -> Option<ViewKind> {
        plan.iter().find(|view| view.path == path).map(|view| view.kind)
    }

    #[test]
    fn the_working_directory_below_a_private_folder_is_visible() {
        let folder = tempfile::tempdir().unwrap();
        let cwd = folder.path().canonicalize().unwrap();
        assert_eq!(kind(&plan(&spec(&cwd), &cwd, &[]).unwrap(), &cwd), Some(ViewKind::ReadOnly));
    }

    #[test]
    fn a_path_both_hidden_and_visible_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let mut spec = spec(folder.path());
        spec.read_only = vec![folder.path().to_owned()];
        spec.hidden = vec![folder.path().to_owned()];
        let error = plan(&spec, folder.path(), &[]).unwrap_err();
        assert_eq!(error.code(), "sandbox_spec_invalid");
    }

    #[test]
    fn a_hidden_working_directory_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let cwd = folder.path().canonicalize().unwrap();
        let mut spec = spec(&cwd);
        spec.hidden = vec![cwd.clone()];
        assert_eq!(plan(&spec, &cwd, &[]).unwrap_err().code(), "sandbox_spec_invalid");
    }

    #[test]
    fn system_places_are_no_exceptions() {
        for place in ["/", "/proc", "/dev/shm", "/sys"] {
            let mut spec = spec(Path::new("/"));
            spec.writable = vec![PathBuf::from(place)];
            assert!(plan(&spec, Path::new("/"), &[]).is_err(), "{place}");
        }
    }
}
