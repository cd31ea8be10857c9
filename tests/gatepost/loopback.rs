//! Servers on loopback that tests play for Gatepost to call, and what comes to them.

use crate::faults::wire::PATIENCE;
use std::{
    fmt::Debug,
    io,
    net::{TcpListener, TcpStream},
    sync::{Condvar, Mutex},
    thread,
    time::Instant,
};

/// A free port, listened at.
pub fn listener() -> TcpListener {
    TcpListener::bind("127.0.0.1:0").expect("a port")
}

/// Does this with every connection, each on a thread of its own, until the tests end. The other side
/// may go whenever it likes.
pub fn serve(
    listener: TcpListener,
    each: impl Fn(TcpStream) -> io::Result<()> + Clone + Send + 'static,
) {
    thread::spawn(move || {
        for stream in listener.incoming() {
            let (each, stream) = (each.clone(), stream.expect("a connection"));
            thread::spawn(move || each(stream));
        }
    });
}

/// What came, in order.
pub struct Came<T>(Mutex<Vec<T>>, Condvar);

impl<T> Default for Came<T> {
    fn default() -> Self {
        Self(Mutex::default(), Condvar::new())
    }
}

impl<T: Clone + Debug> Came<T> {
    pub fn add(&self, one: T) {
        self.0.lock().expect("a lock").push(one);
        self.1.notify_all();
    }

    pub fn all(&self) -> Vec<T> {
        self.0.lock().expect("a lock").clone()
    }

    /// Waits until what came is enough.
    #[track_caller]
    pub fn wait(&self, what: &str, enough: impl Fn(&[T]) -> bool) -> Vec<T> {
        let until = Instant::now() + PATIENCE;
        let mut came = self.0.lock().expect("a lock");
        while !enough(&came) {
            let left = until.saturating_duration_since(Instant::now());
            assert!(!left.is_zero(), "never came: {what}; there are {came:#?}");
            came = self.1.wait_timeout(came, left).expect("a lock").0;
        }
        came.clone()
    }

    /// Waits until so many came.
    #[track_caller]
    pub fn wait_for(&self, count: usize) -> Vec<T> {
        self.wait(&format!("{count} in all"), |came| came.len() >= count)
    }
}
