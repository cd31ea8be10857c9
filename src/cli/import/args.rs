//! The arguments of `gatepost import`.

use crate::{
    ops::import::{
        Constant, Mapping,
        choice::{HiddenRows, Numbers},
        dates::Order,
        status::StatusRule,
    },
    types::{DeviceSelector, error::Result},
};
use std::path::PathBuf;

/// Take a list into the file: all of it or, when anything in it is wrong, nothing.
#[derive(clap::Args)]
#[command(
    arg_required_else_help = true,
    args_conflicts_with_subcommands = true,
    after_help = "\
Examples:
  gatepost import delegates attendees.xlsx --dry-run
  gatepost import --list
  gatepost import --resume 7
  gatepost import --undo 7
  gatepost import --join code:congress --of 7"
)]
pub struct Args {
    #[command(subcommand)]
    pub what: Option<Command>,
    /// Complete an import that was interrupted, from the same file.
    #[arg(long, value_name = "ID", conflicts_with_all = ["undo", "list"])]
    pub resume: Option<i64>,
    /// Take an import back: what it made is removed for good, what it changed is put back. What
    /// somebody changed or used since is left as it is; the exit code is 1 then.
    #[arg(long, value_name = "ID", conflicts_with = "list")]
    pub undo: Option<i64>,
    /// Join all delegates of a complete import with a device, such as an event that was made after it.
    #[arg(long, value_name = "DEVICE", value_parser = device, requires = "of", conflicts_with_all = ["resume", "undo", "list"])]
    pub join: Option<DeviceSelector>,
    /// With --join: the import.
    #[arg(long, value_name = "ID", requires = "join")]
    pub of: Option<i64>,
    /// Show the newest imports.
    #[arg(long)]
    pub list: bool,
    /// With --resume: where the file is now.
    #[arg(long, value_name = "FILE", requires = "resume")]
    pub file: Option<PathBuf>,
    /// With --resume: leave out rows that became bad meanwhile.
    #[arg(long, requires = "resume")]
    pub skip_bad: bool,
}

#[derive(clap::Subcommand)]
pub enum Command {
    /// Make a delegate of every row.
    ///
    /// The file is CSV (delimiter and encoding are recognised), XLSX, ODS, or JSON such as `export`
    /// writes. Lists of pretix, Eventbrite, ti.to, Hi.Events, Indico, Odoo and Eventyay are known as such. Headers such as "First name", "Nachname/Familienname", "E-mail (private)", "Société" or
    /// "Ticket code" are known; a column "Section.key" goes into that section of data, any other into
    /// data.Data under its header. What is doubtful is shown as a warning and keeps no row out: a column
    /// that resembles a property, a list without names or ticket codes, an e-mail address that no mail
    /// can be sent to.
    #[command(after_help = "\
Examples:
  gatepost import delegates attendees.csv --dry-run
  gatepost import delegates attendees.xlsx --sheet Gäste --map \"Order no.=externalId\" --map \"Notes=\" --join 1
  gatepost import delegates goście.csv --encoding windows-1250 --make-codes
  gatepost import delegates corrected.csv --key barcode")]
    Delegates(ListArgs),
    /// Make a device of every row: rooms, sessions, products; events as `export events` writes them.
    #[command(after_help = "\
Example:
  gatepost import devices sessions.csv --map \"Room=data.Data.room\"

parent is an id or a selector such as code:hall-a, of a device in the file or in the list.")]
    Devices(ListArgs),
    /// Make an interaction of every row: what happened elsewhere.
    ///
    /// It happened, so the rules of entry are not asked: every row is stored as admitted. Columns
    /// are interactionType, recordedAt, delegate and device (an id or a selector such as
    /// barcode:X) or "delegate barcode", "device code" and the like, and data as JSON.
    #[command(after_help = "\
Example:
  gatepost import interactions scans.csv --map \"When=recordedAt\" --device code:gate-b")]
    Interactions(ListArgs),
    /// Take over what another machine with the same file alone has, as `gatepost export changes` wrote it there.
    ///
    /// As often as you like: what is here already changes nothing. Check-ins are recorded whatever the rules say, with a
    /// conflict where they disagree. Of a record that both machines changed, this one's state stays.
    #[command(after_help = "Example:\n  gatepost import changes changes.ndjson --json")]
    Changes {
        #[arg(value_name = "FILE")]
        file: PathBuf,
    },
}

