//! `perfschema shell`
//!
//! On a terminal: [`scan`] finds where statements end in the lines that are typed, [`complete`] offers names. Otherwise a script.

mod complete;
mod scan;

use super::signals::hang_up;
use super::target::State;
use super::{Error, result, target};
use crate::arguments::positive;
use crate::{input, output};
use complete::Completion;
use perfschema::render::Grid;
use perfschema::render::text::{Footer, escape};
use perfschema_sql::{self as sql, Outcome, Session};
use rustix::termios::{OptionalActions, tcgetattr, tcsetattr};
use rustyline::error::ReadlineError;
use rustyline::history::FileHistory;
use rustyline::{CompletionType, Config, Editor};
use scan::{Open, Scanner, Step};
use signal_hook::consts::{SIGINT, SIGQUIT, SIGTERM};
use signal_hook::iterator::Signals;
use std::ffi::OsString;
use std::fmt;
use std::io::{self, IsTerminal, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// Ask a program's tables, statement by statement, as with the mysql client.
///
/// A statement ends with ; or \G and may have several lines. Tab completes names, Ctrl-C stops a statement that runs, \h helps.
/// What is not typed at a terminal, or answered at none, is a script, and its rows come out with tabs between their values.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The program: its pid, its name, or the path of a file: its region, or a core dump of it.
    target: OsString,
    /// How long one statement may take, in seconds.
    #[arg(long, default_value_t = 10, value_name = "SECONDS", value_parser = positive::<u64>, allow_negative_numbers = true)]
    timeout: u64,
    /// Print the rows of a script in frames, too.
    #[arg(short, long)]
    table: bool,
    /// Go on with a script after an error.
    #[arg(short, long)]
    force: bool,
}

/// Why a script ended early.
#[derive(Debug)]
pub(crate) enum ShellError {
    /// A statement was refused.
    Statement(sql::Error, u64),
    /// A line is no text.
    NotUtf8(u64),
    /// The terminal does not work.
    Terminal(ReadlineError),
}

impl fmt::Display for ShellError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            // As the `mysql` client has it.
            ShellError::Statement(error, line) => {
                write!(f, "ERROR {} ({}) at line {line}: {}", error.errno, error.sqlstate, error.message)
            }
            ShellError::NotUtf8(line) => write!(f, "perfschema: line {line} is not UTF-8"),
            ShellError::Terminal(error) => write!(f, "perfschema: the terminal: {error}"),
        }
    }
}

impl std::error::Error for ShellError {}

pub(crate) fn run(args: &Args) -> Result<(), Error> {
    let (attached, watch) = target::find_and_watch(&args.target).map_err(Error::Target)?;
    let about = {
        let region = attached.region();
        format!("{}, pid {}", escape(region.program().as_str()), region.pid())
    };
    let mut session = super::sql::session(attached, watch.state() == State::Ended, args.timeout)?;
    // As `mysql`: prompts, and what edits a line, are nothing for a file.
    if io::stdin().is_terminal() && io::stdout().is_terminal() {
        interactive(session, &about, &watch).map_err(Error::Shell)
    } else {
        script(args, &mut session)
    }
}

/// What the program does, and what follows from that.
fn state_name(state: State) -> String {
    let follows = if state == State::Ended { ", its tables can only be read" } else { "" };
    state.name().to_owned() + follows
}

// At a terminal.

const HELP: &str = "\
\\g or ;    run the statement
\\G         run it, and print one line a value
\\c         forget what was typed
\\u SCHEMA  use performance_schema, sys, information_schema or test
\\s         status of the session and the program
\\W  \\w     show warnings after each statement, or only count them
\\h         this
\\q         quit, as Ctrl-D
Tab completes names and words; Ctrl-C stops a statement that runs; ↑ and Ctrl-R find earlier ones.";

const PROMPT: &str = "perfschema> ";

/// What stands in front of a line that goes on, as wide as the prompt.
fn prompt(open: Option<Open>) -> String {
    match open {
        None => PROMPT.into(),
        Some(Open::Nothing) => format!("{:>12}", "-> "),
        Some(Open::Quote(quote)) => format!("{:>12}", format!("{quote}> ")),
        Some(Open::Comment) => format!("{:>12}", "/*> "),
    }
}

