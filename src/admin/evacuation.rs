//! The evacuation list: everybody inside, ticked as they are seen outside, on any number of screens at once.

use crate::admin::prelude::*;
use crate::{
    domain::interactions::evacuation::{self, Evacuation, Person},
    types::{DelegateId, DeviceId, spreadsheet::csv_bytes},
};
use poem::http::HeaderValue;

pub(super) fn routes() -> Vec<Route> {
    Routes::access(VIEWER)
        .get("/console/evacuation/:id", show)
        .get("/console/evacuation/:id/csv", csv)
        .then(OPERATOR)
        .action("/console/evacuation", start)
        .post("/console/evacuation/:id/safe", mark)
        .post("/console/evacuation/:id/end", end)
        .all()
}

#[derive(Template)]
#[template(path = "evacuation.html")]
struct Page {
    layout: Layout,
    evacuation: Evacuation,
    name: String,
    people: Vec<Person>,
    /// By place in place of by name.
    is_by_place: bool,
    /// Others that ended, with the names of their places.
    earlier: Vec<(Evacuation, String)>,
}

/// People on the list under one heading.
struct Group<'p>(&'p [Person]);

impl Group<'_> {
    fn place(&self) -> &str {
        self.0.first().map_or("", |person| &person.place)
    }

    /// The number of those who were seen outside.
    fn safe(&self) -> i64 {
        let safe = self.0.iter().filter(|person| person.safe.is_some());
        i64::try_from(safe.count()).unwrap_or(i64::MAX)
    }

    fn len(&self) -> i64 {
        i64::try_from(self.0.len()).unwrap_or(i64::MAX)
    }
}

/// Evacuations that ended which a page links to.
const EARLIER: usize = 20;

impl Page {
    fn read(connection: &Connection, layout: Layout, id: i64, is_by_place: bool) -> Result<Self> {
        let evacuation = evacuation::find(connection, id)?;
        let mut people = evacuation::people(connection, &evacuation)?;
        if is_by_place {
            people.sort_by(|one, other| one.place.cmp(&other.place));
        }
        let earlier = evacuation::ended(connection, EARLIER)?.into_iter();
        let earlier = earlier.filter(|one| one.id != id);
        let earlier = earlier.map(|one| {
            let name = one.name(connection)?;
            Ok((one, name))
        });
        Ok(Self {
            earlier: earlier.collect::<Result<_>>()?,
            name: evacuation.name(connection)?,
            layout,
            evacuation,
            people,
            is_by_place,
        })
    }

    /// The people under headings: all under none, or by place.
    fn groups(&self) -> Vec<Group<'_>> {
        if !self.is_by_place {
            return vec![Group(&self.people)];
        }
        let groups = self.people.chunk_by(|one, next| one.place == next.place);
        groups.map(Group).collect()
    }

    fn all(&self) -> Group<'_> {
        Group(&self.people)
    }

    fn path(&self) -> String {
        let order = if self.is_by_place { "?by=place" } else { "" };
        format!("{}{order}", path(self.evacuation.id))
    }
}

fn path(id: i64) -> String {
    format!("/console/evacuation/{id}")
}

async fn show(request: RequestContext) -> Result<Response> {
    let is_by_place = request.query.text("by") == "place";
    page(request, is_by_place).await
}

/// The whole page; a screen that renews a list which has ended meanwhile loads all of it anew.
async fn page(request: RequestContext, is_by_place: bool) -> Result<Response> {
    let id = request.id("id")?;
    let layout = request.layout("Evacuation", Some(Area::Dashboard));
    let page = request.read(move |connection| Page::read(connection, layout, id, is_by_place));
    let page = page.await?;
    let mut response = answer::page(&page)?;
    if request.is_part() && page.evacuation.ended_at.is_some() {
        let refresh = HeaderValue::from_static("true");
        response.headers_mut().insert("HX-Refresh", refresh);
    }
    Ok(response)
}

/// Begins the evacuation of a place, or of the whole venue, or goes to the one that runs.
fn start(tx: &Tx<'_>, ctx: &Context, action: &Action) -> Result<Done> {
    let place = action.form.number("place")?.map(DeviceId);
    let told = match evacuation::running_of(tx, place)? {
        Some(running) => format!(
            "The evacuation of {} is running since {}.",
            running.name(tx)?,
            ctx.settings.zone.spoken(running.started_at, tx.now())
        ),
        None => "Evacuation started. Nobody is ticked yet.".to_owned(),
    };
    let id = evacuation::start(tx, ctx, place)?;
    Ok(Done::new(told, path(id)))
}

async fn end(request: RequestContext) -> Result<Response> {
    let id = request.id("id")?;
    let (ctx, console) = (request.context(), request.console.clone());
    // On its own: a browser that goes away does not stop it half-way.
    let work = async move { evacuation::end(&console.store, &ctx, id).await };
    tokio::spawn(work).await.map_err(Error::defect)??;
    request.done("Evacuation ended", &path(id))
}

async fn mark(request: RequestContext) -> Result<Response> {
    let id = request.id("id")?;
    let delegate = request.form.number("delegate")?.unwrap_or_default();
    let safe = request.form.text("safe") == "1";
    let is_by_place = request.form.text("by") == "place";
    request
        .write(move |tx, ctx| evacuation::mark(tx, ctx, id, DelegateId(delegate), safe))
        .await?;
    if request.is_part() {
        return page(request, is_by_place).await;
    }
    let order = if is_by_place { "?by=place" } else { "" };
    Ok(answer::go(&format!(
        "{}{order}#person-{delegate}",
        path(id)
    )))
}

async fn csv(request: RequestContext) -> Result<Response> {
    let id = request.id("id")?;
    let layout = request.layout("", None);
    let page = request
        .read(move |connection| Page::read(connection, layout, id, false))
        .await?;
    let rows = page.people.iter().map(|person| {
        let time = |at: &Timestamp| page.layout.time(at);
        let (safe, by) = match &person.safe {
            Some((at, by)) => (time(at), by.clone()),
            None => (String::new(), String::new()),
        };
        [
            person.name.clone(),
            person.phone.clone(),
            person.company.clone(),
            person.place.clone(),
            person.since.as_ref().map(time).unwrap_or_default(),
            safe,
            by,
        ]
    });
    let head = ["Name", "Phone", "Company", "Place", "Since", "Safe", "By"];
    let out = csv_bytes(Some(&head), rows)?;
    Ok(answer::download(
        "evacuation.csv",
        "text/csv; charset=utf-8",
        out,
    ))
}
