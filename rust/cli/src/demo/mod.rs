//! `connector demo`: the whole path once, on this machine, and three attacks that it refuses.

mod api;
mod page;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use connector_core::call::ToolCall;
use connector_core::grant::Grant;
use connector_core::json::{Numbers, Profile, Sha256, Value, read_strict};
use connector_core::manifest::{Effect, check};
use connector_core::{Refusal, TrustLimits};
use connector_runtime::{Answer, PlanView, Secret, Session};
use connector_testkit::Server;

use self::page::{line, preview, say, step, trail};
use crate::options::{block_on, open_options};
use crate::rpc::object;
use crate::source::read;
use crate::style::{ERROR, GOOD, TITLE, Trouble, out};

/// Where the demo's manifest lies in this project.
const MANIFEST: &str = "example/connectors/vikunja.json";

/// Runs the demo with a manifest that talks to a Vikunja server; without one, with that of this project, found
/// from any folder in it.
pub(crate) fn demo(manifest: Option<PathBuf>) -> Result<ExitCode, Trouble> {
    let given = manifest.is_some();
    let path = manifest.or_else(find).unwrap_or_else(|| PathBuf::from(MANIFEST));
    block_on(async {
        let api = api::start().await.map_err(|error| Trouble::new("demo.api", error.to_string()))?;
        run(&api, &path).await
    })?
    .map_err(
        |trouble| if given { trouble } else { trouble.with_help("run it in the folder of this project") },
    )
}

fn find() -> Option<PathBuf> {
    let here = std::env::current_dir().ok()?;
    let path = here.ancestors().map(|folder| folder.join(MANIFEST)).find(|path| path.is_file())?;
    // In the folder of the project itself, as it is written there.
    Some(path.strip_prefix(&here).map(Path::to_owned).unwrap_or(path))
}

async fn run(api: &Server, path: &Path) -> Result<ExitCode, Trouble> {
    let stage = install(api, path)?;

    step(2, "A model reads: its call is checked, planned and sent; it gets clean text");
    let call = r#"{"name": "vikunja.list_tasks", "arguments": {}}"#;
    say("model calls", call);
    let view = stage.plan(call)?;
    preview(&view);
    answered(&stage.execute(&view, None).await?);

    step(3, "A model writes: a person confirms what goes on the wire, byte for byte");
    let call =
        r#"{"name": "vikunja.create_task", "arguments": {"project_id": 1, "title": "Buy tea / milk? 100%"}}"#;
    say("model calls", call);
    let view = stage.plan(call)?;
    preview(&view);
    say("person says", &format!("yes, to {}", view.digest));
    answered(&stage.execute(&view, Some(view.digest)).await?);

    step(4, "Three attacks");
    attacks(api, &stage).await?;

    step(5, "The audit trail: what was done, without a value or a secret");
    let (records, head) = stage.session.audit()?;
    trail(&records);
    if !connector_core::audit::verify(&records, head) {
        return Err(Trouble::new("demo.audit", "the audit trail does not verify"));
    }
    out("");
    line(&format!("{GOOD}verified{GOOD:#}     {head}"));
    Ok(ExitCode::SUCCESS)
}

/// Checks and installs the manifest, and shows what it brings.
fn install(api: &Server, path: &Path) -> Result<Stage, Trouble> {
    let server = format!("http://{}", api.address());
    let limits = TrustLimits::default();
    let manifest = read(path, limits.manifest_bytes)?;
    let session = Session::open(open_options(None, None, None, None).map_err(Trouble::usage)?);
    let installed = session.install(&manifest, &format!("file:{}", path.display()), grant(&server)?, None)?;
    session.set_credential("vikunja", "token", Secret::new(api::TOKEN.to_owned()))?;

    step(1, "A manifest is checked and installed");
    say("manifest", &path.display().to_string());
    say("server", &format!("{server}, a small real HTTP API in this process"));
    say("grant", "this server, loopback, the token over http; nothing else");
    let checked = check(&manifest, &limits).manifest;
    let tools = |effect: Effect| {
        let tools = checked.iter().flat_map(|manifest| manifest.tools());
        let named = tools.filter(|tool| tool.effect() == effect).map(|tool| tool.name().as_str());
        named.collect::<Vec<_>>().join(", ")
    };
    say("it reads", &tools(Effect::Read));
    say("it writes", &tools(Effect::Write));
    say("it destroys", &tools(Effect::Destructive));
    say("contract", &installed.contract.to_string());
    Ok(Stage { session, contract: installed.contract.to_string() })
}

/// An attack by a call, or by the answer to it, and the code with which it must be refused.
struct Attack {
    who: &'static str,
    call: &'static str,
    answer: Option<&'static str>,
    code: &'static str,
}

async fn attacks(api: &Server, stage: &Stage) -> Result<(), Trouble> {
    let before = api.log().requests().len();
    let attack = Attack {
        who: "A steered model puts a path into an argument",
        call: r#"{"name": "vikunja.get_task", "arguments": {"task_id": "1/../../users"}}"#,
        answer: None,
        code: "call.arguments",
    };
    attack.refused(stage.plan(attack.call).err())?;
    let attack = Attack {
        who: "A steered model deletes, and nobody confirmed",
        call: r#"{"name": "vikunja.delete_task", "arguments": {"task_id": 1}}"#,
        answer: None,
        code: "plan.confirmation_required",
    };
    let view = stage.plan(attack.call)?;
    out("");
    attack.refused(stage.execute(&view, None).await.err())?;
    if api.log().requests().len() != before {
        return Err(Trouble::new("demo.leak", "a refused call reached the server"));
    }
    out("");
    line(&format!("{GOOD}of these two, not one byte left the device{GOOD:#}"));
    out("");
    let attack = Attack {
        who: "A server that was taken over lures the call to the cloud's metadata service",
        call: r#"{"name": "vikunja.get_me", "arguments": {}}"#,
        answer: Some(api::LURE),
        code: "net.redirect",
    };
    let view = stage.plan(attack.call)?;
    attack.refused(stage.execute(&view, None).await.err())
}

impl Attack {
    /// Shows that the attack was refused with the code that is expected; anything else fails the demo.
    fn refused(&self, refusal: Option<Refusal>) -> Result<(), Trouble> {
        let Self { who, call, answer, code } = self;
        let Some(refusal) = refusal.filter(|refusal| refusal.code.as_str() == *code) else {
            return Err(Trouble::new("demo.attack", format!("{who}: expected {code}")));
        };
        line(&format!("{TITLE}{who}{TITLE:#}"));
        say("model calls", call);
        if let Some(answer) = answer {
            say("server says", answer);
        }
        line(&format!("{ERROR}refused{ERROR:#}      {TITLE}{code}{TITLE:#}"));
        say("", &refusal.reason);
        if let Some(advice) = &refusal.advice {
            say("model reads", advice);
        }
        Ok(())
    }
}

/// The session of the demo, and the contract under which its model calls.
struct Stage {
    session: Session,
    contract: String,
}

impl Stage {
    /// Plans a call that a model wrote as text.
    fn plan(&self, call: &str) -> Result<PlanView, Refusal> {
        let (name, arguments) = split(call);
        self.session.plan(&ToolCall { name, arguments }, Some(&self.contract), Some("demo"))
    }

    async fn execute(&self, view: &PlanView, confirmation: Option<Sha256>) -> Result<Answer, Refusal> {
        let confirmation = confirmation.as_ref().map(Sha256::to_string);
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
    say("model reads", &answer.text);
}
