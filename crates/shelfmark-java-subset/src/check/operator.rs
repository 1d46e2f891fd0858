//! Operators.
//!
//! What it is not: what they compute.
//!
//! Invariant: both operands of arithmetic and comparisons are of the wider of their types, of `int` at
//! least.

use super::convert::{convert_constant, primitive};
use super::{Checker, Typed};
use crate::program::{Code, Constant, Primitive};
use crate::syntax::Expression;
use crate::ty::Ty;

impl Checker {
    /// Checks a binary operator.
    pub(super) fn binary(
        &mut self,
        line: u32,
        operator: &'static str,
        left: &Expression,
        right: &Expression,
    ) -> Typed {
        let left = self.expression(left);
        let right = match operator {
            // What is assigned on the right of these need not be.
            "&&" | "||" => {
                let before = self.assigned.clone();
                let right = self.expression(right);
                self.assigned = before;
                right
            }
            _ => self.expression(right),
        };
        self.operation(line, operator, left, right)
    }

    /// Returns the operation of two operands.
    pub(super) fn operation(
        &mut self,
        line: u32,
        operator: &'static str,
        left: Typed,
        right: Typed,
    ) -> Typed {
        if left.ty == Ty::Error || right.ty == Ty::Error {
            return Typed::new(left.code, Ty::Error);
        }
        let is_text = left.ty.is_class("String") || right.ty.is_class("String");
        if operator == "+" && is_text && left.ty != Ty::Void && right.ty != Ty::Void {
            return concatenation(left, right);
        }
        let found = match operator {
            "&&" | "||" => self.logical(operator, left.clone(), right.clone()),
            "==" | "!=" => return self.equality(line, operator == "==", left, right),
            "<" | ">" | "<=" | ">=" => {
                self.promoted(left.clone(), right.clone()).map(|(kind, left, right, _)| {
                    Typed::new(
                        Code::Compare(operator, kind, Box::new(left), Box::new(right)),
                        Ty::Boolean,
                    )
                })
            }
            "<<" | ">>" | ">>>" => self.shift(operator, left.clone(), right.clone()),
            "&" | "|" | "^" => self.bits(operator, left.clone(), right.clone()),
            _ => self.promoted(left.clone(), right.clone()).map(|(kind, left, right, ty)| {
                Typed::new(Code::Arithmetic(operator, kind, Box::new(left), Box::new(right)), ty)
            }),
        };
        found.unwrap_or_else(|| {
            let message = format!(
                "The operator {operator} is undefined for the argument type(s) {}, {}",
                left.ty.shown(),
                right.ty.shown()
            );
            self.refused(line, message)
        })
    }

    /// Converts two numbers to the wider of their types.
    fn promoted(&self, left: Typed, right: Typed) -> Option<(Primitive, Code, Code, Ty)> {
        let (left_type, right_type) = (left.ty.number()?, right.ty.number()?);
        let widest = if left_type.rank() >= right_type.rank() { left_type } else { right_type };
        let ty = if widest.rank() < Ty::Int.rank() { Ty::Int } else { widest };
        let (left, right) = (self.converted(left, &ty), self.converted(right, &ty));
        Some((primitive(&ty)?, left, right, ty))
    }

    fn logical(&self, operator: &str, left: Typed, right: Typed) -> Option<Typed> {
        let (left, right) = (self.truth(left)?, self.truth(right)?);
        let (left, right) = (Box::new(left), Box::new(right));
        let code = if operator == "&&" { Code::And(left, right) } else { Code::Or(left, right) };
        Some(Typed::new(code, Ty::Boolean))
    }

    /// Converts a value to a truth; `None` if it is none.
    pub(super) fn truth(&self, value: Typed) -> Option<Code> {
        if value.ty == Ty::Error {
            return Some(value.code);
        }
        (value.ty.unboxed()? == Ty::Boolean).then(|| self.converted(value, &Ty::Boolean))
    }

    fn shift(&self, operator: &'static str, left: Typed, right: Typed) -> Option<Typed> {
        let integral = |ty: &Ty| ty.number().filter(|own| own.rank() <= Ty::Long.rank());
        let (left_type, right_type) = (integral(&left.ty)?, integral(&right.ty)?);
        let ty = if left_type == Ty::Long { Ty::Long } else { Ty::Int };
        let left = self.converted(left, &ty);
        let right = self.unboxed(right, &right_type);
        let right = convert_constant(Primitive::Long, right.code);
        let code = Code::Arithmetic(operator, primitive(&ty)?, Box::new(left), Box::new(right));
        Some(Typed::new(code, ty))
    }

