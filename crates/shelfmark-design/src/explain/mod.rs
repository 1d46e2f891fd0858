//! Explains the keys of a pattern: the role of each component in words, and the range drawn.
//!
//! What it is not: no proof. It says what the proof found, in the order in which one would explain
//! it to somebody.
//!
//! Invariant: says nothing that the prover did not find.

mod draw;
mod write;

use std::collections::BTreeSet;

use crate::document::Document;
use shelfmark_design_language::certificate::text;
use shelfmark_design_language::model::canonical;
use shelfmark_design_language::model::schema::{Codec, Family, Part, ReadStep, Schema, Step};
use shelfmark_design_language::model::{ColumnPath, Model, OrderKey, Read, Term};
use shelfmark_design_language::syntax::tree::{CondOp, Item, Verb};
use shelfmark_design_language::target::profile;
use shelfmark_design_prove::closure::determines_tuple;
use shelfmark_design_prove::range::{Found, Met, find};
use shelfmark_design_prove::write_case::WriteCase;
use shelfmark_design_prove::{ReadProof, decisive, order, prove_read};

/// The role of a component in a key, for one pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Role {
    /// One value for all rows, or a tag of a row type.
    Constant,
    Equal(String),
    Range(String),
    Order(bool),
    /// Without it two rows would be one.
    Unique,
    /// The key of the row that an entry of an index belongs to.
    Base,
    Other,
}

struct Piece {
    text: String,
    desc: bool,
    partition: bool,
    role: Role,
}

impl Document {
    /// Explains the role of each part of the keys that a pattern uses, in every schema; `None` when
    /// there is no such pattern.
    ///
    /// Cost: one proof for each schema, without the search for witnesses.
    #[must_use]
    pub fn explain(&self, pattern: &str) -> Option<String> {
        let mut out = self.written(pattern)?;
        let model = &self.model;
        if model.schemas.is_empty() {
            out.push_str("\nNo schema lays it out yet; `shelfmark design plan` derives one.\n");
        }
        for schema in &model.schemas {
            let Some(target) = profile(&schema.target) else { continue };
            out.push_str(&format!("\n{} ({})\n\n", schema.name.text, schema.target));
            if let Some(index) = model.reads.iter().position(|read| read.name.text == pattern)
                && let Some(read) = model.reads.get(index)
            {
                let proof = prove_read(model, schema, target, index, read);
                out.push_str(&read_text(model, schema, read, &proof));
            } else if let Some(case) =
                WriteCase::all(model, schema, target).find(|case| case.write.name.text == pattern)
            {
                out.push_str(&write::text(case));
            }
        }
        Some(out)
    }

    /// Returns the pattern as the model has it.
    fn written(&self, pattern: &str) -> Option<String> {
        let span = self.file.items.iter().find_map(|item| match item {
            Item::Read(read) if read.name.text == pattern => Some(read.span),
            Item::Write(write) if write.name.text == pattern => Some(write.span),
            _ => None,
        })?;
        let text = self.source().get(span.start..span.end)?;
        let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
        Some(format!("{}\n", lines.join("\n")))
    }
}

fn read_text(model: &Model, schema: &Schema, read: &Read, proof: &ReadProof) -> String {
    let mut out = String::new();
    let first = proof.serve.as_ref().and_then(|serve| serve.steps.first());
    if let Some(Step::Read(step)) = first {
        out.push_str(&step_text(model, schema, read, step, proof));
    }
    for step in proof.serve.iter().flat_map(|serve| serve.steps.iter().skip(1)) {
        if let Step::Also(step) = step {
            out.push_str("Beside it, for other row types:\n");
            out.push_str(&step_text(model, schema, read, step, proof));
            continue;
        }
        let line = text::steps(model, schema, read, std::slice::from_ref(step)).join("");
        let why = match step {
            Step::Read(_) | Step::Also(_) => "for what the rows themselves do not hold",
            Step::Filter(_) => "rows are read and dropped: the key does not say it",
            Step::Sort(_) => "several ranges give several lists, or the key has another order",
            Step::Take(_) => "each range has first rows of its own",
        };
        out.push_str(&format!("Then {line}: {why}.\n"));
    }
    let failure = decisive(&proof.analysis);
    if let (Some(_), Some(Step::Read(step))) = (failure, first)
        && !step.bounds.is_empty()
    {
        // Where both ends lie is what one looks at when a range is wrong.
        let line = text::steps(model, schema, read, &[Step::Read(step.clone())]).join("");
        out.push_str(&format!("As written: {line}.\n"));
    }
    out.push_str(&match (failure, &proof.unservable) {
        (None, _) if proof.analysis.multi => format!(
            "It is right by a bounded number of ranges or further reads; rows read: {}.\n",
            proof.analysis.rows_max
        ),
        (None, _) => format!(
            "It is certified: what lies in the range is what is asked for, in order, and nothing else. Rows read: {}.\n",
            proof.analysis.rows_max
        ),
        (Some(_), Some(why)) => format!("No key can do it: {why}.\n"),
        (Some(failure), None) => {
            let derived = if proof.serve.as_ref().is_none_or(|serve| serve.derived) {
                "`shelfmark design plan` derives a key that serves it, where there is one. "
            } else {
                ""
            };
            format!(
                "It is refused by O{}: {}. {derived}`shelfmark design explain {}` says more.\n",
                failure.obligation, failure.reason, failure.lint
            )
        }
    });
    out
}

