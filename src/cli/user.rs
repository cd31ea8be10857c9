//! `gatepost user`: people who sign in; and what it shares with `gatepost client`.

use super::{answer, print, print_json};
use crate::{
    core::{Context, settings},
    db::{Store, Tx},
    domain::delegates,
    identity::{
        ConsoleRole, Role, Roles,
        password::{self, Hashed},
        second_factor,
        users::{self, NewUser, User, UserChange},
    },
    types::{
        DelegateId, DelegateSelector, Patch, Zone,
        error::{Error, Result},
    },
};
use clap::{ArgGroup, Args, Subcommand};
use serde_json::{Value, json};
use std::{io::BufRead, sync::Arc};

/// The longest line that is read as a password, in bytes.
const PASSWORD_LINE_MAX: u64 = 8192;

/// People who sign in with an e-mail address
#[derive(Debug, Subcommand)]
#[command(after_help = "Example:\n  gatepost user list")]
pub enum UserCommand {
    /// Make a user
    #[command(after_help = roles_help() + "
Examples:
  gatepost user add ada@example.com --password-stdin --admin < password.txt
  gatepost user add bob@example.com --delegate barcode:AB12 --role device-read")]
    Add(AddUser),
    /// Show every user
    #[command(after_help = "Example:\n  gatepost user list --json")]
    List,
    /// Change a user; a new password ends the user's tokens and sessions
    #[command(after_help = roles_help() + "
Examples:
  gatepost user set ada@example.com --password-stdin < password.txt
  gatepost user set ada@example.com --console operator --no-delegate
  gatepost user set ada@example.com --no-second-factor")]
    Set(SetUser),
    /// Remove a user; the user's tokens end, what the user did stays
    #[command(after_help = "Example:\n  gatepost user remove ada@example.com")]
    Remove {
        /// The user's e-mail address
        email: String,
    },
}

/// The new user.
#[derive(Debug, Args)]
pub struct AddUser {
    /// The user's e-mail address
    email: String,
    /// Read the password, of at least 8 characters, from standard input
    ///
    /// With a role in the console it must be hard to guess, too.
    /// Without it the user has no password, and signs in by one-time passwords only.
    #[arg(long)]
    password_stdin: bool,
    /// Let the user administer the instance: the same as --console administrator
    #[arg(long, conflicts_with = "console")]
    admin: bool,
    /// Let the user into the console, as viewer, operator or administrator
    #[arg(long, value_name = "ROLE", value_parser = ConsoleRole::parse)]
    console: Option<ConsoleRole>,
    /// Give the user a role, such as delegate-read (may be repeated)
    #[arg(long = "role", value_name = "ROLE", value_parser = role)]
    roles: Vec<Role>,
    /// Tie the user to a delegate, such as barcode:AB12 or id:7
    #[arg(long, value_name = "SELECTOR", value_parser = DelegateSelector::parse)]
    delegate: Option<DelegateSelector>,
}

/// The changes to a user.
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
#[derive(Debug, Args)]
#[command(group = ArgGroup::new("change").required(true).multiple(true))]
pub struct SetUser {
    /// The user's e-mail address
    email: String,
    /// Read a new password, of at least 8 characters, from standard input; with a role in the console
    /// it must be hard to guess, too
    ///
    /// A user of an app who is let into the console needs a new password in the same step.
    #[arg(long, group = "change")]
    password_stdin: bool,
    /// Let the user administer the instance: the same as --console administrator
    #[arg(long, group = "change", conflicts_with_all = ["console", "no_console"])]
    admin: bool,
    /// Let the user into the console, as viewer, operator or administrator
    #[arg(long, value_name = "ROLE", value_parser = ConsoleRole::parse, group = "change", conflicts_with = "no_console")]
    console: Option<ConsoleRole>,
    /// Let the user into the console no more
    #[arg(long, group = "change")]
    no_console: bool,
    /// Give the user this role instead of those it has (may be repeated)
    #[arg(long = "role", value_name = "ROLE", value_parser = role, group = "change", conflicts_with = "no_roles")]
    roles: Vec<Role>,
    /// Take the user's roles away
    #[arg(long, group = "change")]
    no_roles: bool,
    /// Tie the user to a delegate, such as barcode:AB12 or id:7
    #[arg(long, value_name = "SELECTOR", value_parser = DelegateSelector::parse, group = "change", conflicts_with = "no_delegate")]
    delegate: Option<DelegateSelector>,
    /// Untie the user from the delegate
    #[arg(long, group = "change")]
    no_delegate: bool,
    /// Let the user sign in without a code, after a phone and its recovery codes are lost
    #[arg(long, group = "change")]
    no_second_factor: bool,
}

