//! A small HTTP/1.1 client that keeps its connection alive and its buffers for good, because it
//! shares the machine with the server it measures. It knows plain HTTP, lengths and chunks; no
//! TLS, no redirects.

use crate::Result;
use std::{
    fmt::{self, Write},
    future::poll_fn,
    io::{self, ErrorKind},
    pin::Pin,
    time::{Duration, Instant},
};
use tokio::{
    io::{AsyncRead, ReadBuf},
    net::TcpStream,
};

/// Longer headers than these are no answer of ours.
const HEADERS_MAX_BYTES: usize = 64 * 1024;

/// Where the server is and what admits to it.
#[derive(Clone)]
pub struct Target {
    address: String,
    headers: String,
}

impl Target {
    /// Reads an address such as `http://127.0.0.1:8080`.
    pub fn parse(url: &str) -> Result<Self> {
        let host = url
            .strip_prefix("http://")
            .ok_or_else(|| format!("{url}: the address must begin with http://"))?
            .trim_end_matches('/');
        let port = host.rsplit_once(':').map(|(_, port)| port.parse::<u16>());
        let address = match port {
            Some(Ok(_)) => host.to_owned(),
            _ => format!("{host}:80"),
        };
        Ok(Self {
            address,
            headers: format!("Host: {host}\r\n"),
        })
    }

    /// Host and port.
    pub fn address(&self) -> &str {
        &self.address
    }

    pub fn with_token(self, token: &str) -> Self {
        self.with_header("Authorization", &format!("Bearer {token}"))
    }

    pub fn with_header(mut self, name: &str, value: &str) -> Self {
        let _ = write!(self.headers, "{name}: {value}\r\n");
        self
    }

    /// Writes a whole GET request.
    pub fn get(&self, request: &mut Vec<u8>, path: fmt::Arguments<'_>) {
        request.clear();
        request.extend_from_slice(format!("GET {path} HTTP/1.1\r\n").as_bytes());
        request.extend_from_slice(self.headers.as_bytes());
        request.extend_from_slice(b"\r\n");
    }

    /// Writes a whole POST request with a JSON body.
    pub fn post(&self, request: &mut Vec<u8>, path: &str, body: &str) {
        self.send_as("application/json", request, path, body);
    }

    /// Writes a whole POST request with a form.
    pub fn post_form(&self, request: &mut Vec<u8>, path: &str, form: &str) {
        self.send_as("application/x-www-form-urlencoded", request, path, form);
    }

    fn send_as(&self, kind: &str, request: &mut Vec<u8>, path: &str, body: &str) {
        request.clear();
        for part in [
            "POST ",
            path,
            " HTTP/1.1\r\n",
            &self.headers,
            "Content-Type: ",
            kind,
            "\r\nContent-Length: ",
            &body.len().to_string(),
            "\r\n\r\n",
            body,
        ] {
            request.extend_from_slice(part.as_bytes());
        }
    }

    /// Reads an answer 64 KiB at a time with a pause after each; how many bytes, in what time.
    pub async fn read_slowly(
        &self,
        path: &str,
        pause: Duration,
        mut meanwhile: impl FnMut(),
    ) -> Result<(usize, Duration)> {
        let mut connection = self.connect().await?;
        let mut request = Vec::new();
        self.get(&mut request, format_args!("{path}"));
        let begun = Instant::now();
        connection.send(&request).await?;
        connection.buffer.resize(64 * 1024, 0);
        let (mut bytes, mut end) = (0, Vec::new());
        while !end.ends_with(b"\r\n0\r\n\r\n") {
            connection.filled = 0;
            connection.receive().await?;
            bytes += connection.filled;
            end.extend_from_slice(&connection.buffer[..connection.filled]);
            end.drain(..end.len().saturating_sub(16));
            meanwhile();
            tokio::time::sleep(pause).await;
        }
        Ok((bytes, begun.elapsed()))
    }

    /// A figure of the server's metrics without labels; 0 where it is not told.
    pub async fn metric(&self, name: &str) -> Result<u64> {
        let mut request = Vec::new();
        self.get(&mut request, format_args!("/metrics"));
        let mut connection = self.connect().await?;
        let answer = connection.exchange(&request).await?;
        let mut lines = std::str::from_utf8(answer.body)?.lines();
        let value = lines.find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        Ok(value.unwrap_or("0").parse()?)
    }

    pub async fn connect(&self) -> Result<Connection> {
        let stream = TcpStream::connect(&self.address)
            .await
            .map_err(|cause| format!("{}: {cause}", self.address))?;
        stream.set_nodelay(true)?;
        Ok(Connection {
            stream,
            buffer: vec![0; 16 * 1024],
            filled: 0,
            body: Vec::new(),
        })
    }
}

/// What came back.
pub struct Response<'a> {
    pub status: u16,
    head: &'a [u8],
    pub body: &'a [u8],
}

impl Response<'_> {
    /// A header's value, as far as it is text.
    pub fn header(&self, name: &str) -> Option<&str> {
        let head = std::str::from_utf8(self.head).ok()?;
        let mut headers = head.split("\r\n").filter_map(|line| line.split_once(": "));
        headers
            .find(|(known, _)| known.eq_ignore_ascii_case(name))
            .map(|(_, value)| value)
    }
}

