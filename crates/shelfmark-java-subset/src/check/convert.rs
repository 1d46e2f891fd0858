//! Conversions: which types fit which, and the nodes that convert.
//!
//! What it is not: a choice between methods; that asks what is here.
//!
//! Invariant: numbers in boxes and outside have the same form at run time, so only taking one out of
//! a box, which may be null, and changing its size are nodes.

use std::sync::Arc;

use super::{Checker, Typed};
use crate::program::{Asked, Code, Constant, Primitive};
use crate::ty::Ty;

/// Returns the primitive type of a type that is one.
pub(super) fn primitive(ty: &Ty) -> Option<Primitive> {
    Some(match ty {
        Ty::Boolean => Primitive::Boolean,
        Ty::Byte => Primitive::Byte,
        Ty::Short => Primitive::Short,
        Ty::Char => Primitive::Char,
        Ty::Int => Primitive::Int,
        Ty::Long => Primitive::Long,
        Ty::Float => Primitive::Float,
        Ty::Double => Primitive::Double,
        _ => return None,
    })
}

/// Returns true if a primitive type is another, or becomes it without losing its size.
pub(super) fn widens(from: &Ty, to: &Ty) -> bool {
    if from == to {
        return true;
    }
    match (from.rank(), to.rank()) {
        (Some(from_rank), Some(to_rank)) => {
            from_rank < to_rank && *to != Ty::Char && (*from != Ty::Char || *to != Ty::Short)
        }
        _ => false,
    }
}

impl Checker {
    /// Returns true if a type of references is another, or below it.
    pub(super) fn is_below(&self, from: &Ty, to: &Ty) -> bool {
        match (from, to) {
            (Ty::Error | Ty::Any, _) | (_, Ty::Error | Ty::Any) => true,
            (Ty::Null, own) => own.is_reference(),
            (Ty::Array(_), Ty::Class(id, _)) => id.is("Object"),
            (Ty::Array(from), Ty::Array(to)) => {
                from == to || !from.is_primitive() && !to.is_primitive() && self.is_below(from, to)
            }
            (Ty::Class(from, own), Ty::Class(to, wanted)) => {
                let above = self.library.ancestors(*from, own);
                above.iter().any(|(id, arguments)| {
                    id == to
                        && (wanted.is_empty()
                            || arguments.is_empty()
                            || arguments.iter().zip(wanted).all(|(own, wanted)| fits(own, wanted)))
                })
            }
            _ => false,
        }
    }

    /// Returns true if a value of a type can be taken for another; boxes are made and opened if
    /// `boxes`.
    pub(super) fn fits(&self, from: &Ty, to: &Ty, boxes: bool) -> bool {
        match (from.is_primitive(), to.is_primitive()) {
            (true, true) => widens(from, to),
            (false, false) => self.is_below(from, to),
            (true, false) => boxes && self.is_below(&from.boxed(), to),
            (false, true) => {
                boxes
                    && (matches!(from, Ty::Error | Ty::Any)
                        || from.unboxed().is_some_and(|own| widens(&own, to)))
            }
        }
    }

    /// Converts a value to the type of what it is assigned to; `None` if it does not fit.
    pub(super) fn assigned_to(&self, value: Typed, to: &Ty) -> Option<Code> {
        if matches!(value.ty, Ty::Error) || *to == Ty::Error {
            return Some(value.code);
        }
        if let Some(narrow) = value.constant().and_then(|own| narrowed(own, to)) {
            return Some(Code::Constant(narrow));
        }
        if !self.fits(&value.ty, to, true) {
            return None;
        }
        Some(self.converted(value, to))
    }

    /// Converts a value that fits.
    pub(super) fn converted(&self, value: Typed, to: &Ty) -> Code {
        let Some(wanted) = primitive(to) else { return value.code };
        let value = self.unboxed(value, to);
        if value.ty == *to {
            return value.code;
        }
        convert_constant(wanted, value.code)
    }

    /// Takes a value out of its box; `hint` is what it has to be where nothing is known of it.
    pub(super) fn unboxed(&self, value: Typed, hint: &Ty) -> Typed {
        if value.ty.is_primitive() {
            return value;
        }
        let inner = match value.ty.unboxed() {
            Some(inner) => inner,
            None => hint.clone(),
        };
        let boxed = inner.boxed();
        let mut code = value.code;
        if value.ty == Ty::Any
            && let Ty::Class(id, _) = &boxed
        {
            code = Code::Cast(Asked::Class(*id), Box::new(code));
        }
        let method = format!("{}.{}Value()", boxed.erased(), inner.shown());
        let text = self.null_text(&method, &code);
        Typed::new(Code::Unbox(Box::new(code), text), inner)
    }

    /// Returns the text of the error for a call of a method on what is null.
    pub(super) fn null_text(&self, method: &str, of: &Code) -> Arc<str> {
        let mut text = format!("Cannot invoke \"{method}\"");
        if let Some(why) = self.origin(of) {
            text.push_str(&format!(" because {why} is null"));
        }
        text.into()
    }

    /// Returns how errors at run time call the place that a value came from.
    pub(super) fn origin(&self, of: &Code) -> Option<String> {
        match of {
            Code::Local(local) if *local < self.parameters => {
                Some(format!("\"<parameter{}>\"", local + 1))
            }
            Code::Local(local) => {
                let own = self.variables.iter().rev().find(|own| own.local == *local)?;
                Some(format!("\"<local{}>\"", own.slot))
            }
            Code::Constant(Constant::Null) => Some("\"null\"".to_owned()),
            Code::Cast(_, of) => self.origin(of),
            Code::Call(call) => {
                let parameters: Vec<String> =
                    call.method.parameters.iter().map(Ty::erased).collect();
                let class = Ty::Class(call.class, Vec::new()).erased();
                let name = &call.method.name;
                let all = parameters.join(", ");
                Some(format!("the return value of \"{class}.{name}({all})\""))
            }
            _ => None,
        }
    }
}

/// Returns true if an argument of a class fits another.
fn fits(own: &Ty, wanted: &Ty) -> bool {
    let open = |ty: &Ty| matches!(ty, Ty::Any | Ty::Error | Ty::Free(_));
    match (own, wanted) {
        (own, wanted) if open(own) || open(wanted) => true,
        (Ty::Class(id, own), Ty::Class(other, wanted)) => {
            id == other
                && (own.is_empty()
                    || wanted.is_empty()
                    || own.iter().zip(wanted).all(|(own, wanted)| fits(own, wanted)))
        }
        _ => own == wanted,
    }
}

/// Converts a value, at once if it is a constant.
pub(super) fn convert_constant(to: Primitive, code: Code) -> Code {
    if let Code::Constant(own) = &code
        && let Some(found) = crate::run::convert_constant(to, own)
    {
        return Code::Constant(found);
    }
    Code::Convert(to, Box::new(code))
}

/// Returns a constant of a smaller type, or of its box, if the number is none too large.
fn narrowed(own: &Constant, to: &Ty) -> Option<Constant> {
    let number = match own {
        Constant::Int(own) => *own,
        Constant::Char(own) => i32::from(*own),
        Constant::Short(own) => i32::from(*own),
        Constant::Byte(own) => i32::from(*own),
        _ => return None,
    };
    match to.unboxed()? {
        Ty::Byte => i8::try_from(number).ok().map(Constant::Byte),
        Ty::Short => i16::try_from(number).ok().map(Constant::Short),
        Ty::Char => u16::try_from(number).ok().map(Constant::Char),
        _ => None,
    }
}
