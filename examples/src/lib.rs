//! Functions shared by the example programs.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};

/// Returns the answer, with its head.
///
/// # Errors
///
/// Returns an error if the server can't be reached.
pub fn request(address: SocketAddr, path: &str) -> io::Result<String> {
    let mut connection = TcpStream::connect(address)?;
    write!(connection, "GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n")?;
    let mut answer = String::new();
    connection.read_to_string(&mut answer)?;
    Ok(answer)
}