/// How a body's end is found.
enum Framing {
    Length(usize),
    Chunked,
}

/// One connection, used for one request at a time.
pub struct Connection {
    stream: TcpStream,
    buffer: Vec<u8>,
    filled: usize,
    /// A chunked body, put together; with a length it stays in `buffer`.
    body: Vec<u8>,
}

impl Connection {
    /// Sends a request and waits for the whole answer.
    pub async fn exchange(&mut self, request: &[u8]) -> io::Result<Response<'_>> {
        self.send(request).await?;
        self.filled = 0;
        let head_end = loop {
            if let Some(end) = find(&self.buffer[..self.filled], b"\r\n\r\n") {
                break end + 4;
            }
            if self.filled > HEADERS_MAX_BYTES {
                return Err(malformed("headers without an end"));
            }
            self.receive().await?;
        };
        let (status, framing) = parse_head(&self.buffer[..head_end])?;
        match framing {
            Framing::Length(length) => {
                let end = head_end + length;
                while self.filled < end {
                    self.receive().await?;
                }
                let (head, body) = self.buffer[..end].split_at(head_end);
                Ok(Response { status, head, body })
            }
            Framing::Chunked => {
                self.read_chunks(head_end).await?;
                let (head, body) = (&self.buffer[..head_end], &self.body);
                Ok(Response { status, head, body })
            }
        }
    }

    /// Sends a request whose answer does not end, and tells each piece of it as it comes. Ends when
    /// the server does.
    pub async fn listen(&mut self, request: &[u8], mut heard: impl FnMut(&[u8])) -> io::Result<()> {
        self.send(request).await?;
        loop {
            self.filled = 0;
            match self.receive().await {
                Ok(()) => heard(&self.buffer[..self.filled]),
                Err(cause) if cause.kind() == ErrorKind::UnexpectedEof => return Ok(()),
                Err(cause) => return Err(cause),
            }
        }
    }

    async fn send(&mut self, mut rest: &[u8]) -> io::Result<()> {
        while !rest.is_empty() {
            match self.stream.try_write(rest) {
                Ok(written) => rest = &rest[written..],
                Err(cause) if cause.kind() == ErrorKind::WouldBlock => {
                    self.stream.writable().await?;
                }
                Err(cause) => return Err(cause),
            }
        }
        Ok(())
    }

    /// Reads what is there, at least a byte. Goes through `poll_read`, which knows after a short
    /// read that nothing more is there, and so saves a system call.
    async fn receive(&mut self) -> io::Result<()> {
        if self.filled == self.buffer.len() {
            self.buffer.resize(self.buffer.len() * 2, 0);
        }
        let mut space = ReadBuf::new(&mut self.buffer[self.filled..]);
        poll_fn(|cx| Pin::new(&mut self.stream).poll_read(cx, &mut space)).await?;
        match space.filled().len() {
            0 => Err(ErrorKind::UnexpectedEof.into()),
            read => {
                self.filled += read;
                Ok(())
            }
        }
    }

    async fn read_chunks(&mut self, start: usize) -> io::Result<()> {
        let mut at = start;
        self.body.clear();
        loop {
            let line_end = loop {
                if let Some(length) = find(&self.buffer[at..self.filled], b"\r\n") {
                    break at + length;
                }
                self.receive().await?;
            };
            let size = parse_chunk_size(&self.buffer[at..line_end])?;
            let chunk = line_end + 2..line_end + 2 + size;
            while self.filled < chunk.end + 2 {
                self.receive().await?;
            }
            if size == 0 {
                return Ok(());
            }
            at = chunk.end + 2;
            self.body.extend_from_slice(&self.buffer[chunk]);
        }
    }
}

fn parse_head(head: &[u8]) -> io::Result<(u16, Framing)> {
    let text = std::str::from_utf8(head).map_err(|_| malformed("headers"))?;
    let mut lines = text.split("\r\n");
    let status = lines
        .next()
        .and_then(|line| line.strip_prefix("HTTP/1.1 "))
        .and_then(|line| line.get(..3))
        .and_then(|status| status.parse().ok())
        .ok_or_else(|| malformed("status line"))?;
    let mut framing = Framing::Length(0);
    for (name, value) in lines.filter_map(|line| line.split_once(':')) {
        if name.eq_ignore_ascii_case("content-length") {
            let length = value.trim().parse().map_err(|_| malformed("length"))?;
            framing = Framing::Length(length);
        } else if name.eq_ignore_ascii_case("transfer-encoding") {
            framing = Framing::Chunked;
        }
    }
    Ok((status, framing))
}

fn parse_chunk_size(line: &[u8]) -> io::Result<usize> {
    std::str::from_utf8(line)
        .ok()
        .and_then(|line| line.split(';').next())
        .and_then(|size| usize::from_str_radix(size.trim(), 16).ok())
        .ok_or_else(|| malformed("chunk size"))
}

fn malformed(what: &str) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, format!("malformed answer: {what}"))
}

fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    bytes
        .windows(wanted.len())
        .position(|window| window == wanted)
}
