//! Calls planned and carried out.

use std::sync::Arc;

use connector_core::call::ToolCall;
use connector_runtime::{PlanView, Session};

use crate::error::ConnectorError;
use crate::grant::Effect;
use crate::runtime::ConnectorRuntime;

/// A call that could leave now. Not printable, since it holds values: show it to the person, do not log it.
#[derive(uniffi::Object)]
pub struct PlannedCall {
    view: PlanView,
}

/// One header field of a request that is shown. Not printable, since it holds values.
#[derive(uniffi::Object)]
pub struct PreviewHeader {
    name: String,
    value: String,
    fixed: bool,
}

#[uniffi::export]
impl PreviewHeader {
    /// The name.
    pub fn name(&self) -> Result<String, ConnectorError> {
        Ok(self.name.clone())
    }

    /// The value, a credential as `<credential NAME>`.
    pub fn value(&self) -> Result<String, ConnectorError> {
        Ok(self.value.clone())
    }

    /// Whether the transport fixes it.
    pub fn is_fixed(&self) -> Result<bool, ConnectorError> {
        Ok(self.fixed)
    }
}

#[uniffi::export]
impl PlannedCall {
    /// The plan's name, for `execute`.
    pub fn id(&self) -> Result<String, ConnectorError> {
        Ok(self.view.plan.clone())
    }

    /// What a confirmation repeats: a hash over everything that is shown, the grant and the tool set.
    pub fn digest(&self) -> Result<String, ConnectorError> {
        Ok(self.view.digest.to_string())
    }

    /// Why a person must confirm (`effect`, `flow.cross_connector`); empty when none must.
    pub fn needs_confirmation(&self) -> Result<Vec<String>, ConnectorError> {
        Ok(self.view.needs_confirmation.iter().map(|reason| reason.as_str().to_owned()).collect())
    }

    /// The full name of the tool.
    pub fn tool(&self) -> Result<String, ConnectorError> {
        Ok(self.view.preview.tool.to_string())
    }

    /// What the manifest says that the call does.
    pub fn effect(&self) -> Result<Effect, ConnectorError> {
        Ok(Effect::of(self.view.preview.effect))
    }

    /// The connector's id.
    pub fn connector(&self) -> Result<String, ConnectorError> {
        Ok(self.view.preview.connector.to_string())
    }

    /// Where the connector came from, as the application said.
    pub fn source(&self) -> Result<String, ConnectorError> {
        Ok(self.view.preview.source.to_string())
    }

    /// The connector's title.
    pub fn title(&self) -> Result<String, ConnectorError> {
        Ok(self.view.preview.title.to_string())
    }

    /// The origin in ASCII.
    pub fn origin(&self) -> Result<String, ConnectorError> {
        Ok(self.view.preview.origin.to_string())
    }

    /// The method.
    pub fn method(&self) -> Result<String, ConnectorError> {
        Ok(self.view.preview.method.as_str().to_owned())
    }

    /// The whole URL in ASCII.
    pub fn url(&self) -> Result<String, ConnectorError> {
        Ok(self.view.preview.url.clone())
    }

    /// All header fields in the order of the wire.
    pub fn headers(&self) -> Result<Vec<Arc<PreviewHeader>>, ConnectorError> {
        let header = |header: &connector_core::call::PreviewHeader| {
            let (name, value, fixed) = (header.name.to_string(), header.value.to_string(), header.fixed);
            Arc::new(PreviewHeader { name, value, fixed })
        };
        Ok(self.view.preview.headers.iter().map(header).collect())
    }

    /// The body, when one is sent.
    pub fn body(&self) -> Result<Option<String>, ConnectorError> {
        Ok(self.view.preview.body.clone())
    }

    /// Everything as lines of text for a person, invisible and bidi characters escaped.
    pub fn display(&self) -> Result<String, ConnectorError> {
        Ok(self.view.preview.display())
    }

