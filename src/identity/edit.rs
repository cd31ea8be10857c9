//! What became of an edit that was begun on what somebody was shown.

/// An edit of a record of type `T`.
#[derive(Debug)]
pub enum Edit<T> {
    /// It is written; so the record stands now.
    Done(T),
    /// Nothing is written: somebody else changed the record meanwhile. So it stands now.
    Outdated(T),
}
