//! A terminal of the test's own: keys go in, and what a person would see comes out.
#![allow(dead_code, reason = "each test uses a part of it")]
#![allow(missing_docs, reason = "a test's own helpers")]
#![allow(unreachable_pub, reason = "shared by several test crates")]
#![allow(missing_debug_implementations, reason = "a test's own helpers")]

use pty_process::Size;
use pty_process::blocking::{Command, Pts, Pty, open};
use rustix::termios::{LocalModes, tcgetattr};
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Child, ExitStatus};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// A program on a terminal.
pub struct Terminal {
    pty: Arc<Pty>,
    // Kept open: its settings are those that the program leaves behind.
    pts: Pts,
    child: Child,
    screen: Arc<Mutex<vt100::Parser>>,
}

impl Terminal {
    pub fn start(
        program: impl AsRef<Path>,
        arguments: &[&str],
        environment: &[(&str, &str)],
        (rows, columns): (u16, u16),
    ) -> Terminal {
        let (pty, pts) = open().expect("the system has a terminal left");
        pty.resize(Size::new(rows, columns)).expect("it is one");
        let command = Command::new(program.as_ref()).args(arguments).env("TERM", "xterm-256color").env_remove("NO_COLOR");
        let mut command = command.envs(environment.iter().copied());
        let child = command.spawn_borrowed(&pts).expect("the program was built");
        let pty = Arc::new(pty);
        let screen = Arc::new(Mutex::new(vt100::Parser::new(rows, columns, 1000)));
        let (reader, shown) = (Arc::clone(&pty), Arc::clone(&screen));
        // Until the end of the test.
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(count @ 1..) = (&*reader).read(&mut bytes) {
                shown.lock().unwrap_or_else(PoisonError::into_inner).process(&bytes[..count]);
            }
        });
        Terminal { pty, pts, child, screen }
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Keys, as a terminal sends them.
    pub fn press(&self, keys: &str) {
        (&*self.pty).write_all(keys.as_bytes()).expect("the terminal is open");
    }

    /// What stands on the screen.
    pub fn screen(&self) -> String {
        self.screen.lock().unwrap_or_else(PoisonError::into_inner).screen().contents()
    }

    /// Whether the program has a screen of its own at the moment.
    pub fn is_full_screen(&self) -> bool {
        self.screen.lock().unwrap_or_else(PoisonError::into_inner).screen().alternate_screen()
    }

    /// Whether the terminal edits lines and makes signals of keys itself.
    pub fn is_cooked(&self) -> bool {
        let modes = tcgetattr(&self.pts).expect("it is a terminal").local_modes;
        modes.contains(LocalModes::ICANON | LocalModes::ECHO | LocalModes::ISIG)
    }

    /// All is as a shell would have it: its own screen, a cursor, lines and echo.
    #[track_caller]
    pub fn is_as_before(&self) {
        self.until("a terminal as it was", |_| {
            let parser = self.screen.lock().unwrap_or_else(PoisonError::into_inner);
            !parser.screen().alternate_screen() && !parser.screen().hide_cursor() && self.is_cooked()
        });
    }

    pub fn resize(&self, rows: u16, columns: u16) {
        // First here, so that nothing is drawn for a size that is not known yet.
        self.screen.lock().unwrap_or_else(PoisonError::into_inner).screen_mut().set_size(rows, columns);
        self.pty.resize(Size::new(rows, columns)).expect("it is a terminal");
    }

    /// Waits until the screen is as expected, and returns it.
    #[track_caller]
    pub fn until(&self, what: &str, is_expected: impl Fn(&str) -> bool) -> String {
        let begin = Instant::now();
        loop {
            let screen = self.screen();
            if is_expected(&screen) {
                return screen;
            }
            assert!(begin.elapsed() < Duration::from_secs(60), "{what}:\n{screen}");
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Waits for the program's end.
    #[track_caller]
    pub fn ended(&mut self) -> ExitStatus {
        let begin = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().expect("it was started here") {
                return status;
            }
            assert!(begin.elapsed() < Duration::from_secs(60), "it does not end:\n{}", self.screen());
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
