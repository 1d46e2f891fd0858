//! The refusal of a body.
//!
//! What it is not: an error of a call; that is a `Failure`.
//!
//! Invariant: there is at least one message.

/// The refusal of a body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CompileError {
    /// The body is no Java, or none that can be compiled: lines and messages.
    Compilation(Vec<(u32, String)>),
    /// The body does not return a value on each way through it.
    NoResult(String),
    /// The body does what functions must not do.
    Forbidden(String),
}

impl CompileError {
    pub(crate) fn new(line: u32, message: &str) -> Self {
        Self::Compilation(vec![(line, message.to_owned())])
    }

    pub(crate) fn invalid(what: &str) -> Self {
        Self::Forbidden(what.to_owned())
    }
}

impl std::fmt::Display for CompileError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Compilation(all) => {
                f.write_str("Java source compilation failed:\n")?;
                all.iter().try_for_each(|(line, message)| writeln!(f, "Line {line}: {message}"))
            }
            Self::NoResult(ty) => write!(
                f,
                "Java source compilation failed:\nThis method must return a result of type {ty}\n"
            ),
            Self::Forbidden(what) => write!(f, "Java UDF validation failed: [{what}]"),
        }
    }
}

impl std::error::Error for CompileError {}
