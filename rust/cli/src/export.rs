//! `connector tools` and `connector grammar`: what a model is shown, and what it may write.

use std::path::Path;
use std::process::ExitCode;

use connector_core::TrustLimits;
use connector_core::export::{Capabilities, ExportedTool, GrammarOptions, Mode, ToolChoice, ToolsExport};
use connector_core::toolset::Envelope;
use connector_runtime::Session;
use smol_str::{SmolStr, format_smolstr};

use crate::grant::GrantFlags;
use crate::options::open_options;
use crate::rpc::{grammar_value, schema_grammar_value, tools_value};
use crate::source::{name_of, read};
use crate::style::{QUIET, TITLE, Trouble, WARNING, note, out, safe};
use crate::{EnvelopeFlag, ExportFlags, Format, GrammarFlags, ToolsFlags};

/// Prints the tools as llama.rn takes them.
pub(crate) fn tools(flags: &ToolsFlags) -> Result<ExitCode, Trouble> {
    let (session, only) = session(&flags.export)?;
    let capabilities = Capabilities {
        tools: true,
        tool_calls: true,
        system_role: true,
        parallel_tool_calls: true,
        special_tokens: flags.special_token.iter().map(SmolStr::new).collect(),
    };
    let export = session.export_tools(&capabilities, only.as_deref(), flags.max_chars)?;
    match flags.format {
        Format::Json => out(&tools_value(&export).to_text()),
        Format::Text => print(&export),
    }
    Ok(ExitCode::SUCCESS)
}

fn print(export: &ToolsExport) {
    debug_assert!(export.mode == Mode::Tools);
    let mut chars = 0;
    for ExportedTool { name, model_name, value, changes, chars: of_tool } in &export.tools {
        chars += of_tool;
        out(&format!("{TITLE}{name}{TITLE:#} as {model_name}, {of_tool} characters"));
        out(&safe(&value.to_text()));
        for change in changes {
            let place = if change.pointer.is_empty() { "the whole" } else { &change.pointer };
            out(&format!("{QUIET}{}: {}{QUIET:#}", safe(place), safe(&change.reason)));
        }
    }
    out(&format!("{QUIET}{} tools, {chars} characters{QUIET:#}", export.tools.len()));
}

/// Prints a grammar of calls, or of the arguments of one tool.
pub(crate) fn grammar(flags: &GrammarFlags) -> Result<ExitCode, Trouble> {
    if let Some(tool) = &flags.arguments {
        return of_arguments(flags, tool);
    }
    let (session, only) = session(&flags.export)?;
    let choice = match flags.choice.as_str() {
        "auto" => ToolChoice::Auto,
        "none" => ToolChoice::None,
        "required" => ToolChoice::Required,
        name => ToolChoice::Named(full_name(&session, name)?),
    };
    let envelope = match flags.envelope {
        EnvelopeFlag::Hermes => Envelope::Hermes,
        EnvelopeFlag::Json => Envelope::Json,
    };
    let options = GrammarOptions { envelope, choice, parallel: flags.parallel };
    let export = session.export_grammar(&options, only.as_deref())?;
    if flags.format == Format::Json {
        out(&grammar_value(&export).to_text());
        return Ok(ExitCode::SUCCESS);
    }
    out(export.gbnf.trim_end());
    if export.lazy {
        note(&format!("{QUIET}lazy: begins at {}{QUIET:#}", export.triggers.join(", ")));
    }
    for (tool, wider) in &export.notes {
        wider_at(tool, wider);
    }
    Ok(ExitCode::SUCCESS)
}

fn of_arguments(flags: &GrammarFlags, tool: &str) -> Result<ExitCode, Trouble> {
    let (session, _) = session(&flags.export)?;
    let name = full_name(&session, tool)?;
    let listed = session.list()?;
    let found = listed.connectors.iter().find_map(|connector| connector.manifest().tool(&name));
    let Some(found) = found else { return Err(unknown(&session, tool)) };
    let grammar = found.parameters().schema().to_grammar()?;
    if flags.format == Format::Json {
        out(&schema_grammar_value(grammar).to_text());
        return Ok(ExitCode::SUCCESS);
    }
    out(grammar.text.trim_end());
    grammar.notes.iter().for_each(|wider| wider_at(&name, wider));
    Ok(ExitCode::SUCCESS)
}

fn wider_at(tool: &str, wider: &connector_core::schema::Note) {
    let place = format!("{tool}{}/{}", wider.pointer, wider.keyword);
    note(&format!("{WARNING}wider{WARNING:#} at {}: {}", safe(&place), wider.reason));
}

/// A session with the manifest, and the full names of the tools that were asked for.
fn session(flags: &ExportFlags) -> Result<(Session, Option<Vec<SmolStr>>), Trouble> {
    let limits = TrustLimits::default();
    let manifest = read(&flags.file, limits.manifest_bytes)?;
    let session = Session::open(open_options(None, None, None, None).map_err(Trouble::usage)?);
    install(&session, &flags.file, &manifest, &flags.grant, &limits)?;
    if flags.only.is_empty() {
        return Ok((session, None));
    }
    let only = flags.only.iter().map(|name| full_name(&session, name));
    let only = only.collect::<Result<Vec<_>, _>>()?;
    Ok((session, Some(only)))
}

fn install(
    session: &Session,
    file: &Path,
    manifest: &[u8],
    grant: &GrantFlags,
    limits: &TrustLimits,
) -> Result<(), Trouble> {
    let grant = grant.grant(manifest, limits)?;
    session.install(manifest, &format!("file:{}", name_of(file)), grant, None)?;
    Ok(())
}

/// The full name of a tool that is named alone or as `id.name`.
fn full_name(session: &Session, name: &str) -> Result<SmolStr, Trouble> {
    let listed = session.list()?;
    let is = |full: &str| full == name || full.split_once('.').is_some_and(|(_, tool)| tool == name);
    let found = listed.tools.iter().find(|tool| is(&tool.name));
    found.map(|tool| format_smolstr!("{}", tool.name)).ok_or_else(|| unknown(session, name))
}

fn unknown(session: &Session, name: &str) -> Trouble {
    let code = connector_core::Code::ExportUnknown.as_str();
    let trouble = Trouble::new(code, format!("the manifest has no tool `{name}`"));
    let names = session.list().map(|listed| listed.tools).unwrap_or_default();
    let names: Vec<String> = names.into_iter().map(|tool| tool.name).collect();
    trouble.with_help(format!("it has {}", names.join(", ")))
}
