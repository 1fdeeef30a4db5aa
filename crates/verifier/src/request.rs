//! What the check child is asked: documents without the worker's words, and places on this machine.

use std::path::{Path, PathBuf};

use quorum_handoff::{Handoff, ManifestBinding, WorkUnit};
use quorum_sandbox::Isolation;
use quorum_schemas::{Object, Value, c1, limits::Limits, parse_with};

use crate::text::{hex, unhex};
use crate::{BoundPlan, Check, VerifierError, limits};

/// One request to the check child. It has no room for a key, nor, beside what an imported plan judges by definition
/// ([`BoundPlan::observing`]), for a manifest's status or its logs.
#[derive(Debug, Clone, PartialEq)]
pub struct CheckRequest {
    /// The bound plan.
    pub plan: BoundPlan,
    /// The handoff that it is bound to.
    pub handoff: Handoff,
    /// The blinded manifest.
    pub binding: ManifestBinding,
    /// The work unit.
    pub work_unit: WorkUnit,
    /// The candidate, a directory that nobody writes meanwhile.
    pub candidate_root: PathBuf,
    /// The baseline, where there is one.
    pub baseline_root: Option<PathBuf>,
    /// An existing private directory for throwaway copies; the child leaves it empty.
    pub scratch: PathBuf,
    /// The folder of the plan file, from which `harness` and engine paths start.
    pub plan_dir: Option<PathBuf>,
    /// The isolation that commands and engines must have; `None` only by the operator's word.
    pub isolation: Isolation,
    /// Paths that no command may see, above all the key's.
    pub hidden: Vec<PathBuf>,
    /// Our own program, which holds the shipped engine; absolute.
    pub exe: PathBuf,
    /// The commit object of a pull request's head, without its header.
    pub head_commit: Option<Vec<u8>>,
    /// The paths at which the candidate, a commit, has submodules.
    pub candidate_submodules: Vec<String>,
    /// The paths at which the baseline, a commit, has submodules.
    pub baseline_submodules: Vec<String>,
}

const BOUNDS: Limits = Limits { bytes: limits::REQUEST_BYTES, depth: 64 };

