//! Compares two schemas pattern by pattern, in units and in dollars a month.
//!
//! What it is not: no judgement; both are counted by the same rules.

use std::fmt;

use super::SchemaCost;
use crate::price::Prices;

/// Two schemas side by side.
#[derive(Debug, Clone)]
pub struct Beside {
    /// The schema that people wrote.
    pub written: SchemaCost,
    /// The derived one.
    pub planned: SchemaCost,
    /// Patterns that the written schema does not serve; no rows are derived for them.
    pub left_out: Vec<String>,
    /// The derived schema as text.
    pub schema: String,
}

impl Beside {
    /// Returns the dollars a month of what both serve, storage included: written, then planned.
    #[must_use]
    pub fn months(&self) -> (f64, f64) {
        let mut sums = (self.written.storage, self.planned.storage);
        for one in self.written.patterns.iter().filter(|one| one.served) {
            if let Some(other) = self.planned.pattern(&one.name).filter(|other| other.served) {
                sums.0 += one.month;
                sums.1 += other.month;
            }
        }
        sums
    }

    /// Returns the cost of the planned schema as a part of that of the written one.
    #[must_use]
    pub fn ratio(&self) -> f64 {
        let (written, planned) = self.months();
        if written > 0.0 { planned / written } else { 1.0 }
    }

    /// Returns the writes that cost more write units in the planned schema.
    #[must_use]
    pub fn dearer_writes(&self) -> Vec<&str> {
        let dearer = self.written.patterns.iter().filter(|one| one.write && one.served);
        dearer
            .filter(|one| {
                self.planned
                    .pattern(&one.name)
                    .is_some_and(|other| other.served && other.write_units > one.write_units + 1e-9)
            })
            .map(|one| one.name.as_str())
            .collect()
    }
}

impl fmt::Display for Beside {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (left, right) = (&self.written, &self.planned);
        let width = left.patterns.iter().map(|one| one.name.len()).chain([8]).max().unwrap_or(8);
        writeln!(out, "{} beside {}, for {}", right.schema, left.schema, right.target)?;
        writeln!(
            out,
            "  {:width$}  {:>9}  {:>14}  {:>12}  {:>14}  {:>12}",
            "pattern", "calls/s", left.schema, "$/month", right.schema, "$/month"
        )?;
        for one in &left.patterns {
            let Some(other) = right.pattern(&one.name) else { continue };
            let rate = format!("{}{}", number(one.rate), if one.declared { "" } else { "?" });
            let cell = |one: &super::PatternCost| {
                if one.served { units(one) } else { "not served".to_owned() }
            };
            let money = |one: &super::PatternCost| {
                if one.served { dollars(one.month) } else { "-".to_owned() }
            };
            writeln!(
                out,
                "  {:width$}  {rate:>9}  {:>14}  {:>12}  {:>14}  {:>12}",
                one.name,
                cell(one),
                money(one),
                cell(other),
                money(other)
            )?;
        }
        let (written, planned) = self.months();
        let line = |name: &str, a: String, b: String| {
            format!("  {name:width$}  {:>9}  {:>14}  {a:>12}  {:>14}  {b:>12}\n", "", "", "")
        };
        out.write_str(&line("storage", dollars(left.storage), dollars(right.storage)))?;
        out.write_str(&line("both serve", dollars(written), dollars(planned)))?;
        out.write_str(&line("tables", left.tables.to_string(), right.tables.to_string()))?;
        out.write_str(&line("indexes", left.indexes.to_string(), right.indexes.to_string()))?;
        writeln!(out, "  {} costs {:.2} of {}", right.schema, self.ratio(), left.schema)?;
        if !self.left_out.is_empty() {
            let names = self.left_out.join(", ");
            writeln!(out, "  left out, because {} does not serve them: {names}", left.schema)?;
        }
        if let Some(prices) = Prices::of(&right.target) {
            writeln!(out, "  prices of {}: {}", prices.date, prices.source)?;
        }
        let assumed = left.assumptions();
        assumed.lines().try_for_each(|line| writeln!(out, "  {line}"))?;
        Ok(())
    }
}

impl SchemaCost {
    /// Returns a line for each kind of number that is not declared, with what is taken instead.
    #[must_use]
    pub fn assumptions(&self) -> String {
        let listed = |all: &[(String, f64)]| {
            let texts = all.iter().map(|(name, count)| format!("{} {name}", number(*count)));
            texts.collect::<Vec<String>>().join(", ")
        };
        let mut out = String::new();
        if !self.assumed.is_empty() {
            out.push_str(&format!("no count is declared: about {}\n", listed(&self.assumed)));
        }
        if !self.assumed_rows.is_empty() {
            let rows = listed(&self.assumed_rows);
            out.push_str(&format!("no fan-out tells how many rows a call finds: about {rows}\n"));
        }
        if self.patterns.iter().any(|one| !one.declared) {
            let usual = crate::load::USUAL_RATE;
            out.push_str(&format!("? no rate is declared: {usual} calls a second\n"));
        }
        out
    }
}

fn units(one: &super::PatternCost) -> String {
    match (one.read_units > 0.0, one.write_units > 0.0) {
        (true, true) => format!("{} R {} W", number(one.read_units), number(one.write_units)),
        (_, true) => format!("{} W", number(one.write_units)),
        _ => format!("{} R", number(one.read_units)),
    }
}

/// Formats a figure with the digits that tell something.
pub(crate) fn number(value: f64) -> String {
    if value >= 1e6 {
        format!("{:.1}M", value / 1e6)
    } else if value >= 1e4 {
        format!("{:.1}k", value / 1e3)
    } else if value == value.round() {
        format!("{value:.0}")
    } else if value >= 1.0 {
        format!("{value:.1}")
    } else {
        format!("{value:.2}")
    }
}

/// Formats dollars.
pub(crate) fn dollars(value: f64) -> String {
    if value >= 100.0 { format!("{value:.0}") } else { format!("{value:.2}") }
}
