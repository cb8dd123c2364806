//! One frame of `perfschema top`.

use super::app::{App, KEYS, Over};
use super::layout::{self, GAP};
use super::program::threads_text;
use super::view::{Shown, VIEWS};
use crate::output;
use crate::shared::target::State;
use perfschema::render::text::{Footer, Times, escape};
use perfschema::render::{Grid, OwnedValue};
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span, Text};
use ratatui::widgets::{Block, Clear, Paragraph, Row, Table};
use std::iter;

/// A wait this long is a long one, and one this long a very long one.
const LONG_PS: [f64; 2] = [1e11, 1e12];

/// The color, unless the user wants none.
fn color(color: Color) -> Style {
    if console::colors_enabled() { Style::new().fg(color) } else { Style::new() }
}

pub(super) fn draw(frame: &mut Frame<'_>, app: &mut App) {
    let lost = u16::from(!app.lost.is_empty());
    let rows =
        [Constraint::Length(1), Constraint::Length(1), Constraint::Length(lost), Constraint::Min(0), Constraint::Length(1)];
    // In a very low terminal, the list is what stays.
    let [head, tabs, loss, list, foot] = match frame.area().height {
        0..3 => [Rect::ZERO, Rect::ZERO, Rect::ZERO, frame.area(), Rect::ZERO],
        _ => Layout::vertical(rows).areas(frame.area()),
    };
    frame.render_widget(heading(app), head);
    frame.render_widget(views(app, tabs.width.into()), tabs);
    frame.render_widget(Line::styled(format!("lost: {}", app.lost.join(", ")), color(Color::Red)), loss);
    draw_list(frame, app, list);
    frame.render_widget(footing(app), foot);
    match app.over {
        Over::Nothing => {}
        Over::Help => draw_over(frame, "Keys", &help(room_over(frame)), &mut app.scroll),
        Over::Details => draw_over(frame, "Row", &details(app), &mut app.scroll),
    }
}

fn heading(app: &App) -> Line<'static> {
    let state = match app.program.state {
        State::Runs => Color::Green,
        State::Stopped => Color::Yellow,
        State::Ended => Color::Red,
    };
    let state = Span::styled(app.program.state.name(), color(state));
    let mut spans = vec![Span::styled(app.program.name(), Modifier::BOLD), " ".into(), state];
    spans.push(format!(", {}", threads_text(app.threads)).into());
    if app.is_paused {
        spans.push(Span::styled("  PAUSED", Modifier::BOLD));
    } else {
        spans.push(format!("  every {} s", app.delay.as_secs_f64()).into());
    }
    if !app.filter.is_empty() && !app.is_typing {
        spans.push(format!("  with \"{}\"", escape(&app.filter)).into());
    }
    Line::from(spans)
}

/// The views that find room, among them the one that is shown.
fn views(app: &App, width: usize) -> Line<'static> {
    const MORE: &str = "…";
    let titles: Vec<String> = VIEWS.iter().enumerate().map(|(index, view)| format!("{} {}", index + 1, view.title)).collect();
    let fits = |from: usize, to: usize| {
        let shown: usize = titles[from..to].iter().map(|title| title.chars().count() + GAP).sum();
        let more = if to < titles.len() { GAP + MORE.chars().count() } else { 0 };
        shown + usize::from(from > 0) + more <= width + GAP
    };
    let (mut from, mut to) = (0, titles.len());
    while to > app.view + 1 && !fits(from, to) {
        to -= 1;
    }
    while from < app.view && !fits(from, to) {
        from += 1;
    }
    let mut spans: Vec<Span<'_>> = if from > 0 { vec![MORE.into()] } else { Vec::new() };
    for (index, title) in titles.iter().enumerate().take(to).skip(from) {
        let style = if index == app.view { Style::new().add_modifier(Modifier::REVERSED) } else { Style::new() };
        spans.push(Span::styled(title.clone(), style));
        spans.push(" ".repeat(GAP).into());
    }
    if to < titles.len() {
        spans.push(MORE.into());
    }
    Line::from(spans)
}

fn footing(app: &App) -> Line<'static> {
    if app.is_typing {
        return Line::from(format!("only rows with: {}▏", escape(&app.filter)));
    }
    if !app.message.is_empty() {
        return Line::styled(escape(&app.message), Modifier::BOLD);
    }
    let keys = "h help  q quit  s sort  / filter  Space pause  e enable  t time  Enter more";
    Line::styled(keys, Modifier::DIM)
}

