//! The ceilings under which every untrusted payload is read.

use std::fmt;
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

/// Why a limit is not set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LimitFault {
    /// There is no limit of this name.
    Unknown,
    /// The value is over the ceiling of this limit, which is this.
    OverCeiling(u64),
}

impl fmt::Display for LimitFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown => f.write_str("there is no such limit"),
            Self::OverCeiling(ceiling) => write!(f, "the most that this limit can be set to is {ceiling}"),
        }
    }
}

macro_rules! limits {
    ($($name:literal $field:ident $ceiling:literal $convert:expr;)*) => {
        /// The names of all limits, each with the most that it can be set to.
        pub const LIMITS: &[(&str, u64)] = &[$(($name, $ceiling)),*];

        impl TrustLimits {
            /// Sets one limit by its name in camel case (`manifestBytes`; times end in `Ms` and are milliseconds).
            ///
            /// # Errors
            /// There is no such limit, or the value is over its ceiling ([`LIMITS`]): a limit that bounds nothing is a
            /// mistake, and memory, stack and clocks of a device end somewhere.
            pub fn set(&mut self, name: &str, value: u64) -> Result<(), LimitFault> {
                match name {
                    $($name if value > $ceiling => return Err(LimitFault::OverCeiling($ceiling)),
                    $name => self.$field = $convert(value),)*
                    _ => return Err(LimitFault::Unknown),
                }
                Ok(())
            }
        }
    };
}

limits! {
    "identifierChars" identifier_chars 1_024 size;
    "descriptionChars" description_chars 1_048_576 size;
    "titleChars" title_chars 8_192 size;
    "schemaBytes" schema_bytes 1_048_576 size;
    "schemaDepth" schema_depth 64 size;
    "tools" tools 10_000 size;
    "resultChars" result_chars 16_777_216 size;
    "resultParts" result_parts 65_536 size;
    "manifestBytes" manifest_bytes 16_777_216 size;
    "argumentBytes" argument_bytes 16_777_216 size;
    "jsonDepth" json_depth 128 size;
    "urlBytes" url_bytes 65_536 size;
    "headerValueBytes" header_value_bytes 65_536 size;
    "bodyBytes" body_bytes 67_108_864 size;
    "responseHeaderBytes" response_header_bytes 1_048_576 size;
    "responseWireBytes" response_wire_bytes 67_108_864 size;
    "responseDecodedBytes" response_decoded_bytes 67_108_864 size;
    "connectTimeoutMs" connect_timeout 600_000 Duration::from_millis;
    "totalTimeoutMs" total_timeout 3_600_000 Duration::from_millis;
    "totalTimeoutCeilingMs" total_timeout_ceiling 3_600_000 Duration::from_millis;
    "callsPerMinute" calls_per_minute 60_000 count;
    "planLifetimeMs" plan_lifetime 86_400_000 Duration::from_millis;
}

fn size(value: u64) -> usize {
    usize::try_from(value).unwrap_or(usize::MAX)
}

fn count(value: u64) -> u32 {
    u32::try_from(value).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_limit_can_be_set_up_to_its_ceiling_and_no_further() {
        for (name, ceiling) in LIMITS {
            let mut limits = TrustLimits::default();
            assert_eq!(limits.set(name, *ceiling), Ok(()), "{name}");
            assert_ne!(limits, TrustLimits::default(), "{name}");
            let set = limits.clone();
            for over in [ceiling + 1, (1 << 53) - 1, u64::MAX] {
                assert_eq!(limits.set(name, over), Err(LimitFault::OverCeiling(*ceiling)), "{name}");
            }
            assert_eq!(limits, set, "{name}");
        }
        assert_eq!(TrustLimits::default().set("manifest_bytes", 1), Err(LimitFault::Unknown));
    }
}
