//! Computes bytes of values and shares of rows from what a model declares.
//!
//! What it is not: no measurement; a value without a declared average has a usual one.

use shelfmark_design_language::model::schema::{Codec, Family};
use shelfmark_design_language::model::{Model, Type};
use shelfmark_design_language::target::Target;

/// Returns the average bytes of one value.
#[must_use]
pub fn value_bytes(model: &Model, relation: usize, path: &[usize]) -> f64 {
    let owner = model.path_owner(relation, path);
    let column = path.last().and_then(|column| model.relation(owner).columns.get(*column));
    let Some(column) = column else { return 16.0 };
    if let Some(avg) = column.facts.get("avg") {
        return *avg;
    }
    match &column.ty {
        Type::Bool => 1.0,
        Type::Int(_) | Type::Decimal(_) | Type::Timestamp | Type::Date => 8.0,
        Type::Uuid | Type::Ulid => 16.0,
        Type::Enum(_) => 8.0,
        Type::Text(domain) => domain.max.map_or(32.0, |max| (max as f64 / 2.0).min(64.0)),
        Type::Bytes(sizes) => {
            let declared = sizes.max.map(|max| max as f64);
            column.facts.get("max").copied().or(declared).unwrap_or(256.0)
        }
        Type::List(_, max) => max.map_or(64.0, |max| max as f64 * 16.0),
    }
}

/// Returns how many tuples share one value of a column, by a declared figure.
#[must_use]
pub fn elements(model: &Model, relation: usize, via: usize, figure: &str) -> Option<f64> {
    let relation = model.relation(relation);
    relation
        .fanouts
        .iter()
        .filter(|fanout| fanout.from == [via])
        .find_map(|fanout| fanout.facts.get(figure).copied())
}

/// Returns the share of the source's tuples that have a row: those with every optional part of the key.
#[must_use]
pub fn sparse_share(model: &Model, family: &Family) -> f64 {
    let mut share = 1.0;
    for path in shelfmark_design_prove::paths::all_key_paths(model, family) {
        let owner = model.path_owner(family.source, &path);
        let column = path.last().and_then(|column| model.relation(owner).columns.get(*column));
        if let Some(column) = column.filter(|column| column.optional) {
            share *= column.facts.get("sparse").copied().unwrap_or(1.0);
        }
    }
    share
}

/// Returns the fixed length of a type; `None` for texts and lists.
#[must_use]
pub fn plain_bytes(ty: &Type, target: &Target) -> Option<f64> {
    let text_ids = matches!(target.name.as_str(), "dynamodb" | "candb");
    Some(match ty {
        Type::Bool => 1.0,
        Type::Uuid => {
            if text_ids {
                36.0
            } else {
                16.0
            }
        }
        Type::Ulid => {
            if text_ids {
                26.0
            } else {
                16.0
            }
        }
        // DynamoDB's numbers: about two digits a byte, and one.
        Type::Timestamp => 8.0,
        Type::Date => {
            if text_ids {
                10.0
            } else {
                4.0
            }
        }
        Type::Int(range) | Type::Decimal(range) => {
            let digits = range.map_or(10.0, |(low, high)| {
                low.unsigned_abs().max(high.unsigned_abs()).to_string().len() as f64
            });
            match range {
                _ if text_ids => digits / 2.0 + 1.0,
                // `smallint` and `int` are as long as what they hold needs.
                Some((low, high)) if target.name == "cql" => {
                    let fits = |bits: u32| {
                        let half = 1_i64 << (bits - 1);
                        (-half..half).contains(low) && (-half..half).contains(high)
                    };
                    if fits(16) {
                        2.0
                    } else if fits(32) {
                        4.0
                    } else {
                        8.0
                    }
                }
                _ => 8.0,
            }
        }
        _ => return None,
    })
}

/// Returns the length of a value that is written as text; `None` for texts.
#[must_use]
pub fn text_bytes(ty: &Type, codec: Codec) -> Option<f64> {
    let digits = |range: &Option<(i64, i64)>| {
        range.map_or(10.0, |(low, high)| {
            low.unsigned_abs().max(high.unsigned_abs()).to_string().len() as f64
        })
    };
    Some(match (codec, ty) {
        (Codec::Pad(width), _) => f64::from(width),
        // `2021-01-01T00:00:00.000Z`.
        (Codec::Iso, Type::Timestamp) => 24.0,
        // Two hexadecimal digits for each byte, of which the first counts the others.
        (Codec::Lexint, Type::Int(range)) => {
            let bits = range.map_or(32.0, |(_, high)| (high.max(1) as f64).log2() + 1.0);
            2.0 * (1.0 + (bits / 8.0).floor())
        }
        (_, Type::Uuid) => 36.0,
        (_, Type::Ulid) => 26.0,
        (_, Type::Date) => 10.0,
        // Milliseconds since 1970.
        (_, Type::Timestamp) => 13.0,
        (_, Type::Bool) => 4.5,
        (_, Type::Int(range) | Type::Decimal(range)) => digits(range),
        (_, Type::Enum(variants)) => {
            let letters: usize = variants.iter().map(String::len).sum();
            letters as f64 / variants.len().max(1) as f64
        }
        _ => return None,
    })
}
