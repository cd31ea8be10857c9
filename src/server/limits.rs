//! What a connection may take of the server: how many there may be, and how long each may keep it
//! waiting. Chosen for a venue's laptop on a Wi-Fi that anybody may join.

use std::{fmt, net::IpAddr, num::ParseIntError, str::FromStr, time::Duration};

/// Files that the process keeps for itself when it counts how many connections it can have: the
/// database many times over, its log, the listener, and what the system opens beside.
const FILES_KEPT: u64 = 96;
/// However few files there may be, so many connections are tried.
const CONNECTIONS_MIN: u32 = 16;

/// A duration in whole seconds, as the command line takes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Seconds(pub u32);

impl Seconds {
    /// The duration.
    #[must_use]
    pub fn duration(self) -> Duration {
        Duration::from_secs(self.0.into())
    }
}

impl fmt::Display for Seconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for Seconds {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let seconds = text
            .parse()
            .map_err(|cause: ParseIntError| cause.to_string())?;
        if (1..=86_400).contains(&seconds) {
            Ok(Self(seconds))
        } else {
            Err("must be 1 to 86400 seconds".into())
        }
    }
}

/// Limits of connections.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Limits")]
pub struct Limits {
    /// Connections in all; where there are as many, the one idle for longest makes room, and when
    /// none is idle a new one waits.
    #[arg(long, value_name = "N", default_value_t = Limits::DEFAULT.max_connections,
          value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub max_connections: u32,
    /// Connections from one address (an IPv6 /64 counts as one). A whole venue may stand behind
    /// one; loopback and trusted proxies have no such limit.
    #[arg(long, value_name = "N", default_value_t = Limits::DEFAULT.max_connections_per_address,
          value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub max_connections_per_address: u32,
    /// A request's head, or a TLS handshake, must be there after so long.
    #[arg(long, value_name = "SECONDS", default_value_t = Limits::DEFAULT.header_time)]
    pub header_time: Seconds,
    /// A request's body must be there after so long, and a second more for every 64 KiB of it.
    #[arg(long, value_name = "SECONDS", default_value_t = Limits::DEFAULT.body_time)]
    pub body_time: Seconds,
    /// A connection is kept open between two requests for so long.
    #[arg(long, value_name = "SECONDS", default_value_t = Limits::DEFAULT.idle_time)]
    pub idle_time: Seconds,
    /// A client that takes nothing of its answer for so long is cut off.
    #[arg(long, value_name = "SECONDS", default_value_t = Limits::DEFAULT.send_time)]
    pub send_time: Seconds,
    /// A stop waits so long for the requests that were accepted.
    #[arg(long, value_name = "SECONDS", default_value_t = Limits::DEFAULT.stop_time)]
    pub stop_time: Seconds,
    /// A reverse proxy in front (may be repeated). Only from these `X-Forwarded-For` counts: the
    /// rightmost address in it that is not theirs is the client's.
    #[arg(
        long = "trusted-proxy",
        value_name = "ADDRESS",
        help_heading = "Options"
    )]
    pub trusted_proxies: Vec<IpAddr>,
}

impl Limits {
    const DEFAULT: Self = Self {
        max_connections: 8192,
        max_connections_per_address: 1024,
        header_time: Seconds(10),
        body_time: Seconds(30),
        idle_time: Seconds(75),
        send_time: Seconds(60),
        stop_time: Seconds(10),
        trusted_proxies: Vec::new(),
    };

    /// Lowers the number of connections to what a process with so many files can have.
    pub fn fit_into(&mut self, files: u64) {
        let room = u32::try_from(files.saturating_sub(FILES_KEPT)).unwrap_or(u32::MAX);
        self.max_connections = self.max_connections.min(room.max(CONNECTIONS_MIN));
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self::DEFAULT
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_files_mean_few_connections() {
        let fitted = |files| {
            let mut limits = Limits::default();
            limits.fit_into(files);
            limits.max_connections
        };
        assert_eq!(fitted(1_048_576), 8192);
        assert_eq!(fitted(1024), 928);
        assert_eq!(fitted(0), 16);
    }

    #[test]
    fn seconds_are_bounded() {
        assert_eq!("10".parse(), Ok(Seconds(10)));
        for wrong in ["0", "-1", "1.5", "86401", ""] {
            assert!(wrong.parse::<Seconds>().is_err(), "{wrong}");
        }
    }
}
