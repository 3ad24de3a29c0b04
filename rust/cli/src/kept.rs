//! `connector install`, `remove`, `list` and `audit`: a session on a store each.

use std::io::{BufRead, IsTerminal, Read};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use connector_core::audit::Record;
use connector_core::grant::Grant;
use connector_core::json::{Numbers, Profile, Sha256, read_strict};
use connector_core::signature::{Policies, Policy, PublicKey, TrustedKeys};
use connector_core::{Code, Refusal, TrustLimits};
use connector_runtime::store::{HostFile, StoreOptions, Write};
use connector_runtime::{Installed, Offer, Session, SessionOptions};

use crate::Format;
use crate::grant::GrantFlags;
use crate::options::open_options;
use crate::review::{headline, page};
use crate::rpc;
use crate::source::{name_of, read};
use crate::style::{ERROR, GOOD, QUIET, TITLE, Trouble, WARNING, note, out, safe};

/// Where the store is. Its key, counter and audit head are in `FOLDER.host.json` beside it.
#[derive(clap::Args)]
pub(crate) struct StoreFlag {
    /// The folder of the store; its key is kept beside it, in FOLDER.host.json
    #[arg(long, value_name = "FOLDER")]
    pub(crate) store: PathBuf,
}

/// A manifest that is offered, and under what.
#[derive(clap::Args)]
pub(crate) struct OfferFlags {
    /// The manifest
    pub(crate) file: PathBuf,
    /// The label of where it comes from; an id stays with its first one
    #[arg(long, default_value = "local")]
    source: String,
    /// Its detached signature, a .minisig file
    #[arg(long, value_name = "FILE")]
    signature: Option<PathBuf>,
    /// A key that may sign for these connector ids; KEY is a minisign public key or its file
    #[arg(long, value_name = "KEY=ID[,ID]")]
    trust: Vec<String>,
    /// Refuses a manifest that comes without a signature
    #[arg(long)]
    require_signature: bool,
    #[command(flatten)]
    grant: GrantFlags,
    /// The whole grant as a JSON file, in place of the flags above
    #[arg(long = "grant", value_name = "FILE")]
    grant_file: Option<PathBuf>,
}

/// A manifest with everything that belongs to it, read from its files.
pub(crate) struct Offered {
    pub(crate) bytes: Vec<u8>,
    source: String,
    signature: Option<String>,
    /// None where no flag says anything: then an installed connector keeps its own.
    grant: Option<Grant>,
}

impl OfferFlags {
    /// Reads the files that the flags name.
    pub(crate) fn read(&self, limits: &TrustLimits) -> Result<Offered, Trouble> {
        let bytes = read(&self.file, limits.manifest_bytes)?;
        let signature = self.signature.as_deref().map(|file| text_of(file, 4_096)).transpose()?;
        let grant = match &self.grant_file {
            Some(_) if !self.grant.is_empty() => {
                return Err(Trouble::usage("--grant stands in place of --origin, --setting and --allow"));
            }
            Some(file) => {
                let text = read(file, limits.manifest_bytes)?;
                let profile =
                    Profile { max_bytes: text.len(), max_depth: limits.json_depth, numbers: Numbers::Exact };
                Some(Grant::read(&read_strict(&text, profile)?, limits)?)
            }
            None if self.grant.is_empty() => None,
            None => Some(self.grant.grant(&bytes, limits)?),
        };
        Ok(Offered { bytes, source: self.source.clone(), signature, grant })
    }

    /// The options of a session that judges signatures by these flags.
    pub(crate) fn options(&self) -> Result<SessionOptions, Trouble> {
        let mut options = open_options(None, None, None, None).map_err(Trouble::usage)?;
        let mut trusted = TrustedKeys::new();
        for flag in &self.trust {
            let usage = || Trouble::usage("--trust takes a key or its file, `=` and connector ids");
            // A key in base64 may end in `=` itself.
            let (key, ids) = flag
                .rsplit_once('=')
                .filter(|(key, ids)| !key.is_empty() && !ids.is_empty())
                .ok_or_else(usage)?;
            trusted = trusted.trust(public_key(key)?, ids.split(','));
        }
        options.trusted = trusted;
        if self.require_signature {
            options.policies = Policies { otherwise: Policy::Required, ..Policies::default() };
        }
        Ok(options)
    }
}

