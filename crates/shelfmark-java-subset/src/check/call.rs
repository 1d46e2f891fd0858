//! Calls of methods and constructors: which one is meant.
//!
//! What it is not: what they do.
//!
//! Invariant: a method is looked for without boxes, then with them, then with a variable number of
//! arguments, and the first way that finds any decides.

use std::collections::BTreeMap;

use super::{Checker, Typed};
use crate::library::{ClassId, Method};
use crate::parse::dotted;
use crate::program::{Call, Code, Constant};
use crate::syntax::{Expression, TypeName};
use crate::ty::Ty;

/// A method that has the name, as a class has it.
struct Candidate {
    class: ClassId,
    method: &'static Method,
    parameters: Vec<Ty>,
}

/// The ways in which arguments are taken.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    Plain,
    Boxed,
    Variable,
}

/// Methods that functions must not call.
const FORBIDDEN: [(&str, &str); 2] = [("Class", "getClassLoader"), ("Class", "getResource")];

impl Checker {
    /// Checks a call.
    pub(super) fn call(
        &mut self,
        line: u32,
        of: Option<&Expression>,
        name: &str,
        arguments: &[Expression],
    ) -> Typed {
        let receiver = match of {
            None => None,
            Some(of) => match self.receiver(of) {
                Ok(found) => Some(found),
                Err(error) => {
                    arguments.iter().for_each(|own| drop(self.expression(own)));
                    return self.refused(of.line, error);
                }
            },
        };
        let arguments: Vec<Typed> = arguments.iter().map(|own| self.expression(own)).collect();
        let is_refused = |ty: &Ty| *ty == Ty::Error;
        if arguments.iter().any(|own| is_refused(&own.ty)) {
            return Typed::new(Code::Constant(Constant::Null), Ty::Error);
        }
        let shown: Vec<String> = arguments.iter().map(|own| own.ty.shown()).collect();
        let shown = format!("{name}({})", shown.join(", "));
        let Some((receiver, ty)) = receiver else {
            return self.refused(line, format!("The method {shown} is undefined"));
        };
        match &ty {
            Ty::Error => return Typed::new(Code::Constant(Constant::Null), Ty::Error),
            own if own.is_primitive() => {
                let message =
                    format!("Cannot invoke {shown} on the primitive type {}", own.shown());
                return self.refused(line, message);
            }
            _ => {}
        }
        if FORBIDDEN.iter().any(|(class, own)| ty.is_class(class) && *own == name) {
            let what = format!("call to {}.{name}()", ty.erased());
            self.forbidden.get_or_insert(what);
            return Typed::new(Code::Constant(Constant::Null), Ty::Error);
        }
        let candidates = self.candidates(&ty, name);
        let statics_only = receiver.is_none();
        let Some((at, way)) = self.choose(&candidates, &arguments) else {
            return self.refused(line, no_method(&candidates, name, &ty, &shown));
        };
        let Some(found) = candidates.into_iter().nth(at) else {
            return self.refused(line, "no method");
        };
        if statics_only && !found.method.is_static {
            let message = format!(
                "Cannot make a static reference to the non-static method {} from the type {}",
                signature(found.method),
                ty.shown()
            );
            return self.refused(line, message);
        }
        self.called(found, way, receiver, &ty, arguments)
    }

    /// Returns the object and the type that a call is of; a class has no object.
    fn receiver(&mut self, of: &Expression) -> Result<(Option<Code>, Ty), String> {
        if let Some(name) = dotted(of) {
            let first = name.split('.').next().unwrap_or(&name);
            if self.variable(first).is_none() && first != "udfContext" {
                if let Some(id) = self.library.resolve(&name) {
                    return Ok((None, Ty::Class(id, Vec::new())));
                }
                let is_constant = name.rsplit_once('.').is_some_and(|(class, constant)| {
                    let class = self.library.resolve(class);
                    class
                        .is_some_and(|id| id.get().constants.iter().any(|(own, _)| own == constant))
                });
                if !is_constant {
                    return Err(format!("{name} cannot be resolved"));
                }
            }
        }
        let of = self.expression(of);
        Ok((Some(of.code), of.ty))
    }

