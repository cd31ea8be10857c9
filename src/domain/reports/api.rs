//! `/report/...` (spec: Report endpoints).

use super::{Format, Output, Report, Values, exposed, of_client, run};
use crate::{
    identity::{
        App, Granted,
        roles::{ListReports, ReadReports},
    },
    types::error::Result,
    web::{
        Answer, Outcome,
        envelope::{attachment, enveloped},
        parameters::AnyQuery,
        schema::{Described, NoMeta, inline, response, text},
    },
};
use poem::{Body, IntoResponse, Response, http::header};
use poem_openapi::{
    ApiResponse, OpenApi,
    param::Path,
    registry::{MetaResponses, MetaSchema, Registry},
};
use schemars::JsonSchema;
use serde_json::{Map, Value, json};

/// Reports, by label.
#[derive(serde::Serialize, JsonSchema)]
#[schemars(example = json!([
    {"id": "attendance", "label": "Attendance by session", "parameters": []},
    {"id": "leads", "label": "Leads by sponsor with answers", "parameters": ["sponsor"], "optional": ["sponsor"]},
]))]
pub struct Reports(Vec<ListedReport>);

/// A report that is exposed to the client.
#[derive(serde::Serialize, JsonSchema)]
#[schemars(inline)]
struct ListedReport {
    /// The name by which it is fetched.
    id: String,
    /// The name for people.
    label: String,
    /// The names that its query string takes.
    parameters: Vec<String>,
    /// Parameters that may be left out; absent where there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Option<Vec<String>>")]
    optional: Vec<String>,
}

impl ListedReport {
    fn new(report: &Report) -> Self {
        let optional = report.asked().filter(|asked| asked.optional);
        Self {
            id: report.id.clone(),
            label: report.label.clone(),
            parameters: report.asked().map(|asked| asked.name.clone()).collect(),
            optional: optional.map(|asked| asked.name.clone()).collect(),
        }
    }
}

/// The rows of a report, in its order.
#[derive(JsonSchema)]
#[schemars(example = json!([
    {"quarter_hour": "2026-11-21 09:00:00", "check_ins": 214, "people": 208},
]))]
pub struct ReportRows(pub Vec<ReportRow>);

/// A row: a value, or null, for each column of the report.
#[derive(JsonSchema)]
#[schemars(inline)]
pub struct ReportRow(pub Map<String, Value>);

/// A report, as CSV or else as JSON.
pub struct Exported<const CSV: bool> {
    /// The report's id.
    id: String,
    body: Body,
}

impl<const CSV: bool> Exported<CSV> {
    const CONTENT_TYPE: &str = if CSV {
        "text/csv; charset=utf-8"
    } else {
        "application/json"
    };
}

impl<const CSV: bool> IntoResponse for Exported<CSV> {
    fn into_response(self) -> Response {
        let response = Response::builder().content_type(Self::CONTENT_TYPE);
        if !CSV {
            return response.body(self.body);
        }
        let name = attachment(&format!("{}.csv", self.id));
        response
            .header(header::CONTENT_DISPOSITION, name)
            .body(self.body)
    }
}

impl<const CSV: bool> ApiResponse for Exported<CSV> {
    fn meta() -> MetaResponses {
        let schema = if CSV {
            let rows = "quarter_hour,check_ins,people\r\n2026-11-21 09:00:00,214,208\r\n";
            let about = "RFC 4180, UTF-8 with a byte order mark: a header, then a line a row.";
            inline(MetaSchema {
                example: Some(json!(rows)),
                ..text(about)
            })
        } else {
            enveloped::<ReportRows, NoMeta>()
        };
        MetaResponses {
            responses: vec![response(200, "The report", Self::CONTENT_TYPE, schema)],
        }
    }

    fn register(registry: &mut Registry) {
        if !CSV {
            ReportRows::register(registry);
        }
    }
}

pub struct ReportsApi {
    pub app: App,
}

#[OpenApi(tag = "crate::web::Tag::Reports")]
impl ReportsApi {
    /// List the reports of a dashboard
    ///
    /// Those that name this client, or every client, in their `api_clients`. Needs the scope
    /// `REPORT_LIST` or `TRUSTED` of the client, and a user who signed in through it.
    #[oai(
        path = "/report/:dashboard/list",
        method = "get",
        operation_id = "listReports"
    )]
    async fn list(
        &self,
        caller: Granted<ListReports>,
        /// The dashboard.
        dashboard: Path<String>,
    ) -> Outcome<Answer<Reports>> {
        let reports = self
            .app
            .store
            .look_up(|connection| exposed(connection, &dashboard.0, &caller.client_name))?;
        let listed = reports.iter().map(ListedReport::new).collect();
        Ok(Answer::json(&Reports(listed)))
    }

    /// Fetch a report as JSON
    ///
    /// `data` has an object a row. Its parameters come in the query string: a text each, or a number
    /// where the report takes one, NULL where it is empty; one that is missing and not optional, or
    /// that the report does not know, is refused. It may run for 30 s, and is sent while it is made:
    /// where the connection ends before the answer does, it is not whole. Needs the scope `REPORT_READ`
    /// or, in a client's own token, `TRUSTED`, and to be named in the report's `api_clients`.
    #[oai(
        path = "/report/:dashboard/export/:name/data.json",
        method = "get",
        operation_id = "readReportJson"
    )]
    async fn json(
        &self,
        caller: Granted<ReadReports>,
        /// The dashboard.
        dashboard: Path<String>,
        /// The report's id.
        name: Path<String>,
        /// The report's parameters, each under its own name.
        parameters: AnyQuery,
    ) -> Outcome<Exported<false>> {
        let asked = (&*dashboard.0, &*name.0, &*caller.client_name);
        let body = self.body(asked, &parameters, Format::Json).await?;
        Ok(Exported { id: name.0, body })
    }

    /// Fetch a report as CSV
    ///
    /// A file for spreadsheets: a byte order mark, a header, then a line a row. Text that a spreadsheet would run gets a leading apostrophe.
    /// Parameters, limits and needs are those of the JSON: the scope `REPORT_READ` or, in a client's own
    /// token, `TRUSTED`, and to be named in the report's `api_clients`.
    #[oai(
        path = "/report/:dashboard/export/:name/data.csv",
        method = "get",
        operation_id = "readReportCsv"
    )]
    async fn csv(
        &self,
        caller: Granted<ReadReports>,
        /// The dashboard.
        dashboard: Path<String>,
        /// The report's id.
        name: Path<String>,
        /// The report's parameters, each under its own name.
        parameters: AnyQuery,
    ) -> Outcome<Exported<true>> {
        let asked = (&*dashboard.0, &*name.0, &*caller.client_name);
        let body = self.body(asked, &parameters, Format::Csv).await?;
        Ok(Exported { id: name.0, body })
    }
}

impl ReportsApi {
    async fn body(
        &self,
        (dashboard, id, client): (&str, &str, &str),
        sent: &AnyQuery,
        format: Format,
    ) -> Result<Body> {
        let report = self
            .app
            .store
            .look_up(|connection| of_client(connection, dashboard, id, client))?;
        let values = Values::read(&report.parameters, &report.fixed, &sent.0)?;
        Ok(match run(&self.app, &report, values, format).await? {
            Output::Whole(bytes) => Body::from_bytes(bytes),
            Output::Coming(rest) => Body::from_bytes_stream(rest.pieces()),
        })
    }
}
