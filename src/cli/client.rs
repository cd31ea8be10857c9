//! `gatepost client`: the apps and gates that may use the API.

use super::{
    answer, print, print_json,
    user::{changed_by_command, role, roles_help, zone},
};
use crate::{
    db::Store,
    domain::{apps::configuration, delegates},
    identity::{
        Role, Roles, Scope,
        clients::{self, Client, Credentials, NewClient},
    },
    types::{DeviceId, Zone, error::Result},
};
use clap::{ArgGroup, Args, Subcommand};
use serde_json::{Value, json};

/// Apps and gates that may use the API
#[derive(Debug, Subcommand)]
#[command(after_help = "Example:\n  gatepost client add \"Gate B\" --gate")]
pub enum ClientCommand {
    /// Make a client and show its secret, once
    #[command(after_help = roles_help() + "
The role gate alone is for gate apps of Gatepost: what they do at their places, and nothing else.

Examples:
  gatepost client add \"Gate B\" --gate --device 17
  gatepost client add Badges --role delegate-read --visible firstName --visible lastName --json")]
    Add(AddClient),
    /// Change what a client may do; running apps follow within a second, open streams included
    #[command(after_help = roles_help() + "
Examples:
  gatepost client change gate-b-5f3a9c21 --role device-read --no-role delegate-write
  gatepost client change badges-77e01b42 --visible firstName,lastName
  gatepost client change badges-77e01b42 --visible all")]
    Change(ChangeClient),
    /// Show every client, the revoked ones included
    #[command(after_help = "Example:\n  gatepost client list --json")]
    List,
    /// Revoke a client: it signs in no more, and its tokens end
    #[command(after_help = "Example:\n  gatepost client revoke gate-b-5f3a9c21")]
    Revoke {
        /// The client's id, as `client list` shows it
        client_id: String,
    },
    /// Give a client a new secret and show it, once
    ///
    /// The old secret is worth nothing from then on. Access tokens last until they expire; to end
    /// them too, revoke the client.
    #[command(after_help = "Example:\n  gatepost client rotate gate-b-5f3a9c21 --json")]
    Rotate {
        /// The client's id, as `client list` shows it
        client_id: String,
    },
}

/// The new client.
#[derive(Debug, Args)]
pub struct AddClient {
    /// The name that people give it, such as "Gate B"
    name: String,
    /// Give it the roles of a gate app: gate, interaction-write, delegate-read and device-read
    #[arg(long)]
    gate: bool,
    /// Give it a role, such as delegate-read (may be repeated)
    #[arg(long = "role", value_name = "ROLE", value_parser = role)]
    roles: Vec<Role>,
    #[arg(long = "scope", value_name = "SCOPE", value_parser = Scope::parse,
        help = "Grant it a scope: REPORT_READ, REPORT_LIST or TRUSTED (may be repeated)")]
    scopes: Vec<Scope>,
    /// Bind it to the device of this id
    #[arg(long, value_name = "ID")]
    device: Option<i64>,
    /// Show it this delegate property and no others but those named (may be repeated)
    #[arg(long = "visible", value_name = "PROPERTY", value_delimiter = ',')]
    visible: Vec<String>,
}

/// The changes to make to a client.
#[derive(Debug, Args)]
#[command(group = ArgGroup::new("change").required(true).multiple(true))]
pub struct ChangeClient {
    /// The client's id, as `client list` shows it
    client_id: String,
    /// Give it a role, such as delegate-read (may be repeated)
    #[arg(long = "role", value_name = "ROLE", value_parser = role, group = "change")]
    roles: Vec<Role>,
    /// Take a role away (may be repeated)
    #[arg(long = "no-role", value_name = "ROLE", value_parser = role, group = "change")]
    no_roles: Vec<Role>,
    /// Show it these delegate properties and no others; "all" shows it all again
    #[arg(
        long,
        value_name = "PROPERTIES",
        value_delimiter = ',',
        group = "change"
    )]
    visible: Option<Vec<String>>,
}

impl ChangeClient {
    /// The client with these changes.
    fn applied_to(self, client: Client) -> NewClient {
        let kept = client.roles.iter().chain(self.roles);
        NewClient {
            name: client.name,
            roles: kept.filter(|role| !self.no_roles.contains(role)).collect(),
            scopes: client.scopes,
            device: client.device,
            visible_properties: match self.visible {
                None => client.visible_properties,
                Some(names) => (names != [ALL]).then_some(names),
            },
        }
    }
}

/// Every property of delegates.
const ALL: &str = "all";

impl From<AddClient> for NewClient {
    fn from(add: AddClient) -> Self {
        let preset = if add.gate {
            Roles::gate()
        } else {
            Roles::default()
        };
        Self {
            name: add.name,
            roles: preset.iter().chain(add.roles).collect(),
            scopes: add.scopes,
            device: add.device.map(DeviceId),
            visible_properties: (!add.visible.is_empty()).then_some(add.visible),
        }
    }
}

