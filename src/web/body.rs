//! A JSON body as a typed input: size, content type, nesting and numbers are checked before it is
//! parsed, and whatever does not fit is named by its path.

use super::{Failure, schema::Described};
use crate::{
    error::{Error, Kind, Result},
    types::json,
};
use poem::{Request, RequestBody};
use poem_openapi::{
    ApiExtractor, ApiExtractorType, ExtractParamOptions,
    registry::{MetaMediaType, MetaRequest, Registry},
};
use serde::de::DeserializeOwned;
use std::marker::PhantomData;

/// A body of at most `MAX` bytes (1 MiB unless said otherwise) that parses as `T`.
pub struct Body<T, const MAX: usize = { json::RECORD_MAX_BYTES }> {
    text: Vec<u8>,
    shape: PhantomData<fn() -> T>,
}

impl<T: DeserializeOwned, const MAX: usize> Body<T, MAX> {
    /// Parses the body.
    ///
    /// # Errors
    /// [`Kind::Invalid`], with the path of what does not fit.
    pub fn parse(&self) -> Result<T> {
        json::parse(&self.text)
    }

    /// The body as it was sent.
    #[must_use]
    pub fn text(&self) -> &[u8] {
        &self.text
    }
}

/// Whether the request says, or at least does not deny, that its body is JSON.
fn is_json(request: &Request) -> bool {
    request.content_type().is_none_or(|content_type| {
        let essence = content_type
            .split(';')
            .next()
            .unwrap_or_default()
            .trim()
            .to_ascii_lowercase();
        essence == "application/json" || essence.ends_with("+json")
    })
}

/// Reads a body of at most `max` bytes, declared or chunked.
///
/// # Errors
/// [`Kind::TooLarge`]; [`Kind::Invalid`] when it breaks off.
pub async fn read_limited(
    request: &Request,
    body: &mut RequestBody,
    max: usize,
) -> Result<Vec<u8>> {
    let too_large = || {
        Error::new(
            Kind::TooLarge,
            format!("the body may have at most {max} bytes"),
        )
    };
    let declared = request
        .header("content-length")
        .and_then(|length| length.parse::<usize>().ok());
    if declared.is_some_and(|length| length > max) {
        return Err(too_large());
    }
    let body = body
        .take()
        .map_err(|_| Error::defect("the body was read before"))?;
    match body.into_bytes_limit(max).await {
        Ok(bytes) => Ok(bytes.into()),
        Err(poem::error::ReadBodyError::PayloadTooLarge) => Err(too_large()),
        Err(cause) => Err(Error::invalid(format!("the body breaks off: {cause}"))),
    }
}

impl<'a, T: DeserializeOwned + Described, const MAX: usize> ApiExtractor<'a> for Body<T, MAX> {
    const TYPES: &'static [ApiExtractorType] = &[ApiExtractorType::RequestObject];

    type ParamType = ();
    type ParamRawType = ();

    fn register(registry: &mut Registry) {
        T::register(registry);
    }

    fn request_meta() -> Option<MetaRequest> {
        Some(MetaRequest {
            description: None,
            content: vec![MetaMediaType {
                content_type: "application/json",
                schema: T::reference(),
            }],
            required: true,
        })
    }

    async fn from_request(
        request: &'a Request,
        body: &mut RequestBody,
        _: ExtractParamOptions<Self::ParamType>,
    ) -> poem::Result<Self> {
        if !is_json(request) {
            let error = Error::new(
                Kind::NotJson,
                "the body must be JSON, with Content-Type: application/json",
            );
            return Err(Failure(error).into());
        }
        let text = read_limited(request, body, MAX).await.map_err(Failure)?;
        json::check_limits(&text).map_err(Failure)?;
        Ok(Self {
            text,
            shape: PhantomData,
        })
    }
}