fn step_text(
    model: &Model,
    schema: &Schema,
    read: &Read,
    step: &ReadStep,
    proof: &ReadProof,
) -> String {
    let Some(table) = schema.tables.get(step.table) else { return String::new() };
    let mut out = String::new();
    let families: Vec<&Family> = proof
        .analysis
        .families
        .iter()
        .filter_map(|id| schema.families.get(*id))
        .filter(|family| family.table == step.table)
        .collect();
    // A plan that finds nothing was meant for rows of what the pattern reads.
    let meant =
        |family: &&Family| read.sources.iter().any(|source| source.relation == family.source);
    let of_table = || schema.of_table(step.table).map(|(_, family)| family);
    let fallback: Vec<&Family> =
        of_table().find(meant).or_else(|| of_table().next()).into_iter().collect();
    let how = match step.verb {
        Verb::Get => "It is one point read of",
        _ if step.desc => "It reads one stretch, from its end, of",
        _ => "It reads one stretch of",
    };
    let kind = if table.is_index { "the index " } else { "" };
    out.push_str(&format!("{how} {kind}{}.\n", table.name.text));
    let families = if families.is_empty() { fallback } else { families };
    for family in families.iter().filter(|family| !family.when.is_empty()) {
        let source = &model.relation(family.source).name.text;
        let conditions = text::conditions(model, family.source, &family.when);
        out.push_str(&format!(
            "Of {source} it holds only those of which {conditions}; no part of the key says that.\n"
        ));
    }
    for family in families {
        let pieces = pieces(model, table.partition, &table.desc, read, step, family);
        out.push('\n');
        out.push_str(&draw::key(&table.name.text, &pieces, read, step));
        out.push('\n');
        out.push_str(&sentences(model, read, step, family, &pieces));
    }
    out.push('\n');
    out
}

fn pieces(
    model: &Model,
    partition: usize,
    desc: &[bool],
    read: &Read,
    step: &ReadStep,
    family: &Family,
) -> Vec<Piece> {
    let source =
        read.sources.iter().position(|source| source.relation == family.source).unwrap_or(0);
    let table = shelfmark_design_language::model::schema::Table {
        name: family.name.clone(),
        partition,
        kinds: family.key.iter().map(kind_of).collect(),
        desc: desc.to_vec(),
        is_index: family.base.is_some(),
        is_local: false,
    };
    let met = match find(step, &table, family) {
        Found::Rows { met, .. } => met,
        _ => meant(step, family),
    };
    let wanted: Vec<(ColumnPath, bool)> = read
        .order
        .iter()
        .filter_map(|(key, desc)| match key {
            OrderKey::Kind => None,
            OrderKey::Columns(paths) => {
                let path = paths.get(source)?.as_ref()?;
                Some((canonical(model, family.source, path), *desc))
            }
        })
        .collect();
    let mut found = Vec::new();
    let mut before: BTreeSet<ColumnPath> = BTreeSet::new();
    for (at, column) in family.key.iter().enumerate() {
        // An entry does not repeat what its own columns hold of its row's key.
        if family.base.is_some() && repeats(model, family, column, &before) {
            continue;
        }
        for part in &column.parts {
            let (text, role) = match part {
                Part::End => continue,
                Part::Literal(text) => (format!("{text:?}"), Role::Constant),
                Part::Hole { term, codec, .. } => {
                    let name = order::term_text(model, family.source, term);
                    let text = if *codec == Codec::Native {
                        name
                    } else {
                        format!("{name}{}", codec.suffix())
                    };
                    let role = role(model, read, family, term, &met, &wanted, &before);
                    if let Term::Column(path) = term {
                        before.insert(canonical(model, family.source, path));
                    }
                    (text, role)
                }
            };
            let desc = desc.get(at).copied().unwrap_or(false);
            found.push(Piece { text, desc, partition: at < partition, role });
        }
    }
    found
}

/// Returns what a range that finds nothing was meant to fix: value by value as the key has them.
fn meant(step: &ReadStep, family: &Family) -> Vec<Met> {
    let given = step.bound.iter().chain(step.bounds.first().map(|(_, parts)| parts));
    let pairs = family.key.iter().zip(given).flat_map(|(column, given)| {
        column.parts.iter().zip(given).take_while(|(part, given)| match (part, given) {
            (Part::Literal(a), Part::Literal(b)) => a == b,
            (Part::Hole { .. }, Part::Hole { .. }) => true,
            _ => false,
        })
    });
    pairs
        .filter_map(|pair| match pair {
            (Part::Hole { term, .. }, Part::Hole { term: plan, .. }) => {
                Some(Met { row: term.clone(), op: CondOp::Eq, plan: plan.clone() })
            }
            _ => None,
        })
        .collect()
}

