//! Shared parts of the features' HTTP: the envelope, the error body, bodies and parameters
//! as typed inputs, the caller, pagination. Nothing of a feature stands here.

pub mod batch;
pub mod body;
pub mod envelope;
pub mod error;
mod list_query;
pub mod page;
pub mod parameters;
pub mod record;
pub mod request;
pub mod schema;
pub mod stream;
pub mod upsert;

pub use body::Body;
pub use envelope::{Answer, Created, CreatedOnce, NoContent, Put, Tried};
pub use error::{Failure, Outcome};
pub use list_query::{Fields, ListQuery, field_names};
pub use page::{Address, List};
pub use parameters::{IdempotencyKey, IfMatch, Query};
pub use request::{ClientAddress, RequestId, RequestTrace, language};
pub use schema::Tag;
