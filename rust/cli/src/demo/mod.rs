//! `connector demo`: the whole path once, on this machine, and three attacks that it refuses.

mod api;

use std::path::Path;
use std::process::ExitCode;

use connector_core::call::ToolCall;
use connector_core::grant::Grant;
use connector_core::json::{Numbers, Profile, Sha256, Value, read_strict};
use connector_core::{Refusal, TrustLimits};
use connector_runtime::{Answer, PlanView, Secret, Session};

use connector_testkit::Server;

use crate::options::{block_on, open_options};
use crate::rpc::object;
use crate::run::show;
use crate::source::read;
use crate::style::{ERROR, GOOD, QUIET, TITLE, Trouble, out};

/// Runs the demo with a manifest that talks to a Vikunja server.
pub(crate) fn demo(manifest: &Path) -> Result<ExitCode, Trouble> {
    block_on(async {
        let api = api::start().await.map_err(|error| Trouble::new("demo.api", error.to_string()))?;
        run(&api, manifest).await
    })?
}

async fn run(api: &Server, path: &Path) -> Result<ExitCode, Trouble> {
    let server = format!("http://{}", api.address());
    title("1. A manifest is checked and installed");
    let manifest = read(path, TrustLimits::default().manifest_bytes)?;
    let session = Session::open(open_options(None, None, None, None).map_err(Trouble::usage)?);
    let installed = session.install(&manifest, &format!("file:{}", path.display()), grant(&server)?, None)?;
    session.set_credential("vikunja", "token", Secret::new(api::TOKEN.to_owned()))?;
    say("manifest", &path.display().to_string());
    say("server", &format!("{server} (a small real HTTP API in this process)"));
    say("grant", "that server, loopback, a token over http; nothing else");
    say("contract", &installed.contract.to_string());
    say("tools", &installed.tools.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>().join(", "));
    let contract = installed.contract.to_string();
    let shop = Shop { session, contract };

    title("2. A model reads: its call is checked, planned, sent, and its answer is text");
    let call = r#"{"name": "vikunja.list_tasks", "arguments": {}}"#;
    let view = shop.plan(call)?;
    let answer = shop.execute(&view, None).await?;
    answered(&answer);

    title("3. A model writes: a person confirms exactly what goes on the wire");
    let call =
        r#"{"name": "vikunja.create_task", "arguments": {"project_id": 1, "title": "Buy tea / milk? 100%"}}"#;
    let view = shop.plan(call)?;
    say("digest", &view.digest.to_string());
    let answer = shop.execute(&view, Some(view.digest)).await?;
    answered(&answer);

    title("4. Three attacks");
    let before = api.log().requests().len();
    let call = r#"{"name": "vikunja.get_task", "arguments": {"task_id": "1/../../users"}}"#;
    attack("a steered model puts a path into an argument", call, shop.plan(call).err(), "call.arguments")?;
    let call = r#"{"name": "vikunja.delete_task", "arguments": {"task_id": 1}}"#;
    let view = shop.plan(call)?;
    let refusal = shop.execute(&view, None).await.err();
    attack(
        "a steered model deletes, and nobody confirmed",
        "execute without a confirmation",
        refusal,
        "plan.confirmation_required",
    )?;
    let sent = api.log().requests().len() - before;
    let call = r#"{"name": "vikunja.get_me", "arguments": {}}"#;
    let view = shop.plan(call)?;
    let refusal = shop.execute(&view, None).await.err();
    attack(
        "a server redirects to the cloud's metadata service",
        "302 http://169.254.169.254/...",
        refusal,
        "net.redirect",
    )?;
    if sent != 0 {
        return Err(Trouble::new("demo.leak", "a refused call reached the server"));
    }

    title("5. The audit trail: what was done, without a value or a secret");
    let (records, head) = shop.session.audit();
    for record in &records {
        let event = &record.event;
        let (deed, status) =
            (event.deed.as_str(), event.status.map_or_else(String::new, |status| status.to_string()));
        let hash: String = record.hash.to_string().chars().take(12).collect();
        let (subject, outcome, ms) = (&event.subject, event.outcome, event.duration_ms);
        out(&format!("   {QUIET}{hash}{QUIET:#} {deed:<8} {subject:<20} {outcome:<14} {status:<4} {ms} ms"));
    }
    if !connector_core::audit::verify(&records, head) {
        return Err(Trouble::new("demo.audit", "the audit trail does not verify"));
    }
    say("head", &format!("{head} {GOOD}verified{GOOD:#}"));
    Ok(ExitCode::SUCCESS)
}

struct Shop {
    session: Session,
    contract: String,
}

impl Shop {
    /// Plans a call that a model wrote as text.
    fn plan(&self, call: &str) -> Result<PlanView, Refusal> {
        let (name, arguments) = split(call);
        self.session.plan(&ToolCall { name, arguments }, Some(&self.contract), Some("demo"))
    }

    async fn execute(&self, view: &PlanView, confirmation: Option<Sha256>) -> Result<Answer, Refusal> {
        let confirmation = confirmation.as_ref().map(Sha256::to_string);
        if confirmation.is_some() || view.needs_confirmation.is_empty() {
            say("call", &view.preview.tool);
            say("preview", "");
            show(view);
        }
        self.session.execute(&view.plan, confirmation.as_deref(), None, None).await
    }
}

/// The grant that a person gives: this server, on this device, and the token over `http`.
fn grant(server: &str) -> Result<Grant, Refusal> {
    let grant = object([
        ("origins", object([("server", server.into())])),
        ("settings", object([("timezone", "Europe/Berlin".into())])),
        ("loopback", true.into()),
        ("cleartextCredentials", true.into()),
    ]);
    Grant::read(&grant, &TrustLimits::default())
}

/// The name and the arguments of a call in the plain JSON form.
fn split(call: &str) -> (String, String) {
    let profile = Profile { max_bytes: 64 << 10, max_depth: 32, numbers: Numbers::Exact };
    let call = read_strict(call.as_bytes(), profile).unwrap_or(Value::Null);
    let name = call.get("name").and_then(Value::as_str).unwrap_or_default().to_owned();
    (name, call.get("arguments").map(Value::to_text).unwrap_or_default())
}

fn answered(answer: &Answer) {
    say("status", &answer.status.to_string());
    say("for the model", &answer.text);
}

/// Shows that an attack was refused with the code that is expected; anything else fails the demo.
fn attack(what: &str, how: &str, refusal: Option<Refusal>, expected: &str) -> Result<(), Trouble> {
    let Some(refusal) = refusal.filter(|refusal| refusal.code.as_str() == expected) else {
        return Err(Trouble::new("demo.attack", format!("{what}: expected {expected}")));
    };
    out(&format!("   {what}"));
    out(&format!("   {QUIET}{how}{QUIET:#}"));
    out(&format!("   {ERROR}refused{ERROR:#} {TITLE}{}{TITLE:#}: {}", refusal.code, refusal.reason));
    if let Some(advice) = &refusal.advice {
        out(&format!("   {QUIET}for the model:{QUIET:#} {advice}"));
    }
    out("");
    Ok(())
}

fn title(text: &str) {
    out(&format!("\n{TITLE}{text}{TITLE:#}\n"));
}

fn say(what: &str, text: &str) {
    out(&format!("   {QUIET}{what:<14}{QUIET:#} {text}"));
}
