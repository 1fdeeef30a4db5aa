//! One child process that never outlives its owner.

use std::ffi::OsStr;
use std::fs::OpenOptions;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Instant;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::{TestkitError, limits};

/// A running child with its output in a log file; dropping it kills it with -9 and reaps it.
#[derive(Debug)]
pub struct Process {
    name: String,
    child: Child,
    log: PathBuf,
}

impl Process {
    /// Starts `binary args...` with these variables on top of the own environment; stdout and stderr are appended to
    /// `log`.
    ///
    /// # Errors
    /// `system`.
    pub fn spawn<I, S>(
        name: &str,
        binary: &Path,
        args: I,
        env: &[(String, String)],
        log: &Path,
    ) -> Result<Self, TestkitError>
    where
        I: IntoIterator<Item = S>,
        S: AsRef<OsStr>,
    {
        let failed = |error| TestkitError::system(format!("start {name} ({})", binary.display()))(error);
        let out = OpenOptions::new().create(true).append(true).open(log).map_err(failed)?;
        let err = out.try_clone().map_err(failed)?;
        let child = Command::new(binary)
            .args(args)
            .envs(env.iter().map(|(key, value)| (key, value)))
            .stdin(Stdio::null())
            .stdout(out)
            .stderr(err)
            .spawn()
            .map_err(failed)?;
        Ok(Self { name: name.to_owned(), child, log: log.to_owned() })
    }

    /// Process id.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// The name given at start.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The file with its output.
    #[must_use]
    pub fn log(&self) -> &Path {
        &self.log
    }

    /// Its exit status, if it has ended.
    ///
    /// # Errors
    /// `system`.
    pub fn ended(&mut self) -> Result<Option<ExitStatus>, TestkitError> {
        self.child.try_wait().map_err(TestkitError::system("wait"))
    }

    /// Kills it with -9 and reaps it; harmless when it has ended.
    ///
    /// # Errors
    /// `system`.
    pub fn kill9(&mut self) -> Result<ExitStatus, TestkitError> {
        self.child.kill().map_err(TestkitError::system("kill"))?;
        self.child.wait().map_err(TestkitError::system("wait"))
    }

    /// Sends a signal.
    ///
    /// # Errors
    /// `system` if the process is gone.
    pub fn signal(&self, signal: Signal) -> Result<(), TestkitError> {
        let pid = i32::try_from(self.pid()).unwrap_or(i32::MAX);
        kill(Pid::from_raw(pid), signal)
            .map_err(|error| TestkitError::system(format!("{signal} to {}", self.name))(error.into()))
    }

    /// Asks it to end (SIGTERM), kills it if it does not in time.
    ///
    /// # Errors
    /// `system`; `not_ready` if it had to be killed.
    pub fn stop(&mut self) -> Result<ExitStatus, TestkitError> {
        if let Some(status) = self.ended()? {
            return Ok(status);
        }
        self.signal(Signal::SIGTERM)?;
        let deadline = Instant::now() + limits::GRACE;
        while Instant::now() < deadline {
            if let Some(status) = self.ended()? {
                return Ok(status);
            }
            std::thread::sleep(limits::POLL);
        }
        self.kill9()?;
        Err(self.not_ready("it did not end after SIGTERM and was killed"))
    }

    /// Waits until the process is stopped by a signal, as a fault point does.
    ///
    /// # Errors
    /// `not_ready` if it is not in time, or has ended.
    pub fn wait_stopped(&mut self) -> Result<(), TestkitError> {
        let deadline = Instant::now() + limits::READY * 3;
        while Instant::now() < deadline {
            if self.is_stopped()? {
                return Ok(());
            }
            std::thread::sleep(limits::POLL);
        }
        Err(self.not_ready("it never stopped"))
    }

    /// Whether the process is stopped by a signal just now.
    ///
    /// # Errors
    /// `not_ready` if it has ended.
    pub fn is_stopped(&mut self) -> Result<bool, TestkitError> {
        if self.ended()?.is_some() {
            return Err(self.not_ready("it has ended"));
        }
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.pid())).unwrap_or_default();
        // The state follows the last parenthesis, since a process name may hold any character.
        Ok(stat.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with('T')))
    }

    fn not_ready(&self, reason: &str) -> TestkitError {
        TestkitError::NotReady { what: self.name.clone(), reason: reason.into(), log: self.log.clone() }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // Nothing can be done about a child that cannot be killed; it is ours, so it can.
        let _ = self.kill9();
    }
}
