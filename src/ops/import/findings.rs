//! Findings about a list before any of it is written: sentences on what was recognised, mended and left out, and questions
//! that only the operator can answer. The wizard shows a question as a choice, the command line as an error that names the
//! option.

use super::{
    Columns, What,
    batches::Options,
    by_header::FINDERS,
    choice::{HiddenRows, Numbers},
    clean::Mending,
    columns::Column,
    dates::Order,
    names,
    status::Rule,
    survey::{Facts, Survey},
    target::Target,
    warnings,
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
}

impl Question {
    /// Returns whether nothing is imported without an answer.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.answer.is_none()
    }

    /// Returns the question as the command line asks it.
    fn told(&self) -> String {
        let option = self.field.replace('_', "-");
        let answers = self.choices.iter();
        let answers = answers.map(|(name, label)| format!("--{option} {name} ({label})"));
        format!(
            "{}; say {}",
            self.text,
            answers.collect::<Vec<_>>().join(" or ")
        )
    }
}

/// The findings about a list.
#[derive(Debug, Clone, Default)]
pub struct Findings {
    /// Sentences on what was recognised and mended.
    pub recognised: Vec<String>,
    pub warnings: Vec<String>,
    pub questions: Vec<Question>,
}

impl Findings {
    #[must_use]
    pub fn of(columns: &Columns, survey: &Survey, options: &Options) -> Self {
        let mut findings = Self::default();
        findings.of_the_list(columns, survey, options);
        for (at, column) in columns.iter().enumerate() {
            let facts = survey.column(at);
            findings.of_column(columns.what, column, facts);
            findings.of_constant(columns.what, column, survey.is_constant(at));
            findings.of_status(at, column, facts);
            findings.of_dates(column, facts, options);
        }
        findings.ask_dates(columns, survey, options);
        findings.ask_numbers(columns, survey, options);
        let of_columns = warnings::of_columns(columns, options.make_codes);
        findings.warnings.extend(of_columns);
        findings
    }

    fn ask(
        &mut self,
        field: &str,
        text: String,
        choices: Vec<(&'static str, &'static str)>,
        answer: Option<&'static str>,
    ) {
        self.questions.push(Question {
            field: field.to_owned(),
            text,
            choices,
            answer,
        });
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
        if let Some(kind) = columns.implied_type {
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
            let text = counted(survey.hidden, "row is", "rows are") + " hidden by a filter";
            let answer = options.hidden_rows.map(HiddenRows::name);
            self.ask("hidden_rows", text, HiddenRows::choices(), answer);
        }
    }

    fn of_column(&mut self, what: What, column: &Column, facts: &Facts) {
        let header = shortened(&column.header);
        let is_code = column.target.is_code();
        if !column.target.is_imported() {
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
        let Some((_, rule)) = column.status.filter(|_| !facts.not_good.is_empty()) else {
            return;
        };
        let count: u64 = facts.not_good.values().sum();
        let kinds = facts.not_good.iter();
        let kinds: Vec<_> = kinds
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
        let text = format!("\"{header}\" calls {kinds}");
        let field = format!("status-{at}");
        self.ask(&field, text, Rule::choices(), Some(rule.name()));
    }

    fn of_dates(&mut self, column: &Column, facts: &Facts, options: &Options) {
        let order = facts.order().filter(|_| options.dates.is_none());
        if let Some(order) = order.filter(|_| column.target.has_dates()) {
            self.recognised.push(format!(
                "the dates in \"{}\" are {}, as no other order fits all of them",
                shortened(&column.header),
                order.label()
            ));
        }
    }

    /// Asks once for all columns whose dates no single order fits.
    fn ask_dates(&mut self, columns: &Columns, survey: &Survey, options: &Options) {
        let columns = columns.iter().enumerate();
        let dates: Vec<_> = columns
            .map(|(at, column)| (column, survey.column(at)))
            .filter(|(column, facts)| column.target.has_dates() && facts.order().is_none())
            .flat_map(|(column, facts)| facts.dates.iter().map(move |dates| (column, dates)))
            .collect();
        let Some((column, _)) = dates.first() else {
            return;
        };
        let cells = dates.iter().take(3);
        let cells = cells.map(|(_, (_, cell))| format!("\"{}\"", shortened(cell)));
        let text = format!(
            "the dates in \"{}\" can be read in several ways, such as {}",
            shortened(&column.header),
            cells.collect::<Vec<_>>().join(", ")
        );
        let fits = |order: &&Order| dates.iter().any(|(_, (orders, _))| orders.contains(order));
        let orders = Order::ALL.iter().filter(fits);
        let choices = orders.map(|order| (order.name(), order.label())).collect();
        self.ask("dates", text, choices, options.dates.map(Order::name));
    }

    /// Asks once, by the first column with such numbers.
    fn ask_numbers(&mut self, columns: &Columns, survey: &Survey, options: &Options) {
        let columns = columns.iter().enumerate();
        let mut columns = columns.filter(|(_, column)| column.target.is_imported());
        let shown = columns.find_map(|(at, column)| {
            let facts = survey.column(at);
            Some((column, facts, facts.shown_first.as_ref()?))
        });
        let Some((column, facts, (stored, shown))) = shown else {
            return;
        };
        let text = format!(
            "{} of \"{}\" {} with zeros in front and stored without them, such as {shown} and {stored}",
            counted(facts.shown, "number", "numbers"),
            shortened(&column.header),
            if facts.shown == 1 {
                "is shown"
            } else {
                "are shown"
            }
        );
        let answer = options.numbers.map(Numbers::name);
        self.ask("numbers", text, Numbers::choices(), answer);
    }

    fn open(&self) -> impl Iterator<Item = &Question> {
        self.questions.iter().filter(|question| question.is_open())
    }

    /// The questions without an answer, as the wizard repeats them.
    #[must_use]
    pub fn open_texts(&self) -> Vec<String> {
        self.open().map(|question| question.text.clone()).collect()
    }

    /// The questions without an answer, as the command line asks them.
    #[must_use]
    pub fn asked(&self) -> Vec<String> {
        self.open().map(Question::told).collect()
    }
}

/// `1 row`, `2 rows`.
pub fn counted(count: u64, one: &str, several: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { several })
}
