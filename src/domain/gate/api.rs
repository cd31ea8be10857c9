//! `/gate/...` (contract §9): what a gate app needs beside the interactions that it records.

use super::{
    badge::{BadgeInput, LostBadge},
    codes::CodesInput,
    evacuation::{self as evacuation_list, EvacuationInput, Part},
    files::VERSION,
    find::{Claim, FindInput},
    list::GateList,
    place,
    schemas::{
        Gate, GateChanges, GateChangesMeta, GateCodes, GateDelegate, GateDelegates, GateEvacuation,
        GateEvacuationMeta, GateWalkIn, GateWalkInMeta, PinInput,
    },
    tickets,
    walk_in::{Outcome as Came, WalkIn, WalkInInput},
};
use crate::{
    core::{audit, settings::gate_message, version_cache::VersionCache},
    domain::{
        apps::{GateSettings, PublishedCache, pin},
        delegates::{People, RESOURCE, people},
        devices::{self, Offer},
        feed::{Reader, held, whole},
        interactions::{evacuation, judge::DeviceCache},
        printing::printers,
    },
    identity::{
        App, BearerToken, Granted, Principal,
        password::{self, Queue},
        roles::UseGate,
    },
    types::{
        ClientId, DelegateId, DeviceId, InteractionId, Timestamp,
        error::{Error, Kind, Result},
    },
    web::{
        Answer, Body, ClientAddress, Created, CreatedOnce, NoContent, Outcome, Query, RequestId,
        envelope::envelope,
    },
};
use poem_openapi::OpenApi;
use rusqlite::Connection;
use serde_json::{Value, json};
use std::{
    sync::Arc,
    time::{Duration, Instant},
};

/// Changes on a page without `limit`.
const LIMIT: usize = 2_000;
const LIMIT_MAX: usize = 10_000;
const WAIT_MAX_S: usize = 60;
/// Attendees that a search finds.
const HITS_MAX: usize = 8;

/// The endpoints.
#[derive(Clone)]
pub struct GateApi {
    pub app: App,
    /// The settings of apps, for gates.
    pub published: Arc<PublishedCache>,
    /// The places of the file, by its newest change.
    pub places: Arc<VersionCache<i64, Vec<Offer>>>,
    /// Signed tickets, by the newest change.
    pub tickets: Arc<VersionCache<i64, Option<Value>>>,
}