/// Runs a command.
pub fn run(command: UserCommand, store: &Store, json: bool) -> Result<()> {
    match command {
        UserCommand::Add(add) => {
            let email = add.email.clone();
            let console = asked(add.admin, add.console);
            let password = password_from_stdin(add.password_stdin, &email, console)?;
            changed_by_command(store, move |tx, ctx| {
                users::create(tx, ctx, &new_user(tx, add, password)?)
            })?;
            show_one(store, &email, json)
        }
        UserCommand::List => {
            let zone = zone(store)?;
            let users = store.look_up(users::list)?;
            if json {
                print_json(&users.iter().map(|user| listed(user, &zone)).collect())
            } else {
                users.iter().try_for_each(|user| print(&line(user)))
            }
        }
        UserCommand::Set(set) => {
            let email = set.email.clone();
            let user = store.look_up(|connection| users::find(connection, &email))?;
            let kept = user.console.filter(|_| !set.no_console);
            let console = asked(set.admin, set.console).or(kept);
            let password = password_from_stdin(set.password_stdin, &email, console)?;
            changed_by_command(store, move |tx, ctx| {
                users::change(tx, ctx, &set.email, &user_change(tx, &set, password)?)?;
                if set.no_second_factor {
                    let user = users::find(tx, &set.email)?;
                    second_factor::remove(tx, ctx, user.id)?;
                }
                Ok(())
            })?;
            show_one(store, &email, json)
        }
        UserCommand::Remove { email } => {
            let zone = zone(store)?;
            let removed = changed_by_command(store, move |tx, ctx| {
                let user = users::find(tx, &email)?;
                users::remove(tx, ctx, &email)?;
                Ok(user)
            })?;
            if json {
                print_json(&json!({"removed": listed(&removed, &zone)}))
            } else {
                Ok(())
            }
        }
    }
}

fn new_user(tx: &Tx<'_>, add: AddUser, password: Option<Hashed>) -> Result<NewUser> {
    Ok(NewUser {
        delegate: found(tx, add.delegate.as_ref())?,
        email: add.email,
        password,
        console: asked(add.admin, add.console),
        roles: add.roles.into_iter().collect(),
    })
}

fn user_change(tx: &Tx<'_>, set: &SetUser, password: Option<Hashed>) -> Result<UserChange> {
    let delegate = match found(tx, set.delegate.as_ref())? {
        Some(delegate) => Patch::Value(delegate),
        None if set.no_delegate => Patch::Null,
        None => Patch::Absent,
    };
    let console = match asked(set.admin, set.console) {
        Some(console) => Patch::Value(console),
        None if set.no_console => Patch::Null,
        None => Patch::Absent,
    };
    let roles: Roles = set.roles.iter().copied().collect();
    Ok(UserChange {
        password,
        console,
        roles: (set.no_roles || !set.roles.is_empty()).then_some(roles),
        delegate,
        ..UserChange::default()
    })
}

fn asked(admin: bool, console: Option<ConsoleRole>) -> Option<ConsoleRole> {
    console.or(admin.then_some(ConsoleRole::Administrator))
}

fn found(tx: &Tx<'_>, selector: Option<&DelegateSelector>) -> Result<Option<DelegateId>> {
    selector
        .map(|selector| delegates::find(tx, selector))
        .transpose()
}

/// The first line of standard input, without its end, hashed. Whoever has a role in the console needs
/// a password that is hard to guess.
fn password_from_stdin(
    wanted: bool,
    email: &str,
    console: Option<ConsoleRole>,
) -> Result<Option<Hashed>> {
    if !wanted {
        return Ok(None);
    }
    let line = first_line(std::io::stdin().lock())?;
    let hashed = match console {
        Some(_) => password::hash_strong(&line, email),
        None => password::hash(&line),
    };
    hashed.map(Some)
}

/// The first line of an input, without its end.
pub(super) fn first_line(input: impl BufRead) -> Result<String> {
    let mut line = String::new();
    input
        .take(PASSWORD_LINE_MAX)
        .read_line(&mut line)
        .map_err(|cause| Error::field("password", format!("standard input: {cause}")))?;
    let length = line.trim_end_matches(['\r', '\n']).len();
    line.truncate(length);
    Ok(line)
}

