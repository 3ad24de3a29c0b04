//! All rules of the core in one list, and as a page.

use std::fmt::Write;

use crate::rule::{Rule, Severity};

/// Every rule of the core, by area, in the order of the data's path.
pub fn all() -> Vec<&'static Rule> {
    let tables = [
        crate::json::RULES,
        crate::shape::RULES,
        crate::text::RULES,
        crate::schema::RULES,
        crate::origin::RULES,
        crate::request::RULES,
        crate::response::RULES,
        crate::manifest::RULES,
        crate::toolset::RULES,
        crate::export::RULES,
    ];
    let mut rules = tables.concat();
    let mut areas: Vec<&str> = Vec::new();
    for rule in &rules {
        if !areas.contains(&rule.area()) {
            areas.push(rule.area());
        }
    }
    rules.sort_by_key(|rule| areas.iter().position(|area| *area == rule.area()));
    rules
}

/// The page `docs/rules.md`: every rule of the core with what it says and how to mend a breach.
pub fn rules_page() -> String {
    let mut page = String::from(
        "# Rules\n\nGenerated from the rule tables of `connector-core`; a test fails when it drifts. \
         `connector check` reports every breach with its id, line, column and pointer.\n",
    );
    let mut area = "";
    for rule in all() {
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
