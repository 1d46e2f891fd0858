//! Values of requests, before the inputs are known.
//!
//! The machine form: `{"$input": "u"}` is an input, `{"$row": "name", "step": 1}` what a row of an
//! earlier step shows, `{"$each": "us"}` the element that a loop is at, `{"$text": […]}` a text put
//! together from pieces (a piece with a codec is `{"$codec": "pad(4)", "of": …}`), `{"$call": "week",
//! "of": […]}` a function of the language, `{"$next": …}` the smallest text behind all that begin so.
//!
//! Invariant: a constant is written as the value itself.

use serde_json::{Value as Json, json};

use shelfmark_design_language::codec;
use shelfmark_design_language::model::pattern::Param;
use shelfmark_design_language::model::schema::Codec;
use shelfmark_design_language::model::types::{TextDomain, Type};
use shelfmark_design_language::model::{Function, Value};

/// A value of a request.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Expr {
    Const(Value, Type),
    Input(String, Type),
    Each(String, Type),
    Row {
        name: String,
        step: usize,
        ty: Type,
    },
    Text(Vec<Piece>),
    Call(Function, Vec<Expr>, Type),
    /// A number that is taken away where numbers are added.
    Minus(Box<Expr>),
    /// A whole value less a number.
    Less(Box<Expr>, i64),
    /// The smallest text above all that begin with this one.
    Next(Box<Expr>),
    /// Several values, for guards.
    Tuple(Vec<Expr>),
}

/// A piece of a text.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Piece {
    Literal(String),
    Hole(Expr, Codec),
}

impl Expr {
    /// Returns an input; the time of the call, which models write `now()`, is named `now`.
    pub(super) fn input(param: &Param) -> Self {
        Self::Input(param.name.trim_end_matches("()").to_owned(), param.ty.clone())
    }

    /// Returns a function of other values; computes it where all of them are known.
    pub(super) fn call(function: Function, args: Vec<Self>, ty: Type) -> Self {
        let known: Option<Vec<Value>> = args
            .iter()
            .map(|arg| match arg {
                Self::Const(value, _) => Some(value.clone()),
                _ => None,
            })
            .collect();
        match known {
            Some(values) => Self::Const(function.apply(&values), ty),
            None => Self::Call(function, args, ty),
        }
    }

    /// Composes a text; adjacent known pieces are joined, and a single text stays itself.
    pub(super) fn text(pieces: Vec<Piece>) -> Self {
        let mut joined: Vec<Piece> = Vec::new();
        for piece in pieces {
            let piece = match piece {
                Piece::Hole(Self::Const(value, ty), how) => match codec::text(&value, &ty, how) {
                    Some(text) => Piece::Literal(text),
                    None => Piece::Hole(Self::Const(value, ty), how),
                },
                Piece::Hole(Self::Text(inner), Codec::Plain) => {
                    joined.extend(inner);
                    continue;
                }
                other => other,
            };
            match (joined.last_mut(), piece) {
                (Some(Piece::Literal(before)), Piece::Literal(text)) => before.push_str(&text),
                (_, Piece::Literal(text)) if text.is_empty() => {}
                (_, piece) => joined.push(piece),
            }
        }
        match joined.as_slice() {
            [] => Self::Const(Value::Text(String::new()), plain_text()),
            [Piece::Literal(text)] => Self::Const(Value::Text(text.clone()), plain_text()),
            [Piece::Hole(one, Codec::Plain)] if one.ty().is_text() => one.clone(),
            _ => Self::Text(joined),
        }
    }

    /// Returns the smallest text above all that begin so; computes it if the end is known.
    pub(super) fn next(self) -> Self {
        let step = |text: &str| -> Option<String> {
            let mut head = text.to_owned();
            let last = head.pop()?;
            let next = if last == '\u{D7FF}' {
                Some('\u{E000}')
            } else {
                char::from_u32(u32::from(last) + 1)
            };
            head.push(next?);
            Some(head)
        };
        match self {
            Self::Const(Value::Text(text), ty) => match step(&text) {
                Some(next) => Self::Const(Value::Text(next), ty),
                None => Self::Next(Box::new(Self::Const(Value::Text(text), ty))),
            },
            Self::Text(mut pieces) => {
                if let Some(Piece::Literal(text)) = pieces.last_mut()
                    && let Some(next) = step(text)
                {
                    *text = next;
                    return Self::Text(pieces);
                }
                Self::Next(Box::new(Self::Text(pieces)))
            }
            other => Self::Next(Box::new(other)),
        }
    }

    /// Returns a whole value less a number; computes it if it is known.
    pub(super) fn less(self, by: i64) -> Self {
        match self {
            Self::Const(Value::Int(n), ty) => Self::Const(Value::Int(n.saturating_sub(by)), ty),
            other => Self::Less(Box::new(other), by),
        }
    }

    pub(super) fn ty(&self) -> Type {
        match self {
            Self::Const(_, ty)
            | Self::Input(_, ty)
            | Self::Each(_, ty)
            | Self::Row { ty, .. }
            | Self::Call(_, _, ty) => ty.clone(),
            Self::Minus(one) | Self::Less(one, _) => one.ty(),
            Self::Text(_) | Self::Next(_) | Self::Tuple(_) => plain_text(),
        }
    }

