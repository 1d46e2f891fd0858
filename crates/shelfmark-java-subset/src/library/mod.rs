//! The classes that bodies may use: their names, parents, constants, constructors and methods.
//!
//! What it is not: what the methods do, which is in `run`; and no class that reaches a file, the
//! network, a thread, another class by its name, or the machine that runs this.
//!
//! Invariant: `classes.txt` is read once; a line of it that cannot be read is a line that the tests
//! find.

mod read;

use std::collections::HashMap;
use std::sync::OnceLock;

use crate::ty::Ty;

/// The declarations of all classes.
const CLASSES: &str = include_str!("classes.txt");

/// Packages whose classes need no package before their names.
const IMPORTED: [&str; 3] = ["java.lang", "java.util", "java.nio"];

/// Classes of other packages that need no package either.
const IMPORTED_CLASSES: [&str; 2] = ["TupleValue", "UDTValue"];

/// A class, by its place among all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct ClassId(usize);

impl ClassId {
    /// Returns the class.
    pub(crate) fn get(self) -> &'static Class {
        // An id is only made of a place in the list.
        Library::get().classes.get(self.0).unwrap_or(&NONE)
    }

    /// Returns true if the class has this name, without its package.
    pub(crate) fn is(self, simple: &str) -> bool {
        self.get().simple() == simple
    }
}

static NONE: Class = Class {
    name: String::new(),
    parameters: Vec::new(),
    parents: Vec::new(),
    constants: Vec::new(),
    constructors: Vec::new(),
    methods: Vec::new(),
};

/// A class.
#[derive(Debug)]
pub(crate) struct Class {
    /// The name with its package.
    pub(crate) name: String,
    /// The names of its parameters.
    pub(crate) parameters: Vec<String>,
    /// Its parents, with their arguments.
    pub(crate) parents: Vec<Ty>,
    /// Its constants.
    pub(crate) constants: Vec<(String, Ty)>,
    /// The parameters of its constructors.
    pub(crate) constructors: Vec<Vec<Ty>>,
    /// Its methods.
    pub(crate) methods: Vec<Method>,
}

/// A method.
#[derive(Debug)]
pub(crate) struct Method {
    pub(crate) name: String,
    pub(crate) parameters: Vec<Ty>,
    pub(crate) returns: Ty,
    pub(crate) is_static: bool,
    /// True if the last parameter takes any number of arguments.
    pub(crate) is_variable: bool,
}

impl Class {
    /// Returns the name without its package.
    pub(crate) fn simple(&self) -> &str {
        // The one class inside another is known by both names.
        let at = self.name.find(".Map.Entry").or_else(|| self.name.rfind('.'));
        let simple = at.and_then(|at| self.name.get(at + 1..)).unwrap_or(&self.name);
        if simple == "Map.Entry" { "Entry" } else { simple }
    }

    fn package(&self) -> &str {
        let outer = self.name.strip_suffix(".Entry").unwrap_or(&self.name);
        outer.rsplit_once('.').map_or("", |(package, _)| package)
    }
}

/// All classes.
#[derive(Debug)]
pub(crate) struct Library {
    classes: Vec<Class>,
    names: HashMap<String, ClassId>,
}

impl Library {
    /// Returns the library.
    pub(crate) fn get() -> &'static Self {
        static LIBRARY: OnceLock<Library> = OnceLock::new();
        // The declarations name each other, so ids have to be there before them.
        LIBRARY.get_or_init(|| read::read(CLASSES))
    }

    /// Returns the class of a name, with its package or without, whether it is imported or not.
    pub(crate) fn find(&self, name: &str) -> Option<ClassId> {
        self.names.get(name).copied()
    }

    /// Returns the class of a name as a body writes it.
    pub(crate) fn resolve(&self, name: &str) -> Option<ClassId> {
        let id = self.find(name)?;
        let class = id.get();
        let is_full = class.name == name;
        let is_known = IMPORTED.contains(&class.package())
            || IMPORTED_CLASSES.contains(&class.simple())
            || class.name.ends_with("UDFContext");
        (is_full || is_known && name != "Entry").then_some(id)
    }

    /// Returns a class and all above it, as types with their arguments; `Object` last.
    pub(crate) fn ancestors(&self, of: ClassId, arguments: &[Ty]) -> Vec<(ClassId, Vec<Ty>)> {
        let mut all = vec![(of, arguments.to_vec())];
        let mut at = 0;
        while let Some((id, own)) = all.get(at).cloned() {
            for parent in &id.get().parents {
                if let Ty::Class(parent, above) = parent {
                    let above: Vec<Ty> = above.iter().map(|ty| ty.with(&own)).collect();
                    if !all.iter().any(|(known, _)| known == parent) {
                        all.push((*parent, above));
                    }
                }
            }
            at += 1;
        }
        if let Some(object) = self.find("Object").filter(|own| all.iter().all(|(id, _)| id != own))
        {
            all.push((object, Vec::new()));
        }
        all
    }

    /// Returns true if one class is another, or below it.
    pub(crate) fn is_below(&self, of: ClassId, above: ClassId) -> bool {
        of == above || self.ancestors(of, &[]).iter().any(|(id, _)| *id == above)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each line of the declarations is read, and each name in them found.
    #[test]
    fn every_declaration_is_read() {
        let library = Library::get();
        let lines = CLASSES.lines().filter(|line| line.starts_with("class ")).count();
        assert_eq!(library.classes.len(), lines);
        for class in &library.classes {
            for method in &class.methods {
                let types = method.parameters.iter().chain([&method.returns]);
                for ty in types {
                    assert_ne!(*ty, Ty::Error, "{}.{}", class.name, method.name);
                }
            }
            assert!(class.parents.iter().all(|own| *own != Ty::Error), "{}", class.name);
        }
        let lines = CLASSES.lines().filter(|line| line.contains('(') && !line.contains(" new ("));
        let methods: usize = library.classes.iter().map(|own| own.methods.len()).sum();
        assert!(methods >= lines.count());
    }
}