impl Offered {
    /// The offer; without a grant of its own under the one of the installed connector, or under the least.
    pub(crate) fn offer(&self, session: &Session) -> Result<Offer<'_>, Trouble> {
        let id = connector_core::manifest::check(&self.bytes, session.limits()).manifest;
        let id = id.map(|manifest| manifest.id().to_string()).unwrap_or_default();
        let grant = if let Some(grant) = &self.grant {
            grant.clone()
        } else {
            let listed = session.list()?;
            let installed = listed.connectors.iter().find(|connector| connector.id() == id);
            installed.map(|connector| connector.grant().clone()).unwrap_or_default()
        };
        let (manifest, source, signature) = (&*self.bytes, &*self.source, self.signature.as_deref());
        Ok(Offer { manifest, source, grant, signature })
    }
}

/// A public key by its text or its file.
pub(crate) fn public_key(key: &str) -> Result<PublicKey, Trouble> {
    match PublicKey::parse(key) {
        Ok(key) => Ok(key),
        Err(_) => Ok(PublicKey::parse(&text_of(Path::new(key), 4_096)?)?),
    }
}

/// A small text file.
pub(crate) fn text_of(file: &Path, limit: usize) -> Result<String, Trouble> {
    let not_text = |_| Trouble::new(Code::FileUnreadable.as_str(), format!("{} is not UTF-8", name_of(file)));
    String::from_utf8(read(file, limit)?).map_err(not_text)
}

/// A session on a store, and what this side keeps of it.
pub(crate) struct Kept {
    pub(crate) session: Session,
    host: HostFile,
    /// Whether the audit trail led to the kept head when the store was opened. A head of a trail that did not is not kept:
    /// the damage is told again by every command, until a person has looked at it.
    whole: bool,
}

impl Kept {
    /// Opens the store. Without `create` it must be there.
    pub(crate) fn open(flag: &StoreFlag, options: SessionOptions, create: bool) -> Result<Self, Trouble> {
        // No key is made for a folder that is only looked for.
        if !create && !flag.store.is_dir() {
            return Err(Refusal::new(Code::StoreFolder, "the store's folder does not exist").into());
        }
        let host = HostFile::of(&flag.store)?;
        let store =
            StoreOptions { seen: Some(host.counter()), create, ..StoreOptions::new(&flag.store, host.key()) };
        let session = Session::open_store(options, store)?;
        let verified = session.verify_audit(Some(host.audit_head()));
        let whole = verified.is_ok();
        for refusal in session.damage()?.into_iter().chain(verified.err()) {
            note(&format!("{WARNING}warning[{}]{WARNING:#}: {}", refusal.code, safe(&refusal.reason)));
        }
        for write in session.writes()?.iter().filter(|write| write.is_interrupted()) {
            let Write { tool, outcome, .. } = write;
            let outcome = outcome.as_str();
            note(&format!(
                "{WARNING}warning[{outcome}]{WARNING:#}: a call of {} was interrupted",
                safe(tool)
            ));
        }
        Ok(Self { session, host, whole })
    }

    /// Keeps what was seen, and closes the store.
    pub(crate) fn close(mut self) -> Result<(), Trouble> {
        if let Some(counter) = self.session.counter()? {
            let head = if self.whole { self.session.audit_head()? } else { self.host.audit_head() };
            self.host.keep(counter, head)?;
        }
        self.session.close();
        Ok(())
    }
}

