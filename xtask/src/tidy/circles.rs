//! Import circles: files of a crate that import each other, directly or through others.
//!
//! An import is a `use` or a path in the code that names an item of another module of the same
//! crate; one that names a re-export counts for the file that defines the item. What it is not: a
//! resolver. Globs count for the module they name, macros and methods for nothing.
//!
//! Invariant: no circle is larger than [`FILES_MAX`], except where [`LARGER`] says why.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::{has_extension, read};

/// Most files of one circle.
const FILES_MAX: usize = 10;

/// Crates, by the beginnings of their names, with a larger circle, how large it may be, and why.
const LARGER: [(&str, usize, &str); 0] = [];

/// The path of a module below its crate; the root is empty.
type Name = Vec<String>;

/// One module: what it imports, and the words of its code.
#[derive(Debug, Default)]
struct Module {
    /// Imported paths with the names they have here.
    uses: Vec<(Name, String)>,
    /// Paths that begin with `crate`, `self` or `super` and stand in the code.
    paths: Vec<Name>,
    words: BTreeSet<String>,
}

type Modules = BTreeMap<Name, Module>;

pub(super) fn check(files: &[PathBuf]) -> anyhow::Result<Vec<String>> {
    let mut crates: BTreeMap<String, Modules> = BTreeMap::new();
    for path in files {
        if let Some((krate, name)) = module_of(path) {
            let module = parse(&read(path)?);
            crates.entry(krate).or_default().insert(name, module);
        }
    }
    let mut problems = Vec::new();
    for (krate, modules) in &crates {
        let found = LARGER.iter().find(|(name, ..)| krate.starts_with(name));
        let most = found.map_or(FILES_MAX, |(_, most, _)| *most);
        for circle in circles(modules).iter().filter(|circle| circle.len() > most) {
            let names: Vec<String> = circle.iter().map(|name| shown(name)).collect();
            problems.push(format!(
                "{krate}: {} files import each other in a circle, more than {most}: {}",
                circle.len(),
                names.join(", ")
            ));
        }
    }
    Ok(problems)
}

fn shown(name: &[String]) -> String {
    if name.is_empty() { "(root)".to_owned() } else { name.join("::") }
}

/// Returns crate and module of a source file; tests are none.
fn module_of(path: &Path) -> Option<(String, Name)> {
    let parts: Vec<&str> = path.iter().map(|part| part.to_str()).collect::<Option<_>>()?;
    let source = parts.iter().position(|part| *part == "src")?;
    let (krate, below) = (*parts.get(source.checked_sub(1)?)?, parts.get(source + 1..)?);
    if !has_extension(path, "rs") {
        return None;
    }
    let mut name: Name = below.iter().map(|part| part.trim_end_matches(".rs").to_owned()).collect();
    if name.last().is_some_and(|last| ["mod", "lib", "main"].contains(&last.as_str())) {
        name.pop();
    }
    let is_test = name.iter().any(|part| part.ends_with("tests") || part.ends_with("_test"));
    (!is_test).then(|| (krate.to_owned(), name))
}

/// Reads what a file imports. Comments and the tests at its end do not count.
fn parse(text: &str) -> Module {
    let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    let code: Vec<&str> =
        code.lines().map(|line| line.split("//").next().unwrap_or_default()).collect();
    let (mut module, mut rest) = (Module::default(), String::new());
    let mut open: Option<String> = None;
    for line in code {
        let begun = open.take().or_else(|| use_begins(line).then(String::new));
        let Some(mut statement) = begun else {
            rest.push_str(line);
            rest.push('\n');
            continue;
        };
        statement.push_str(line);
        statement.push(' ');
        match statement.split_once(';') {
            Some((whole, _)) => {
                let tree = whole.split_once("use ").map_or("", |(_, tree)| tree);
                expand(&[], tree, &mut module.uses);
            }
            None => open = Some(statement),
        }
    }
    module.paths = paths(&rest);
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    module.words = rest.split(|c: char| !is_word(c)).map(str::to_owned).collect();
    module
}

fn use_begins(line: &str) -> bool {
    let line = line.trim_start();
    let line = match line.strip_prefix("pub") {
        Some(rest) if rest.starts_with('(') => rest.split_once(')').map_or("", |(_, rest)| rest),
        Some(rest) => rest,
        None => line,
    };
    line.trim_start().starts_with("use ")
}

/// Adds the paths of an import's tree, each with its name. A tree is nested as deep as its braces,
/// which rustc has accepted.
fn expand(before: &[String], tree: &str, out: &mut Vec<(Name, String)>) {
    let words = |text: &str| -> Vec<String> {
        text.split("::").map(str::trim).filter(|part| !part.is_empty()).map(str::to_owned).collect()
    };
    let Some((head, body)) = tree.split_once('{') else {
        let (path, alias) = tree.split_once(" as ").unwrap_or((tree, ""));
        let mut path = [before, &words(path)].concat();
        if path.last().is_some_and(|last| last == "self") {
            path.pop();
        }
        if let Some(last) = path.last().cloned() {
            let alias = if alias.is_empty() { last } else { alias.trim().to_owned() };
            out.push((path, alias));
        }
        return;
    };
    let before = [before, &words(head)].concat();
    let body = body.rsplit_once('}').map_or(body, |(body, _)| body);
    let (mut depth, mut start) = (0_usize, 0);
    for (at, c) in body.char_indices().chain([(body.len(), ',')]) {
        match c {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                let part = body.get(start..at).unwrap_or_default().trim();
                if !part.is_empty() {
                    expand(&before, part, out);
                }
                start = at + 1;
            }
            _ => {}
        }
    }
}

