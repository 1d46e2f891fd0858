//! Writes keys of targets that have texts only: `"user#<user>"`.

use super::Planner;
use super::draft::{Ask, Component, Draft};
use super::serve::term;
use shelfmark_design_language::model::pattern::Source;
use shelfmark_design_language::model::schema::Codec;
use shelfmark_design_language::model::{Model, Read, RelationId, Term, Type};

/// The delimiter of a text key's components; it sorts below all that an escaped text holds.
pub(crate) const DELIMITER: char = '#';

/// Returns the codec that writes values of the type so that texts sort as values do.
pub(crate) fn codec(ty: &Type) -> Codec {
    match ty {
        Type::Text(_) | Type::Enum(_) => Codec::Esc,
        Type::Int(Some((bottom, top))) if *bottom >= 0 => {
            u8::try_from(top.to_string().len()).map_or(Codec::Plain, Codec::Pad)
        }
        Type::Timestamp => Codec::Iso,
        _ => Codec::Plain,
    }
}

/// Returns a hole for a value of an attribute's type.
pub(crate) fn hole(model: &Model, relation: RelationId, path: &[usize], what: &str) -> String {
    format!("<{what}{}>", codec(&model.path_type(relation, path)).suffix())
}

/// Returns a hole for an input that an attribute is compared with; `None` where the attribute's
/// codec does not take the input, such as an identifier that a text is compared with.
pub(crate) fn input_hole(
    model: &Model,
    read: &Read,
    relation: RelationId,
    path: &[usize],
    value: &Term,
) -> Option<String> {
    let Term::Param(at) = value else { return None };
    let ty = &read.params.get(*at)?.ty;
    let fits = match codec(&model.path_type(relation, path)) {
        Codec::Esc => matches!(ty, Type::Text(_) | Type::Enum(_)),
        Codec::Pad(_) | Codec::Lexint => matches!(ty, Type::Int(_)),
        Codec::Iso => matches!(ty, Type::Timestamp),
        Codec::Plain | Codec::Native => true,
    };
    let name = term(&read.params, value)?;
    fits.then(|| hole(model, relation, path, &name))
}

impl Planner<'_> {
    /// Returns a hole for a value of the path's type.
    pub(crate) fn hole(&self, relation: RelationId, path: &[usize], what: &str) -> String {
        hole(self.model, relation, path, what)
    }

    pub(crate) fn path_hole(&self, relation: RelationId, path: &[usize]) -> String {
        self.hole(relation, path, &self.model.path_text(relation, path))
    }

    /// Writes components with the delimiter between them.
    pub(crate) fn template(&self, relation: RelationId, components: &[Component]) -> String {
        let holes: Vec<String> =
            components.iter().map(|component| self.path_hole(relation, &component.path)).collect();
        holes.join(&DELIMITER.to_string())
    }

    /// Returns the beginning of a sort key whose only attribute may be the empty text, where the
    /// target has no empty keys; else nothing.
    pub(crate) fn lead(&self, draft: &Draft) -> String {
        let components = self.key(draft);
        let may_be_empty = |ty: &Type| match ty {
            Type::Text(domain) => domain.min == 0,
            Type::Enum(texts) => texts.iter().any(String::is_empty),
            Type::Bytes(sizes) => sizes.min == 0,
            _ => false,
        };
        let bare = match components.get(draft.least..) {
            Some([only]) => may_be_empty(&self.model.path_type(draft.relation, &only.path)),
            _ => false,
        };
        let lead = bare && self.target.key_shape.is_some();
        if lead { DELIMITER.to_string() } else { String::new() }
    }

    /// Checks that values have texts that sort as they do: numbers without bounds, or below zero,
    /// have none.
    pub(crate) fn texts_keep_order(&self, ask: &Ask, source: &Source) -> Result<(), String> {
        for (path, _) in &ask.tail {
            let why = match self.model.path_type(source.relation, path) {
                Type::Int(Some((low, _))) if low < 0 => " below 0; count from 0 up",
                Type::Int(None) | Type::Decimal(_) => "; declare its range",
                _ => continue,
            };
            let name = self.model.path_text(source.relation, path);
            let why = format!(
                "texts of {name} do not sort as its values do{why}, such as int(0..999999)"
            );
            return Err(why);
        }
        let mixed = ask
            .tail
            .iter()
            .filter_map(|(_, desc)| *desc)
            .collect::<std::collections::BTreeSet<_>>();
        if mixed.len() > 1 {
            return Err("a text key is read in one direction, and this order has two".to_owned());
        }
        Ok(())
    }
}
