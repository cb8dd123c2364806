//! How far it is, and who waits for whom: in place on a terminal, else a line now and then. Goes to the standard error.

use super::waiting::{self, ThreadNow};
use crate::output;
use indicatif::{DecimalBytes, ProgressBar, ProgressStyle};
use std::io::IsTerminal;
use std::path::Path;
use std::time::{Duration, Instant};

/// How often the view on a terminal changes; a faster one cannot be read.
const VIEW_INTERVAL: Duration = Duration::from_millis(500);
/// Threads in the view.
const VIEW_LINES_MAX: usize = 12;

/// Where it is shown.
#[derive(Debug)]
pub(crate) enum Progress {
    Bar(Bar),
    Lines(Lines),
}

/// A bar with the view below it.
#[derive(Debug)]
pub(crate) struct Bar {
    bar: ProgressBar,
    next_view: Instant,
}

/// Lines, ever more seldom.
#[derive(Debug)]
pub(crate) struct Lines {
    total_bytes: u64,
    run: u32,
    begin: Instant,
    next_line: Instant,
}

/// Finds the files, which takes a while where there are many; a terminal is told so.
pub(crate) fn searching<T>(dir: &Path, find: impl FnOnce() -> T) -> T {
    let spinner = ProgressBar::new_spinner().with_message(format!("Looking for files below {}", output::path(dir)));
    turn(&spinner);
    let found = find();
    spinner.finish_and_clear();
    found
}

/// Serves; a terminal is told whom.
#[cfg(unix)]
pub(crate) fn serving() -> ProgressBar {
    let style = ProgressStyle::with_template("{spinner} Serving, Ctrl-C ends: {msg}").expect("the template is a constant");
    let spinner = ProgressBar::new_spinner().with_style(style);
    turn(&spinner);
    spinner
}

/// Turns it, by a thread: not where nobody sees it, because it panics where there is no thread.
fn turn(spinner: &ProgressBar) {
    if !spinner.is_hidden() {
        spinner.enable_steady_tick(VIEW_INTERVAL / 5);
    }
}

impl Progress {
    pub(crate) fn new(total_bytes: u64) -> Progress {
        let now = Instant::now();
        if !std::io::stderr().is_terminal() {
            return Progress::Lines(Lines { total_bytes, run: 0, begin: now, next_line: now + VIEW_INTERVAL });
        }
        let style = ProgressStyle::with_template("{prefix} {wide_bar:.green} {decimal_bytes}/{decimal_total_bytes}\n{msg}");
        let style = style.expect("the template is a constant").progress_chars("━━─");
        Progress::Bar(Bar { bar: ProgressBar::new(total_bytes).with_style(style), next_view: now })
    }

    /// The run with this number begins.
    pub(crate) fn begin_run(&mut self, run: u32) {
        match self {
            Progress::Bar(Bar { bar, .. }) if run == 1 => bar.set_prefix("Indexing"),
            Progress::Bar(Bar { bar, .. }) => bar.set_prefix(format!("Run {run}")),
            Progress::Lines(lines) => lines.run = run,
        }
    }

    /// To be called often.
    pub(crate) fn look(&mut self, done_bytes: u64, threads: impl FnOnce() -> Vec<ThreadNow>) {
        match self {
            Progress::Bar(bar) => bar.look(done_bytes, threads),
            Progress::Lines(lines) => lines.look(done_bytes, threads),
        }
    }

    /// Takes away what was shown in place.
    pub(crate) fn finish(&self) {
        if let Progress::Bar(Bar { bar, .. }) = self {
            bar.finish_and_clear();
        }
    }
}

impl Bar {
    fn look(&mut self, done_bytes: u64, threads: impl FnOnce() -> Vec<ThreadNow>) {
        self.bar.set_position(done_bytes);
        let now = Instant::now();
        if now < self.next_view {
            return;
        }
        let threads = threads();
        // If nobody waits at this moment, the next look may find somebody.
        let waits = threads.iter().any(|thread| thread.wait.is_some());
        self.next_view = now + if waits { VIEW_INTERVAL } else { VIEW_INTERVAL / 5 };
        let (rows, columns) = console::Term::stderr().size();
        let lines = VIEW_LINES_MAX.min(usize::from(rows).saturating_sub(3));
        self.bar.set_message(waiting::view(&threads, lines, usize::from(columns).saturating_sub(1)));
    }
}

impl Lines {
    fn look(&mut self, done_bytes: u64, threads: impl FnOnce() -> Vec<ThreadNow>) {
        let now = Instant::now();
        if now < self.next_line {
            return;
        }
        let interval = VIEW_INTERVAL.max(self.begin.elapsed() / 10);
        let Some(sentence) = waiting::sentence(&threads()).or_else(|| (now > self.next_line + interval).then(String::new)) else {
            return;
        };
        self.next_line = now + interval;
        let run = if self.run == 1 { String::new() } else { format!("run {}, ", self.run) };
        let (done, total) = (DecimalBytes(done_bytes), DecimalBytes(self.total_bytes));
        note!("{run}{done} of {total}{}{sentence}", if sentence.is_empty() { "" } else { ": " });
    }
}
