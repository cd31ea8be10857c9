//! What a delegate did at a device, as the rules need it, read from one index of interactions
//! (`interactions_first_delegate`): in it stands together what the first delegate did at one device, by
//! effect and in order, so that a decision costs the same however many interactions the file has. Only
//! how many are inside is kept beside it, counted up and down.

use crate::{
    error::Result,
    rules::{Moment, Standing},
    store::Tx,
    types::{DelegateId, DeviceId},
};
use rusqlite::{Connection, OptionalExtension, Row, ToSql, types::ToSqlOutput};
use std::collections::HashSet;

/// What an interaction type means for presence; the numbers are those of the column `effect`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// Entered: `check-in`, `check-in-override`.
    Enter = 0,
    /// Left: `check-out`.
    Exit = 1,
    /// Allowed in: `join`, `booking`.
    Join = 2,
    /// Taken back: `uninvite`, `cancel-booking`.
    Leave = 3,
}

impl ToSql for Effect {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok((*self as i64).into())
    }
}

impl Effect {
    /// What a type does to who is inside; `None` for most.
    #[must_use]
    pub fn of_passage(kind: &str) -> Option<Self> {
        match kind {
            "check-in" | "check-in-override" => Some(Self::Enter),
            "check-out" => Some(Self::Exit),
            _ => None,
        }
    }

    /// The effect of a number in the file.
    fn of_number(number: i64) -> Option<Self> {
        [Self::Enter, Self::Exit, Self::Join, Self::Leave]
            .into_iter()
            .find(|effect| *effect as i64 == number)
    }

    /// A standing after it.
    #[must_use]
    pub fn after(self, mut standing: Standing, moment: Moment) -> Standing {
        let latest = match self {
            Self::Enter => &mut standing.last_in,
            Self::Exit => &mut standing.last_out,
            Self::Join => &mut standing.last_join,
            Self::Leave => &mut standing.last_leave,
        };
        *latest = (*latest).max(Some(moment));
        standing
    }
}

fn moment(row: &Row<'_>) -> rusqlite::Result<Moment> {
    Ok(Moment {
        at: row.get(0)?,
        id: row.get(1)?,
    })
}

/// So many earlier ones of an effect are stepped over; then the next effect is looked for.
const STEPS_MAX: usize = 2;

/// When a delegate last entered and left a device, was joined with it and was taken back.
///
/// # Errors
/// When it cannot be read.
pub fn standing(
    connection: &Connection,
    delegate: DelegateId,
    device: DeviceId,
) -> Result<Standing> {
    let mut statement = connection.prepare_cached(
        "SELECT moment, id, effect FROM interactions
         WHERE first_delegate_id = ?1 AND first_device_id = ?2 AND effect < ?3
         ORDER BY effect DESC, moment DESC, id DESC",
    )?;
    let mut standing = Standing::default();
    let (mut below, mut steps) = (i64::MAX, 0);
    let mut rows = statement.query((delegate, device, below))?;
    // Below the lowest effect is nothing.
    while below > Effect::Enter as i64
        && let Some(row) = rows.next()?
    {
        let effect = row.get(2)?;
        if effect < below {
            (below, steps) = (effect, 0);
            if let Some(effect) = Effect::of_number(effect) {
                standing = effect.after(standing, moment(row)?);
            }
        } else if steps < STEPS_MAX {
            steps += 1;
        } else {
            drop(rows);
            rows = statement.query((delegate, device, below))?;
        }
    }
    Ok(standing)
}

/// How often a delegate entered a device (overrides included), counted up to `most`.
///
/// # Errors
/// When it cannot be read.
pub fn entries(
    connection: &Connection,
    delegate: DelegateId,
    device: DeviceId,
    most: u32,
) -> Result<u32> {
    Ok(connection
        .prepare_cached(
            "SELECT count(*) FROM (
                 SELECT 1 FROM interactions
                 WHERE first_delegate_id = ?1 AND first_device_id = ?2 AND effect = ?3 LIMIT ?4)",
        )?
        .query_row((delegate, device, Effect::Enter, most), |row| row.get(0))?)
}