    /// Returns true if it is a text that some inputs make empty.
    pub(super) fn may_be_empty(&self) -> bool {
        match self {
            Self::Const(Value::Text(text), _) => text.is_empty(),
            // What is taken away is no text.
            Self::Const(Value::Null, _) => false,
            Self::Text(pieces) => pieces.iter().all(|piece| match piece {
                Piece::Literal(text) => text.is_empty(),
                Piece::Hole(one, _) => one.may_be_empty(),
            }),
            Self::Next(_) => false,
            other => match other.ty() {
                Type::Text(domain) => domain.min == 0,
                Type::Bytes(sizes) => sizes.min == 0,
                Type::Enum(words) => words.iter().any(String::is_empty),
                _ => false,
            },
        }
    }

    /// Returns what to declare so that inputs do not make it empty, to stand behind a reason; nothing
    /// where no declaration does it.
    pub(super) fn filled(&self) -> String {
        match self {
            Self::Input(name, Type::Text(_)) => {
                format!(" (declare the input as `{name}: text(min 1)`)")
            }
            Self::Text(pieces) => {
                let mut holes = pieces.iter().filter_map(|piece| match piece {
                    Piece::Hole(one, _) if one.may_be_empty() => Some(one.filled()),
                    _ => None,
                });
                holes.find(|text| !text.is_empty()).unwrap_or_default()
            }
            _ => String::new(),
        }
    }

    pub(super) fn is_null(&self) -> bool {
        matches!(self, Self::Const(Value::Null, _))
    }

    /// Returns the machine form.
    pub(super) fn json(&self) -> Json {
        match self {
            Self::Const(value, ty) => value.json(ty),
            Self::Input(name, _) => json!({ "$input": name }),
            Self::Each(name, _) => json!({ "$each": name }),
            Self::Row { name, step, .. } => json!({ "$row": name, "step": step }),
            Self::Text(pieces) => {
                // Identifiers and dates are texts in the machine form already.
                if let Some(one) = only_text(pieces) {
                    return one.json();
                }
                let pieces = pieces.iter().map(|piece| match piece {
                    Piece::Literal(text) => Json::from(text.clone()),
                    Piece::Hole(one, Codec::Plain | Codec::Native) => one.json(),
                    Piece::Hole(one, how) => {
                        json!({ "$codec": how.suffix().trim_start_matches(':'), "of": one.json() })
                    }
                });
                json!({ "$text": pieces.collect::<Vec<_>>() })
            }
            Self::Call(function, args, _) => {
                json!({ "$call": function.name(), "of": args.iter().map(Self::json).collect::<Vec<_>>() })
            }
            Self::Minus(one) => json!({ "$call": "minus", "of": [one.json()] }),
            Self::Less(one, by) => json!({ "$call": "minus", "of": [one.json(), by] }),
            Self::Next(one) => json!({ "$next": one.json() }),
            Self::Tuple(all) => all.iter().map(Self::json).collect(),
        }
    }

    /// Calls `see` for each attribute of a row that it takes, and the step that read the row.
    pub(super) fn rows(&self, see: &mut impl FnMut(&Self, usize)) {
        match self {
            Self::Row { step, .. } => see(self, *step),
            Self::Text(pieces) => {
                for piece in pieces {
                    if let Piece::Hole(one, _) = piece {
                        one.rows(see);
                    }
                }
            }
            Self::Call(_, args, _) | Self::Tuple(args) => args.iter().for_each(|arg| arg.rows(see)),
            Self::Next(one) | Self::Minus(one) | Self::Less(one, _) => one.rows(see),
            Self::Const(..) | Self::Input(..) | Self::Each(..) => {}
        }
    }

    /// Adds the names of its inputs, each once.
    pub(super) fn inputs(&self, found: &mut Vec<String>) {
        match self {
            Self::Input(name, _) | Self::Each(name, _) => {
                if !found.contains(name) {
                    found.push(name.clone());
                }
            }
            Self::Text(pieces) => {
                for piece in pieces {
                    if let Piece::Hole(one, _) = piece {
                        one.inputs(found);
                    }
                }
            }
            Self::Call(_, args, _) | Self::Tuple(args) => {
                args.iter().for_each(|arg| arg.inputs(found))
            }
            Self::Next(one) | Self::Minus(one) | Self::Less(one, _) => one.inputs(found),
            Self::Const(..) | Self::Row { .. } => {}
        }
    }
}

/// Returns the single piece of a text, if its machine form is this text.
fn only_text(pieces: &[Piece]) -> Option<&Expr> {
    match pieces {
        [Piece::Hole(one, Codec::Plain)]
            if matches!(one.ty(), Type::Uuid | Type::Ulid | Type::Date) =>
        {
            Some(one)
        }
        _ => None,
    }
}

/// Returns the type of composed texts.
pub(super) fn plain_text() -> Type {
    Type::Text(TextDomain::default())
}
