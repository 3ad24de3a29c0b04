//! How sessions are opened.

use connector_core::TrustLimits;
use connector_core::json::Value;
use connector_runtime::{ClientOptions, SessionOptions, Trust};

use crate::style::Trouble;

/// The options of a session; the last three are for tests.
pub(crate) fn open_options(
    limits: Option<&Value>,
    test_roots: Option<&str>,
    test_resolve: Option<&Value>,
    test_connect: Option<&Value>,
) -> Result<SessionOptions, String> {
    let network = ClientOptions::new(Trust::platform());
    #[cfg(feature = "test-hooks")]
    let network = crate::hooks::apply(network, test_roots, test_resolve, test_connect)?;
    #[cfg(not(feature = "test-hooks"))]
    debug_assert!(test_roots.is_none() && test_resolve.is_none() && test_connect.is_none());
    let limits = limits.map_or_else(|| Ok(TrustLimits::default()), read_limits)?;
    Ok(SessionOptions { limits, ..SessionOptions::new(network) })
}

/// Limits that a host sets; each one by its name in camel case, times in milliseconds.
pub(crate) fn read_limits(value: &Value) -> Result<TrustLimits, String> {
    let mut limits = TrustLimits::default();
    let Some(object) = value.as_object() else { return Err("/limits: expected an object".into()) };
    for (name, value) in object.iter() {
        let number = value.as_number().and_then(connector_core::json::Number::as_integer);
        let Some(number) = number.and_then(|number| u64::try_from(number).ok()) else {
            return Err(format!("/limits/{name}: expected a whole number"));
        };
        limits.set(name, number).map_err(|fault| format!("/limits/{name}: {fault}"))?;
    }
    Ok(limits)
}

/// Runs a future to its end on a runtime of its own.
pub(crate) fn block_on<F: Future>(future: F) -> Result<F::Output, Trouble> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let runtime = runtime.map_err(|error| Trouble::new("runtime", error.to_string()))?;
    Ok(runtime.block_on(future))
}
