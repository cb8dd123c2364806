//! `perfschema top`
//!
//! ```text
//!  program ─ SQL, at each refresh ─→ view: rows, less what was there before ─→ layout: text that fits ─→ screen, or batch
//!                                                       app: what the keys have chosen ──────────────────↑
//! ```

mod app;
mod batch;
mod layout;
mod program;
mod screen;
mod view;

use super::Error;
use super::signals::hang_up;
use crate::arguments::positive;
use app::App;
use program::Program;
use ratatui::DefaultTerminal;
use ratatui::crossterm::event::{self, Event};
use ratatui::crossterm::execute;
use ratatui::crossterm::terminal::{EnterAlternateScreen, disable_raw_mode, enable_raw_mode};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::process::{Signal, getpid, kill_current_process_group};
use rustix::termios::tcgetsid;
use signal_hook::consts::{SIGCONT, SIGINT, SIGQUIT, SIGTERM, SIGTSTP};
use signal_hook::low_level::emulate_default_handler;
use std::ffi::OsString;
use std::io::{self, IsTerminal};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use view::{VIEWS, View};

/// Watch a program: what waits now, which events and files take the time.
///
/// The program may run, be stopped, or have ended. Press h for the keys. Where the output is no terminal, or a dumb one, the lists are
/// printed once, as with --batch.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The program: its pid, its name, or the path of a file: its region, or a core dump of it.
    target: OsString,
    /// Seconds between two refreshes.
    #[arg(short, long, default_value = "1", value_name = "SECONDS", value_parser = seconds, allow_negative_numbers = true)]
    delay: Duration,
    /// Print the lists as plain text instead, one refresh after the other.
    #[arg(short, long)]
    batch: bool,
    /// After so many refreshes, end; with --batch 1 unless it is said, else none.
    #[arg(short = 'n', long, value_name = "NUMBER", value_parser = positive::<u64>, allow_negative_numbers = true)]
    iterations: Option<u64>,
    /// Begin with this list, with --batch print only this one: waits, events, files, ….
    #[arg(long, value_parser = view)]
    view: Option<&'static View>,
    /// Show only rows that have this text in them.
    #[arg(long, default_value = "", hide_default_value = true, value_name = "TEXT")]
    filter: String,
}

fn seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.parse::<f64>().ok().filter(|seconds| (0.05..=86_400.0).contains(seconds));
    seconds.map(Duration::from_secs_f64).ok_or_else(|| "expected seconds from 0.05 to 86400".into())
}

fn view(text: &str) -> Result<&'static View, String> {
    let found = VIEWS.iter().find(|view| view.title.eq_ignore_ascii_case(text));
    let titles = || VIEWS.iter().map(|view| view.title.to_lowercase()).collect::<Vec<_>>().join(", ");
    found.ok_or_else(|| format!("expected one of {}", titles()))
}

pub(crate) fn run(args: &Args) -> Result<(), Error> {
    let program = Program::find(&args.target)?;
    // TERM says what the terminal understands; one that is dumb, or not known, understands text.
    let is_dumb = std::env::var_os("TERM").is_none_or(|term| term.is_empty() || term == "dumb");
    if args.batch || is_dumb || !io::stdout().is_terminal() || !io::stdin().is_terminal() {
        return batch::run(args, program);
    }
    let app = App::new(program, args.view, args.filter.clone(), args.delay);
    let signals = Signals::register().map_err(Error::Signals)?;
    let mut terminal = ratatui::try_init()?;
    let result = watch(&mut terminal, app, args.iterations, &signals);
    let result = result.and(terminal.show_cursor());
    // Dropped, it would show the cursor again, and where the terminal is gone panic, because it cannot even say that.
    std::mem::forget(terminal);
    let result = result.and(ratatui::try_restore());
    signals.end_if_told()?;
    Ok(result?)
}

/// What came of signals: one that would end or stop the program at once would leave the terminal as it is now. Relaxed: nothing else is
/// published by them.
struct Signals {
    /// The number of the last one that shall end the program.
    end: Arc<AtomicUsize>,
    /// The shell's Ctrl-Z.
    stop: Arc<AtomicBool>,
    /// The shell's fg, also after a SIGSTOP, which nobody hears of before.
    go_on: Arc<AtomicBool>,
}

impl Signals {
    fn register() -> io::Result<Signals> {
        let signals = Signals { end: Arc::default(), stop: Arc::default(), go_on: Arc::default() };
        for number in hang_up().chain([SIGINT, SIGQUIT, SIGTERM]) {
            let number_kept = usize::try_from(number).unwrap_or(0);
            signal_hook::flag::register_usize(number, Arc::clone(&signals.end), number_kept)?;
        }
        signal_hook::flag::register(SIGTSTP, Arc::clone(&signals.stop))?;
        signal_hook::flag::register(SIGCONT, Arc::clone(&signals.go_on))?;
        Ok(signals)
    }

    fn end(&self) -> usize {
        self.end.load(Ordering::Relaxed)
    }

    /// Ends as the program would have ended without all this: who waits for it learns of the signal.
    fn end_if_told(&self) -> io::Result<()> {
        match self.end() {
            0 => Ok(()),
            number => emulate_default_handler(i32::try_from(number).unwrap_or(SIGTERM)),
        }
    }
}

