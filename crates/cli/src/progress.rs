//! A line that says that long work goes on: on a terminal only, and gone when the work ends.

use std::io::{self, IsTerminal, Write};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};

use crate::limits::PROGRESS_EVERY;

/// Shown from its start until it is dropped.
pub(crate) struct Progress(Option<(Sender<()>, JoinHandle<()>)>);

impl Progress {
    /// Starts to tell, after a moment and then again and again, that `what` goes on.
    pub(crate) fn start(what: &'static str) -> Self {
        if !io::stderr().is_terminal() || std::env::var_os("TERM").is_some_and(|term| term == "dumb") {
            return Self(None);
        }
        let (stop, stopped) = mpsc::channel();
        let tell = move || {
            let mut seconds = 0;
            while stopped.recv_timeout(PROGRESS_EVERY) == Err(RecvTimeoutError::Timeout) {
                seconds += PROGRESS_EVERY.as_secs();
                // Nothing depends on it.
                let _ = write!(io::stderr(), "\r{what}, {seconds} s");
            }
            if seconds > 0 {
                let _ = write!(io::stderr(), "\r\u{1b}[K");
            }
        };
        // Without a thread the work is done in silence.
        Self(thread::Builder::new().name("progress".into()).spawn(tell).ok().map(|thread| (stop, thread)))
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some((stop, thread)) = self.0.take() {
            drop(stop);
            // It only waits for the channel that was just closed.
            let _ = thread.join();
        }
    }
}
