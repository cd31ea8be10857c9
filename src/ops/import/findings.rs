//! What is to be said of a list before any of it is written: what was recognised, mended and left out, in sentences, and
//! questions that only the operator can answer. The wizard shows a question as a choice, the command line as an error that
//! names the option.

use super::{
    Columns, What,
    batches::Options,
    choice::{HiddenRows, Numbers},
    clean::Mending,
    columns::{Column, FINDERS},
    dates::Order,
    names,
    status::Rule,
    survey::{Facts, Survey},
    target::Target,
};
use crate::types::text::shortened;

/// A question about a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// The name of its field in the wizard.
    pub field: String,
    pub text: String,
    /// Answers, with their labels.
    pub choices: Vec<(&'static str, &'static str)>,
    /// The answer that counts; none where it must be given.
    pub answer: Option<&'static str>,
    /// The option of the command line, up to the answer.
    option: String,
}

impl Question {
    /// Returns whether nothing is imported without an answer.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.answer.is_none()
    }

    /// As the command line asks it.
    #[must_use]
    pub fn told(&self) -> String {
        let answers = self.choices.iter().map(|(name, label)| {
            let option = format!("{}{name}", self.option);
            let option = if option.contains('"') {
                format!("{option}\"")
            } else {
                option
            };
            format!("{option} ({label})")
        });
        format!(
            "{}; say {}",
            self.text,
            answers.collect::<Vec<_>>().join(" or ")
        )
    }
}

/// What is to be said of a list.
#[derive(Debug, Clone, Default)]
pub struct Findings {
    /// What was recognised and mended.
    pub recognised: Vec<String>,
    pub warnings: Vec<String>,
    pub questions: Vec<Question>,
}

impl Findings {
    #[must_use]
    pub fn of(columns: &Columns, survey: &Survey, options: &Options) -> Self {
        let mut findings = Self::default();
        findings.of_the_list(columns, survey, options);
        let mut open_dates = Vec::new();
        let mut examples = Vec::new();
        let mut numbers = None;
        for (at, column) in columns.iter().enumerate() {
            let facts = survey.column(at);
            findings.of_column(columns.what, column, facts);
            findings.of_constant(columns.what, column, survey.is_constant(at));
            findings.of_status(at, column, facts);
            if column.target.is_time() || matches!(column.target, Target::Days(_)) {
                findings.of_dates(column, facts, options);
                if let Some((orders, found)) = facts.open_orders() {
                    open_dates.extend(orders);
                    examples.extend(found.into_iter().map(|cell| (column.header.as_str(), cell)));
                }
            }
            if facts.shown > 0 && !matches!(column.target, Target::Skipped | Target::Nameless) {
                numbers.get_or_insert((column, facts));
            }
        }
        findings.ask_dates(&open_dates, &examples, options);
        if let Some((column, facts)) = numbers {
            findings.ask_numbers(column, facts, options);
        }
        findings
    }

    fn of_the_list(&mut self, columns: &Columns, survey: &Survey, options: &Options) {
        if let Some(shop) = columns.shop {
            self.recognised.push(format!(
                "this is a list of {}; its columns are known",
                shop.name
            ));
        }
        if let Some(first) = survey.above.first() {
            let count = survey.above.len();
            self.recognised.push(format!(
                "the header is in row {}; {count} {} above it left out: \"{}\"",
                survey.header_line,
                if count == 1 { "row is" } else { "rows are" },
                shortened(first)
            ));
        }
        if columns.what == What::Interactions
            && columns.is_table()
            && !columns.has_any(&["interactionType"])
            && !options.set.iter().any(|one| one.0 == "interactionType")
        {
            let told = "no column says what happened; if it is the same in every row, set it: interactionType=check-in (--set)";
            self.warnings.push(told.to_owned());
        }
        if let Some(kind) = columns.implied_type() {
            self.recognised.push(format!(
                "every row is a {kind}, as the list does not say what its rows are"
            ));
        }
        for constant in &options.set {
            let (name, value) = (&constant.0, shortened(&constant.1));
            self.recognised
                .push(format!("{name} is \"{value}\" where a row does not say it"));
        }
        if let Some((line, cell)) = &survey
            .beside_first
            .as_ref()
            .filter(|_| columns.is_spreadsheet)
        {
            self.warnings.push(format!(
                "{} without a header {} left out, the first in line {line}: \"{}\"",
                counted(survey.beside, "cell in a column", "cells in columns"),
                if survey.beside == 1 { "is" } else { "are" },
                shortened(cell)
            ));
        }
        if survey.hidden > 0 {
            self.questions.push(Question {
                field: "hidden_rows".to_owned(),
                text: format!(
                    "{} hidden by a filter",
                    counted(survey.hidden, "row is", "rows are")
                ),
                choices: HiddenRows::ALL
                    .iter()
                    .map(|one| (one.name(), one.label()))
                    .collect(),
                answer: options.hidden_rows.map(HiddenRows::name),
                option: "--hidden-rows ".to_owned(),
            });
        }
    }

