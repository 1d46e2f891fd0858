//! Exceptions.
//!
//! What it is not: a trace of calls; functions call none.
//!
//! Invariant: the limits of a call are no exceptions that a body can catch.

use crate::data_type::DataType;
use crate::library::{ClassId, Library};
use crate::run::Failure;
use crate::value::{Class, Thrown};

impl Thrown {
    /// Makes an exception of the library, by its full name.
    pub(crate) fn known(name: &'static str, message: Option<String>) -> Box<Self> {
        let class = Library::get().find(name).map_or(Class::Named(name), Class::Known);
        Box::new(Self { class, message, cause: None })
    }

    pub(crate) fn null(message: &str) -> Box<Self> {
        let message = Some(message.to_owned()).filter(|own| !own.is_empty());
        Self::known("java.lang.NullPointerException", message)
    }

    pub(crate) fn illegal(message: impl Into<String>) -> Box<Self> {
        Self::known("java.lang.IllegalArgumentException", Some(message.into()))
    }

    pub(crate) fn arithmetic(message: &str) -> Box<Self> {
        Self::known("java.lang.ArithmeticException", Some(message.to_owned()))
    }

    pub(crate) fn index(at: i64, length: usize) -> Box<Self> {
        let message = format!("Index {at} out of bounds for length {length}");
        Self::known("java.lang.IndexOutOfBoundsException", Some(message))
    }

    pub(crate) fn array_index(at: i64, length: usize) -> Box<Self> {
        let message = format!("Index {at} out of bounds for length {length}");
        Self::known("java.lang.ArrayIndexOutOfBoundsException", Some(message))
    }

    pub(crate) fn text_index(message: String) -> Box<Self> {
        Self::known("java.lang.StringIndexOutOfBoundsException", Some(message))
    }

    pub(crate) fn number_format(text: &str) -> Box<Self> {
        let message = format!("For input string: \"{text}\"");
        Self::known("java.lang.NumberFormatException", Some(message))
    }

    pub(crate) fn no_element(message: Option<&str>) -> Box<Self> {
        Self::known("java.util.NoSuchElementException", message.map(str::to_owned))
    }

    pub(crate) fn unsupported() -> Box<Self> {
        Self::known("java.lang.UnsupportedOperationException", None)
    }

    pub(crate) fn class_cast(from: &str, to: &str) -> Box<Self> {
        let message = format!(
            "class {from} cannot be cast to class {to} ({from} and {to} are in module java.base of loader 'bootstrap')"
        );
        Self::known("java.lang.ClassCastException", Some(message))
    }

    /// Makes the exception for a field that is not of the type that is asked for.
    pub(crate) fn no_codec(ty: &DataType, class: &str) -> Box<Self> {
        let message =
            format!("Codec not found for requested operation: [{} <-> {class}]", ty.name());
        let name = "org.apache.cassandra.cql3.functions.types.exceptions.CodecNotFoundException";
        Self::known(name, Some(message))
    }

    pub(crate) fn too_long() -> Box<Self> {
        Box::new(Self { class: Class::Steps, message: None, cause: None })
    }

    pub(crate) fn no_memory() -> Box<Self> {
        let message = Some("Java heap space".to_owned());
        Box::new(Self { class: Class::Memory, message, cause: None })
    }

    /// Returns true if a `catch` of a class takes it.
    pub(crate) fn is_of(&self, class: ClassId) -> bool {
        match self.class {
            Class::Known(own) => Library::get().is_below(own, class),
            Class::Named(_) => {
                ["Throwable", "Exception", "RuntimeException"].iter().any(|own| class.is(own))
            }
            Class::Steps | Class::Memory => false,
        }
    }

    /// Returns the name of its class.
    pub(crate) fn class_name(&self) -> String {
        match self.class {
            Class::Known(own) => own.get().name.clone(),
            Class::Named(own) => own.to_owned(),
            Class::Steps => "java.util.concurrent.TimeoutException".to_owned(),
            Class::Memory => "java.lang.OutOfMemoryError".to_owned(),
        }
    }

    /// Returns it as Java shows it.
    pub(crate) fn shown(&self) -> String {
        match self.message() {
            Some(message) => format!("{}: {message}", self.class_name()),
            None => self.class_name(),
        }
    }

    /// Returns how many bytes its messages have.
    pub(crate) fn size_bytes(&self) -> usize {
        let of = |own: &Self| own.message.as_ref().map_or(0, String::len);
        of(self) + self.cause.as_deref().map_or(0, of)
    }

    /// Returns its message; that of one made of another is the other.
    pub(crate) fn message(&self) -> Option<String> {
        self.message.clone()
    }

    /// Returns what the caller is told.
    pub(crate) fn failure(&self) -> Failure {
        let text = self.shown();
        let is_error = match self.class {
            Class::Known(own) => Library::get()
                .find("Error")
                .is_some_and(|error| Library::get().is_below(own, error)),
            Class::Named(own) => own.ends_with("Error"),
            Class::Memory => true,
            Class::Steps => false,
        };
        // Errors come out of the thread of a call inside an exception.
        let text = if is_error { format!("java.lang.RuntimeException: {text}") } else { text };
        Failure { text, is_too_long: self.class == Class::Steps, is_refused: false }
    }
}
