//! HTTP/1.1 by hand, over one connection: a test here decides when which byte is sent, and counts
//! an answer only once its last byte is there.

use serde_json::Value;
use std::{
    io::{self, BufRead, BufReader, Read, Write},
    net::{SocketAddr, TcpStream},
    time::Duration,
};

/// How long a test waits for anything at all before it calls it a failure: longer than a machine that is
/// busy with other tests takes.
pub const PATIENCE: Duration = Duration::from_secs(120);

/// A connection.
pub struct Wire(BufReader<TcpStream>);

/// A request or an answer as it came off a connection.
pub struct Message {
    /// The request or status line.
    pub start: String,
    /// The headers, each with its line end, and the empty line after them.
    pub headers: String,
    pub body: Vec<u8>,
}

/// An answer.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub headers: String,
    pub body: Value,
}

impl Wire {
    pub fn open(address: SocketAddr) -> io::Result<Self> {
        let stream = TcpStream::connect_timeout(&address, PATIENCE)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        Ok(Self(BufReader::new(stream)))
    }

    /// Sends a request and waits for its answer.
    pub fn call(&mut self, request: &[u8]) -> io::Result<Answer> {
        self.write(request)?;
        self.answer()
    }

    pub fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.0.get_mut().write_all(bytes)
    }

    pub fn answer(&mut self) -> io::Result<Answer> {
        let message = read_message(&mut self.0)?;
        let status = message
            .start
            .split(' ')
            .nth(1)
            .and_then(|status| status.parse().ok());
        Ok(Answer {
            status: status.ok_or_else(|| broken("no status"))?,
            body: if message.body.is_empty() {
                Value::Null
            } else {
                serde_json::from_slice(&message.body)?
            },
            headers: message.headers,
        })
    }

    /// Says that nothing more will be sent, and reads until the server closes its side too: by
    /// then it is done with the request.
    pub fn end(mut self) -> Vec<u8> {
        let _ = self.0.get_ref().shutdown(std::net::Shutdown::Write);
        let mut rest = Vec::new();
        match self.0.read_to_end(&mut rest) {
            Err(cause) if is_timeout(&cause) => panic!("the server does not close: {cause}"),
            _ => rest,
        }
    }
}

impl Answer {
    /// `meta.error.internalCode`, 0 without one.
    pub fn code(&self) -> i64 {
        self.body["meta"]["error"]["internalCode"]
            .as_i64()
            .unwrap_or(0)
    }

    /// A header by its name in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        header(&self.headers, name)
    }

    /// `data`, of a success.
    pub fn data(&self) -> &Value {
        assert!((200..300).contains(&self.status), "{self:?}");
        &self.body["data"]
    }

    /// `data` of a list.
    pub fn list(&self) -> &Vec<Value> {
        self.data().as_array().expect("a list")
    }

    /// Checks the status.
    #[track_caller]
    pub fn is(&self, status: u16) {
        assert_eq!(self.status, status, "{self:?}");
    }
}

/// Reads one message; a connection that ends before its last byte is an error.
pub fn read_message(reader: &mut impl BufRead) -> io::Result<Message> {
    let (start, headers) = read_head(reader)?;
    let length = header(&headers, "content-length").map_or(Ok(0), str::parse);
    let mut body = vec![0; length.map_err(|_| broken("Content-Length is no number"))?];
    reader.read_exact(&mut body)?;
    Ok(Message {
        start,
        headers,
        body,
    })
}

/// Reads the head of a message: its first line, and its headers.
pub fn read_head(reader: &mut impl BufRead) -> io::Result<(String, String)> {
    let mut line = || {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        if line.ends_with('\n') {
            Ok(line)
        } else {
            Err(broken("the connection ended"))
        }
    };
    let start = line()?;
    let mut headers = String::new();
    loop {
        let header = line()?;
        headers.push_str(&header);
        if header == "\r\n" {
            return Ok((start, headers));
        }
    }
}

/// A header by its name, of a message's headers.
pub fn header<'a>(headers: &'a str, name: &str) -> Option<&'a str> {
    headers.lines().find_map(|line| {
        let (known, value) = line.split_once(':')?;
        known.eq_ignore_ascii_case(name).then(|| value.trim())
    })
}

fn broken(why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::UnexpectedEof, why)
}

fn is_timeout(cause: &io::Error) -> bool {
    matches!(
        cause.kind(),
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut
    )
}

/// A request; `path` comes after `/api/v5`, `headers` are whole lines with their ends.
pub fn request(method: &str, path: &str, headers: &str, token: &str, body: &str) -> Vec<u8> {
    format!(
        "{method} /api/v5{path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\n\
         Content-Type: application/json\r\n{headers}Content-Length: {}\r\n\r\n{body}",
        body.len()
    )
    .into_bytes()
}

pub fn post(path: &str, token: &str, body: &Value) -> Vec<u8> {
    request("POST", path, "", token, &body.to_string())
}

pub fn get(path: &str, token: &str) -> Vec<u8> {
    request("GET", path, "", token, "")
}
