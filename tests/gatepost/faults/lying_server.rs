//! The control of the test of `kill -9`: a front that acknowledges before it forwards, as a server
//! would that answers before it commits. The same check must find what it lost.

use super::wire::{Wire, read_message};
use std::{
    io::{self, BufReader, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

const LIE: &[u8] = b"HTTP/1.1 201 Created\r\nContent-Type: application/json\r\nContent-Length: 22\r\n\r\n{\"data\":{},\"meta\":{}}\n";

/// The front; dies when it is told to, as the server behind it does.
pub struct LyingFront {
    pub address: SocketAddr,
    dead: Arc<AtomicBool>,
}

impl LyingFront {
    pub fn before(server: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address");
        let dead = Arc::new(AtomicBool::new(false));
        let of_threads = Arc::clone(&dead);
        std::thread::spawn(move || {
            for gate in listener.incoming() {
                if of_threads.load(Ordering::SeqCst) {
                    return;
                }
                let dead = Arc::clone(&of_threads);
                std::thread::spawn(move || gate.and_then(|gate| lie(gate, server, &dead)));
            }
        });
        Self { address, dead }
    }

    pub fn kill(&self) {
        self.dead.store(true, Ordering::SeqCst);
        // Wakes the thread that accepts.
        let _ = TcpStream::connect(self.address);
    }
}

impl Drop for LyingFront {
    fn drop(&mut self) {
        self.kill();
    }
}

fn lie(gate: TcpStream, server: SocketAddr, dead: &AtomicBool) -> io::Result<()> {
    let mut behind = Wire::open(server)?;
    let mut requests = BufReader::new(gate.try_clone()?);
    let mut answers = gate;
    loop {
        let request = read_message(&mut requests)?;
        if dead.load(Ordering::SeqCst) {
            return Ok(());
        }
        answers.write_all(LIE)?;
        behind.write(request.start.as_bytes())?;
        behind.write(request.headers.as_bytes())?;
        behind.write(&request.body)?;
        behind.answer()?;
    }
}
