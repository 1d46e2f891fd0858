//! Expressions other than operators and calls.
//!
//! What it is not: a place for constants that are computed; those are computed when they are run.
//!
//! Invariant: what was refused has the type [`Ty::Error`] and is refused once.

use std::sync::Arc;

use super::{Checker, Typed};
use crate::parse::dotted;
use crate::program::{Asked, Code, Constant, Place, Primitive};
use crate::syntax::{Expression, ExpressionKind, TypeName};
use crate::ty::Ty;

impl Checker {
    /// Checks an expression.
    pub(super) fn expression(&mut self, own: &Expression) -> Typed {
        let line = own.line;
        let constant = |own, ty| Typed::new(Code::Constant(own), ty);
        match &own.kind {
            ExpressionKind::Null => constant(Constant::Null, Ty::Null),
            ExpressionKind::Boolean(own) => constant(Constant::Boolean(*own), Ty::Boolean),
            ExpressionKind::Number(digits, suffix) => self.number(line, digits, *suffix),
            ExpressionKind::Text(own) => {
                constant(Constant::Text(own.as_slice().into()), Ty::string())
            }
            ExpressionKind::Character(own) => constant(Constant::Char(*own), Ty::Char),
            ExpressionKind::Name(name) => self.name(line, name),
            ExpressionKind::Member(of, name) => self.member(line, own, of, name),
            ExpressionKind::Element(of, at) => match self.element(line, of, at) {
                Ok((array, at, ty)) => Typed::new(Code::Element(Box::new(array), Box::new(at)), ty),
                Err(refused) => refused,
            },
            ExpressionKind::Call(of, name, arguments) => {
                self.call(line, of.as_deref(), name, arguments)
            }
            ExpressionKind::New(ty, arguments) => self.new_object(line, ty, arguments),
            ExpressionKind::NewArray(ty, size) => self.new_array(line, ty, size),
            ExpressionKind::ArrayOf(ty, items) => {
                let Some(ty) = ty.as_ref().map(|own| self.ty(own)) else {
                    return self.refused(line, "Array constants can only be used in initializers");
                };
                self.array_of(line, &ty, items)
            }
            ExpressionKind::Class(name) => match self.ty(name) {
                Ty::Class(id, _) => {
                    let class = Ty::class("Class");
                    let Ty::Class(of, _) = class else {
                        return constant(Constant::Null, Ty::Error);
                    };
                    Typed::new(Code::Class(id), Ty::Class(of, vec![Ty::Class(id, Vec::new())]))
                }
                Ty::Error => constant(Constant::Null, Ty::Error),
                other => {
                    let message = format!("{}.class is not taken here", other.shown());
                    self.refused(line, message)
                }
            },
            ExpressionKind::Cast(to, of) => self.cast(line, to, of),
            ExpressionKind::Prefix(sign, of) => self.prefix(line, sign, of),
            ExpressionKind::Step(sign, behind, of) => self.step(line, sign, *behind, of),
            ExpressionKind::Binary(operator, left, right) => {
                self.binary(line, operator, left, right)
            }
            ExpressionKind::InstanceOf(of, name) => self.instance_of(line, of, name),
            ExpressionKind::Conditional(condition, yes, no) => {
                self.conditional(line, condition, yes, no)
            }
            ExpressionKind::Assign(place, operator, value) => {
                self.assign(line, place, *operator, value)
            }
        }
    }

