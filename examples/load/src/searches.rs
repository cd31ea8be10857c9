//! Searches of a large file, one after the other on one connection: what a search takes, not how
//! many there are a second.

use crate::{
    Result,
    client::{Response, Target},
    pairs::{barcode, scattering_stride},
    report::Report,
    run::{Plan, Workload, run},
    setup::Venue,
};
use std::time::Duration;

/// A search, and how fast 95 of 100 have to be.
pub struct Asked {
    /// What it is called in the table.
    pub name: &'static str,
    /// The limit for p95; none where it is only reported.
    pub p95_max: Option<Duration>,
    list: &'static str,
    expression: Expression,
}

/// The expression with `{}` for what differs from one request to the next.
enum Expression {
    Same(&'static str),
    Barcode(&'static str),
    Session(&'static str),
}

const fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

/// Every search that is measured.
pub static ALL: [Asked; 9] = [
    Asked {
        name: "`==` on a barcode",
        p95_max: Some(ms(10)),
        list: "delegate",
        expression: Expression::Barcode(r#"{"==":["barcode","{}"]}"#),
    },
    Asked {
        name: "`*=` within a name, up to 1,000 hits",
        p95_max: Some(ms(10)),
        list: "delegate",
        expression: Expression::Same(r#"{"*=":["lastName","LER-Tan"]}"#),
    },
    Asked {
        name: "`*=` within an e-mail address",
        p95_max: Some(ms(10)),
        list: "delegate",
        expression: Expression::Same(r#"{"*=":["email","st4711"]}"#),
    },
    Asked {
        name: "`*=` with 40 % hits",
        p95_max: None,
        list: "delegate",
        expression: Expression::Same(
            r#"{"or":[{"*=":["company","Cobalt"]},{"*=":["company","brück"]},{"*=":["company","fjord"]}]}"#,
        ),
    },
    Asked {
        name: "`fi` at a device, `>= 1`",
        p95_max: Some(ms(50)),
        list: "delegate",
        expression: Expression::Session(r#"{"fi":["check-in",{"firstDevice":[{}]},">= 1"]}"#),
    },
    Asked {
        name: "`fi` at a device, `== 2`",
        p95_max: Some(ms(50)),
        list: "delegate",
        expression: Expression::Session(r#"{"fi":["check-in",{"firstDevice":[{}]},"== 2"]}"#),
    },
    Asked {
        name: "`fi` at a device, `== 0`",
        p95_max: None,
        list: "delegate",
        expression: Expression::Session(r#"{"fi":["check-in",{"firstDevice":[{}]},"== 0"]}"#),
    },
    Asked {
        name: "`fi` anywhere, `>= 1`",
        p95_max: None,
        list: "delegate",
        expression: Expression::Same(r#"{"fi":["check-in",{},">= 1"]}"#),
    },
    Asked {
        name: "`fi` anywhere, `== 0`",
        p95_max: None,
        list: "delegate",
        expression: Expression::Same(r#"{"fi":["check-in",{},"== 0"]}"#),
    },
];

/// Measures one search for a while.
pub async fn measure(venue: &Venue, asked: &'static Asked, seconds: u64) -> Result<Report> {
    let lane = Searches {
        target: venue.target.clone(),
        asked,
        delegates: venue.delegates,
        devices: venue.devices.clone(),
        at: 1,
    };
    let name = format!("search, {}", asked.name);
    run(&name, &venue.target, vec![lane], Plan::seconds(seconds, 1)).await
}

struct Searches {
    target: Target,
    asked: &'static Asked,
    delegates: u64,
    devices: Vec<i64>,
    at: u64,
}

impl Workload for Searches {
    fn next(&mut self, request: &mut Vec<u8>) {
        self.at = (self.at + scattering_stride(self.delegates)) % self.delegates;
        let expression = match self.asked.expression {
            Expression::Same(text) => text.to_owned(),
            Expression::Barcode(text) => text.replace("{}", &barcode(self.at + 1)),
            Expression::Session(text) => {
                let device = usize::try_from(self.at).unwrap_or(0) % self.devices.len();
                text.replace("{}", &self.devices[device].to_string())
            }
        };
        let search =
            percent_encoding::utf8_percent_encode(&expression, percent_encoding::NON_ALPHANUMERIC);
        let list = self.asked.list;
        self.target.get(
            request,
            format_args!(
                "/api/v5/{list}/list?limit=50&fields=id,barcode,firstName,lastName&search={search}"
            ),
        );
    }

    fn acknowledged(&mut self, answer: &Response<'_>) -> u64 {
        u64::from(answer.status == 200)
    }
}
