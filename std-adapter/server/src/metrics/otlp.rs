//! Metrics as OTLP, the protocol of OpenTelemetry, in its JSON form: what a collector takes at `/v1/metrics`.
//!
//! JSON and not protobuf: every receiver of OTLP over HTTP takes both, a text can be looked at, and it needs no generated code.
//! Names are those of Prometheus without `_total`; units are those of UCUM, and what is only counted has none. Counters are cumulative,
//! from the time when recording began; one that TRUNCATE has set back keeps that start, and shows it by being less.

use super::{Family, Kind, Labels, PROGRAM, Unit, Value};
use perfschema::render::json;
use std::fmt::{self, Write};

/// Who the metrics are of and when, for [`otlp`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resource {
    /// The program's name: `service.name`.
    pub service: String,
    /// Its process: `process.pid`.
    pub pid: u32,
    /// When recording began, in nanoseconds since 1970; with the process also `service.instance.id`.
    pub start_unix_ns: u64,
    /// When the values were read, in nanoseconds since 1970.
    pub now_unix_ns: u64,
}

/// As the body of a request to `/v1/metrics`, of type `application/json`.
///
/// ```
/// use perfschema_server::metrics::{Family, Kind, Point, Resource, Unit, Value, otlp};
///
/// let (name, help) = ("app_read_bytes".to_owned(), "Bytes read.".to_owned());
/// let points = vec![Point { labels: vec![("file", "log".to_owned())], value: Value::Number(4096) }];
/// let family = Family { name, help, kind: Kind::Counter, unit: Unit::Bytes, points };
/// let resource = Resource { service: "app".to_owned(), pid: 7, start_unix_ns: 1, now_unix_ns: 2 };
/// let json = otlp(&[family], &resource);
/// assert!(json.contains(r#""name":"app_read_bytes","description":"Bytes read.","unit":"By","sum":{"aggregationTemporality":2,"#));
/// let attributes = r#""attributes":[{"key":"file","value":{"stringValue":"log"}}]"#;
/// assert!(json.contains(&format!(r#"{{"startTimeUnixNano":"1","timeUnixNano":"2",{attributes},"asInt":"4096"}}"#)));
/// ```
pub fn otlp(families: &[Family], resource: &Resource) -> String {
    let mut text = String::new();
    // Writing to a String does not fail.
    let _ = write_request(&mut text, families, resource);
    text
}

fn write_request(text: &mut String, families: &[Family], resource: &Resource) -> fmt::Result {
    let Resource { pid, start_unix_ns, .. } = resource;
    let (service, version) = (json::text(&resource.service), env!("CARGO_PKG_VERSION"));
    // Without an instance, collectors that write for Prometheus take all programs of a name for one. The number alone does not tell them
    // apart: in a container it is mostly 1.
    write!(
        text,
        "{{\"resourceMetrics\":[{{\"resource\":{{\"attributes\":[\
         {{\"key\":\"service.name\",\"value\":{{\"stringValue\":{service}}}}},\
         {{\"key\":\"service.instance.id\",\"value\":{{\"stringValue\":\"{pid}-{start_unix_ns}\"}}}},\
         {{\"key\":\"process.pid\",\"value\":{{\"intValue\":\"{pid}\"}}}}]}},\
         \"scopeMetrics\":[{{\"scope\":{{\"name\":\"perfschema\",\"version\":\"{version}\"}},\"metrics\":[",
    )?;
    // What the info about all says, the resource says.
    let is_about_all = |family: &Family| family.kind == Kind::Info && family.name.strip_prefix("perfschema_") == Some(PROGRAM);
    let sent = families.iter().filter(|family| !family.points.is_empty() && !is_about_all(family));
    separated(text, sent, |text, family| write_metric(text, family, resource))?;
    text.push_str("]}]}]}");
    Ok(())
}

fn separated<T>(
    text: &mut String,
    items: impl IntoIterator<Item = T>,
    mut write: impl FnMut(&mut String, T) -> fmt::Result,
) -> fmt::Result {
    for (index, item) in items.into_iter().enumerate() {
        text.push_str(if index == 0 { "" } else { "," });
        write(text, item)?;
    }
    Ok(())
}

fn write_metric(text: &mut String, family: &Family, resource: &Resource) -> fmt::Result {
    let unit = match family.unit {
        // "1" is that of a fraction: on their way to Prometheus, collectors would rename gauges to `…_ratio`.
        Unit::None => "",
        Unit::Bytes => "By",
        Unit::Seconds => "s",
    };
    // 2: cumulative.
    let shape = match family.kind {
        Kind::Counter => "\"sum\":{\"aggregationTemporality\":2,\"isMonotonic\":true,",
        Kind::Histogram => "\"histogram\":{\"aggregationTemporality\":2,",
        Kind::Gauge | Kind::Info => "\"gauge\":{",
    };
    let name = format!("{}{}", family.name, if family.kind == Kind::Info { "_info" } else { "" });
    let (name, help) = (json::text(&name), json::text(&family.help));
    write!(text, "{{\"name\":{name},\"description\":{help},\"unit\":\"{unit}\",{shape}\"dataPoints\":[")?;
    separated(text, &family.points, |text, point| {
        let Resource { start_unix_ns, now_unix_ns, .. } = resource;
        write!(text, "{{\"startTimeUnixNano\":\"{start_unix_ns}\",\"timeUnixNano\":\"{now_unix_ns}\",")?;
        write_attributes(text, &point.labels)?;
        write_value(text, &point.value, family.unit)?;
        text.push('}');
        Ok(())
    })?;
    text.push_str("]}}");
    Ok(())
}

