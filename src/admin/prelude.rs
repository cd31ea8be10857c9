//! Names that nearly every page of the console uses, those of the hub too.

pub(crate) use super::{
    Area, CurrentUser, Fields, Layout, RequestContext, Route, answer,
    engine::{
        self, At, Button, Choice, Editor, Form, Group, Groups, Input, Key, List, Named, Outcome,
        Tabs, choices,
    },
    form::is_theirs,
    route::{ADMINISTRATOR, Action, Done, OPERATOR, Routes, VIEWER},
};
pub(crate) use crate::{
    core::{
        Context,
        texts::{self, say, t, tx},
    },
    db::Tx,
    types::{
        Timestamp, Zone,
        error::{Error, Kind, Result},
    },
};
pub(crate) use askama::Template;
pub(crate) use poem::Response;
pub(crate) use rusqlite::Connection;
