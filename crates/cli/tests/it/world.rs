//! What the tests of the gate share: a temporary directory, the binary, keys from fixed seeds and a trust root.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::{SystemTime, UNIX_EPOCH};

use quorum_attest::{Entry, Role, SigningKey, TrustDraft};
use quorum_policies::Policy;
use quorum_schemas::{Digest, Timestamp, Value, parse};
use tempfile::TempDir;

/// Upstream's own examples, where they are.
pub(crate) fn upstream() -> Option<PathBuf> {
    quorum_schemas::upstream::path().map(|path| path.join("idkmesh/examples"))
}

/// The shipped example.
pub(crate) fn example() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/json-answer")
}

/// One directory of one test.
pub(crate) struct World {
    dir: TempDir,
    root: SigningKey,
    entries: Vec<Entry>,
    policies: Vec<Digest>,
}

/// What a process said and how it ended.
pub(crate) struct Said {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Said {
    pub(crate) fn of(output: Output) -> Self {
        Self {
            code: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// Asserts the exit code, showing both streams otherwise.
    #[track_caller]
    pub(crate) fn exits(self, code: i32) -> Self {
        assert_eq!(self.code, code, "stdout:\n{}\nstderr:\n{}", self.stdout, self.stderr);
        self
    }

    /// Asserts a refusal: its exit code, its stable code, one line, nothing on stdout.
    #[track_caller]
    pub(crate) fn refuses(self, exit: i32, code: &str) -> Self {
        let said = self.exits(exit);
        let last = said.stderr.lines().last().unwrap_or_default();
        assert!(last.starts_with(&format!("error[{code}]: ")), "{code} in {}", said.stderr);
        assert_eq!(said.stderr.lines().count(), 1, "one line: {}", said.stderr);
        assert_eq!(said.stdout, "", "a refusal has no data");
        said
    }

    /// The one JSON document on stdout.
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        parse(self.stdout.trim_end().as_bytes()).unwrap()
    }
}

impl World {
    pub(crate) fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        Self { dir, root: SigningKey::from_seed(&[1; 32]), entries: Vec::new(), policies: Vec::new() }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// Writes a file, with its folders, and gives its path.
    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, content).unwrap();
        path
    }

    pub(crate) fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap()
    }

    /// Copies a shipped or foreign file or folder into the world.
    pub(crate) fn copy(&self, from: &Path, name: &str) -> PathBuf {
        let to = self.path(name);
        if from.is_dir() {
            fs::create_dir_all(&to).unwrap();
            for entry in fs::read_dir(from).unwrap() {
                let entry = entry.unwrap();
                self.copy(&entry.path(), &format!("{name}/{}", entry.file_name().to_str().unwrap()));
            }
        } else {
            fs::create_dir_all(to.parent().unwrap()).unwrap();
            fs::write(&to, fs::read(from).unwrap()).unwrap();
        }
        to
    }

    /// The shipped example as `example/`.
    pub(crate) fn with_example() -> Self {
        let world = Self::new();
        world.copy(&example(), "example");
        world
    }

    /// Adds an identity whose key comes from `seed`; its private key is `<id>.pem`.
    pub(crate) fn identity(&mut self, role: Role, id: &str, seed: u8, attributes: &[(&str, &str)]) {
        let key = SigningKey::from_seed(&[seed; 32]);
        let path = self.write(&format!("{id}.pem"), key.to_pkcs8_pem().as_bytes());
        fs::set_permissions(path, fs::Permissions::from_mode(0o600)).unwrap();
        let now = now();
        let mut entry = Entry::new(role, id, key.public(), now.plus_seconds(-3600), now.plus_seconds(3600));
        entry.attributes = attributes
            .iter()
            .map(|(axis, value)| ((*axis).to_owned(), (*value).to_owned()))
            .collect::<BTreeMap<_, _>>();
        self.entries.push(entry);
    }

    /// Writes the private root key.
    pub(crate) fn root_key(&self, name: &str) {
        let path = self.write(name, self.root.to_pkcs8_pem().as_bytes());
        fs::set_permissions(path, fs::Permissions::from_mode(0o600)).unwrap();
    }

    /// Admits a shipped policy, or a file of the world.
    pub(crate) fn admit(&mut self, policy: &str) {
        let bytes = Policy::shipped(policy).map_or_else(|| self.read(policy), |text| text.as_bytes().to_vec());
        self.policies.push(Digest::of(&bytes));
    }

    /// Writes `trust.json` with everything added so far, valid from `from` to `until` seconds from now.
    pub(crate) fn trust_between(&self, from: i64, until: i64) -> PathBuf {
        let now = now();
        let mut draft = TrustDraft::new(now.plus_seconds(from), now.plus_seconds(until), 1, vec![self.root.public()]);
        for entry in &self.entries {
            draft.add(entry.clone()).unwrap();
        }
        for policy in &self.policies {
            draft.admit_policy(*policy).unwrap();
        }
        self.write("trust.json", draft.sign(&[&self.root]).unwrap())
    }

    pub(crate) fn trust(&self) -> PathBuf {
        self.trust_between(-3600, 3600)
    }

    /// Runs `quorum` in the world's directory with a clean environment.
    pub(crate) fn quorum<I, S>(&self, arguments: I) -> Said
    where
        I: IntoIterator<Item = S>,
        S: AsRef<std::ffi::OsStr>,
    {
        Said::of(self.command().args(arguments).output().unwrap())
    }

    /// Runs `quorum` with the words of one line, none of which has a space.
    pub(crate) fn run(&self, line: &str) -> Said {
        self.quorum(line.split_whitespace())
    }

    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_quorum"));
        command.current_dir(self.dir.path()).env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command
    }

    /// Every file below `name`, relative to it.
    pub(crate) fn files(&self, name: &str) -> Vec<String> {
        let mut found = Vec::new();
        list(&self.path(name), "", &mut found);
        found.sort();
        found
    }
}

fn list(root: &Path, below: &str, found: &mut Vec<String>) {
    for entry in fs::read_dir(root.join(below)).unwrap() {
        let entry = entry.unwrap();
        let name = format!("{below}{}", entry.file_name().to_str().unwrap());
        if entry.file_type().unwrap().is_dir() {
            list(root, &format!("{name}/"), found);
        } else {
            found.push(name);
        }
    }
}

pub(crate) fn now() -> Timestamp {
    let micros = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_micros();
    Timestamp::from_micros(i64::try_from(micros).unwrap())
}

/// Text with digests, key ids and times replaced, so that a snapshot shows only what is meant.
pub(crate) fn normal(text: &str) -> String {
    let mut out = String::new();
    let mut word = String::new();
    for character in text.chars().chain(['\n']) {
        if character.is_ascii_hexdigit() {
            word.push(character);
            continue;
        }
        if word.len() == 64 {
            out.push_str("HEX");
        } else {
            out.push_str(&word);
        }
        word.clear();
        out.push(character);
    }
    out.pop();
    out
}
