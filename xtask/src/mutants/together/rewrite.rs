//! Rewrites functions so that each has a body for each of its mutants.
//!
//! Text for text: where a function begins and ends and what a mutant replaces, `cargo mutants` says. The
//! body begins at the first brace outside of parentheses, texts and comments.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::Context as _;

/// A place in a file: line and column, both from 1.
type Place = (usize, usize);

/// A mutant as `cargo mutants --list --json` describes it.
#[derive(Debug, Clone)]
pub(crate) struct Mutant {
    pub(crate) name: String,
    file: String,
    function: (Place, Place),
    span: (Place, Place),
    replacement: String,
}

impl Mutant {
    /// Reads a mutant; `None` for one that is in no function.
    pub(crate) fn read(json: &serde_json::Value) -> Option<Self> {
        let text = |name: &str| Some(json.get(name)?.as_str()?.to_owned());
        let place = |json: &serde_json::Value| {
            let number = |name: &str| usize::try_from(json.get(name)?.as_u64()?).ok();
            Some((number("line")?, number("column")?))
        };
        let span =
            |json: &serde_json::Value| Some((place(json.get("start")?)?, place(json.get("end")?)?));
        Some(Self {
            name: text("name")?,
            file: text("file")?,
            function: span(json.get("function")?.get("span")?)?,
            span: span(json.get("span")?)?,
            replacement: text("replacement")?,
        })
    }
}

/// The files of an area with the mutants in them that are still tried.
pub(crate) struct Rewritten {
    files: BTreeMap<String, File>,
}

struct File {
    text: String,
    /// Each with its number, from 1.
    mutants: Vec<(usize, Mutant)>,
    /// Each body in what was written last.
    written: Vec<Written>,
}

/// The body of one mutant in the text that was written.
#[derive(Debug, PartialEq, Eq)]
struct Written {
    number: usize,
    /// The number that the function calls the switch with: that of its first mutant.
    function: usize,
    lines: std::ops::Range<usize>,
}

/// A mutant that is built, and the function that it is in.
pub(crate) struct Built<'a> {
    pub(crate) number: usize,
    pub(crate) function: usize,
    pub(crate) name: &'a str,
}

/// The bodies of a function's mutants, and where its own begins and ends.
struct Bodies {
    open: usize,
    end: usize,
    mutated: Vec<(usize, String)>,
}

impl Rewritten {
    /// Reads the files of mutants, and leaves out those whose functions have no such form.
    pub(crate) fn of(root: &Path, mutants: Vec<Mutant>) -> anyhow::Result<Self> {
        let mut files: BTreeMap<String, File> = BTreeMap::new();
        for (number, mutant) in (1..).zip(mutants) {
            if !files.contains_key(&mutant.file) {
                let text = std::fs::read_to_string(root.join(&mutant.file))
                    .with_context(|| mutant.file.clone())?;
                let file = File { text, mutants: Vec::new(), written: Vec::new() };
                files.insert(mutant.file.clone(), file);
            }
            let Some(file) = files.get_mut(&mutant.file) else { continue };
            if file.parts(&mutant).is_some() {
                file.mutants.push((number, mutant));
            }
        }
        Ok(Self { files })
    }

    pub(crate) fn count(&self) -> usize {
        self.files.values().map(|file| file.mutants.len()).sum()
    }

    /// Returns the mutants that were written last.
    pub(crate) fn built(&self) -> impl Iterator<Item = Built<'_>> {
        let all =
            self.files.values().flat_map(|file| file.mutants.iter().map(move |own| (file, own)));
        all.filter_map(|(file, (number, mutant))| {
            let written = file.written.iter().find(|written| written.number == *number)?;
            Some(Built { number: *number, function: written.function, name: &mutant.name })
        })
    }

    /// Writes the files into a copy of the tree.
    pub(crate) fn write(&mut self, tree: &Path) -> anyhow::Result<()> {
        for (name, file) in &mut self.files {
            let text = file.rewritten();
            std::fs::write(tree.join(name), text).with_context(|| name.clone())?;
        }
        Ok(())
    }

    /// Leaves out the mutants whose bodies have these lines, and returns how many they are.
    pub(crate) fn drop_at(&mut self, wrong: &[(String, usize)]) -> usize {
        let mut dropped = 0;
        for (name, line) in wrong {
            let Some(file) = self.files.get_mut(name) else { continue };
            let hit: Vec<usize> = file
                .written
                .iter()
                .filter(|written| written.lines.contains(line))
                .map(|written| written.number)
                .collect();
            let before = file.mutants.len();
            file.mutants.retain(|(number, _)| !hit.contains(number));
            dropped += before - file.mutants.len();
        }
        dropped
    }
}

impl File {
    /// Returns the head and the body of a mutant's function, as ranges of bytes; `None` if the function
    /// is `const` or returns an `impl` type.
    fn parts(&self, mutant: &Mutant) -> Option<(usize, usize, usize)> {
        let (start, end) = mutant.function;
        let (start, end) = (self.offset(start)?, self.offset(end)?);
        let open = start + body_of(self.text.get(start..end)?)?;
        let head = self.text.get(start..open)?;
        let signature = head.lines().filter(|line| !line.trim_start().starts_with("//"));
        let signature: Vec<&str> = signature.collect();
        let signature = signature.join(" ");
        let (before, behind) = signature.split_once("fn ")?;
        let has_form = !before.split_whitespace().any(|word| word == "const")
            && !returns_impl(behind)
            && self.offset(mutant.span.0)? > open;
        has_form.then_some((start, open, end))
    }

