//! Git's own digests of a directory, so that a pull request's head can be hashed again without trusting a Git on the way.

use std::collections::BTreeMap;

use quorum_schemas::Sha256;
use sha1_checked::{Digest as _, Sha1};

use crate::VerifierError;
use crate::tree::{self, Entry, Listing, Mode};

/// The hash of a repository.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Algorithm {
    /// 40 hex digits; inputs made to collide are refused by a changed digest.
    Sha1,
    /// 64 hex digits.
    Sha256,
}

impl Algorithm {
    /// The algorithm of an object id.
    pub(crate) fn of(id: &str) -> Result<Self, VerifierError> {
        match id.len() {
            40 => Ok(Self::Sha1),
            64 => Ok(Self::Sha256),
            _ => Err(VerifierError::CandidateUnusable(format!("`{id}` is not a Git object id"))),
        }
    }

    /// The id of an object, in hex.
    pub(crate) fn object(self, kind: &str, body: &[u8]) -> String {
        self.raw(kind, body).iter().map(|byte| format!("{byte:02x}")).collect()
    }

    fn raw(self, kind: &str, body: &[u8]) -> Vec<u8> {
        let header = format!("{kind} {}\0", body.len());
        match self {
            Self::Sha1 => {
                let mut hasher = Sha1::new();
                hasher.update(header.as_bytes());
                hasher.update(body);
                hasher.finalize().to_vec()
            }
            Self::Sha256 => {
                let mut hasher = Sha256::default();
                hasher.update(header.as_bytes());
                hasher.update(body);
                hasher.finish().as_bytes().to_vec()
            }
        }
    }

    /// The id of the tree object that this directory, as it was listed, would be.
    pub(crate) fn tree(self, listing: &Listing) -> Result<String, VerifierError> {
        let mut folder = Folder::default();
        for entry in listing.iter() {
            let bytes = listing.read(entry)?;
            let Entry { path, mode, .. } = entry;
            let id = if *mode == Mode::Submodule { commit_of(path, &bytes)? } else { self.raw("blob", &bytes) };
            folder.insert(path, *mode, id);
        }
        Ok(self.object("tree", &folder.body(self)))
    }
}

/// The tree that a commit object names.
pub(crate) fn tree_of_commit(commit: &[u8]) -> Result<String, VerifierError> {
    let line = commit.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let id = std::str::from_utf8(line).ok().and_then(|line| line.strip_prefix("tree "));
    id.map(str::to_owned).ok_or_else(|| VerifierError::CandidateUnusable("the head is not a commit object".into()))
}

/// The raw id that the file in a submodule's place names.
fn commit_of(path: &str, bytes: &[u8]) -> Result<Vec<u8>, VerifierError> {
    let text = std::str::from_utf8(bytes).unwrap_or_default();
    let id =
        text.strip_prefix("Subproject commit ").and_then(|rest| rest.strip_suffix('\n')).and_then(crate::text::unhex);
    id.filter(|id| tree::submodule_text(&crate::text::hex(id)) == text)
        .ok_or_else(|| VerifierError::CandidateUnusable(format!("the submodule `{path}` names no commit")))
}

#[derive(Default)]
struct Folder {
    files: BTreeMap<String, (Mode, Vec<u8>)>,
    folders: BTreeMap<String, Folder>,
}

impl Folder {
    fn insert(&mut self, path: &str, mode: Mode, id: Vec<u8>) {
        match path.split_once('/') {
            Some((folder, rest)) => self.folders.entry(folder.to_owned()).or_default().insert(rest, mode, id),
            None => {
                self.files.insert(path.to_owned(), (mode, id));
            }
        }
    }

    fn body(&self, algorithm: Algorithm) -> Vec<u8> {
        // Git sorts a folder as if its name ended with `/`.
        let mut rows: BTreeMap<Vec<u8>, Vec<u8>> = BTreeMap::new();
        let row = |mode: &str, name: &str, id: &[u8]| [mode.as_bytes(), b" ", name.as_bytes(), b"\0", id].concat();
        for (name, (mode, id)) in &self.files {
            rows.insert(name.clone().into_bytes(), row(mode.as_str(), name, id));
        }
        for (name, folder) in &self.folders {
            let id = algorithm.raw("tree", &folder.body(algorithm));
            rows.insert(format!("{name}/").into_bytes(), row("40000", name, &id));
        }
        rows.into_values().flatten().collect()
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn known_objects_have_their_known_ids() {
        assert_eq!(Algorithm::Sha1.object("blob", b""), "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391");
        assert_eq!(Algorithm::Sha1.object("tree", b""), "4b825dc642cb6eb9a060e54bf8d69288fbee4904");
        let empty = "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321";
        assert_eq!(Algorithm::Sha256.object("tree", b""), empty);
        assert_eq!(Algorithm::of("abc").unwrap_err().code(), "candidate_unusable");
    }

    #[test]
    fn a_directory_has_the_tree_id_that_git_gives_it() {
        let root = tempfile::tempdir().unwrap();
        let git = |args: &[&str]| {
            let mut command = std::process::Command::new("git");
            let env =
                [("HOME", "/nonexistent"), ("GIT_CONFIG_NOSYSTEM", "1"), ("PATH", "/usr/local/bin:/usr/bin:/bin")];
            let out = command.args(args).current_dir(root.path()).env_clear().envs(env).output().expect("git runs");
            assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
            String::from_utf8(out.stdout).unwrap().trim().to_owned()
        };
        fs::create_dir_all(root.path().join("a/b")).unwrap();
        for (path, text) in [("a/b/c", "1"), ("a.txt", "2"), ("a-b", "3"), ("z", "")] {
            fs::write(root.path().join(path), text).unwrap();
        }
        std::os::unix::fs::symlink("a/b", root.path().join("link")).unwrap();
        let executable = <fs::Permissions as std::os::unix::fs::PermissionsExt>::from_mode(0o755);
        fs::set_permissions(root.path().join("z"), executable).unwrap();
        git(&["init", "-q"]);
        git(&["add", "-A"]);
        let commit = "1234567890123456789012345678901234567890";
        git(&["update-index", "--add", "--cacheinfo", &format!("160000,{commit},sub")]);
        fs::write(root.path().join("sub"), tree::submodule_text(commit)).unwrap();
        let expected = git(&["write-tree"]);
        fs::remove_dir_all(root.path().join(".git")).unwrap();
        let listing = || Listing::take(root.path(), &["sub".to_owned()]).unwrap();
        assert_eq!(Algorithm::Sha1.tree(&listing()).unwrap(), expected);
        // The same text in a file is another tree.
        let plain = Listing::take(root.path(), &[]).unwrap();
        assert_ne!(Algorithm::Sha1.tree(&plain).unwrap(), expected);
        fs::write(root.path().join("sub"), "Subproject commit main\n").unwrap();
        assert_eq!(Algorithm::Sha1.tree(&listing()).unwrap_err().code(), "candidate_unusable");
    }
}
