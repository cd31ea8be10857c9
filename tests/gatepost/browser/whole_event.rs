//! The whole way of an event: the first run, the client's list, an app at the gate, and what goes
//! wrong on the day. Every page on the way is for everybody.

use super::{
    NAME,
    app::{App, scan},
    become_administrator,
    examine::Examiner,
    open, open_first_run,
    pictures::Pictures,
    sign_in, sign_out,
    window::{Browser, Tab},
};
use crate::faults::process::Served;
use crate::harness::{has, lacks};
use rust_xlsxwriter::Workbook;
use serde_json::{Value, json};
use std::path::Path;

/// People of `examples/attendees.csv`: code, what is typed to find them, and their name.
const ANNELIESE: (&str, &str, &str) = ("TLH26-FJ7ADVN4", "brückner", "Anneliese Brückner");
const TOMAS: (&str, &str, &str) = ("TLH26-FC4277DD", "tomás fer", "Tomás Ferreira");
/// More of them, who enter while somebody watches.
const ENTERING: [&str; 5] = [
    "TLH26-P77NDEDD",
    "TLH26-DNY59FZ4",
    "TLH26-FH4C649Q",
    "TLH26-E8D2ZDJT",
    "TLH26-FXYPF288",
];
/// Attendees in the list.
const LISTED: usize = 60;

struct Way {
    served: Served,
    browser: Browser,
    examiner: Examiner,
    pictures: Pictures,
    folder: tempfile::TempDir,
}

#[test]
fn an_event_goes_its_whole_way_in_a_browser() {
    let way = Way::begin();
    way.first_run();
    way.sign_out_and_in();
    way.import_the_list();
    way.make_the_event();
    let dashboard = way.open_dashboard();
    let app = way.connect_an_app();
    way.set_the_app_up(&app);
    way.see_check_ins(&app, &dashboard);
    way.import_a_spreadsheet_and_take_it_back(&app);
    way.delete_somebody_and_think_again(&app);
    way.replace_a_lost_badge(&app);
    sign_out(&way.browser);
}

