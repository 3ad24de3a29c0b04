//! `connector preview`, `connector call` and `connector rpc`: one session each.

use std::io::{BufRead, IsTerminal, Read};
use std::process::ExitCode;

use connector_core::TrustLimits;
use connector_core::call::ToolCall;
use connector_core::json::Sha256;
use connector_runtime::{PlanView, Secret, Session};

use crate::options::{block_on, open_options};
use crate::source::{read, read_stdin};
use crate::style::{QUIET, TITLE, Trouble, WARNING, out};
use crate::{CallFlags, Format};

/// Shows the request of a call.
pub(crate) fn preview(flags: &CallFlags, format: Format) -> Result<ExitCode, Trouble> {
    let (_, view) = plan(flags)?;
    match format {
        Format::Json => out(&view.preview.to_value().to_text()),
        Format::Text => show(&view),
    }
    Ok(ExitCode::SUCCESS)
}

/// Sends a call.
pub(crate) fn call(flags: &CallFlags, secrets: &[String], yes: bool) -> Result<ExitCode, Trouble> {
    let (session, view) = plan(flags)?;
    let connector = view.preview.connector.clone();
    for secret in secrets {
        let (name, secret) = read_secret(secret)?;
        session.set_credential(&connector, &name, secret)?;
    }
    let confirmation = if view.needs_confirmation.is_empty() {
        None
    } else {
        show(&view);
        confirmed(yes)?.then_some(view.digest)
    };
    let confirmation = confirmation.as_ref().map(Sha256::to_string);
    let answer = block_on(session.execute(&view.plan, confirmation.as_deref(), None, None))??;
    out(&answer.text);
    Ok(if answer.is_error { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// Serves the core to another program.
pub(crate) fn rpc(test_hooks: bool) -> Result<ExitCode, Trouble> {
    if test_hooks && !cfg!(feature = "test-hooks") {
        return Err(Trouble::usage("--test-hooks needs a build with the feature `test-hooks`"));
    }
    block_on(crate::rpc::serve(test_hooks))?
        .map_err(|error| Trouble::new("rpc.output", error.to_string()))?;
    Ok(ExitCode::SUCCESS)
}

/// Installs the manifest in a session of its own and plans the call.
fn plan(flags: &CallFlags) -> Result<(Session, PlanView), Trouble> {
    let limits = TrustLimits::default();
    let manifest = read(&flags.file, limits.manifest_bytes)?;
    let arguments = if flags.arguments == "-" {
        let bytes = read_stdin(limits.argument_bytes)?;
        String::from_utf8(bytes).map_err(|_| Trouble::new("call.invalid", "the arguments are not UTF-8"))?
    } else {
        flags.arguments.clone()
    };
    let session = Session::open(open_options(None, None, None, None).map_err(Trouble::usage)?);
    let source = format!("file:{}", flags.file.display());
    let grant = flags.grant.grant(&manifest, &limits)?;
    let installed = session.install(&manifest, &source, grant, None)?;
    let named =
        |name: &str| name == flags.tool || name.split_once('.').is_some_and(|(_, tool)| tool == flags.tool);
    let Some((name, _)) = installed.tools.into_iter().find(|(name, _)| named(name)) else {
        return Err(Trouble::new("call.not_exported", format!("the manifest has no tool `{}`", flags.tool)));
    };
    let call = ToolCall { name, arguments };
    let view = session.plan(&call, Some(&installed.contract.to_string()), None)?;
    Ok((session, view))
}

/// Prints a preview.
pub(crate) fn show(view: &PlanView) {
    let mut lines = view.preview.display.trim_end().lines();
    for line in lines.by_ref().take(2) {
        out(&format!("{QUIET}{line}{QUIET:#}"));
    }
    for (index, line) in lines.enumerate() {
        out(&if index == 0 { format!("{TITLE}{line}{TITLE:#}") } else { line.to_owned() });
    }
    if !view.needs_confirmation.is_empty() {
        let reasons: Vec<&str> = view.needs_confirmation.iter().map(|reason| reason.as_str()).collect();
        out(&format!("{WARNING}needs a confirmation{WARNING:#}: {}", reasons.join(", ")));
    }
}

fn confirmed(yes: bool) -> Result<bool, Trouble> {
    if yes {
        return Ok(true);
    }
    if !std::io::stdin().is_terminal() {
        return Ok(false);
    }
    out("Send it? Write `yes`:");
    let mut line = String::new();
    let read = std::io::stdin().lock().take(64).read_line(&mut line);
    read.map_err(|error| Trouble::new("file.unreadable", error.to_string()))?;
    Ok(line.trim() == "yes")
}

/// Reads a secret from where the flag says; it never stands on the command line itself.
fn read_secret(flag: &str) -> Result<(String, Secret), Trouble> {
    let usage = || Trouble::usage("--secret takes NAME=env:VARIABLE, NAME=fd:NUMBER or NAME=prompt");
    let (name, from) = flag.split_once('=').ok_or_else(usage)?;
    let text = if let Some(variable) = from.strip_prefix("env:") {
        std::env::var(variable)
            .map_err(|_| Trouble::new("credential.missing", format!("the variable {variable} is not set")))?
    } else if let Some(number) = from.strip_prefix("fd:").filter(|number| number.parse::<u16>().is_ok()) {
        let bytes = read(std::path::Path::new(&format!("/dev/fd/{number}")), 64 << 10)?;
        let text = String::from_utf8(bytes);
        let text = text.map_err(|_| Trouble::new("credential.invalid", "the secret is not UTF-8"))?;
        text.trim_end_matches(['\r', '\n']).to_owned()
    } else if from == "prompt" {
        rpassword::prompt_password(format!("{name}: "))
            .map_err(|_| Trouble::new("credential.missing", "there is no terminal to ask for the secret"))?
    } else {
        return Err(usage());
    };
    Ok((name.to_owned(), Secret::new(text)))
}
