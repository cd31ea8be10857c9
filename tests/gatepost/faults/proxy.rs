//! A network between browsers and a server that a test takes away and gives back: the address stays the same
//! while the server cannot be reached, does not answer, or is another one.

use super::wire::{Message, header, read_message};
use std::{
    collections::HashMap,
    io::{self, BufReader, Write},
    net::{Shutdown, SocketAddr, TcpListener, TcpStream},
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak},
};

/// How the network is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Network {
    Up,
    /// Every connection is cut, and none is served.
    Down,
    /// Requests reach the server. Their answers are lost.
    Mute,
}

/// A proxy on a port of its own; its connections end with it.
pub struct Proxy {
    pub address: SocketAddr,
    shared: Arc<Shared>,
}

/// A network that breaks at random.
struct Trouble {
    /// Of a small generator of random numbers (xorshift).
    state: u64,
    /// Requests that are still refused since it broke last.
    refusals: u64,
}

/// What becomes of a request.
#[derive(PartialEq, Eq)]
enum Fate {
    Answered,
    /// The server never sees it.
    Refused,
    /// The server sees it, and its answer is lost.
    Unanswered,
}

impl Trouble {
    fn random(&mut self, below: u64) -> u64 {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        self.state % below
    }

    /// One request of a hundred breaks the network, for itself and some after it.
    fn fate(&mut self) -> Fate {
        if self.refusals > 0 {
            self.refusals -= 1;
            return Fate::Refused;
        }
        if self.random(100) > 0 {
            return Fate::Answered;
        }
        self.refusals = self.random(4);
        if self.random(2) == 0 {
            Fate::Refused
        } else {
            Fate::Unanswered
        }
    }
}

struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    network: Network,
    server: SocketAddr,
    sockets: Vec<Weak<TcpStream>>,
    /// Answers in place of the server's, by path.
    files: HashMap<String, String>,
    /// Requests that reached the server, by path.
    passed: HashMap<String, usize>,
    /// The path whose requests are cut.
    blocked: Option<String>,
    trouble: Option<Trouble>,
    has_ended: bool,
}

impl Proxy {
    /// A network that is up, in front of this server.
    pub fn to(server: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address");
        let shared = Arc::new(Shared {
            state: Mutex::new(State {
                network: Network::Up,
                server,
                sockets: Vec::new(),
                files: HashMap::new(),
                passed: HashMap::new(),
                blocked: None,
                trouble: None,
                has_ended: false,
            }),
            changed: Condvar::new(),
        });
        let listening = Arc::clone(&shared);
        std::thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                if listening.state().has_ended {
                    return;
                }
                let shared = Arc::clone(&listening);
                // A connection that breaks is what this is for.
                std::thread::spawn(move || drop(shared.carry(client)));
            }
        });
        Self { address, shared }
    }

    /// Where its pages are.
    pub fn origin(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Changes the network.
    pub fn set(&self, network: Network) {
        let mut state = self.shared.state();
        state.network = network;
        if network == Network::Down {
            state.cut();
        }
        drop(state);
        self.shared.changed.notify_all();
    }

    /// Answers this at a path, in place of the server.
    pub fn replace(&self, path: &str, body: &str) {
        let mut state = self.shared.state();
        state.files.insert(path.to_owned(), body.to_owned());
    }

    /// Cuts the connection of every request for this path, or of none.
    pub fn block(&self, path: Option<&str>) {
        self.shared.state().blocked = path.map(ToOwned::to_owned);
    }

    /// Breaks at random from now on, and each time cuts every connection.
    pub fn trouble(&self, seed: u64) {
        self.shared.state().trouble = Some(Trouble {
            state: seed,
            refusals: 0,
        });
    }

    /// How many requests for a path reached the server.
    pub fn passed(&self, path: &str) -> usize {
        self.shared.state().passed.get(path).copied().unwrap_or(0)
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.shared.state().has_ended = true;
        self.set(Network::Down);
        // The listener looks up.
        let _ = TcpStream::connect(self.address);
    }
}

