//! Imports `SELECT` statements as reads; where there is none, writes a comment that asks for them.

use shelfmark_cql_syntax::ast::{
    InValues, IntegerValue, Literal, LiteralKind, Operator, Relation, SelectClause, Selector, Term,
};

use super::{Index, Query, Table};
use crate::names::{Names, comment};

/// Returns the reads of a script; `written` holds entity and column names of each table.
pub(super) fn reads(
    tables: &[Table],
    written: &mut [(String, Names)],
    queries: &[Query],
) -> String {
    let mut out = String::from("\n");
    let mut names = Names::default();
    let mut asked = vec![false; tables.len()];
    for query in queries {
        let named = &query.select.table;
        let table = named.name.as_str();
        let view = |one: &Table| {
            let found = one.indexes.iter().position(|index| index.is_view && index.name == table);
            found.filter(|_| one.is_beside(named))
        };
        let at = tables
            .iter()
            .position(|one| one.is_named(named))
            .or_else(|| tables.iter().position(|one| view(one).is_some()));
        let fewer = at.and_then(|at| tables.get(at)).is_some_and(|one| {
            one.name != table
                && view(one).and_then(|at| one.indexes.get(at)).is_some_and(|view| view.filtered)
        });
        let found = at.and_then(|at| Some((tables.get(at)?, written.get_mut(at)?)));
        let read = found.ok_or_else(|| format!("there is no table {table}")).and_then(
            |(table, (entity, columns))| {
                if fewer {
                    return Err("its view holds fewer rows than the table".to_owned());
                }
                let view = table
                    .indexes
                    .iter()
                    .find(|index| index.is_view && index.name == query.select.table.name.as_str());
                let view = view.filter(|view| view.name != table.name);
                let (params, remarks) = (Vec::new(), Vec::new());
                Reading { table, view, columns, query, params, remarks }.read(entity, &mut names)
            },
        );
        match read {
            Ok(text) => {
                if let Some(remark) = &query.remark {
                    out.push_str(&format!("# {remark}\n"));
                }
                out.push_str(&text);
                if let Some(slot) = at.and_then(|at| asked.get_mut(at)) {
                    *slot = true;
                }
            }
            Err(why) => out.push_str(&format!("# ? Not imported ({why}): {}\n", query.text)),
        }
    }
    for ((table, (entity, columns)), asked) in tables.iter().zip(written).zip(asked) {
        if !asked {
            out.push_str(&stub(table, entity, columns, &mut names));
        }
    }
    out
}

/// Returns the read that the table's key is made for, as a question.
fn stub(table: &Table, entity: &str, columns: &mut Names, names: &mut Names) -> String {
    let partition: Vec<String> = table.partition.iter().map(|name| columns.of(name)).collect();
    let conds: Vec<String> = partition.iter().map(|name| format!("{name} = {name}")).collect();
    let order: Vec<String> = table
        .clustering
        .iter()
        .map(|(name, desc)| format!("{}{}", columns.of(name), if *desc { " desc" } else { "" }))
        .collect();
    let order = if order.is_empty() {
        " unique".to_owned()
    } else {
        format!(" order by {}", order.join(", "))
    };
    let says = table.options.says().map_or_else(String::new, |text| format!(" It says: {text}."));
    format!(
        "# ? What is {} read for?{says} Its key would serve:\n# read {}({}) = {entity} where {}{order}\n",
        comment(&table.name),
        names.fresh(&format!("read_{}", table.name)),
        partition.join(", "),
        conds.join(" and ")
    )
}

struct Reading<'a> {
    table: &'a Table,
    /// The view that is read, if it is one.
    view: Option<&'a Index>,
    columns: &'a mut Names,
    query: &'a Query,
    params: Vec<String>,
    /// Remarks on what the read lacks, and questions.
    remarks: Vec<String>,
}

