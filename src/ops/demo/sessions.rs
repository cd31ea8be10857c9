//! Who sat in which session: nobody in two at a time, and never more than fit in.

use super::{
    people::Part,
    story::{Attendance, NOW_S, Place, Story},
};
use crate::domain::interactions::types::{CHECK_IN, CHECK_OUT};
use std::collections::HashSet;

/// Of a hundred who are free, how many go to a talk of each slot.
const INTEREST_PERCENT: [usize; 6] = [45, 30, 28, 28, 20, 28];
/// How many come to a talk where nobody counts.
const CROWD: usize = 100;
/// Of a hundred check-ins where one may enter once, how many are tried a second time.
const TRIED_AGAIN_PERCENT: usize = 4;
/// Of a hundred there, how many another gate lets in again while it is offline.
const ADMITTED_AGAIN_PERCENT: usize = 3;
/// Of a hundred people in a session, how many go out for a moment.
const OUT_FOR_A_MOMENT_PERCENT: usize = 5;

/// Everybody who is there and free spends the slots of a day that began by now.
pub fn attend(
    story: &mut Story<'_>,
    day: i64,
    visits: &mut [Attendance],
    booked: &HashSet<(usize, usize)>,
) {
    for (slot, interest) in INTEREST_PERCENT.into_iter().enumerate() {
        let mut open: Vec<Open> = (0..story.programme.sessions.len())
            .filter(|at| {
                let session = &story.programme.sessions[*at];
                session.day == day && session.slot == slot
            })
            .map(|at| Open {
                session: at,
                left: story.programme.sessions[at].seats.unwrap_or(CROWD),
                ticket: story.programme.sessions[at].ticket,
            })
            .collect();
        let Some(start_s) = open
            .first()
            .map(|one| story.programme.sessions[one.session].start_min * 60)
        else {
            continue;
        };
        if start_s > NOW_S {
            return;
        }
        let mut order: Vec<usize> = (0..visits.len()).collect();
        story.random.shuffle(&mut order);
        for at in order {
            let visit = &mut visits[at];
            if visit.free_s > start_s - 600 {
                continue;
            }
            if let Some(chosen) = choose(story, visit.person, interest, &open, booked) {
                open[chosen].left -= 1;
                visit.free_s = sit(story, visit.person, open[chosen].session);
            }
        }
    }
}

/// A session that still has room.
struct Open {
    session: usize,
    left: usize,
    ticket: bool,
}

/// A booked workshop, mostly; otherwise one of the talks, the larger the likelier.
fn choose(
    story: &mut Story<'_>,
    person: usize,
    interest: usize,
    open: &[Open],
    booked: &HashSet<(usize, usize)>,
) -> Option<usize> {
    let own = open
        .iter()
        .position(|one| one.left > 0 && booked.contains(&(person, one.session)));
    if own.is_some() && story.random.chance(90) {
        return own;
    }
    let percent = match story.people[person].part {
        Part::Visitor => interest,
        Part::Speaker => 40,
        Part::Exhibitor(_) => 5,
        Part::Crew => 0,
    };
    if !story.random.chance(percent) {
        return None;
    }
    let talks = || open.iter().enumerate().filter(|(_, one)| !one.ticket);
    let seats: usize = talks().map(|(_, one)| one.left).sum();
    if seats == 0 {
        return None;
    }
    let mut seat = story.random.below(seats);
    for (at, one) in talks() {
        if seat < one.left {
            return Some(at);
        }
        seat -= one.left;
    }
    None
}

/// Checks somebody in and, mostly, out of a session; when they are free again.
fn sit(story: &mut Story<'_>, person: usize, session: usize) -> i64 {
    let about = &story.programme.sessions[session];
    let place = Place::Session(session);
    let start_s = about.start_min * 60;
    let in_s = start_s + story.random.between(-9 * 60, 5 * 60);
    let out_s = about.end_min * 60 + story.random.between(-3 * 60, 4 * 60);
    story.add(in_s, CHECK_IN.name, person, place);
    if about.single && story.random.chance(TRIED_AGAIN_PERCENT) {
        let again_s = in_s + story.random.between(20, 240);
        story.add(again_s, CHECK_IN.name, person, place);
    } else if about.single && story.random.chance(ADMITTED_AGAIN_PERCENT) {
        let again_s = in_s + story.random.between(20, 240);
        story.admit(again_s, person, place);
    }
    if story.random.chance(OUT_FOR_A_MOMENT_PERCENT) {
        let away_s = start_s + story.random.between(12 * 60, 20 * 60);
        let back_s = away_s + story.random.between(120, 600);
        story.add(away_s, CHECK_OUT.name, person, place);
        story.add(back_s, CHECK_IN.name, person, place);
    }
    if about.single || story.random.chance(85) {
        story.add(out_s, CHECK_OUT.name, person, place);
    }
    out_s
}