impl State {
    fn cut(&mut self) {
        for socket in self.sockets.drain(..).filter_map(|socket| socket.upgrade()) {
            let _ = socket.shutdown(Shutdown::Both);
        }
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Serves a connection until it ends.
    fn carry(&self, client: TcpStream) -> io::Result<()> {
        let client = self.watched(client)?;
        let mut requests = BufReader::new(client.as_ref());
        loop {
            let request = read_message(&mut requests)?;
            let path = path(&request).to_owned();
            let file = self.state().files.get(&path).cloned();
            let answer = match file {
                Some(body) => own_answer(&path, &body),
                None => self.ask(&request, path)?,
            };
            client.as_ref().write_all(&answer)?;
        }
    }

    /// A connection that is cut with the network.
    fn watched(&self, socket: TcpStream) -> io::Result<Arc<TcpStream>> {
        socket.set_nodelay(true)?;
        let socket = Arc::new(socket);
        let mut state = self.state();
        if state.network == Network::Down {
            return Err(io::ErrorKind::ConnectionReset.into());
        }
        state.sockets.retain(|socket| socket.strong_count() > 0);
        state.sockets.push(Arc::downgrade(&socket));
        Ok(socket)
    }

    /// Cuts everything that is under way; a network that comes back at once.
    fn breaks<T>(&self) -> io::Result<T> {
        self.state().cut();
        Err(io::ErrorKind::ConnectionReset.into())
    }

    /// What the server answers, unless the network lost it.
    fn ask(&self, request: &Message, path: String) -> io::Result<Vec<u8>> {
        let (server, fate) = {
            let mut state = self.state();
            let trouble = state.trouble.as_mut();
            let fate = trouble.map_or(Fate::Answered, Trouble::fate);
            if state.blocked.as_ref() == Some(&path) {
                return Err(io::ErrorKind::ConnectionReset.into());
            }
            (state.server, fate)
        };
        if fate == Fate::Refused {
            return self.breaks();
        }
        let server = self.watched(TcpStream::connect(server)?)?;
        server.as_ref().write_all(&passed_on(request))?;
        *self.state().passed.entry(path).or_default() += 1;
        let answer = read_message(&mut BufReader::new(server.as_ref()))?;
        assert!(
            header(&answer.headers, "transfer-encoding").is_none(),
            "the proxy cannot pass on {}",
            answer.headers
        );
        if fate == Fate::Unanswered {
            return self.breaks();
        }
        let state = self.state();
        if state.network == Network::Mute {
            let muted = |state: &mut State| state.network == Network::Mute;
            drop(self.changed.wait_while(state, muted));
            return Err(io::ErrorKind::ConnectionReset.into());
        }
        drop(state);
        let headers = without(&answer.headers, &["connection"]);
        let mut bytes = format!("{}{headers}\r\n", answer.start).into_bytes();
        bytes.extend(answer.body);
        Ok(bytes)
    }
}

/// The path of a request, without its query.
fn path(request: &Message) -> &str {
    let target = request.start.split(' ').nth(1).unwrap_or_default();
    target.split('?').next().unwrap_or_default()
}

/// A request as the server gets it: for one plain answer.
fn passed_on(request: &Message) -> Vec<u8> {
    let headers = without(&request.headers, &["connection", "accept-encoding"]);
    let head = format!("{}{headers}Connection: close\r\n\r\n", request.start);
    [head.as_bytes(), &request.body].concat()
}

/// Headers but for these, without the empty line after them.
fn without(headers: &str, names: &[&str]) -> String {
    let lines = headers.split_inclusive("\r\n").filter(|line| {
        let name = line.split(':').next().unwrap_or_default().trim();
        !name.is_empty() && !names.contains(&name.to_ascii_lowercase().as_str())
    });
    lines.collect()
}

fn own_answer(path: &str, body: &str) -> Vec<u8> {
    let kind = match path.rsplit('.').next() {
        Some("js") => "text/javascript",
        Some("html" | "/gate") => "text/html",
        Some("css") => "text/css",
        _ => "application/json",
    };
    format!(
        "HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nCache-Control: no-store\r\nService-Worker-Allowed: /gate\r\n\
         Content-Length: {}\r\n\r\n{body}",
        body.len()
    )
    .into_bytes()
}
