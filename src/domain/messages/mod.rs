//! Messages to people: e-mail by SMTP, texts and push by HTTP (spec: send-comm; contract §8).
//!
//! Every message is stored first, with a pending delivery in the outbox. An attempt is stored before it
//! begins and again when its outcome is known: so nothing is sent twice because a process ended in
//! between, and a message with an unknown outcome is resent by a person only.
//!
//! - `types`: channels and states; `address`: who can be reached, and under what
//! - `stored`: messages in the file; `list`: as the console shows them
//! - `templates`, `compose`: what messages say, `pictures`: QR codes in e-mails; `automations`, `automation_reader`: which are sent by themselves;
//!   `certificates`: those that bring one
//! - `gateways`: how messages leave; `deliver`: attempts; `upkeep`: what runs beside them
//! - `send`: `send-comm`; `opened`: who has opened an e-mail
//!
//! What a message with a one-time password says is never written: see `identity::secret_message_bodies`.
//!
//! Nothing here reads a secret out to anybody: gateways take them, and give none back.

pub mod address;
pub mod api;
mod automation_reader;
pub mod automations;
pub mod certificates;
pub mod compose;
mod deliver;
pub mod gateways;
pub mod list;
pub mod opened;
pub mod pictures;
pub mod preview;
pub mod send;
pub mod stored;
pub mod templates;
pub mod types;
mod upkeep;

pub use deliver::Messages;
pub use send::DirectSender;
pub use stored::enqueue_secret;
pub use types::{Channel, State};
pub use upkeep::Upkeep;
