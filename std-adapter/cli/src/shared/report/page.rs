//! The page: HTML without a script, without a link, without anything from elsewhere.

use super::section::Section;
use indicatif::{BinaryBytes, HumanCount};
use maud::{DOCTYPE, Markup, PreEscaped, html};
use perfschema::core::picotime::format_pico_time;
use perfschema::core::table::SqlType;
use perfschema::render::text::escape;
use perfschema::render::{ColumnHead, OwnedValue, Unit};

const STYLE: &str = "\
:root { color-scheme: light dark; --line: #8885; --soft: #777; }
body { font: 15px/1.45 system-ui, sans-serif; max-width: 75rem; margin: 1.5rem auto; padding: 0 1rem; }
h1 { font-size: 1.5rem; } h2, summary { font-size: 1.15rem; font-weight: 600; margin: 1.6rem 0 .4rem; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .1rem 1rem; } dt { color: var(--soft); } dd { margin: 0; }
p { color: var(--soft); margin: .2rem 0 .6rem; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: .85rem; }
th, td { text-align: left; padding: .15rem .6rem; border-bottom: 1px solid var(--line); white-space: nowrap; }
.number { text-align: right; }
.null { color: var(--soft); }
.text { max-width: 30rem; overflow: hidden; text-overflow: ellipsis; }
svg { max-width: 100%; height: auto; display: block; margin: .4rem 0 1rem; }
svg text { fill: currentColor; } svg polyline, svg line { stroke: var(--soft); }
@media print { .scroll { overflow: visible; } }";

/// Nothing may be loaded, whatever the page might turn out to contain.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'";

pub(super) fn render(title: &str, facts: &[(&str, String)], sections: &[Section]) -> String {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(POLICY);
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { "perfschema: " (title) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                h1 { (title) }
                dl {
                    @for (name, value) in facts {
                        dt { (name) }
                        dd { (value) }
                    }
                }
                @for section in sections {
                    @if section.folded {
                        details {
                            summary { (section.title) }
                            (body(section))
                        }
                    } @else {
                        section {
                            h2 { (section.title) }
                            (body(section))
                        }
                    }
                }
            }
        }
    };
    page.into_string()
}

fn body(section: &Section) -> Markup {
    let shown = section.grid.rows.len();
    html! {
        @if !section.note.is_empty() { p { (section.note) } }
        // Made of text that was escaped where it was drawn.
        @for chart in &section.charts { (PreEscaped(chart)) }
        @if shown == 0 {
            @if !section.empty.is_empty() { p { (section.empty) } }
        } @else {
            div class="scroll" {
                table {
                    thead { tr { @for head in &section.grid.columns { th class=[class(head)] { (head.name) } } } }
                    tbody {
                        @for row in &section.grid.rows {
                            tr { @for (head, value) in section.grid.columns.iter().zip(row) { (cell(head, value)) } }
                        }
                    }
                }
            }
            @if shown < section.rows { p { "The first " (shown) " of " (HumanCount(section.rows as u64)) " rows." } }
        }
    }
}

fn class(head: &ColumnHead) -> Option<&'static str> {
    if head.is_numeric() {
        Some("number")
    } else {
        // May be as long as it likes, and is cut.
        (head.sql_type == SqlType::Longtext).then_some("text")
    }
}

/// A value; of times and bytes people see a rounded one, and `data` has the exact one.
fn cell(head: &ColumnHead, value: &OwnedValue) -> Markup {
    let exact = match value {
        OwnedValue::Unsigned(number) => Some(*number),
        OwnedValue::Signed(number) => u64::try_from(*number).ok(),
        OwnedValue::Decimal(digits) => digits.parse().ok(),
        _ => None,
    };
    let is_bytes = head.name.to_ascii_uppercase().contains("_BYTES");
    let rounded = exact.and_then(|exact| match head.unit {
        Unit::Picoseconds => Some(format_pico_time(exact).to_string()),
        _ if is_bytes => Some(BinaryBytes(exact).to_string()),
        _ => None,
    });
    let text = matches!((head.sql_type, value), (SqlType::Longtext, OwnedValue::Text(_)));
    let whole = text.then(|| escape(&value.as_value().to_string()).to_string());
    html! {
        td class=[class(head)] title=[whole] {
            @match (value, exact.zip(rounded)) {
                (OwnedValue::Null, _) => span class="null" { "NULL" },
                (_, Some((exact, rounded))) => data value=(exact) { (rounded.trim()) },
                (value, None) => (escape(&value.as_value().to_string())),
            }
        }
    }
}