/// Returns true if the column holds one attribute that an earlier one holds.
fn repeats(
    model: &Model,
    family: &Family,
    column: &shelfmark_design_language::model::schema::Column,
    before: &BTreeSet<ColumnPath>,
) -> bool {
    let mut holes = column.parts.iter().filter(|part| matches!(part, Part::Hole { .. }));
    match (holes.next(), holes.next()) {
        (Some(Part::Hole { term: Term::Column(path), .. }), None) => {
            before.contains(&canonical(model, family.source, path))
        }
        _ => false,
    }
}

fn kind_of(
    column: &shelfmark_design_language::model::schema::Column,
) -> shelfmark_design_language::model::schema::ColumnKind {
    use shelfmark_design_language::model::schema::ColumnKind;
    match column.parts.as_slice() {
        [Part::Hole { ty, codec: Codec::Native, .. }] => ColumnKind::Typed(ty.clone()),
        _ => ColumnKind::Text,
    }
}

fn role(
    model: &Model,
    read: &Read,
    family: &Family,
    term: &Term,
    met: &[Met],
    wanted: &[(ColumnPath, bool)],
    before: &BTreeSet<ColumnPath>,
) -> Role {
    let mut ranges = Vec::new();
    for one in met.iter().filter(|one| one.row == *term) {
        let value = text::term(read, &one.plan);
        match one.op {
            CondOp::Eq => return Role::Equal(value),
            CondOp::Ge => ranges.push(format!("from {value}")),
            CondOp::Gt => ranges.push(format!("after {value}")),
            CondOp::Le => ranges.push(format!("up to {value}")),
            CondOp::Lt => ranges.push(format!("before {value}")),
            CondOp::Begins => ranges.push(format!("begins {value}")),
            _ => {}
        }
    }
    if !ranges.is_empty() {
        return Role::Range(ranges.join(", "));
    }
    match term {
        Term::Const(_) => Role::Constant,
        Term::Column(path) => {
            let path = canonical(model, family.source, path);
            if let Some((_, desc)) = wanted.iter().find(|(other, _)| *other == path) {
                return Role::Order(*desc);
            }
            if determines_tuple(model, family.source, before) {
                return if family.base.is_some() { Role::Base } else { Role::Other };
            }
            let own = model.relation(family.source).key();
            if matches!(path.as_slice(), [only] if own.contains(only)) {
                Role::Unique
            } else {
                Role::Other
            }
        }
        _ => Role::Other,
    }
}

/// Returns a sentence for each component.
fn sentences(
    model: &Model,
    read: &Read,
    step: &ReadStep,
    family: &Family,
    pieces: &[Piece],
) -> String {
    let source = &model.relation(family.source).name.text;
    let pattern = &read.name.text;
    let width = pieces.iter().map(|piece| piece.text.chars().count()).max().unwrap_or(0);
    let mut out = String::new();
    let mut first = true;
    let everything = pieces
        .iter()
        .filter(|piece| piece.partition)
        .all(|piece| matches!(piece.role, Role::Constant));
    for piece in pieces {
        let sentence = match &piece.role {
            Role::Constant if piece.partition && everything => {
                "is the same for all rows, so that they lie together and can be read in one order."
                    .to_owned()
            }
            Role::Constant if !piece.text.contains(char::is_alphanumeric) => {
                "ends what stands before it.".to_owned()
            }
            Role::Constant => {
                "marks rows of this type and keeps them apart from others.".to_owned()
            }
            Role::Equal(value) if piece.partition && first => format!(
                "leads the key because {pattern} knows it ({value}): all that it reads lies in one partition."
            ),
            Role::Equal(value) => format!(
                "comes early because {pattern} knows it ({value}): rows that do not fit lie elsewhere."
            ),
            Role::Range(ends) => format!(
                "follows what is known and is the one attribute with a range ({ends}): behind it rows are no longer contiguous."
            ),
            Role::Order(desc) => {
                let way = if *desc { "descending" } else { "ascending" };
                let turned = if step.desc {
                    "the stretch is read from its end, so nothing is sorted"
                } else {
                    "rows lie in the order in which they are wanted, so nothing is sorted"
                };
                format!("comes next because the answer is ordered by it, {way}: {turned}.")
            }
            Role::Unique => format!(
                "makes the key unique: without it, whatever of {source} agrees in what stands before it would be one row."
            ),
            Role::Base => "is the key of the row that the entry belongs to.".to_owned(),
            Role::Other => format!("is there for another pattern; {pattern} does not need it."),
        };
        if !matches!(piece.role, Role::Constant) {
            first = false;
        }
        let pad = " ".repeat(width.saturating_sub(piece.text.chars().count()));
        out.push_str(&format!("  {}{pad}  {sentence}\n", piece.text));
    }
    out
}
