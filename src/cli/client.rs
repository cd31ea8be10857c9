//! `gatepost client`: the apps and gates that may use the API.

use super::{
    answer, print, print_json,
    user::{changed_by_command, role, zone},
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
use clap::{Args, Subcommand};
use serde_json::{Value, json};

/// Apps and gates that may use the API
#[derive(Debug, Subcommand)]
#[command(after_help = "Example:\n  gatepost client add \"Gate B\" --gate")]
pub enum ClientCommand {
    /// Make a client and show its secret, once
    #[command(after_help = "\
Roles, in short or in full (delegate-read, ROLE_OAUTH2_DELEGATE_READ):
  delegate-read     delegate-write     device-read  device-write
  interaction-read  interaction-write  event-read   event-write
  tx-write          comm-send          own-read

Examples:
  gatepost client add \"Gate B\" --gate --device 17
  gatepost client add Badges --role delegate-read --visible firstName --visible lastName --json")]
    Add(AddClient),
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

/// What a new client is to be.
#[derive(Debug, Args)]
pub struct AddClient {
    /// What people call it, such as "Gate B"
    name: String,
    /// Give it the roles of a gate app: interaction-write, delegate-read and device-read
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
    #[arg(long = "visible", value_name = "PROPERTY")]
    visible: Vec<String>,
}

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
        ];
        assert_eq!(roles, expected);
        assert_eq!(new.scopes, [Scope::ReportRead]);
        assert_eq!(new.device, Some(DeviceId(7)));
        assert_eq!(new.visible_properties, Some(vec!["barcode".to_owned()]));
        assert_eq!(added("client add Gate").unwrap().visible_properties, None);
    }

    #[test]
    fn an_unknown_role_or_scope_is_refused_with_those_that_exist() {
        let refused = |arguments| added(arguments).unwrap_err().to_string();
        assert!(refused("client add A --role admin").contains("ROLE_OAUTH2_OWN_READ"));
        assert!(refused("client add A --scope report_read").contains("TRUSTED"));
    }
}