    /// Lists the methods of a name that a type has.
    fn candidates(&self, ty: &Ty, name: &str) -> Vec<Candidate> {
        let (id, arguments) = match ty {
            Ty::Class(id, arguments) => (*id, arguments.clone()),
            _ => match self.library.find("Object") {
                Some(id) => (id, Vec::new()),
                None => return Vec::new(),
            },
        };
        let mut all: Vec<Candidate> = Vec::new();
        for (class, arguments) in self.library.ancestors(id, &arguments) {
            for method in class.get().methods.iter().filter(|own| own.name == name) {
                let parameters: Vec<Ty> =
                    method.parameters.iter().map(|own| own.with(&arguments)).collect();
                // One that is there already overrides it.
                if !all.iter().any(|own| own.parameters == parameters) {
                    all.push(Candidate { class, method, parameters });
                }
            }
        }
        all
    }

    /// Finds the most specific of the methods that take the arguments.
    fn choose(&self, candidates: &[Candidate], arguments: &[Typed]) -> Option<(usize, Way)> {
        for way in [Way::Plain, Way::Boxed, Way::Variable] {
            let found: Vec<usize> = candidates
                .iter()
                .enumerate()
                .filter(|(_, own)| {
                    self.takes(&own.parameters, own.method.is_variable, arguments, way)
                })
                .map(|(at, _)| at)
                .collect();
            let parameters = |at: &usize| candidates.get(*at).map(|own| &own.parameters);
            let best = found.iter().find(|at| {
                found.iter().all(|other| match (parameters(at), parameters(other)) {
                    (Some(own), Some(other)) => {
                        own.len() != other.len()
                            || own
                                .iter()
                                .zip(other)
                                .all(|(own, other)| self.fits(own, other, false))
                    }
                    _ => false,
                })
            });
            if let Some(at) = best.or(found.first()) {
                return Some((*at, way));
            }
        }
        None
    }

    fn takes(&self, parameters: &[Ty], is_variable: bool, arguments: &[Typed], way: Way) -> bool {
        if way == Way::Variable {
            let Some((last, first)) = parameters.split_last() else { return false };
            return is_variable
                && arguments.len() >= first.len()
                && arguments
                    .iter()
                    .enumerate()
                    .all(|(at, own)| self.takes_one(first.get(at).unwrap_or(last), &own.ty, true));
        }
        !is_variable
            && parameters.len() == arguments.len()
            && parameters
                .iter()
                .zip(arguments)
                .all(|(ty, own)| self.takes_one(ty, &own.ty, way == Way::Boxed))
    }

    fn takes_one(&self, parameter: &Ty, argument: &Ty, boxes: bool) -> bool {
        match parameter {
            Ty::Free(_) => boxes || !argument.is_primitive(),
            own => *argument != Ty::Void && self.fits(argument, own, boxes),
        }
    }

    /// Makes the call of a method that was chosen.
    fn called(
        &mut self,
        found: Candidate,
        way: Way,
        receiver: Option<Code>,
        ty: &Ty,
        arguments: Vec<Typed>,
    ) -> Typed {
        let mut free: BTreeMap<u8, Ty> = BTreeMap::new();
        let last = found.parameters.len().saturating_sub(1);
        let parameter = |at: usize| match way {
            Way::Variable => found.parameters.get(at.min(last)),
            Way::Plain | Way::Boxed => found.parameters.get(at),
        };
        let mut codes = Vec::new();
        for (at, argument) in arguments.into_iter().enumerate() {
            let Some(wanted) = parameter(at) else { continue };
            self.bind(wanted, &argument.ty, &mut free);
            codes.push(self.converted(argument, wanted));
        }
        if way == Way::Variable {
            let rest = codes.split_off(last.min(codes.len()));
            codes.push(Code::ArrayOf(rest));
        }
        let own_arguments = match ty {
            Ty::Class(id, arguments) => {
                let above = self.library.ancestors(*id, arguments);
                above.into_iter().find(|(id, _)| *id == found.class).map(|(_, own)| own)
            }
            _ => None,
        };
        let returns = found.method.returns.with(&own_arguments.unwrap_or_default());
        let mut returns = bound(&returns, &free);
        // An object tells its own class.
        if found.method.name == "getClass" {
            returns = Ty::class("Class");
        }
        let method =
            format!("{}.{}", owner(found.class, ty).erased(), erased_signature(found.method));
        let null = match &receiver {
            Some(code) => self.null_text(&method, code),
            None => "".into(),
        };
        let receiver = receiver.filter(|_| !found.method.is_static);
        let call =
            Call { class: found.class, method: found.method, receiver, arguments: codes, null };
        Typed::new(Code::Call(Box::new(call)), returns)
    }

