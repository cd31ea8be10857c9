//! One's own delegate, as a user's token reaches it: read, changed within what is one's own, deleted for good.

pub mod api;
