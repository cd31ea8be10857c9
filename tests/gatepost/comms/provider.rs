//! An HTTP gateway on loopback that does as it is told: it answers, or is gone in the middle.

use super::session::{Identity, Session};
use std::{
    collections::VecDeque,
    io::{BufRead, BufReader, Read, Write},
    net::TcpListener,
    sync::{Arc, Condvar, Mutex},
    time::Duration,
};

/// What becomes of one call.
#[derive(Debug, Clone)]
pub enum Act {
    /// It answers with a status and a body.
    Answer(u16, &'static str),
    /// It goes away as soon as somebody has connected.
    GoneAtOnce,
    /// It goes away with the call's head alone.
    GoneInCall,
    /// It has the whole call and goes away.
    GoneAfterCall,
    /// It goes away in the middle of its answer's head.
    GoneInAnswer,
    /// It has the whole call and says nothing until the other side goes.
    Silent,
}

/// A call.
#[derive(Debug, Clone, Default)]
pub struct Call {
    /// `POST /sms HTTP/1.1`.
    pub line: String,
    pub headers: Vec<(String, String)>,
    pub body: String,
}

impl Call {
    pub fn header(&self, name: &str) -> &str {
        let found = self
            .headers
            .iter()
            .find(|(known, _)| known.eq_ignore_ascii_case(name));
        found.map_or("", |(_, value)| value)
    }
}

struct State {
    acts: VecDeque<Act>,
    usual: Act,
    calls: Vec<Call>,
}

/// The gateway.
pub struct Provider {
    pub port: u16,
    scheme: &'static str,
    state: Arc<(Mutex<State>, Condvar)>,
}

impl Provider {
    pub fn start() -> Self {
        Self::begin(None)
    }

    /// By HTTPS, as somebody.
    pub fn start_by(identity: &Identity) -> Self {
        Self::begin(Some(identity.clone()))
    }

    fn begin(identity: Option<Identity>) -> Self {
        let scheme = if identity.is_some() { "https" } else { "http" };
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let state = State {
            acts: VecDeque::new(),
            usual: Act::Answer(200, "{}"),
            calls: Vec::new(),
        };
        let state = Arc::new((Mutex::new(state), Condvar::new()));
        let of_thread = Arc::clone(&state);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let state = Arc::clone(&of_thread);
                let stream = stream.expect("a connection");
                let session = match &identity {
                    Some(identity) => Session::secured(stream, identity),
                    None => Session::Plain(stream),
                };
                std::thread::spawn(move || {
                    let _ = answer(session, &state);
                });
            }
        });
        Self {
            port,
            scheme,
            state,
        }
    }

    /// What becomes of the next calls; those after are answered as usual.
    pub fn act(&self, acts: &[Act]) {
        self.state.0.lock().expect("a lock").acts = acts.iter().cloned().collect();
    }

    /// What it usually answers.
    pub fn usually(&self, act: Act) {
        self.state.0.lock().expect("a lock").usual = act;
    }

    pub fn url(&self) -> String {
        format!("{}://127.0.0.1:{}", self.scheme, self.port)
    }

    /// The calls that came whole.
    pub fn calls(&self) -> Vec<Call> {
        self.state.0.lock().expect("a lock").calls.clone()
    }

    /// Waits until so many calls came.
    #[track_caller]
    pub fn wait_for(&self, calls: usize) -> Vec<Call> {
        let (lock, changed) = &*self.state;
        let state = lock.lock().expect("a lock");
        let (state, waited) = changed
            .wait_timeout_while(state, Duration::from_secs(30), |state| {
                state.calls.len() < calls
            })
            .expect("a lock");
        assert!(!waited.timed_out(), "only {} calls came", state.calls.len());
        state.calls.clone()
    }
}

fn answer(session: Session, state: &(Mutex<State>, Condvar)) -> std::io::Result<()> {
    let act = {
        let mut state = state.0.lock().expect("a lock");
        let usual = state.usual.clone();
        state.acts.pop_front().unwrap_or(usual)
    };
    if matches!(act, Act::GoneAtOnce) {
        return Ok(());
    }
    let mut input = BufReader::new(session);
    let mut call = Call::default();
    input.read_line(&mut call.line)?;
    loop {
        let mut line = String::new();
        input.read_line(&mut line)?;
        let Some((name, value)) = line.trim_end().split_once(':') else {
            break;
        };
        call.headers
            .push((name.to_owned(), value.trim().to_owned()));
    }
    if matches!(act, Act::GoneInCall) {
        return Ok(());
    }
    let length = call.header("content-length").parse().unwrap_or(0);
    let mut body = vec![0; length];
    input.read_exact(&mut body)?;
    call.body = String::from_utf8(body).expect("text");
    {
        let (lock, changed) = state;
        lock.lock().expect("a lock").calls.push(call);
        changed.notify_all();
    }
    let out = input.get_mut();
    match act {
        Act::Answer(status, body) => write!(
            out,
            "HTTP/1.1 {status} So\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
            body.len()
        ),
        Act::GoneInAnswer => write!(out, "HTTP/1.1 20"),
        Act::Silent => {
            let mut rest = Vec::new();
            input.read_to_end(&mut rest)?;
            Ok(())
        }
        Act::GoneAtOnce | Act::GoneInCall | Act::GoneAfterCall => Ok(()),
    }
}
