//! Parameters of operations: request headers (`Idempotency-Key`, `If-Match`), query parameters, and query
//! strings with any names. poem's own extractor ignores headers that are not ASCII and the second of two;
//! here both are errors.

use super::schema::{inline, plain, text};
use crate::{
    core::records::{Resource, write},
    types::{
        Timestamp,
        error::{Error, Kind, Result},
    },
};
use poem::{Request, RequestBody};
use poem_openapi::{
    ApiExtractor, ApiExtractorType, ExtractParamOptions,
    error::ParseParamError,
    registry::{MetaOperationParam, MetaParamIn, MetaSchema, MetaSchemaRef, Registry},
    types::ParseFromParameter,
};
use rusqlite::Connection;

/// The one value of a header; `None` without it.
fn one_value(request: &Request, name: &str) -> Result<Option<String>> {
    let mut values = request.headers().get_all(name).iter();
    let (Some(value), None) = (values.next(), values.next()) else {
        return if request.headers().contains_key(name) {
            Err(Error::field(name, "is sent twice"))
        } else {
            Ok(None)
        };
    };
    match value.to_str() {
        Ok(value) => Ok(Some(value.to_owned())),
        Err(_) => Err(Error::field(
            name,
            "must consist of visible ASCII characters",
        )),
    }
}

/// The `Idempotency-Key` of a request.
pub struct IdempotencyKey(Result<Option<String>>);

impl IdempotencyKey {
    /// The key; `None` without the header.
    ///
    /// # Errors
    /// [`Kind::Invalid`] when it is sent twice or not ASCII.
    pub fn read(self) -> Result<Option<String>> {
        self.0
    }
}

/// The `If-Match` of a request: the version of the record that the client has seen.
pub struct IfMatch(Result<Option<String>>);

impl IfMatch {
    /// Checks, in the transaction of the change, that the record still has this version.
    ///
    /// # Errors
    /// [`Kind::VersionChanged`]; [`Kind::Invalid`] for a header that cannot be read.
    pub fn check(
        &self,
        connection: &Connection,
        resource: &'static Resource,
        id: i64,
    ) -> Result<()> {
        self.check_against(|| etag(connection, resource, id), resource.name)
    }

    /// Checks that no version is asked for, of a record that does not exist.
    ///
    /// # Errors
    /// [`Kind::VersionChanged`]; [`Kind::Invalid`] for a header that cannot be read.
    pub fn check_none(self, name: &str) -> Result<()> {
        match self.0? {
            None => Ok(()),
            Some(_) => Err(Error::new(
                Kind::VersionChanged,
                format!("there is no such {name}; leave it out to create one"),
            )
            .at("If-Match")),
        }
    }

    /// As [`IfMatch::check`], against the version that `current` gives; `None` when the record is
    /// gone, which the change itself finds out.
    pub fn check_against(
        &self,
        current: impl FnOnce() -> Result<Option<String>>,
        name: &str,
    ) -> Result<()> {
        let expected = match &self.0 {
            Ok(None) => return Ok(()),
            Ok(Some(expected)) if expected.trim().is_empty() => {
                return Err(Error::field(
                    "If-Match",
                    "must be the ETag of the record, in its quotes, or *",
                ));
            }
            Ok(Some(expected)) if expected.trim() == "*" => return Ok(()),
            Ok(Some(expected)) => expected,
            Err(cause) => return Err(cause.clone()),
        };
        let Some(current) = current()? else {
            return Ok(());
        };
        // A weak version matches nothing (RFC 9110 section 13.1.1).
        let mut tags = expected.split(',').map(str::trim);
        if tags.clone().any(|tag| tag == current) {
            return Ok(());
        }
        if tags.any(|tag| tag.starts_with("W/")) {
            return Err(Error::new(
                Kind::VersionChanged,
                "a weak version (W/…) matches nothing; something on the way, such as a proxy that compresses, \
                 made it of the ETag: take the W/ off",
            )
            .at("If-Match"));
        }
        Err(Error::new(
            Kind::VersionChanged,
            format!("the {name} has changed since; get it again and repeat the change"),
        )
        .at("If-Match"))
    }
}

/// The `ETag` of a record: `None` when there is no such record. Every change of a record gives it
/// a later `updated_at`; interactions leave that alone.
pub fn etag(
    connection: &Connection,
    resource: &'static Resource,
    id: i64,
) -> Result<Option<String>> {
    Ok(write::updated_at(connection, resource, id)?.map(tag))
}

