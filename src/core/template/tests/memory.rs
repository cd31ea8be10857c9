//! Bounds of the memory that a mistake takes: measured in a process of its own, whose peak the system tells.

use super::{Format, hostile::categories, rendered};
use std::process::Command;

const MOST_KIB: u64 = 64 * 1024;

const MISTAKES: &[&str] = &[
    "{{ 'x' * 10 ** 9 }}",
    "{{ 90000000 * 'x' }}",
    "{% set x = delegate.firstName * 10 ** 7 %}{{ x }}",
    "{% for a in range(100000) %}{% for b in range(100000) %}{{ a }}{{ b }}{% endfor %}{% endfor %}",
    "{% set x %}{% for a in range(100000) %}<tr class=\"a-row-of-a-table\"></tr>{% endfor %}{% endset %}",
    "{{ range(100000)|join(delegate.lastName|center(99999999)) }}",
    "{{ range(100000)|list|join('a long text between each of them and the next') }}",
    "{{ '%99999999s'|format(delegate.firstName) }}",
    "{% set n = namespace(x='') %}{% for a in range(9999) %}{% set n.x = n.x ~ delegate %}{% endfor %}",
];

/// Each doubles a variable, forty times in a line or in a loop.
const DOUBLING: &[&str] = &[
    "{% set @ = @ ~ @ %}",
    "{% set @ = @ + @ %}",
    "{% set @ = @ * 2 %}",
    "{% set @ = [@, @] %}",
    "{% set @ = [@, @]|join %}",
    "{% set @ = @|replace('a', @) %}",
    "{% set @ = '%s%s'|format(@, @) %}",
    "{% set x %}{{ @ }}{{ @ }}{% endset %}{% set @ = x %}",
    "{% set x %}{{ @ ~ @ }}{% endset %}{% set @ = x %}",
];

fn mistakes() -> Vec<String> {
    let doubling = DOUBLING.iter().flat_map(|step| {
        let (in_line, in_loop) = (step.replace('@', "x"), step.replace('@', "n.x"));
        [
            format!("{{% set x = 'aaaaaaaa' %}}{}{{{{ x }}}}", in_line.repeat(40)),
            format!(
                "{{% set n = namespace(x='aaaaaaaa') %}}{{% for i in range(40) %}}{in_loop}{{% endfor %}}{{{{ n.x }}}}"
            ),
        ]
    });
    let hostile = categories().into_iter().flat_map(|all| all.attempts);
    let mistakes = MISTAKES.iter().map(ToString::to_string);
    mistakes.chain(doubling).chain(hostile).collect()
}

fn peak_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))
        .unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

/// Measures what an ignored test of this file adds to the peak of a process that runs nothing else.
fn growth_kib(test: &str) -> u64 {
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--ignored", "--exact", "--nocapture"])
        .arg(format!("core::template::tests::memory::{test}"))
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    let grown = told.split("grown by ").nth(1);
    let grown = grown.and_then(|told| told.split(' ').next()?.parse().ok());
    grown.unwrap_or_else(|| panic!("{told}{}", String::from_utf8_lossy(&output.stderr)))
}

#[test]
fn no_mistake_takes_more_than_64_mib() {
    let grown = growth_kib("all_mistakes");
    println!("{grown} KiB");
    assert!(grown < MOST_KIB, "{grown} KiB");
    // The control: memory that is taken shows in the figure.
    let taken = growth_kib("ninety_megabytes");
    assert!(taken > MOST_KIB, "{taken} KiB");
}

#[test]
#[ignore = "a part of no_mistake_takes_more_than_64_mib"]
fn all_mistakes() {
    let before = peak_kib();
    for mistake in mistakes() {
        let _ = rendered(&mistake, Format::Html);
    }
    println!("grown by {} KiB", peak_kib() - before);
}

#[test]
#[ignore = "a part of no_mistake_takes_more_than_64_mib"]
fn ninety_megabytes() {
    let before = peak_kib();
    std::hint::black_box("x".repeat(90_000_000));
    println!("grown by {} KiB", peak_kib() - before);
}