impl Reading<'_> {
    fn read(&mut self, entity: &str, names: &mut Names) -> Result<String, String> {
        let select = &self.query.select;
        if select.json || select.distinct || !select.group_by.is_empty() {
            return Err("JSON, DISTINCT and GROUP BY".to_owned());
        }
        if select.per_partition_limit.is_some() {
            return Err("PER PARTITION LIMIT".to_owned());
        }
        let (aggregate, shown) = self.shown()?;
        let mut conds = Vec::new();
        for relation in &select.relations {
            conds.extend(self.cond(relation)?);
        }
        for name in self.held() {
            conds.push(format!("{} is present", self.column(&name)?));
        }
        let mut order = Vec::new();
        let unique = aggregate.is_empty() && self.fixes_one();
        if select.order_by.is_empty() && aggregate.is_empty() && !unique {
            for (name, desc) in self.given_order() {
                let name = self.column(&name)?;
                order.push(format!("{name}{}", if desc { " desc" } else { "" }));
            }
        }
        for one in &select.order_by {
            if one.ann_of.is_some() {
                return Err("an order by nearness".to_owned());
            }
            let desc = one.direction == shelfmark_cql_syntax::ast::Direction::Descending;
            let name = self.column(one.column.as_str())?;
            order.push(format!("{name}{}", if desc { " desc" } else { "" }));
        }
        let limit = match &select.limit {
            None => String::new(),
            Some(IntegerValue::Integer(digits)) => {
                let number: u32 =
                    digits.parse().map_err(|_| "a limit that is no number".to_owned())?;
                format!(" limit {number}")
            }
            Some(IntegerValue::Marker(marker)) => {
                format!(" limit {}", self.param(marker.index, "n"))
            }
        };
        let clause = |word: &str, list: &[String], between: &str| {
            if list.is_empty() { String::new() } else { format!(" {word} {}", list.join(between)) }
        };
        let name = names.fresh(&format!("read_{}", select.table.name.as_str()));
        let unique = if unique { " unique" } else { "" };
        if select.allow_filtering {
            self.remarks.insert(0, "ALLOW FILTERING in CQL".to_owned());
        }
        let remarks = match self.remarks.as_slice() {
            [] => String::new(),
            remarks => format!("  # {}", comment(&remarks.join("; "))),
        };
        Ok(format!(
            "read {name}({}) = {aggregate}{entity}{shown}{}{}{limit}{unique}{remarks}\n",
            self.params.join(", "),
            clause("where", &conds, " and "),
            clause("order by", &order, ", "),
        ))
    }

    /// Returns the key of the table or view that is read: its partition's columns, and the others
    /// with their direction.
    fn key(&self) -> (&[String], &[(String, bool)]) {
        match self.view {
            Some(view) => (&view.partition, &view.clustering),
            None => (&self.table.partition, &self.table.clustering),
        }
    }

    fn compared(&self, name: &str, equal: bool) -> bool {
        self.query.select.relations.iter().any(|one| match one {
            Relation::Column { column, operator, .. } => {
                column.as_str() == name && (!equal || *operator == Operator::Equal)
            }
            Relation::In { column, .. } => column.as_str() == name && !equal,
            _ => false,
        })
    }

    /// Returns true if the whole key is compared by equality: there is one row at most.
    fn fixes_one(&self) -> bool {
        let (partition, clustering) = self.key();
        let mut key = partition.iter().chain(clustering.iter().map(|(name, _)| name));
        key.all(|name| self.compared(name, true))
    }

    /// Returns the order in which CQL gives the rows of one partition, although the statement is silent.
    fn given_order(&self) -> Vec<(String, bool)> {
        let (partition, clustering) = self.key();
        if !partition.iter().all(|name| self.compared(name, true)) {
            return Vec::new();
        }
        let free = clustering.iter().filter(|(name, _)| !self.compared(name, true));
        free.cloned().collect()
    }

    /// Returns the conditions that every row of the view satisfies, where the read does not say
    /// them.
    fn held(&self) -> Vec<String> {
        let Some(view) = self.view else { return Vec::new() };
        let key = view.partition.iter().chain(view.clustering.iter().map(|(name, _)| name));
        let free = key.filter(|name| !self.table.in_key(name) && !self.compared(name, false));
        free.cloned().collect()
    }

    fn shown(&mut self) -> Result<(&'static str, String), String> {
        let SelectClause::Items(items) = &self.query.select.selection else {
            return Ok(("", String::new()));
        };
        if let [only] = items.as_slice()
            && matches!(only.selector, Selector::CountRows)
        {
            return Ok(("count of ", String::new()));
        }
        let mut names = Vec::new();
        for item in items {
            let Selector::Column(name) = &item.selector else {
                return Err("it selects what is no column".to_owned());
            };
            names.push(self.column(name.as_str())?);
        }
        Ok(("", format!(" select {}", names.join(", "))))
    }

    fn column(&mut self, name: &str) -> Result<String, String> {
        if self.table.column(name).is_none() {
            return Err(format!("{} has no column {}", comment(&self.table.name), comment(name)));
        }
        Ok(self.columns.of(name))
    }

    fn cond(&mut self, relation: &Relation) -> Result<Option<String>, String> {
        match relation {
            Relation::IsNotNull { .. } => Ok(None),
            Relation::Column { column, operator, value } => {
                let word = match operator {
                    Operator::Equal => "=",
                    Operator::Less => "<",
                    Operator::LessOrEqual => "<=",
                    Operator::Greater => ">",
                    Operator::GreaterOrEqual => ">=",
                    Operator::Contains => "contains",
                    _ => return Err(format!("the operator {}", operator.text())),
                };
                let name = self.column(column.as_str())?;
                let value = self.value(value, &name)?;
                Ok(Some(format!("{name} {word} {value}")))
            }
            Relation::In { column, values: InValues::Marker(marker) } => {
                let name = self.column(column.as_str())?;
                let list = self.param(marker.index, &format!("{name}_list"));
                self.remarks.push(format!("? how many at most: {name} in {list} max 10"));
                Ok(Some(format!("{name} in {list}")))
            }
            Relation::In { .. } => Err("IN with a list of values".to_owned()),
            _ => Err("a condition on several columns, a token or an element".to_owned()),
        }
    }

    fn value(&mut self, value: &Term, name: &str) -> Result<String, String> {
        match value {
            Term::Marker(marker) => Ok(self.param(marker.index, name)),
            Term::Literal(Literal { kind: LiteralKind::Integer, text, .. }) => {
                let number: i64 =
                    text.parse().map_err(|_| "a number of more than 64 bits".to_owned())?;
                Ok(number.to_string())
            }
            Term::Literal(Literal { kind: LiteralKind::Boolean, text, .. }) => {
                Ok(text.to_ascii_lowercase())
            }
            // A quoted constant may stand for a date or a time too: it becomes an input.
            Term::Literal(literal) => {
                let input = self.named(name);
                self.remarks.push(format!("{input} is {literal} in CQL"));
                Ok(input)
            }
            _ => Err("a value that is computed".to_owned()),
        }
    }

    /// Returns the input for a marker: named as the marker is, or as the column.
    fn param(&mut self, index: usize, name: &str) -> String {
        let marker = self.query.markers.get(index).cloned().flatten();
        match marker {
            Some(marker) => {
                let plain = Names::default().fresh(&marker);
                if !self.params.contains(&plain) {
                    self.params.push(plain.clone());
                }
                plain
            }
            None => self.named(name),
        }
    }

    fn named(&mut self, name: &str) -> String {
        let mut found = name.to_owned();
        let mut number = 2;
        while self.params.contains(&found) {
            found = format!("{name}_{number}");
            number += 1;
        }
        self.params.push(found.clone());
        found
    }
}