#[OpenApi(tag = "crate::web::Tag::Gates")]
impl GateApi {
    /// Get the settings of a gate
    ///
    /// Where the app checks in (`place`), the places that it may choose, whom it admits while it is
    /// offline (`policy`), and the server's time, in Unix milliseconds. `appVersion` is the version of the app that this
    /// server has. `supervisorPin` is for checking the PIN offline: hexadecimal, `hash` is PBKDF2 with HMAC-SHA-256 of
    /// the digits, with the bytes of `salt` and so many `iterations`, 32 bytes; without `iterations`, of a PIN that an
    /// earlier version stored, the SHA-256 of the bytes of `salt` and the digits. Where there is a PIN, `replaceBadge`
    /// says that lost badges may be replaced here. `prints`: a printer prints badges for this gate (`POST /badge/print`). `walkIn` is there where people may be registered, with the `types` to
    /// choose from; `kiosk` where attendees check themselves in. `scans` is the setting of that name: which part of a
    /// scanned text is the code. `tickets` is there where tickets are signed: what a gate verifies them by, see the
    /// handbook, *Signed tickets*. `message` is what the crew tells all
    /// gates; `evacuation` is there while one runs anywhere: `GET /gate/evacuation` says whether it is of a gate's place.
    /// `durable` says how far a second machine is, where there is one. Needs `ROLE_OAUTH2_GATE`.
    #[oai(path = "/gate", method = "get", operation_id = "getGate")]
    async fn get(&self, caller: Granted<UseGate>) -> Outcome<Answer<Gate>> {
        let app = caller.device;
        let settings = self.app.settings();
        let (gate, offers, message, running, prints, tickets) =
            self.app.store.look_up(|connection| {
                let newest = audit::newest(connection)?;
                let gate = GateSettings::read(connection, &self.published, app)?;
                let offers = gate.places(connection, || {
                    self.places.get(newest, || devices::places(connection))
                })?;
                let tickets = || tickets::shown(connection, &settings);
                let tickets = self.tickets.get(newest, tickets)?;
                let running = evacuation::running(connection)?.into_iter().next();
                let client = Some(caller.client);
                let printer = printers::assigned(connection, client, gate.place)?;
                let message = gate_message::current(connection)?;
                Ok((gate, offers, message, running, printer.is_some(), tickets))
            })?;
        let places: Vec<_> = offers
            .iter()
            .map(|place| json!({"id": place.id, "name": place.name, "type": place.kind}))
            .collect();
        let place = offers
            .iter()
            .find(|place| gate.place == Some(DeviceId(place.id)));
        let mut shown = json!({
            "_type": "gate",
            "instance": settings.name(),
            "timeZone": settings.zone.iana_name(),
            "serverTime": Timestamp::now().0,
            "appVersion": *VERSION,
            "places": places,
            "policy": gate.policy.name(),
            "configVersion": gate.version,
            "features": gate.all.get("availableFeatures").cloned().unwrap_or(json!(["check-in", "check-out", "delegate-search"])),
            "allowRejected": gate.all.get("allowRejected") == Some(&json!(true)),
        });
        let own = [
            ("device", app.map(|app| json!({"id": app, "_type": "device"}))),
            ("place", place.map(|it| json!({"id": it.id, "_type": "device", "name": it.name}))),
            ("supervisorPin", gate.supervisor_pin.clone()),
            ("replaceBadge", gate.supervisor_pin.as_ref().map(|_| json!(true))),
            ("prints", prints.then(|| json!(true))),
            ("walkIn", gate.walk_in.as_ref().map(|types| json!({"types": types}))),
            ("kiosk", gate.kiosk.as_ref().map(|kiosk| json!({
                "languages": kiosk.languages, "walkIn": kiosk.walk_in, "idleSeconds": kiosk.idle_seconds,
            }))),
            ("scans", settings.scans.as_ref().map(|it| json!({"code": it.as_str()}))),
            ("tickets", (*tickets).clone()),
            ("message", message.map(|it| json!({"text": it.text, "at": it.at}))),
            ("durable", self.app.durable().map(|durable| json!(durable))),
            ("evacuation", running.map(|it| json!({"startedAt": it.started_at.0}))),
        ];
        for (name, value) in own {
            if let Some(value) = value {
                shown[name] = value;
            }
        }
        Ok(Answer::of(&shown.to_string()))
    }

