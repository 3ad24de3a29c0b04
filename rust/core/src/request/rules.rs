//! The rules that a request in a manifest is held to.

use crate::rules;

rules! {
    // Slots and literals.
    SLOT_AMBIGUOUS: Error "request.slot_ambiguous", "A slot has one of `$param`, `$setting` and `$credential`.",
        "Keep the one that is meant; a slot is filled from one place.";
    SLOT_OPTION: Error "request.slot_option", "A slot takes only the options of its kind and position.",
        "Remove the option. Path: `slash`, `segments`. Query and form: `array`, `flag`, `absent`. Header and text: `absent`. \
         JSON: `absent`, `null`. A credential takes `absent`, and in a header `scheme`, `user`, `password`. A setting is always \
         there and takes only the options of a path.";
    SLOT_OPTIONS_CLASH: Error "request.slot_options_clash", "Options that exclude each other do not stand together.",
        "Keep one of the two: `array` or `flag`, `slash` or `segments`, `user` or `password`.";
    SLOT_RESERVED: Error "request.reserved_member", "A member of a request that starts with `$` is a slot.",
        "Write `$$name` for a literal member `$name`; a slot is exactly `$param`, `$setting` or `$credential` with its options.";
    SLOT_SCHEME: Error "request.scheme", "`scheme` is an RFC 9110 auth scheme.",
        "Write one word such as `Bearer`, `Token` or `Basic`; the one space before the secret is set by the core.";
    SLOT_BASIC: Error "request.basic", "`user` and `password` belong to the scheme `Basic`, and neither holds a secret.",
        "With `\"scheme\": \"Basic\"`, write the literal user name in `user` (the secret is the password), or `\"password\": \"\"` \
         (the secret is the user). A literal password would be a secret in a manifest.";
    LITERAL_KIND: Error "request.literal", "A literal is of a kind that its position takes.",
        "Path: a string. Query: a string, number, boolean or null. Header and form: a string, number or boolean. Text: a slot.";
    LITERAL_NUMBER: Error "request.number", "An integer in a request is at most 2^53 - 1 away from zero.",
        "Write the number as a string if the server takes one; beyond 2^53 - 1 receivers disagree about its value.";

    // Credentials in the wrong place.
    CREDENTIAL_IN_ORIGIN: Error "request.credential_in_origin", "No credential stands in an origin.",
        "Name an origin. A credential goes in a header, a form field or a JSON body position, where no log keeps it.";
    CREDENTIAL_IN_PATH: Error "request.credential_in_path", "No credential stands in a path.",
        "Send it in a header (`\"Authorization\": {\"$credential\": ..., \"scheme\": \"Bearer\"}`); paths are kept in logs.";
    CREDENTIAL_IN_QUERY: Error "request.credential_in_query", "No credential stands in a query.",
        "Send it in a header (`\"Authorization\": {\"$credential\": ..., \"scheme\": \"Bearer\"}`); URLs are kept in logs.";
    CREDENTIAL_IN_TEXT: Error "request.credential_in_text", "No credential stands in a text body.",
        "Send it in a header, a form field or a JSON body position.";
    ORIGIN_SLOT: Error "request.origin_slot", "A request names its origin; nothing is put into it.",
        "Write the name of one of `origins`; an origin that the person chooses is `userProvided`.";

    REQUEST_BOUND: Error "request.over_bound", "What a manifest fixes of a request is within the bounds: URL 8 KiB, a header value 8 KiB, headers 64 KiB, body 1 MiB.",
        "Shorten the fixed parts: as it is, no call could ever be sent.";

    // Path.
    PATH_ITEM: Error "request.path_item", "A path item is a literal, a slot, or one list of literals and slots.",
        "Write a string, a slot, or a list of at least one of these; lists do not nest.";
    PATH_LITERAL: Error "request.path_literal", "A literal of a path holds RFC 3986 pchar without `%`.",
        "One item is one segment: split at `/`, and leave out `%`, spaces, `?`, `#` and all else that would need encoding.";
    PATH_DOTS: Error "request.path_dots", "A literal of a path is not `.` or `..`.", "Write the path that is meant, without steps.";
    PATH_EMPTY: Error "request.path_empty", "An empty literal stands only as the last item of a path.",
        "Remove it; the last item `\"\"` writes a trailing slash.";

    // Query.
    QUERY_NAME: Error "request.query_name", "A query pair has a name.", "Give the pair the name that the server expects.";
    QUERY_SECRET: Error "request.query_secret", "No query name carries a secret.",
        "Send the secret as a credential in a header; if the server takes it only in the query, it cannot be used: URLs are kept in logs.";

    // Headers.
    HEADER_NAME: Error "request.header_name", "A header name is an RFC 9110 token.",
        "Use letters, digits and ``!#$%&'*+-.^_`|~`` only.";
    HEADER_REFUSED: Error "request.header_refused", "Framing, routing and ambient headers are not set by a manifest.",
        "Remove the header: the core and its transport set what is needed (`Host`, `Content-Length`, `Accept-Encoding`), and the rest \
         would let a request act beyond its origin or method.";
    HEADER_DOUBLED: Error "request.header_doubled", "A header stands once in a request, whatever its case.",
        "Remove one of the two.";
    HEADER_LITERAL_ONLY: Error "request.header_literal_only", "`User-Agent`, `Accept` and `Content-Type` are literals.",
        "Write the value; a slot there would let the model choose how the request is read.";
    HEADER_SECRET: Error "request.header_secret", "A header that carries a secret is filled by a credential.",
        "Declare the secret in `credentials` and write `{\"$credential\": name}`, with `scheme` where the server wants a word before it.";
    HEADER_VALUE: Error "request.header_value", "A header value is visible ASCII with inner spaces and tabs, within the limit.",
        "Remove other characters and blanks at the ends.";
    CONTENT_TYPE: Error "request.content_type", "`Content-Type` agrees with the kind of the body.",
        "`json`: `application/json` or a `+json` type; `form`: `application/x-www-form-urlencoded`; `text`: a `text/` type; `charset` \
         may only be utf-8. Without a body leave the header out.";

    // Body.
    BODY_KIND: Error "request.body_kind", "A body is one of `json`, `form` and `text`.", "Keep the one that is meant.";
    BODY_METHOD: Error "request.body_method", "GET and HEAD have no body.",
        "Move the members to `query`, or use the method that the server documents for a body.";
    FORM_NAME: Error "request.form_name", "A form field has a name.", "Give the field the name that the server expects.";
}
