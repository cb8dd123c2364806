//! Charts as SVG. They have no background and their text no color of its own: the page's style gives both, for light and dark.

use indicatif::BinaryBytes;
use perfschema::core::picotime::format_pico_time;
use perfschema::render::text::{escape, shorten};
use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

const WIDTH: u32 = 900;
const BAR: u32 = 22;
/// Room for a bar's name, in points and in letters of the size.
const NAME: u32 = 330;
const NAME_LETTERS: usize = 46;
/// Room for a bar's figure.
const FIGURE: f64 = 1.16;

/// Readable on white and on black.
const OURS: RGBColor = RGBColor(0x1f, 0x93, 0x6a);
const OTHER: RGBColor = RGBColor(0xc0, 0x7a, 0x38);

type Drawing<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type Drawn = Result<(), Box<dyn std::error::Error>>;

/// Draws, and labels for those who do not see it. None if there is nothing to draw.
fn svg(title: &str, height: u32, draw: impl FnOnce(&Drawing<'_>) -> Drawn) -> Option<String> {
    let mut svg = String::new();
    {
        let area = SVGBackend::with_string(&mut svg, (WIDTH, height)).into_drawing_area();
        // Nothing here can fail but writing, which goes to memory.
        draw(&area).ok()?;
        area.present().ok()?;
    }
    // The title goes into an attribute, escaped by the page's own rules.
    let label = maud::html! { (title) }.into_string();
    svg.find("<svg ").map(|at| format!("<svg role=\"img\" aria-label=\"{label}\" {}", &svg[at + "<svg ".len()..]))
}

fn picoseconds(time: f64) -> String {
    format_pico_time(time.max(0.0).round() as u64).to_string().trim_start().to_owned()
}

fn byte_count(bytes: f64) -> String {
    BinaryBytes(bytes.max(0.0).round() as u64).to_string()
}

/// One bar a name, as long as its time.
pub(super) fn times(title: &str, bars: &[(String, f64)]) -> Option<String> {
    horizontal(title, bars, &[(bars, OURS)], &picoseconds)
}

/// Two bars a name, one behind the other.
pub(super) fn bytes(title: &str, read: &[(String, f64)], written: &[(String, f64)]) -> Option<String> {
    let both: Vec<(String, f64)> =
        read.iter().zip(written).map(|((name, read), (_, written))| (name.clone(), read + written)).collect();
    // The sum first: what is read lies over it.
    horizontal(title, &both, &[(&both, OTHER), (read, OURS)], &byte_count)
}

fn horizontal(
    title: &str,
    total: &[(String, f64)],
    layers: &[(&[(String, f64)], RGBColor)],
    text: &dyn Fn(f64) -> String,
) -> Option<String> {
    let most = total.iter().map(|bar| bar.1).fold(0.0, f64::max);
    if most <= 0.0 {
        return None;
    }
    let count = total.len();
    svg(title, count as u32 * BAR + 60, |area| {
        let mut chart = ChartBuilder::on(area)
            .margin(8)
            .caption(title, ("sans-serif", 16))
            .y_label_area_size(NAME)
            .build_cartesian_2d(0.0..most * FIGURE, 0.0..count as f64)?;
        let place = |index: usize| (count - 1 - index) as f64;
        for (bars, color) in layers {
            let bar = |(index, (_, value)): (usize, &(String, f64))| {
                Rectangle::new([(0.0, place(index) + 0.15), (*value, place(index) + 0.85)], color.filled())
            };
            chart.draw_series(bars.iter().enumerate().map(bar))?;
        }
        let label = |align| ("sans-serif", 13).into_font().color(&BLACK).pos(Pos::new(align, VPos::Center));
        for (index, (name, value)) in total.iter().enumerate() {
            let at = |x: f64| EmptyElement::at((x, place(index) + 0.5));
            let name = shorten(&escape(name), NAME_LETTERS);
            chart.draw_series([at(0.0) + Text::new(name, (-8, 0), label(HPos::Right))])?;
            chart.draw_series([at(*value) + Text::new(text(*value), (6, 0), label(HPos::Left))])?;
        }
        Ok(())
    })
}

/// One column a bucket, from the first to the last that has something; the buckets grow by a ratio, so the scale is logarithmic.
pub(super) fn histogram(title: &str, buckets: &[(f64, f64)]) -> Option<String> {
    let first = buckets.iter().position(|bucket| bucket.1 > 0.0)?;
    let last = buckets.iter().rposition(|bucket| bucket.1 > 0.0)?;
    let shown = &buckets[first..=last];
    let most = shown.iter().map(|bucket| bucket.1).fold(0.0, f64::max);
    let title = shorten(&escape(title), 90);
    svg(&title, 180, |area| {
        let mut chart = ChartBuilder::on(area)
            .margin(8)
            .caption(&title, ("sans-serif", 14))
            .x_label_area_size(24)
            .y_label_area_size(60)
            // Room for one column at least, and for the labels at the ends.
            .build_cartesian_2d(0.0..(shown.len() as f64).max(8.0), 0.0..most * 1.05)?;
        let low = |x: &f64| {
            let index = x.round().max(0.0) as usize;
            shown.get(index).map_or_else(String::new, |bucket| picoseconds(bucket.0))
        };
        chart
            .configure_mesh()
            .disable_x_mesh()
            .x_labels(9)
            .y_labels(4)
            .x_label_formatter(&low)
            .y_label_formatter(&|count| format!("{count:.0}"))
            .label_style(("sans-serif", 12))
            .light_line_style(TRANSPARENT)
            .draw()?;
        let column = |(index, bucket): (usize, &(f64, f64))| {
            Rectangle::new([(index as f64 + 0.05, 0.0), (index as f64 + 0.95, bucket.1)], OURS.filled())
        };
        chart.draw_series(shown.iter().enumerate().map(column))?;
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stay_within_the_chart() {
        let hostile = r#"</text><script>alert(1)</script>"&'"#.to_owned();
        for svg in [
            times(&hostile, &[(hostile.clone(), 5.0)]),
            bytes(&hostile, &[(hostile.clone(), 1.0)], &[(hostile.clone(), 2.0)]),
            histogram(&hostile, &[(1.0, 0.0), (10.0, 5.0)]),
        ] {
            let svg = svg.expect("there is something to draw");
            assert!(!svg.contains("<script") && svg.contains("&lt;script"), "{svg}");
            assert!(svg.starts_with("<svg role=\"img\" aria-label=\"&lt;/text&gt;&lt;script"), "{svg}");
            assert_eq!(svg.matches("</svg>").count(), 1);
        }
    }

    #[test]
    fn nothing_and_much() {
        assert_eq!(times("t", &[]), None);
        assert_eq!(times("t", &[("a".into(), 0.0)]), None);
        assert_eq!(histogram("t", &[(1.0, 0.0)]), None);
        let most = u64::MAX as f64;
        assert!(times("t", &[("a".into(), most), ("b".into(), 1.0)]).is_some());
        assert!(histogram("t", &[(most, most)]).is_some());
    }
}