    fn number(&mut self, line: u32, digits: &str, suffix: Option<char>) -> Typed {
        let (negative, plain) = match digits.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, digits),
        };
        let is_bits = plain.starts_with("0x") || plain.starts_with("0b");
        let is_real =
            !is_bits && (plain.contains(['.', 'e', 'E']) || matches!(suffix, Some('f' | 'd')));
        let found = if is_real {
            let real = |_| digits.parse::<f64>().ok().map(Constant::Double);
            match suffix {
                Some('f') => {
                    digits.parse::<f32>().ok().map(|own| (Constant::Float(own), Ty::Float))
                }
                _ => real(()).map(|own| (own, Ty::Double)),
            }
        } else {
            whole(plain, negative, suffix == Some('l'))
        };
        match found {
            Some((own, ty)) => Typed::new(Code::Constant(own), ty),
            None => {
                let ty = if suffix == Some('l') { "long" } else { "int" };
                self.refused(line, format!("The literal {digits} of type {ty} is out of range"))
            }
        }
    }

    fn name(&mut self, line: u32, name: &str) -> Typed {
        let Some(own) = self.variable(name) else {
            if name == "udfContext" {
                return Typed::new(Code::Context, Ty::class("UDFContext"));
            }
            return self.refused(line, format!("{name} cannot be resolved to a variable"));
        };
        let (local, ty) = (own.local, own.ty.clone());
        if self.assigned.get(local) == Some(&false) {
            let message = format!("The local variable {name} may not have been initialized");
            return self.refused(line, message);
        }
        Typed::new(Code::Local(local), ty)
    }

    /// Checks `of.name`: a constant of a class, or the length of an array.
    fn member(&mut self, line: u32, whole: &Expression, of: &Expression, name: &str) -> Typed {
        if let Some(path) = dotted(of) {
            let first = path.split('.').next().unwrap_or(&path);
            if self.variable(first).is_none() && first != "udfContext" {
                let Some(id) = self.library.resolve(&path) else {
                    let shown = dotted(whole).unwrap_or(path);
                    return self.refused(line, format!("{shown} cannot be resolved to a type"));
                };
                let found = id.get().constants.iter().find(|(own, _)| own == name);
                let Some((_, ty)) = found else {
                    return self
                        .refused(line, format!("{name} cannot be resolved or is not a field"));
                };
                return match crate::run::constant(id, name) {
                    Some(own) => Typed::new(own, ty.clone()),
                    None => {
                        self.refused(line, format!("{name} cannot be resolved or is not a field"))
                    }
                };
            }
        }
        let of = self.expression(of);
        match &of.ty {
            Ty::Error => of,
            Ty::Array(_) if name == "length" => {
                let mut text = "Cannot read the array length".to_owned();
                if let Some(why) = self.origin(&of.code) {
                    text.push_str(&format!(" because {why} is null"));
                }
                Typed::new(Code::Length(Box::new(of.code), text.into()), Ty::Int)
            }
            _ => self.refused(line, format!("{name} cannot be resolved or is not a field")),
        }
    }

    /// Checks an element of an array: the array, the place and the type.
    fn element(
        &mut self,
        line: u32,
        of: &Expression,
        at: &Expression,
    ) -> Result<(Code, Code, Ty), Typed> {
        let (of, at) = (self.expression(of), self.expression(at));
        let element = match &of.ty {
            Ty::Array(element) => (**element).clone(),
            Ty::Error => return Err(of),
            other => {
                let message = format!(
                    "The type of the expression must be an array type but it resolved to {}",
                    other.shown()
                );
                return Err(self.refused(line, message));
            }
        };
        let shown = at.ty.shown();
        let Some(at) = self.assigned_to(at, &Ty::Int) else {
            let message = format!("Type mismatch: cannot convert from {shown} to int");
            return Err(self.refused(line, message));
        };
        Ok((of.code, at, element))
    }

    fn new_array(&mut self, line: u32, name: &TypeName, size: &Expression) -> Typed {
        let element = self.ty(name);
        let size = self.expression(size);
        let shown = size.ty.shown();
        let Some(size) = self.assigned_to(size, &Ty::Int) else {
            let message = format!("Type mismatch: cannot convert from {shown} to int");
            return self.refused(line, message);
        };
        let first = match element {
            Ty::Boolean => Constant::Boolean(false),
            Ty::Byte => Constant::Byte(0),
            Ty::Short => Constant::Short(0),
            Ty::Char => Constant::Char(0),
            Ty::Int => Constant::Int(0),
            Ty::Long => Constant::Long(0),
            Ty::Float => Constant::Float(0.0),
            Ty::Double => Constant::Double(0.0),
            Ty::Error => return Typed::new(Code::Constant(Constant::Null), Ty::Error),
            _ => Constant::Null,
        };
        Typed::new(Code::NewArray(first, Box::new(size)), Ty::Array(Box::new(element)))
    }

    /// Checks the values of an array.
    pub(super) fn array_of(&mut self, line: u32, ty: &Ty, items: &[Expression]) -> Typed {
        let Ty::Array(element) = ty else {
            if *ty == Ty::Error {
                return Typed::new(Code::Constant(Constant::Null), Ty::Error);
            }
            let message = format!("Type mismatch: cannot convert from Object[] to {}", ty.shown());
            return self.refused(line, message);
        };
        let codes = items.iter().map(|item| match &item.kind {
            ExpressionKind::ArrayOf(None, items) => self.array_of(item.line, element, items).code,
            _ => self.value_for(item, element),
        });
        let codes = codes.collect();
        Typed::new(Code::ArrayOf(codes), ty.clone())
    }

    /// Checks a value that is assigned to a type.
    pub(super) fn value_for(&mut self, value: &Expression, to: &Ty) -> Code {
        let found = self.expression(value);
        self.fit(value.line, found, to)
    }

    /// Converts a value to a type, or refuses it.
    pub(super) fn fit(&mut self, line: u32, value: Typed, to: &Ty) -> Code {
        let shown = value.ty.shown();
        self.assigned_to(value, to).unwrap_or_else(|| {
            let message = format!("Type mismatch: cannot convert from {shown} to {}", to.shown());
            self.refused(line, message).code
        })
    }

    fn cast(&mut self, line: u32, to: &TypeName, of: &Expression) -> Typed {
        let (to, of) = (self.ty(to), self.expression(of));
        if to == Ty::Error || of.ty == Ty::Error {
            return Typed::new(of.code, Ty::Error);
        }
        if let Some(wanted) = super::convert::primitive(&to) {
            let numbers = of.ty.is_primitive() && of.ty.rank().is_some() && to.rank().is_some();
            if numbers {
                return Typed::new(super::convert::convert_constant(wanted, of.code), to);
            }
            if self.fits(&of.ty, &to, true) {
                return Typed::new(self.converted(of, &to), to);
            }
            if of.ty.is_class("Object") || of.ty.is_class("Number") || of.ty.is_class("Comparable")
            {
                let known = Typed::new(of.code, Ty::Any);
                let code = self.converted(known, &to);
                return Typed::new(code, to);
            }
        } else {
            let from = of.ty.boxed();
            if self.is_below(&from, &to) {
                return Typed::new(of.code, to);
            }
            if !of.ty.is_primitive() && self.is_below(&to, &from) || is_open(&from) || is_open(&to)
            {
                let asked = match &to {
                    Ty::Class(id, _) => Asked::Class(*id),
                    _ => Asked::Array,
                };
                return Typed::new(Code::Cast(asked, Box::new(of.code)), to);
            }
        }
        let message = format!("Cannot cast from {} to {}", of.ty.shown(), to.shown());
        self.refused(line, message)
    }

    fn instance_of(&mut self, line: u32, of: &Expression, name: &TypeName) -> Typed {
        let (of, ty) = (self.expression(of), self.ty(name));
        if of.ty == Ty::Error || ty == Ty::Error {
            return Typed::new(of.code, Ty::Error);
        }
        let related = self.is_below(&of.ty, &ty) || self.is_below(&ty, &of.ty);
        if of.ty.is_primitive() || !related && !is_open(&of.ty) {
            let message = format!(
                "Incompatible conditional operand types {} and {}",
                of.ty.shown(),
                ty.shown()
            );
            return self.refused(line, message);
        }
        let asked = match &ty {
            Ty::Class(id, _) => Asked::Class(*id),
            _ => Asked::Array,
        };
        Typed::new(Code::InstanceOf(Box::new(of.code), asked), Ty::Boolean)
    }

    fn conditional(
        &mut self,
        line: u32,
        condition: &Expression,
        yes: &Expression,
        no: &Expression,
    ) -> Typed {
        let condition = self.condition(condition);
        let before = self.assigned.clone();
        let yes = self.expression(yes);
        self.assigned.clone_from(&before);
        let no = self.expression(no);
        self.assigned = before;
        if yes.ty == Ty::Error || no.ty == Ty::Error {
            return Typed::new(condition.code, Ty::Error);
        }
        let ty = self.common(&yes, &no);
        if ty == Ty::Void {
            return self.refused(line, "Type mismatch: cannot convert from void to Object");
        }
        let (yes, no) = (self.converted(yes, &ty), self.converted(no, &ty));
        let parts = (Box::new(condition.code), Box::new(yes), Box::new(no));
        Typed::new(Code::Conditional(parts.0, parts.1, parts.2), ty)
    }

    /// Returns the type of a conditional expression.
    fn common(&self, yes: &Typed, no: &Typed) -> Ty {
        if yes.ty == no.ty {
            return yes.ty.clone();
        }
        if yes.ty == Ty::Void || no.ty == Ty::Void {
            return Ty::Void;
        }
        if let (Some(first), Some(second)) = (yes.ty.unboxed(), no.ty.unboxed()) {
            if first == second {
                return first;
            }
            // A constant that fits takes the type of the other.
            for (constant, other) in [(yes, &second), (no, &first)] {
                if constant.constant().is_some()
                    && other.rank() < Ty::Int.rank()
                    && self.assigned_to(constant.clone(), other).is_some()
                {
                    return other.clone();
                }
            }
            if let (Some(one), Some(two)) = (first.rank(), second.rank()) {
                let widest = if one >= two { first } else { second };
                return if widest.rank() < Ty::Int.rank() { Ty::Int } else { widest };
            }
        }
        let (first, second) = (yes.ty.boxed(), no.ty.boxed());
        match (self.is_below(&first, &second), self.is_below(&second, &first)) {
            (_, true) if first != Ty::Null => first,
            (true, _) => second,
            _ => Ty::object(),
        }
    }

    /// Checks a condition.
    pub(super) fn condition(&mut self, own: &Expression) -> Typed {
        let found = self.expression(own);
        let shown = found.ty.shown();
        match self.truth(found) {
            Some(code) => Typed::new(code, Ty::Boolean),
            None => {
                let message = format!("Type mismatch: cannot convert from {shown} to boolean");
                self.refused(own.line, message)
            }
        }
    }

    /// Finds the place that is assigned, and its type. `reads` if its old value is asked for.
    fn place(&mut self, line: u32, of: &Expression, reads: bool) -> Result<(Place, Ty), Typed> {
        match &of.kind {
            ExpressionKind::Name(name) => {
                if reads {
                    let found = self.expression(of);
                    if found.ty == Ty::Error {
                        return Err(found);
                    }
                }
                let Some(own) = self.variable(name) else {
                    let message = format!("{name} cannot be resolved to a variable");
                    return Err(self.refused(line, message));
                };
                let (local, ty, is_final) = (own.local, own.ty.clone(), own.is_final);
                if is_final && self.assigned.get(local) != Some(&false) {
                    let message = format!(
                        "The final local variable {name} cannot be assigned. It must be blank and not using a compound assignment"
                    );
                    return Err(self.refused(line, message));
                }
                Ok((Place::Local(local), ty))
            }
            ExpressionKind::Element(array, at) => {
                let (array, at, ty) = self.element(line, array, at)?;
                Ok((Place::Element(Box::new(array), Box::new(at)), ty))
            }
            _ => Err(self.refused(line, "The left-hand side of an assignment must be a variable")),
        }
    }

    fn assign(
        &mut self,
        line: u32,
        of: &Expression,
        operator: Option<&'static str>,
        value: &Expression,
    ) -> Typed {
        let Some(operator) = operator else {
            let given = self.expression(value);
            let (place, ty) = match self.place(line, of, false) {
                Ok(found) => found,
                Err(refused) => return refused,
            };
            let code = self.fit(value.line, given, &ty);
            if let Place::Local(local) = place
                && let Some(own) = self.assigned.get_mut(local)
            {
                *own = true;
            }
            return Typed::new(Code::Set(place, Box::new(code)), ty);
        };
        let (place, ty) = match self.place(line, of, true) {
            Ok(found) => found,
            Err(refused) => return refused,
        };
        let given = self.expression(value);
        let found = self.operation(line, operator, Typed::new(Code::Old, ty.clone()), given);
        self.updated(line, place, ty, found, false)
    }

    fn step(&mut self, line: u32, sign: &str, behind: bool, of: &Expression) -> Typed {
        let (place, ty) = match self.place(line, of, true) {
            Ok(found) => found,
            Err(refused) => return refused,
        };
        if ty.number().is_none() {
            let message = format!("Type mismatch: cannot convert from {} to int", ty.shown());
            return self.refused(line, message);
        }
        let one = Typed::new(Code::Constant(Constant::Int(1)), Ty::Int);
        let operator = if sign == "++" { "+" } else { "-" };
        let found = self.operation(line, operator, Typed::new(Code::Old, ty.clone()), one);
        self.updated(line, place, ty, found, behind)
    }

    /// Makes an update of a place: the new value is cast to the type of the place.
    fn updated(&mut self, line: u32, place: Place, ty: Ty, value: Typed, old: bool) -> Typed {
        if value.ty == Ty::Error {
            return value;
        }
        let code = match ty.unboxed().and_then(|own| super::convert::primitive(&own)) {
            Some(wanted) if value.ty.is_primitive() => {
                if wanted == Primitive::Boolean && value.ty != Ty::Boolean {
                    return self.refused(line, "Type mismatch");
                }
                super::convert::convert_constant(wanted, value.code)
            }
            _ => self.fit(line, value, &ty),
        };
        Typed::new(Code::Update(place, Box::new(code), old), ty)
    }
}