fn draw_list(frame: &mut Frame<'_>, app: &mut App, area: Rect) {
    let rows = app.rows();
    let chosen = app.chosen(&rows);
    let columns = &app.listing.columns;
    let texts = layout::texts(columns, &rows);
    let fitting = layout::fit(columns, &texts, area.width.into());
    let (sorted_by, descending) = app.sort();
    let heading = fitting.iter().map(|&(index, width)| {
        let title = columns[index].title.to_uppercase();
        let style = if index == sorted_by { Modifier::UNDERLINED } else { Modifier::empty() };
        // Where there is room for it; else the line below it has to do.
        let arrow = if descending { "▼" } else { "▲" };
        let with_arrow = format!("{title}{arrow}");
        let title = if index == sorted_by && console::measure_text_width(&with_arrow) <= width { with_arrow } else { title };
        Span::styled(layout::pad(&title, width, columns[index].shown), style | Modifier::BOLD)
    });
    let heading: Vec<Span<'_>> = heading.collect();
    let empty = rows.is_empty();
    let lines: Vec<Row<'_>> = rows
        .iter()
        .zip(&texts)
        .map(|(row, texts)| {
            let cell = |&(index, width): &(usize, usize)| {
                let style = style(columns[index].shown, &columns[index].title, row.cells.get(index));
                Span::styled(layout::pad(&texts[index], width, columns[index].shown), style)
            };
            Row::new(fitting.iter().map(cell).collect::<Vec<_>>())
        })
        .collect();
    let widths = fitting.iter().map(|&(_, width)| Constraint::Length(u16::try_from(width).unwrap_or(u16::MAX)));
    let table = Table::new(lines, widths)
        .column_spacing(GAP as u16)
        .header(Row::new(heading))
        .row_highlight_style(Style::new().add_modifier(Modifier::REVERSED));
    app.table.select(chosen);
    frame.render_stateful_widget(table, area, &mut app.table);
    if empty && area.height > 1 {
        let what = if app.filter.is_empty() { "nothing at the moment" } else { "no row has this text; Esc shows all" };
        frame.render_widget(Line::styled(what, Modifier::DIM), Rect { y: area.y + 1, height: 1, ..area });
    }
}

/// Long waits stand out, and what is off stands back.
fn style(shown: Shown, title: &str, value: Option<&OwnedValue>) -> Style {
    match (shown, value) {
        (Shown::Time, Some(OwnedValue::Unsigned(time))) if title == "waits" && *time as f64 >= LONG_PS[1] => color(Color::Red),
        (Shown::Time, Some(OwnedValue::Unsigned(time))) if title == "waits" && *time as f64 >= LONG_PS[0] => color(Color::Yellow),
        (_, Some(OwnedValue::Text(text))) if text == "off" => Style::new().add_modifier(Modifier::DIM),
        _ => Style::new(),
    }
}

/// The keys, and beside them what they do, in as many lines as that takes.
fn help(room: usize) -> Vec<String> {
    let width = KEYS.iter().map(|(key, _)| key.chars().count()).max().unwrap_or(0);
    let of_key = |&(key, what): &(&str, &str)| {
        let heads = iter::once(key.to_owned()).chain(iter::repeat(String::new()));
        let beside = output::lines(what, room.saturating_sub(width + GAP));
        heads.zip(beside).map(|(head, line)| format!("{head:width$}{:GAP$}{line}", "")).collect::<Vec<_>>()
    };
    KEYS.iter().flat_map(of_key).collect()
}

/// The chosen row with all the columns of its table.
fn details(app: &App) -> Vec<String> {
    let rows = app.rows();
    let Some(row) = app.chosen(&rows).map(|index| rows[index].details.clone()) else { return vec!["no row is chosen".into()] };
    let grid = Grid { columns: app.listing.heads.clone(), rows: vec![row] };
    let text = grid.vertical().times(Times::Human).footer(Footer::None).to_string();
    // Without the line that counts rows.
    text.lines().skip(1).map(str::to_owned).collect()
}

/// What a line over the list has left and right of it.
const FRAME: usize = 2;

/// How wide a line over the list may be.
fn room_over(frame: &Frame<'_>) -> usize {
    usize::from(frame.area().width).saturating_sub(FRAME)
}

/// Draws lines over the list, from one of them on: `scroll`, which is set back to where the last line is the last that is shown.
fn draw_over(frame: &mut Frame<'_>, title: &str, lines: &[String], scroll: &mut usize) {
    let area = frame.area();
    let lines: Vec<String> = lines.iter().flat_map(|line| layout::wrapped(line, room_over(frame))).collect();
    let shown = lines.len().min(usize::from(area.height).saturating_sub(FRAME));
    *scroll = (*scroll).min(lines.len() - shown);
    let title = if shown < lines.len() {
        format!("{title}, from line {} of {}, ↑ ↓", *scroll + 1, lines.len())
    } else {
        title.to_owned()
    };
    let text = Text::from_iter(lines.iter().skip(*scroll).take(shown).cloned());
    // As wide with all lines: it shall not change with the line.
    let longest = lines.iter().map(|line| console::measure_text_width(line)).max().unwrap_or(0);
    let wanted = longest.max(console::measure_text_width(&title)) + 2 * FRAME;
    let width = u16::try_from(wanted).unwrap_or(u16::MAX).min(area.width);
    let height = u16::try_from(shown + FRAME).unwrap_or(u16::MAX).min(area.height);
    let over = Rect { x: (area.width - width) / 2, y: (area.height - height) / 2, width, height };
    // With a column on both sides: half of a wide character there would take the place of the frame.
    frame.render_widget(Clear, Rect { x: over.x.saturating_sub(1), width: width.saturating_add(2), ..over }.intersection(area));
    frame.render_widget(Paragraph::new(text).block(Block::bordered().title(title)), over);
}
