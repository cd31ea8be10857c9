//! A label printer with ZPL on loopback, which is as a test says.

use crate::loopback::{self, Came};
use std::{
    io::{self, Read, Write},
    net::{SocketAddr, TcpStream},
    sync::{Arc, Mutex},
};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mood {
    Ready,
    OutOfLabels,
    /// Prints, and answers no question.
    Silent,
    /// Goes away in the middle of a job.
    BreaksOff,
}

/// A printer that runs until the tests end.
#[derive(Clone)]
pub struct Zebra {
    pub address: SocketAddr,
    mood: Arc<Mutex<Mood>>,
    labels: Arc<Came<String>>,
}

impl Zebra {
    pub fn start(mood: Mood) -> Self {
        let listener = loopback::listener();
        let zebra = Self {
            address: listener.local_addr().expect("an address"),
            mood: Arc::new(Mutex::new(mood)),
            labels: Arc::default(),
        };
        let of_threads = zebra.clone();
        loopback::serve(listener, move |stream| of_threads.serve(stream));
        zebra
    }

    /// From now on is otherwise.
    pub fn now(&self, mood: Mood) {
        *self.mood.lock().expect("a lock") = mood;
    }

    /// The labels that came out, whole.
    pub fn labels(&self) -> Vec<String> {
        self.labels.all()
    }

    #[track_caller]
    pub fn wait_for(&self, count: usize) -> Vec<String> {
        self.labels.wait_for(count)
    }

    fn serve(&self, mut stream: TcpStream) -> io::Result<()> {
        let (mut came, mut part) = (String::new(), [0; 4096]);
        loop {
            let count = stream.read(&mut part)?;
            if count == 0 {
                return Ok(());
            }
            came.push_str(&String::from_utf8_lossy(&part[..count]));
            let mood = *self.mood.lock().expect("a lock");
            if mood == Mood::BreaksOff && came.contains("^XA") {
                return Ok(());
            }
            loop {
                if let Some(rest) = came.strip_prefix("~HS\r\n") {
                    came = rest.to_owned();
                    if mood != Mood::Silent {
                        let is_out = u8::from(mood == Mood::OutOfLabels);
                        write!(
                            stream,
                            "\u{2}030,{is_out},0,1183,000,0,0,0,000,0,0,0\u{3}\r\n\
                             \u{2}000,0,0,0,0,2,4,0,00000000,1,000\u{3}\r\n\u{2}1234,0\u{3}\r\n"
                        )?;
                    }
                } else if let Some(end) = came.find("^XZ") {
                    self.labels.add(came[..end + 3].to_owned());
                    came = came[end + 3..].trim_start().to_owned();
                } else {
                    break;
                }
            }
        }
    }
}