    /// The preview as JSON text, with the members `tool`, `effect`, `connector`, `source`, `origin`, `method`, `url`,
    /// `headers`, `body`, `display`.
    pub fn to_json(&self) -> Result<String, ConnectorError> {
        Ok(self.view.preview.to_value().to_text())
    }
}

/// What came of a call. Not printable, since it holds text of the server: hand it to the model, do not log it.
#[derive(uniffi::Object)]
pub struct Answer {
    answer: connector_runtime::Answer,
}

#[uniffi::export]
impl Answer {
    /// One JSON object for the model: `{"tool", "status", "data" or "text", "omitted"}`.
    pub fn text(&self) -> Result<String, ConnectorError> {
        Ok(self.answer.text.clone())
    }

    /// The HTTP status.
    pub fn status(&self) -> Result<u16, ConnectorError> {
        Ok(self.answer.status)
    }

    /// Whether it is an error of the server, or an answer that could not be read.
    pub fn is_error(&self) -> Result<bool, ConnectorError> {
        Ok(self.answer.is_error)
    }

    /// `response.invalid` when the answer could not be read as the manifest says; the request was carried out all the
    /// same.
    pub fn code(&self) -> Result<Option<String>, ConnectorError> {
        Ok(self.answer.code.map(|code| code.as_str().to_owned()))
    }

    /// Whether something of the answer was left out.
    pub fn is_truncated(&self) -> Result<bool, ConnectorError> {
        Ok(self.answer.truncated)
    }

    /// Seconds after which the server says that the call may be made again.
    pub fn retry_after_seconds(&self) -> Result<Option<u64>, ConnectorError> {
        Ok(self.answer.retry_after)
    }
}

#[uniffi::export]
impl ConnectorRuntime {
    /// Plans a call of a model: `name` is the full name of a tool, `arguments` the JSON text of an object, `contract` that
    /// of the export which the model was shown. Calls of one `conversation` see each other's text; all without one share
    /// one.
    ///
    /// An error with `advice` can be handed to the model.
    #[uniffi::method(default(conversation = None))]
    pub fn plan(
        &self,
        contract: String,
        name: String,
        arguments: String,
        conversation: Option<String>,
    ) -> Result<Arc<PlannedCall>, ConnectorError> {
        let call = ToolCall { name, arguments };
        let view = self.session()?.plan(&call, Some(&contract), conversation.as_deref())?;
        self.check_cleartext(view.preview.origin.as_ref())?;
        Ok(Arc::new(PlannedCall { view }))
    }

    /// Carries out a plan, once. `confirmation` is the digest that a person was shown, where `needsConfirmation` is not
    /// empty; `call_id` a name by which `cancel` finds the call, the plan's own where it is absent; `max_chars` a smaller
    /// budget for the text.
    ///
    /// Kotlin: cancelling the coroutine cancels the call. Swift: use `withTaskCancellationHandler`, or the wrapper of the
    /// package, which does; cancelling a task does not reach Rust by itself. The socket is closed at once.
    #[uniffi::method(default(confirmation = None, call_id = None, max_chars = None))]
    pub async fn execute(
        &self,
        plan: String,
        confirmation: Option<String>,
        call_id: Option<String>,
        max_chars: Option<u32>,
    ) -> Result<Arc<Answer>, ConnectorError> {
        let session: Session = self.session()?.clone();
        let room = max_chars.map(|chars| usize::try_from(chars).unwrap_or(usize::MAX));
        let answer =
            self.run(async move {
                session.execute(&plan, confirmation.as_deref(), call_id.as_deref(), room).await
            })
            .await??;
        Ok(Arc::new(Answer { answer }))
    }

    /// Cancels a running call; its socket is closed at once. Gives whether there was one.
    pub fn cancel(&self, call_id: String) -> Result<bool, ConnectorError> {
        Ok(self.session()?.cancel(&call_id))
    }
}
