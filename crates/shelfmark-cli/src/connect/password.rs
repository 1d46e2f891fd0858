//! Obtains a password: from a flag, a file, or the keyboard.

use std::io::{IsTerminal as _, Write as _};

use anyhow::bail;

use crate::arguments::Connect;
use crate::credentials;

/// Returns the password that was given, or asks for it.
pub(super) fn of(connect: &Connect, user: &str) -> anyhow::Result<String> {
    if let Some(password) = &connect.password {
        return Ok(password.clone());
    }
    match &connect.password_file {
        Some(path) => credentials::password(path),
        None => asked(user),
    }
}

/// Asks for the password without echo.
fn asked(user: &str) -> anyhow::Result<String> {
    if !std::io::stdin().is_terminal() {
        bail!("no password: pass --password-file FILE");
    }
    let mut errors = std::io::stderr();
    write!(errors, "Password of {user}: ")?;
    errors.flush()?;
    let quiet = Quiet::start();
    let mut line = String::new();
    let read = std::io::stdin().read_line(&mut line);
    drop(quiet);
    writeln!(errors)?;
    read?;
    Ok(credentials::line(&line).to_owned())
}

/// Turns the terminal's echo off until it is dropped.
struct Quiet {
    #[cfg(unix)]
    before: Option<rustix::termios::Termios>,
}

#[cfg(unix)]
impl Quiet {
    fn start() -> Self {
        use rustix::termios::{LocalModes, OptionalActions, tcgetattr, tcsetattr};
        let before = tcgetattr(std::io::stdin()).ok();
        if let Some(mut quiet) = before.clone() {
            quiet.local_modes.remove(LocalModes::ECHO);
            // A terminal that cannot be quiet shows the password: the user sees that.
            let _ = tcsetattr(std::io::stdin(), OptionalActions::Now, &quiet);
        }
        Self { before }
    }
}

#[cfg(unix)]
impl Drop for Quiet {
    fn drop(&mut self) {
        use rustix::termios::{OptionalActions, tcsetattr};
        if let Some(before) = &self.before {
            let _ = tcsetattr(std::io::stdin(), OptionalActions::Now, before);
        }
    }
}

#[cfg(not(unix))]
impl Quiet {
    fn start() -> Self {
        Self {}
    }
}
