//! A client that says what it likes: header blocks and reply subjects that no library would send.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpStream;

use quorum_mesh::{UserRole, permissions::user_name};

use crate::{NatsServer, TestkitError, limits};

/// One connection as one of the server's users.
#[derive(Debug)]
pub struct RawClient {
    stream: TcpStream,
    answers: BufReader<TcpStream>,
}

impl RawClient {
    /// Connects with the password that the server's configuration gives to this user.
    ///
    /// # Errors
    /// `system`, `not_found`.
    pub fn connect(server: &NatsServer, role: UserRole, id: &str) -> Result<Self, TestkitError> {
        let failed = || TestkitError::system("a raw client");
        let user = user_name(role, id)?;
        let text = std::fs::read_to_string(server.dir().join("nats.conf")).map_err(failed())?;
        let named = format!("user: \"{user}\", password: \"");
        let password = text.split_once(&named).and_then(|(_, rest)| rest.split_once('"')).map(|(password, _)| password);
        let password = password.ok_or_else(|| quorum_mesh::MeshError::NotFound(format!("user {user}")))?;
        let stream = TcpStream::connect(server.url().trim_start_matches("nats://")).map_err(failed())?;
        stream.set_read_timeout(Some(limits::READY)).map_err(failed())?;
        let answers = BufReader::new(stream.try_clone().map_err(failed())?);
        let mut client = Self { stream, answers };
        let hello = format!(
            "CONNECT {{\"user\":\"{user}\",\"pass\":\"{password}\",\"verbose\":false,\"headers\":true,\"no_responders\":true}}\r\n"
        );
        client.say(hello.as_bytes())?;
        Ok(client)
    }

    /// Publishes with this header block, byte for byte, and this reply subject; returns what the server said until it
    /// had handled it.
    ///
    /// # Errors
    /// `system`.
    pub fn publish(&mut self, subject: &str, reply: &str, head: &[u8], body: &[u8]) -> Result<String, TestkitError> {
        let line = format!("HPUB {subject} {reply} {} {}\r\n", head.len(), head.len() + body.len());
        self.say(&[line.as_bytes(), head, body, b"\r\n"].concat())
    }

    fn say(&mut self, bytes: &[u8]) -> Result<String, TestkitError> {
        let failed = || TestkitError::system("a raw client");
        self.stream.write_all(&[bytes, b"PING\r\n"].concat()).map_err(failed())?;
        let mut said = String::new();
        loop {
            let mut line = String::new();
            let read = self.answers.read_line(&mut line).map_err(failed())?;
            match line.trim_end() {
                "PONG" => return Ok(said),
                "PING" => self.stream.write_all(b"PONG\r\n").map_err(failed())?,
                _ if read == 0 => return Ok(said),
                _ => said += &line,
            }
        }
    }
}
