//! The table as a chart: cycles of one event, one bar a path.

use crate::io::IO;
use crate::report::Row;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

const WIDTH: u32 = 1000;
const BAR: u32 = 22;
/// Above and below the bars: title and axis.
const MARGINS: u32 = 110;
/// Where bars begin, one core cycle being less than any event.
const LEAST: f64 = 0.5;

const OURS: RGBColor = RGBColor(0x1b, 0x7f, 0x5c);
const PEER: RGBColor = RGBColor(0xb0, 0x6a, 0x2c);
const YARDSTICK: RGBColor = RGBColor(0x8a, 0x8f, 0x98);

/// Draws the paths of one thread, the cheapest first, into an SVG file.
pub(crate) fn draw(rows: &[Row], file: &str) -> Result<(), Box<dyn std::error::Error>> {
    let mut bars: Vec<(String, f64, RGBColor)> = rows
        .iter()
        .filter(|row| row.threads == 1 && !row.name.starts_with("busy body") && row.name != "empty loop")
        // What calls the system takes a hundred times as long as what is drawn here.
        .filter(|row| IO.iter().all(|path| path.name != row.name))
        .filter_map(|row| Some((label(row), row.cost?.min, color(row))))
        .collect();
    bars.sort_by(|a, b| b.1.total_cmp(&a.1));
    let most = bars.first().map_or(1.0, |bar| bar.1) * 1.6;
    let timer_pair = rows.iter().find(|row| row.name == "timer pair").and_then(|row| row.cost).map_or(f64::NAN, |cost| cost.min);

    let area = SVGBackend::new(file, (WIDTH, bars.len() as u32 * BAR + MARGINS)).into_drawing_area();
    area.fill(&WHITE)?;
    let mut chart = ChartBuilder::on(&area)
        .margin(12)
        .caption("One event: TSC cycles, least of all batches (logarithmic)", ("sans-serif", 18))
        .x_label_area_size(44)
        .y_label_area_size(330)
        .build_cartesian_2d((LEAST..most).log_scale(), 0.0..bars.len() as f64)?;
    chart
        .configure_mesh()
        .disable_y_mesh()
        .disable_y_axis()
        .light_line_style(TRANSPARENT)
        .x_label_formatter(&|cycles| format!("{cycles}"))
        .x_desc("green: perfschema, brown: instead of it, grey: what both are made of; the line is a bare timer pair")
        .label_style(("sans-serif", 13))
        .draw()?;
    for (index, (label, cycles, color)) in bars.iter().enumerate() {
        let (low, middle, high) = (index as f64 + 0.15, index as f64 + 0.5, index as f64 + 0.85);
        chart.draw_series([Rectangle::new([(LEAST, low), (cycles.max(LEAST), high)], color.filled())])?;
        let text = |align| ("sans-serif", 13).into_font().color(&BLACK).pos(Pos::new(align, VPos::Center));
        chart.draw_series([EmptyElement::at((LEAST, middle)) + Text::new(label.clone(), (-8, 0), text(HPos::Right))])?;
        let figure = format!("{cycles:.*}", usize::from(*cycles < 10.0));
        chart.draw_series([EmptyElement::at((*cycles, middle)) + Text::new(figure, (6, 0), text(HPos::Left))])?;
    }
    chart.draw_series([PathElement::new([(timer_pair, 0.0), (timer_pair, bars.len() as f64)], BLACK.mix(0.5))])?;
    area.present()?;
    Ok(())
}

fn label(row: &Row) -> String {
    if row.variant.is_empty() { row.name.to_owned() } else { format!("{}: {}", row.name, row.variant) }
}

fn color(row: &Row) -> RGBColor {
    match row.name {
        "timer pair" | "std Mutex" => YARDSTICK,
        _ if row.cannot_show.is_empty() => OURS,
        _ => PEER,
    }
}
