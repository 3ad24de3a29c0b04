//! The methods of a session.

use std::sync::Arc;

use connector_core::call::{Reason, ToolCall};
use connector_core::json::{Sha256, Value};
use connector_core::shape::Integer;
use connector_core::{Code, Refusal, record};
use connector_runtime::{Secret, Session};
use smol_str::SmolStr;

use super::export::{self, GrammarParams, ReadParams, ToolsParams};
use super::message::{Failure, Request, object};
use super::server::{Outcome, Server};
use super::tools::{self, Host};

record! {
    struct OfSession {
        session: SmolStr = "session",
    }
}

record! {
    struct CredentialName {
        session: SmolStr = "session",
        id: SmolStr = "id",
        name: SmolStr = "name",
    }
}

record! {
    struct SetCredential {
        session: SmolStr = "session",
        id: SmolStr = "id",
        name: SmolStr = "name",
        secret: SmolStr = "secret",
    }
}

record! {
    struct PlanCall {
        session: SmolStr = "session",
        contract: SmolStr = "contract",
        call: Call = "call",
        conversation: Option<SmolStr> = "conversation",
    }
}

record! {
    struct Call {
        name: SmolStr = "name",
        arguments: Value = "arguments",
    }
}

record! {
    struct Execute {
        session: SmolStr = "session",
        plan: SmolStr = "plan",
        confirmation: Option<SmolStr> = "confirmation",
        call_id: Option<SmolStr> = "callId",
        // Not even `{}` fits into less.
        max_chars: Option<Integer<2, 4_294_967_295>> = "maxChars",
    }
}

record! {
    struct Cancel {
        session: SmolStr = "session",
        call_id: SmolStr = "callId",
    }
}

record! {
    struct Advance {
        session: SmolStr = "session",
        ms: Integer<0, 31_536_000_000> = "ms",
    }
}

/// Calls a method of a session.
pub(super) fn call(server: &mut Server, request: &Request) -> Result<Outcome, Failure> {
    let result = match request.method.as_str() {
        "session.open" => tools::open(server, &request.params()?),
        "session.close" => {
            let OfSession { session } = request.params()?;
            find_open(server, &session)?.close();
            server.sessions.remove(session.as_str());
            Ok(object([]))
        }
        "session.install" => tools::install(server, &request.params()?),
        "session.grant" => tools::set_grant(server, request.params()?),
        "session.remove" => tools::remove(server, &request.params()?),
        "session.review" => tools::review(server, request.params()?),
        "session.list" => {
            let OfSession { session } = request.params()?;
            Ok(tools::list(&*find(server, &session)?)?)
        }
        "credential.set" => {
            let SetCredential { session, id, name, secret } = request.params()?;
            find(server, &session)?.set_credential(&id, &name, Secret::new(secret.to_string()))?;
            Ok(object([]))
        }
        "credential.has" => {
            let CredentialName { session, id, name } = request.params()?;
            let present = find(server, &session)?.has_credential(&id, &name)?;
            Ok(object([("present", present.into())]))
        }
        "credential.delete" => {
            let CredentialName { session, id, name } = request.params()?;
            find(server, &session)?.delete_credential(&id, &name)?;
            Ok(object([]))
        }
        "export.tools" => {
            let params: ToolsParams = request.params()?;
            export::tools(&*find(server, &params.session)?, params)
        }
        "export.grammar" => {
            let params: GrammarParams = request.params()?;
            export::grammar(&*find(server, &params.session)?, params)
        }
        "call.read" => {
            let params: ReadParams = request.params()?;
            export::read(&*find(server, &params.session)?, &params)
        }
        "call.plan" => plan(server, request.params()?),
        "call.execute" => return execute(server, request.params()?),
        "call.cancel" => {
            let Cancel { session, call_id } = request.params()?;
            Ok(object([("cancelled", find(server, &session)?.cancel(&call_id).into())]))
        }
        "audit.read" => {
            let OfSession { session } = request.params()?;
            Ok(tools::audit(&*find(server, &session)?)?)
        }
        "audit.verify" => tools::verify_audit(server, &request.params()?),
        "ledger.read" => {
            let OfSession { session } = request.params()?;
            tools::ledger(&*find(server, &session)?)
        }
        #[cfg(feature = "test-hooks")]
        "test.advance" if server.hooks => {
            let Advance { session, ms } = request.params()?;
            find(server, &session)?.advance(ms.get());
            Ok(object([]))
        }
        #[cfg(feature = "test-hooks")]
        "test.panic" if server.hooks => fail(),
        _ => Err(Failure::Method),
    };
    result.map(Outcome::Now)
}

