//! What a server does on a connection, step by step; also as data, so that other languages' tests run the
//! same scenarios.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;

use crate::Request;

/// Makes the bytes of an answer from a request.
pub(crate) type Answer = Arc<dyn Fn(&Request) -> Vec<u8> + Send + Sync>;

/// One step of a script.
///
/// As JSON: `{"read": "request"}`, `{"read": "some"}`, `{"send": "text"}`, `{"sendBase64": "..."}`,
/// `{"repeat": {"text" or "base64": "...", "times": 100}}` (without `times` for ever),
/// `{"drip": {"text" or "base64": "...", "everyMs": 100}}` (byte by byte), `{"pauseMs": 100}`, `"awaitClose"`,
/// `"close"`, `"reset"`, `"restart"`.
#[derive(Clone, Deserialize)]
#[serde(try_from = "Form")]
pub enum Step {
    /// Reads one whole request and logs it.
    ReadRequest,
    /// Reads until at least one byte came, which may be half a request.
    ReadSome,
    /// Sends these bytes.
    Send(Vec<u8>),
    /// Sends these bytes again and again, so many times or for ever.
    Repeat(Vec<u8>, Option<u64>),
    /// Sends these bytes one by one, with a pause before each.
    Drip(Vec<u8>, Duration),
    /// Does nothing for a while.
    Pause(Duration),
    /// Reads and logs until the peer closes.
    AwaitClose,
    /// Ends the sending side (FIN, with `close_notify` under TLS), and goes on.
    Close,
    /// Ends the connection with a reset.
    Reset,
    /// Begins again with the first step, on the same connection.
    Restart,
    /// Sends what a function makes of the last request.
    Answer(Answer),
}

impl fmt::Debug for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ReadRequest => f.write_str("ReadRequest"),
            Self::ReadSome => f.write_str("ReadSome"),
            Self::Send(bytes) => write!(f, "Send({} bytes)", bytes.len()),
            Self::Repeat(bytes, times) => write!(f, "Repeat({} bytes, {times:?})", bytes.len()),
            Self::Drip(bytes, every) => write!(f, "Drip({} bytes, {every:?})", bytes.len()),
            Self::Pause(time) => write!(f, "Pause({time:?})"),
            Self::AwaitClose => f.write_str("AwaitClose"),
            Self::Close => f.write_str("Close"),
            Self::Reset => f.write_str("Reset"),
            Self::Restart => f.write_str("Restart"),
            Self::Answer(_) => f.write_str("Answer"),
        }
    }
}

impl Step {
    /// Sends a text.
    pub fn send(text: impl AsRef<[u8]>) -> Self {
        Self::Send(text.as_ref().to_vec())
    }
}

/// The steps of one connection. When they are over, the connection is closed.
pub type Script = Vec<Step>;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
enum Form {
    Read(What),
    Send(String),
    SendBase64(String),
    Repeat {
        text: Option<String>,
        base64: Option<String>,
        times: Option<u64>,
    },
    #[serde(rename_all = "camelCase")]
    Drip {
        text: Option<String>,
        base64: Option<String>,
        every_ms: u64,
    },
    PauseMs(u64),
    AwaitClose,
    Close,
    Reset,
    Restart,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
enum What {
    Request,
    Some,
}

impl TryFrom<Form> for Step {
    type Error = String;

    fn try_from(form: Form) -> Result<Self, String> {
        Ok(match form {
            Form::Read(What::Request) => Self::ReadRequest,
            Form::Read(What::Some) => Self::ReadSome,
            Form::Send(text) => Self::Send(text.into_bytes()),
            Form::SendBase64(text) => Self::Send(bytes(None, Some(text))?),
            Form::Repeat { text, base64, times } => Self::Repeat(bytes(text, base64)?, times),
            Form::Drip { text, base64, every_ms } => {
                Self::Drip(bytes(text, base64)?, Duration::from_millis(every_ms))
            }
            Form::PauseMs(ms) => Self::Pause(Duration::from_millis(ms)),
            Form::AwaitClose => Self::AwaitClose,
            Form::Close => Self::Close,
            Form::Reset => Self::Reset,
            Form::Restart => Self::Restart,
        })
    }
}

fn bytes(text: Option<String>, base64: Option<String>) -> Result<Vec<u8>, String> {
    match (text, base64) {
        (Some(text), None) => Ok(text.into_bytes()),
        (None, Some(text)) => STANDARD.decode(text).map_err(|error| error.to_string()),
        _ => Err("one of `text` and `base64` is needed".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_is_data() {
        let script: Script = serde_json::from_str(
            r#"[{"read": "request"}, {"read": "some"}, {"send": "a"}, {"sendBase64": "YQ=="}, {"repeat": {"text": "a"}},
                {"repeat": {"base64": "YQ==", "times": 3}}, {"drip": {"text": "ab", "everyMs": 5}},
                {"pauseMs": 7}, "awaitClose", "close", "reset", "restart"]"#,
        )
        .unwrap();
        assert_eq!(
            format!("{script:?}"),
            "[ReadRequest, ReadSome, Send(1 bytes), Send(1 bytes), Repeat(1 bytes, None), Repeat(1 bytes, Some(3)), \
             Drip(2 bytes, 5ms), Pause(7ms), AwaitClose, Close, Reset, Restart]"
        );
        for wrong in [r#"[{"send": "a", "x": 1}]"#, r#"["sleep"]"#, r#"[{"drip": {"everyMs": 5}}]"#] {
            assert!(serde_json::from_str::<Script>(wrong).is_err(), "{wrong}");
        }
    }
}
