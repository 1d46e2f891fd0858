//! The command on a terminal: a pseudo-terminal of 100 columns that somebody types on.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

use crate::process::command;

const PATIENCE: Duration = Duration::from_secs(60);

/// A process and the terminal it runs on.
pub(crate) struct Terminal {
    process: Child,
    keyboard: File,
    screen: Receiver<Vec<u8>>,
    /// What was shown and not waited for yet.
    shown: String,
}

impl Terminal {
    /// Starts the command; what it remembers lies below `folder`.
    pub(crate) fn start(folder: &Path, arguments: &[&str]) -> Self {
        let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&ours).unwrap();
        unlockpt(&ours).unwrap();
        let size = Winsize { ws_row: 40, ws_col: 100, ws_xpixel: 0, ws_ypixel: 0 };
        tcsetwinsize(&ours, size).unwrap();
        let name = ptsname(&ours, Vec::new()).unwrap().into_string().unwrap();
        let theirs = File::options().read(true).write(true).open(name).unwrap();
        let stdio = || Stdio::from(theirs.try_clone().unwrap());
        let process = command()
            .args(arguments)
            .env("XDG_STATE_HOME", folder.join("state"))
            .env("TERM", "xterm")
            .stdin(stdio())
            .stdout(stdio())
            .stderr(stdio())
            .spawn()
            .unwrap();
        let keyboard = File::from(ours);
        let mut read = keyboard.try_clone().unwrap();
        let (send, screen) = channel();
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            // Reading fails once the process has closed its side.
            while let Ok(length @ 1..) = read.read(&mut bytes) {
                if send.send(bytes[..length].to_vec()).is_err() {
                    break;
                }
            }
        });
        Self { process, keyboard, screen, shown: String::new() }
    }

    /// Types.
    pub(crate) fn send(&mut self, text: &str) {
        self.keyboard.write_all(text.as_bytes()).unwrap();
    }

    /// Types a line.
    pub(crate) fn enter(&mut self, line: &str) {
        self.send(line);
        self.send("\r");
    }

    /// Waits until a text is shown; returns all that was shown before it and since the last one.
    #[track_caller]
    pub(crate) fn wait_for(&mut self, text: &str) -> String {
        let deadline = Instant::now() + PATIENCE;
        loop {
            if let Some(at) = self.shown.find(text) {
                let rest = self.shown.split_off(at + text.len());
                return std::mem::replace(&mut self.shown, rest);
            }
            let left = deadline.saturating_duration_since(Instant::now());
            match self.screen.recv_timeout(left) {
                Ok(bytes) => self.shown.push_str(&String::from_utf8_lossy(&bytes)),
                Err(_) => panic!("{text:?} was not shown, but {:?}", self.shown),
            }
        }
    }

    /// Does as a terminal does when somebody presses Ctrl-C while a statement runs.
    pub(crate) fn interrupt(&self) {
        let id = rustix::process::Pid::from_child(&self.process);
        rustix::process::kill_process(id, rustix::process::Signal::INT).unwrap();
    }

    /// Waits for the process to end; tells whether it ended well.
    pub(crate) fn ends(&mut self) -> bool {
        let deadline = Instant::now() + PATIENCE;
        while Instant::now() < deadline {
            if let Some(status) = self.process.try_wait().unwrap() {
                return status.success();
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        false
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
