//! Finds the types of a body, says what is wrong with it, and makes of it what is run.
//!
//! What it is not: all that a compiler finds. Constants are literals, and a variable that is assigned
//! in a condition counts as assigned only behind it.
//!
//! Invariant: what is made without an error has operands of the types that its operators need.

mod call;
mod convert;
mod expression;
mod operator;
mod statement;

use crate::CompileError;
use crate::data_type::DataType;
use crate::library::{ClassId, Library};
use crate::program::{Code, Constant, Label, Program};
use crate::syntax::{Statement, TypeName};
use crate::ty::{PRIMITIVES, Ty};

/// Checks a body.
pub(crate) fn check(
    parameters: Vec<(String, DataType)>,
    returns: DataType,
    is_strict: bool,
    body: &[Statement],
) -> Result<Program, CompileError> {
    let mut checker = Checker {
        library: Library::get(),
        variables: Vec::new(),
        parameters: parameters.len(),
        locals: 0,
        slot: 1,
        assigned: Vec::new(),
        labels: Vec::new(),
        next_label: 0,
        handled: Vec::new(),
        returns: returns.parameter(is_strict),
        errors: Vec::new(),
        forbidden: None,
    };
    for (name, ty) in &parameters {
        checker.declare(name, ty.parameter(is_strict), false, true);
    }
    let (body, completes) = checker.block(body);
    if let Some(what) = checker.forbidden {
        return Err(CompileError::Forbidden(what));
    }
    if !checker.errors.is_empty() {
        return Err(CompileError::Compilation(checker.errors));
    }
    if completes {
        return Err(CompileError::NoResult(checker.returns.shown()));
    }
    Ok(Program { parameters, returns, locals: checker.locals, body })
}

/// A variable that can be seen.
#[derive(Debug, Clone)]
struct Variable {
    name: String,
    ty: Ty,
    local: usize,
    /// Its place in a frame of the machine of Java, which errors at run time name.
    slot: usize,
    is_final: bool,
}

/// A statement that can be left.
struct Target {
    name: Option<String>,
    label: Label,
    is_loop: bool,
    is_switch: bool,
    /// The variables that are assigned at each `break` that leaves it.
    broken: Option<Vec<bool>>,
}

struct Checker {
    library: &'static Library,
    variables: Vec<Variable>,
    parameters: usize,
    locals: usize,
    slot: usize,
    assigned: Vec<bool>,
    labels: Vec<Target>,
    next_label: Label,
    /// The exceptions that enclosing blocks catch.
    handled: Vec<ClassId>,
    returns: Ty,
    errors: Vec<(u32, String)>,
    forbidden: Option<String>,
}

/// An expression that was checked.
#[derive(Debug, Clone)]
struct Typed {
    code: Code,
    ty: Ty,
}

impl Typed {
    fn new(code: Code, ty: Ty) -> Self {
        Self { code, ty }
    }

    /// Returns it as a constant, if it is one.
    fn constant(&self) -> Option<&Constant> {
        match &self.code {
            Code::Constant(own) => Some(own),
            _ => None,
        }
    }

    fn is_true(&self) -> bool {
        self.constant() == Some(&Constant::Boolean(true))
    }
}

impl Checker {
    fn error(&mut self, line: u32, message: impl Into<String>) {
        self.errors.push((line, message.into()));
    }

    /// Reports an error and returns what stands for the expression.
    fn refused(&mut self, line: u32, message: impl Into<String>) -> Typed {
        self.error(line, message);
        Typed::new(Code::Constant(Constant::Null), Ty::Error)
    }

    /// Makes a variable.
    fn declare(&mut self, name: &str, ty: Ty, is_final: bool, is_assigned: bool) -> usize {
        let local = self.locals;
        self.locals += 1;
        let width = if matches!(ty, Ty::Long | Ty::Double) { 2 } else { 1 };
        let slot = self.slot;
        self.slot += width;
        self.assigned.push(is_assigned);
        self.variables.push(Variable { name: name.to_owned(), ty, local, slot, is_final });
        local
    }

    fn variable(&self, name: &str) -> Option<&Variable> {
        self.variables.iter().rev().find(|own| own.name == name)
    }

    /// Runs a step whose variables nobody sees behind it.
    fn scope<T>(&mut self, step: impl FnOnce(&mut Self) -> T) -> T {
        let (count, slot) = (self.variables.len(), self.slot);
        let out = step(self);
        self.variables.truncate(count);
        self.slot = slot;
        out
    }

    /// Resolves a type as it is written.
    fn ty(&mut self, name: &TypeName) -> Ty {
        let mut found = if name.name == "?" {
            Ty::Any
        } else if let Some((own, ..)) = PRIMITIVES.iter().find(|(_, own, _)| *own == name.name) {
            own.clone()
        } else if name.name == "void" {
            Ty::Void
        } else {
            let Some(id) = self.library.resolve(&name.name) else {
                self.error(name.line, format!("{} cannot be resolved to a type", name.name));
                return Ty::Error;
            };
            let count = id.get().parameters.len();
            let arguments = match &name.arguments {
                None => Vec::new(),
                Some(all) if all.is_empty() => vec![Ty::Any; count],
                Some(all) => all.iter().map(|own| self.ty(own)).collect(),
            };
            if !arguments.is_empty() && arguments.len() != count {
                let shown: Vec<String> = arguments.iter().map(Ty::shown).collect();
                let message = format!(
                    "Incorrect number of arguments for type {}; it cannot be parameterized with arguments <{}>",
                    Ty::Class(id, Vec::new()).shown(),
                    shown.join(", ")
                );
                self.error(name.line, message);
                return Ty::Error;
            }
            Ty::Class(id, arguments)
        };
        for _ in 0..name.dimensions {
            found = Ty::Array(Box::new(found));
        }
        found
    }
}
