//! What caller and helper say to each other over the one private socket.
//!
//! Caller to helper: a header (two little-endian lengths) that carries the descriptors, the description as JSON, the
//! bytes for standard input; later one byte, which is the kill order, as is the end of the stream. Helper to caller: one
//! JSON document per line. The command never holds this socket.

use std::collections::BTreeMap;
use std::io::{self, IoSlice, IoSliceMut, Read, Write};
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;

use nix::sys::socket::{ControlMessage, ControlMessageOwned, MsgFlags, recvmsg, sendmsg};
use serde::{Deserialize, Serialize};

use crate::{Change, limits, sys};

const HEADER: usize = 12;
const MOST_DESCRIPTORS: usize = 16;

/// Everything that the helper needs to know.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Description {
    /// `None` runs this program's own escape attempts instead (see `probe`).
    pub(crate) argv: Option<Vec<String>>,
    pub(crate) probe_args: Vec<String>,
    pub(crate) cwd: PathBuf,
    pub(crate) env: BTreeMap<String, String>,
    /// Canonical paths; no two are equal.
    pub(crate) view: Vec<View>,
    pub(crate) sandboxed: bool,
    pub(crate) uid: u32,
    pub(crate) file_size: u64,
    pub(crate) processes: u64,
    /// Layers without which the command must not start.
    pub(crate) required: Vec<String>,
    pub(crate) scratch: u64,
    /// Bounds for each process that stand in for controllers which cannot be joined.
    pub(crate) memory: Option<u64>,
    pub(crate) cpu_seconds: Option<u64>,
    /// Controllers of the descriptors that are for [`DescriptorUse::Group`], in their order.
    pub(crate) controllers: Vec<String>,
    /// What each descriptor in the header is for.
    pub(crate) descriptors: Vec<DescriptorUse>,
    pub(crate) has_stdin: bool,
}

/// One change to the read-only view of the file system.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct View {
    pub(crate) path: PathBuf,
    pub(crate) kind: ViewKind,
}

/// See [`View`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum ViewKind {
    /// Nothing is seen here.
    Masked,
    /// A private directory that everybody may write.
    Private,
    /// The host's, read-only.
    ReadOnly,
    /// The host's, writable.
    Writable,
    /// A throwaway layer over the host's; the number of the tree.
    Throwaway(usize),
}

/// See [`Description::descriptors`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum DescriptorUse {
    Stdin,
    Stdout,
    Number(i32),
    Group,
}

/// What the helper reports.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Message {
    /// Layers that are now in force.
    Enforced(Vec<String>),
    /// A step failed; nothing of the command ran. `class` says that the isolation class itself cannot be had.
    Failed { step: String, errno: i32, class: bool },
    /// The program could not be executed.
    NotExecuted { errno: i32 },
    /// The command exited by itself.
    Exited(i32),
    /// The command was ended by a signal that was not our kill order.
    Signaled(i32),
    /// One thing that a mutation did.
    Change(Change),
    /// All changes have been told, or not all: more, or unreadable.
    Changes { copied: bool, truncated: bool },
    /// The last process of the tree has been reaped.
    Quiesced,
}

/// Sends one report in one piece. A caller that is gone cannot be told.
pub(crate) fn report(control: &UnixStream, message: &Message) {
    let mut line = serde_json::to_vec(message).unwrap_or_default();
    line.push(b'\n');
    let mut writer: &UnixStream = control;
    let _ = writer.write_all(&line);
}

/// The caller's first words.
pub(crate) fn send(
    control: &UnixStream,
    description: &Description,
    stdin: &[u8],
    descriptors: &[RawFd],
) -> io::Result<()> {
    let json = serde_json::to_vec(description)?;
    let too_large = || io::Error::new(io::ErrorKind::InvalidInput, "the description is too large");
    if json.len() > limits::DESCRIPTION {
        return Err(too_large());
    }
    let mut header = [0_u8; HEADER];
    header[..4].copy_from_slice(&u32::try_from(json.len()).map_err(|_| too_large())?.to_le_bytes());
    header[4..].copy_from_slice(&(stdin.len() as u64).to_le_bytes());
    let rights = [ControlMessage::ScmRights(descriptors)];
    let rights: &[ControlMessage<'_>] = if descriptors.is_empty() { &[] } else { &rights };
    let sent = sendmsg::<()>(control.as_raw_fd(), &[IoSlice::new(&header)], rights, MsgFlags::MSG_NOSIGNAL, None)?;
    if sent != HEADER {
        return Err(io::Error::new(io::ErrorKind::WriteZero, "the helper did not take the header"));
    }
    let mut writer: &UnixStream = control;
    writer.write_all(&json)?;
    writer.write_all(stdin)
}

/// The helper's side of [`send`].
pub(crate) fn receive(control: &UnixStream) -> io::Result<(Description, Vec<u8>, Vec<OwnedFd>)> {
    let invalid = |what: &str| io::Error::new(io::ErrorKind::InvalidData, what.to_owned());
    let mut header = [0_u8; HEADER];
    let mut descriptors = Vec::new();
    let got = {
        let mut space = nix::cmsg_space!([RawFd; MOST_DESCRIPTORS]);
        let mut parts = [IoSliceMut::new(&mut header)];
        let message = recvmsg::<()>(
            control.as_raw_fd(),
            &mut parts,
            Some(&mut space),
            MsgFlags::MSG_CMSG_CLOEXEC | MsgFlags::MSG_WAITALL,
        )?;
        for part in message.cmsgs()? {
            if let ControlMessageOwned::ScmRights(received) = part {
                descriptors.extend(received.into_iter().map(sys::own));
            }
        }
        message.bytes
    };
    if got != HEADER {
        return Err(invalid("the caller went away"));
    }
    let json_length = u32::from_le_bytes([header[0], header[1], header[2], header[3]]) as usize;
    let mut stdin_length = [0_u8; 8];
    stdin_length.copy_from_slice(&header[4..]);
    let stdin_length = usize::try_from(u64::from_le_bytes(stdin_length)).map_err(|_| invalid("too large"))?;
    if json_length > limits::DESCRIPTION || stdin_length > limits::STDIN_MAX {
        return Err(invalid("too large"));
    }
    let mut reader: &UnixStream = control;
    let mut json = vec![0; json_length];
    reader.read_exact(&mut json)?;
    let mut stdin = vec![0; stdin_length];
    reader.read_exact(&mut stdin)?;
    Ok((serde_json::from_slice(&json)?, stdin, descriptors))
}
