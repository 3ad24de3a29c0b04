//! Objects with fixed members.

use super::{Reading, SHAPE_MISSING, SHAPE_TYPE, SHAPE_UNKNOWN, Shape};
use crate::json::{Object, Path, Quoted, Value};

/// The members of an object, or a finding.
pub fn object<'v>(value: &'v Value, at: &Path<'_>, reading: &mut Reading<'_>) -> Option<&'v Object> {
    let object = value.as_object();
    if object.is_none() {
        let kind = value.kind();
        reading.findings.add(&SHAPE_TYPE, at, format_args!("expected an object, found {kind}"));
    }
    object
}

/// Reports every member that is not one of `names`.
pub fn known_members(object: &Object, names: &[&str], at: &Path<'_>, reading: &mut Reading<'_>) {
    for name in object.keys().filter(|name| !names.contains(&name.as_str())) {
        let message =
            format_args!("the format has no member {} here; it has {}", Quoted(name), Listed(names));
        reading.findings.add_name(&SHAPE_UNKNOWN, &at.name(name), message);
    }
}

/// Reads one member; an absent one reads as the type says, or is a finding at the object.
pub fn member<T: Shape>(object: &Object, name: &str, at: &Path<'_>, reading: &mut Reading<'_>) -> Option<T> {
    if let Some(value) = object.get(name) {
        return T::read(value, &at.name(name), reading);
    }
    let absent = T::absent();
    if absent.is_none() {
        reading.findings.add(&SHAPE_MISSING, at, format_args!("the member `{name}` is missing"));
    }
    absent
}

struct Listed<'a>(&'a [&'a str]);

impl std::fmt::Display for Listed<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (at, name) in self.0.iter().enumerate() {
            write!(f, "{}`{name}`", if at == 0 { "" } else { ", " })?;
        }
        Ok(())
    }
}