    /// Follow the attendees of a place
    ///
    /// What a gate needs to judge while it is offline: attendees by name, category and codes, whether they
    /// are registered for the place, and what they did there, blocked codes, and in `meta.place` the place
    /// with its rules. `photo` is `data.Data.photo` or `data.Photo.url`, of at most 100,000 bytes. A change feed as `GET /changes`: without `since` a snapshot, then what changed. Times
    /// are Unix milliseconds. After a 401 with `1204` (revoked) the app deletes its copy. Needs
    /// `ROLE_OAUTH2_GATE`, and a place of the gate's settings.
    #[oai(
        path = "/gate/snapshot",
        method = "get",
        operation_id = "getGateSnapshot"
    )]
    async fn snapshot(
        &self,
        caller: Granted<UseGate>,
        address: ClientAddress,
        token: BearerToken,
        /// The id of the place.
        place: Query<i64>,
        /// The cursor of the last change that was applied, or `meta.cursor`; a snapshot without it.
        since: Query<Option<String>>,
        /// Changes on a page, 1 to 10,000; 2,000 without it.
        limit: Query<Option<i64>>,
        /// Holds the answer for up to so many seconds, 60 at most, until there is a change. Of a client that
        /// has eight held at this address already it is empty after three seconds, with the same cursor and
        /// without `place` and `serverTime`.
        wait: Query<Option<i64>>,
    ) -> Outcome<Answer<GateChanges, 200, GateChangesMeta>> {
        let since = since.0.as_deref();
        let limit = whole("limit", limit.0, 1, LIMIT_MAX)?.unwrap_or(LIMIT);
        let wait = whole("wait", wait.0, 0, WAIT_MAX_S)?.unwrap_or(0);
        let (api, chosen, place) = (self.clone(), place.0, DeviceId(place.0));
        let rights = move || {
            let caller = token.granted::<UseGate>(&api.app)?;
            let place = api.place(&caller, chosen)?;
            Ok(api.list(&caller, place))
        };
        let mut reader = Reader::new(&self.app, rights, since, limit)?;
        let wait = Duration::from_secs(wait as u64);
        let (page, is_read) = held::wait(&mut reader, &caller, address.0, wait).await?;
        let settings = self.app.settings();
        let mut meta = json!({"cursor": page.cursor.encoded(), "more": page.more});
        // A list that nobody looked at is no newer than it was.
        if is_read {
            let now = Timestamp::now();
            let place = |connection: &Connection| place::shown(connection, place, &settings, now);
            meta["place"] = self.app.store.look_up(place)?;
            meta["serverTime"] = now.0.into();
        }
        Ok(Answer::with_meta(&page.data(), &meta.to_string()))
    }

    /// Search attendees at a gate
    ///
    /// By name, company or code, however they are spelt and in any order; at most 8, the likeliest first. Three letters
    /// or more, one of Chinese, Japanese or Korean, or two that are a whole name. An e-mail address, a phone number or
    /// a part of one finds one attendee at most. Needs `ROLE_OAUTH2_GATE`, and a place of the gate's settings.
    #[oai(path = "/gate/search", method = "get", operation_id = "searchGate")]
    async fn search(
        &self,
        caller: Granted<UseGate>,
        /// The id of the place.
        place: Query<i64>,
        /// Words of a name or a company, a code, an e-mail address, or a phone number.
        q: Query<String>,
    ) -> Outcome<Answer<GateDelegates>> {
        let place = self.place(&caller, place.0)?;
        let all = People::new(&q.0).seen_by(caller.visible_properties.as_deref());
        let people = all.clone().at_gate()?;
        let find = move |connection: &Connection| {
            let found = people::find(connection, &people, HITS_MAX)?;
            let is_like_contact = all.is_like_contact() && !found.is_code;
            if !people.may_be_contact() || (!found.ids.is_empty() && !is_like_contact) {
                return Ok(found.ids);
            }
            let contact = people::find(connection, &all.by_contact(), 1)?.ids;
            let others = found.ids.into_iter().filter(|id| !contact.contains(id));
            Ok(contact.iter().copied().chain(others).collect())
        };
        Ok(self.found(self.list(&caller, place), find).await?)
    }

    /// Make ticket codes
    ///
    /// For walk-ins while the gate is offline, by the server's barcode algorithm: each has 50 random bits, and
    /// the server keeps no record of them. Needs `ROLE_OAUTH2_GATE`.
    #[oai(
        path = "/gate/codes",
        method = "post",
        operation_id = "createGateCodes"
    )]
    async fn codes(
        &self,
        _caller: Granted<UseGate>,
        body: Body<CodesInput>,
    ) -> Outcome<Created<GateCodes>> {
        let codes = body.parse()?.make()?;
        Ok(Answer::of(&json!(codes).to_string()))
    }

    /// Register a walk-in
    ///
    /// Creates an attendee, registers them for the place where only registered attendees may enter, and checks
    /// them in, all or nothing. Where the rules refuse the check-in (412) nobody is created, unless `admitted`
    /// says that the gate let them in while it was offline: then it is a conflict. A `delegateType` that is
    /// none of `walkIn.types` is refused; with `admitted` the settings' own takes its place, and
    /// `meta.warning` says so. The same `nonce` again
    /// creates nothing: 200 with `meta.replayed`, and `data` is `{}` once the attendee is deleted.
    /// `meta.interaction` is the check-in: to undo a walk-in, delete it (`DELETE /interaction/…`); within ten
    /// minutes the attendee goes with it. Needs `ROLE_OAUTH2_GATE`, a place of the gate's settings, and
    /// `delegate-create` in their `availableFeatures`.
    #[oai(path = "/gate/walk-in", method = "post", operation_id = "createWalkIn")]
    async fn walk_in(
        &self,
        caller: Granted<UseGate>,
        request_id: RequestId,
        body: Body<WalkInInput>,
    ) -> Outcome<CreatedOnce<GateWalkIn, GateWalkInMeta>> {
        let ctx = self.app.context(&caller, request_id.as_str());
        let input = body.parse()?;
        let walk_in = self.with_settings(&caller, |connection, gate| {
            WalkIn::new(connection, input, gate, &ctx.settings.zone)
        })?;
        let (place, warning) = (walk_in.place(), walk_in.warning());
        let came = self.app.store.write(move |tx| walk_in.register(tx, &ctx));
        let (status, delegate, interaction, mut meta) = match came.await? {
            Came::Refused(refusal) => return Err(refusal.into()),
            Came::Created(delegate, interaction) => (201, Some(delegate), interaction, json!({})),
            Came::Replayed(delegate, interaction) => {
                (200, delegate, interaction, json!({"replayed": true}))
            }
        };
        if let Some(interaction) = interaction {
            meta["interaction"] = json!(interaction);
        }
        if let Some(warning) = warning {
            meta["warning"] = json!(warning);
        }
        let list = self.list(&caller, place);
        let shown = self.shown(&list, delegate)?.unwrap_or_else(|| json!({}));
        let body = envelope(&shown.to_string(), &meta.to_string());
        Ok(CreatedOnce::new(status, body))
    }

    /// Replace a lost badge
    ///
    /// Blocks the barcode, `rfid` and `uhfId` of an attendee, with the reason that a gate shows whoever comes
    /// with them, and gives the attendee the new barcode. Sent again by the same client within ten minutes,
    /// with the same `code`, it is answered as before. Needs `ROLE_OAUTH2_GATE`, a `supervisorPin` in the
    /// gate's settings, and its digits as `pin`: a wrong one is refused (403), and after five wrong ones of a
    /// client, so is any (429) until a minute has passed since the first.
    #[oai(path = "/gate/badge", method = "post", operation_id = "replaceBadge")]
    async fn badge(
        &self,
        caller: Granted<UseGate>,
        request_id: RequestId,
        body: Body<BadgeInput>,
    ) -> Outcome<Answer<GateDelegate>> {
        let ctx = self.app.context(&caller, request_id.as_str());
        let input = body.parse()?;
        let (lost, pin) = self.with_settings(&caller, |connection, gate| {
            let lost = LostBadge::new(connection, input, gate)?;
            Ok((lost, gate.supervisor_pin.clone()))
        })?;
        self.check_pin(caller.client, pin, lost.pin.clone()).await?;
        let place = lost.place;
        let replaced = self.app.store.write(move |tx| lost.replace(tx, &ctx));
        let delegate = replaced.await?;
        let shown = self.shown(&self.list(&caller, place), Some(delegate))?;
        let shown = shown.ok_or_else(|| RESOURCE.missing(&delegate))?;
        Ok(Answer::of(&shown.to_string()))
    }

    /// Check the supervisor PIN
    ///
    /// Before an app does what is for supervisors. Needs `ROLE_OAUTH2_GATE`, and a `supervisorPin` in the gate's
    /// settings: a wrong PIN is refused (403), and after five wrong ones of a client, so is any (429) until a
    /// minute has passed since the first.
    #[oai(path = "/gate/pin", method = "post", operation_id = "checkPin")]
    async fn pin(&self, caller: Granted<UseGate>, body: Body<PinInput>) -> Outcome<NoContent> {
        let input = body.parse()?;
        let pin = self.with_settings(&caller, |_, gate| Ok(gate.supervisor_pin.clone()))?;
        self.check_pin(caller.client, pin, input.pin).await?;
        Ok(NoContent)
    }

    /// List who is inside a place
    ///
    /// For an evacuation: everybody who is inside the place or anything below it, those who came last first, with name,
    /// company, place and since when (Unix milliseconds), and never a phone number or an e-mail address. `safe` says who
    /// was seen outside, when and by whom, on whichever screen, in the newest evacuation that runs at the place, at one
    /// above it or in the whole venue; whoever was ticked and has left since is on the last page. Without an evacuation
    /// nobody is ticked, and `meta.evacuation` is absent. Needs `ROLE_OAUTH2_GATE`, and a place of the gate's settings.
    #[oai(
        path = "/gate/evacuation",
        method = "get",
        operation_id = "getGateEvacuation"
    )]
    async fn evacuation(
        &self,
        caller: Granted<UseGate>,
        /// The id of the place.
        place: Query<i64>,
        /// `meta.next` of the page before.
        after: Query<Option<i64>>,
        /// People on a page, 1 to 10,000; 2,000 without it.
        limit: Query<Option<i64>>,
        /// `safe`: only who was ticked, each with `id` and `safe`, all on one page.
        only: Query<Option<String>>,
    ) -> Outcome<Answer<GateEvacuation, 200, GateEvacuationMeta>> {
        let limit = whole("limit", limit.0, 1, LIMIT_MAX)?.unwrap_or(LIMIT);
        let part = match only.0.as_deref() {
            None => Part::People(after.0.map(InteractionId), limit),
            Some("safe") => Part::Safe,
            Some(_) => return Err(Error::field("only", "must be safe").into()),
        };
        let place = self.place(&caller, place.0)?;
        let list = self.list(&caller, place);
        let read =
            move |connection: &Connection| evacuation_list::page(connection, &list, place, part);
        let page = self.app.store.read(read).await?;
        Ok(Answer::with_meta(
            &page.people.to_string(),
            &page.meta.to_string(),
        ))
    }

    /// Tick people as safe
    ///
    /// Whoever was seen outside, at most 200; `"safe": false` takes a tick back. A tick is no check-out. It counts in
    /// every evacuation of the place, of one above it or of the whole venue that ran at `recordedAt`, or began at most
    /// half an hour later: a gate may send it when it is online again. Where none did, an evacuation of the place begins
    /// then; a tick without `delegate` does nothing else. The same again changes nothing. Needs `ROLE_OAUTH2_GATE`, and a
    /// place of the gate's settings.
    #[oai(
        path = "/gate/evacuation",
        method = "post",
        operation_id = "tickAtGate"
    )]
    async fn tick(
        &self,
        caller: Granted<UseGate>,
        request_id: RequestId,
        body: Body<EvacuationInput>,
    ) -> Outcome<NoContent> {
        let ctx = self.app.context(&caller, request_id.as_str());
        let input = body.parse()?;
        let ticks = input.ticks(&ctx.settings.zone)?;
        let device = self.place(&caller, input.place)?;
        let write = self.app.store.write(move |tx| {
            let place = DeviceCache::default().place_of(tx, device)?;
            evacuation::tick(tx, &ctx, place, &ticks)
        });
        write.await?;
        Ok(NoContent)
    }

    /// Find attendees by their name and e-mail address
    ///
    /// For kiosks, where attendees look themselves up: whoever has exactly this e-mail address and this last
    /// or whole name, at most 5; or, with `code` in place of both, whoever has this barcode. Of names case, accents,
    /// spaces and hyphens do not matter. After 30 look-ups of a client that found nobody, any is refused (429) until
    /// a minute has passed since the first. Needs `ROLE_OAUTH2_GATE`, and a place of the gate's settings.
    #[oai(path = "/gate/find", method = "post", operation_id = "findAtGate")]
    async fn find(
        &self,
        caller: Granted<UseGate>,
        body: Body<FindInput>,
    ) -> Outcome<Answer<GateDelegates>> {
        let input = body.parse()?;
        let claim = Claim::new(&input)?;
        let place = self.place(&caller, input.place)?;
        let guesses = &self.app.look_up_guesses;
        guesses.check(caller.client, Instant::now())?;
        let find = move |connection: &Connection| claim.find(connection);
        let found = self.app.store.read(find).await?;
        if found.is_empty() {
            guesses.wrong(caller.client, Instant::now());
        }
        let find = move |_: &Connection| Ok(found);
        Ok(self.found(self.list(&caller, place), find).await?)
    }
}

