//! The list of rules as a page.

use std::fmt::Write;

use crate::rule::{self, Rule, Severity};

/// The page `docs/rules.md`: every rule of the core with what it says and how to mend a breach.
pub fn rules_page() -> String {
    let mut page = String::from(
        "# Rules\n\nGenerated from the rule tables of `connector-core`; a test fails when it drifts. \
         `connector check` reports every breach with its id, line, column and pointer.\n",
    );
    let mut area = "";
    for rule in rule::all() {
        if rule.area() != area {
            area = rule.area();
            let _written = write!(page, "\n## {area}\n\n| rule | says | the way out |\n|---|---|---|\n");
        }
        row(rule, &mut page);
    }
    page
}

fn row(rule: &Rule, page: &mut String) {
    let warning = if rule.severity == Severity::Warning { " (warning)" } else { "" };
    let cell = |text: &str| text.replace('|', "\\|");
    let _written = writeln!(page, "| `{}`{warning} | {} | {} |", rule.id, cell(rule.says), cell(rule.help));
}