    fn bits(&self, operator: &'static str, left: Typed, right: Typed) -> Option<Typed> {
        let truths = |own: &Typed| own.ty.unboxed() == Some(Ty::Boolean);
        if truths(&left) && truths(&right) {
            let (left, right) = (self.truth(left)?, self.truth(right)?);
            let code =
                Code::Arithmetic(operator, Primitive::Boolean, Box::new(left), Box::new(right));
            return Some(Typed::new(code, Ty::Boolean));
        }
        let (kind, left, right, ty) = self.promoted(left, right)?;
        let is_whole = matches!(kind, Primitive::Int | Primitive::Long);
        is_whole.then(|| {
            Typed::new(Code::Arithmetic(operator, kind, Box::new(left), Box::new(right)), ty)
        })
    }

    fn equality(&mut self, line: u32, asks_same: bool, left: Typed, right: Typed) -> Typed {
        let sign = if asks_same { "==" } else { "!=" };
        let one_is_plain = left.ty.is_primitive() || right.ty.is_primitive();
        if one_is_plain {
            if let Some((kind, left, right, _)) = self.promoted(left.clone(), right.clone()) {
                let code = Code::Compare(sign, kind, Box::new(left), Box::new(right));
                return Typed::new(code, Ty::Boolean);
            }
            let truths = |own: &Typed| own.ty.unboxed() == Some(Ty::Boolean);
            if truths(&left) && truths(&right) {
                let left = Box::new(self.converted(left, &Ty::Boolean));
                let right = Box::new(self.converted(right, &Ty::Boolean));
                let code = Code::Compare(sign, Primitive::Boolean, left, right);
                return Typed::new(code, Ty::Boolean);
            }
        }
        let (first, second) = (left.ty.boxed(), right.ty.boxed());
        let can_be = |own: &Typed, other: &Ty| !own.ty.is_primitive() || !matches!(other, Ty::Null);
        let related = self.is_below(&first, &second) || self.is_below(&second, &first);
        let related = related && can_be(&left, &second) && can_be(&right, &first);
        if !related || left.ty == Ty::Void || right.ty == Ty::Void {
            let message = match one_is_plain && (left.ty == Ty::Null || right.ty == Ty::Null) {
                true => format!(
                    "The operator {sign} is undefined for the argument type(s) {}, {}",
                    left.ty.shown(),
                    right.ty.shown()
                ),
                false => {
                    format!(
                        "Incompatible operand types {} and {}",
                        left.ty.shown(),
                        right.ty.shown()
                    )
                }
            };
            return self.refused(line, message);
        }
        let code = Code::Same(asks_same, Box::new(left.code), Box::new(right.code));
        Typed::new(code, Ty::Boolean)
    }

    /// Checks `-`, `+`, `~`, `!` before an operand.
    pub(super) fn prefix(&mut self, line: u32, sign: &str, of: &Expression) -> Typed {
        let of = self.expression(of);
        if of.ty == Ty::Error {
            return of;
        }
        let found = match sign {
            "!" => {
                self.truth(of.clone()).map(|own| Typed::new(Code::Not(Box::new(own)), Ty::Boolean))
            }
            _ => self.signed(sign, of.clone()),
        };
        found.unwrap_or_else(|| {
            let message = format!(
                "The operator {sign} is undefined for the argument type(s) {}",
                of.ty.shown()
            );
            self.refused(line, message)
        })
    }

    fn signed(&self, sign: &str, of: Typed) -> Option<Typed> {
        let zero = Typed::new(Code::Constant(Constant::Int(0)), Ty::Int);
        let (kind, of, _, ty) = self.promoted(of, zero)?;
        let code = match sign {
            "-" => Code::Negate(kind, Box::new(of)),
            "~" if matches!(kind, Primitive::Int | Primitive::Long) => {
                Code::Invert(kind, Box::new(of))
            }
            "~" => return None,
            _ => of,
        };
        Some(Typed::new(code, ty))
    }
}

/// Returns texts behind each other; a chain of them is one node.
fn concatenation(left: Typed, right: Typed) -> Typed {
    let mut parts = match left {
        Typed { code: Code::Concat(parts), .. } => parts,
        other => vec![other.code],
    };
    parts.push(right.code);
    Typed::new(Code::Concat(parts), Ty::string())
}
