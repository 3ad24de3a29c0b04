//! The rules that span the parts of a manifest.

mod annotations;
mod names;
mod slots;
mod tool;
mod uses;

pub(super) use annotations::check_annotations;
pub(super) use names::check_names;
pub(super) use slots::check_slots;
pub(super) use tool::check_tool;
pub(super) use uses::Uses;

use crate::rules;

rules! {
    // The document.
    MANIFEST_VERSION: Error "manifest.manifest_version", "`manifestVersion` is the token `1`.",
        "Write `\"manifestVersion\": 1`. A file of another version is not judged at all: this core would read it wrong.";
    VERSION: Error "manifest.version", "`version` is 1 to 64 of `[0-9A-Za-z.+-]`.", "Write a version such as `1.2.0`.";
    HOMEPAGE: Error "manifest.homepage", "`homepage` is an https URL in the spelling of the URL standard, without user name and password.",
        "Write the address as a browser shows it, with an international host in its `xn--` form. It is shown and never fetched.";
    SUPERSEDES: Error "manifest.supersedes", "`supersedes` is a SHA-256 as 64 lower-case hexadecimal digits.",
        "Write the hash of the exact bytes of the manifest that this one replaces.";
    TOOL_COUNT: Error "manifest.tools", "A manifest has 1 to 512 tools.", "Add a tool, or split the connector.";
    FULL_NAME: Error "name.full_length", "The full name `id.name` of a tool is at most 128 characters together.", "Shorten the id or the name of the tool.";

    // Declared and used.
    ORIGIN_UNUSED: Error "manifest.unused_origin", "Each origin is used by a tool.", "Remove the origin; a person would be asked to allow it for nothing.";
    SETTING_UNUSED: Error "manifest.unused_setting", "Each setting is used by a tool.", "Remove the setting; a person would be asked for it for nothing.";
    CREDENTIAL_UNUSED: Error "manifest.unused_credential", "Each credential is used by a tool.", "Remove the credential; a person would be asked for a secret for nothing.";
    ORIGIN_UNKNOWN: Error "manifest.unknown_origin", "An origin is named as `origins` declares it.", "Correct the name, or declare the origin in `origins`.";
    SETTING_UNKNOWN: Error "manifest.unknown_setting", "A `$setting` slot names a setting that `settings` declares.", "Correct the name, or declare the setting in `settings`.";
    CREDENTIAL_UNKNOWN: Error "manifest.unknown_credential", "A `$credential` slot names a credential that `credentials` declares.", "Correct the name, or declare the credential in `credentials`.";
    CREDENTIAL_FOREIGN: Error "manifest.foreign_credential", "A request uses only credentials of its own origin.",
        "Declare a credential of its own for this origin; a secret goes to the server that it was given for and to no other.";
    CREDENTIAL_OPTIONAL: Error "manifest.credential_not_optional", "`absent` on a credential slot needs an optional credential.",
        "Add `\"optional\": true` to the credential, or remove `absent` from the slot.";
    // Parameters and slots.
    PARAMETER_UNUSED: Error "parameters.unused_property", "Each property of the parameters fills a slot.",
        "Use the property in the request, or remove it: a schema may not offer what the request drops.";
    PARAMETER_UNDECLARED: Error "parameters.undeclared_members", "The parameters take declared properties only.",
        "Remove `additionalProperties` or set it to false, and list every property: a schema may not offer what the request drops.";
    PARAMETER_UNKNOWN: Error "parameters.unknown_property", "A `$param` slot names a top-level property of the parameters.",
        "Correct the name, or add the property to `parameters`.";
    PARAMETER_TYPE: Error "parameters.type", "Every type that a property can have fits the position of its slots.",
        "Path, header and text take string, integer, number and boolean; query and form also an array of those with `array`, or a \
         boolean with `flag`. Narrow the type in the schema, or move the slot to a JSON position.";
    PARAMETER_REQUIRED: Error "parameters.required", "The property of a path slot is required.",
        "Add the property to `required`; a path without it would be another path.";
    PARAMETER_NULLABLE: Error "parameters.nullable", "The property of a path slot is not null.", "Remove `null` from the types of the property.";
    PARAMETER_ABSENT: Error "parameters.absent", "A slot whose property may be missing, or null outside a JSON position, says `\"absent\": \"omit\"`.",
        "Add `\"absent\": \"omit\"` to the slot, or make the property required and not nullable: what happens without a value must stand in the manifest.";
    PARAMETER_ABSENT_DESTRUCTIVE: Error "parameters.absent_destructive", "No query slot of a destructive tool is left out.",
        "Make the property required and remove `absent`: without the pair the server may take more than was meant.";
    PARAMETER_MIN_ITEMS: Error "parameters.min_items", "An array in a query or form has at least one item.",
        "Add `\"minItems\": 1` to the array: no pair is the same as an array that was left out.";
    PARAMETER_OMIT_NEEDLESS: Warning "parameters.needless_omit", "A slot says what is left out only where something can be.",
        "Remove the option, or make the property optional.";

    // Settings: as declared, and as the person gives them.
    SETTING_CHOICES: Error "setting.choices", "The `choices` of a setting are different strings, not empty and without control characters, and each can fill its slots.",
        "Remove or correct the choice.";
    SETTING_CHOICES_OR_TYPE: Error "setting.choices_or_type", "A setting is an integer or has `choices`, not both.", "Remove one of the two members.";
    SETTING_MISSING: Error "setting.missing", "Each setting is given when the connector is installed.", "Ask the person for the value and put it into `settings` of the grant.";
    SETTING_UNDECLARED: Error "setting.undeclared", "Only settings of the manifest are given.", "Leave the name out of `settings` of the grant.";
    SETTING_VALUE: Error "setting.value", "A setting is of its type, not empty, one of its `choices`, and can stand in every slot that it fills.",
        "Ask the person for another value.";

    // Effect and limits.
    EFFECT_METHOD: Error "tool.effect", "PUT and PATCH are never `read`, and DELETE is `destructive`.",
        "Declare the effect that the method has; a person decides by it.";
    LIMIT_CEILING: Error "limits.ceiling", "Limits only lower the ceilings of the host.", "Use a number up to the one that the message names.";
    LIMIT_RETRIES: Error "limits.retries", "Only a request that may be repeated has retries.",
        "Remove `retries`, or give the request an `idempotency` header if the server knows repeats by one. GET and HEAD of effect read may be repeated.";
    LIMIT_REDIRECTS: Error "limits.redirects", "Only GET and HEAD of effect read follow redirects.", "Remove `redirects`.";
}
