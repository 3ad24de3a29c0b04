//! Dates, times and durations of RFC 3339.

/// `full-date`: the days of each month, and February 29 in leap years.
pub(super) fn date() -> String {
    // A year that 4 divides, unless 100 divides it and 400 does not.
    let by_4 = "(?:[0-9]{2}(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00)";
    let month_day =
        "(?:0[1-9]|1[0-2])-(?:0[1-9]|1[0-9]|2[0-8])|(?:0[13-9]|1[0-2])-(?:29|30)|(?:0[13578]|1[02])-31";
    format!("[0-9]{{4}}-(?:{month_day})|{by_4}-02-29")
}

/// `full-time`. A leap second is 23:59:60 in UTC (section 5.7), so the offset decides at which local time it
/// may stand. Only offsets of whole quarters of an hour are taken there: every civil offset is one since leap
/// seconds exist (1972), and the others would cost ten thousand states.
pub(super) fn time() -> String {
    let offset = "(?:[Zz]|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9])";
    let fraction = "(?:\\.[0-9]+)?";
    let mut forms = vec![format!("(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]{fraction}{offset}")];
    forms.extend((0..DAY).step_by(15).map(|ahead| {
        let local = clock(DAY - 1 + ahead);
        let utc = if ahead == 0 { "[Zz]|" } else { "" };
        format!("{local}:60{fraction}(?:{utc}\\+{}|-{})", clock(ahead), clock(DAY - ahead))
    }));
    forms.join("|")
}

/// The minutes of a day.
const DAY: u32 = 24 * 60;

/// Hours and minutes of a day.
fn clock(minutes: u32) -> String {
    format!("{:02}:{:02}", minutes % DAY / 60, minutes % 60)
}

/// `date-time`, of which `T` and `Z` may be small letters.
pub(super) fn date_time() -> String {
    format!("(?:{})[Tt](?:{})", date(), time())
}

/// `duration` of appendix A, in the capitals of ISO 8601.
pub(super) fn duration() -> String {
    let n = "[0-9]+";
    let minute = format!("{n}M(?:{n}S)?");
    let time = format!("T(?:{n}H(?:{minute})?|{minute}|{n}S)");
    let month = format!("{n}M(?:{n}D)?");
    let date = format!("(?:{n}D|{month}|{n}Y(?:{month})?)");
    format!("P(?:{date}(?:{time})?|{time}|{n}W)")
}