/// Draws and listens until somebody has enough of it.
fn watch(terminal: &mut DefaultTerminal, mut app: App, iterations: Option<u64>, signals: &Signals) -> io::Result<()> {
    /// How long a signal may go unnoticed.
    const ATTENTION: Duration = Duration::from_millis(100);
    /// How long crossterm looks for what is there already: for no time at all it does not look.
    const GLANCE: Duration = Duration::from_millis(1);
    let (mut refreshed, mut changed) = (0, true);
    while !app.has_ended && signals.end() == 0 {
        if std::mem::take(&mut app.is_to_stop) {
            stop_the_job()?;
        }
        if signals.stop.swap(false, Ordering::Relaxed) {
            terminal.show_cursor()?;
            ratatui::try_restore()?;
            emulate_default_handler(SIGTSTP)?;
            // The terminal is as it was, and may be another's now.
            signals.end_if_told()?;
            signals.go_on.store(true, Ordering::Relaxed);
        }
        if signals.go_on.swap(false, Ordering::Relaxed) {
            take_terminal()?;
            app.is_spoilt = true;
        }
        if std::mem::take(&mut app.is_spoilt) {
            // Not `clear`, which asks the terminal where the cursor is.
            let size = terminal.size()?;
            terminal.resize(size.into())?;
            changed = true;
        }
        if app.is_due() {
            app.refresh();
            refreshed += 1;
            changed = true;
        }
        if changed {
            terminal.draw(|frame| screen::draw(frame, &mut app))?;
            changed = false;
        }
        if iterations.is_some_and(|iterations| refreshed >= iterations) {
            break;
        }
        wait_for_keys(app.due().saturating_duration_since(Instant::now()).min(ATTENTION))?;
        // Whatever is there already.
        while event::poll(GLANCE)? {
            changed = true;
            if let Event::Key(key) = event::read()? {
                app.press(key);
            }
        }
    }
    Ok(())
}

/// What the terminal does itself of Ctrl-Z, where it is not raw: all that the shell has started together stops. Where there is no shell that
/// could let it go on, nothing does.
fn stop_the_job() -> io::Result<()> {
    let leads_session = tcgetsid(io::stdin()).is_ok_and(|session| session == getpid());
    if leads_session { Ok(()) } else { Ok(kill_current_process_group(Signal::TSTP)?) }
}

/// The terminal as `ratatui::try_init` has made it, which cannot be called again: panics would be told as often.
fn take_terminal() -> io::Result<()> {
    // After a SIGSTOP it is raw as far as crossterm knows, and not as the shell has left it.
    disable_raw_mode()?;
    enable_raw_mode()?;
    execute!(io::stdout(), EnterAlternateScreen)
}

/// Waits until there are keys, a signal comes, or the time is over. Of a terminal that is gone, as with the window or the connection that
/// it was, crossterm says nothing: an error.
fn wait_for_keys(limit: Duration) -> io::Result<()> {
    let input = io::stdin();
    let mut polled = [PollFd::new(&input, PollFlags::IN)];
    match poll(&mut polled, limit.try_into().ok().as_ref()) {
        Ok(_) if polled[0].revents().intersects(PollFlags::HUP | PollFlags::ERR) => {
            Err(io::Error::new(io::ErrorKind::NotConnected, "the terminal is gone"))
        }
        Ok(_) | Err(Errno::INTR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

#[cfg(test)]
#[path = "../../../tests/common/terminal.rs"]
mod terminal;

#[cfg(test)]
mod tests {
    use super::terminal::Terminal;
    use super::*;

    /// Of itself, this test starts a second time on a terminal, where it panics.
    #[test]
    fn a_panic_leaves_the_terminal_as_it_was() {
        const PANICS: &str = "PERFSCHEMA_TEST_PANICS";
        if std::env::var_os(PANICS).is_some() {
            let mut terminal = ratatui::try_init().expect("it is a terminal");
            terminal.draw(|frame| frame.render_widget("something", frame.area())).expect("it is drawn");
            panic!("in the middle of it");
        }
        let test = std::env::current_exe().expect("it runs");
        let name = "shared::top::tests::a_panic_leaves_the_terminal_as_it_was";
        let arguments = ["--exact", name, "--nocapture", "--test-threads", "1"];
        let mut terminal = Terminal::start(test, &arguments, &[(PANICS, "1"), ("RUST_BACKTRACE", "0")], (24, 100));
        terminal.until("it has panicked", |screen| screen.contains("in the middle of it") && screen.contains("1 failed"));
        assert!(!terminal.ended().success());
        terminal.is_as_before();
    }

    #[test]
    fn arguments() {
        assert_eq!(seconds("0.5"), Ok(Duration::from_millis(500)));
        for text in ["", "0", "-1", "NaN", "inf", "1e9", "x"] {
            assert!(seconds(text).is_err(), "{text}");
        }
        assert!(view("FILES").is_ok_and(|view| view.title == "Files"));
        assert!(view("x").is_err_and(|error| error.starts_with("expected one of waits, events, files")));
    }
}
