//! Metrics as text: Prometheus' format 0.0.4, and OpenMetrics 1.0.
//!
//! ```text
//! # HELP perfschema_file_bytes_total Io of each instrument of files, … SUM_NUMBER_OF_BYTES_READ, … of file_summary_by_event_name.
//! # TYPE perfschema_file_bytes_total counter
//! perfschema_file_bytes_total{event_name="wait/io/file/app/log",operation="write"} 4096
//! ```
//! OpenMetrics names the family without `_total`, says its unit, and has an end.

use super::{Family, Kind, Labels, Unit, Value};
use std::fmt::{self, Write};

/// Which of the two.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Format {
    Prometheus,
    OpenMetrics,
}

/// In Prometheus' text format 0.0.4.
///
/// ```
/// use perfschema_server::metrics::{Family, Kind, Point, Unit, Value, open_metrics, prometheus};
///
/// let (name, help) = ("app_busy_seconds".to_owned(), "Time at work.".to_owned());
/// let points = vec![Point { labels: vec![("who", "ada".to_owned())], value: Value::Number(1_500_000_000_000) }];
/// let families = [Family { name, help, kind: Kind::Counter, unit: Unit::Seconds, points }];
/// let value = "app_busy_seconds_total{who=\"ada\"} 1.5\n";
/// let head = "# HELP app_busy_seconds_total Time at work.\n# TYPE app_busy_seconds_total counter\n";
/// assert_eq!(prometheus(&families), format!("{head}{value}"));
/// let head = "# HELP app_busy_seconds Time at work.\n# TYPE app_busy_seconds counter\n# UNIT app_busy_seconds seconds\n";
/// assert_eq!(open_metrics(&families), format!("{head}{value}# EOF\n"));
/// ```
pub fn prometheus(families: &[Family]) -> String {
    written(families, Format::Prometheus)
}

/// As OpenMetrics 1.0.
pub fn open_metrics(families: &[Family]) -> String {
    let mut text = written(families, Format::OpenMetrics);
    text.push_str("# EOF\n");
    text
}

fn written(families: &[Family], format: Format) -> String {
    let mut text = String::new();
    for family in families.iter().filter(|family| !family.points.is_empty()) {
        // Writing to a String does not fail.
        let _ = write_family(&mut text, family, format);
    }
    text
}

fn write_family(text: &mut String, family: &Family, format: Format) -> fmt::Result {
    let Family { name, help, kind, unit, points } = family;
    let suffix = match kind {
        Kind::Counter => "_total",
        Kind::Info => "_info",
        Kind::Gauge | Kind::Histogram => "",
    };
    let is_open = format == Format::OpenMetrics;
    let called = if is_open { name.clone() } else { format!("{name}{suffix}") };
    let kind_name = match kind {
        Kind::Counter => "counter",
        Kind::Info if is_open => "info",
        Kind::Gauge | Kind::Info => "gauge",
        Kind::Histogram => "histogram",
    };
    write!(text, "# HELP {called} ")?;
    escape(text, help, is_open);
    writeln!(text, "\n# TYPE {called} {kind_name}")?;
    let unit_name = match unit {
        Unit::None => None,
        Unit::Bytes => Some("bytes"),
        Unit::Seconds => Some("seconds"),
    };
    if let Some(unit_name) = unit_name.filter(|_| is_open) {
        writeln!(text, "# UNIT {called} {unit_name}")?;
    }
    for point in points {
        match &point.value {
            Value::Number(value) => {
                write!(text, "{name}{suffix}")?;
                write_labels(text, &point.labels, None)?;
                match unit {
                    Unit::Seconds => write_seconds(text, *value)?,
                    Unit::None | Unit::Bytes => write!(text, "{value}")?,
                }
                text.push('\n');
            }
            Value::Buckets { bounds_ps, counts } => {
                let mut below = 0_u64;
                let bounds = bounds_ps.iter().map(|bound| bound_name(*bound)).chain(["+Inf".to_owned()]);
                for (bound, count) in bounds.zip(counts) {
                    below = below.saturating_add(*count);
                    write!(text, "{name}_bucket")?;
                    write_labels(text, &point.labels, Some(&bound))?;
                    writeln!(text, "{below}")?;
                }
                // Prometheus' format wants the count; OpenMetrics wants it only beside a sum, which is not known.
                if !is_open {
                    write!(text, "{name}_count")?;
                    write_labels(text, &point.labels, None)?;
                    writeln!(text, "{below}")?;
                }
            }
        }
    }
    Ok(())
}

/// The labels, and the space before the value.
fn write_labels(text: &mut String, labels: &Labels, bound: Option<&str>) -> fmt::Result {
    let bound = bound.map(|bound| ("le", bound));
    let labels = labels.iter().map(|(name, value)| (*name, value.as_str())).chain(bound);
    let mut separator = '{';
    for (name, value) in labels {
        write!(text, "{separator}{name}=\"")?;
        escape(text, value, true);
        text.push('"');
        separator = ',';
    }
    text.push_str(if separator == ',' { "} " } else { " " });
    Ok(())
}

/// What stands for the byte that ends a text in C, and for itself twice, so that different texts stay different: collectors refuse a page
/// with two values under the same labels.
const PICTURE_OF_NULL: char = '\u{2400}';

/// The formats know these escapes and no others; quotes stay as they are in the help of Prometheus' format.
fn escape(text: &mut String, value: &str, quotes: bool) {
    for character in value.chars() {
        match character {
            '\\' => text.push_str("\\\\"),
            '\n' => text.push_str("\\n"),
            '"' if quotes => text.push_str("\\\""),
            // Allowed, and yet the end of the text for a reader written in C.
            '\0' => text.extend([PICTURE_OF_NULL, '0']),
            PICTURE_OF_NULL => text.extend([PICTURE_OF_NULL; 2]),
            other => text.push(other),
        }
    }
}