impl CheckRequest {
    /// The bytes that go to the child's stdin.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let path = |path: &PathBuf| Value::from(hex(path.as_os_str().as_encoded_bytes()));
        let texts = |texts: &[String]| Value::from(texts.iter().map(String::as_str).collect::<Vec<_>>());
        let mut members: Vec<(&str, Value)> = vec![
            ("plan", self.plan.value().clone()),
            ("handoff", self.handoff.value().clone()),
            ("binding", self.binding.to_value()),
            ("work_unit", self.work_unit.value().clone()),
            ("candidate_root", path(&self.candidate_root)),
            ("scratch", path(&self.scratch)),
            ("isolation", self.isolation.as_str().into()),
            ("hidden", Value::Array(self.hidden.iter().map(path).collect())),
            ("exe", path(&self.exe)),
            ("candidate_submodules", texts(&self.candidate_submodules)),
            ("baseline_submodules", texts(&self.baseline_submodules)),
        ];
        members.extend(self.plan.import_value().map(|import| ("import", import)));
        members.extend(self.baseline_root.as_ref().map(|root| ("baseline_root", path(root))));
        members.extend(self.plan_dir.as_ref().map(|dir| ("plan_dir", path(dir))));
        members.extend(self.head_commit.as_ref().map(|commit| ("head_commit", hex(commit).into())));
        let members: Object = members.into_iter().map(|(key, value)| (key.to_owned(), value)).collect();
        c1(&Value::Object(members))
    }

    /// Reads the bytes back. The documents are not held against their schemas again: the parent did that, and only it can
    /// write to this pipe. Whoever starts the child by hand gets a report that nobody signs.
    ///
    /// # Errors
    /// [`VerifierError::ChildGarbage`] naming the member.
    pub fn parse(bytes: &[u8]) -> Result<Self, VerifierError> {
        let garbage = |what: &str, why: String| VerifierError::ChildGarbage(format!("the request: {what}: {why}"));
        let value = parse_with(bytes, BOUNDS).map_err(|error| garbage("document", error.to_string()))?;
        let need = |key: &str| value.get(key).ok_or_else(|| garbage(key, "missing".to_owned()));
        let raw = |key: &str, value: &Value| {
            let bytes = value.as_str().and_then(unhex);
            bytes.ok_or_else(|| garbage(key, "not hex".to_owned()))
        };
        let path = |key: &str, value: &Value| raw(key, value).map(to_path);
        let optional = |key: &str| value.get(key).map(|value| path(key, value)).transpose();
        let texts = |key: &str| -> Result<Vec<String>, VerifierError> {
            let items = need(key)?.as_array().unwrap_or_default().iter();
            items.map(|item| item.as_str().map(str::to_owned).ok_or_else(|| garbage(key, "no text".into()))).collect()
        };
        let hidden = need("hidden")?.as_array().unwrap_or_default();
        let isolation = need("isolation")?.as_str().unwrap_or_default();
        Ok(Self {
            plan: match value.get("import") {
                None => BoundPlan::reread(need("plan")?.clone())?,
                Some(import) => BoundPlan::reread_imported(need("plan")?.clone(), import)?,
            },
            handoff: Handoff::reread(need("handoff")?).map_err(|error| garbage("handoff", error.to_string()))?,
            binding: ManifestBinding::parse(need("binding")?).map_err(|error| garbage("binding", error.to_string()))?,
            work_unit: WorkUnit::reread(need("work_unit")?.clone())
                .map_err(|error| garbage("work_unit", error.to_string()))?,
            candidate_root: path("candidate_root", need("candidate_root")?)?,
            baseline_root: optional("baseline_root")?,
            scratch: path("scratch", need("scratch")?)?,
            plan_dir: optional("plan_dir")?,
            isolation: isolation
                .parse()
                .map_err(|error: quorum_sandbox::SandboxError| garbage("isolation", error.to_string()))?,
            hidden: hidden.iter().map(|value| path("hidden", value)).collect::<Result<_, _>>()?,
            exe: path("exe", need("exe")?)?,
            head_commit: value.get("head_commit").map(|value| raw("head_commit", value)).transpose()?,
            candidate_submodules: texts("candidate_submodules")?,
            baseline_submodules: texts("baseline_submodules")?,
        })
    }
}

impl CheckRequest {
    /// The harness folder of a check, canonical.
    ///
    /// # Errors
    /// [`VerifierError::HarnessUnusable`] when it is not a directory outside the candidate.
    pub(crate) fn harness_of(&self, check: &Check) -> Result<Option<PathBuf>, VerifierError> {
        let Some(name) = check.harness() else { return Ok(None) };
        let refuse =
            |why: String| VerifierError::HarnessUnusable { check: check.id().to_owned(), path: name.to_owned(), why };
        let path = self.beside_plan(name).ok_or_else(|| refuse("a relative path needs the plan's folder".into()))?;
        let path = path.canonicalize().map_err(|error| refuse(error.to_string()))?;
        if !path.is_dir() {
            return Err(refuse("is not a directory".into()));
        }
        if self.overlaps_candidate(&path) {
            return Err(refuse("must lie outside the candidate".into()));
        }
        Ok(Some(path))
    }

    /// A path of the plan, from the plan's own folder.
    pub(crate) fn beside_plan(&self, name: &str) -> Option<PathBuf> {
        let path = Path::new(name);
        match (&self.plan_dir, path.is_absolute()) {
            (_, true) => Some(path.to_owned()),
            (Some(dir), false) => Some(dir.join(path)),
            (None, false) => None,
        }
    }

    /// Whether a canonical path lies in the candidate, or the candidate in it.
    pub(crate) fn overlaps_candidate(&self, path: &Path) -> bool {
        let root = self.candidate_root.canonicalize().unwrap_or_else(|_| self.candidate_root.clone());
        path.starts_with(&root) || root.starts_with(path)
    }
}

// Paths are bytes; JSON texts are not.
fn to_path(bytes: Vec<u8>) -> PathBuf {
    PathBuf::from(<std::ffi::OsString as std::os::unix::ffi::OsStringExt>::from_vec(bytes))
}