    fn of_column(&mut self, what: What, column: &Column, facts: &Facts) {
        let header = shortened(&column.header);
        let is_code = column.target.is_code();
        if matches!(column.target, Target::Skipped | Target::Nameless) {
            return;
        }
        if column.target == Target::WholeName && facts.filled > 0 {
            let example = facts.example.as_deref().unwrap_or_default();
            let (first, last) = names::split(example);
            self.recognised.push(format!(
                "\"{header}\" holds whole names, which are split: \"{}\" has the first name \"{}\" and the last name \"{last}\"",
                shortened(example),
                first.unwrap_or_default()
            ));
        }
        if let Target::Days(times) = column.target {
            self.recognised.push(format!(
                "the days in \"{header}\" are joined with the times of {}",
                times.join(" and ")
            ));
        }
        if what == What::Delegates && facts.yes > 0 {
            self.warnings.push(format!(
                "{} that \"{header}\" calls checked in elsewhere {} not checked in here; to make that count, import the list as interactions after this, with interactionType=check-in",
                counted(facts.yes, "row", "rows"),
                if facts.yes == 1 { "is" } else { "are" }
            ));
        }
        for mending in Mending::ALL {
            let count = facts.mended(mending, is_code);
            if count > 0 {
                let cells = counted(count, "cell", "cells");
                self.recognised
                    .push(format!("{cells} of \"{header}\" {}", mending.told()));
            }
        }
        let damaged = facts.scientific + facts.rounded;
        if is_code && damaged > 0 {
            self.warnings.push(format!(
                "{} of \"{header}\" {} damaged by a spreadsheet, which rounded or shortened the number; these rows are bad",
                counted(damaged, "code", "codes"),
                if damaged == 1 { "was" } else { "were" }
            ));
        }
        if facts.scientific > 0 && !is_code {
            self.warnings.push(format!(
                "{} of \"{header}\" {} numbers that a spreadsheet shortened, such as 1,5E+12; imported as they are",
                counted(facts.scientific, "cell", "cells"),
                if facts.scientific == 1 { "holds one of the" } else { "hold" }
            ));
        }
    }

    fn of_constant(&mut self, what: What, column: &Column, is_constant: bool) {
        let meant = FINDERS.iter().find_map(|find| find(what, &column.header));
        let is_of_code = meant.is_some_and(|target| target.is_code());
        if is_constant && is_of_code && matches!(column.target, Target::Data { .. }) {
            let header = shortened(&column.header);
            let told = "has one value for all, so it is no code; it goes into other data";
            self.recognised.push(format!("\"{header}\" {told}"));
        }
    }

    fn of_status(&mut self, at: usize, column: &Column, facts: &Facts) {
        let judge = column.status.as_ref();
        let Some(rule) = judge
            .filter(|_| !facts.not_good.is_empty())
            .map(|judge| judge.rule)
        else {
            return;
        };
        let count: u64 = facts.not_good.values().sum();
        let kinds: Vec<_> = facts
            .not_good
            .iter()
            .map(|(kind, count)| format!("{kind} ({count})"))
            .collect();
        let (header, kinds) = (shortened(&column.header), kinds.join(", "));
        let rows = counted(count, "row has a ticket", "rows have tickets");
        let fate = match rule {
            Rule::Drop => "left out",
            Rule::Block => "imported, with the codes blocked",
            Rule::Keep => "imported as valid",
        };
        self.warnings
            .push(format!("{rows} that \"{header}\" calls {kinds}: {fate}"));
        self.questions.push(Question {
            field: format!("status-{at}"),
            text: format!("\"{header}\" calls {kinds}"),
            choices: Rule::ALL
                .iter()
                .map(|rule| (rule.name(), rule.label()))
                .collect(),
            answer: Some(rule.name()),
            option: format!("--status \"{}=", column.header),
        });
    }

    fn of_dates(&mut self, column: &Column, facts: &Facts, options: &Options) {
        if let Some(order) = facts.order().filter(|_| options.dates.is_none()) {
            self.recognised.push(format!(
                "the dates in \"{}\" are {}, as no other order fits all of them",
                shortened(&column.header),
                order.label()
            ));
        }
    }

    /// Asks once for all columns.
    fn ask_dates(&mut self, orders: &[Order], examples: &[(&str, &str)], options: &Options) {
        let Some((header, _)) = examples.first() else {
            return;
        };
        let cells = examples
            .iter()
            .take(3)
            .map(|(_, cell)| format!("\"{}\"", shortened(cell)));
        self.questions.push(Question {
            field: "dates".to_owned(),
            text: format!(
                "the dates in \"{}\" can be read in several ways, such as {}",
                shortened(header),
                cells.collect::<Vec<_>>().join(", ")
            ),
            choices: Order::ALL
                .iter()
                .filter(|order| orders.contains(order))
                .map(|order| (order.name(), order.label()))
                .collect(),
            answer: options.dates.map(Order::name),
            option: "--dates ".to_owned(),
        });
    }

    fn ask_numbers(&mut self, column: &Column, facts: &Facts, options: &Options) {
        let (stored, shown) = facts.shown_first.clone().unwrap_or_default();
        self.questions.push(Question {
            field: "numbers".to_owned(),
            text: format!(
                "{} of \"{}\" {} with zeros in front and stored without them, such as {shown} and {stored}",
                counted(facts.shown, "number", "numbers"),
                shortened(&column.header),
                if facts.shown == 1 { "is shown" } else { "are shown" }
            ),
            choices: Numbers::ALL.iter().map(|one| (one.name(), one.label())).collect(),
            answer: options.numbers.map(Numbers::name),
            option: "--numbers ".to_owned(),
        });
    }

    /// The questions without an answer, as the wizard repeats them.
    #[must_use]
    pub fn open_texts(&self) -> Vec<String> {
        let open = self.questions.iter().filter(|question| question.is_open());
        open.map(|question| question.text.clone()).collect()
    }

    /// The questions without an answer, as the command line asks them.
    #[must_use]
    pub fn open(&self) -> Option<String> {
        let open = self.questions.iter().filter(|question| question.is_open());
        let told: Vec<_> = open.map(Question::told).collect();
        (!told.is_empty()).then(|| told.join("; "))
    }
}

/// `1 row`, `2 rows`.
pub fn counted(count: u64, one: &str, several: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { several })
}
