//! What tests put in the place of the network.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use connector_core::json::Value;
use connector_runtime::hooks::{Lookup, ScriptedResolver};
use connector_runtime::{ClientOptions, Trust};

/// Sets test roots, scripted lookups and the map of addresses.
pub(crate) fn apply(
    mut network: ClientOptions,
    roots: Option<&str>,
    resolve: Option<&Value>,
    connect: Option<&Value>,
) -> Result<ClientOptions, String> {
    if let Some(pem) = roots {
        network.trust = Trust::pem(pem).map_err(|_| "/testRoots: no certificate in PEM".to_owned())?;
    }
    if let Some(script) = resolve {
        let script = script.as_object().ok_or("/testResolve: expected an object")?;
        let mut resolver = ScriptedResolver::new();
        for (name, answers) in script.iter() {
            let answers = answers.as_array().ok_or("/testResolve: expected a list of answers")?;
            let answers = answers.iter().map(lookup).collect::<Result<_, _>>()?;
            resolver = if name == "*" { resolver.otherwise(answers) } else { resolver.with(name, answers) };
        }
        network.resolver = Arc::new(resolver);
    }
    if let Some(map) = connect {
        let map = map.as_object().ok_or("/testConnect: expected an object")?;
        for (from, to) in map.iter() {
            let to = to.as_str().and_then(socket).ok_or("/testConnect: expected `ip:port`")?;
            if from == "*" {
                network.connect_elsewhere = Some(to);
                continue;
            }
            let from = socket(from).ok_or("/testConnect: expected `ip:port`")?;
            network.connect_map.insert(from, to);
        }
    }
    Ok(network)
}

fn lookup(answer: &Value) -> Result<Lookup, String> {
    match answer {
        Value::String(word) if word == "nxdomain" => Ok(Lookup::NotFound),
        Value::String(word) if word == "hang" => Ok(Lookup::Hang),
        Value::Array(addresses) => {
            let texts: Option<Vec<&str>> = addresses.iter().map(Value::as_str).collect();
            Lookup::addresses(texts.ok_or("/testResolve: an address is a string")?)
        }
        _ => Err("/testResolve: an answer is a list of addresses, `nxdomain` or `hang`".to_owned()),
    }
}

/// `1.2.3.4:80`, `[::1]:80` and `::1:80`.
fn socket(text: &str) -> Option<SocketAddr> {
    text.parse().ok().or_else(|| {
        let (ip, port) = text.rsplit_once(':')?;
        Some(SocketAddr::new(ip.parse::<IpAddr>().ok()?, port.parse().ok()?))
    })
}