    /// Notes what the parameters of a method stand for.
    fn bind(&self, wanted: &Ty, given: &Ty, free: &mut BTreeMap<u8, Ty>) {
        match (wanted, given) {
            (Ty::Free(letter), given) => {
                let given = given.boxed();
                let known = free.entry(*letter).or_insert_with(|| given.clone());
                if *known == Ty::Null {
                    *known = given;
                } else if !self.is_below(&given, known) {
                    *known = Ty::object();
                }
            }
            (Ty::Class(id, wanted), Ty::Class(own, arguments)) => {
                let above = self.library.ancestors(*own, arguments);
                if let Some((_, found)) = above.iter().find(|(above, _)| above == id) {
                    let pairs = wanted.iter().zip(found);
                    pairs.for_each(|(wanted, given)| self.bind(wanted, given, free));
                }
            }
            _ => {}
        }
    }

    /// Checks `new T(…)`.
    pub(super) fn new_object(
        &mut self,
        line: u32,
        name: &TypeName,
        arguments: &[Expression],
    ) -> Typed {
        let ty = self.ty(name);
        let arguments: Vec<Typed> = arguments.iter().map(|own| self.expression(own)).collect();
        let Ty::Class(id, own) = &ty else {
            return Typed::new(Code::Constant(Constant::Null), Ty::Error);
        };
        if arguments.iter().any(|own| own.ty == Ty::Error) {
            return Typed::new(Code::Constant(Constant::Null), Ty::Error);
        }
        let constructors: Vec<Vec<Ty>> = id
            .get()
            .constructors
            .iter()
            .map(|all| all.iter().map(|ty| ty.with(own)).collect())
            .collect();
        let found = [Way::Plain, Way::Boxed].into_iter().find_map(|way| {
            constructors.iter().find(|own| self.takes(own, false, &arguments, way))
        });
        let Some(found) = found else {
            let shown: Vec<String> = arguments.iter().map(|own| own.ty.shown()).collect();
            let message = match constructors.is_empty() {
                true => format!("Cannot instantiate the type {}", ty.shown()),
                false => {
                    format!("The constructor {}({}) is undefined", ty.shown(), shown.join(", "))
                }
            };
            return self.refused(line, message);
        };
        let pairs = arguments.into_iter().zip(found);
        let codes = pairs.map(|(own, wanted)| self.converted(own, wanted)).collect();
        Typed::new(Code::New(*id, codes), ty.clone())
    }
}

/// Returns the class that errors at run time name before a method: classes have methods of their own in
/// place of those of `Object`, interfaces have not.
fn owner(declares: ClassId, receiver: &Ty) -> Ty {
    const INTERFACES: [&str; 9] = [
        "List",
        "Set",
        "Map",
        "Collection",
        "Iterator",
        "Iterable",
        "CharSequence",
        "Comparable",
        "Entry",
    ];
    let is_class = |own: &Ty| {
        matches!(own, Ty::Class(..)) && !INTERFACES.iter().any(|name| own.is_class(name))
    };
    match receiver {
        own if declares.is("Object") && is_class(own) => own.clone(),
        _ => Ty::Class(declares, Vec::new()),
    }
}

fn bound(ty: &Ty, free: &BTreeMap<u8, Ty>) -> Ty {
    match ty {
        Ty::Free(letter) => {
            free.get(letter).cloned().filter(|own| *own != Ty::Null).unwrap_or(Ty::Any)
        }
        Ty::Class(id, own) => Ty::Class(*id, own.iter().map(|own| bound(own, free)).collect()),
        Ty::Array(own) => Ty::Array(Box::new(bound(own, free))),
        own => own.clone(),
    }
}

fn signature(method: &Method) -> String {
    let all: Vec<String> = method.parameters.iter().map(Ty::shown).collect();
    format!("{}({})", method.name, all.join(", "))
}

fn erased_signature(method: &Method) -> String {
    let all: Vec<String> = method.parameters.iter().map(Ty::erased).collect();
    format!("{}({})", method.name, all.join(", "))
}

fn no_method(candidates: &[Candidate], name: &str, ty: &Ty, shown: &str) -> String {
    match candidates.first() {
        None => format!("The method {shown} is undefined for the type {}", ty.shown()),
        Some(first) => {
            let given = shown.get(name.len() + 1..shown.len() - 1).unwrap_or_default();
            format!(
                "The method {} in the type {} is not applicable for the arguments ({given})",
                signature(first.method),
                ty.shown()
            )
        }
    }
}
