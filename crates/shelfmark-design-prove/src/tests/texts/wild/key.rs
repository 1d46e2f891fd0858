//! Random keys: their attributes, in which order, cut and encoded how.
//!
//! What it is not: no guarantee that a key tells tuples apart, or that a text key can be read back.
//!
//! Invariant: no attribute stands in a key twice.

use super::condition::Test;
use super::path::{self, Path};
use super::read::Read;
use super::relation::Relation;
use super::{Random, chance, word};

/// A component of a key, before it has a form.
pub(super) struct Part {
    pub(super) path: Path,
    pub(super) desc: bool,
}

/// A piece of a column.
pub(super) enum Piece {
    Literal(&'static str),
    Hole(Hole),
}

/// A value of a key, with what is computed from it.
#[derive(Clone)]
pub(super) struct Hole {
    pub(super) path: Path,
    /// `day(` and `)`.
    around: (&'static str, &'static str),
    /// `:pad(3)` and the like.
    codec: &'static str,
}

impl Hole {
    /// Returns the same computation of another value.
    pub(super) fn of(&self, value: &str) -> String {
        format!("{}{value}{}", self.around.0, self.around.1)
    }

    /// Returns the same as a hole of a template.
    pub(super) fn cut(&self, value: &str) -> String {
        format!("<{}{}>", self.of(value), self.codec)
    }

    /// Returns true if a value can stand there: nothing is computed from a text that is written out.
    pub(super) fn takes(&self, value: &str) -> bool {
        self.around.0.is_empty() || !value.starts_with('"')
    }

    /// Returns true if rows are spread by it.
    pub(super) fn is_bucket(&self) -> bool {
        self.around.0.starts_with("bucket")
    }
}

/// One column of a key.
pub(super) struct Column {
    pub(super) pieces: Vec<Piece>,
    pub(super) desc: bool,
}

/// Returns some attributes, those first that a read fixes, if it is done with one in mind; then a key of
/// the relation, unless it shall be incomplete.
pub(super) fn parts(
    relations: &[Relation],
    of: usize,
    aim: Option<&Read>,
    complete: bool,
    random: &mut Random,
) -> Vec<Part> {
    let mut parts: Vec<Part> = aim.map(|read| aimed(read, of, random)).unwrap_or_default();
    let more = if parts.is_empty() { random.below(3) } else { usize::from(chance(random, 1, 8)) };
    for _ in 0..more {
        let deep = chance(random, 1, 6);
        let path = path::path(relations, of, deep, random);
        add(&mut parts, path, false);
    }
    if complete {
        let relation = &relations[of];
        for at in relation.some_key(random) {
            let path = Path::of(relation, *at);
            let first = aim.is_none() && chance(random, 1, 4);
            if add(&mut parts, path, false) && first {
                parts.rotate_right(1);
            }
        }
    }
    if parts.len() > 1 && chance(random, 1, 10) {
        let last = parts.len() - 1;
        parts.swap(random.below(last), last);
    }
    if parts.is_empty() {
        add(&mut parts, Path::of(&relations[of], 0), false);
    }
    parts
}

/// Returns the parts that a read asks for, in the order in which a key would serve it: equalities,
/// an end, its order.
fn aimed(read: &Read, of: usize, random: &mut Random) -> Vec<Part> {
    let second = read.is_second(of);
    let named = |path: &Path| Path { name: path.named(second).to_owned(), ..path.clone() };
    let mut parts = Vec::new();
    let fixed = |test: &Test| matches!(test, Test::Equal(_) | Test::Among(_));
    let (equal, ends): (Vec<_>, Vec<_>) = read.conditions.iter().partition(|one| fixed(&one.test));
    for one in equal {
        add(&mut parts, named(&one.path), false);
    }
    let reversed = chance(random, 1, 3);
    for one in ends {
        if !matches!(one.test, Test::Is(_)) {
            let order = read.order.iter().find(|(path, _)| *path == one.path);
            let desc = order.is_some_and(|(_, desc)| *desc != reversed);
            add(&mut parts, named(&one.path), desc);
        }
    }
    for (path, desc) in &read.order {
        if path.name != "kind" {
            add(&mut parts, named(path), *desc != reversed);
        }
    }
    parts
}

fn add(parts: &mut Vec<Part>, path: Path, desc: bool) -> bool {
    let new = !parts.iter().any(|part| part.path.name == path.name);
    if new {
        parts.push(Part { path, desc });
    }
    new
}

/// Returns a column of its own for each component.
pub(super) fn plain(parts: impl Iterator<Item = Part>) -> Vec<Column> {
    let hole = |path| Piece::Hole(Hole { path, around: ("", ""), codec: "" });
    parts.map(|part| Column { pieces: vec![hole(part.path)], desc: part.desc }).collect()
}

/// Returns the same, with some of them computed.
pub(super) fn typed(parts: Vec<Part>, may_descend: bool, random: &mut Random) -> Vec<Column> {
    let column = |part: Part| {
        let ty = part.path.ty;
        let around = match random.below(16) {
            0 if ty == "timestamp" || ty == "ulid" => ("day(", ")"),
            0 if part.path.is_text() => ("first(", ", 1)"),
            0 if ty.starts_with("int") => ("div(", ", 2)"),
            1 if ty == "uuid" || ty == "ulid" => ("bucket(hash(", "), 2)"),
            _ => ("", ""),
        };
        let desc = may_descend && (part.desc || chance(random, 1, 8));
        let hole = Hole { path: part.path, around, codec: "" };
        Column { pieces: vec![Piece::Hole(hole)], desc }
    };
    parts.into_iter().map(column).collect()
}

/// Returns the components glued into one text behind a tag.
pub(super) fn glued(tag: &'static str, parts: Vec<Part>, random: &mut Random) -> Column {
    let mut pieces = Vec::new();
    if !tag.is_empty() {
        pieces.push(Piece::Literal(tag));
    }
    for (at, part) in parts.into_iter().enumerate() {
        let glue = word(random, &["#", "#", "#", "#", "", "~", "##", "$", "/", "|"]);
        if at > 0 && !glue.is_empty() {
            pieces.push(Piece::Literal(glue));
        }
        let codec = codec(&part.path, random);
        pieces.push(Piece::Hole(Hole { path: part.path, around: ("", ""), codec }));
    }
    if pieces.is_empty() || chance(random, 1, 8) {
        pieces.push(Piece::Literal(word(random, &["#", "z", "~"])));
    }
    Column { pieces, desc: false }
}

fn codec(path: &Path, random: &mut Random) -> &'static str {
    match path.ty {
        ty if ty.starts_with("int") => {
            word(random, &["", ":pad(3)", ":pad(3)", ":pad(2)", ":lexint"])
        }
        "timestamp" => word(random, &[":iso", ":iso", ""]),
        ty if ty.starts_with("text") || ty.starts_with("enum") => word(random, &["", "", ":esc"]),
        _ => "",
    }
}

/// Returns a column as a text with holes.
pub(super) fn template(column: &Column) -> String {
    let piece = |piece: &Piece| match piece {
        Piece::Literal(text) => (*text).to_owned(),
        Piece::Hole(hole) => hole.cut(&hole.path.name),
    };
    column.pieces.iter().map(piece).collect()
}
