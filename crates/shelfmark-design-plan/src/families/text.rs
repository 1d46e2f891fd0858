//! Writes the text of a schema, table by table.

use std::collections::BTreeSet;

use super::Planner;
use super::draft::{Component, Draft};
use super::mixed::{Mixed, MixedRow};
use super::names::{Names, snake, wanted_name};
use super::text_keys::DELIMITER;
use shelfmark_design_language::certificate::text;
use shelfmark_design_language::model::{ColumnPath, Model, Predicate, RelationId, Type};
use shelfmark_design_language::syntax::print::quote;

/// The first component of a key that is the same for all rows.
pub(crate) const EVERYTHING: &str = "all";

/// A schema without the plans of its writes.
pub(crate) struct Skeleton {
    pub(crate) head: String,
    pub(crate) tables: String,
    /// Plans of reads, each with its index in the model.
    pub(crate) serves: Vec<(usize, String)>,
}

impl Skeleton {
    /// Returns the schema so far, which can be parsed.
    pub(crate) fn text(&self) -> String {
        self.with(&[])
    }

    /// Returns the reads whose plans are written.
    pub(crate) fn written(&self) -> BTreeSet<usize> {
        self.serves.iter().map(|(read, _)| *read).collect()
    }

    fn with(&self, writes: &[String]) -> String {
        let serves = self.serves.iter().map(|(_, line)| line);
        let lines: String = serves.chain(writes).map(|line| format!("  {line}\n")).collect();
        format!("{} {{\n{}{lines}}}\n", self.head, self.tables)
    }

    pub(crate) fn finish(&self, writes: &[String], notes: &[String]) -> String {
        let notes: String =
            notes.iter().map(|note| format!("# {}\n", note.replace('\n', " "))).collect();
        format!("{notes}{}", self.with(writes))
    }
}