impl Way {
    fn begin() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let pictures = Pictures::wanted();
        // On pictures, and where the machine has no address of its own, the server has a name.
        let public = format!("http://{NAME}");
        let named: &[&str] = if pictures.are_wanted() || own_address().is_none() {
            &["--public-url", &public]
        } else {
            &[]
        };
        let served = Served::start_for_all(&folder.path().join("gatepost.db"), named);
        Self {
            browser: open(&served),
            served,
            examiner: Examiner::installed(),
            pictures,
            folder,
        }
    }

    /// The page is for everybody.
    #[track_caller]
    fn examine(&self, page: &str) {
        let faults = self.examiner.faults(&self.browser, page);
        assert!(faults.is_empty(), "{}", faults.join("\n"));
    }

    fn first_run(&self) {
        let browser = &self.browser;
        open_first_run(browser, &self.served);
        self.pictures.take(browser, "first-run");
        become_administrator(browser);
        browser.tells("Before the doors open");
        self.examine("the first dashboard");
        // The link has done what it is for.
        open_first_run(browser, &self.served);
        browser.tells("has been used");
        browser.complaints();
    }

    fn sign_out_and_in(&self) {
        let browser = &self.browser;
        browser.go("/console");
        sign_out(browser);
        browser.go("/console");
        browser.arrives_at("/console/sign-in");
        sign_in(browser);
    }

    fn import_the_list(&self) {
        self.try_and_import(Path::new("examples/attendees.csv"), LISTED);
        self.browser.go("/console/delegates");
        self.browser.tells(&format!("{LISTED} attendees"));
    }

    fn make_the_event(&self) {
        let browser = &self.browser;
        browser.go("/console");
        browser.press("Create an event");
        browser.fill("name", "Nordlicht Kongress 2026");
        browser.press("Create event");
        browser.until("the event is there", || {
            browser.has("form[action$='/delete']")
        });
        self.examine("the event");
    }

    /// Takes a list of delegates through the wizard.
    fn try_and_import(&self, list: &Path, rows: usize) {
        let browser = &self.browser;
        browser.go("/console/import");
        browser.attach("file", list);
        browser.press("Upload");
        browser.tells("Preview");
        self.examine("what was recognised");
        browser.press("Check only");
        browser.tells("Every row is good");
        self.examine("the trial of an import");
        browser.press(&format!("Import {rows} rows"));
        browser.tells(&format!("{rows} rows done"));
        self.examine("the end of an import");
    }

    /// Opens the dashboard in a tab of its own.
    fn open_dashboard(&self) -> Tab {
        let browser = &self.browser;
        let work = browser.tab();
        let dashboard = browser.new_tab();
        browser.go("/console");
        browser.to_tab(&work);
        dashboard
    }

    /// From the QR to the token.
    fn connect_an_app(&self) -> App {
        let browser = &self.browser;
        browser.go("/console/discovery");
        browser.run(
            "document.querySelector('.qr').scrollIntoView({block: 'center'})",
            &[],
        );
        let address = scan(&browser.picture()).expect("a QR code in the picture");
        assert!(address.ends_with("/api/v5/device-request/new"), "{address}");
        lacks(&address, ["localhost", "127.", "[::1]", "0.0.0.0"]);
        let app = App::new(&address, "42", self.served.address);
        app.ask().is(201);
        browser.tells("Gate app 3.1");
        browser.tells(&app.check_digits());
        self.examine("a request that waits");
        self.pictures.take(browser, "discovery");
        browser.press("Add");
        app.is_added();
        browser.tells("Added");
        self.examine("a request that was added");
        app
    }

    /// The app gets its settings, and the console knows that it has them.
    fn set_the_app_up(&self, app: &App) {
        let first = app.ping(0);
        let told = first.data();
        assert_eq!(told["name"], "Nordlicht Kongress 2026");
        assert!(told["settings"].is_object(), "{told}");
        let version = told["configVersion"].as_i64().expect("a version");
        let value = json!({"mode": "check-in", "ownDevice": app.device()});
        app.tell_settings(&value).is(200);
        let second = app.ping(version);
        let told = second.data();
        assert_eq!(told["configConfirmed"], true);
        assert_eq!(told["settings"], Value::Null);
        let browser = &self.browser;
        browser.go(&format!("/console/devices/{}", app.device()));
        browser.tells("81 %");
        self.examine("the app's device");
    }

    /// Whoever watches the dashboard sees people enter.
    fn see_check_ins(&self, app: &App, dashboard: &Tab) {
        let browser = &self.browser;
        let work = browser.tab();
        browser.to_tab(dashboard);
        let inside =
            "return [...document.querySelectorAll('[aria-labelledby=inside] .by li strong')]
            .reduce((sum, place) => sum + parseInt(place.textContent), 0)";
        for (entered, barcode) in (1..).zip(ENTERING) {
            app.check_in(barcode).is(201);
            browser.until(&format!("{entered} are inside"), || {
                browser.run(inside, &[]) == json!(entered)
            });
        }
        let again = app.check_in("nobody");
        assert_eq!(again.code(), 1301);
        browser.tells("nobody");
        browser.go("/console");
        self.pictures.take(browser, "dashboard");
        self.examine("the dashboard at work");
        browser.to_tab(&work);
    }

    fn import_a_spreadsheet_and_take_it_back(&self, app: &App) {
        let browser = &self.browser;
        let list = self.folder.path().join("late.xlsx");
        write_spreadsheet(&list);
        self.try_and_import(&list, 2);
        assert_eq!(app.look_up("LATE-1").data()["firstName"], "Ada");
        browser.go("/console/import/batches");
        browser.press("late.xlsx");
        browser.press("Take back");
        browser.agree();
        browser.tells("2 removed permanently");
        self.examine("an import that was taken back");
        assert_eq!(app.look_up("LATE-1").code(), 1301);
    }

    /// Finds somebody as one types, and opens the record.
    fn find(&self, (_, typed, name): (&str, &str, &str)) {
        let browser = &self.browser;
        browser.go("/console/delegates");
        browser.fill("q", typed);
        browser.press(name);
        browser.tells("Codes");
    }

    fn delete_somebody_and_think_again(&self, app: &App) {
        let browser = &self.browser;
        self.find(TOMAS);
        self.examine("a delegate");
        browser.press("More");
        browser.press("Delete");
        browser.agree();
        browser.tells("This record is deleted");
        self.examine("a deleted delegate");
        assert_eq!(app.check_in(TOMAS.0).code(), 1301);
        browser.press("Restore");
        browser.until("the record is restored", || {
            browser.has("form[action$='/delete']")
        });
        app.check_in(TOMAS.0).is(201);
    }

    fn replace_a_lost_badge(&self, app: &App) {
        let browser = &self.browser;
        self.find(ANNELIESE);
        browser.click("a[href$='/badge/barcode']");
        self.examine("a lost badge");
        browser.fill("new", "SECOND-BADGE");
        browser.press("Block");
        browser.tells("Blocked");
        self.examine("a record with a blocked badge");
        let lost = app.check_in(ANNELIESE.0);
        assert_eq!(lost.status, 404, "{lost:?}");
        has(lost.message(), "reported lost");
        app.check_in("SECOND-BADGE").is(201);
    }
}

fn write_spreadsheet(path: &Path) {
    let mut book = Workbook::new();
    let sheet = book.add_worksheet();
    let rows = [
        ["Barcode", "First name", "Last name"],
        ["LATE-1", "Ada", "Late"],
        ["LATE-2", "Bo", "Later"],
    ];
    for (row, cells) in (0..).zip(rows) {
        for (column, cell) in (0..).zip(cells) {
            sheet.write_string(row, column, cell).expect("a cell");
        }
    }
    book.save(path).expect("a file");
}

/// An address of this machine that others reach it by.
fn own_address() -> Option<std::net::IpAddr> {
    let all = if_addrs::get_if_addrs().unwrap_or_default();
    all.iter()
        .map(if_addrs::Interface::ip)
        .find(|address| !address.is_loopback())
}
