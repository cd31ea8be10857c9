//! Names that nearly every page of the console uses.

pub(super) use super::{
    Area, CurrentUser, Fields, Layout, RequestContext, Route, answer,
    engine::{
        self, At, Button, Choice, Editor, Form, Group, Groups, Input, Key, List, Named, Outcome,
        Tabs, choices,
    },
    form::is_theirs,
    route::{ADMINISTRATOR, Action, Done, OPERATOR, Routes, VIEWER},
};
pub(super) use crate::{
    core::Context,
    db::Tx,
    types::{
        Timestamp, Zone,
        error::{Error, Kind, Result},
    },
};
pub(super) use askama::Template;
pub(super) use poem::Response;
pub(super) use rusqlite::Connection;
