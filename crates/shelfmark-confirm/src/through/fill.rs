//! Fills the placeholders of requests with the values of one call.
//!
//! Invariant: nothing of a request is left unfilled; what a row lacks is left out of an item.

use std::collections::BTreeMap;

use serde_json::{Map, Value as Json};
use shelfmark_design_language::codec;
use shelfmark_design_language::model::schema::Codec;
use shelfmark_design_language::model::types::{Sizes, TextDomain, Type};
use shelfmark_design_language::model::{Function, Value};

use crate::claim::next;

/// The values for the placeholders of a request.
#[derive(Debug, Clone, Default)]
pub(super) struct Places<'a> {
    pub(super) inputs: &'a [(String, Value, Type)],
    pub(super) each: Option<(Value, Type)>,
    /// The row of each earlier step.
    pub(super) rows: BTreeMap<u64, &'a Json>,
}

/// The reason why a placeholder stays open.
#[derive(Debug, Clone)]
pub(super) enum Open {
    /// The row lacks the attribute, or there is no row.
    Missing,
    /// The placeholder is unknown.
    Unknown(String),
}

type Typed = (Value, Type);

impl Places<'_> {
    /// Fills a body.
    pub(super) fn fill(&self, body: &Json) -> Result<Json, Open> {
        match body {
            Json::Object(fields) => {
                let mut out = Map::new();
                for (name, inner) in fields {
                    let filled = match (name.as_str(), inner) {
                        ("S" | "N" | "B", Json::Object(_)) => {
                            let (value, ty) = self.typed(inner)?;
                            if value == Value::Null {
                                return Err(Open::Missing);
                            }
                            let text = value.text(&ty);
                            Json::from(if name == "B" { codec::base64_of_hex(&text) } else { text })
                        }
                        ("BOOL", Json::Object(_)) => match self.typed(inner)? {
                            (Value::Bool(bit), _) => Json::Bool(bit),
                            _ => return Err(Open::Missing),
                        },
                        ("L", Json::Object(list)) if list.contains_key("$list") => {
                            self.list(list)?
                        }
                        ("Limit", Json::Object(_)) => match self.typed(inner)? {
                            (Value::Int(n), _) => Json::from(n),
                            other => return Err(Open::Unknown(format!("a limit of {other:?}"))),
                        },
                        ("Item", Json::Object(item)) => self.item(item)?,
                        _ => self.fill(inner)?,
                    };
                    out.insert(name.clone(), filled);
                }
                Ok(Json::Object(out))
            }
            Json::Array(items) => items.iter().map(|item| self.fill(item)).collect(),
            other => Ok(other.clone()),
        }
    }

    /// Fills an item; attributes that a row lacks are left out.
    fn item(&self, item: &Map<String, Json>) -> Result<Json, Open> {
        let mut out = Map::new();
        for (name, value) in item {
            match self.fill(value) {
                Ok(value) => {
                    out.insert(name.clone(), value);
                }
                Err(Open::Missing) => {}
                Err(other) => return Err(other),
            }
        }
        Ok(Json::Object(out))
    }

    fn list(&self, list: &Map<String, Json>) -> Result<Json, Open> {
        let letter = list.get("of").and_then(Json::as_str).unwrap_or("S");
        let (value, ty) = self.typed(list.get("$list").unwrap_or(&Json::Null))?;
        let (Value::List(items), Type::List(of, _)) = (value, ty) else {
            return Err(Open::Missing);
        };
        let one = |item: &Value| {
            Json::Object(Map::from_iter([(letter.to_owned(), Json::from(item.text(&of)))]))
        };
        Ok(items.iter().map(one).collect())
    }

    /// Returns the value of a placeholder, or of a constant.
    pub(super) fn typed(&self, place: &Json) -> Result<Typed, Open> {
        let text = || Type::Text(TextDomain::default());
        let fields = match place {
            Json::String(constant) => return Ok((Value::Text(constant.clone()), text())),
            Json::Number(number) => {
                return Ok((Value::Int(number.as_i64().unwrap_or(0)), Type::Int(None)));
            }
            Json::Bool(bit) => return Ok((Value::Bool(*bit), Type::Bool)),
            Json::Object(fields) => fields,
            _ => return Ok((Value::Null, Type::Bool)),
        };
        let unknown = || Open::Unknown(place.to_string());
        let named = |name: &str| fields.get(name).and_then(Json::as_str);
        let of = || fields.get("of").ok_or_else(unknown);
        if let Some(name) = named("$input") {
            let found = self.inputs.iter().find(|(other, ..)| other == name).ok_or_else(unknown)?;
            return Ok((found.1.clone(), found.2.clone()));
        }
        if named("$each").is_some() {
            return self.each.clone().ok_or_else(unknown);
        }
        if let Some(name) = named("$row") {
            let step = fields.get("step").and_then(Json::as_u64).ok_or_else(unknown)?;
            let attribute =
                self.rows.get(&step).and_then(|row| row.get(name)).ok_or(Open::Missing)?;
            return constant(attribute).ok_or(Open::Missing);
        }
        if let Some(pieces) = fields.get("$text").and_then(Json::as_array) {
            let mut out = String::new();
            for piece in pieces {
                let (value, ty) = self.typed(piece)?;
                if value == Value::Null {
                    return Err(Open::Missing);
                }
                out.push_str(&value.text(&ty));
            }
            return Ok((Value::Text(out), text()));
        }
        if let Some(how) = named("$codec") {
            let (value, ty) = self.typed(of()?)?;
            let how = codec_of(how).ok_or_else(unknown)?;
            let written = codec::text(&value, &ty, how).ok_or(Open::Missing)?;
            return Ok((Value::Text(written), text()));
        }
        if let Some(of) = fields.get("$next") {
            let (value, ty) = self.typed(of)?;
            let next = next(&value.text(&ty)).ok_or(Open::Missing)?;
            return Ok((Value::Text(next), text()));
        }
        if named("$call") == Some("minus") {
            return self.minus(of()?);
        }
        if let Some(name) = named("$call") {
            let function =
                Function::ALL.iter().find(|(other, ..)| *other == name).ok_or_else(unknown)?;
            let args = of()?.as_array().ok_or_else(unknown)?;
            let args: Result<Vec<Typed>, Open> = args.iter().map(|arg| self.typed(arg)).collect();
            let (args, types): (Vec<Value>, Vec<Type>) = args?.into_iter().unzip();
            let value = function.1.apply(&args);
            let ty = match &value {
                Value::Int(_) => Type::Int(None),
                _ => types.into_iter().next().unwrap_or_else(text),
            };
            return Ok((value, ty));
        }
        Err(unknown())
    }

    /// Returns a number with the other sign, or less a second one.
    fn minus(&self, of: &Json) -> Result<Typed, Open> {
        let unknown = || Open::Unknown(of.to_string());
        let all = of.as_array().ok_or_else(unknown)?;
        let less = all.get(1).and_then(Json::as_i64);
        match self.typed(all.first().ok_or_else(unknown)?)? {
            (Value::Int(n), ty) => {
                let n = less.map_or_else(|| n.saturating_neg(), |less| n.saturating_sub(less));
                Ok((Value::Int(n), ty))
            }
            _ => Err(Open::Missing),
        }
    }

    /// Returns true if every guard holds.
    pub(super) fn allows(&self, guards: &[Json]) -> Result<bool, Open> {
        for guard in guards {
            let parts = guard.as_array().map_or(&[][..], Vec::as_slice);
            let [left, op, right @ ..] = parts else {
                return Err(Open::Unknown(guard.to_string()));
            };
            let one = |place: &Json| match self.typed(place) {
                // Identifiers and dates are texts in items.
                Ok((value @ Value::Id(_), ty)) | Ok((value, ty @ Type::Date)) => {
                    Ok(Value::Text(value.text(&ty)))
                }
                Ok((value, _)) => Ok(value),
                Err(Open::Missing) => Ok(Value::Null),
                Err(other) => Err(other),
            };
            let all = |place: &Json| -> Result<Vec<Value>, Open> {
                match place {
                    Json::Array(items) => items.iter().map(one).collect(),
                    other => Ok(vec![one(other)?]),
                }
            };
            let left = all(left)?;
            let rights: Result<Vec<Vec<Value>>, Open> = right.iter().map(all).collect();
            let rights = rights?;
            let first = rights.first().cloned().unwrap_or_default();
            // What is absent satisfies no comparison but that it is another value.
            let there = !left.contains(&Value::Null) && !first.contains(&Value::Null);
            let holds = match op.as_str().unwrap_or("") {
                "=" => there && left == first,
                "<" => there && left < first,
                "<=" => there && left <= first,
                ">" => there && left > first,
                ">=" => there && left >= first,
                "other than" => !there || left != first,
                "present" => !left.contains(&Value::Null),
                "absent" => left.contains(&Value::Null),
                "in" => rights.contains(&left),
                other => return Err(Open::Unknown(other.to_owned())),
            };
            if !holds {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// Returns the value of an attribute as it stands in an item, with the type that the item names.
fn constant(attribute: &Json) -> Option<Typed> {
    let (letter, inner) = attribute.as_object()?.iter().next()?;
    Some(match letter.as_str() {
        "S" => (Value::Text(inner.as_str()?.to_owned()), Type::Text(TextDomain::default())),
        "N" => (Value::Int(inner.as_str()?.parse().ok()?), Type::Int(None)),
        // Identifiers of CQL, which are no texts there.
        "U" => (Value::Text(inner.as_str()?.to_owned()), Type::Uuid),
        "B" => (Value::Text(codec::hex_of_base64(inner.as_str()?)?), Type::Bytes(Sizes::default())),
        "BOOL" => (Value::Bool(inner.as_bool()?), Type::Bool),
        "L" => {
            let items: Option<Vec<Typed>> = inner.as_array()?.iter().map(constant).collect();
            let (items, types): (Vec<Value>, Vec<Type>) = items?.into_iter().unzip();
            let of = types.into_iter().next().unwrap_or(Type::Int(None));
            (Value::List(items), Type::List(Box::new(of), None))
        }
        _ => return None,
    })
}

fn codec_of(name: &str) -> Option<Codec> {
    match name {
        "lexint" => Some(Codec::Lexint),
        "iso" => Some(Codec::Iso),
        "esc" => Some(Codec::Esc),
        other => {
            let width = other.strip_prefix("pad(")?.strip_suffix(')')?;
            width.parse().ok().map(Codec::Pad)
        }
    }
}
