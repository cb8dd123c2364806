//! Cells as text, and which columns find room.

use super::view::{Column, Listing, Row, Shown};
use indicatif::BinaryBytes;
use perfschema::core::picotime::format_pico_time;
use perfschema::render::OwnedValue;
use perfschema::render::text::{escape, shorten};
use std::cmp::Ordering;

/// A name is never shorter, unless the terminal is.
const NAME_MIN: usize = 8;
/// Nor shorter than this for the sake of a column that gives way as soon as the totals do, or sooner.
const NAME_GOOD: usize = 24;
/// The `keep` of the totals.
pub(super) const OF_TOTALS: u8 = 4;
/// Between two columns.
pub(super) const GAP: usize = 2;

/// A value as it is shown: nothing in it acts on a terminal.
pub(super) fn text(value: &OwnedValue, shown: Shown) -> String {
    let number = match value {
        OwnedValue::Null => return String::new(),
        OwnedValue::Decimal(text) | OwnedValue::Text(text) => return escape(text),
        OwnedValue::Unsigned(number) if shown == Shown::Count => return number.to_string(),
        OwnedValue::Signed(number) if shown == Shown::Count => return number.to_string(),
        OwnedValue::Unsigned(number) => *number as f64,
        OwnedValue::Signed(number) => *number as f64,
        OwnedValue::Double(number) => *number,
    };
    match shown {
        Shown::Time => format_pico_time(number.round() as u64).to_string().trim_start().to_owned(),
        Shown::Bytes => BinaryBytes(number.round() as u64).to_string(),
        _ => rate(number),
    }
}

/// Three digits or more, in little room.
fn rate(number: f64) -> String {
    match number {
        0.0 => "0".into(),
        n if n < 99.95 => format!("{n:.1}"),
        n if n < 99_999.5 => format!("{n:.0}"),
        n if n < 99_999_500.0 => format!("{:.0}k", n / 1e3),
        n => format!("{:.0}M", n / 1e6),
    }
}

/// The columns that find room in so many columns of the terminal, in their order, and how wide each is.
pub(super) fn fit(columns: &[Column], rows: &[Vec<String>], width: usize) -> Vec<(usize, usize)> {
    let natural = |index: usize| {
        let cells = rows.iter().filter_map(|row| row.get(index)).map(|cell| console::measure_text_width(cell));
        // Columns that do not change their width whenever a number does.
        let least = match columns[index].shown {
            Shown::Time | Shown::Bytes => 9,
            Shown::Rate => 6,
            Shown::Count | Shown::Word | Shown::Name => 1,
        };
        cells.max().unwrap_or(0).max(console::measure_text_width(&columns[index].title)).max(least)
    };
    let natural: Vec<usize> = (0..columns.len()).map(natural).collect();
    let is_name = |index: usize| columns[index].shown == Shown::Name;
    let least = |index: usize| if is_name(index) { natural[index].min(NAME_MIN) } else { natural[index] };
    let mut order: Vec<usize> = (0..columns.len()).collect();
    order.sort_by_key(|&index| columns[index].keep);
    let mut taken: Vec<(usize, usize)> = Vec::new();
    let mut left = width;
    for index in order {
        let need = least(index) + if taken.is_empty() { 0 } else { GAP };
        let names = taken.iter().filter(|(taken, _)| columns[index].keep >= OF_TOTALS && is_name(*taken));
        let for_names: usize = names.map(|&(taken, width)| natural[taken].min(NAME_GOOD).saturating_sub(width)).sum();
        if taken.is_empty() || need + for_names <= left {
            taken.push((index, least(index).min(width)));
            left = left.saturating_sub(need);
        } else {
            // A column of less weight does not take the place of one that found none.
            break;
        }
    }
    // What is left goes to the names, the most important first.
    for (index, width) in &mut taken {
        let more = natural[*index].saturating_sub(*width).min(left);
        *width += more;
        left -= more;
    }
    taken.sort_by_key(|&(index, _)| index);
    taken
}

/// A cell in exactly its width.
pub(super) fn pad(text: &str, width: usize, shown: Shown) -> String {
    let text = shorten(text, width);
    let space = " ".repeat(width.saturating_sub(console::measure_text_width(&text)));
    if shown.is_text() { text + &space } else { space + &text }
}