/// Returns the paths in code that begin in this crate. How far an item can be seen is no import.
fn paths(code: &str) -> Vec<Name> {
    let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
    let mut pieces = code.split("pub(in ");
    let first = pieces.next().unwrap_or_default();
    let behind = pieces.filter_map(|piece| piece.split_once(')').map(|(_, rest)| rest));
    std::iter::once(first)
        .chain(behind)
        .flat_map(|piece| piece.split(move |c: char| !is_part(c)))
        .filter(|word| ["crate::", "super::", "self::"].iter().any(|own| word.starts_with(own)))
        .map(|word| word.split("::").filter(|part| !part.is_empty()).map(str::to_owned).collect())
        .collect()
}

/// Returns a path from the root of the crate; `None` if it leaves the crate.
fn absolute(modules: &Modules, own: &[String], path: &[String]) -> Option<Name> {
    let (first, rest) = path.split_first()?;
    match first.as_str() {
        "crate" => Some(rest.to_vec()),
        "self" => Some([own, rest].concat()),
        "super" => {
            let ups = path.iter().take_while(|part| *part == "super").count();
            let base = own.get(..own.len().checked_sub(ups)?)?;
            Some([base, path.get(ups..)?].concat())
        }
        _ => {
            let child = [own, std::slice::from_ref(first)].concat();
            modules.contains_key(&child).then(|| [own, path].concat())
        }
    }
}

/// Returns the module that defines what a path from the root names, behind re-exports.
fn definer(modules: &Modules, path: &[String], seen: &mut BTreeSet<Name>) -> Option<Name> {
    let known = (0..=path.len())
        .rev()
        .find(|length| path.get(..*length).is_some_and(|prefix| modules.contains_key(prefix)))?;
    let (module, rest) = path.split_at_checked(known)?;
    let Some((item, behind)) = rest.split_first() else { return Some(module.to_vec()) };
    let uses = &modules.get(module)?.uses;
    match uses.iter().find(|(_, alias)| alias == item) {
        // A name that was followed before is its own end.
        Some((target, _)) if seen.insert(path.to_vec()) => {
            let target = absolute(modules, module, target)?;
            definer(modules, &[target, behind.to_vec()].concat(), seen)
        }
        _ => Some(module.to_vec()),
    }
}

/// Returns the modules that each module imports from.
fn imports(modules: &Modules) -> BTreeMap<&Name, BTreeSet<Name>> {
    let of = |(name, module): (_, &Module)| {
        let name: &Name = name;
        // A re-export that the module itself does not name is no import of its own.
        let used = module.uses.iter().filter(|(_, alias)| {
            alias == "_" || alias == "*" || module.words.contains(alias.as_str())
        });
        let paths = used.map(|(path, _)| path).chain(&module.paths);
        let found = paths
            .filter_map(|path| absolute(modules, name, path))
            .filter_map(|path| definer(modules, &path, &mut BTreeSet::new()))
            .filter(|other| other != name)
            .collect();
        (name, found)
    };
    modules.iter().map(of).collect()
}

/// Returns the sets of modules that reach each other.
fn circles(modules: &Modules) -> Vec<BTreeSet<Name>> {
    let imports = imports(modules);
    let reach = |from: &Name| {
        let (mut found, mut next) = (BTreeSet::new(), vec![from.clone()]);
        while let Some(name) = next.pop() {
            for other in imports.get(&name).into_iter().flatten() {
                if found.insert(other.clone()) {
                    next.push(other.clone());
                }
            }
        }
        found
    };
    let reached: BTreeMap<&Name, BTreeSet<Name>> =
        modules.keys().map(|name| (name, reach(name))).collect();
    let mut circles: Vec<BTreeSet<Name>> = Vec::new();
    for (name, found) in &reached {
        let back = |other: &&Name| reached.get(other).is_some_and(|there| there.contains(*name));
        let circle: BTreeSet<Name> = found.iter().filter(back).cloned().collect();
        if circle.contains(*name) && !circles.contains(&circle) {
            circles.push(circle);
        }
    }
    circles
}

#[cfg(test)]
mod tests {
    use super::*;

    fn modules(sources: &[(&str, &str)]) -> Modules {
        let name = |path: &str| -> Name {
            path.split('/').filter(|part| !part.is_empty()).map(str::to_owned).collect()
        };
        sources.iter().map(|(path, text)| (name(path), parse(text))).collect()
    }

    fn largest(sources: &[(&str, &str)]) -> usize {
        circles(&modules(sources)).iter().map(BTreeSet::len).max().unwrap_or(0)
    }

    #[test]
    fn a_circle_is_found_through_re_exports_and_paths() {
        let circle = [
            ("", "mod a;\nmod b;\npub use b::{inner::Two, Other};\n"),
            ("a", "use crate::{\n    Two,\n};\npub struct One(Two);\n"),
            ("b", "mod inner;\npub struct Other;\n"),
            ("b/inner", "pub struct Two;\nfn f() -> Option<super::super::a::One> { None }\n"),
        ];
        assert_eq!(largest(&circle), 2);
    }

    #[test]
    fn a_list_of_names_for_others_is_no_import() {
        let tree = [
            ("", "mod a;\npub use a::{A, B as C};\n"),
            ("a", "mod b;\npub use b::B;\npub struct A;\n"),
            ("a/b", "use super::A;\n// use crate::C;\npub struct B(A);\n"),
        ];
        assert_eq!(largest(&tree), 0);
    }

    #[test]
    fn how_far_an_item_is_seen_is_no_import() {
        let code = "pub(in super::super) fn a() -> super::b::C { crate::d() }";
        let found: Vec<String> = paths(code).iter().map(|path| path.join("::")).collect();
        assert_eq!(found, ["super::b::C", "crate::d"]);
    }
}
