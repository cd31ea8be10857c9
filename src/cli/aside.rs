//! Long work beside a server: it takes what of the processor nobody else wants.

use crate::types::os;
use std::thread;

/// Does work on a thread of its own that runs only while nobody else wants to, and waits for it. One
/// that is merely nice is still left to run for milliseconds while a gate's request waits. Work must
/// not hold what gates wait for, such as the lock of the file: they would wait as long as the
/// processor is busy. Elsewhere than on Linux the process is made nice.
pub(super) fn aside<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    let work = || {
        os::give_way();
        work()
    };
    thread::scope(|scope| scope.spawn(work).join())
        .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(target_os = "linux")]
    #[test]
    fn work_aside_gives_way_and_who_waits_for_it_does_not() {
        use thread_priority::{
            NormalThreadSchedulePolicy as Policy, ThreadSchedulePolicy, thread_schedule_policy,
        };
        let policy = || thread_schedule_policy().unwrap();
        assert_eq!(aside(policy), ThreadSchedulePolicy::Normal(Policy::Idle));
        assert_eq!(policy(), ThreadSchedulePolicy::Normal(Policy::Other));
    }

    #[test]
    #[should_panic(expected = "told")]
    fn a_panic_aside_is_one_here() {
        aside(|| panic!("told"));
    }
}
