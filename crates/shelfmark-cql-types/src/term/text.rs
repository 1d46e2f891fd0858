//! Terms as text, for messages.

use shelfmark_cql_syntax::ast::{Literal, LiteralKind, Term};

use crate::value::maybe_quote;

/// Writes a term as Cassandra's messages show it.
pub fn term_text(term: &Term) -> String {
    let list = |terms: &[Term]| terms.iter().map(term_text).collect::<Vec<_>>().join(", ");
    match term {
        Term::Literal(literal) => literal_text(literal),
        Term::Null => "NULL".to_owned(),
        Term::Marker(_) => "?".to_owned(),
        Term::List(items) => format!("[{}]", list(items)),
        Term::Set(items) => format!("{{{}}}", list(items)),
        Term::Map(items) => {
            let items: Vec<String> =
                items.iter().map(|(k, v)| format!("{}: {}", term_text(k), term_text(v))).collect();
            format!("{{{}}}", items.join(", "))
        }
        Term::UserType(items) => {
            let items: Vec<String> = items
                .iter()
                .map(|(name, value)| {
                    format!("{}: {}", maybe_quote(name.as_str()), term_text(value))
                })
                .collect();
            format!("{{{}}}", items.join(", "))
        }
        Term::Tuple(items) => format!("({})", list(items)),
        Term::Function { name, arguments } => {
            let keyspace = name.keyspace.as_ref().map(|own| format!("{}.", own.as_str()));
            format!("{}{}({})", keyspace.unwrap_or_default(), name.name.as_str(), list(arguments))
        }
        Term::Arithmetic { operator, left, right } => {
            format!("{} {} {}", term_text(left), operator.symbol(), term_text(right))
        }
        Term::Negate(inner) => format!("-{}", term_text(inner)),
        Term::TypeHint { term, .. } => term_text(term),
        Term::Cast { term, target } => format!("CAST({} AS {})", term_text(term), target.name()),
    }
}

/// Writes a constant; only strings get quotes.
pub fn literal_text(literal: &Literal) -> String {
    match literal.kind {
        LiteralKind::String => format!("'{}'", literal.text),
        _ => literal.text.to_string(),
    }
}