fn is_open(ty: &Ty) -> bool {
    matches!(ty, Ty::Any | Ty::Error) || ty.is_class("Object")
}

/// Reads an integer that is written down.
fn whole(plain: &str, negative: bool, is_long: bool) -> Option<(Constant, Ty)> {
    let (digits, radix) = match plain.get(..2) {
        Some("0x") => (plain.get(2..)?, 16),
        Some("0b") => (plain.get(2..)?, 2),
        _ if plain.len() > 1 && plain.starts_with('0') => (plain.get(1..)?, 8),
        _ => (plain, 10),
    };
    if radix == 10 {
        let text: Arc<str> = format!("{}{digits}", if negative { "-" } else { "" }).into();
        return match is_long {
            true => text.parse().ok().map(|own| (Constant::Long(own), Ty::Long)),
            false => text.parse().ok().map(|own| (Constant::Int(own), Ty::Int)),
        };
    }
    if is_long {
        let own = u64::from_str_radix(digits, radix).ok()?.cast_signed();
        return Some((Constant::Long(if negative { own.wrapping_neg() } else { own }), Ty::Long));
    }
    let own = u32::from_str_radix(digits, radix).ok()?.cast_signed();
    Some((Constant::Int(if negative { own.wrapping_neg() } else { own }), Ty::Int))
}
