//! The model that an importer puts together, and its text.
//!
//! Names in a draft are names of the model already; types, keys and patterns are text of the
//! language. What an importer does not know is a remark that begins with `? `.
//!
//! What it is not: it knows no foreign format, and it judges nothing.
//!
//! Invariant: the order of a draft is the order of the text, so importing twice gives one text.

use shelfmark_design_language::syntax::print::quote;

/// A model under construction.
#[derive(Debug, Default)]
pub(crate) struct Draft {
    /// The tool and the title.
    pub(crate) source: String,
    /// Comments at the top, a line each.
    pub(crate) remarks: Vec<String>,
    pub(crate) entities: Vec<Entity>,
    pub(crate) patterns: Vec<Pattern>,
    /// The schema's target and tables; `None` where the source says nothing about keys.
    pub(crate) schema: Option<Schema>,
}

/// The tables of an imported schema.
#[derive(Debug)]
pub(crate) struct Schema {
    pub(crate) target: &'static str,
    pub(crate) tables: Vec<Table>,
    /// Plans that name the range of a read.
    pub(crate) serves: Vec<String>,
    /// Lines of a sample block.
    pub(crate) samples: Vec<String>,
}

/// An entity.
#[derive(Debug, Default, Clone)]
pub(crate) struct Entity {
    pub(crate) name: String,
    /// Comments above it.
    pub(crate) remarks: Vec<String>,
    pub(crate) attributes: Vec<Attribute>,
    pub(crate) key: Vec<String>,
    /// Further members: `unique (…)`, `fanout …`, `count …`.
    pub(crate) members: Vec<String>,
    /// Questions inside it.
    pub(crate) asks: Vec<String>,
}

/// An attribute of an entity.
#[derive(Debug, Default, Clone)]
pub(crate) struct Attribute {
    pub(crate) name: String,
    pub(crate) ty: String,
    pub(crate) optional: bool,
    /// Facts behind the type, such as `unique`.
    pub(crate) facts: Vec<String>,
    /// Remarks behind it.
    pub(crate) remarks: Vec<String>,
}

/// A read or a write.
#[derive(Debug, Default, Clone)]
pub(crate) struct Pattern {
    /// Comments above it.
    pub(crate) remarks: Vec<String>,
    /// The text from `read` or `write` on.
    pub(crate) text: String,
}

/// A table of the schema.
#[derive(Debug, Default)]
pub(crate) struct Table {
    pub(crate) name: String,
    pub(crate) remarks: Vec<String>,
    /// The columns of its key as they are called there, if that may be another name than here.
    pub(crate) columns: Vec<String>,
    pub(crate) rows: Vec<Row>,
}

/// A row family.
#[derive(Debug, Default, Clone)]
pub(crate) struct Row {
    pub(crate) name: String,
    pub(crate) entity: String,
    /// Columns of its key as written, and how many are of the partition.
    pub(crate) key: Vec<String>,
    pub(crate) partition: usize,
    pub(crate) indexes: Vec<Index>,
    pub(crate) remarks: Vec<String>,
}

/// The entries of a row family in an index.
#[derive(Debug, Default, Clone)]
pub(crate) struct Index {
    pub(crate) name: String,
    /// True if it lies beside its rows, in their partition.
    pub(crate) local: bool,
    pub(crate) key: Vec<String>,
    pub(crate) partition: usize,
    /// The columns of its key as they are called there, if that may be another name than here.
    pub(crate) columns: Vec<String>,
    /// The projected attributes; `None` means all.
    pub(crate) store: Option<Vec<String>>,
}

/// A literal or an attribute of a key cell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Piece {
    Text(String),
    /// An attribute's name in the model, and its codec, such as `:iso`.
    Hole(String, String),
}

