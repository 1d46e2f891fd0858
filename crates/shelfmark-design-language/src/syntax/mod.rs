//! The text of models: tokens, tree, parser, printer, messages.

pub mod diagnostic;
pub mod lexer;
pub mod name;
pub mod parser;
pub mod print;
pub mod span;
pub mod tree;