fn write_attributes(text: &mut String, labels: &Labels) -> fmt::Result {
    text.push_str("\"attributes\":[");
    separated(text, labels, |text, (name, value)| {
        write!(text, "{{\"key\":\"{name}\",\"value\":{{\"stringValue\":{}}}}}", json::text(value))
    })?;
    text.push_str("],");
    Ok(())
}

/// Numbers of 64 bits are texts in OTLP's JSON.
fn write_value(text: &mut String, value: &Value, unit: Unit) -> fmt::Result {
    match value {
        Value::Number(number) => match (unit, i64::try_from(*number)) {
            (Unit::Seconds, _) => write!(text, "\"asDouble\":{:?}", seconds(*number as f64)),
            (_, Ok(number)) => write!(text, "\"asInt\":\"{number}\""),
            (_, Err(_)) => write!(text, "\"asDouble\":{:?}", *number as f64),
        },
        Value::Buckets { bounds_ps, counts } => {
            let total = counts.iter().fold(0_u64, |total, count| total.saturating_add(*count));
            write!(text, "\"count\":\"{total}\",\"bucketCounts\":[")?;
            separated(text, counts, |text, count| write!(text, "\"{count}\""))?;
            text.push_str("],\"explicitBounds\":[");
            // With six digits, as in the other formats.
            separated(text, bounds_ps, |text, bound| write!(text, "{:.5e}", seconds(*bound as f64)))?;
            text.push(']');
            Ok(())
        }
    }
}

fn seconds(picoseconds: f64) -> f64 {
    picoseconds / 1e12
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::Point;

    /// Two of a name, each the first process of its container.
    #[test]
    fn programs_of_a_name_are_told_apart() {
        let instance = |start_unix_ns| {
            let resource = Resource { service: "x".to_owned(), pid: 1, start_unix_ns, now_unix_ns: 9 };
            let text = otlp(&[], &resource);
            let (_, value) =
                text.split_once("{\"key\":\"service.instance.id\",\"value\":{\"stringValue\":\"").expect("it is there");
            value.split('"').next().map(str::to_owned)
        };
        assert_eq!([instance(7), instance(8)].map(Option::unwrap), ["1-7", "1-8"]);
    }

    #[test]
    fn all_shapes() {
        let family = |name: &str, kind, unit, value| Family {
            name: name.to_owned(),
            help: "\"".to_owned(),
            kind,
            unit,
            points: vec![Point { labels: vec![("a", "\n\u{1}".to_owned())], value }],
        };
        let families = [
            family("c", Kind::Counter, Unit::Bytes, Value::Number(i128::from(i64::MAX))),
            family("s", Kind::Gauge, Unit::Seconds, Value::Number(1)),
            family("n", Kind::Gauge, Unit::None, Value::Number(-1)),
            family("perfschema_program", Kind::Info, Unit::None, Value::Number(1)),
            family("i", Kind::Info, Unit::None, Value::Number(1)),
            family("h", Kind::Histogram, Unit::Seconds, Value::Buckets { bounds_ps: vec![31_622], counts: vec![1, 2] }),
        ];
        let resource = Resource { service: "x".to_owned(), pid: 7, start_unix_ns: 1, now_unix_ns: 2 };
        let head = |name: &str, unit: &str| format!("{{\"name\":\"{name}\",\"description\":\"\\\"\",\"unit\":\"{unit}\",");
        let point = "\"dataPoints\":[{\"startTimeUnixNano\":\"1\",\"timeUnixNano\":\"2\",\"attributes\":[{\"key\":\"a\",\
                     \"value\":{\"stringValue\":\"\\n\\u0001\"}}],";
        let expected = format!(
            "{}\"sum\":{{\"aggregationTemporality\":2,\"isMonotonic\":true,{point}\"asInt\":\"9223372036854775807\"}}]}}}},\
             {}\"gauge\":{{{point}\"asDouble\":1e-12}}]}}}},\
             {}\"gauge\":{{{point}\"asInt\":\"-1\"}}]}}}},\
             {}\"gauge\":{{{point}\"asInt\":\"1\"}}]}}}},\
             {}\"histogram\":{{\"aggregationTemporality\":2,{point}\"count\":\"3\",\"bucketCounts\":[\"1\",\"2\"],\
             \"explicitBounds\":[3.16220e-8]}}]}}}}]}}]}}]}}",
            head("c", "By"),
            head("s", "s"),
            head("n", ""),
            head("i_info", ""),
            head("h", "s")
        );
        let text = otlp(&families, &resource);
        assert!(text.ends_with(&expected), "{text}\n{expected}");
    }
}