/// A line in as many as it needs to fit the width. Of `NAME: value`, what goes on does so below the value, if there is room.
pub(super) fn wrapped(line: &str, width: usize) -> Vec<String> {
    let indent = line.find(": ").map_or(0, |at| at + 2);
    let indent = if 2 * indent <= width { indent } else { 0 };
    let (mut lines, mut used) = (vec![String::new()], 0);
    for c in line.chars() {
        let wide = console::measure_text_width(c.encode_utf8(&mut [0; 4]));
        if used + wide > width && used > indent {
            lines.push(" ".repeat(indent));
            used = indent;
        }
        lines.last_mut().into_iter().for_each(|last| last.push(c));
        used += wide;
    }
    lines
}

/// The rows that a filter leaves, sorted.
pub(super) fn arranged<'a>(listing: &'a Listing, filter: &str, (by, descending): (usize, bool)) -> Vec<&'a Row> {
    let wanted = filter.to_lowercase();
    let has = |value: &OwnedValue| matches!(value, OwnedValue::Text(text) if text.to_lowercase().contains(&wanted));
    let matches = |row: &&Row| wanted.is_empty() || row.cells.iter().chain(&row.details).any(has);
    let mut rows: Vec<&Row> = listing.rows.iter().filter(matches).collect();
    let total = listing.columns.iter().position(|column| column.title == "total time");
    let compare = |a: &Row, b: &Row, column: usize| a.cells[column].total_cmp(&b.cells[column]);
    rows.sort_by(|a, b| {
        let first = if by < listing.columns.len() { compare(a, b, by) } else { Ordering::Equal };
        let first = if descending { first.reverse() } else { first };
        // Where nothing happens, what took the most so far.
        first.then_with(|| total.map_or(Ordering::Equal, |total| compare(b, a, total))).then_with(|| a.key.cmp(&b.key))
    });
    rows
}

/// The cells of rows as text.
pub(super) fn texts(columns: &[Column], rows: &[&Row]) -> Vec<Vec<String>> {
    let row = |row: &&Row| columns.iter().zip(&row.cells).map(|(column, value)| text(value, column.shown)).collect();
    rows.iter().map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_short() {
        let rates = [0.0, 0.04, 1.25, 99.94, 99.96, 12_345.6, 99_999.4, 123_456.0, 2.5e9];
        let texts = rates.map(rate);
        assert_eq!(texts, ["0", "0.0", "1.2", "99.9", "100", "12346", "99999", "123k", "2500M"]);
    }

    #[test]
    fn lines_are_wrapped() {
        let check = |line: &str, width: usize, expected: &[&str]| assert_eq!(wrapped(line, width), expected, "{line} {width}");
        check("A: bcd", 6, &["A: bcd"]);
        check("A: bcdefgh", 6, &["A: bcd", "   efg", "   h"]);
        check("A: bcd", 5, &["A: bc", "d"]);
        check("N: 日本語", 7, &["N: 日本", "   語"]);
        check("日本", 1, &["日", "本"]);
        check("ab", 0, &["a", "b"]);
        check("", 5, &[""]);
    }

    #[test]
    fn what_matters_most_stays() {
        let column = |title: &str, shown, keep| Column { title: title.into(), shown, keep };
        let columns = [column("name", Shown::Name, 0), column("least", Shown::Count, 9), column("time/s", Shown::Time, 1)];
        let rows = [vec!["wait/synch/mutex/demo/postings".to_owned(), "123456".to_owned(), "1.00 us".to_owned()]];
        let check = |width: usize, expected: &[(usize, usize)]| {
            let found = fit(&columns, &rows, width);
            assert_eq!(found, expected, "{width}");
            let used: usize = found.iter().map(|(_, width)| width).sum::<usize>() + GAP * found.len().saturating_sub(1);
            assert!(used <= width.max(1) || found.len() == 1, "{width}: {used}");
        };
        check(200, &[(0, 30), (1, 6), (2, 9)]);
        check(43, &[(0, 24), (1, 6), (2, 9)]);
        check(42, &[(0, 30), (2, 9)]);
        check(23, &[(0, 12), (2, 9)]);
        check(19, &[(0, 8), (2, 9)]);
        check(18, &[(0, 18)]);
        check(5, &[(0, 5)]);
        check(0, &[(0, 0)]);
        assert_eq!(pad(&rows[0][0], 14, Shown::Name), "…demo/postings");
        assert_eq!(pad("é", 3, Shown::Count), "  é");
        assert_eq!(text(&"a\u{1b}[2J".into(), Shown::Name), r"a\u{1b}[2J");
    }
}
