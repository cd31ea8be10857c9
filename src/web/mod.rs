//! What the features' HTTP needs and shares: the envelope, the error body, bodies and parameters
//! as typed inputs, the caller, pagination. Nothing of a feature stands here.

pub mod body;
pub mod client_address;
pub mod envelope;
pub mod error;
pub mod headers;
pub mod list_body;
pub mod page;
pub mod query;
pub mod record;
pub mod request_id;
pub mod schema;
pub mod stream;
pub mod tags;
pub mod trace;

pub use body::Body;
pub use client_address::ClientAddress;
pub use envelope::{Answer, Created, CreatedOnce, NoContent, Tried};
pub use error::{Failure, Outcome};
pub use headers::{IdempotencyKey, IfMatch};
pub use list_body::{ListInput, ListQuery};
pub use page::{Address, List};
pub use request_id::RequestId;
pub use trace::RequestTrace;
