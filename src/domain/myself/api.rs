//! `/delegate/myself` (spec: Delegate endpoints; contract §8 on deletion).

use crate::{
    core::records::{Expansion, Selection, input::check_visible, write},
    db::Tx,
    domain::{
        delegates::{
            RESOURCE,
            api::{Delegate, DelegateInput},
            check_own_changes,
        },
        erasure,
    },
    identity::{App, Granted, Principal, roles::UserToken},
    types::error::{Error, Kind, Result},
    web::{
        Answer, Body, IfMatch, NoContent, Outcome, Query, RequestId,
        record::{found, patched},
    },
};
use poem_openapi::OpenApi;

/// The endpoints.
pub struct MyselfApi {
    pub app: App,
}

#[OpenApi(tag = "crate::web::Tag::Delegates")]
impl MyselfApi {
    /// Your own delegate
    ///
    /// Needs a user's token (password grant); a client's gets 401.
    #[oai(path = "/delegate/myself", method = "get", operation_id = "getMyself")]
    async fn myself(
        &self,
        caller: Granted<UserToken>,
        /// Properties to show, separated by commas; all without it.
        fields: Query<Option<String>>,
    ) -> Outcome<Answer<Delegate>> {
        let own = own_delegate(&caller)?;
        let visible = caller.visible_properties.as_deref();
        let selection = Selection::parse(&RESOURCE, fields.0.as_deref(), visible)?;
        Ok(found(&self.app, &selection, &Expansion::default(), |_| {
            Ok(own)
        })?)
    }

    /// Change your own delegate
    ///
    /// `firstName lastName email phone jobTitle company`, `data.Data` and the flags `p s v`. Needs
    /// a user's token.
    #[oai(
        path = "/delegate/myself",
        method = "patch",
        operation_id = "patchMyself"
    )]
    async fn patch_myself(
        &self,
        caller: Granted<UserToken>,
        request_id: RequestId,
        /// The `ETag` that the record had: 412 when it has changed since.
        #[oai(name = "If-Match")]
        if_match: IfMatch,
        body: Body<DelegateInput>,
    ) -> Outcome<Answer<Delegate>> {
        let own = own_delegate(&caller)?;
        let ctx = self.app.context(&caller, request_id.as_str());
        let DelegateInput(input) = body.parse()?;
        check_visible(&RESOURCE, &input, caller.visible_properties.as_deref())?;
        let sent = input.clone();
        let find = move |tx: &Tx<'_>| {
            let flags = write::stored_text(tx, &RESOURCE, "raw_flags", own)?;
            check_own_changes(&sent, flags.as_deref().unwrap_or_default())?;
            Ok(own)
        };
        let visible = caller.visible_properties.as_deref();
        Ok(patched(&self.app, ctx, &RESOURCE, find, if_match, input, visible).await?)
    }

    /// Delete yourself
    ///
    /// For good: the user, its delegate and all their interactions, with everything that is kept
    /// elsewhere of them. Every token of the user ends at once. It cannot be taken back.
    ///
    /// Needs a user's token.
    #[oai(
        path = "/delegate/myself",
        method = "delete",
        operation_id = "deleteMyself"
    )]
    async fn delete_myself(
        &self,
        caller: Granted<UserToken>,
        request_id: RequestId,
        /// The `ETag` that the record had: 412 when it has changed since.
        #[oai(name = "If-Match")]
        if_match: IfMatch,
    ) -> Outcome<NoContent> {
        let own = own_delegate(&caller)?;
        let store = &self.app.store;
        store.look_up(|connection| if_match.check(connection, &RESOURCE, own))?;
        let ctx = self.app.context(&caller, request_id.as_str());
        let erased = erasure::erase(&self.app, ctx, own, caller.user).await?;
        for (what, list) in [
            ("these copies of the file still have them", erased.copies),
            ("review phone numbers like theirs in", erased.review),
        ] {
            if !list.is_empty() {
                tracing::warn!("delegate {own} erased itself; {what}: {}", list.join(", "));
            }
        }
        Ok(NoContent)
    }
}

/// The delegate of a user's token.
fn own_delegate(caller: &Principal) -> Result<i64> {
    caller.delegate.map(|id| id.0).ok_or_else(|| {
        Error::new(
            Kind::DelegateNotFound,
            "this user belongs to no delegate; an administrator can tie them",
        )
    })
}