impl GateApi {
    /// Runs some work with the caller's settings.
    fn with_settings<T>(
        &self,
        caller: &Principal,
        work: impl FnOnce(&Connection, &GateSettings) -> Result<T>,
    ) -> Result<T> {
        self.app.store.look_up(|connection| {
            let gate = GateSettings::read(connection, &self.published, caller.device)?;
            work(connection, &gate)
        })
    }

    /// Checks what a supervisor typed. A hash takes long on purpose: few are made at a time, and guesses are counted
    /// before.
    ///
    /// # Errors
    /// [`Kind::Forbidden`] for another PIN, and for a gate without one; [`Kind::TooManyAttempts`].
    async fn check_pin(&self, client: ClientId, kept: Option<Value>, typed: String) -> Result<()> {
        let refused = |message: &str| Error::new(Kind::Forbidden, message);
        let Some(kept) = kept else {
            return Err(refused(
                "this is for supervisors, and this gate's settings have no supervisorPin",
            ));
        };
        let guesses = &self.app.pin_guesses;
        guesses.check(client, Instant::now())?;
        let permit = password::permit(Queue::Api).await?;
        guesses.begin(client, Instant::now())?;
        if permit.run(move || pin::is_of(&kept, &typed)).await? {
            guesses.right(client);
            return Ok(());
        }
        Err(refused("this is not the supervisor PIN").at("pin"))
    }