fn interactive(mut session: Session, about: &str, watch: &target::Watch) -> Result<(), ShellError> {
    give_back_when_ended();
    let config = Config::builder().completion_type(CompletionType::List).auto_add_history(false).build();
    let mut editor = Editor::<Completion, FileHistory>::with_config(config).map_err(ShellError::Terminal)?;
    let history = history_file();
    if let Some(file) = &history {
        // The first time there is none.
        let _ = editor.load_history(file);
    }
    let stopped = stop_on_interrupt(&session);
    let mut completion = Completion::default();
    completion.read(&mut session);
    editor.set_helper(Some(completion));
    say!("{about}, {}. Statements end with ; or \\G, \\h helps, \\q quits.\n", state_name(watch.state()));

    let mut scanner = Scanner::new();
    let mut typed = String::new();
    let mut shows_warnings = false;
    loop {
        if let Some(helper) = editor.helper_mut() {
            helper.before = scanner.unfinished().to_owned();
        }
        let line = match editor.readline(&prompt(scanner.open())) {
            Ok(line) => line,
            Err(ReadlineError::Interrupted) => {
                say!("^C");
                scanner.clear();
                typed.clear();
                continue;
            }
            Err(ReadlineError::Eof) => {
                say!("Bye");
                return Ok(());
            }
            Err(error) => return Err(ShellError::Terminal(error)),
        };
        if !typed.is_empty() {
            typed.push('\n');
        }
        typed.push_str(&line);
        // One that was recalled may have several lines.
        let steps: Vec<Step> = line.lines().flat_map(|line| scanner.feed(line)).collect();
        if scanner.open().is_none() {
            remember(&mut editor, history.as_deref(), std::mem::take(&mut typed).trim());
        }
        for step in steps {
            match step {
                Step::Statement { text, vertical, .. } => {
                    execute(&mut session, &text, vertical, shows_warnings, &stopped);
                    if let Some(helper) = editor.helper_mut()
                        && ["CREATE", "DROP", "USE"]
                            .iter()
                            .any(|word| text.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word)))
                    {
                        helper.read(&mut session);
                    }
                }
                Step::Command('q', _) => {
                    say!("Bye");
                    return Ok(());
                }
                Step::Command('h' | '?', _) => say!("{HELP}\n"),
                Step::Command('s', _) => say!("{}", status(&mut session, about, watch)),
                Step::Command('u', schema) => {
                    match session.use_schema(&schema) {
                        Ok(()) => say!("Database changed"),
                        Err(error) => say!("{error}"),
                    }
                    if let Some(helper) = editor.helper_mut() {
                        helper.schema = session.schema().unwrap_or_default().to_owned();
                    }
                }
                Step::Command(letter @ ('W' | 'w'), _) => {
                    shows_warnings = letter == 'W';
                    say!("Show warnings {}.", if shows_warnings { "enabled" } else { "disabled" });
                }
                Step::Command('c', _) => {}
                Step::Command(letter, _) => say!("Unknown command '\\{}'. \\h lists them.", letter.escape_default()),
            }
        }
    }
}

/// A signal that ends the shell finds the terminal as a line is edited on it: first it becomes what it was before.
fn give_back_when_ended() {
    // Where it does not work, the editor says so.
    let (Ok(before), Ok(mut signals)) = (tcgetattr(io::stdin()), Signals::new(hang_up().chain([SIGQUIT, SIGTERM]))) else {
        return;
    };
    std::thread::spawn(move || {
        for signal in signals.forever() {
            if tcgetattr(io::stdin()).is_ok_and(|now| now.local_modes != before.local_modes) {
                // The editor has asked for marks around what is pasted.
                let _ = io::stdout().write_all(b"\x1b[?2004l\r\n");
                let _ = tcsetattr(io::stdin(), OptionalActions::Now, &before);
            }
            let _ = signal_hook::low_level::emulate_default_handler(signal);
        }
    });
}

/// Ctrl-C while a statement runs: the terminal makes a signal of it then. While a line is edited, it is a key.
/// What it returns is true from then on.
fn stop_on_interrupt(session: &Session) -> Arc<AtomicBool> {
    let (canceller, stopped) = (session.canceller(), Arc::new(AtomicBool::new(false)));
    let Ok(mut signals) = Signals::new([SIGINT]) else { return stopped };
    let stop = Arc::clone(&stopped);
    std::thread::spawn(move || {
        signals.forever().for_each(|_| {
            // Relaxed: that it was pressed is all that it says.
            stop.store(true, Ordering::Relaxed);
            canceller.cancel();
        });
    });
    stopped
}

/// Takes rows until somebody has seen enough of them.
struct Stoppable<'a, W: Write>(W, &'a AtomicBool);

impl<W: Write> Write for Stoppable<'_, W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.1.load(Ordering::Relaxed) { Err(io::Error::other("stopped")) } else { self.0.write(bytes) }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

fn execute(session: &mut Session, statement: &str, vertical: bool, shows_warnings: bool, stopped: &AtomicBool) {
    stopped.store(false, Ordering::Relaxed);
    let begin = Instant::now();
    let outcome = session.execute(statement);
    let warnings = result::own_warnings(session);
    let mut out = output::stdout();
    let written = match &outcome {
        Ok(outcome) => {
            let printed = result::print(&mut Stoppable(&mut out, stopped), outcome, vertical, warnings.len(), begin.elapsed());
            if stopped.load(Ordering::Relaxed) { writeln!(out, "\n^C, the rest is not printed") } else { printed }
        }
        Err(error) => writeln!(out, "{}", output::harmless(&error.to_string())),
    };
    let shown = warnings.iter().filter(|_| shows_warnings && outcome.is_ok());
    let written = written.and_then(|()| {
        shown.clone().try_for_each(|warning| {
            writeln!(out, "{} (Code {}): {}", warning.level, warning.error.errno, escape(&warning.error.message))
        })
    });
    // A terminal that is gone is noticed at the next prompt.
    let _ = written.and_then(|()| writeln!(out)).and_then(|()| out.flush());
}

