//! A terminal of the test's own: keys go in, and what a person would see comes out.
#![allow(dead_code, reason = "each test uses a part of it")]
#![allow(missing_docs, reason = "a test's own helpers")]
#![allow(unreachable_pub, reason = "shared by several test crates")]
#![allow(missing_debug_implementations, reason = "a test's own helpers")]

use pty_process::Size;
use pty_process::blocking::{Command, Pts, Pty, open};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::termios::{LocalModes, OptionalActions, tcgetattr, tcsetattr};
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Child, ExitStatus};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// A program on a terminal.
pub struct Terminal {
    // None once it is gone.
    sides: Option<Sides>,
    child: Child,
    screen: Arc<Mutex<vt100::Parser>>,
    bytes: Arc<Mutex<Vec<u8>>>,
}

struct Sides {
    pty: Arc<Pty>,
    // Kept open: its settings are those that the program leaves behind.
    pts: Pts,
    reader: JoinHandle<()>,
    has_gone: Arc<AtomicBool>,
}

impl Terminal {
    pub fn start(
        program: impl AsRef<Path>,
        arguments: &[&str],
        environment: &[(&str, &str)],
        (rows, columns): (u16, u16),
    ) -> Terminal {
        // Tests that `nohup` started ignore SIGHUP, and so would the program; what they listen to is as usual in who begins anew.
        signal_hook::flag::register(signal_hook::consts::SIGHUP, Arc::default()).expect("it can be listened to");
        let (pty, pts) = open().expect("the system has a terminal left");
        pty.resize(Size::new(rows, columns)).expect("it is one");
        let command = Command::new(program.as_ref()).args(arguments).env("TERM", "xterm-256color").env_remove("NO_COLOR");
        let mut command = command.envs(environment.iter().copied());
        let child = command.spawn_borrowed(&pts).expect("the program was built");
        let pty = Arc::new(pty);
        let screen = Arc::new(Mutex::new(vt100::Parser::new(rows, columns, 1000)));
        let all = Arc::new(Mutex::new(Vec::new()));
        let (from, shown, kept) = (Arc::clone(&pty), Arc::clone(&screen), Arc::clone(&all));
        let has_gone = Arc::new(AtomicBool::new(false));
        let ends = Arc::clone(&has_gone);
        // Until the terminal is gone, or the end of the test.
        let reader = std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            while !ends.load(Ordering::Relaxed) {
                let mut polled = [PollFd::new(&*from, PollFlags::IN)];
                match poll(&mut polled, Some(&Timespec { tv_sec: 0, tv_nsec: 20_000_000 })) {
                    Ok(0) | Err(_) => continue,
                    Ok(_) => {}
                }
                let Ok(count @ 1..) = (&*from).read(&mut bytes) else { return };
                kept.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(&bytes[..count]);
                shown.lock().unwrap_or_else(PoisonError::into_inner).process(&bytes[..count]);
            }
        });
        Terminal { sides: Some(Sides { pty, pts, reader, has_gone }), child, screen, bytes: all }
    }

    #[track_caller]
    fn sides(&self) -> &Sides {
        self.sides.as_ref().expect("the terminal is there")
    }

    /// The window is closed, or the connection that it was.
    pub fn hang_up(&mut self) {
        let Sides { pty, pts, reader, has_gone } = self.sides.take().expect("the terminal is there");
        has_gone.store(true, Ordering::Relaxed);
        reader.join().expect("it only reads");
        drop((pts, pty));
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Sends the program a signal, by its name as `kill` has it.
    pub fn signal(&self, name: &str) {
        let status = std::process::Command::new("kill").args([name, &self.pid().to_string()]).status();
        assert!(status.expect("there is kill").success());
    }

    /// Keys, as a terminal sends them.
    pub fn press(&self, keys: &str) {
        (&*self.sides().pty).write_all(keys.as_bytes()).expect("the terminal is open");
    }

    /// What stands on the screen.
    pub fn screen(&self) -> String {
        self.screen.lock().unwrap_or_else(PoisonError::into_inner).screen().contents()
    }

    /// All that was written to it.
    pub fn bytes(&self) -> Vec<u8> {
        self.bytes.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Whether the program has a screen of its own at the moment.
    pub fn is_full_screen(&self) -> bool {
        self.screen.lock().unwrap_or_else(PoisonError::into_inner).screen().alternate_screen()
    }

    /// Whether the terminal edits lines and makes signals of keys itself.
    pub fn is_cooked(&self) -> bool {
        let modes = tcgetattr(&self.sides().pts).expect("it is a terminal").local_modes;
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

    /// Somebody else clears the screen.
    pub fn wipe(&self) {
        self.screen.lock().unwrap_or_else(PoisonError::into_inner).process(b"\x1b[2J");
    }

    /// Somebody else makes the terminal edit lines.
    pub fn cook(&self) {
        let pts = &self.sides().pts;
        let mut modes = tcgetattr(pts).expect("it is a terminal");
        modes.local_modes |= LocalModes::ICANON | LocalModes::ECHO | LocalModes::ISIG;
        tcsetattr(pts, OptionalActions::Now, &modes).expect("it is a terminal");
    }

    pub fn resize(&self, rows: u16, columns: u16) {
        // First here, so that nothing is drawn for a size that is not known yet.
        self.screen.lock().unwrap_or_else(PoisonError::into_inner).screen_mut().set_size(rows, columns);
        self.sides().pty.resize(Size::new(rows, columns)).expect("it is a terminal");
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
