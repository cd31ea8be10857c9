//! A JSON body as a typed input: size, content type, nesting and numbers are checked before it is
//! parsed, and whatever does not fit is named by its path.

use super::{Failure, schema::Described};
use crate::types::{
    error::{Error, Kind, Result},
    json::{self, RECORD_MAX_BYTES},
};
use futures_util::{Stream, StreamExt};
use poem::{Request, RequestBody, http::header};
use poem_openapi::{
    ApiExtractor, ApiExtractorType, ExtractParamOptions,
    registry::{MetaMediaType, MetaRequest, Registry},
};
use serde::de::DeserializeOwned;
use std::{marker::PhantomData, time::Duration};
use tokio::runtime::{Handle, RuntimeFlavor};

/// The largest body of whoever has neither session nor token, in bytes: nothing but its size limits what
/// reading it costs.
pub const ANONYMOUS_MAX_BYTES: usize = 4 * 1024;
/// Fields of a form that such a body may have.
pub const ANONYMOUS_FIELDS_MAX: usize = 32;
/// Larger bodies are parsed while the thread's other requests go on elsewhere.
const PARSED_IN_PLACE_MAX_BYTES: usize = 64 * 1024;

/// Counts the fields of a form before anything is made of them.
///
/// # Errors
/// [`Kind::TooLarge`] where they are more than `max`.
pub fn check_fields(form: &[u8], max: usize) -> Result<()> {
    let more = form.iter().filter(|byte| **byte == b'&').nth(max - 1);
    if more.is_some() {
        let message = format!("the form may have at most {max} fields");
        return Err(Error::new(Kind::TooLarge, message));
    }
    Ok(())
}

/// Parses a body of so many bytes. A large one leaves the runtime's threads to others meanwhile.
pub fn parse_aside<T>(bytes: usize, parse: impl FnOnce() -> T) -> T {
    let is_served = Handle::try_current()
        .is_ok_and(|runtime| runtime.runtime_flavor() == RuntimeFlavor::MultiThread);
    if is_served && bytes > PARSED_IN_PLACE_MAX_BYTES {
        return tokio::task::block_in_place(parse);
    }
    parse()
}

/// A body of at most `MAX` bytes (1 MiB unless said otherwise) that parses as `T`. One of `PARTS` is
/// taken as it comes: whoever parses these looks at the nesting and the numbers of each.
pub struct Body<T, const MAX: usize = RECORD_MAX_BYTES, const PARTS: bool = false> {
    text: Vec<u8>,
    shape: PhantomData<fn() -> T>,
}

impl<T: DeserializeOwned, const MAX: usize, const PARTS: bool> Body<T, MAX, PARTS> {
    /// Parses the body.
    ///
    /// # Errors
    /// [`Kind::Invalid`], with the path of what does not fit.
    pub fn parse(&self) -> Result<T> {
        parse_aside(self.text.len(), || json::parse(&self.text))
    }

    /// The body as it was sent.
    pub fn text(&self) -> &[u8] {
        &self.text
    }
}

/// A body of at most `MAX` bytes that is taken as it comes, of whatever type; it should be JSON of the
/// shape of `T`.
pub struct Anything<T, const MAX: usize> {
    bytes: Vec<u8>,
    coding: Option<String>,
    content_type: Option<String>,
    shape: PhantomData<fn() -> T>,
}

impl<T, const MAX: usize> Anything<T, MAX> {
    /// The compression of the body, which is taken as it comes.
    pub fn coding(&self) -> Option<&str> {
        self.coding.as_deref()
    }

    /// The `Content-Type` of the body.
    pub fn content_type(&self) -> Option<&str> {
        self.content_type.as_deref()
    }

    /// The body as it was sent.
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    /// The body, for who takes none that is compressed.
    ///
    /// # Errors
    /// [`Kind::NotJson`] when it is compressed.
    pub fn into_plain(self) -> Result<Vec<u8>> {
        if self.coding.is_some() {
            return Err(compressed());
        }
        Ok(self.bytes)
    }
}

/// Tells whether the request says, or at least does not deny, that its body is JSON.
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
/// [`Kind::TooLarge`]; [`Kind::Invalid`] when it breaks off; [`Kind::NotJson`] when it is compressed.
pub async fn read_limited(
    request: &Request,
    body: &mut RequestBody,
    max: usize,
) -> Result<Vec<u8>> {
    if coding(request).is_some() {
        return Err(compressed());
    }
    read_as_sent(request, body, max).await
}

