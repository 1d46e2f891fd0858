//! Reads the declarations of classes.
//!
//! What it is not: a parser of Java; each line is one member.
//!
//! Invariant: names are known before the members that use them are read.

use std::collections::HashMap;

use super::{Class, ClassId, Library, Method};
use crate::ty::{PRIMITIVES, Ty};

/// Methods of values with fields: a name, and the type that is read and written.
const FIELDS: [(&str, &str); 19] = [
    ("Bool", "boolean"),
    ("Byte", "byte"),
    ("Short", "short"),
    ("Int", "int"),
    ("Long", "long"),
    ("Float", "float"),
    ("Double", "double"),
    ("String", "String"),
    ("Bytes", "ByteBuffer"),
    ("BytesUnsafe", "ByteBuffer"),
    ("Varint", "BigInteger"),
    ("Decimal", "BigDecimal"),
    ("UUID", "UUID"),
    ("Inet", "InetAddress"),
    ("Timestamp", "Date"),
    ("Date", "LocalDate"),
    ("Time", "long"),
    ("UDTValue", "UDTValue"),
    ("TupleValue", "TupleValue"),
];

/// Reads all declarations.
pub(super) fn read(text: &'static str) -> Library {
    let mut library = Library { classes: Vec::new(), names: HashMap::new() };
    for line in text.lines() {
        let Some(head) = line.strip_prefix("class ") else { continue };
        let head = head.split(" : ").next().unwrap_or(head);
        let (name, parameters) = head.split_once('<').unwrap_or((head, ""));
        let parameters = parameters.trim_end_matches('>').split(", ");
        let class = Class {
            name: name.to_owned(),
            parameters: parameters.filter(|own| !own.is_empty()).map(str::to_owned).collect(),
            parents: Vec::new(),
            constants: Vec::new(),
            constructors: Vec::new(),
            methods: Vec::new(),
        };
        let id = ClassId(library.classes.len());
        let short = class.simple().to_owned();
        library.names.insert(class.name.clone(), id);
        if short == "Entry" {
            library.names.insert("Map.Entry".to_owned(), id);
        }
        library.names.insert(short, id);
        library.classes.push(class);
    }
    let mut of = None;
    let mut next = 0;
    for line in text.lines() {
        if let Some(head) = line.strip_prefix("class ") {
            of = Some(next);
            next += 1;
            let parents = head.split_once(" : ").map_or("", |(_, parents)| parents);
            let reader = Reader { library: &library, parameters: parameters(&library, of) };
            let parents = reader.types(parents);
            if let Some(class) = of.and_then(|at| library.classes.get_mut(at)) {
                class.parents = parents;
            }
        } else if !line.trim().is_empty() {
            member(line.trim(), of, &mut library);
        }
    }
    library
}

fn parameters(library: &Library, of: Option<usize>) -> Vec<String> {
    let class = of.and_then(|at| library.classes.get(at));
    class.map(|own| own.parameters.clone()).unwrap_or_default()
}

fn member(line: &str, of: Option<usize>, library: &mut Library) {
    let reader = Reader { library, parameters: parameters(library, of) };
    let mut methods = Vec::new();
    let mut constants = Vec::new();
    let mut constructors = Vec::new();
    if line == "exception" {
        let (string, cause) = (reader.ty("String"), reader.ty("Throwable"));
        constructors.push(Vec::new());
        constructors.push(vec![string.clone()]);
        constructors.push(vec![string.clone(), cause.clone()]);
        constructors.push(vec![cause.clone()]);
        for (name, returns) in [("getMessage", string), ("getCause", cause)] {
            methods.push(method(name, Vec::new(), returns, false));
        }
    } else if let Some(rest) = line.strip_prefix("fields ") {
        if let Some((own, key)) = rest.split_once(' ') {
            methods = reader.field_methods(&reader.ty(own), &reader.ty(key));
        }
    } else if let Some(rest) = line.strip_prefix("const ") {
        if let Some((ty, name)) = rest.split_once(' ') {
            constants.push((name.to_owned(), reader.ty(ty)));
        }
    } else if let Some(rest) = line.strip_prefix("new (") {
        constructors.push(reader.types(rest.trim_end_matches(')')));
    } else {
        methods.push(reader.method(line));
    }
    if let Some(class) = of.and_then(|at| library.classes.get_mut(at)) {
        class.methods.extend(methods);
        class.constants.extend(constants);
        class.constructors.extend(constructors);
    }
}