/// A session that is open.
pub(crate) struct Open {
    pub(super) session: Arc<Session>,
    host: Option<Host>,
}

impl Open {
    pub(super) fn new(session: Arc<Session>, host: Option<Host>) -> Self {
        Self { session, host }
    }

    /// Keeps what the host of a store keeps, where that is on this side.
    pub(super) fn keep(&self) {
        self.host.iter().for_each(|host| host.keep(&self.session));
    }

    /// What is kept of the store on this side, if it is.
    pub(super) fn host(&self) -> Option<&Host> {
        self.host.as_ref()
    }

    /// Closes it: running calls are cancelled, waiting ones too.
    pub(crate) fn close(&self) {
        self.keep();
        self.session.close();
    }
}

pub(super) fn find(server: &Server, session: &str) -> Result<Arc<Session>, Failure> {
    find_open(server, session).map(|open| Arc::clone(&open.session))
}

pub(super) fn find_open<'s>(server: &'s Server, session: &str) -> Result<&'s Open, Failure> {
    let number = session.strip_prefix('s').and_then(|number| number.parse::<u64>().ok());
    let was_open = number.is_some_and(|number| (1..=server.opened).contains(&number));
    server.sessions.get(session).ok_or_else(|| {
        if was_open {
            Refusal::new(Code::SessionClosed, "the session was closed").into()
        } else {
            Failure::Params("/session: there is no such session".to_owned())
        }
    })
}

/// A defect on purpose: tests see that it ends neither the process nor the other sessions.
#[cfg(feature = "test-hooks")]
#[allow(clippy::panic, reason = "this is what the method is for")]
fn fail() -> Result<Value, Failure> {
    panic!("test.panic was called")
}

pub(super) fn hash(hash: Sha256) -> Value {
    hash.to_string().into()
}

fn plan(server: &Server, params: PlanCall) -> Result<Value, Failure> {
    let PlanCall { session, contract, call, conversation } = params;
    let arguments = match call.arguments {
        Value::String(text) => text.to_string(),
        object @ Value::Object(_) => object.to_text(),
        _ => return Err(Failure::Params("/call/arguments: expected an object or its JSON text".into())),
    };
    let call = ToolCall { name: call.name.to_string(), arguments };
    let view = find(server, &session)?.plan(&call, Some(contract.as_str()), conversation.as_deref())?;
    let reasons = view.needs_confirmation.iter().map(|reason: &Reason| reason.as_str().into()).collect();
    Ok(object([
        ("plan", view.plan.into()),
        ("digest", hash(view.digest)),
        ("needsConfirmation", Value::Array(reasons)),
        ("preview", view.preview.to_value()),
    ]))
}

/// The call has begun, under its id, when this returns: the next line can cancel it.
fn execute(server: &Server, params: Execute) -> Result<Outcome, Failure> {
    let Execute { session, plan, confirmation, call_id, max_chars } = params;
    let budget = max_chars.and_then(|chars| usize::try_from(chars.get()).ok());
    let session = find(server, &session)?;
    let call = session.execute(&plan, confirmation.as_deref(), call_id.as_deref(), budget);
    Ok(Outcome::Later(Box::pin(async move {
        let answer = call.await?;
        let mut members = vec![
            ("text", Value::from(answer.text)),
            ("truncated", answer.truncated.into()),
            ("status", u64::from(answer.status).into()),
            ("isError", answer.is_error.into()),
        ];
        members.extend(answer.code.map(|code| ("code", code.as_str().into())));
        members.extend(answer.retry_after.map(|seconds| ("retryAfter", seconds.into())));
        Ok(object(members))
    })))
}