/// Whether there is an `uninvite` of a second delegate at all.
///
/// # Errors
/// When it cannot be read.
pub fn is_any_uninvite(connection: &Connection) -> Result<bool> {
    Ok(connection
        .prepare_cached(
            "SELECT 1 FROM interactions
             WHERE interaction_type = 'uninvite' AND second_delegate_id IS NOT NULL LIMIT 1",
        )?
        .exists([])?)
}

/// Whether a delegate of this standing is joined or booked with a device itself, and not taken back
/// since. An `uninvite` takes back its second delegate, where there is one, otherwise its first.
///
/// # Errors
/// When it cannot be read.
pub fn is_joined(
    connection: &Connection,
    delegate: DelegateId,
    device: DeviceId,
    standing: &Standing,
) -> Result<bool> {
    if standing.last_join <= standing.last_leave {
        return Ok(false);
    }
    let uninvited = connection
        .prepare_cached(
            "SELECT moment, id FROM interactions
             WHERE second_delegate_id = ?1 AND first_device_id = ?2 AND interaction_type = 'uninvite'
             ORDER BY moment DESC, id DESC LIMIT 1",
        )?
        .query_row((delegate, device), moment)
        .optional()?;
    Ok(standing.last_join > uninvited)
}

/// Delegates inside a device now.
///
/// # Errors
/// When it cannot be read.
pub fn inside_now(connection: &Connection, device: DeviceId) -> Result<i64> {
    Ok(connection
        .prepare_cached("SELECT inside FROM occupancy WHERE device_id = ?1")?
        .query_row([device], |row| row.get(0))
        .optional()?
        .unwrap_or(0))
}

