//! Names of the items of a select clause: in the answer, and in refusals.
//!
//! What it is not: their meaning.

use shelfmark_cql_syntax::ast::{FunctionName, Name, Selector, Term};
use shelfmark_cql_types::CqlType;
use shelfmark_cql_types::function::operator_function;
use shelfmark_cql_types::term::{literal_text, term_text};

/// Returns how a marker for a key is called.
pub(super) fn key_name(ty: &CqlType, shown: &str) -> String {
    match ty {
        CqlType::Set { .. } => format!("value({shown})"),
        _ => format!("key({shown})"),
    }
}

/// Returns how a function is called that is not there.
pub(super) fn shown_function(name: &FunctionName) -> String {
    match &name.keyspace {
        Some(keyspace) => format!("{}.{}", keyspace.as_str(), name.name.as_str()),
        None => name.name.as_str().to_owned(),
    }
}

/// Returns a selector after `change` was asked of each of its parts, from the inside out.
pub(super) fn rewritten(
    selector: &Selector,
    change: &mut dyn FnMut(Selector) -> Selector,
) -> Selector {
    let all = |own: &[Selector], change: &mut dyn FnMut(Selector) -> Selector| {
        own.iter().map(|own| rewritten(own, change)).collect::<Vec<_>>()
    };
    let mut inner = |own: &Selector| Box::new(rewritten(own, change));
    let new = match selector {
        Selector::Cast { selector, target } => {
            Selector::Cast { selector: inner(selector), target: *target }
        }
        Selector::TypeHint { target, selector } => {
            Selector::TypeHint { target: target.clone(), selector: inner(selector) }
        }
        Selector::Negate(own) => Selector::Negate(inner(own)),
        Selector::Arithmetic { operator, left, right } => {
            Selector::Arithmetic { operator: *operator, left: inner(left), right: inner(right) }
        }
        Selector::Element { of, key } => Selector::Element { of: inner(of), key: key.clone() },
        Selector::Slice { of, from, to } => {
            Selector::Slice { of: inner(of), from: from.clone(), to: to.clone() }
        }
        Selector::Field { of, field } => Selector::Field { of: inner(of), field: field.clone() },
        Selector::Function { name, arguments } => {
            Selector::Function { name: name.clone(), arguments: all(arguments, change) }
        }
        Selector::List(own) => Selector::List(all(own, change)),
        Selector::Set(own) => Selector::Set(all(own, change)),
        Selector::Tuple(own) => Selector::Tuple(all(own, change)),
        other => other.clone(),
    };
    change(new)
}

/// Returns how a selector is called in the answer.
pub(crate) fn column_name(selector: &Selector) -> String {
    let list = |all: &[Selector]| all.iter().map(column_name).collect::<Vec<_>>().join(", ");
    match selector {
        Selector::Column(name) => name.as_str().to_owned(),
        Selector::Literal(literal) => literal_text(literal),
        Selector::Null => "NULL".to_owned(),
        Selector::Marker(_) => "?".to_owned(),
        Selector::CountRows => "count".to_owned(),
        Selector::Metadata { kind, of } => format!("{}({})", kind.name(), column_name(of)),
        Selector::Cast { selector, target } => {
            format!("cast({} as {})", column_name(selector), target.name())
        }
        Selector::Function { name, arguments } => {
            let shown = name.name.as_str();
            // Counting a constant is counting rows.
            let counts = shown == "count" && matches!(arguments.as_slice(), [Selector::Literal(_)]);
            let is_native = name.keyspace.as_ref().is_none_or(|own| own.as_str() == "system");
            if is_native && (shown == "count_rows" || counts) {
                return "count".to_owned();
            }
            let keyspace = name.keyspace.as_ref().map_or("system", Name::as_str);
            format!("{keyspace}.{shown}({})", list(arguments))
        }
        Selector::Element { of, key } => {
            format!("{}[{}]", column_name(of), called(key))
        }
        Selector::Slice { of, from, to } => {
            let bound = |term: &Option<Term>| term.as_ref().map(called).unwrap_or_default();
            format!("{}[{}..{}]", column_name(of), bound(from), bound(to))
        }
        Selector::Field { of, field } => {
            format!("{}.{}", column_name(of), field.as_str())
        }
        Selector::TypeHint { target, selector } => format!("({target}){}", column_name(selector)),
        Selector::List(all) => format!("[{}]", list(all)),
        Selector::Set(all) => format!("{{{}}}", list(all)),
        Selector::Tuple(all) => format!("({})", list(all)),
        Selector::MapOrUserType(all) => {
            let parts: Vec<String> = all
                .iter()
                .map(|(k, v)| format!("{}: {}", column_name(k), column_name(v)))
                .collect();
            format!("{{{}}}", parts.join(", "))
        }
        Selector::Arithmetic { operator, left, right } => {
            format!("{} {} {}", column_name(left), operator.symbol(), column_name(right))
        }
        Selector::Negate(inner) => format!("-{}", column_name(inner)),
    }
}

/// Returns how a key is called; what is computed is shown as the call of a function.
fn called(key: &Term) -> String {
    let Term::Arithmetic { operator, left, right } = key else { return term_text(key) };
    let (left, right) = (called(left), called(right));
    format!("system.\"{}\"({left}, {right})", operator_function(operator.symbol()))
}
