//! Writes the types of maps, lists and sets whose members a library declares.
//!
//! A map with known members is a record; a list or set has elements of one type.
//!
//! What it is not: it knows no library's words. Each says what one member is.
//!
//! Invariant: a record is one that the language takes; what is none is bytes, with a remark that asks.

use crate::literal::Value;
use crate::names::{Names, comment};

/// Deepest record in a record.
///
/// Ours: as deep as the language lets records nest.
const FIELDS_DEPTH_MAX: usize = 8;

/// Most single values of one record.
///
/// Ours: as many as the language lets a record have.
const PARTS_MAX: usize = 64;

/// Most members that a remark names.
const NAMED_MAX: usize = 12;

/// The type of a text that stands in a key between delimiters.
pub(crate) const KEY_TEXT: &str = "text(min 1, without \"#\")";

/// The type of an attribute or of a member.
#[derive(Debug)]
pub(crate) struct Typed {
    pub(crate) ty: String,
    pub(crate) optional: bool,
    pub(crate) remarks: Vec<String>,
    /// The number of single values in it.
    pub(crate) parts: usize,
    /// True if it is a record of which nothing is always there: it is not optional itself, since
    /// nothing would tell an empty one from an absent one.
    loose: bool,
}

impl Typed {
    pub(crate) fn plain(ty: impl Into<String>) -> Self {
        Self { ty: ty.into(), optional: false, remarks: Vec::new(), parts: 1, loose: false }
    }

    /// Returns the type of a member that is there always, or not.
    pub(crate) fn optional(mut self, optional: bool) -> Self {
        self.optional = optional && !self.loose;
        if optional && self.loose {
            self.remarks.push("an empty one and an absent one are the same here".to_owned());
        }
        self
    }

    /// Returns a type that is not known, or that the language has not.
    pub(crate) fn asked(remark: impl Into<String>) -> Self {
        Self { remarks: vec![remark.into()], ..Self::plain("bytes") }
    }
}

/// Returns a map as a record of its members; `read` says what a member at a depth is.
pub(crate) fn record(
    members: &[(String, Value)],
    depth: usize,
    read: fn(&Value, usize) -> Typed,
) -> Typed {
    if members.is_empty() {
        return Typed::asked("? a map: of what?");
    }
    let named = named(members);
    if depth >= FIELDS_DEPTH_MAX {
        let why =
            format!("? a map ({named}) in more than {FIELDS_DEPTH_MAX} others: is it an entity");
        return Typed::asked(why);
    }
    let mut names = Names::default();
    let mut found = Typed { parts: 0, loose: true, ..Typed::plain("") };
    let mut fields = Vec::new();
    for (foreign, value) in members {
        let name = names.of(foreign);
        let own = read(value, depth + 1);
        if name != *foreign {
            found.remarks.push(format!("{name} is called {:?} there", comment(foreign)));
        }
        for remark in own.remarks {
            let (mark, text) =
                remark.strip_prefix("? ").map_or(("", remark.as_str()), |text| ("? ", text));
            found.remarks.push(format!("{mark}{name}: {text}"));
        }
        found.parts += own.parts;
        found.loose &= own.optional || own.loose;
        let optional = if own.optional { " optional" } else { "" };
        fields.push(format!("{name}: {}{optional}", own.ty));
    }
    if found.parts > PARTS_MAX {
        let why = format!("? a map ({named}) of more than {PARTS_MAX} values: is it an entity");
        return Typed::asked(why);
    }
    found.ty = format!("record {{ {} }}", fields.join(", "));
    found
}

/// Returns a list or a set (`word`) of elements of a type, `text`, `number` or `map`.
pub(crate) fn several(word: &str, element: Option<&str>, members: &[(String, Value)]) -> Typed {
    let of = match element {
        Some("string") => "text(max 200)",
        Some("number") => "decimal",
        Some("map" | "object") => {
            let named =
                if members.is_empty() { String::new() } else { format!(" ({})", named(members)) };
            let why = format!("? a {word} of maps{named}: an entity that refers to its owner");
            return Typed::asked(why);
        }
        Some(other) => return Typed::asked(format!("? a {word} of {}: of what", comment(other))),
        None => {
            let assumed = Typed::plain(format!("{word} of text(max 200)(max 100)"));
            let ask = "? of what? how many at most? 100 is assumed".to_owned();
            return Typed { remarks: vec![ask], ..assumed };
        }
    };
    let ask = "? how many at most? 100 is assumed".to_owned();
    Typed { remarks: vec![ask], ..Typed::plain(format!("{word} of {of}(max 100)")) }
}

fn named(members: &[(String, Value)]) -> String {
    let mut names: Vec<String> =
        members.iter().take(NAMED_MAX).map(|(name, _)| comment(name)).collect();
    if members.len() > NAMED_MAX {
        names.push("…".to_owned());
    }
    names.join(", ")
}
