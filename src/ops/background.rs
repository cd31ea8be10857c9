//! Long work of a command beside a server: it takes what of the processor nobody else wants, and a small share where
//! that is next to nothing.

use crate::{
    db::open,
    types::os::{self, ProcessorTime},
};
use std::{
    path::Path,
    sync::{Mutex, PoisonError},
    thread,
};

/// The priority of the work of one command.
///
/// A thread that is merely nice is still left to run for milliseconds while a gate's request waits, so parts of the
/// work run on threads with idle priority. On a machine that is busy with something else these hardly run at all, and
/// a thread without privileges cannot give idle priority up again: each part has a thread of its own, and where the
/// parts before it starved, that one is merely nice.
#[derive(Debug, Default)]
pub struct Background {
    gives_way: bool,
    used: Mutex<ProcessorTime>,
}

impl Background {
    /// The priority of work on a file: it gives way where a server runs on that, and nowhere else.
    #[must_use]
    pub fn of(database: &Path) -> Self {
        let gives_way = open::is_served(database);
        if gives_way && !os::THREADS_HAVE_PRIORITIES {
            os::nice();
        }
        Self {
            gives_way: gives_way && os::THREADS_HAVE_PRIORITIES,
            used: Mutex::default(),
        }
    }

    /// The priority of the calling thread.
    #[must_use]
    pub fn unchanged() -> Self {
        Self::default()
    }

    /// Does a short part of the work. It must not hold what gates wait for, such as the lock of the file: they would
    /// wait as long as the processor is busy.
    pub fn run<T: Send>(&self, part: impl FnOnce() -> T + Send) -> T {
        if !self.gives_way {
            return part();
        }
        let is_nice = self.used().is_starved();
        self.on_thread(is_nice, part)
    }

    /// As [`Background::run`], for a part that may be long and cannot be divided. It asks now and then whether to give
    /// up; one that does returns `None`, and is begun anew on a thread that is merely nice.
    pub fn run_long<T: Send>(&self, part: impl Fn(fn() -> bool) -> Option<T> + Sync) -> T {
        let mut is_nice = !self.gives_way || self.used().is_starved();
        loop {
            let done = if !self.gives_way {
                part(|| false)
            } else if is_nice {
                self.on_thread(true, || part(|| false))
            } else {
                self.on_thread(false, || part(|| ProcessorTime::of_thread().is_starved()))
            };
            if let Some(done) = done {
                return done;
            }
            is_nice = true;
        }
    }

    fn on_thread<T: Send>(&self, is_nice: bool, part: impl FnOnce() -> T + Send) -> T {
        let part = || {
            if is_nice {
                os::nice_thread();
            } else {
                os::give_way();
            }
            let done = part();
            *self.used() += ProcessorTime::of_thread();
            done
        };
        thread::scope(|scope| scope.spawn(part).join())
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }

    fn used(&self) -> std::sync::MutexGuard<'_, ProcessorTime> {
        self.used.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    /// Elsewhere threads have no priorities.
    #[cfg(target_os = "linux")]
    mod on_linux {
        use super::super::*;
        use crate::db::ServeLock;
        use std::{
            sync::atomic::{AtomicBool, Ordering::Relaxed},
            time::Duration,
        };
        use thread_priority::{
            NormalThreadSchedulePolicy as Policy, ThreadSchedulePolicy, thread_schedule_policy,
        };

        fn policy() -> Policy {
            match thread_schedule_policy().unwrap() {
                ThreadSchedulePolicy::Normal(policy) => policy,
                other @ ThreadSchedulePolicy::Realtime(_) => unreachable!("{other:?}"),
            }
        }

        /// Work beside a server.
        fn beside_server() -> Background {
            let folder = tempfile::tempdir().unwrap();
            let database = folder.path().join("gatepost.db");
            assert!(!Background::of(&database).gives_way);
            let _lock = ServeLock::take(&database).unwrap();
            Background::of(&database)
        }

        #[test]
        fn work_gives_way_beside_a_server_alone_and_who_waits_for_it_does_not() {
            assert_eq!(beside_server().run(policy), Policy::Idle);
            // Anew: on a busy machine the part before it may have starved.
            let long = beside_server().run_long(|_| Some(policy()));
            assert_eq!(long, Policy::Idle);
            assert_eq!(policy(), Policy::Other);
            let alone = Background::unchanged();
            assert_eq!(alone.run(policy), Policy::Other);
            assert_eq!(alone.run(|| thread::current().id()), thread::current().id());
        }

        #[test]
        fn work_that_starves_is_merely_nice_until_it_got_its_share() {
            let background = beside_server();
            *background.used() += ProcessorTime {
                ran: Duration::from_millis(10),
                waited: Duration::from_secs(1),
            };
            assert_eq!(background.run(policy), Policy::Other);
            assert_eq!(background.run_long(|_| Some(policy())), Policy::Other);
            *background.used() += ProcessorTime {
                ran: Duration::from_secs(1),
                waited: Duration::ZERO,
            };
            assert_eq!(background.run(policy), Policy::Idle);
        }

        #[test]
        fn long_work_is_begun_anew_where_the_processor_is_never_free() {
            let background = beside_server();
            let is_over = AtomicBool::new(false);
            thread::scope(|scope| {
                for _ in 0..thread::available_parallelism().unwrap().get() * 2 {
                    scope.spawn(|| {
                        while !is_over.load(Relaxed) {
                            std::hint::spin_loop();
                        }
                    });
                }
                let done = background.run_long(|give_up| {
                    if policy() == Policy::Other {
                        return Some("done");
                    }
                    while !give_up() {}
                    None
                });
                is_over.store(true, Relaxed);
                assert_eq!(done, "done");
            });
        }

        #[test]
        #[should_panic(expected = "told")]
        fn a_panic_in_a_part_is_one_here() {
            beside_server().run(|| panic!("told"));
        }
    }
}
