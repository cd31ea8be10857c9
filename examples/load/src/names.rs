//! Finding attendees by what people type, among a hundred thousand others: how often the first hit is the right one,
//! how long it takes, and what the index costs an import.

use crate::{
    Result,
    histogram::Histogram,
    output::{machine, print},
    pairs::scrambled,
    prepare,
};
use gatepost::{
    db::{Durability, Store},
    domain::delegates::{People, people},
    types::text::bytes,
};
use std::{
    fmt::Write,
    path::{Path, PathBuf},
    process::Command,
    time::{Duration, Instant},
};

#[derive(clap::Args, Clone)]
pub struct Options {
    /// Directory for files
    #[arg(long, default_value = "target/load")]
    dir: PathBuf,
    /// The program that imports them
    #[arg(long, default_value = "target/release/gatepost")]
    binary: PathBuf,
    /// Attendees beside those of the list
    #[arg(long, default_value_t = 100_000)]
    others: u64,
    /// How often each line is looked for
    #[arg(long, default_value_t = 20)]
    rounds: u32,
    /// Import only, as for an earlier version of the program
    #[arg(long)]
    import_only: bool,
}

const PEOPLE: &str = include_str!("../../../tests/gate/names.csv");
const TYPED: &str = include_str!("../../../tests/gate/names.tsv");
/// Lines that a person types on the way, and that find nobody.
const OTHERS: [&str; 8] = [
    "ma", "an", "ann", "berg", "anna ber", "xqzw", "example", "79460",
];

/// Measures and prints everything.
pub fn search(options: &Options) -> Result<()> {
    std::fs::create_dir_all(&options.dir)?;
    let (list, db) = (options.dir.join("names.csv"), options.dir.join("names.db"));
    prepare::remove(&db)?;
    std::fs::write(&list, crowd(options.others)?)?;
    print(machine())?;
    let begun = Instant::now();
    let imported = Command::new(&options.binary)
        .args(["import", "delegates"])
        .arg(&list)
        .arg("--db")
        .arg(&db)
        .output()?;
    if !imported.status.success() {
        return Err(String::from_utf8_lossy(&imported.stderr)
            .into_owned()
            .into());
    }
    print(format!(
        "import of {} attendees: {:.1} s, file {}",
        options.others + 50,
        begun.elapsed().as_secs_f64(),
        bytes(std::fs::metadata(&db)?.len())
    ))?;
    if options.import_only {
        return Ok(());
    }
    look(&db, options.rounds)
}

fn look(db: &Path, rounds: u32) -> Result<()> {
    let store = Store::open_existing(db, Durability::Full)?;
    let typed: Vec<(&str, &str)> = TYPED
        .lines()
        .skip(1)
        .filter_map(|line| line.split_once('\t'))
        .collect();
    let mut took = Histogram::default();
    let mut slowest = Vec::new();
    let mut right = 0;
    for (text, code) in typed.iter().copied().chain(OTHERS.map(|text| (text, ""))) {
        let mut worst = Duration::ZERO;
        for round in 0..rounds {
            let begun = Instant::now();
            let first: Option<String> = store.look_up(|connection| {
                let found = people::find(connection, &People::new(text), 20)?;
                let first = found.ids.first().map(|id| {
                    let sql = "SELECT barcode FROM delegates WHERE id = ?1";
                    connection.query_row(sql, [id], |row| row.get(0))
                });
                Ok(first.transpose()?)
            })?;
            let each = begun.elapsed();
            took.record(each);
            worst = worst.max(each);
            if round == 0 && first.as_deref() == Some(code) {
                right += 1;
            } else if round == 0 && !code.is_empty() {
                print(format!("{text}: {first:?}, not {code}"))?;
            }
        }
        slowest.push((worst, text));
    }
    slowest.sort_unstable();
    let slowest: Vec<String> = slowest
        .iter()
        .rev()
        .take(5)
        .map(|(took, text)| format!("{text} {took:.1?}"))
        .collect();
    print(format!(
        "first hit right for {right} of {}; p50 {:.1?}, p95 {:.1?}, longest {:.1?} ({})",
        typed.len(),
        took.quantile(500),
        took.quantile(950),
        took.max(),
        slowest.join(", ")
    ))
}

/// The list, with so many others before its people: names of syllables, as rare and as common as real ones.
fn crowd(others: u64) -> Result<String> {
    const FIRST: [&str; 40] = [
        "Anna",
        "Maria",
        "Michael",
        "Peter",
        "Thomas",
        "Sarah",
        "Laura",
        "Julia",
        "David",
        "Daniel",
        "Martin",
        "Andrea",
        "Sandra",
        "Stefanie",
        "Christian",
        "Markus",
        "Nicole",
        "Sabine",
        "Jan",
        "Lena",
        "Paul",
        "Emma",
        "Oliver",
        "Lucas",
        "Marie",
        "Camille",
        "Hugo",
        "Jose",
        "Carmen",
        "Pablo",
        "Giulia",
        "Marco",
        "Piotr",
        "Agnieszka",
        "Olga",
        "Ivan",
        "Yusuf",
        "Fatima",
        "Wei",
        "Priya",
    ];
    const START: [&str; 24] = [
        "Ber", "Hol", "Kra", "Lin", "Mar", "Nor", "Pet", "Ros", "Sal", "Tor", "Vor", "Wal", "Bran",
        "Dor", "Fel", "Gar", "Hen", "Kel", "Lam", "Mor", "Ram", "Stein", "Tal", "Win",
    ];
    const MIDDLE: [&str; 12] = [
        "", "en", "in", "o", "a", "er", "ing", "ow", "el", "i", "an", "ten",
    ];
    const END: [&str; 16] = [
        "berg", "mann", "sen", "ski", "ova", "ini", "son", "feld", "ard", "ez", "dottir", "auer",
        "stein", "ton", "ley", "off",
    ];
    let pick = |from: &[&'static str], dice: u64| {
        from[usize::try_from(dice % from.len() as u64).unwrap_or_default()]
    };
    let (header, people) = PEOPLE.split_once('\n').ok_or("an empty list")?;
    let mut list = format!("{header}\n");
    for number in 0..others {
        let dice = scrambled(number);
        let first = pick(&FIRST, dice);
        let last = format!(
            "{}{}{}",
            pick(&START, dice >> 8),
            pick(&MIDDLE, dice >> 16),
            pick(&END, dice >> 24)
        );
        let company = format!(
            "{}{} {}",
            pick(&START, dice >> 32),
            pick(&END, dice >> 40),
            pick(&["GmbH", "Ltd", "AG", "Labs"], dice >> 48)
        );
        writeln!(
            list,
            "{first},{last},{company},guest{number}@example.org,+44 20 7946 {number:06},T{number:06}"
        )?;
    }
    list.push_str(people);
    Ok(list)
}