fn compressed() -> Error {
    Error::new(
        Kind::NotJson,
        "the body is compressed (Content-Encoding); send it as it is",
    )
}

/// The `Content-Encoding` of a body that is not sent as it is.
pub fn coding(request: &Request) -> Option<String> {
    let value = request.headers().get(header::CONTENT_ENCODING)?;
    let coding = String::from_utf8_lossy(value.as_bytes());
    let coding = coding.trim();
    let plain = coding.is_empty() || coding.eq_ignore_ascii_case("identity");
    (!plain).then(|| coding.to_owned())
}

/// As [`read_limited`], compressed or not.
pub async fn read_as_sent(
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
    let mut body = body
        .take()
        .map_err(|_| Error::defect("the body was read before"))?
        .into_bytes_stream();
    if declared.is_some_and(|length| length > max) {
        drain(body).await;
        return Err(too_large());
    }
    let mut bytes = Vec::with_capacity(declared.unwrap_or_default().min(RECORD_MAX_BYTES));
    while let Some(part) = body.next().await {
        let part = part.map_err(|cause| Error::invalid(format!("the body breaks off: {cause}")))?;
        if bytes.len() + part.len() > max {
            drain(body).await;
            return Err(too_large());
        }
        bytes.extend_from_slice(&part);
    }
    Ok(bytes)
}

/// The bytes that are still read of a body that is refused, and the time for it.
const DRAINED_MAX_BYTES: usize = 64 * 1024 * 1024;
const DRAINED_MAX: Duration = Duration::from_secs(5);
/// The silence after which a sender is taken to wait for an answer.
const DRAINED_IDLE: Duration = Duration::from_millis(300);

/// Reads the rest of a body that is refused: who is cut off while still sending never sees why.
async fn drain<T: AsRef<[u8]>, E>(mut body: impl Stream<Item = Result<T, E>> + Unpin) {
    let rest = async {
        let mut read = 0;
        while let Ok(Some(Ok(part))) = tokio::time::timeout(DRAINED_IDLE, body.next()).await {
            read += part.as_ref().len();
            if read > DRAINED_MAX_BYTES {
                break;
            }
        }
    };
    // What is not there by then is not waited for.
    let _ = tokio::time::timeout(DRAINED_MAX, rest).await;
}

fn json_of<T: Described>() -> MetaRequest {
    MetaRequest {
        description: None,
        content: vec![MetaMediaType {
            content_type: "application/json",
            schema: T::reference(),
        }],
        required: true,
    }
}

impl<'a, T: DeserializeOwned + Described, const MAX: usize, const PARTS: bool> ApiExtractor<'a>
    for Body<T, MAX, PARTS>
{
    const TYPES: &'static [ApiExtractorType] = &[ApiExtractorType::RequestObject];

    type ParamType = ();
    type ParamRawType = ();

    fn register(registry: &mut Registry) {
        T::register_input(registry);
    }

    fn request_meta() -> Option<MetaRequest> {
        Some(json_of::<T>())
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
        if !PARTS {
            parse_aside(text.len(), || json::check_limits(&text)).map_err(Failure)?;
        }
        Ok(Self {
            text,
            shape: PhantomData,
        })
    }
}

impl<'a, T: Described, const MAX: usize> ApiExtractor<'a> for Anything<T, MAX> {
    const TYPES: &'static [ApiExtractorType] = &[ApiExtractorType::RequestObject];

    type ParamType = ();
    type ParamRawType = ();

    fn register(registry: &mut Registry) {
        T::register(registry);
    }

    fn request_meta() -> Option<MetaRequest> {
        // Anything else is taken as well. Documented as `*/*`, it makes generators of clients pass
        // over the whole operation.
        Some(json_of::<T>())
    }

    async fn from_request(
        request: &'a Request,
        body: &mut RequestBody,
        _: ExtractParamOptions<Self::ParamType>,
    ) -> poem::Result<Self> {
        let bytes = read_as_sent(request, body, MAX).await.map_err(Failure)?;
        Ok(Self {
            bytes,
            coding: coding(request),
            content_type: request.content_type().map(ToOwned::to_owned),
            shape: PhantomData,
        })
    }
}
