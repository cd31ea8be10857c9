//! A token request, checked as far as it can be without looking at the file.

use super::{
    parameters::{Parameters, form_decoded},
    refusal::{Cause, Refusal},
};
use oxide_auth::primitives::scope::Scope;

/// A token request. It holds secrets and is never shown.
pub struct TokenRequest {
    /// Who asks.
    pub client: ClientCredentials,
    /// What for.
    pub grant: Grant,
    /// The scopes it names.
    pub scope: Option<String>,
}

/// What a client signs in with.
pub struct ClientCredentials {
    /// The public `client_id`.
    pub client_id: String,
    /// Its secret.
    pub client_secret: String,
    /// Whether they came by HTTP Basic rather than in the body.
    pub basic: bool,
}

/// The grants there are.
pub enum Grant {
    /// `client_credentials`: a client on its own behalf.
    ClientCredentials,
    /// `password`: a user.
    Password {
        /// The user's e-mail address.
        username: String,
        /// The user's password.
        password: String,
        /// A code of the user's authenticator app, or a recovery code.
        totp: Option<String>,
    },
    /// `refresh_token`: the same user again.
    RefreshToken {
        /// The refresh token, good for one use.
        token: String,
    },
}

impl Grant {
    /// The `grant_type`.
    pub fn name(&self) -> &'static str {
        match self {
            Self::ClientCredentials => "client_credentials",
            Self::Password { .. } => "password",
            Self::RefreshToken { .. } => "refresh_token",
        }
    }
}

impl TokenRequest {
    /// Reads a request from its parameters and the two halves of its HTTP Basic credentials.
    ///
    /// # Errors
    /// `invalid_request`, naming what is missing; `unsupported_grant_type`; `invalid_client`;
    /// `invalid_scope` for what is no list of scopes.
    pub fn read(mut parameters: Parameters, basic: Option<(&str, &str)>) -> Result<Self, Refusal> {
        let grant_type = parameters.require("grant_type")?;
        let grant = match grant_type.as_str() {
            "client_credentials" => Grant::ClientCredentials,
            "password" => Grant::Password {
                username: parameters.require("username")?,
                password: parameters.require("password")?,
                totp: parameters.take("totp"),
            },
            "refresh_token" => Grant::RefreshToken {
                token: parameters.require("refresh_token")?,
            },
            _ => {
                return Err(Refusal::new(
                    Cause::UnsupportedGrantType,
                    "grant_type must be client_credentials, password or refresh_token",
                ));
            }
        };
        let scope = parameters.take("scope");
        if scope
            .as_ref()
            .is_some_and(|scope| scope.parse::<Scope>().is_err())
        {
            return Err(Refusal::new(
                Cause::InvalidScope,
                "scope must be names separated by spaces",
            ));
        }
        Ok(Self {
            client: ClientCredentials::read(&mut parameters, basic)?,
            grant,
            scope,
        })
    }
}

impl ClientCredentials {
    /// By HTTP Basic or in the body, not both (RFC 6749 section 2.3); a body may repeat the
    /// `client_id`.
    ///
    /// # Errors
    /// `invalid_client` without them or for ones that cannot be read; `invalid_request` for both.
    pub fn read(parameters: &mut Parameters, basic: Option<(&str, &str)>) -> Result<Self, Refusal> {
        let Some((client_id, client_secret)) = basic else {
            let mut sent = |name| {
                let missing = || {
                    Refusal::new(
                        Cause::InvalidClient { basic: false },
                        format!("{name} is missing"),
                    )
                };
                parameters.take(name).ok_or_else(missing)
            };
            return Ok(Self {
                client_id: sent("client_id")?,
                client_secret: sent("client_secret")?,
                basic: false,
            });
        };
        let decoded =
            |half: &str| form_decoded(half.as_bytes()).map_err(|_| Refusal::invalid_client(true));
        let client_id = decoded(client_id)?;
        let other_id = parameters.take("client_id");
        if parameters.take("client_secret").is_some() || other_id.is_some_and(|id| id != client_id)
        {
            return Err(Refusal::invalid_request(
                "client credentials must be sent by HTTP Basic or in the body, not both",
            ));
        }
        Ok(Self {
            client_id,
            client_secret: decoded(client_secret)?,
            basic: true,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(body: &str, basic: Option<(&str, &str)>) -> Result<TokenRequest, Refusal> {
        TokenRequest::read(Parameters::read(None, body.as_bytes())?, basic)
    }

    fn code(body: &str, basic: Option<(&str, &str)>) -> &'static str {
        read(body, basic).map_or_else(|refusal| refusal.code(), |_| "ok")
    }

    #[test]
    fn every_parameter_of_a_grant_is_required() {
        let client = "&client_id=c&client_secret=s";
        for (body, outcome) in [
            ("grant_type=client_credentials", "ok"),
            ("grant_type=password&username=u&password=p", "ok"),
            ("grant_type=refresh_token&refresh_token=r", "ok"),
            ("grant_type=", "invalid_request"),
            ("grant_type=password&username=u", "invalid_request"),
            ("grant_type=password&password=p", "invalid_request"),
            ("grant_type=refresh_token&refresh_token=", "invalid_request"),
            ("grant_type=authorization_code", "unsupported_grant_type"),
            ("grant_type=PASSWORD", "unsupported_grant_type"),
            ("grant_type=client_credentials&scope=%22", "invalid_scope"),
        ] {
            assert_eq!(code(&format!("{body}{client}"), None), outcome, "{body}");
        }
        let grant = "grant_type=client_credentials";
        for client in ["", "&client_id=c", "&client_id=c&client_secret="] {
            let outcome = code(&format!("{grant}{client}"), None);
            assert_eq!(outcome, "invalid_client", "{client}");
        }
    }

    #[test]
    fn basic_credentials_are_decoded_and_stand_alone() {
        let grant = "grant_type=client_credentials";
        let request = read(grant, Some(("a%3Ab", "s%2B+t"))).unwrap();
        assert_eq!(request.client.client_id, "a:b");
        assert_eq!(request.client.client_secret, "s+ t");
        assert!(request.client.basic);
        let both = |extra| code(&format!("{grant}&{extra}"), Some(("c", "s")));
        assert_eq!(both("client_id=c"), "ok");
        assert_eq!(both("client_id=d"), "invalid_request");
        assert_eq!(both("client_id=c&client_secret=s"), "invalid_request");
        assert_eq!(code(grant, Some(("c", "%ff"))), "invalid_client");
    }
}