impl Planner<'_> {
    pub(super) fn schema_text(&self, name: &str) -> Skeleton {
        let mut names = Names::of(&self.target.name);
        // Tables first, so that they have the shorter names.
        let mut order: Vec<usize> = (0..self.drafts.len()).collect();
        order.sort_by_key(|at| self.drafts.get(*at).is_some_and(|draft| self.is_index(draft)));
        let mut named = vec![String::new(); self.drafts.len()];
        for at in order {
            if let (Some(draft), Some(slot)) = (self.drafts.get(at), named.get_mut(at)) {
                *slot = names.take(&wanted_name(self.model, draft));
            }
        }
        let mut body = String::new();
        for (at, draft) in self.drafts.iter().enumerate() {
            if !self.is_index(draft) {
                let name = named.get(at).map_or("", String::as_str);
                body.push_str(&self.table(name, draft, &named));
            }
        }
        let mut serves = Vec::new();
        for (at, mixed) in self.mixed.iter().enumerate() {
            let name = self.model.reads.get(mixed.read).map_or("", |read| &read.name.text);
            let name = names.take(&snake(name));
            body.push_str(&self.mixed_table(mixed, &name, &mut names));
            serves.extend(self.serve_mixed(mixed, &name).map(|serve| (mixed.read, serve)));
            for one in self.gathered.iter().filter(|one| one.mixed == at) {
                serves.extend(self.serve_gathered(one, &name).map(|serve| (one.read, serve)));
            }
        }
        for served in &self.served {
            let draft = self.drafts.get(served.draft);
            let line = draft.and_then(|draft| self.serve(served, draft, &named));
            serves.extend(line.map(|line| (served.read, line)));
        }
        for (read, at) in &self.counted {
            let line = named.get(*at).and_then(|name| self.serve_count(*read, name));
            serves.extend(line.map(|line| (*read, line)));
        }
        let head =
            format!("schema {name} target {} \"derived from the patterns\"", self.target.name);
        Skeleton { head, tables: body, serves }
    }

    fn table(&self, name: &str, draft: &Draft, named: &[String]) -> String {
        let relation = &self.model.relation(draft.relation).name.text;
        let mut out = format!(
            "  table {name} from {relation}{}",
            guard(self.model, draft.relation, &draft.when)
        );
        out.push_str(&format!(" {}", self.key_text(draft)));
        out.push_str(&self.store_text(draft));
        if draft.is_base() && self.is_indexed(draft.relation) {
            for at in self.of_relation.get(&draft.relation).into_iter().flatten() {
                let (Some(index), Some(name)) = (self.drafts.get(*at), named.get(*at)) else {
                    continue;
                };
                if self.is_index(index) {
                    let shown = self.projection(index).unwrap_or_default();
                    let when = guard(self.model, index.relation, &index.when);
                    out.push_str(&format!(" index {name}{when} {}{shown}", self.key_text(index)));
                }
            }
        }
        out.push('\n');
        out
    }

    fn key_text(&self, draft: &Draft) -> String {
        let components = self.key(draft);
        if self.target.plans_texts() {
            return self.text_key(draft, &components);
        }
        let texts: Vec<String> = components
            .iter()
            .map(|component| {
                let desc = if component.desc == Some(true) { " desc" } else { "" };
                let name = self.model.path_text(draft.relation, &component.path);
                format!("{}{desc}", self.column(draft.relation, component, &name))
            })
            .collect();
        if self.target.ordered {
            return format!("key ({})", texts.join(", "));
        }
        let (partition, sort) = texts.split_at(draft.least.min(texts.len()));
        let bucket = self.shards(draft).map(|shards| self.bucket(&shards, draft));
        let partition: Vec<String> = partition.iter().cloned().chain(bucket).collect();
        let partition =
            if partition.is_empty() { format!("{EVERYTHING:?}") } else { partition.join(", ") };
        format!("key ({partition}; {})", sort.join(", "))
    }

    /// Returns a value of a key's column: as its text where the target sorts the texts of a type, and
    /// not its values, as the model does.
    pub(super) fn column(
        &self,
        relation: RelationId,
        component: &Component,
        value: &str,
    ) -> String {
        let apart = self.target.rules.contains_key("uuid_order");
        let ordering = component.desc.is_some();
        match self.model.path_type(relation, &component.path) {
            Type::Uuid if apart && ordering => quote(&format!("<{value}>")),
            _ => value.to_owned(),
        }
    }

    fn text_key(&self, draft: &Draft, components: &[Component]) -> String {
        let (partition, sort) = components.split_at(draft.least.min(components.len()));
        let mut pk = snake(&self.model.relation(draft.relation).name.text);
        if !partition.is_empty() {
            pk.push(DELIMITER);
            pk.push_str(&self.template(draft.relation, partition));
        }
        if let Some(shards) = self.shards(draft) {
            pk.push_str(&format!("{DELIMITER}<{}>", self.bucket(&shards, draft)));
        }
        if sort.is_empty() {
            return format!("pk {pk:?}");
        }
        let sk = format!("{}{}", self.lead(draft), self.template(draft.relation, sort));
        format!("pk {pk:?} sk {sk:?}")
    }

    fn store_text(&self, draft: &Draft) -> String {
        let keys: Vec<ColumnPath> = self.key(draft).into_iter().map(|one| one.path).collect();
        let columns = self.model.relation(draft.relation).columns.len();
        let all = (0..columns).all(|n| draft.shown.contains(&vec![n]));
        if all
            && (draft.locked || draft.leads)
            && draft.counts.is_empty()
            && draft.shown.iter().all(|path| path.len() == 1)
        {
            return " store all".to_owned();
        }
        let mut items: Vec<String> = draft
            .shown
            .iter()
            .filter(|path| !keys.contains(path))
            .map(|path| self.model.path_text(draft.relation, path))
            .collect();
        items.extend(draft.counts.iter().cloned());
        if items.is_empty() { String::new() } else { format!(" store {{ {} }}", items.join(", ")) }
    }

    /// Returns true if some index shows less than its row.
    pub(super) fn is_narrowed(&self) -> bool {
        let mut indexes = self.drafts.iter().filter(|draft| self.is_index(draft));
        indexes.any(|index| self.projection(index).is_some())
    }

    /// Returns what an index shows beside its key and its row's, if that is less than its row.
    fn projection(&self, index: &Draft) -> Option<String> {
        let relation = index.relation;
        let row = self
            .of_relation
            .get(&relation)?
            .iter()
            .find_map(|at| self.drafts.get(*at).filter(|draft| draft.is_base()))?;
        let own = index.paths();
        let held: BTreeSet<ColumnPath> = self.key(row).into_iter().map(|one| one.path).collect();
        let beside = |path: &&ColumnPath| !own.contains(*path) && !held.contains(*path);
        let less = row.shown.iter().filter(beside).any(|path| !index.shown.contains(path));
        if !self.modes.narrow || !less && row.counts.is_empty() {
            return None;
        }
        let shown: Vec<String> = index
            .shown
            .iter()
            .filter(beside)
            .map(|path| self.model.path_text(relation, path))
            .collect();
        Some(match shown.is_empty() {
            true => " store { }".to_owned(),
            false => format!(" store {{ {} }}", shown.join(", ")),
        })
    }

    /// Returns the table of a read of several row types.
    fn mixed_table(&self, mixed: &Mixed, table: &str, names: &mut Names) -> String {
        let mut out = format!("  table {table} {{\n");
        if self.target.plans_texts() {
            out.push_str("    pk text  sk text\n");
        }
        for row in &mixed.rows {
            let relation = &self.model.relation(row.relation).name.text;
            let name = names.take(&format!("{table}_{}", snake(relation)));
            let stored: Vec<String> = row
                .shown
                .iter()
                .filter(|path| !row.keys.contains(path))
                .map(|path| self.model.path_text(row.relation, path))
                .collect();
            let stored = if stored.is_empty() {
                String::new()
            } else {
                format!(" store {{ {} }}", stored.join(", "))
            };
            let key = self.mixed_key(table, mixed, row);
            let when = guard(self.model, row.relation, &row.when);
            out.push_str(&format!("    row {name} from {relation}{when} {key}{stored}\n"));
        }
        out.push_str("  }\n");
        out
    }

    fn mixed_key(&self, table: &str, mixed: &Mixed, row: &MixedRow) -> String {
        let (known, rest) = row.keys.split_at(row.known.min(row.keys.len()));
        let (_, ending) = rest.split_at(row.ordering.min(rest.len()));
        let hole = |path: &ColumnPath| self.path_hole(row.relation, path);
        let between = DELIMITER.to_string();
        let join =
            |paths: &[ColumnPath]| paths.iter().map(hole).collect::<Vec<String>>().join(&between);
        if self.target.plans_texts() {
            let mut pk = table.to_owned();
            let mut sk = row.tag.clone();
            if !known.is_empty() {
                pk.push_str(&format!("{DELIMITER}{}", join(known)));
            }
            if !rest.is_empty() {
                sk.push_str(&format!("{DELIMITER}{}", join(rest)));
            }
            return format!("pk {pk:?} sk {sk:?}");
        }
        let text = |path: &ColumnPath| self.model.path_text(row.relation, path);
        let mut head: Vec<String> = known.iter().map(text).collect();
        if head.is_empty() && !self.target.ordered {
            head.push(format!("{EVERYTHING:?}"));
        }
        let tag = format!("{:?}", row.tag);
        let mut sort = Vec::new();
        if !mixed.interleaved {
            sort.push(tag.clone());
        }
        for (at, desc) in mixed.descends.iter().enumerate() {
            let desc = if *desc { " desc" } else { "" };
            // A column has one type: where row types order by others, or by nothing, it holds texts.
            let part = match row.order(at) {
                Some(path) if self.one_type(mixed, at) => text(path),
                Some(path) => format!("{:?}", hole(path)),
                None => "\"\"".to_owned(),
            };
            sort.push(format!("{part}{desc}"));
        }
        if mixed.interleaved {
            sort.push(tag);
        }
        // One text column ends the key of every row type, whatever its parts are.
        if mixed.rows.iter().any(|row| row.keys.len() > row.known + row.ordering) {
            sort.push(format!("{:?}", join(ending)));
        }
        let head = head.join(", ");
        let sort = sort.join(", ");
        match (self.target.ordered, head.is_empty()) {
            (true, true) => format!("key ({sort})"),
            (true, false) => format!("key ({head}, {sort})"),
            _ => format!("key ({head}; {sort})"),
        }
    }

    /// Returns true if all row types have an ordering component, of one type.
    pub(super) fn one_type(&self, mixed: &Mixed, at: usize) -> bool {
        let mut types = mixed
            .rows
            .iter()
            .map(|row| row.order(at).map(|path| self.model.path_type(row.relation, path)));
        let Some(Some(first)) = types.next() else { return false };
        types.all(|other| other.is_some_and(|other| first.comparable(&other)))
    }
}

/// Returns the conditions that rows are only there under, as a schema writes them.
pub(crate) fn guard(model: &Model, relation: RelationId, when: &[Predicate]) -> String {
    let conditions = text::conditions(model, relation, when);
    if conditions.is_empty() { String::new() } else { format!(" when {conditions}") }
}