/// Installs a manifest, or puts it in the place of the one that is installed. What a merge refuses is shown to a person,
/// who may let it through.
pub(crate) fn install(flags: &OfferFlags, store: &StoreFlag, yes: bool) -> Result<ExitCode, Trouble> {
    let limits = TrustLimits::default();
    let offered = flags.read(&limits)?;
    let kept = Kept::open(store, flags.options()?, true)?;
    let installed = merge(&kept.session, &offered, yes);
    let shown = installed.and_then(|installed| {
        let Installed { contract, tools } = installed;
        let listed = kept.session.list()?;
        let id = tools.first().and_then(|(name, _)| name.split_once('.')).map_or("", |(id, _)| id);
        if let Some(connector) = listed.connectors.iter().find(|connector| connector.id() == id) {
            let version = safe(connector.manifest().version());
            out(&format!("{GOOD}installed{GOOD:#} {TITLE}{id}{TITLE:#} {version}"));
        }
        for (name, hash) in &tools {
            out(&format!("  {name}  {QUIET}{hash}{QUIET:#}"));
        }
        out(&format!("{QUIET}contract{QUIET:#}  {contract}"));
        Ok(())
    });
    let closed = kept.close();
    shown.and(closed).map(|()| ExitCode::SUCCESS)
}

fn merge(session: &Session, offered: &Offered, yes: bool) -> Result<Installed, Trouble> {
    let seen = session.list()?.contract.to_string();
    let offer = offered.offer(session)?;
    let refusal = match session.install_offer(&offer, Some(&seen), None) {
        Ok(installed) => return Ok(installed),
        Err(refusal) => refusal,
    };
    let reviewable = matches!(
        refusal.code,
        Code::MergeSource
            | Code::MergeSupersedes
            | Code::MergeWidening
            | Code::MergeUndecided
            | Code::MergeRequired
            | Code::MergeChanged
            | Code::GrantWider
    );
    if !reviewable {
        return Err(refusal.into());
    }
    let reviewed = session.review(&offer)?;
    note(&headline(session, &offer, &reviewed));
    for line in page(&reviewed) {
        note(&line);
    }
    if !approved(yes)? {
        let trouble = Trouble::from(refusal);
        return Err(trouble.with_help("answer `yes` in a terminal, or install with --yes"));
    }
    Ok(session.install_offer(&offer, Some(&seen), Some(&reviewed.approval))?)
}

/// Whether a person lets the differences through; without a terminal nobody can.
fn approved(yes: bool) -> Result<bool, Trouble> {
    if yes {
        return Ok(true);
    }
    if !std::io::stdin().is_terminal() {
        return Ok(false);
    }
    note("Let all of this through? Write `yes`:");
    let mut line = String::new();
    let read = std::io::stdin().lock().take(64).read_line(&mut line);
    read.map_err(|error| Trouble::new(Code::FileUnreadable.as_str(), error.to_string()))?;
    Ok(line.trim() == "yes")
}

/// Removes a connector.
pub(crate) fn remove(id: &str, store: &StoreFlag) -> Result<ExitCode, Trouble> {
    let kept = Kept::open(store, open_options(None, None, None, None).map_err(Trouble::usage)?, false)?;
    let removed = kept.session.remove(id, None);
    let closed = kept.close();
    removed?;
    closed?;
    out(&format!(
        "{GOOD}removed{GOOD:#} {TITLE}{}{TITLE:#}; its source and its tools stay remembered",
        safe(id)
    ));
    Ok(ExitCode::SUCCESS)
}