/// As `mysql` prints it.
fn status(session: &mut Session, about: &str, watch: &target::Watch) -> String {
    let mut lines = vec!["--------------".to_owned()];
    let mut line = |name: &str, value: String| lines.push(format!("{:<24}{value}", format!("{name}:")));
    line("Program", format!("{about}, {}", state_name(watch.state())));
    line("Connection id", session.connection_id().to_string());
    line("Current database", session.schema().unwrap_or_default().to_owned());
    line("Current user", session.account().to_string());
    let version = session.variable("version").map(|version| version.as_value().to_string());
    line("Server version", version.unwrap_or_default());
    if let Some(threads) = result::value(session, "SELECT COUNT(*) FROM performance_schema.threads") {
        line("Threads", threads);
    }
    if let Some(losses) = result::value(session, "SELECT COUNT(*) FROM sys.ps_check_lost_instrumentation") {
        line("Counters of losses > 0", losses);
    }
    lines.push("--------------\n".to_owned());
    lines.join("\n")
}

/// `perfschema/history` in the user's folder for such things, for the user alone. None where there is no such folder.
fn history_file() -> Option<PathBuf> {
    let absolute = |name| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let state = absolute("XDG_STATE_HOME").or_else(|| absolute("HOME").map(|home| home.join(".local/state")))?;
    let folder = state.join("perfschema");
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&folder).ok()?;
    Some(folder.join("history"))
}

/// Written at once: another shell sees it, and a terminal that is closed loses nothing. The file gets mode 0600 by the editor.
fn remember(editor: &mut Editor<Completion, FileHistory>, file: Option<&std::path::Path>, text: &str) {
    if !text.is_empty() && editor.add_history_entry(text).unwrap_or(false) {
        // A history that cannot be written is no reason not to work.
        let _ = file.map(|file| editor.append_history(file));
    }
}

// A script.

fn script(args: &Args, session: &mut Session) -> Result<(), Error> {
    let mut out = output::stdout();
    let mut scanner = Scanner::new();
    let mut stdin = io::stdin().lock();
    let mut number = 0;
    loop {
        number += 1;
        let bytes = input::line(&mut stdin, input::MAX_TEXT).map_err(Error::Input)?;
        let is_last = bytes.is_empty();
        let Ok(line) = str::from_utf8(&bytes) else { return Err(Error::Shell(ShellError::NotUtf8(number))) };
        // As `mysql` does with what some editors mark UTF-8 by.
        let line = line.strip_prefix('\u{feff}').filter(|_| number == 1).unwrap_or(line);
        let steps = if is_last { Vec::from_iter(scanner.finish()) } else { scanner.feed(line.trim_end_matches(['\n', '\r'])) };
        for step in steps {
            let (done, line) = match step {
                Step::Statement { text, vertical, line } => (script_statement(args, session, &mut out, &text, vertical)?, line),
                Step::Command('u', schema) => (session.use_schema(&schema), number),
                Step::Command('q', _) => return Ok(out.flush()?),
                // The others are for eyes.
                Step::Command(..) => continue,
            };
            if let Err(error) = done {
                // What the statements before have printed comes first.
                out.flush()?;
                let error = ShellError::Statement(error, line);
                if !args.force {
                    return Err(Error::Shell(error));
                }
                note!("{error}");
            }
        }
        if is_last {
            return Ok(out.flush()?);
        }
    }
}

fn script_statement(
    args: &Args,
    session: &mut Session,
    out: &mut dyn Write,
    text: &str,
    vertical: bool,
) -> io::Result<Result<(), sql::Error>> {
    match session.execute(text) {
        Ok(Outcome::Rows(grid)) if vertical => write!(out, "{}", grid.vertical().footer(Footer::None)).map(Ok),
        Ok(Outcome::Rows(grid)) if args.table => write!(out, "{}", grid.boxed().footer(Footer::None)).map(Ok),
        Ok(Outcome::Rows(grid)) => write_tabs(out, &grid).map(Ok),
        Ok(Outcome::Done { .. }) => Ok(Ok(())),
        Err(error) => Ok(Err(error)),
    }
}

/// Tabs between values; what would break that is written as `mysql --batch` writes it. Nothing for no rows.
fn write_tabs(out: &mut dyn Write, grid: &Grid) -> io::Result<()> {
    if grid.rows.is_empty() {
        return Ok(());
    }
    let heads = grid.columns.iter().map(|head| tabbed(&head.name));
    output::write_data(out, heads.collect::<Vec<_>>().join("\t") + "\n")?;
    for row in &grid.rows {
        let cells = row.iter().map(|value| tabbed(&value.as_value().to_string()));
        output::write_data(out, cells.collect::<Vec<_>>().join("\t") + "\n")?;
    }
    Ok(())
}

fn tabbed(text: &str) -> String {
    text.replace('\\', "\\\\").replace('\t', "\\t").replace('\n', "\\n").replace('\0', "\\0")
}