    /// A place at which the caller may be a gate.
    fn place(&self, caller: &Principal, place: i64) -> Result<DeviceId> {
        let place = DeviceId(place);
        self.with_settings(caller, |connection, gate| {
            gate.check_place(connection, place)
        })?;
        Ok(place)
    }

    /// Delegates as the caller may see them.
    fn list(&self, caller: &Principal, place: DeviceId) -> GateList {
        let visible = caller.visible_properties.clone();
        GateList::at(place, self.app.settings(), visible)
    }

    /// The delegates of ids as a gate shows them.
    async fn found(
        &self,
        list: GateList,
        find: impl FnOnce(&Connection) -> Result<Vec<i64>> + Send + 'static,
    ) -> Result<Answer<GateDelegates>> {
        let read = move |connection: &Connection| {
            let found = find(connection)?.into_iter();
            let found = found.map(|id| list.delegate(connection, id));
            let found: Vec<Option<Value>> = found.collect::<Result<_>>()?;
            Ok(Value::Array(found.into_iter().flatten().collect()))
        };
        let found = self.app.store.read(read).await?;
        Ok(Answer::of(&found.to_string()))
    }

    /// A delegate as a gate shows them; none once they are deleted.
    fn shown(&self, list: &GateList, delegate: Option<DelegateId>) -> Result<Option<Value>> {
        let Some(delegate) = delegate else {
            return Ok(None);
        };
        let show = |connection: &Connection| list.delegate(connection, delegate.0);
        self.app.store.look_up(show)
    }
}
