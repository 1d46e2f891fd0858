//! Runs functions that are written in a part of Java: a parser, a check of types, an interpreter.
//!
//! Bodies are those of users' functions of CQL: statements that return a value. There are variables,
//! operators, loops, `switch`, exceptions, and the classes of `library/classes.txt`.
//!
//! What it is not: a virtual machine. There are no classes of the user's, no lambdas, no files, no
//! network, no threads, and nothing that reaches the machine it runs on. Values of the database are
//! converted by whoever calls.
//!
//! Invariant: a call ends: it may take so many steps and so much memory and then fails, which the body
//! cannot catch (`limits.rs`); no body makes this crate panic.
//!
//! Source: The Java Language Specification, Java SE 17 Edition, read 2026-11.

mod check;
mod data_type;
mod error;
mod lexer;
mod library;
pub mod limits;
mod parse;
mod program;
mod run;
mod syntax;
mod ty;
mod value;

#[cfg(test)]
mod tests;

pub use data_type::{DataType, Fields};
pub use error::CompileError;
pub use program::Program;
pub use run::entries::Entries;
pub use run::{Failure, Host};
pub use value::{Buffer, FieldsValue, List, Object, Thrown, Value};

impl Program {
    /// Compiles a body. `is_strict` is true for a function that is not called with nulls: its
    /// parameters are primitive where they can be.
    ///
    /// # Errors
    ///
    /// * [`CompileError`]: what is wrong with the body, line by line.
    pub fn compile(
        parameters: Vec<(String, DataType)>,
        returns: DataType,
        is_strict: bool,
        body: &str,
    ) -> Result<Self, CompileError> {
        let tree = parse::parse(body)?;
        check::check(parameters, returns, is_strict, &tree)
    }
}