fn show_one(store: &Store, email: &str, json: bool) -> Result<()> {
    let zone = zone(store)?;
    let user = store.look_up(|connection| users::find(connection, email))?;
    answer(json, &listed(&user, &zone), &line(&user))
}

fn listed(user: &User, zone: &Zone) -> Value {
    let mut shown = users::shown(user);
    shown["createdAt"] = json!(zone.iso(user.created_at));
    shown["updatedAt"] = json!(zone.iso(user.updated_at));
    shown
}

fn line(user: &User) -> String {
    let mut words = vec![user.email.clone()];
    words.extend(user.console.map(|console| console.name().to_owned()));
    if !user.has_password {
        words.push("no-password".into());
    }
    words.extend(user.roles.iter().map(|role| role.name().to_owned()));
    words.extend(user.delegate.map(|delegate| format!("delegate:{delegate}")));
    words.join("  ")
}

/// Reads a role, in full or in short.
///
/// # Errors
/// [`crate::types::error::Kind::Invalid`], with the roles that exist.
pub(super) fn role(text: &str) -> Result<Role> {
    let in_full = format!(
        "ROLE_OAUTH2_{}",
        text.to_ascii_uppercase().replace('-', "_")
    );
    Role::parse(&in_full)
        .or_else(|_| Role::parse(text))
        .map_err(|_| {
            let known: Vec<_> = Role::ALL.iter().map(|role| in_short(*role)).collect();
            Error::invalid(format!(
                "\"{text}\" is not one of {}; nor is it one in full, such as {}",
                known.join(", "),
                Role::DelegateRead.name()
            ))
        })
}

fn in_short(role: Role) -> String {
    let short = role.name().trim_start_matches("ROLE_OAUTH2_");
    short.to_ascii_lowercase().replace('_', "-")
}

/// Every role in short, for the help of commands that give some.
pub(super) fn roles_help() -> String {
    let mut help =
        "Roles, in short or in full (delegate-read, ROLE_OAUTH2_DELEGATE_READ):\n".to_owned();
    for line in Role::ALL.chunks(4) {
        let names = line.iter().map(|role| format!("  {:<17}", in_short(*role)));
        help += names.collect::<String>().trim_end();
        help.push('\n');
    }
    help
}

/// Writes as a command on the command line.
pub(super) fn changed_by_command<T: Send + 'static>(
    store: &Store,
    work: impl FnOnce(&Tx<'_>, &Context) -> Result<T> + Send + 'static,
) -> Result<T> {
    store
        .write(move |tx| {
            let settings = Arc::new(settings::load(tx)?);
            work(tx, &Context::of_command("admin", settings))
        })
        .wait()
}

/// The instance's time zone.
pub(super) fn zone(store: &Store) -> Result<Zone> {
    Ok(store.look_up(settings::load)?.zone)
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Debug, Parser)]
    struct Line {
        #[command(subcommand)]
        command: UserCommand,
    }

    fn parsed(arguments: &str) -> Result<UserCommand, clap::Error> {
        Line::try_parse_from(arguments.split_whitespace()).map(|line| line.command)
    }

    #[test]
    fn a_password_is_the_first_line_without_its_end() {
        for (input, password) in [
            ("correct horse\n", "correct horse"),
            ("correct horse\r\nmore\n", "correct horse"),
            (" spaces count ", " spaces count "),
            ("", ""),
        ] {
            assert_eq!(first_line(input.as_bytes()).unwrap(), password);
        }
        assert!(first_line(&b"\xff\xfe\n"[..]).is_err());
    }

    #[test]
    fn roles_are_known_in_short_and_in_full() {
        for text in [
            "delegate-read",
            "DELEGATE_READ",
            "ROLE_OAUTH2_DELEGATE_READ",
        ] {
            assert_eq!(role(text).unwrap(), Role::DelegateRead);
        }
        let refused = role("delegate").unwrap_err().to_string();
        assert!(
            refused.starts_with("\"delegate\" is not one of delegate-read, "),
            "{refused}"
        );
    }

    #[test]
    fn a_change_changes_something_and_nothing_both_ways() {
        assert!(parsed("user set a@b.example --admin --no-roles").is_ok());
        for arguments in [
            "user set a@b.example",
            "user set a@b.example --admin --no-console",
            "user set a@b.example --console boss",
            "user set a@b.example --role own-read --no-roles",
            "user set a@b.example --delegate id:7 --no-delegate",
            "user add a@b.example --delegate 7",
            "user add a@b.example --password secret",
        ] {
            assert!(parsed(arguments).is_err(), "{arguments}");
        }
    }
}
