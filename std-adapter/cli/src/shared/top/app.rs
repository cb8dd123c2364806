//! What the keys have chosen.

use super::super::target::State;
use super::layout;
use super::program::{Program, Switch};
use super::view::{Listing, Row, VIEWS, View};
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use ratatui::widgets::TableState;
use std::collections::HashMap;
use std::time::{Duration, Instant};

/// The keys, as the help shows them.
pub(super) const KEYS: &[(&str, &str)] = &[
    ("1 … 9, Tab", "the list"),
    ("↑ ↓ PgUp PgDn", "the row; over the list, the line"),
    ("Enter", "all that the table says of the row"),
    ("s S, < >", "sort by the next, the former column"),
    ("r", "sort the other way round"),
    ("/", "only rows with a text; Esc: all"),
    ("Space", "pause, go on"),
    ("+ -", "refresh less, more often"),
    ("e", "ENABLED of the row's instrument: on, off"),
    ("t", "TIMED of it"),
    ("h ?", "this"),
    ("Ctrl-L", "draw all of it again"),
    ("Ctrl-Z", "stop, until the shell's fg"),
    ("q, Ctrl-C", "quit"),
];

/// So many rows or lines further.
const PAGE: usize = 10;

/// What lies over the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Over {
    Nothing,
    Help,
    Details,
}

pub(super) struct App {
    pub(super) program: Program,
    /// Which of [`VIEWS`].
    pub(super) view: usize,
    pub(super) listing: Listing,
    /// Of the views that were sorted by hand.
    sorts: HashMap<&'static str, (usize, bool)>,
    pub(super) filter: String,
    pub(super) is_typing: bool,
    pub(super) is_paused: bool,
    pub(super) over: Over,
    /// The first line that is shown of what lies over the list, where it has more lines than there is room for.
    pub(super) scroll: usize,
    pub(super) delay: Duration,
    pub(super) message: String,
    pub(super) threads: u64,
    pub(super) lost: Vec<String>,
    pub(super) table: TableState,
    /// The key of the row that is chosen: it stays chosen where it goes.
    chosen: Option<String>,
    pub(super) has_ended: bool,
    /// Whether the shell is wanted for a while.
    pub(super) is_to_stop: bool,
    /// Whether the terminal may show something else than what was drawn.
    pub(super) is_spoilt: bool,
    due: Instant,
}

impl App {
    pub(super) fn new(program: Program, view: Option<&'static View>, filter: String, delay: Duration) -> App {
        let view = view.and_then(|wanted| VIEWS.iter().position(|view| view.title == wanted.title)).unwrap_or(0);
        App {
            program,
            view,
            listing: Listing::default(),
            sorts: HashMap::new(),
            filter,
            is_typing: false,
            is_paused: false,
            over: Over::Nothing,
            scroll: 0,
            delay,
            message: String::new(),
            threads: 0,
            lost: Vec::new(),
            table: TableState::default(),
            chosen: None,
            has_ended: false,
            is_to_stop: false,
            is_spoilt: false,
            due: Instant::now(),
        }
    }

    pub(super) fn due(&self) -> Instant {
        self.due
    }

    pub(super) fn is_due(&self) -> bool {
        !self.is_paused && self.due <= Instant::now()
    }

    /// Reads the list that is shown.
    pub(super) fn refresh(&mut self) {
        let view = &VIEWS[self.view];
        // The first time there are no rates yet: they shall not be long in coming.
        let delay = if self.program.has_read(view) { self.delay } else { self.delay.min(Duration::from_millis(500)) };
        let read = self.program.look().and_then(|()| self.program.read(view));
        match read {
            Ok(listing) => self.listing = listing,
            // The rows that were there stay.
            Err(error) => self.message = error.to_string(),
        }
        self.threads = self.program.threads();
        self.lost = self.program.lost();
        // From now on: however long it takes to read, there is as much time between as was asked for.
        self.due = Instant::now() + delay;
    }

    pub(super) fn sort(&self) -> (usize, bool) {
        self.sorts.get(VIEWS[self.view].title).copied().unwrap_or(self.listing.sort)
    }

    /// The rows as they are shown: so many that nobody scrolls to the last one, of tables that may have many thousands.
    pub(super) fn rows(&self) -> Vec<&Row> {
        const MOST: usize = 1000;
        let mut rows = layout::arranged(&self.listing, &self.filter, self.sort());
        rows.truncate(MOST);
        rows
    }

    /// Which of these rows is chosen.
    pub(super) fn chosen(&self, rows: &[&Row]) -> Option<usize> {
        let last = rows.len().checked_sub(1)?;
        let found = self.chosen.as_ref().and_then(|key| rows.iter().position(|row| row.key == *key));
        Some(found.unwrap_or_else(|| self.table.selected().unwrap_or(0).min(last)))
    }

    fn chosen_row(&self) -> Option<Row> {
        let rows = self.rows();
        self.chosen(&rows).map(|index| rows[index].clone())
    }

    fn step(&mut self, by: isize) {
        let rows = self.rows();
        let Some(now) = self.chosen(&rows) else { return };
        let next = now.saturating_add_signed(by).min(rows.len() - 1);
        self.chosen = Some(rows[next].key.clone());
    }