fn method(name: &str, parameters: Vec<Ty>, returns: Ty, is_static: bool) -> Method {
    Method { name: name.to_owned(), parameters, returns, is_static, is_variable: false }
}

struct Reader<'l> {
    library: &'l Library,
    parameters: Vec<String>,
}

impl Reader<'_> {
    fn method(&self, line: &str) -> Method {
        let (is_static, line) = match line.strip_prefix("static ") {
            Some(rest) => (true, rest),
            None => (false, line),
        };
        let (head, parameters) = line.split_once('(').unwrap_or((line, ""));
        let (returns, name) = head.rsplit_once(' ').unwrap_or(("void", head));
        let parameters = parameters.trim_end_matches(')');
        let is_variable = parameters.ends_with("...");
        let parameters = self.types(parameters.trim_end_matches("..."));
        Method { is_variable, ..method(name, parameters, self.ty(returns), is_static) }
    }

    /// Reads types with commas between.
    fn types(&self, text: &str) -> Vec<Ty> {
        split(text).into_iter().map(|own| self.ty(own)).collect()
    }

    fn ty(&self, text: &str) -> Ty {
        let text = text.trim();
        if let Some(element) = text.strip_suffix("[]") {
            return Ty::Array(Box::new(self.ty(element)));
        }
        if text == "void" {
            return Ty::Void;
        }
        if text == "?" {
            return Ty::Any;
        }
        if let Some((own, ..)) = PRIMITIVES.iter().find(|(_, name, _)| *name == text) {
            return own.clone();
        }
        if let Some(at) = self.parameters.iter().position(|own| own == text) {
            return Ty::Parameter(at);
        }
        if let ([letter], true) = (text.as_bytes(), text.len() == 1) {
            return Ty::Free(*letter);
        }
        let (name, arguments) = match text.split_once('<') {
            Some((name, rest)) => (name, self.types(rest.strip_suffix('>').unwrap_or(rest))),
            None => (text, Vec::new()),
        };
        self.library.find(name).map_or(Ty::Error, |id| Ty::Class(id, arguments))
    }

    /// Returns the methods by which fields are read and written, by places or by names.
    fn field_methods(&self, own: &Ty, key: &Ty) -> Vec<Method> {
        let free = |letter: u8| Ty::Free(letter);
        let generic = |name: &str, arguments: Vec<Ty>| {
            self.library.find(name).map_or(Ty::Error, |id| Ty::Class(id, arguments))
        };
        let class_of = |letter: u8| generic("Class", vec![free(letter)]);
        let mut all = Vec::new();
        for (name, ty) in FIELDS {
            let ty = self.ty(ty);
            all.push(method(&format!("get{name}"), vec![key.clone()], ty.clone(), false));
            let parameters = vec![key.clone(), ty];
            all.push(method(&format!("set{name}"), parameters, own.clone(), false));
        }
        let object = || self.ty("Object");
        all.push(method("isNull", vec![key.clone()], Ty::Boolean, false));
        all.push(method("getObject", vec![key.clone()], object(), false));
        all.push(method("setToNull", vec![key.clone()], own.clone(), false));
        all.push(method("get", vec![key.clone(), class_of(b'T')], free(b'T'), false));
        let any = self.ty("Class");
        all.push(method("set", vec![key.clone(), object(), any], own.clone(), false));
        for name in ["List", "Set"] {
            let found = generic(name, vec![free(b'T')]);
            let parameters = vec![key.clone(), class_of(b'T')];
            all.push(method(&format!("get{name}"), parameters, found, false));
            let parameters = vec![key.clone(), generic(name, vec![Ty::Any])];
            all.push(method(&format!("set{name}"), parameters, own.clone(), false));
        }
        let found = generic("Map", vec![free(b'T'), free(b'U')]);
        let parameters = vec![key.clone(), class_of(b'T'), class_of(b'U')];
        all.push(method("getMap", parameters, found, false));
        let parameters = vec![key.clone(), generic("Map", vec![Ty::Any, Ty::Any])];
        all.push(method("setMap", parameters, own.clone(), false));
        all
    }
}

/// Splits at commas that are in no angle brackets.
fn split(text: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let (mut depth, mut start) = (0_u32, 0);
    for (at, c) in text.char_indices() {
        match c {
            '<' => depth += 1,
            '>' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                parts.extend(text.get(start..at));
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.extend(text.get(start..));
    parts.retain(|own| !own.trim().is_empty());
    parts
}
