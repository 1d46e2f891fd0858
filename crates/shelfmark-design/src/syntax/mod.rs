//! The text of models: tokens, tree, parser, printer, messages.

pub(crate) mod diagnostic;
pub(crate) mod lexer;
pub(crate) mod parser;
pub(crate) mod print;
pub(crate) mod span;
pub(crate) mod tree;
