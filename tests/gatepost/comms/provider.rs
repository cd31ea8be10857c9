//! An HTTP gateway on loopback that does as it is told: it answers, or is gone in the middle.

use super::session::{Identity, Session};
use crate::{
    faults::wire,
    loopback::{self, Came},
};
use std::{
    collections::VecDeque,
    io::{self, BufReader, Read, Write},
    net::TcpStream,
    sync::{Arc, Mutex},
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
#[derive(Debug, Clone)]
pub struct Call {
    /// `POST /sms HTTP/1.1`.
    pub line: String,
    headers: String,
    pub body: String,
}

impl Call {
    pub fn header(&self, name: &str) -> &str {
        wire::header(&self.headers, name).unwrap_or_default()
    }
}

struct Inside {
    acts: Mutex<VecDeque<Act>>,
    usual: Mutex<Act>,
    calls: Came<Call>,
}

/// The gateway.
pub struct Provider {
    pub port: u16,
    scheme: &'static str,
    inside: Arc<Inside>,
}

impl Provider {
    pub fn start() -> Self {
        Self::begin("http", Session::Plain)
    }

    /// By HTTPS, as somebody.
    pub fn start_by(identity: &Identity) -> Self {
        let identity = identity.clone();
        Self::begin("https", move |stream| Session::secured(stream, &identity))
    }

    fn begin(
        scheme: &'static str,
        session: impl Fn(TcpStream) -> Session + Clone + Send + 'static,
    ) -> Self {
        let listener = loopback::listener();
        let port = listener.local_addr().expect("an address").port();
        let inside = Arc::new(Inside {
            acts: Mutex::default(),
            usual: Mutex::new(Act::Answer(200, "{}")),
            calls: Came::default(),
        });
        let of_threads = Arc::clone(&inside);
        loopback::serve(listener, move |stream| of_threads.answer(session(stream)));
        Self {
            port,
            scheme,
            inside,
        }
    }

    /// What becomes of the next calls; those after are answered as usual.
    pub fn act(&self, acts: &[Act]) {
        *self.inside.acts.lock().expect("a lock") = acts.iter().cloned().collect();
    }

    /// What it usually answers.
    pub fn usually(&self, act: Act) {
        *self.inside.usual.lock().expect("a lock") = act;
    }

    pub fn url(&self) -> String {
        format!("{}://127.0.0.1:{}", self.scheme, self.port)
    }

    /// The calls that came whole.
    pub fn calls(&self) -> Vec<Call> {
        self.inside.calls.all()
    }

    /// Waits until so many calls came.
    #[track_caller]
    pub fn wait_for(&self, calls: usize) -> Vec<Call> {
        self.inside.calls.wait_for(calls)
    }
}

impl Inside {
    fn answer(&self, session: Session) -> io::Result<()> {
        let told = self.acts.lock().expect("a lock").pop_front();
        let act = told.unwrap_or_else(|| self.usual.lock().expect("a lock").clone());
        let mut input = BufReader::new(session);
        match act {
            Act::GoneAtOnce => return Ok(()),
            Act::GoneInCall => return wire::read_head(&mut input).map(drop),
            _ => {}
        }
        let call = wire::read_message(&mut input)?;
        self.calls.add(Call {
            line: call.start,
            headers: call.headers,
            body: String::from_utf8(call.body).expect("text"),
        });
        let out = input.get_mut();
        match act {
            Act::Answer(status, body) => write!(
                out,
                "HTTP/1.1 {status} So\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
                body.len()
            ),
            Act::GoneInAnswer => write!(out, "HTTP/1.1 20"),
            Act::Silent => input.read_to_end(&mut Vec::new()).map(drop),
            Act::GoneAtOnce | Act::GoneInCall | Act::GoneAfterCall => Ok(()),
        }
    }
}