/// Runs a command.
pub fn run(command: ClientCommand, store: &Store, json: bool) -> Result<()> {
    match command {
        ClientCommand::Add(add) => {
            let new = NewClient::from(add);
            let made = changed_by_command(store, move |tx, ctx| {
                clients::create(tx, ctx, &new, &delegates::property_names())
            })?;
            show_credentials(&made, json)
        }
        ClientCommand::Change(change) => {
            let changed = changed_by_command(store, move |tx, ctx| {
                let client = clients::find(tx, &change.client_id)?;
                let (id, new) = (client.id, change.applied_to(client));
                clients::change(tx, ctx, id, &new, &delegates::property_names())?;
                clients::get(tx, id)
            })?;
            let zone = zone(store)?;
            answer(json, &listed(&changed, &zone), &line(&changed, &zone))
        }
        ClientCommand::List => {
            let zone = zone(store)?;
            let clients = store.look_up(clients::list)?;
            if json {
                print_json(&clients.iter().map(|client| listed(client, &zone)).collect())
            } else {
                clients
                    .iter()
                    .try_for_each(|client| print(&line(client, &zone)))
            }
        }
        ClientCommand::Revoke { client_id } => {
            let about_pin = changed_by_command(store, move |tx, ctx| {
                let client = clients::find(tx, &client_id)?;
                configuration::revoke_client(tx, ctx, &client)
            })?;
            match about_pin.trim_start() {
                about_pin if !about_pin.is_empty() && !json => print(about_pin),
                _ => Ok(()),
            }
        }
        ClientCommand::Rotate { client_id } => {
            let rotated = changed_by_command(store, move |tx, ctx| {
                clients::rotate_secret(tx, ctx, &client_id)
            })?;
            show_credentials(&rotated, json)
        }
    }
}

fn show_credentials(credentials: &Credentials, json: bool) -> Result<()> {
    let (id, secret) = (&credentials.client_id, &credentials.client_secret);
    let value = json!({"clientId": id, "clientSecret": secret});
    let text =
        format!("client id      {id}\nclient secret  {secret}\n\nThe secret is not shown again.");
    answer(json, &value, &text)
}

fn listed(client: &Client, zone: &Zone) -> Value {
    let mut shown = clients::shown(client);
    shown["createdAt"] = json!(zone.iso(client.created_at));
    shown["revokedAt"] = json!(client.revoked_at.map(|at| zone.iso(at)));
    shown
}

fn line(client: &Client, zone: &Zone) -> String {
    let roles = client.roles.iter().map(Role::name);
    let scopes = client.scopes.iter().map(|scope| scope.name());
    let granted: Vec<_> = roles.chain(scopes).collect();
    let device = client.device.map(|device| format!("  device {device}"));
    let revoked = client
        .revoked_at
        .map(|at| format!("  revoked {}", zone.plain(at)));
    format!(
        "{}  \"{}\"  {}{}{}",
        client.client_id,
        client.name,
        granted.join(" "),
        device.unwrap_or_default(),
        revoked.unwrap_or_default()
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::{ClientId, Timestamp};
    use clap::Parser;

    #[derive(Debug, Parser)]
    struct Line {
        #[command(subcommand)]
        command: ClientCommand,
    }

    fn added(arguments: &str) -> Result<NewClient, clap::Error> {
        let line = Line::try_parse_from(arguments.split_whitespace())?;
        match line.command {
            ClientCommand::Add(add) => Ok(add.into()),
            other => unreachable!("{other:?}"),
        }
    }

    #[test]
    fn a_client_is_described_by_its_arguments() {
        let new = added(
            "client add Gate --gate --role own-read --role ROLE_OAUTH2_TX_WRITE --scope REPORT_READ --device 7 --visible barcode",
        )
        .unwrap();
        let roles: Vec<_> = new.roles.iter().collect();
        let expected = [
            Role::DelegateRead,
            Role::DeviceRead,
            Role::InteractionWrite,
            Role::TxWrite,
            Role::OwnRead,
            Role::Gate,
        ];
        assert_eq!(roles, expected);
        assert_eq!(new.scopes, [Scope::ReportRead]);
        assert_eq!(new.device, Some(DeviceId(7)));
        assert_eq!(new.visible_properties, Some(vec!["barcode".to_owned()]));
        assert_eq!(added("client add Gate").unwrap().visible_properties, None);
    }

    fn changed(arguments: &str) -> Result<(Vec<Role>, Option<Vec<String>>), clap::Error> {
        let line = Line::try_parse_from(arguments.split_whitespace())?;
        let ClientCommand::Change(change) = line.command else {
            unreachable!("{line:?}")
        };
        let client = Client {
            id: ClientId(1),
            client_id: "badges".to_owned(),
            name: "Badges".to_owned(),
            roles: [Role::DelegateRead, Role::TxWrite].into_iter().collect(),
            scopes: vec![Scope::ReportRead],
            device: Some(DeviceId(7)),
            visible_properties: Some(vec!["barcode".to_owned()]),
            created_at: Timestamp(0),
            revoked_at: None,
        };
        let new = change.applied_to(client);
        assert_eq!((&*new.name, new.device), ("Badges", Some(DeviceId(7))));
        assert_eq!(new.scopes, [Scope::ReportRead]);
        Ok((new.roles.iter().collect(), new.visible_properties))
    }

    #[test]
    fn what_is_not_named_stays() {
        let names = |names: &[&str]| Some(names.iter().map(ToString::to_string).collect());
        assert_eq!(
            changed("client change badges --role device-read --no-role ROLE_OAUTH2_TX_WRITE")
                .unwrap(),
            (
                vec![Role::DelegateRead, Role::DeviceRead],
                names(&["barcode"])
            )
        );
        let kept = vec![Role::DelegateRead, Role::TxWrite];
        for (visible, expected) in [
            ("firstName,email", names(&["firstName", "email"])),
            ("all", None),
        ] {
            let given = changed(&format!("client change badges --visible {visible}"));
            assert_eq!(given.unwrap(), (kept.clone(), expected));
        }
        assert!(changed("client change badges").is_err());
    }

    #[test]
    fn an_unknown_role_or_scope_is_refused_with_those_that_exist() {
        let refused = |arguments| added(arguments).unwrap_err().to_string();
        assert!(refused("client add A --role admin").contains("own-read"));
        assert!(refused("client add A --scope report_read").contains("TRUSTED"));
    }
}
