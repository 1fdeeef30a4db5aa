//! What is kept on the disk: a folder for each key, and a mark for each tainted generation.

use std::fs::{self, File, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use quorum_schemas::{Digest, Object, Value, jcs, parse};

use crate::profile::text;
use crate::{Entry, Key, Ref, Refusal, RefusalCode, RunResult, WorkbenchError};

const ENTRY: &str = "entry.json";
const DRAFT: &str = ".draft-";

/// A folder of results. Several processes may use one; a key is one process's at a time.
#[derive(Debug, Clone)]
pub struct Store(PathBuf);

/// One key, locked: by the kernel, so that the lock of a killed process is gone with it.
#[derive(Debug)]
pub struct Held {
    folder: PathBuf,
    _lock: File,
}

fn wrong(path: &Path) -> impl FnOnce(io::Error) -> WorkbenchError {
    let path = path.to_owned();
    move |source| WorkbenchError::Store { path, source }
}

impl Store {
    /// Opens a store, and makes its folder if there is none.
    ///
    /// # Errors
    /// [`WorkbenchError::Store`].
    pub fn open(folder: &Path) -> Result<Self, WorkbenchError> {
        for part in ["keys", "tainted"] {
            make_folder(&folder.join(part))?;
        }
        Ok(Self(folder.to_owned()))
    }

    /// Locks a key.
    ///
    /// # Errors
    /// `operation-in-progress` while another process has it; [`WorkbenchError::Store`].
    pub fn hold(&self, key: &Key) -> Result<Held, WorkbenchError> {
        let folder = self.0.join("keys").join(Digest::of(key.as_str().as_bytes()).hex());
        make_folder(&folder)?;
        let path = folder.join("lock");
        let lock = File::options().create(true).truncate(false).write(true).open(&path).map_err(wrong(&path))?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let why = format!("another process runs the key {key}");
                return Err(Refusal::new(RefusalCode::OperationInProgress, why).into());
            }
            Err(TryLockError::Error(source)) => return Err(WorkbenchError::Store { path, source }),
        }
        // A killed process leaves its drafts; nobody else can have one here now.
        for entry in fs::read_dir(&folder).map_err(wrong(&folder))? {
            let path = entry.map_err(wrong(&folder))?.path();
            if path.file_name().and_then(|name| name.to_str()).is_some_and(|name| name.starts_with(DRAFT)) {
                fs::remove_file(&path).map_err(wrong(&path))?;
            }
        }
        Ok(Held { folder, _lock: lock })
    }

    /// Whether an observation may have changed a generation.
    ///
    /// # Errors
    /// [`WorkbenchError::Store`].
    pub fn tainted(&self, generation: &Ref) -> Result<bool, WorkbenchError> {
        let path = self.taint_mark(generation);
        path.try_exists().map_err(wrong(&path))
    }

    /// Marks a generation for good; a restart does not clear it.
    ///
    /// # Errors
    /// [`WorkbenchError::Store`].
    pub fn taint(&self, generation: &Ref) -> Result<(), WorkbenchError> {
        write(&self.taint_mark(generation), generation.as_str().as_bytes())
    }

    fn taint_mark(&self, generation: &Ref) -> PathBuf {
        self.0.join("tainted").join(Digest::of(generation.as_str().as_bytes()).hex())
    }
}

impl Held {
    /// What is kept. What nobody of us wrote is an error and never "nothing": a command would run twice.
    ///
    /// # Errors
    /// [`WorkbenchError::Store`], [`WorkbenchError::Stored`].
    pub fn load(&self) -> Result<Entry, WorkbenchError> {
        let path = self.folder.join(ENTRY);
        let bytes = match fs::read(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Entry::Free),
            other => other.map_err(wrong(&path))?,
        };
        decode(&bytes).map_err(|why| WorkbenchError::Stored { path, why })
    }

    /// Makes an entry durable.
    ///
    /// # Errors
    /// [`WorkbenchError::Store`]; what a reader of results would refuse is not written.
    pub fn keep(&self, entry: &Entry) -> Result<(), WorkbenchError> {
        let path = self.folder.join(ENTRY);
        match encode(entry)? {
            Some(bytes) => write(&path, &bytes),
            None => match fs::remove_file(&path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => Err(wrong(&path)(error)),
                _ => sync(&self.folder),
            },
        }
    }
}

fn encode(entry: &Entry) -> Result<Option<Vec<u8>>, WorkbenchError> {
    let (request, result, at) = match entry {
        Entry::Free => return Ok(None),
        Entry::Started { request, unknown } => (request, unknown, None),
        Entry::Done { request, result, at } => (request, result, Some(*at)),
    };
    let mut out = Object::new();
    out.insert("request".to_owned(), Value::from(request.to_string().as_str()));
    // The name says what the result is: one that a restart will give, or the one that there is.
    let name = if at.is_some() { "result" } else { "unknown" };
    out.insert(name.to_owned(), parse(&result.to_bytes()?)?);
    if let Some(at) = at {
        out.insert("at".to_owned(), at.into());
    }
    Ok(Some(jcs(&Value::Object(out))?))
}

fn decode(bytes: &[u8]) -> Result<Entry, String> {
    let said = |error: &dyn std::fmt::Display| error.to_string();
    let value = parse(bytes).map_err(|error| said(&error))?;
    let members = value.as_object().ok_or("it is no object")?;
    let request = text(&value, "request").parse().map_err(|error: WorkbenchError| said(&error))?;
    let result = |name: &str| {
        let result = members.get(name).ok_or_else(|| format!("`{name}` is missing"))?;
        RunResult::from_value(result).map(Box::new).map_err(|error| said(&error))
    };
    match (members.len(), members.contains_key("at")) {
        (3, true) => Ok(Entry::Done {
            request,
            result: result("result")?,
            at: text(&value, "at").parse().map_err(|error| said(&error))?,
        }),
        (2, false) => Ok(Entry::Started { request, unknown: result("unknown")? }),
        (other, _) => Err(format!("it has {other} members")),
    }
}

fn make_folder(folder: &Path) -> Result<(), WorkbenchError> {
    fs::create_dir_all(folder).map_err(wrong(folder))?;
    folder.parent().map_or(Ok(()), sync)
}

/// Beside its place, onto the disk, into its place, and the folder onto the disk: a reader sees the old file or the whole
/// new one, whenever this process is killed.
fn write(path: &Path, bytes: &[u8]) -> Result<(), WorkbenchError> {
    let folder = path.parent().unwrap_or(Path::new("/"));
    let mut draft = tempfile::Builder::new().prefix(DRAFT).tempfile_in(folder).map_err(wrong(path))?;
    draft.write_all(bytes).and_then(|()| draft.as_file().sync_all()).map_err(wrong(path))?;
    draft.persist(path).map_err(|error| wrong(path)(error.error))?;
    sync(folder)
}

fn sync(folder: &Path) -> Result<(), WorkbenchError> {
    File::open(folder).and_then(|folder| folder.sync_all()).map_err(wrong(folder))
}