/// The `ETag` of a record that was last changed at a time.
pub fn tag(updated_at: Timestamp) -> String {
    format!("\"{:x}\"", updated_at.0)
}

macro_rules! header_extractor {
    ($extractor:ident, $name:literal) => {
        impl<'a> ApiExtractor<'a> for $extractor {
            const TYPES: &'static [ApiExtractorType] = &[ApiExtractorType::Parameter];

            type ParamType = ();
            type ParamRawType = ();

            fn param_in() -> Option<MetaParamIn> {
                Some(MetaParamIn::Header)
            }

            fn param_schema_ref() -> Option<MetaSchemaRef> {
                Some(inline(text("")))
            }

            async fn from_request(
                request: &'a Request,
                _: &mut RequestBody,
                _: ExtractParamOptions<Self::ParamType>,
            ) -> poem::Result<Self> {
                Ok(Self(one_value(request, $name)))
            }
        }
    };
}

header_extractor!(IdempotencyKey, "Idempotency-Key");
header_extractor!(IfMatch, "If-Match");

/// The query string, decoded, in the order sent.
fn query(request: &Request) -> impl Iterator<Item = (String, String)> {
    let query = request.uri().query().unwrap_or_default();
    form_urlencoded::parse(query.as_bytes()).into_owned()
}

/// A parameter of the query string. That of poem-openapi reads what only its own assembly of routes leaves.
pub struct Query<T>(pub T);

impl<'a, T: ParseFromParameter> ApiExtractor<'a> for Query<T> {
    const TYPES: &'static [ApiExtractorType] = &[ApiExtractorType::Parameter];
    const PARAM_IS_REQUIRED: bool = T::IS_REQUIRED;

    type ParamType = T;
    type ParamRawType = T::RawValueType;

    fn register(registry: &mut Registry) {
        T::register(registry);
    }

    fn param_in() -> Option<MetaParamIn> {
        Some(MetaParamIn::Query)
    }

    fn param_schema_ref() -> Option<MetaSchemaRef> {
        Some(T::schema_ref())
    }

    fn param_raw_type(&self) -> Option<&Self::ParamRawType> {
        self.0.as_raw_value()
    }

    async fn from_request(
        request: &'a Request,
        _: &mut RequestBody,
        ExtractParamOptions { name, .. }: ExtractParamOptions<Self::ParamType>,
    ) -> poem::Result<Self> {
        Self::read(request, name)
    }
}

impl<T: ParseFromParameter> Query<T> {
    /// Reads the parameter of a name.
    pub fn read(request: &Request, name: &'static str) -> poem::Result<Self> {
        let sent = query(request).filter(|(sent, _)| sent == name);
        let parsed = T::parse_from_parameters(sent.map(|(_, value)| value));
        parsed.map(Self).map_err(|cause| {
            let reason = cause.into_message();
            ParseParamError { name, reason }.into()
        })
    }
}

/// The names of the query parameters that a parameter of an operation stands for: those of the properties of its shape,
/// or its own; none where it is any (see [`AnyQuery`]).
pub fn query_names(parameter: MetaOperationParam) -> Option<Vec<String>> {
    match parameter.schema {
        MetaSchemaRef::Inline(shape) if shape.ty == "object" => {
            let names = shape.properties.iter().map(|(name, _)| (*name).to_owned());
            (!shape.properties.is_empty()).then(|| names.collect())
        }
        _ => Some(vec![parameter.name]),
    }
}

/// The whole query string, decoded, in the order sent; a name may stand there twice.
pub struct AnyQuery(pub Vec<(String, String)>);

impl<'a> ApiExtractor<'a> for AnyQuery {
    const TYPES: &'static [ApiExtractorType] = &[ApiExtractorType::Parameter];

    type ParamType = ();
    type ParamRawType = ();

    fn param_in() -> Option<MetaParamIn> {
        Some(MetaParamIn::Query)
    }

    fn param_schema_ref() -> Option<MetaSchemaRef> {
        Some(inline(MetaSchema {
            additional_properties: Some(inline(text("")).into()),
            ..plain("object", "")
        }))
    }

    async fn from_request(
        request: &'a Request,
        _: &mut RequestBody,
        _: ExtractParamOptions<Self::ParamType>,
    ) -> poem::Result<Self> {
        Ok(Self(query(request).collect()))
    }
}
