//! Ports that were free a moment ago.

use std::net::TcpListener;

use crate::TestkitError;

/// A port of 127.0.0.1 that the system just gave and took back.
///
/// # Errors
/// `system` if there is none.
pub fn free_port() -> Result<u16, TestkitError> {
    let listener = TcpListener::bind(("127.0.0.1", 0)).map_err(TestkitError::system("a free port"))?;
    Ok(listener.local_addr().map_err(TestkitError::system("a free port"))?.port())
}