    fn offset(&self, (line, column): Place) -> Option<usize> {
        let begin: usize = self.text.split_inclusive('\n').take(line - 1).map(str::len).sum();
        let own = self.text.get(begin..)?.lines().next().unwrap_or_default();
        let inside = own.char_indices().map(|(at, _)| at).nth(column - 1).unwrap_or(own.len());
        Some(begin + inside)
    }

    /// Returns the text with the bodies of all mutants, and notes the lines of each.
    fn rewritten(&mut self) -> String {
        let mut functions: BTreeMap<usize, Bodies> = BTreeMap::new();
        for (number, mutant) in &self.mutants {
            let (Some((_, open, end)), Some(from), Some(to)) =
                (self.parts(mutant), self.offset(mutant.span.0), self.offset(mutant.span.1))
            else {
                continue;
            };
            let piece = |from, to| self.text.get(from..to).unwrap_or_default();
            let body = format!("{}{}{}", piece(open, from), mutant.replacement, piece(to, end));
            let own = functions.entry(open).or_insert(Bodies { open, end, mutated: Vec::new() });
            own.mutated.push((*number, body));
        }
        let (mut out, mut done) = (String::with_capacity(self.text.len()), 0);
        let mut written = Vec::new();
        for Bodies { open, end, mutated } in functions.into_values() {
            // A function inside of one that is rewritten is part of its bodies.
            if open < done {
                continue;
            }
            out.push_str(self.text.get(done..open).unwrap_or_default());
            let function = mutated.first().map_or(0, |(number, _)| *number);
            out.push_str(&format!("{{ match crate::mutant_switch({function}) {{\n"));
            for (number, body) in mutated {
                let first = out.matches('\n').count() + 1;
                out.push_str(&format!("{number} => {body}\n"));
                let lines = first..out.matches('\n').count() + 1;
                written.push(Written { number, function, lines });
            }
            out.push_str(&format!("_ => {}\n}} }}", self.text.get(open..end).unwrap_or_default()));
            done = end;
        }
        out.push_str(self.text.get(done..).unwrap_or_default());
        let kept: Vec<usize> = written.iter().map(|written| written.number).collect();
        self.mutants.retain(|(number, _)| kept.contains(number));
        self.written = written;
        out
    }
}

/// Returns true if a signature has an `impl` type outside of its parameters, or behind its last arrow: of
/// `-> impl Fn(u8) -> bool` that arrow is another one.
fn returns_impl(signature: &str) -> bool {
    let (mut outside, mut depth) = (String::new(), 0_usize);
    for sign in signature.chars() {
        match sign {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ if depth == 0 => outside.push(sign),
            _ => {}
        }
    }
    let last = signature.rsplit_once("->").map_or("", |(_, returns)| returns);
    outside.contains("impl ") || last.contains("impl ")
}

/// Returns the offset of a function's body: of the first brace outside of parentheses, brackets, texts
/// and comments.
fn body_of(function: &str) -> Option<usize> {
    let bytes = function.as_bytes();
    let (mut at, mut depth) = (0, 0_usize);
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'/' if bytes.get(at + 1) == Some(&b'/') => {
                at += function.get(at..)?.find('\n')?;
            }
            b'"' => {
                at += 1;
                while *bytes.get(at)? != b'"' {
                    at += if *bytes.get(at)? == b'\\' { 2 } else { 1 };
                }
            }
            b'(' | b'[' => depth += 1,
            b')' | b']' => depth = depth.saturating_sub(1),
            b'{' if depth == 0 => return Some(at),
            _ => {}
        }
        at += 1;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mutant(span: (Place, Place), replacement: &str) -> Mutant {
        Mutant {
            name: format!("a.rs: {replacement}"),
            file: "a.rs".to_owned(),
            function: ((1, 1), (5, 2)),
            span,
            replacement: replacement.to_owned(),
        }
    }

    const TEXT: &str =
        "/// A `{`.\n#[must_use = \"{\"]\nfn f(a: [u8; { 3 }]) -> bool {\n    a == b\n}\n";

    #[test]
    fn a_function_has_a_body_for_each_mutant() {
        let (not_equal, always) =
            (mutant(((4, 7), (4, 9)), "!="), mutant(((4, 5), (4, 11)), "true"));
        let mutants = vec![(1, not_equal), (2, always)];
        let mut file = File { text: TEXT.to_owned(), mutants, written: Vec::new() };
        let head = "/// A `{`.\n#[must_use = \"{\"]\nfn f(a: [u8; { 3 }]) -> bool ";
        assert_eq!(
            file.rewritten(),
            format!(
                "{head}{{ match crate::mutant_switch(1) {{\n1 => {{\n    a != b\n}}\n2 => {{\n    \
                 true\n}}\n_ => {{\n    a == b\n}}\n}} }}\n"
            )
        );
        let one = |number, lines| Written { number, function: 1, lines };
        assert_eq!(file.written, [one(1, 4..7), one(2, 7..10)]);
    }

    #[test]
    fn const_functions_and_impl_types_have_no_such_form() {
        for (from, to) in [
            ("fn f", "pub const fn f"),
            ("-> bool", "-> impl Iterator<Item = u8>"),
            ("-> bool", "-> impl Fn(u8) -> bool"),
            ("-> bool", "-> (impl Copy, u8)"),
        ] {
            let text = TEXT.replace(from, to);
            let file = File { text, mutants: Vec::new(), written: Vec::new() };
            assert!(file.parts(&mutant(((4, 7), (4, 9)), "!=")).is_none(), "{to}");
        }
        assert!(!returns_impl("f(a: &impl Fn(u8) -> bool) -> bool"));
    }
}