/// Returns a key cell as the language writes it: an attribute by its name, all else as a template.
pub(crate) fn cell(pieces: &[Piece], plain: bool) -> String {
    if let ([Piece::Hole(name, codec)], true) = (pieces, plain)
        && codec.is_empty()
    {
        return name.clone();
    }
    let mut out = String::new();
    for piece in pieces {
        match piece {
            Piece::Text(text) => out.push_str(&text.replace('<', "<<")),
            Piece::Hole(name, codec) => out.push_str(&format!("<{name}{codec}>")),
        }
    }
    quote(&out)
}

impl Draft {
    /// Returns the text of the model.
    pub(crate) fn text(&self) -> String {
        let mut out = format!("# Imported from {}.\n", self.source);
        out.extend(self.remarks.iter().map(|remark| format!("# {remark}\n")));
        for entity in &self.entities {
            out.push('\n');
            out.push_str(&entity.text());
        }
        let mut apart = false;
        for pattern in &self.patterns {
            // A comment above a pattern stands apart from the pattern before it.
            if !pattern.remarks.is_empty() || !apart {
                out.push('\n');
            }
            apart = true;
            out.extend(pattern.remarks.iter().map(|remark| format!("# {remark}\n")));
            if !pattern.text.is_empty() {
                out.push_str(&format!("{}\n", pattern.text));
            }
        }
        if let Some(schema) = &self.schema {
            out.push_str(&schema.text());
        }
        out
    }
}

impl Schema {
    fn text(&self) -> String {
        let mut out = format!("\nschema imported target {} {{\n", self.target);
        for table in &self.tables {
            out.extend(table.remarks.iter().map(|remark| format!("  # {remark}\n")));
            match table.rows.as_slice() {
                [only] if only.name == table.name => out.push_str(&only.text("table")),
                rows => {
                    out.push_str(&format!("  table {} {{\n", table.name));
                    out.extend(rows.iter().map(|row| row.text("row")));
                    out.push_str("  }\n");
                }
            }
        }
        out.extend(self.serves.iter().map(|serve| format!("  {serve}\n")));
        if !self.samples.is_empty() {
            out.push_str(&format!("  sample {{\n{}  }}\n", self.samples.concat()));
        }
        out.push_str("}\n");
        out
    }
}

impl Entity {
    fn text(&self) -> String {
        let mut out = String::new();
        out.extend(self.remarks.iter().map(|remark| format!("# {remark}\n")));
        out.push_str(&format!("entity {} {{\n", self.name));
        for one in &self.attributes {
            let optional = if one.optional { " optional" } else { "" };
            let facts: String = one.facts.iter().map(|fact| format!(" {fact}")).collect();
            let remark = match one.remarks.as_slice() {
                [] => String::new(),
                remarks => format!("  # {}", remarks.join("; ")),
            };
            out.push_str(&format!("  {}: {}{optional}{facts}{remark}\n", one.name, one.ty));
        }
        out.push_str(&format!("  key ({})\n", self.key.join(", ")));
        out.extend(self.members.iter().map(|member| format!("  {member}\n")));
        out.extend(self.asks.iter().map(|ask| format!("  # {ask}\n")));
        out.push_str("}\n");
        out
    }
}

impl Row {
    fn text(&self, word: &str) -> String {
        let mut out: String = self.remarks.iter().map(|one| format!("  # {one}\n")).collect();
        let key = key(&self.key, self.partition);
        out.push_str(&format!("  {word} {} from {} {key} store all", self.name, self.entity));
        for index in &self.indexes {
            let local = if index.local { "local " } else { "" };
            let key = self::key(&index.key, index.partition);
            out.push_str(&format!(" index {} {local}{key}", index.name));
            if let Some(store) = &index.store {
                out.push_str(&format!(" store {{ {} }}", store.join(", ")));
            }
        }
        out.push('\n');
        out
    }
}

fn key(cells: &[String], partition: usize) -> String {
    let (before, behind) = cells.split_at(partition.min(cells.len()));
    let space = if behind.is_empty() { "" } else { " " };
    format!("key ({};{space}{})", before.join(", "), behind.join(", "))
}
