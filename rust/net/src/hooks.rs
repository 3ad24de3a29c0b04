//! What tests put in the place of the network: scripted lookups and a map of addresses. The address guard
//! stays in force; only what lies behind it is replaced.

use std::collections::HashMap;
use std::fmt;
use std::future::pending;
use std::net::{IpAddr, SocketAddr, SocketAddrV6};
use std::sync::{Mutex, PoisonError};

use crate::error::ResolveError;
use crate::resolve::{Resolve, Resolving};

/// One scripted answer to a lookup.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Lookup {
    /// These addresses, in this order.
    Addresses(Vec<SocketAddr>),
    /// The name does not exist.
    NotFound,
    /// No answer, ever.
    Hang,
}

impl Lookup {
    /// An answer of literal addresses. An IPv6 address may carry a zone (`fe80::1%2`); one that is not a
    /// number is dropped.
    pub fn addresses<T: AsRef<str>>(texts: impl IntoIterator<Item = T>) -> Result<Self, String> {
        texts.into_iter().map(|text| address(text.as_ref())).collect::<Result<_, _>>().map(Self::Addresses)
    }
}

fn address(text: &str) -> Result<SocketAddr, String> {
    let (ip, zone) = text.split_once('%').map_or((text, None), |(ip, zone)| (ip, Some(zone)));
    let ip = ip.parse().map_err(|_| format!("{text:?} is not an address"))?;
    Ok(match (ip, zone) {
        (IpAddr::V6(ip), Some(zone)) => SocketAddrV6::new(ip, 0, 0, zone.parse().unwrap_or(0)).into(),
        (ip, _) => SocketAddr::new(ip, 0),
    })
}

/// A resolver that answers from a script, `host:port` by `host:port`: the answers in turn, the last for good.
/// A name without a script does not exist, unless all others have one too.
#[derive(Default)]
pub struct ScriptedResolver {
    script: HashMap<String, Vec<Lookup>>,
    otherwise: Vec<Lookup>,
    asked: Mutex<Vec<String>>,
}

impl fmt::Debug for ScriptedResolver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ScriptedResolver")
    }
}

impl ScriptedResolver {
    /// A resolver that knows no name.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds the answers for one `host:port`.
    pub fn with(mut self, host_and_port: &str, answers: Vec<Lookup>) -> Self {
        self.script.insert(host_and_port.to_owned(), answers);
        self
    }

    /// Sets the answers for every other name.
    pub fn otherwise(mut self, answers: Vec<Lookup>) -> Self {
        self.otherwise = answers;
        self
    }

    /// Every lookup so far, as `host:port`.
    pub fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Resolve for ScriptedResolver {
    fn resolve<'a>(&'a self, host: &'a str, port: u16) -> Resolving<'a> {
        Box::pin(async move {
            let key = format!("{host}:{port}");
            let answers = self.script.get(&key).unwrap_or(&self.otherwise);
            let turn = {
                let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
                asked.push(key.clone());
                asked.iter().filter(|earlier| **earlier == key).count() - 1
            };
            match answers.get(turn).or(answers.last()) {
                Some(Lookup::Addresses(addresses)) => Ok(addresses.clone()),
                Some(Lookup::Hang) => pending().await,
                Some(Lookup::NotFound) | None => Err(ResolveError::NotFound),
            }
        })
    }
}
