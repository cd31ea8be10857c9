//! A query string whose names the operation itself does not know, such as that of a report.

use super::schema::{inline, plain, text};
use poem::{Request, RequestBody};
use poem_openapi::{
    ApiExtractor, ApiExtractorType, ExtractParamOptions,
    registry::{MetaParamIn, MetaSchema, MetaSchemaRef},
};

/// What was sent, decoded, in the order sent; a name may stand there twice.
pub struct AnyQuery(pub Vec<(String, String)>);

impl AnyQuery {
    /// Whether an operation takes any names: the parameter of this shape is the whole query string.
    #[must_use]
    pub fn is(schema: &MetaSchemaRef) -> bool {
        matches!(schema, MetaSchemaRef::Inline(schema) if schema.ty == "object")
    }
}

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
        let query = request.uri().query().unwrap_or_default();
        Ok(Self(
            form_urlencoded::parse(query.as_bytes())
                .into_owned()
                .collect(),
        ))
    }
}
