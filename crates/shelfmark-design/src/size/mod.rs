//! Computes sizes and loads: rows and bytes of partitions now and later, and the costs of one
//! write.
//!
//! Volumes are those that a model declares (`count`, `growth`, `fanout`, `avg`, `rate`); bytes
//! follow the row format of each target. A figure that does not follow from what is declared is
//! unknown, and the report says what to declare.
//!
//! What it is not: no measurement. Compression, compaction and replication are left out.
//!
//! Invariant: every figure is a function of the model's text; none is negative.

pub(crate) mod format;
mod load;
pub(crate) mod show;

use std::collections::BTreeSet;

use serde::Serialize;

use crate::document::Document;
use shelfmark_design_language::model::schema::{Family, Schema};
use shelfmark_design_language::model::{ColumnPath, Model};
use shelfmark_design_language::target::Target;
use shelfmark_design_plan::sparse::declared_share;
pub(crate) use shelfmark_design_plan::volume;
use volume::Figure;

/// Sizes and loads of every schema of a model.
#[derive(Debug, Clone, Serialize)]
pub struct SizeReport {
    /// One for each schema, in the order of the model.
    pub schemas: Vec<SchemaSize>,
}

/// Sizes and loads of one schema.
#[derive(Debug, Clone, Serialize)]
pub struct SchemaSize {
    /// Its name.
    pub schema: String,
    /// The target whose row format counts.
    pub target: String,
    /// Its row families and indexes.
    pub families: Vec<FamilySize>,
    /// The costs of one call of each write.
    pub writes: Vec<WriteSize>,
    /// The hottest partition of each pattern with a declared rate.
    pub hot: Vec<HotPartition>,
    /// Declarations that unknown figures need.
    pub unknown: Vec<String>,
}

/// A figure on average, in one of a hundred cases, and at worst; `null` where it is unknown.
#[derive(Debug, Clone, Copy, Default, Serialize)]
pub struct Spread {
    /// On average.
    pub average: Option<f64>,
    /// A value that one case in a hundred exceeds.
    pub p99: Option<f64>,
    /// The largest that the model allows.
    pub worst: Option<f64>,
}

impl Spread {
    fn map(self, change: impl Fn(f64) -> f64) -> Self {
        Self {
            average: self.average.map(&change),
            p99: self.p99.map(&change),
            worst: self.worst.map(&change),
        }
    }

    /// Returns the largest that is known.
    #[must_use]
    pub fn largest(self) -> Option<f64> {
        self.worst.or(self.p99).or(self.average)
    }
}

/// A row family or an index.
#[derive(Debug, Clone, Serialize)]
pub struct FamilySize {
    /// Its name.
    pub family: String,
    /// The table or index it lies in.
    pub table: String,
    /// True if it is an index.
    pub index: bool,
    /// Rows in all; `null` without a declared count.
    pub total_rows: Option<f64>,
    /// True if rows are there only under conditions, and the model does not say of how many they hold:
    /// all figures are then those of rows that are all there.
    pub at_most: bool,
    /// Average bytes of a row, its key and all overhead included.
    pub row_bytes: f64,
    /// Rows of one partition; the whole table where the target has no partitions.
    pub partition_rows: Spread,
    /// Bytes of one partition.
    pub partition_bytes: Spread,
    /// Time for which the largest known partition stays below each target's limit.
    pub limits: Vec<Limit>,
}

/// The largest known partition of a family against one target's limit.
#[derive(Debug, Clone, Serialize)]
pub struct Limit {
    /// The target.
    pub target: String,
    /// Its limit in bytes.
    pub limit_bytes: f64,
    /// The partition in that target's row format, in bytes.
    pub partition_bytes: f64,
    /// Months until the limit at the declared growth: 0 when it is passed, `null` when it is
    /// not reached within a hundred years or no growth is declared.
    pub months: Option<f64>,
}

/// The costs of one call of a write.
#[derive(Debug, Clone, Serialize)]
pub struct WriteSize {
    /// The write.
    pub write: String,
    /// Number of reads before it.
    pub reads: usize,
    /// Rows written: puts, deletes and patches of base rows.
    pub rows: Spread,
    /// Index entries that change with them.
    pub entries: Spread,
    /// True if an index has conditions, and the model does not say whether they hold: its entry counts
    /// all the same.
    pub at_most: bool,
    /// Bytes of both.
    pub bytes: Spread,
    /// Rows and entries for each changed entity or link.
    pub amplification: Option<f64>,
    /// Number of rows that one transaction of the target takes.
    pub limit_rows: f64,
}

