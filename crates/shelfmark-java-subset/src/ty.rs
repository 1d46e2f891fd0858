//! Types of expressions.
//!
//! What it is not: types of values at run time; those say themselves what they are.
//!
//! Invariant: a type that could not be found is [`Ty::Error`], of which nothing more is said.

use crate::library::{ClassId, Library};

/// The type of an expression.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Ty {
    /// Of something that was refused already.
    Error,
    Void,
    /// The type of `null`.
    Null,
    /// An argument of a class that is not known: whatever fits.
    Any,
    Boolean,
    Byte,
    Short,
    Char,
    Int,
    Long,
    Float,
    Double,
    /// A class and its arguments.
    Class(ClassId, Vec<Ty>),
    Array(Box<Ty>),
    /// A parameter of the class that a declaration belongs to, by its place.
    Parameter(usize),
    /// A parameter of a method, by its name's place in the alphabet.
    Free(u8),
}

/// The primitive types with their names and the classes that hold them.
pub(crate) const PRIMITIVES: [(Ty, &str, &str); 8] = [
    (Ty::Boolean, "boolean", "Boolean"),
    (Ty::Byte, "byte", "Byte"),
    (Ty::Short, "short", "Short"),
    (Ty::Char, "char", "Character"),
    (Ty::Int, "int", "Integer"),
    (Ty::Long, "long", "Long"),
    (Ty::Float, "float", "Float"),
    (Ty::Double, "double", "Double"),
];

impl Ty {
    /// Returns a class of the library without arguments, by its name.
    pub(crate) fn class(name: &str) -> Self {
        Library::get().find(name).map_or(Self::Error, |id| Self::Class(id, Vec::new()))
    }

    pub(crate) fn string() -> Self {
        Self::class("String")
    }

    pub(crate) fn object() -> Self {
        Self::class("Object")
    }

    pub(crate) fn is_primitive(&self) -> bool {
        PRIMITIVES.iter().any(|(own, ..)| own == self)
    }

    /// Returns the rank of a number: wider ones are greater; `None` if it is none.
    pub(crate) fn rank(&self) -> Option<u8> {
        Some(match self {
            Self::Byte => 1,
            Self::Short => 2,
            Self::Char => 3,
            Self::Int => 4,
            Self::Long => 5,
            Self::Float => 6,
            Self::Double => 7,
            _ => return None,
        })
    }

    /// Returns true if it is a class of this name.
    pub(crate) fn is_class(&self, name: &str) -> bool {
        matches!(self, Self::Class(id, _) if id.is(name))
    }

    /// Returns the primitive type of a class that holds one, and of a primitive type itself.
    pub(crate) fn unboxed(&self) -> Option<Self> {
        if self.is_primitive() {
            return Some(self.clone());
        }
        let Self::Class(id, _) = self else { return None };
        PRIMITIVES.iter().find(|(_, _, class)| id.is(class)).map(|(own, ..)| own.clone())
    }

    /// Returns the class that holds values of a primitive type; other types as they are.
    pub(crate) fn boxed(&self) -> Self {
        let own = PRIMITIVES.iter().find(|(own, ..)| own == self);
        own.map_or_else(|| self.clone(), |(_, _, class)| Self::class(class))
    }

    /// Returns the number type that it stands for, if it is one.
    pub(crate) fn number(&self) -> Option<Self> {
        self.unboxed().filter(|own| own.rank().is_some())
    }

    /// Returns true if `null` has it.
    pub(crate) fn is_reference(&self) -> bool {
        matches!(self, Self::Class(..) | Self::Array(_) | Self::Null | Self::Any | Self::Error)
    }

    /// Returns it with the parameters of a class replaced.
    pub(crate) fn with(&self, arguments: &[Ty]) -> Self {
        match self {
            Self::Parameter(at) => arguments.get(*at).cloned().unwrap_or_else(Self::object),
            Self::Class(id, own) => {
                Self::Class(*id, own.iter().map(|own| own.with(arguments)).collect())
            }
            Self::Array(own) => Self::Array(Box::new(own.with(arguments))),
            own => own.clone(),
        }
    }

    /// Returns it as messages show it.
    pub(crate) fn shown(&self) -> String {
        if let Some((_, name, _)) = PRIMITIVES.iter().find(|(own, ..)| own == self) {
            return (*name).to_owned();
        }
        match self {
            Self::Void => "void".to_owned(),
            Self::Null => "null".to_owned(),
            Self::Class(id, arguments) if arguments.is_empty() => id.get().simple().to_owned(),
            Self::Class(id, arguments) => {
                let all: Vec<String> = arguments.iter().map(Self::shown).collect();
                format!("{}<{}>", id.get().simple(), all.join(","))
            }
            Self::Array(own) => format!("{}[]", own.shown()),
            Self::Parameter(_) | Self::Free(_) | Self::Any | Self::Error => "Object".to_owned(),
            _ => String::new(),
        }
    }

    /// Returns the full name of the class that a value of it is of, as errors at run time show it.
    pub(crate) fn erased(&self) -> String {
        match self {
            // The machine leaves the package of these two out.
            Self::Class(id, _) if id.is("String") || id.is("Object") => {
                id.get().simple().to_owned()
            }
            Self::Class(id, _) => id.get().name.clone(),
            Self::Array(own) => format!("{}[]", own.erased()),
            own => own.shown(),
        }
    }
}