    /// What a key does.
    pub(super) fn press(&mut self, key: KeyEvent) {
        if key.kind == KeyEventKind::Release {
            return;
        }
        self.message.clear();
        if key.modifiers.contains(KeyModifiers::CONTROL) {
            match key.code {
                KeyCode::Char('c') => self.has_ended = true,
                KeyCode::Char('l') => {
                    self.is_spoilt = true;
                    self.due = Instant::now();
                }
                KeyCode::Char('z') => self.is_to_stop = true,
                // A line feed, which a terminal makes of an Enter that was pressed before it was ours.
                KeyCode::Char('j') => self.press(KeyCode::Enter.into()),
                _ => {}
            }
        } else if self.is_typing {
            self.type_filter(key.code);
        } else if self.over != Over::Nothing {
            self.scroll_or_close(key.code);
        } else {
            self.command(key.code);
        }
    }

    fn scroll_or_close(&mut self, key: KeyCode) {
        // However far, drawing stops at the last line.
        self.scroll = match key {
            KeyCode::Up | KeyCode::Char('k') => self.scroll.saturating_sub(1),
            KeyCode::Down | KeyCode::Char('j') => self.scroll.saturating_add(1),
            KeyCode::PageUp => self.scroll.saturating_sub(PAGE),
            KeyCode::PageDown => self.scroll.saturating_add(PAGE),
            KeyCode::Home => 0,
            KeyCode::End => usize::MAX,
            _ => {
                self.over = Over::Nothing;
                self.has_ended = key == KeyCode::Char('q');
                0
            }
        };
    }

    fn type_filter(&mut self, key: KeyCode) {
        match key {
            KeyCode::Char(c) => self.filter.push(c),
            KeyCode::Backspace => drop(self.filter.pop()),
            KeyCode::Enter => self.is_typing = false,
            KeyCode::Esc => {
                self.filter.clear();
                self.is_typing = false;
            }
            _ => {}
        }
    }

    fn command(&mut self, key: KeyCode) {
        match key {
            KeyCode::Char('q') => self.has_ended = true,
            KeyCode::Char('h' | '?') | KeyCode::F(1) => self.over = Over::Help,
            KeyCode::Enter => self.over = Over::Details,
            KeyCode::Char(digit @ '1'..='9') => self.show(usize::from(digit as u8 - b'1')),
            KeyCode::Tab | KeyCode::Right => self.show((self.view + 1) % VIEWS.len()),
            KeyCode::BackTab | KeyCode::Left => self.show((self.view + VIEWS.len() - 1) % VIEWS.len()),
            KeyCode::Up | KeyCode::Char('k') => self.step(-1),
            KeyCode::Down | KeyCode::Char('j') => self.step(1),
            KeyCode::PageUp => self.step(-PAGE.cast_signed()),
            KeyCode::PageDown => self.step(PAGE.cast_signed()),
            KeyCode::Home => self.step(isize::MIN),
            KeyCode::End => self.step(isize::MAX),
            KeyCode::Char('s' | '>') => self.sort_by(1),
            KeyCode::Char('S' | '<') => self.sort_by(self.listing.columns.len().saturating_sub(1)),
            KeyCode::Char('r') => {
                let (column, descending) = self.sort();
                self.sorts.insert(VIEWS[self.view].title, (column, !descending));
            }
            KeyCode::Char('/') => self.is_typing = true,
            KeyCode::Esc => self.filter.clear(),
            KeyCode::Char(' ' | 'p') => {
                self.is_paused = !self.is_paused;
                self.due = Instant::now();
            }
            KeyCode::Char('+') => self.set_delay(self.delay * 2),
            KeyCode::Char('-') => self.set_delay(self.delay / 2),
            KeyCode::Char('e') => self.switch(Switch::Enabled),
            KeyCode::Char('t') => self.switch(Switch::Timed),
            _ => {}
        }
    }

    fn show(&mut self, view: usize) {
        if view < VIEWS.len() && view != self.view {
            self.view = view;
            self.listing = Listing::default();
            self.chosen = None;
            self.table = TableState::default();
            self.is_paused = false;
            self.due = Instant::now();
        }
    }

    /// Goes on to another column; names from A, numbers from the largest.
    fn sort_by(&mut self, on: usize) {
        let count = self.listing.columns.len();
        if count > 0 {
            let column = (self.sort().0 + on) % count;
            let descending = !self.listing.columns[column].shown.is_text();
            self.sorts.insert(VIEWS[self.view].title, (column, descending));
        }
    }

    fn set_delay(&mut self, delay: Duration) {
        self.delay = delay.clamp(Duration::from_millis(50), Duration::from_secs(3600));
        self.due = Instant::now() + self.delay;
    }

    fn switch(&mut self, switch: Switch) {
        let row = self.chosen_row();
        // It stays chosen, wherever it goes without its events.
        self.chosen = row.as_ref().map(|row| row.key.clone());
        let Some(instrument) = row.and_then(|row| row.instrument) else {
            self.message = "no instrument is chosen".into();
            return;
        };
        self.message = match self.program.switch(&instrument, switch) {
            Ok(message) => message,
            // Where it runs, its file is one that may only be read.
            Err(error) if error.errno == 1290 && self.program.state == State::Ended => {
                "the program has ended, its setup cannot be changed".into()
            }
            Err(error) => error.to_string(),
        };
        self.due = Instant::now();
    }
}