/// The hottest partition of a pattern.
#[derive(Debug, Clone, Serialize)]
pub struct HotPartition {
    /// The pattern.
    pub pattern: String,
    /// The table or index.
    pub table: String,
    /// True if it is written or read.
    pub write: bool,
    /// The share of the calls that goes to that partition.
    pub share: f64,
    /// Operations a second on it, at the peak when one is declared.
    pub per_second: f64,
    /// The target's limit of operations a second.
    pub limit_per_second: f64,
}

impl Document {
    /// Counts rows and bytes of every schema.
    ///
    /// Cost: that of looking for plans; no proof is made.
    #[must_use]
    pub fn size(&self) -> SizeReport {
        let model = &self.model;
        let schemas = model
            .schemas
            .iter()
            .filter_map(|schema| {
                let target = shelfmark_design_language::target::profile(&schema.target)?;
                Some(Sizer { model, schema, target, file: &self.file }.schema_size())
            })
            .collect();
        SizeReport { schemas }
    }
}

struct Sizer<'a> {
    model: &'a Model,
    schema: &'a Schema,
    target: &'a Target,
    file: &'a shelfmark_design_language::syntax::tree::File,
}

impl Sizer<'_> {
    fn schema_size(&self) -> SchemaSize {
        let mut unknown: BTreeSet<String> = BTreeSet::new();
        let families =
            self.schema.families.iter().map(|family| self.family(family, &mut unknown)).collect();
        SchemaSize {
            schema: self.schema.name.text.clone(),
            target: self.target.name.clone(),
            families,
            writes: self.writes(),
            hot: self.hot(),
            unknown: unknown.into_iter().collect(),
        }
    }

    fn family(&self, family: &Family, unknown: &mut BTreeSet<String>) -> FamilySize {
        let table = self.schema.tables.get(family.table);
        let own = format::sizes(self.model, self.schema, family, self.target);
        let rows = self.partition_rows(family, unknown);
        let relation = self.model.relation(family.source);
        let total = relation.facts.get("count").copied();
        let share = self.share(family);
        if total.is_none() {
            unknown.insert(format!("how many {} there are: count 1M", relation.name.text));
        }
        let growth = volume::growth(self.model, self.schema, family);
        let limits = rows.largest().map_or_else(Vec::new, |rows| {
            shelfmark_design_language::target::all()
                .map(|target| {
                    let bytes =
                        format::sizes(self.model, self.schema, family, target).partition(rows);
                    let limit = self.setting(target, "partition.max", target.partition_bytes_max);
                    Limit {
                        target: target.name.clone(),
                        limit_bytes: limit,
                        partition_bytes: bytes,
                        months: volume::months(bytes, limit, growth),
                    }
                })
                .collect()
        });
        FamilySize {
            family: family.name.text.clone(),
            table: table.map_or_else(String::new, |table| table.name.text.clone()),
            index: family.base.is_some(),
            total_rows: total.map(|total| total * share.unwrap_or(1.0)),
            at_most: share.is_none(),
            row_bytes: own.row(),
            partition_rows: rows,
            partition_bytes: rows.map(|rows| own.partition(rows)),
            limits,
        }
    }

    /// Returns rows of the family that share a partition key.
    fn partition_rows(&self, family: &Family, unknown: &mut BTreeSet<String>) -> Spread {
        let (known, divisor) = volume::partition(self.model, self.schema, family);
        let rows = |figure, share: f64| {
            volume::rows(self.model, family.source, &known, figure)
                .map(|rows| (rows * share / divisor).max(1.0))
        };
        let share = self.share(family).unwrap_or(1.0);
        let found = Spread {
            average: rows(Figure::Average, share),
            p99: rows(Figure::P99, share),
            // Of one partition the conditions may hold everywhere.
            worst: rows(Figure::Worst, 1.0),
        };
        if found.worst.is_none() || found.average.is_none() {
            unknown.extend(self.missing(family, &known));
        }
        found
    }

    /// Returns the share of the tuples that have a row, where the model says it.
    fn share(&self, family: &Family) -> Option<f64> {
        declared_share(self.model, family.source, &family.when)
    }

    /// Returns the fan-out over these attributes that is not declared.
    fn missing(&self, family: &Family, known: &BTreeSet<ColumnPath>) -> Option<String> {
        if known.is_empty() {
            return None;
        }
        let relation = &self.model.relation(family.source).name.text;
        let names: Vec<String> =
            known.iter().map(|path| self.model.path_text(family.source, path)).collect();
        Some(format!(
            "how many {relation} share one {0}: fanout {0} avg 10 p99 100 max 1k",
            names.join(", ")
        ))
    }

    fn setting(&self, target: &Target, name: &str, usual: f64) -> f64 {
        let set = self.model.settings.get(&target.name).and_then(|all| all.get(name));
        set.copied().unwrap_or(usual)
    }
}
