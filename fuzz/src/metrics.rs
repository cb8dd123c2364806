//! Metrics of regions with damage: their text can be read by whoever reads metrics, line by line, and each name with its labels comes once.

use perfschema_core::Region;
use perfschema_server::metrics;
use std::collections::HashSet;

/// The bytes change words of a region in use.
///
/// # Panics
/// If a line is no metric, or is there twice.
pub fn metrics(data: &[u8]) {
    let words = crate::region::mutated(data);
    let Ok(region) = Region::open(&words) else { return };
    let families = metrics::collect(&region, 4);
    let (text, open) = (metrics::prometheus(&families), metrics::open_metrics(&families));
    assert!(open.ends_with("\n# EOF\n"), "no end");
    for text in [text, open] {
        let mut names = HashSet::new();
        for line in text.lines().filter(|line| !line.starts_with("# ")) {
            let (name, value) = line.rsplit_once(' ').expect("a name and a value");
            assert!(value.parse::<f64>().is_ok_and(f64::is_finite), "{line}");
            assert!(name.starts_with("perfschema_") && (name.ends_with('}') || !name.contains('{')), "{line}");
            assert!(names.insert(name), "twice: {line}");
        }
    }
}
