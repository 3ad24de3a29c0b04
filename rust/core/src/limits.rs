//! The ceilings under which every untrusted payload is read.

use std::time::Duration;

/// Every limit of the core in one value. A host may change one without a patch; each is enforced while
/// reading, so that an oversized input costs a refusal and not its own size.
///
/// The defaults are those of the design page, section 3.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrustLimits {
    /// Characters of an identifier, and of a full name `id.name`.
    pub identifier_chars: usize,
    /// Characters (Unicode scalar values) of a description.
    pub description_chars: usize,
    /// Characters of a title, which is one line.
    pub title_chars: usize,
    /// Bytes of a parameter schema in its RFC 8785 form.
    pub schema_bytes: usize,
    /// Depth of a parameter schema, a scalar being 0.
    pub schema_depth: usize,
    /// Tools in one manifest.
    pub tools: usize,
    /// Characters of a result for the model, whatever the manifest asks.
    pub result_chars: usize,
    /// Items that one `each` may yield.
    pub result_parts: usize,
    /// Bytes of a manifest.
    pub manifest_bytes: usize,
    /// Bytes of the arguments of one call.
    pub argument_bytes: usize,
    /// Nesting of any JSON document that is read, a scalar being 0.
    pub json_depth: usize,
    /// Bytes of a finished URL.
    pub url_bytes: usize,
    /// Bytes of one header value of a request.
    pub header_value_bytes: usize,
    /// Bytes of a request body.
    pub body_bytes: usize,
    /// Bytes of all header fields of a response.
    pub response_header_bytes: usize,
    /// Bytes of a response body as it comes off the wire.
    pub response_wire_bytes: usize,
    /// Bytes of a response body after content decoding.
    pub response_decoded_bytes: usize,
    /// Time for one connection to be made.
    pub connect_timeout: Duration,
    /// Time for a whole call, unless the manifest lowers or raises it below the ceiling.
    pub total_timeout: Duration,
    /// The most that a manifest may ask as its whole time.
    pub total_timeout_ceiling: Duration,
    /// Calls a minute, for each connector.
    pub calls_per_minute: u32,
    /// How long a plan may wait for its execution.
    pub plan_lifetime: Duration,
}

impl Default for TrustLimits {
    fn default() -> Self {
        Self {
            identifier_chars: 128,
            description_chars: 8_192,
            title_chars: 80,
            schema_bytes: 65_536,
            schema_depth: 16,
            tools: 512,
            result_chars: 262_144,
            result_parts: 64,
            manifest_bytes: 1 << 20,
            argument_bytes: 256 << 10,
            json_depth: 32,
            url_bytes: 8 << 10,
            header_value_bytes: 8 << 10,
            body_bytes: 1 << 20,
            response_header_bytes: 32 << 10,
            response_wire_bytes: 1 << 20,
            response_decoded_bytes: 4 << 20,
            connect_timeout: Duration::from_secs(5),
            total_timeout: Duration::from_secs(20),
            total_timeout_ceiling: Duration::from_secs(60),
            calls_per_minute: 30,
            plan_lifetime: Duration::from_secs(300),
        }
    }
}

impl TrustLimits {
    /// Sets one limit by its name in camel case (`manifestBytes`; times end in `Ms` and are milliseconds). Gives
    /// whether there is such a limit.
    pub fn set(&mut self, name: &str, value: u64) -> bool {
        let size = usize::try_from(value).unwrap_or(usize::MAX);
        match name {
            "identifierChars" => self.identifier_chars = size,
            "descriptionChars" => self.description_chars = size,
            "titleChars" => self.title_chars = size,
            "schemaBytes" => self.schema_bytes = size,
            "schemaDepth" => self.schema_depth = size,
            "tools" => self.tools = size,
            "resultChars" => self.result_chars = size,
            "resultParts" => self.result_parts = size,
            "manifestBytes" => self.manifest_bytes = size,
            "argumentBytes" => self.argument_bytes = size,
            "jsonDepth" => self.json_depth = size,
            "urlBytes" => self.url_bytes = size,
            "headerValueBytes" => self.header_value_bytes = size,
            "bodyBytes" => self.body_bytes = size,
            "responseHeaderBytes" => self.response_header_bytes = size,
            "responseWireBytes" => self.response_wire_bytes = size,
            "responseDecodedBytes" => self.response_decoded_bytes = size,
            "connectTimeoutMs" => self.connect_timeout = Duration::from_millis(value),
            "totalTimeoutMs" => self.total_timeout = Duration::from_millis(value),
            "totalTimeoutCeilingMs" => self.total_timeout_ceiling = Duration::from_millis(value),
            "callsPerMinute" => self.calls_per_minute = u32::try_from(value).unwrap_or(u32::MAX),
            "planLifetimeMs" => self.plan_lifetime = Duration::from_millis(value),
            _ => return false,
        }
        true
    }
}
