//! Proves O5: rows of a range come in the order that a read asks for.

use std::collections::BTreeSet;

use super::canon::canonical;
use crate::closure::{determines_path, determines_tuple};
use crate::key::facts::keeps_order;
use shelfmark_design_language::model::schema::Part;
use shelfmark_design_language::model::{ColumnPath, Model, RelationId, Term, Type, Value};

/// The part of the key that orders the rows of a range.
pub(crate) struct Line<'a> {
    /// The entity or link it is about.
    pub(crate) relation: RelationId,
    /// The columns from the first on that is not fixed.
    pub(crate) rest: &'a [Vec<Part>],
    /// True if each of those descends as it is read.
    pub(crate) descends: Vec<bool>,
    /// Attributes with one value in the range.
    pub(crate) fixed: BTreeSet<ColumnPath>,
}

/// The reason why rows do not come in the wanted order.
pub(crate) struct Misorder {
    /// The lint that explains it.
    pub(crate) lint: &'static str,
    /// The reason, for people.
    pub(crate) why: String,
}

impl From<String> for Misorder {
    fn from(why: String) -> Self {
        Self { lint: "K7", why }
    }
}

/// Returns the reason why the order is not the wanted one; `None` if it is.
///
/// # Errors
///
/// Which order is missing, for people.
pub(crate) fn check(
    model: &Model,
    line: &Line<'_>,
    wanted: &[(ColumnPath, bool)],
) -> Result<String, Misorder> {
    let mut fixed = line.fixed.clone();
    let mut wanted = wanted.iter().peekable();
    let mut used: Vec<String> = Vec::new();
    for (column, descends) in line.rest.iter().zip(&line.descends) {
        for (index, part) in column.iter().enumerate() {
            skip_fixed(model, line.relation, &fixed, &mut wanted);
            let Some((path, desc)) = wanted.peek().copied() else { return Ok(evidence(&used)) };
            let Part::Hole { term, .. } = part else { continue };
            let rest = column.get(index + 1..).unwrap_or(&[]);
            let name = model.path_text(line.relation, path);
            match ordering(model, line.relation, &fixed, term, path) {
                Ordering::Constant => continue,
                Ordering::Foreign => {
                    let other = term_text(model, line.relation, term);
                    return Err(format!("rows are ordered by {other} before {name}").into());
                }
                Ordering::Same | Ordering::Coarser if !keeps_order(part, rest) => {
                    let why = format!("texts of {name} do not sort as its values do");
                    return Err(Misorder { lint: "K1", why });
                }
                Ordering::Same | Ordering::Coarser if descends != desc => {
                    let way = |descends: &bool| if *descends { "descending" } else { "ascending" };
                    return Err(format!(
                        "rows come {} by {name}, wanted is {}",
                        way(descends),
                        way(desc)
                    )
                    .into());
                }
                Ordering::Coarser => {}
                Ordering::Same => {
                    fixed.insert(path.clone());
                    used.push(name);
                    wanted.next();
                }
            }
        }
    }
    skip_fixed(model, line.relation, &fixed, &mut wanted);
    match wanted.peek() {
        None => Ok(evidence(&used)),
        Some((path, _)) => Err(format!(
            "nothing in the key orders rows by {}",
            model.path_text(line.relation, path)
        )
        .into()),
    }
}

fn evidence(used: &[String]) -> String {
    if used.is_empty() {
        return "no order is asked for beyond what is fixed".to_owned();
    }
    format!("the key goes on with {}", used.join(", "))
}

/// Drops wanted orders that have a single value by now.
fn skip_fixed<'a>(
    model: &Model,
    relation: RelationId,
    fixed: &BTreeSet<ColumnPath>,
    wanted: &mut std::iter::Peekable<impl Iterator<Item = &'a (ColumnPath, bool)>>,
) {
    let unique = determines_tuple(model, relation, fixed);
    while wanted
        .next_if(|(path, _)| unique || determines_path(model, relation, fixed, path))
        .is_some()
    {}
}

enum Ordering {
    /// A single value among the rows that are equal so far.
    Constant,
    /// The wanted attribute itself.
    Same,
    /// A function of it that never decreases.
    Coarser,
    Foreign,
}

fn ordering(
    model: &Model,
    relation: RelationId,
    fixed: &BTreeSet<ColumnPath>,
    term: &Term,
    wanted: &ColumnPath,
) -> Ordering {
    if let Term::Column(path) = term {
        let path = canonical(model, relation, path);
        if path == *wanted {
            return Ordering::Same;
        }
        if determines_path(model, relation, fixed, &path) {
            return Ordering::Constant;
        }
        return Ordering::Foreign;
    }
    let mut constant = true;
    term.columns(&mut |path| {
        constant &= determines_path(model, relation, fixed, &canonical(model, relation, path));
    });
    if constant {
        return Ordering::Constant;
    }
    if let Term::Call(function, args) = term
        && function.is_monotone()
        && let Some(Term::Column(path)) = args.first()
        && canonical(model, relation, path) == *wanted
    {
        return Ordering::Coarser;
    }
    Ordering::Foreign
}

/// Formats a term of a key with the names of attributes.
pub fn term_text(model: &Model, relation: RelationId, term: &Term) -> String {
    match term {
        Term::Column(path) | Term::Prior(path) => model.path_text(relation, path),
        Term::Param(index) => format!("input {}", index + 1),
        Term::Each => "each".to_owned(),
        Term::Const(Value::Text(text)) => format!("{text:?}"),
        Term::Const(value) => value.text(&Type::Uuid),
        Term::Call(function, args) => {
            let args: Vec<String> =
                args.iter().map(|arg| term_text(model, relation, arg)).collect();
            format!("{}({})", function.name(), args.join(", "))
        }
    }
}
