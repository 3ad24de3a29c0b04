//! `connector preview`, `connector call` and `connector rpc`: one session each.

use std::io::{BufRead, IsTerminal, Read};
use std::path::Path;
use std::pin::pin;
use std::process::ExitCode;

use connector_core::call::ToolCall;
use connector_core::json::{Sha256, Value};
use connector_core::{Code, TrustLimits};
use connector_runtime::{PlanView, Session};

use crate::options::{block_on, open_options};
use crate::secret::SecretFlag;
use crate::source::{name_of, read, read_stdin};
use crate::style::{QUIET, TITLE, Trouble, WARNING, note, out, trouble};
use crate::{CallFlags, Format};

/// Shows the request of a call.
pub(crate) fn preview(flags: &CallFlags, format: Format) -> Result<ExitCode, Trouble> {
    let view = plan(flags, &[])?.1;
    match format {
        Format::Json => {
            let reasons = view.needs_confirmation.iter().map(|reason| reason.as_str().into()).collect();
            let mut preview = view.preview.to_value();
            if let Value::Object(members) = &mut preview {
                let _new = members.insert("needsConfirmation", Value::Array(reasons));
            }
            out(&preview.to_text());
        }
        Format::Text => {
            for line in preview_lines(&view) {
                out(&line);
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Sends a call.
pub(crate) fn call(flags: &CallFlags, secrets: &[String], yes: bool) -> Result<ExitCode, Trouble> {
    let (session, view) = plan(flags, secrets)?;
    let confirmation = if view.needs_confirmation.is_empty() {
        None
    } else {
        for line in preview_lines(&view) {
            note(&line);
        }
        confirmed(yes)?.then_some(view.digest)
    };
    let confirmation = confirmation.as_ref().map(Sha256::to_string);
    let running = async {
        let mut running = pin!(session.execute(&view.plan, confirmation.as_deref(), None, None));
        tokio::select! {
            answer = &mut running => (answer, None),
            signal = interrupted() => {
                session.cancel(&view.plan);
                (running.await, Some(signal))
            }
        }
    };
    let answer = match block_on(running)? {
        (Err(refusal), Some(signal)) => {
            // What became of the request is told; the status is the one that shells expect.
            trouble(&Trouble::from(refusal));
            return Ok(ExitCode::from(signal.saturating_add(128)));
        }
        (answer, _) => answer?,
    };
    out(&answer.text);
    if let Some(seconds) = answer.retry_after {
        note(&format!("The server asks to wait {seconds} s before another call."));
    }
    Ok(if answer.is_error { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// Waits for Ctrl-C or, where there is one, `SIGTERM`; gives its number.
async fn interrupted() -> u8 {
    const SIGINT: u8 = 2;
    let int = async {
        match tokio::signal::ctrl_c().await {
            Ok(()) => SIGINT,
            // Where it cannot be waited for, the system ends the process as ever.
            Err(_) => std::future::pending().await,
        }
    };
    #[cfg(unix)]
    {
        const SIGTERM: u8 = 15;
        let terminate = tokio::signal::unix::SignalKind::terminate();
        if let Ok(mut term) = tokio::signal::unix::signal(terminate) {
            return tokio::select! {
                signal = int => signal,
                _ = term.recv() => SIGTERM,
            };
        }
    }
    int.await
}

/// Serves the core to another program.
pub(crate) fn rpc(test_hooks: bool) -> Result<ExitCode, Trouble> {
    if test_hooks && !cfg!(feature = "test-hooks") {
        return Err(Trouble::usage("--test-hooks needs a build with the feature `test-hooks`"));
    }
    let served = block_on(crate::rpc::serve(test_hooks))?;
    served
        .map_err(|error| Trouble::new("output.failed", format!("the answers cannot be written: {error}")))?;
    Ok(ExitCode::SUCCESS)
}

/// Installs the manifest in a session of its own, sets the secrets and plans the call.
fn plan(flags: &CallFlags, secrets: &[String]) -> Result<(Session, PlanView), Trouble> {
    let limits = TrustLimits::default();
    let secrets = SecretFlag::read_all(secrets)?;
    if flags.arguments == "-" && flags.file == Path::new("-") {
        return Err(Trouble::usage("the manifest and the arguments cannot both come from stdin"));
    }
    let manifest = read(&flags.file, limits.manifest_bytes)?;
    let arguments = if flags.arguments == "-" {
        let bytes = read_stdin(limits.argument_bytes)?;
        let text = String::from_utf8(bytes);
        text.map_err(|_| Trouble::new(Code::CallInvalid.as_str(), "the arguments are not UTF-8"))?
    } else {
        flags.arguments.clone()
    };
    let session = Session::open(open_options(None, None, None, None).map_err(Trouble::usage)?);
    let source = format!("file:{}", name_of(&flags.file));
    let grant = flags.grant.grant(&manifest, &limits)?;
    let installed = session.install(&manifest, &source, grant, None)?;
    let named =
        |name: &str| name == flags.tool || name.split_once('.').is_some_and(|(_, tool)| tool == flags.tool);
    let Some((name, _)) = installed.tools.iter().find(|(name, _)| named(name)) else {
        let names: Vec<&str> = installed.tools.iter().map(|(name, _)| name.as_str()).collect();
        let trouble = Trouble::new(
            Code::CallNotExported.as_str(),
            format!("the manifest has no tool `{}`", flags.tool),
        );
        return Err(trouble.with_help(format!("it has {}", names.join(", "))));
    };
    // Before the plan: a call that may go without a credential is planned without the one that is not set.
    let connector = name.split_once('.').map_or("", |(connector, _)| connector);
    for flag in secrets {
        let set = session.set_credential(connector, flag.name, flag.secret()?);
        set.map_err(|refusal| Trouble::new(refusal.code.as_str(), refusal.reason))?;
    }
    let call = ToolCall { name: name.clone(), arguments };
    let view = session.plan(&call, Some(&installed.contract.to_string()), None)?;
    Ok((session, view))
}

/// The lines of a preview. Nothing of the manifest or the arguments writes lines or colours of its own: the display
/// form is escaped line by line.
pub(crate) fn preview_lines(view: &PlanView) -> Vec<String> {
    // Who, what, the request line; then the header fields, of which the transport fixes some.
    const HEAD: usize = 3;
    let fixed = |line: usize| {
        line.checked_sub(HEAD).and_then(|at| view.preview.headers.get(at)).is_some_and(|header| header.fixed)
    };
    let styled = |(index, line): (usize, &str)| match index {
        0 | 1 => format!("{QUIET}{line}{QUIET:#}"),
        2 => format!("{TITLE}{line}{TITLE:#}"),
        _ if fixed(index) => format!("{QUIET}{line}{QUIET:#}"),
        _ => line.to_owned(),
    };
    let mut lines: Vec<String> = view.preview.display().lines().enumerate().map(styled).collect();
    if !view.needs_confirmation.is_empty() {
        let reasons: Vec<&str> = view.needs_confirmation.iter().map(|reason| reason.as_str()).collect();
        lines.push(format!("{WARNING}needs a confirmation{WARNING:#}: {}", reasons.join(", ")));
    }
    lines
}

/// Whether a person confirms; without a terminal nobody can.
fn confirmed(yes: bool) -> Result<bool, Trouble> {
    if yes {
        return Ok(true);
    }
    if !std::io::stdin().is_terminal() {
        return Ok(false);
    }
    note("Send it? Write `yes`:");
    let mut line = String::new();
    let read = std::io::stdin().lock().take(64).read_line(&mut line);
    read.map_err(|error| Trouble::new(Code::FileUnreadable.as_str(), error.to_string()))?;
    Ok(line.trim() == "yes")
}