const PICOSECONDS: i128 = 1_000_000_000_000;

/// Exact to the last picosecond: a collector rounds to what it can keep.
fn write_seconds(text: &mut String, picoseconds: i128) -> fmt::Result {
    let sign = if picoseconds < 0 { "-" } else { "" };
    let (whole, rest) = (picoseconds / PICOSECONDS, picoseconds % PICOSECONDS);
    write!(text, "{sign}{}", whole.unsigned_abs())?;
    if rest != 0 {
        let digits = format!(".{:012}", rest.unsigned_abs());
        text.push_str(digits.trim_end_matches('0'));
    }
    Ok(())
}

/// Six digits, written as Prometheus' own library and OpenMetrics write them: `1e-08`, `0.000316228`, `1.0`.
fn bound_name(picoseconds: u64) -> String {
    let seconds = format!("{:.5e}", picoseconds as f64 / PICOSECONDS as f64);
    let seconds: f64 = seconds.parse().unwrap_or(f64::INFINITY);
    if seconds >= 1e-4 {
        return format!("{seconds:?}");
    }
    let text = format!("{seconds:e}");
    match text.split_once("e-") {
        Some((digits, exponent)) => format!("{digits}e-{exponent:0>2}"),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::Point;

    #[test]
    fn seconds() {
        let check = |picoseconds, expected: &str| {
            let mut text = String::new();
            write_seconds(&mut text, picoseconds).unwrap();
            assert_eq!(text, expected);
        };
        check(0, "0");
        check(1, "0.000000000001");
        check(-1_500_000_000_000, "-1.5");
        check(i128::from(u64::MAX), "18446744.073709551615");
    }

    #[test]
    fn bounds() {
        let check = |picoseconds, expected: &str| assert_eq!(bound_name(picoseconds), expected);
        check(10_000, "1e-08");
        check(31_622, "3.1622e-08");
        check(316_227_766, "0.000316228");
        check(99_999_999_999_995, "100.0");
        check(1_000_000_000_000, "1.0");
        check(0, "0e0");
    }

    /// Collectors refuse a page on which two values have the same labels.
    #[test]
    fn different_labels_stay_different() {
        let parts = ["", "\0", "\u{fffd}", "\u{2400}", "0", "\\", "n", "\n", "\""];
        let mut written = std::collections::HashMap::new();
        for a in parts {
            for b in parts {
                for c in parts {
                    let (value, mut text) = ([a, b, c].concat(), String::new());
                    escape(&mut text, &value, true);
                    assert!(!text.contains(['\0', '\n']), "{value:?}");
                    let other = written.insert(text, value.clone());
                    assert!(other.is_none_or(|other| other == value), "{value:?}");
                }
            }
        }
    }

    #[test]
    fn both_formats() {
        let labels = |value: &str| vec![("file_name", value.to_owned())];
        let point = |value: &str, number| Point { labels: labels(value), value: Value::Number(number) };
        let buckets = Value::Buckets { bounds_ps: vec![10_000], counts: vec![2, 1] };
        let family = |name: &str, kind, unit, points| Family {
            name: name.to_owned(),
            help: "A \"help\" \\ of\nit.".to_owned(),
            kind,
            unit,
            points,
        };
        let families = [
            family("a_seconds", Kind::Counter, Unit::Seconds, vec![point("\"\\\n\0é", 1), point("", 2)]),
            family("b_seconds", Kind::Histogram, Unit::Seconds, vec![Point { labels: labels("x"), value: buckets }]),
            family("c", Kind::Info, Unit::None, vec![Point { labels: vec![], value: Value::Number(1) }]),
            family("nothing", Kind::Gauge, Unit::None, vec![]),
        ];
        let expected = "# HELP a_seconds_total A \"help\" \\\\ of\\nit.\n# TYPE a_seconds_total counter\n\
                        a_seconds_total{file_name=\"\\\"\\\\\\n\u{2400}0é\"} 0.000000000001\n\
                        a_seconds_total{file_name=\"\"} 0.000000000002\n\
                        # HELP b_seconds A \"help\" \\\\ of\\nit.\n# TYPE b_seconds histogram\n\
                        b_seconds_bucket{file_name=\"x\",le=\"1e-08\"} 2\nb_seconds_bucket{file_name=\"x\",le=\"+Inf\"} 3\n\
                        b_seconds_count{file_name=\"x\"} 3\n\
                        # HELP c_info A \"help\" \\\\ of\\nit.\n# TYPE c_info gauge\nc_info 1\n";
        assert_eq!(prometheus(&families), expected);
        let expected = "# HELP a_seconds A \\\"help\\\" \\\\ of\\nit.\n# TYPE a_seconds counter\n# UNIT a_seconds seconds\n\
                        a_seconds_total{file_name=\"\\\"\\\\\\n\u{2400}0é\"} 0.000000000001\n\
                        a_seconds_total{file_name=\"\"} 0.000000000002\n\
                        # HELP b_seconds A \\\"help\\\" \\\\ of\\nit.\n# TYPE b_seconds histogram\n# UNIT b_seconds seconds\n\
                        b_seconds_bucket{file_name=\"x\",le=\"1e-08\"} 2\nb_seconds_bucket{file_name=\"x\",le=\"+Inf\"} 3\n\
                        # HELP c A \\\"help\\\" \\\\ of\\nit.\n# TYPE c info\nc_info 1\n# EOF\n";
        assert_eq!(open_metrics(&families), expected);
    }
}