/// Lists what is installed. Status 1 when something of it cannot be used.
pub(crate) fn list(store: &StoreFlag, format: Format) -> Result<ExitCode, Trouble> {
    let kept = Kept::open(store, open_options(None, None, None, None).map_err(Trouble::usage)?, false)?;
    let listed = kept.session.list()?;
    if format == Format::Json {
        out(&rpc::list(&kept.session)?.to_text());
    } else {
        for connector in &listed.connectors {
            let manifest = connector.manifest();
            let (id, version, title) = (connector.id(), safe(manifest.version()), safe(manifest.title()));
            out(&format!("{TITLE}{id}{TITLE:#} {version}  {title}"));
            let signed = connector.key().map_or_else(String::new, |key| format!(", signed by {key}"));
            out(&format!("  {QUIET}from {}{signed}{QUIET:#}", safe(connector.source())));
            let tools = listed
                .tools
                .iter()
                .filter(|tool| tool.name.split_once('.').is_some_and(|(owner, _)| owner == id));
            for tool in tools {
                out(&format!("  {}  {QUIET}{}{QUIET:#}", tool.name, tool.effect_hash));
            }
        }
        for (id, refusal) in &listed.broken {
            out(&format!(
                "{ERROR}{id} cannot be used{ERROR:#} [{}]: {}",
                refusal.code,
                safe(&refusal.reason)
            ));
        }
        out(&format!("{QUIET}contract{QUIET:#}  {}", listed.contract));
    }
    kept.close()?;
    Ok(if listed.broken.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Prints the audit trail.
pub(crate) fn audit(store: &StoreFlag, format: Format) -> Result<ExitCode, Trouble> {
    let kept = Kept::open(store, open_options(None, None, None, None).map_err(Trouble::usage)?, false)?;
    if format == Format::Json {
        out(&rpc::audit(&kept.session)?.to_text());
    } else {
        let (records, head) = kept.session.audit()?;
        for record in &records {
            out(&row(record));
        }
        out(&format!("{QUIET}head{QUIET:#}  {head}"));
    }
    kept.session.close();
    Ok(ExitCode::SUCCESS)
}

fn row(record: &Record) -> String {
    let event = &record.event;
    let status = event.status.map_or_else(String::new, |status| format!(" {status}"));
    let (time, deed) = (time(event.time_ms), event.deed.as_str());
    let (sequence, subject) = (record.sequence, safe(&event.subject));
    format!("{QUIET}{sequence:>6}  {time}{QUIET:#}  {deed:<7}  {subject}  {}{status}", safe(&event.outcome))
}

/// A time of the wall clock, RFC 3339 in UTC to the second.
fn time(ms: u64) -> String {
    let seconds = ms / 1_000;
    let (days, rest) = (seconds / 86_400, seconds % 86_400);
    // Days from 1970 to a date of the Gregorian calendar: years that begin in March, in eras of 400.
    let shifted = days + 719_468;
    let (era, day) = (shifted / 146_097, shifted % 146_097);
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let (date, month, year) = (
        day - (153 * month + 2) / 5 + 1,
        if month < 10 { month + 3 } else { month - 9 },
        year + era * 400 + u64::from(month >= 10),
    );
    format!("{year:04}-{month:02}-{date:02}T{:02}:{:02}:{:02}Z", rest / 3_600, rest / 60 % 60, rest % 60)
}

/// Checks the chain of the audit trail, against the head that was kept, or one that is given.
pub(crate) fn verify_audit(store: &StoreFlag, head: Option<&str>) -> Result<ExitCode, Trouble> {
    let head = head
        .map(|head| Sha256::parse(head).ok_or_else(|| Trouble::usage("--head takes a hash in hexadecimal")));
    let head = head.transpose()?;
    let mut kept = Kept::open(store, open_options(None, None, None, None).map_err(Trouble::usage)?, false)?;
    let verified = kept.session.verify_audit(Some(head.unwrap_or(kept.host.audit_head())))?;
    // Whoever names a head has looked: from here on the trail is followed from there.
    kept.whole |= head.is_some();
    out(&format!(
        "{GOOD}whole{GOOD:#}: {} records, {} older ones dropped, head {}",
        verified.kept, verified.dropped, verified.head
    ));
    kept.close()?;
    Ok(ExitCode::SUCCESS)
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_time_is_shown_as_a_date() {
        for (ms, text) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_399_999, "2000-02-28T23:59:59Z"),
            (951_782_400_000, "2000-02-29T00:00:00Z"),
            (1_709_251_199_000, "2024-02-29T23:59:59Z"),
            (1_735_689_599_000, "2024-12-31T23:59:59Z"),
            (4_107_542_400_000, "2100-03-01T00:00:00Z"),
        ] {
            assert_eq!(super::time(ms), text);
        }
    }
}