/// People inside anywhere now, each counted once; goes through all interactions. Whoever is in a deleted
/// device is inside nothing.
///
/// # Errors
/// When it cannot be read.
pub fn people_inside(connection: &Connection) -> Result<i64> {
    let occupied: HashSet<DeviceId> = connection
        .prepare_cached(
            "SELECT o.device_id FROM occupancy o JOIN devices d ON d.id = o.device_id
             WHERE o.inside > 0 AND d.deleted_at IS NULL",
        )?
        .query_map([], |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    let (mut people, mut last) = (0, None);
    of_all(connection, |delegate, device, standing| {
        if standing.is_inside() && occupied.contains(&device) && last != Some(delegate) {
            people += 1;
            last = Some(delegate);
        }
    })?;
    Ok(people)
}

/// Where a delegate is inside, and since when.
///
/// # Errors
/// When it cannot be read.
pub fn inside_of(connection: &Connection, delegate: DelegateId) -> Result<Vec<(DeviceId, Moment)>> {
    let mut inside = Vec::new();
    let sql = format!("{PASSAGES} AND first_delegate_id = ?1 {IN_ORDER}");
    let mut statement = connection.prepare_cached(&sql)?;
    each(&mut statement.query([delegate])?, |_, device, standing| {
        if let Some(since) = standing.last_in.filter(|_| standing.is_inside()) {
            inside.push((device, since));
        }
    })?;
    Ok(inside)
}

/// Calls back with what every delegate did at every device; goes through all interactions.
///
/// # Errors
/// When it cannot be read.
pub fn of_all(
    connection: &Connection,
    found: impl FnMut(DelegateId, DeviceId, Standing),
) -> Result<()> {
    let mut statement = connection.prepare_cached(&format!("{PASSAGES} {IN_ORDER}"))?;
    each(&mut statement.query([])?, found)
}

/// What people did, in the order of the index and out of it alone.
const PASSAGES: &str =
    "SELECT moment, id, first_delegate_id, first_device_id, effect FROM interactions
    WHERE first_delegate_id IS NOT NULL AND first_device_id IS NOT NULL AND effect <= 1";
const IN_ORDER: &str = "ORDER BY first_delegate_id, first_device_id";

fn each(
    rows: &mut rusqlite::Rows<'_>,
    mut found: impl FnMut(DelegateId, DeviceId, Standing),
) -> Result<()> {
    let mut known: Option<(DelegateId, DeviceId, Standing)> = None;
    while let Some(row) = rows.next()? {
        let (delegate, device) = (row.get(2)?, row.get(3)?);
        let Some(effect) = Effect::of_number(row.get(4)?) else {
            continue;
        };
        let before = match known {
            Some((of, at, standing)) if (of, at) == (delegate, device) => standing,
            Some((of, at, standing)) => {
                found(of, at, standing);
                Standing::default()
            }
            None => Standing::default(),
        };
        known = Some((delegate, device, effect.after(before, moment(row)?)));
    }
    if let Some((of, at, standing)) = known {
        found(of, at, standing);
    }
    Ok(())
}

/// Counts somebody in or out who was inside a device `before`, or not, and is `after`.
///
/// # Errors
/// When it cannot be written.
pub fn count(tx: &Tx<'_>, device: DeviceId, before: bool, after: bool) -> Result<()> {
    if before != after {
        tx.prepare_cached(
            "INSERT INTO occupancy (device_id, inside) VALUES (?1, max(?2, 0))
             ON CONFLICT (device_id) DO UPDATE SET inside = inside + ?2",
        )?
        .execute([device.0, if after { 1 } else { -1 }])?;
    }
    Ok(())
}

/// Who was inside which device before interactions are taken out or moved, so that they can be counted
/// afterwards.
#[derive(Debug)]
pub struct Before(Vec<(DelegateId, DeviceId, bool)>);

impl Before {
    /// Remembers of delegates at devices whether they are inside.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn of(
        connection: &Connection,
        pairs: impl IntoIterator<Item = (DelegateId, DeviceId)>,
    ) -> Result<Self> {
        let inside = |(delegate, device)| {
            let standing = standing(connection, delegate, device)?;
            Ok((delegate, device, standing.is_inside()))
        };
        pairs
            .into_iter()
            .map(inside)
            .collect::<Result<_>>()
            .map(Self)
    }

    /// Counts who came in or went out by it.
    ///
    /// # Errors
    /// When it cannot be read or written.
    pub fn count(self, tx: &Tx<'_>) -> Result<()> {
        for (delegate, device, before) in self.0 {
            count(
                tx,
                device,
                before,
                standing(tx, delegate, device)?.is_inside(),
            )?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{sandbox::Sandbox, store::migrate, types::Timestamp};
    use proptest::{collection::vec, prelude::*};
    use rusqlite::types::Value;
    use std::collections::BTreeMap;

    /// Every type that means something here, and two that do not.
    const KINDS: [&str; 9] = [
        "check-in",
        "check-in-override",
        "check-out",
        "join",
        "booking",
        "uninvite",
        "cancel-booking",
        "lead",
        "connect",
    ];

    #[derive(Debug, Clone)]
    struct Happened {
        kind: &'static str,
        first: Option<i64>,
        second: Option<i64>,
        device: Option<i64>,
        recorded_at: i64,
        created_at: i64,
    }

    /// Few people, places and moments, so that they meet.
    fn happened() -> impl Strategy<Value = Happened> {
        let somebody = || prop::option::weighted(0.9, 1_i64..4);
        (
            prop::sample::select(KINDS.to_vec()),
            somebody(),
            prop::option::weighted(0.3, 1_i64..4),
            prop::option::weighted(0.9, 1_i64..3),
            0_i64..6,
            0_i64..6,
        )
            .prop_map(
                |(kind, first, second, device, recorded_at, created_at)| Happened {
                    kind,
                    first,
                    second,
                    device,
                    recorded_at,
                    created_at,
                },
            )
    }

    fn file(path: &std::path::Path, all: &[Happened]) -> Connection {
        let file = Connection::open(path).unwrap();
        migrate::create(&file).unwrap();
        for one in all {
            file.execute(
                "INSERT INTO interactions (interaction_type, first_delegate_id, second_delegate_id,
                     first_device_id, recorded_at, created_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
                rusqlite::params![
                    one.kind,
                    one.first,
                    one.second,
                    one.device,
                    one.recorded_at,
                    one.created_at
                ],
            )
            .unwrap();
        }
        file
    }

    /// What contract §6 says of one delegate at one device, found by reading everything.
    #[derive(Debug, Default, Clone, Copy, PartialEq)]
    struct Expected {
        standing: Standing,
        entries: u32,
    }

    impl Expected {
        fn of(all: &[Happened], delegate: i64, device: i64) -> Self {
            let mut expected = Self::default();
            for (id, one) in (1..).zip(all) {
                let of = match one.kind {
                    "uninvite" => one.second.or(one.first),
                    _ => one.first,
                };
                if of != Some(delegate) || one.device != Some(device) {
                    continue;
                }
                let latest = match one.kind {
                    "check-in" | "check-in-override" => {
                        expected.entries += 1;
                        &mut expected.standing.last_in
                    }
                    "check-out" => &mut expected.standing.last_out,
                    "join" | "booking" => &mut expected.standing.last_join,
                    "uninvite" | "cancel-booking" => &mut expected.standing.last_leave,
                    _ => continue,
                };
                let at = Timestamp(one.recorded_at.min(one.created_at));
                *latest = (*latest).max(Some(Moment { at, id }));
            }
            expected
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        /// The rules, the whole-file passes, the console and the reports' view all see what was recorded.
        #[test]
        fn the_index_tells_what_the_interactions_say(all in vec(happened(), 0..80)) {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("x.db");
            let file = file(&path, &all);
            let reports = Sandbox::open(&path).unwrap();
            let of_view = |column: &str, delegate: i64, device: i64| {
                let sql = format!("SELECT coalesce((SELECT {column} FROM presence \
                    WHERE delegate_id = {delegate} AND device_id = {device}), 0)");
                reports.scalar(&sql, 0).unwrap()
            };
            let mut passed = BTreeMap::new();
            of_all(&file, |delegate, device, standing| {
                assert!(passed.insert((delegate.0, device.0), standing).is_none());
            })
            .unwrap();
            for delegate in 1..4 {
                let mut inside = Vec::new();
                for device in 1..3 {
                    let expected = Expected::of(&all, delegate, device);
                    let (who, place) = (DelegateId(delegate), DeviceId(device));
                    let is_inside = expected.standing.is_inside();
                    let is_in = expected.standing.last_join > expected.standing.last_leave;
                    let found = standing(&file, who, place).unwrap();
                    let passage = |of: Standing| (of.last_in, of.last_out);
                    prop_assert_eq!(passage(found), passage(expected.standing));
                    prop_assert_eq!(found.last_join, expected.standing.last_join);
                    prop_assert_eq!(entries(&file, who, place, 99).unwrap(), expected.entries);
                    prop_assert_eq!(entries(&file, who, place, 2).unwrap(), expected.entries.min(2));
                    prop_assert_eq!(is_joined(&file, who, place, &found).unwrap(), is_in);
                    let passed = passed.remove(&(delegate, device)).unwrap_or_default();
                    prop_assert_eq!(passage(passed), passage(expected.standing));
                    for (column, value) in [
                        ("inside", i64::from(is_inside)),
                        ("joined", i64::from(is_in)),
                        ("check_ins", i64::from(expected.entries)),
                    ] {
                        prop_assert_eq!(of_view(column, delegate, device), Value::Integer(value), "{}", column);
                    }
                    inside.extend(expected.standing.last_in.filter(|_| is_inside).map(|since| (place, since)));
                }
                prop_assert_eq!(inside_of(&file, DelegateId(delegate)).unwrap(), inside);
            }
            prop_assert!(passed.is_empty(), "{:?}", passed);
        }
    }

    /// A decision must not read the interactions themselves, nor go through many.
    #[test]
    fn decisions_are_read_from_the_index_alone() {
        let file = Connection::open_in_memory().unwrap();
        migrate::create(&file).unwrap();
        let plan: String = file
            .query_row(
                "EXPLAIN QUERY PLAN SELECT moment, id, effect FROM interactions
                 WHERE first_delegate_id = 1 AND first_device_id = 2 AND effect < 9
                 ORDER BY effect DESC, moment DESC, id DESC",
                [],
                |row| row.get(3),
            )
            .unwrap();
        assert_eq!(
            plan,
            "SEARCH interactions USING INDEX interactions_first_delegate \
             (first_delegate_id=? AND first_device_id=? AND effect<?)"
        );
    }
}