#[derive(clap::Args)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "switches that have nothing to do with each other"
)]
pub struct ListArgs {
    /// The file, with a header.
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// The property that a column holds, data.<section>.<key>, or nothing to skip it (may be repeated).
    #[arg(long = "map", value_name = "HEADER=PROPERTY", value_parser = Mapping::parse)]
    pub mappings: Vec<Mapping>,
    /// The sheet of a spreadsheet; the first without it.
    #[arg(long, value_name = "NAME")]
    pub sheet: Option<String>,
    /// The encoding of a CSV file, such as windows-1250, where another was recognised.
    #[arg(long, value_name = "NAME")]
    pub encoding: Option<String>,
    /// The line or row of the header, where titles stand above it and it is not found.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub header_row: Option<u64>,
    /// A value of rows that have none themselves, such as interactionType=check-in (may be repeated).
    #[arg(long, value_name = "PROPERTY=VALUE", value_parser = Constant::parse)]
    pub set: Vec<Constant>,
    /// The order of day, month and year in dates that can be read in several ways: dmy, mdy or ymd.
    #[arg(long, value_name = "ORDER", value_parser = Order::parse)]
    pub dates: Option<Order>,
    /// Numbers that a spreadsheet shows with zeros in front: as they are shown, or as they are stored.
    #[arg(long, value_name = "shown|stored", value_parser = Numbers::parse)]
    pub numbers: Option<Numbers>,
    /// Rows of a spreadsheet that a filter hides: import or drop.
    #[arg(long, value_name = "import|drop", value_parser = HiddenRows::parse)]
    pub hidden_rows: Option<HiddenRows>,
    /// Tickets that a column calls refunded, cancelled, void, deleted, unpaid or not attending: left out (drop), imported
    /// with their codes blocked (block), or imported as valid (keep; may be repeated).
    #[arg(long, value_name = "COLUMN=drop|block|keep", value_parser = StatusRule::parse)]
    pub status: Vec<StatusRule>,
    /// Give every delegate without a barcode one.
    #[arg(long)]
    pub make_codes: bool,
    /// A unique code such as barcode, or of delegates email or name+email: a row whose code is there already changes that
    /// record. Empty cells leave what it has.
    #[arg(long, value_name = "CODE")]
    pub key: Option<String>,
    /// Join every imported delegate with a device, such as an event, once: its id, code:X or
    /// externalId:X.
    #[arg(long, value_name = "DEVICE", value_parser = device)]
    pub join: Option<DeviceSelector>,
    /// The device that the import is made for, by which its records can be searched; also the
    /// device of interactions that name none.
    #[arg(long, value_name = "DEVICE", value_parser = device)]
    pub device: Option<DeviceSelector>,
    /// Tell what would be imported, and change nothing.
    #[arg(long)]
    pub dry_run: bool,
    /// Import the good rows even when others are bad.
    #[arg(long)]
    pub skip_bad: bool,
    /// Import a file that was imported before.
    #[arg(long)]
    pub again: bool,
}

/// Reads a device as an operator names it: an id, or a selector.
fn device(text: &str) -> Result<DeviceSelector> {
    if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
        return DeviceSelector::parse(&format!("id:{text}"));
    }
    DeviceSelector::parse(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_is_named_by_id_or_selector() {
        for (text, shown) in [
            ("17", "id:17"),
            ("id:17", "id:17"),
            ("code:hall", "code:hall"),
        ] {
            assert_eq!(device(text).unwrap().to_string(), shown);
        }
        for bad in ["", "hall", "1.5", "name:hall", "99999999999999999999"] {
            assert!(device(bad).is_err(), "{bad}");
        }
    }
}
