//! Verifies O10: the target accepts the steps of a certified plan as requests.
//!
//! What it is not: it words no request. It looks at the tables and at the keys by the target's rules,
//! which it states for itself: names, columns and types of keys, empty texts, conditions on a sort key,
//! the order of uuids, keys of views, counters.
//!
//! Invariant: a plan passes only when none of these rules forbids it.

use super::projections::named;
use super::write_families::left_out_by;
use super::write_indexes::marked;
use super::write_parts::told_by;
use super::write_reads::holds_all;
use shelfmark_design_language::model::pattern::{Effect, EffectKind, Predicate, Source};
use shelfmark_design_language::model::schema::{
    Codec, Column, ColumnKind, Family, Part, ReadStep, Schema, Step, Stored, TableId, WriteStep,
    WriteStepKind,
};
use shelfmark_design_language::model::types::Type;
use shelfmark_design_language::model::{Model, OrderKey, Read, Term, Value, Write, canonical};
use shelfmark_design_language::syntax::tree::{BoundKind, CondOp, Existing};

/// Checks the steps of a read.
pub(super) fn read(
    model: &Model,
    schema: &Schema,
    read: &Read,
    steps: &[Step],
) -> Result<(), String> {
    let sorted = steps.iter().any(|step| matches!(step, Step::Sort(_)));
    for step in steps {
        let Some(step) = step.read() else { continue };
        whole_table(model, schema, step.table)?;
        match schema.target.as_str() {
            "dynamodb" => dynamo_step(schema, read, step)?,
            "cql" => cql_step(model, schema, read, step, sorted)?,
            "candb" => pair_of_texts(schema, step.table)?,
            "ordered" => ordered_step(schema, step)?,
            _ => {}
        }
    }
    Ok(())
}

/// Refuses what is no entity of CanDB: a partition key and a sort key, both texts, and no index.
fn pair_of_texts(schema: &Schema, id: TableId) -> Result<(), String> {
    let Some(table) = schema.tables.get(id) else { return Ok(()) };
    let text = |kind: &ColumnKind| match kind {
        ColumnKind::Text => true,
        ColumnKind::Typed(ty) => {
            matches!(ty, Type::Text(_) | Type::Enum(_) | Type::Uuid | Type::Ulid)
        }
    };
    let columns = (1..=2).contains(&table.kinds.len());
    let pair = table.partition == 1 && columns && table.kinds.iter().all(text);
    if pair && !table.is_index {
        return Ok(());
    }
    Err(format!("O10: {} is no table of partition and sort keys that are texts", table.name.text))
}

/// Refuses streams that go down, and indexes, of which there are none.
fn ordered_step(schema: &Schema, step: &ReadStep) -> Result<(), String> {
    let Some(table) = schema.tables.get(step.table) else { return Ok(()) };
    if table.is_index {
        return Err(format!("O10: {} is an index", table.name.text));
    }
    let last = step.bound.is_empty()
        && step.bounds.is_empty()
        && step.limit == Some(Term::Const(Value::Int(1)));
    let point = step.bound.len() == table.kinds.len() && step.bounds.is_empty();
    if step.desc && !point && !last {
        return Err(format!("O10: a stream of {} goes up", table.name.text));
    }
    Ok(())
}

/// Refuses changes that happen together, and whose partitions surely differ, where one message goes to
/// one partition.
fn one_partition(schema: &Schema, steps: &[WriteStep]) -> Result<(), String> {
    let changes = steps.iter().filter(|step| !step.kind.is_read());
    let placed = changes.filter_map(|step| Some((step.transaction?, &step.families)));
    let mut begun: Vec<(usize, &Part)> = Vec::new();
    for (transaction, ids) in placed {
        for family in ids.iter().filter_map(|id| schema.families.get(*id)) {
            let first = family.key.first().and_then(|column| column.parts.first());
            let Some(first @ Part::Literal(_)) = first else { continue };
            if begun.iter().any(|(other, part)| *other == transaction && *part != first) {
                return Err("O10: one message goes to one partition".to_owned());
            }
            begun.push((transaction, first));
        }
    }
    Ok(())
}

/// Checks the rows that a write changes.
pub(super) fn write(
    model: &Model,
    schema: &Schema,
    write: &Write,
    steps: &[WriteStep],
) -> Result<(), String> {
    for at in 0..steps.len() {
        marked(model, schema, write, (steps, at))?;
    }
    if schema.target == "candb" {
        for id in steps.iter().flat_map(|step| &step.families) {
            let family = schema.families.get(*id);
            family.map_or(Ok(()), |family| pair_of_texts(schema, family.table))?;
        }
        return one_partition(schema, steps);
    }
    if !matches!(schema.target.as_str(), "dynamodb" | "cql") {
        return Ok(());
    }
    for (at, step) in steps.iter().enumerate() {
        for id in &step.families {
            let Some(family) = schema.families.get(*id) else { continue };
            blind_beside(model, schema, (write, family), (steps, at))?;
            if schema.target == "dynamodb" && step.transaction.is_some() && step.kind.is_patch() {
                named_twice(model, write, family)?;
            }
            whole_table(model, schema, family.table)?;
            let base = schema.tables.get(family.table);
            let partition = base.map_or(1, |table| table.partition);
            let all = schema.target == "dynamodb";
            let told = if all { family.key.len() } else { partition };
            let alone = all || partition == 1;
            let open = |column: &Column| {
                may_be_empty(&column.parts) && !is_given_text(write, family, step, column)
            };
            let empty = family.key.iter().take(told).any(open);
            // A row of counters is not put: it is there once something is added to it.
            let counters = family.stored.iter().all(counts);
            let unsent = schema.target == "cql"
                && step.kind.is_put()
                && counters
                && !family.stored.is_empty();
            if alone && empty && !step.kind.is_read() && !unsent {
                return Err(format!("O10: a key of {} may be empty", family.name.text));
            }
            let adds = write.effects.iter().any(|effect| {
                effect.kind == EffectKind::Increment
                    && effect.relation == family.source
                    && effect.set.iter().any(|(column, _)| shows(model, family, *column))
            });
            if schema.target == "cql" && adds && step.kind.is_patch() && !family.adds_only {
                return Err(format!("O10: {} has no counter to add to", family.name.text));
            }
            if schema.target == "dynamodb" && step.transaction.is_some() {
                added_in_loops(model, write, family, step)?;
            }
            if schema.target == "dynamodb" && step.kind.is_patch() {
                summed_keys(model, schema, write, *id, family)?;
            }
            beyond(schema, write, family, (steps, step))?;
            let keeps = family.stored.iter().any(counts) && !family.stored.iter().all(counts);
            let alters = |kind| matches!(kind, EffectKind::Insert | EffectKind::Delete);
            let counted = family.stored.iter().any(|stored| {
                counts(stored)
                    && matches!(stored, Stored::Tally { relation, .. }
                        if write.effects.iter().any(|one| one.relation == *relation && alters(one.kind)))
            });
            if schema.target == "cql" && keeps && counted && step.kind.is_patch() {
                return Err(format!("O10: a counter of {} is not alone", family.name.text));
            }
        }
    }
    Ok(())
}

/// Returns true if a row keeps a number that is added to.
fn counts(stored: &Stored) -> bool {
    matches!(stored, Stored::Tally { fold, .. } if !fold.is_extreme())
}

/// Refuses a largest or smallest value where the target cannot ask for what is absent or smaller, and
/// among changes that its condition would cancel.
fn beyond(
    schema: &Schema,
    write: &Write,
    family: &Family,
    (steps, step): (&[WriteStep], &WriteStep),
) -> Result<(), String> {
    let keeps = family.stored.iter().any(|stored| {
        matches!(stored, Stored::Tally { relation, fold, .. } if fold.is_extreme()
            && write.effects.iter().any(|effect| effect.relation == *relation))
    });
    if !keeps || !step.kind.is_patch() {
        return Ok(());
    }
    let name = &family.name.text;
    if schema.target == "cql" {
        return Err(format!("O10: {name} keeps what no condition asks for"));
    }
    let mut others = steps.iter().filter(|other| !std::ptr::eq(*other, step));
    let together = others.any(|other| {
        !other.kind.is_read() && step.transaction.is_some() && other.transaction == step.transaction
    });
    match schema.target == "dynamodb" && together {
        true => Err(format!("O10: what {name} keeps may cancel the transaction")),
        false => Ok(()),
    }
}

/// Refuses two changes of one row type in a transaction whose keys some inputs make equal: changes
/// named by the same terms are one; changes named by other constants, or by inputs that the write says to
/// differ, concern two items.
fn named_twice(model: &Model, write: &Write, family: &Family) -> Result<(), String> {
    let changes = |kind| matches!(kind, EffectKind::Update | EffectKind::Increment);
    let own: Vec<_> = write
        .effects
        .iter()
        .filter(|one| one.relation == family.source && changes(one.kind) && one.each.is_none())
        .collect();
    for first in &own {
        for second in &own {
            let apart = first.key.iter().any(|(column, term)| {
                second.key.iter().any(|(other, value)| {
                    column == other
                        && matches!((term, value), (Term::Const(a), Term::Const(b)) if a != b)
                })
            });
            let apart = apart || told_by(model, write, (first, second), |_| true);
            if first.key != second.key && !apart {
                return Err(format!("O10: one item of {} may be named twice", family.name.text));
            }
        }
    }
    Ok(())
}

/// Refuses additions of a loop in a transaction where two rounds may be about one item, and puts of a
/// loop that pass over what is there.
fn added_in_loops(
    model: &Model,
    write: &Write,
    family: &Family,
    step: &WriteStep,
) -> Result<(), String> {
    if step.kind.each().is_none() {
        return Ok(());
    }
    let name = &family.name.text;
    for effect in &write.effects {
        let Some(each) = &effect.each else { continue };
        let own = effect.relation == each.relation
            && model.relation(effect.relation).key().iter().all(|at| {
                effect
                    .key
                    .iter()
                    .any(|(column, term)| column == at && *term == Term::Prior(vec![*at]))
            });
        let adds = effect.kind == EffectKind::Increment && effect.relation == family.source;
        // Tuples of one parent add to one item, unless what the loop asks for tells them apart.
        let asked = each.predicates.iter().filter(|one| one.op == CondOp::Eq);
        let asked: Vec<usize> = asked.filter_map(|one| one.path.first().copied()).collect();
        let apart = |via: usize| {
            let mut keys = model.relation(effect.relation).keys.iter();
            own && keys.any(|key| key.iter().all(|at| *at == via || asked.contains(at)))
        };
        let keeps = family.stored.iter().any(|stored| match stored {
            Stored::Tally { relation, via, .. } | Stored::Collect { relation, via, .. } => {
                *relation == effect.relation && !apart(*via)
            }
            Stored::Path(_) => false,
        });
        if step.kind.is_patch() && (adds && !own || keeps && alters_kept(family, effect)) {
            return Err(format!("O10: a transaction may add to one item of {name} twice"));
        }
        // What the loop does not name is looked for once, before it.
        let of_loop = effect.key.iter().any(|(column, term)| {
            model.relation(effect.relation).key().contains(column)
                && term
                    .compute(&|leaf| (!matches!(leaf, Term::Prior(_))).then_some(Value::Bool(true)))
                    .is_none()
        });
        let unless = effect.kind == EffectKind::Insert
            && effect.existing == Existing::Unless
            && effect.relation == family.source
            && of_loop
            && !own;
        if step.kind.is_put() && unless {
            return Err(format!("O10: what is there of {name} cancels the transaction"));
        }
    }
    Ok(())
}

/// Refuses puts `unless exists` of one of several parts of a write, where no read before has looked for
/// what may be there: the condition would end the other parts too.
fn blind_beside(
    model: &Model,
    schema: &Schema,
    (write, family): (&Write, &Family),
    (steps, at): (&[WriteStep], usize),
) -> Result<(), String> {
    let puts = steps.get(at).is_some_and(|step| step.kind.is_put() && step.kind.each().is_none());
    if !puts || write.effects.len() < 2 {
        return Ok(());
    }
    let passes = |effect: &&Effect| {
        effect.kind == EffectKind::Insert
            && effect.existing == Existing::Unless
            && effect.each.is_none()
            && effect.relation == family.source
            && !left_out_by(model, effect, family)
    };
    let looked = |effect: &Effect| {
        let own = model.relation(effect.relation).key();
        let of = |column: &usize| effect.key.iter().find(|(at, _)| at == column);
        steps.iter().take(at).any(|step| {
            let WriteStepKind::Read { bindings, .. } = &step.kind else { return false };
            let bound = |column: &usize| {
                let mut asked = bindings.iter();
                asked.any(|(path, by)| {
                    *path == [*column] && of(column).is_some_and(|(_, term)| term == by)
                })
            };
            let mut read = step.families.iter().filter_map(|id| schema.families.get(*id));
            let by_own =
                bindings.is_empty() || bindings.len() == own.len() && own.iter().all(bound);
            by_own && read.any(|one| one.source == family.source && holds_all(model, one))
        })
    };
    if write.effects.iter().filter(passes).all(looked) {
        return Ok(());
    }
    Err(format!("O10: what is there of {} cancels other parts", family.name.text))
}

/// Refuses sums in columns of index keys that are put together: an update adds to a number alone.
fn summed_keys(
    model: &Model,
    schema: &Schema,
    write: &Write,
    id: usize,
    family: &Family,
) -> Result<(), String> {
    let summed = |path: &[usize]| {
        write.effects.iter().any(|effect| {
            let set = |column: &usize| effect.set.iter().any(|(at, _)| at == column);
            effect.kind == EffectKind::Increment
                && effect.relation == family.source
                && path.first().is_some_and(set)
        })
    };
    for entry in schema.families.iter().filter(|entry| entry.base == Some(id)) {
        let below = schema.tables.get(entry.table).map_or(0, |table| table.kinds.len());
        let own = below.saturating_sub(family.key.len());
        let columns = entry.key.get(..own).unwrap_or(&entry.key);
        for (at, column) in columns.iter().enumerate() {
            let mut concerned = false;
            for part in &column.parts {
                if let Part::Hole { term, .. } = part {
                    term.columns(&mut |path| {
                        concerned |= summed(&canonical(model, entry.source, path));
                    });
                }
            }
            let alone = attribute(model, entry, &column.parts).is_some();
            // Where rows of other types have all columns, the first is one of the index's own.
            let shared = at == 0 && shares_column(model, schema, entry, columns);
            if concerned && (!alone || shared) {
                let name = &entry.name.text;
                return Err(format!("O10: the key of {name} is put together from a sum"));
            }
        }
    }
    Ok(())
}

/// Returns the conditions that an index asks of its rows beside those of the rows themselves.
pub(super) fn own_conditions<'s>(schema: &Schema, entry: &'s Family) -> &'s [Predicate] {
    let base = entry.base.and_then(|base| schema.families.get(base));
    let of_rows = base.map_or(entry.when.len(), |base| base.when.len());
    entry.when.get(of_rows..).unwrap_or(&[])
}

/// Returns true if rows of another type may have all attributes of an index's key under the same
/// names, so that the index has a column of its own in their place.
fn shares_column(model: &Model, schema: &Schema, entry: &Family, columns: &[Column]) -> bool {
    let named = |column: &Column| {
        let path = attribute(model, entry, &column.parts)?;
        let kind = stored_as(&model.path_type(entry.source, &path));
        Some((model.path_text(entry.source, &path), kind))
    };
    let names: Option<Vec<(String, &str)>> = columns.iter().map(named).collect();
    let Some(base) = entry.base.and_then(|base| schema.families.get(base)) else { return false };
    let entries = |id: usize| {
        schema.families.iter().any(|one| one.base == Some(id) && one.table == entry.table)
    };
    names.is_some_and(|names| {
        schema.families.iter().enumerate().any(|(id, other)| {
            let held = |(name, kind): &(String, &str)| {
                let mut paths = super::shelf::shown(model, other).into_iter();
                paths.any(|path| {
                    model.path_text(other.source, &path) == *name
                        && stored_as(&model.path_type(other.source, &path)) == *kind
                })
            };
            other.table == base.table
                && other.base.is_none()
                && !entries(id)
                && names.iter().all(held)
        })
    })
}

/// Returns the kind of attribute that values of a type are: those of two kinds have two names.
fn stored_as(ty: &Type) -> &'static str {
    match ty {
        Type::Int(_) | Type::Decimal(_) | Type::Timestamp => "N",
        Type::Bytes(_) => "B",
        Type::Bool => "BOOL",
        Type::List(..) => "L",
        _ => "S",
    }
}

/// Returns true if a change is surely made under a text that is not empty there: each effect gives it, by
/// a constant or by an input that its type keeps from being empty.
fn is_given_text(write: &Write, family: &Family, step: &WriteStep, column: &Column) -> bool {
    let filled = |term: &Term| match term {
        Term::Const(Value::Text(text)) => !text.is_empty(),
        Term::Param(at) => write.params.get(*at).is_some_and(|param| match &param.ty {
            Type::Text(domain) => domain.min > 0,
            Type::Bytes(sizes) => sizes.min > 0,
            Type::Enum(words) => !words.iter().any(String::is_empty),
            _ => true,
        }),
        _ => false,
    };
    let given = |effect: &Effect, wanted: usize| {
        // Under the old key lies what is changed in place or taken away.
        let set = effect.set.iter().filter(|_| step.kind.is_put());
        let mut terms = set.chain(&effect.key).filter(|(at, _)| *at == wanted);
        terms.next().is_some_and(|(_, term)| filled(term))
    };
    let fixed = |part: &Part| match part {
        Part::Hole { term: Term::Column(path), .. } => match path.as_slice() {
            [only] => {
                let mut own = write.effects.iter().filter(|one| one.relation == family.source);
                let any = own.clone().next().is_some();
                any && own.all(|one| given(one, *only))
            }
            _ => false,
        },
        _ => false,
    };
    column.parts.iter().any(fixed)
}

/// Returns true if a row has a column for an attribute of its own tuple, beside its key.
pub(super) fn shows(model: &Model, family: &Family, column: usize) -> bool {
    family.stored.iter().any(|stored| {
        matches!(stored, Stored::Path(path)
            if canonical(model, family.source, path).as_slice() == [column])
    })
}

/// Checks that the target makes a table with all its indexes.
fn whole_table(model: &Model, schema: &Schema, id: TableId) -> Result<(), String> {
    let below = |id: TableId| {
        let base = schema.families.iter().find(|one| one.table == id).and_then(|one| one.base);
        base.and_then(|base| schema.families.get(base)).map_or(id, |base| base.table)
    };
    let base = below(id);
    let (mut local, mut global) = (0.0, 0.0);
    for (other, form) in schema.tables.iter().enumerate().filter(|(other, _)| below(*other) == base)
    {
        table(model, schema, other)?;
        let own = form.kinds.len().saturating_sub(match form.is_index {
            true => schema.tables.get(base).map_or(0, |base| base.kinds.len()),
            false => 0,
        });
        if schema.target == "dynamodb" && form.desc.iter().take(own).any(|descends| *descends) {
            return Err(format!("O10: {} cannot be made with a descending key", form.name.text));
        }
        match (form.is_index, form.is_local) {
            (false, _) => {}
            (true, true) => local += 1.0,
            (true, false) => global += 1.0,
        }
    }
    let own = model.settings.get(&schema.target).and_then(|all| all.get("indexes.max"));
    if schema.target == "dynamodb" && (local > 5.0 || global > own.copied().unwrap_or(20.0)) {
        return Err("O10: a table has more indexes than can be made".to_owned());
    }
    if schema.target == "dynamodb" { named(model, schema, base) } else { Ok(()) }
}

/// Checks a table or index: its name and the columns of its key.
fn table(model: &Model, schema: &Schema, id: TableId) -> Result<(), String> {
    let Some(table) = schema.tables.get(id) else { return Ok(()) };
    let name = &table.name.text;
    let mut families = schema.families.iter().filter(|family| family.table == id);
    let base = families.clone().find_map(|family| schema.families.get(family.base?));
    let below = base.map_or(0, |base| base.key.len());
    let own = table.kinds.len().saturating_sub(if table.is_index { below } else { 0 });
    match schema.target.as_str() {
        "dynamodb" => {
            let signs = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-');
            if name.len() < 3 || name.len() > 255 || !name.chars().all(signs) {
                return Err(format!("O10: no table may be called {name}"));
            }
            let most = if table.is_index { 4 } else { 1 };
            if table.partition > most || own - table.partition.min(own) > most {
                return Err(format!("O10: the key of {name} has too many columns"));
            }
            let bad = |kind: &ColumnKind| matches!(kind, ColumnKind::Typed(Type::Bool));
            if table.kinds.iter().take(own).any(bad) {
                return Err(format!("O10: a truth value is in the key of {name}"));
            }
        }
        "cql" => {
            if name.len() > 48 || !name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
                return Err(format!("O10: no table may be called {name}"));
            }
            for family in families.clone() {
                let lost = super::shelf::shown(model, family).into_iter().find(|path| {
                    matches!(model.path_type(family.source, path), Type::List(..))
                        && optional(model, family, path)
                });
                if let Some(path) = lost {
                    let path = model.path_text(family.source, &path);
                    return Err(format!("O10: an empty {path} of {name} is an absent one"));
                }
            }
            let (true, Some(base)) = (table.is_index, base) else { return Ok(()) };
            if families.clone().any(|family| !own_conditions(schema, family).is_empty()) {
                return Err(format!("O10: {name} has only some rows of its table"));
            }
            let wrong = families.any(|family| {
                let beside = family.key.iter().take(own).filter(|column| {
                    !base.key.iter().any(|other| {
                        attribute(model, base, &other.parts).is_some()
                            && attribute(model, base, &other.parts)
                                == attribute(model, family, &column.parts)
                    })
                });
                let beside: Vec<_> = beside.collect();
                beside.len() > 1
                    || beside.iter().any(|one| attribute(model, family, &one.parts).is_none())
            });
            if wrong {
                return Err(format!("O10: the key of {name} is none of a view"));
            }
        }
        _ => {}
    }
    Ok(())
}

/// Returns true if some attribute on the way may be absent.
fn optional(model: &Model, family: &Family, path: &[usize]) -> bool {
    (1..=path.len()).any(|length| {
        let owner = model.path_owner(family.source, path.get(..length).unwrap_or(&[]));
        let column = path.get(length - 1).and_then(|at| model.relation(owner).columns.get(*at));
        column.is_some_and(|column| column.optional)
    })
}

/// Returns the attribute that a key column consists of.
pub(super) fn attribute(model: &Model, family: &Family, parts: &[Part]) -> Option<Vec<usize>> {
    match parts {
        [Part::Hole { term: Term::Column(path), codec: Codec::Native, .. }] => {
            Some(canonical(model, family.source, path))
        }
        [Part::Hole { term: Term::Column(path), ty, codec: Codec::Plain }, Part::End]
            if ty.is_text() =>
        {
            Some(canonical(model, family.source, path))
        }
        _ => None,
    }
}

/// Returns true if an effect may change what rows of a family keep of its tuple.
fn alters_kept(family: &Family, effect: &Effect) -> bool {
    effect.kind != EffectKind::Update
        || family.stored.iter().any(|stored| match stored {
            Stored::Tally { when, fold, via, .. } => effect.set.iter().any(|(column, _)| {
                fold.column() == Some(*column)
                    || via == column
                    || when.iter().any(|one| one.path.first() == Some(column))
            }),
            _ => false,
        })
}

/// Returns true if a key of these parts may be empty, by the types of their holes.
fn may_be_empty(parts: &[Part]) -> bool {
    parts.iter().all(|part| match part {
        Part::Literal(text) => text.is_empty(),
        Part::End => true,
        Part::Hole { term: Term::Const(Value::Text(text)), .. } => text.is_empty(),
        Part::Hole { term: Term::Const(_), .. } => false,
        Part::Hole { ty: Type::Text(domain), .. } => domain.min == 0,
        Part::Hole { ty: Type::Bytes(sizes), .. } => sizes.min == 0,
        Part::Hole { ty: Type::Enum(words), .. } => words.iter().any(String::is_empty),
        Part::Hole { .. } => false,
    })
}

/// Returns true if a text of these parts may be empty, by the types of the inputs: an input may be
/// less than what it is compared with.
fn input_may_be_empty(read: &Read, parts: &[Part]) -> bool {
    let own = |part: &Part| match part {
        Part::Hole { term: Term::Param(at), codec, .. } => Part::Hole {
            term: Term::Param(*at),
            ty: read.params.get(*at).map_or(Type::Uuid, |param| param.ty.clone()),
            codec: *codec,
        },
        other => other.clone(),
    };
    may_be_empty(&parts.iter().map(own).collect::<Vec<_>>())
}

fn dynamo_step(schema: &Schema, read: &Read, step: &ReadStep) -> Result<(), String> {
    if step.bound.iter().any(|parts| input_may_be_empty(read, parts)) {
        return Err("O10: a value of the key may be empty".to_owned());
    }
    let low = |kind: BoundKind| matches!(kind, BoundKind::From | BoundKind::After);
    for (kind, parts) in &step.bounds {
        if step.bounds.len() == 1
            && matches!(kind, BoundKind::Begins)
            && input_may_be_empty(read, parts)
        {
            return Err("O10: begins_with takes no empty text".to_owned());
        }
    }
    // Before and behind a whole value lies another one, which BETWEEN includes.
    let whole = |ty: &Type| matches!(ty, Type::Int(_) | Type::Timestamp | Type::Date);
    let typed = schema
        .tables
        .get(step.table)
        .and_then(|table| table.kinds.get(step.bound.len()))
        .is_some_and(|kind| matches!(kind, ColumnKind::Typed(ty) if !whole(ty)));
    let open = |kind: &BoundKind| matches!(kind, BoundKind::After | BoundKind::Before);
    let one_side = step.bounds.len() == 2 && {
        let lows = step.bounds.iter().filter(|(kind, _)| low(*kind)).count();
        lows != 1
    };
    if step.bounds.len() > 2
        || one_side
        || typed && step.bounds.len() == 2 && step.bounds.iter().any(|(kind, _)| open(kind))
    {
        return Err("O10: a sort key takes one condition".to_owned());
    }
    Ok(())
}

fn cql_step(
    model: &Model,
    schema: &Schema,
    read: &Read,
    step: &ReadStep,
    sorted: bool,
) -> Result<(), String> {
    let Some(table) = schema.tables.get(step.table) else { return Ok(()) };
    if let ([only], 1) = (step.bound.get(..1).unwrap_or(&[]), table.partition)
        && input_may_be_empty(read, only)
    {
        return Err("O10: the partition key may be empty".to_owned());
    }
    let uuid = |kind: &ColumnKind| matches!(kind, ColumnKind::Typed(Type::Uuid));
    let at = step.bound.len();
    if !step.bounds.is_empty() && table.kinds.get(at).is_some_and(uuid) {
        return Err("O10: a range of uuids is another in the target's order".to_owned());
    }
    for (kind, parts) in &step.bounds {
        if matches!(kind, BoundKind::Begins) && input_may_be_empty(read, parts) {
            return Err("O10: what a text begins with may be empty".to_owned());
        }
    }
    if is_by_uuid(model, read) && !sorted && table.kinds.iter().skip(at).any(uuid) {
        return Err("O10: uuids are in another order in the target".to_owned());
    }
    Ok(())
}

/// Returns true if a uuid decides the order of some rows: it is not that of all that a read of one row
/// type fixes before it, and nothing before it tells the row.
fn is_by_uuid(model: &Model, read: &Read) -> bool {
    let decides = |(place, source): (usize, &Source)| {
        let relation = source.relation;
        let fixed = source.predicates.iter().filter(|one| one.op == CondOp::Eq);
        let mut known: Vec<Vec<usize>> =
            fixed.map(|one| canonical(model, relation, &one.path)).collect();
        read.order.iter().any(|(key, _)| {
            let OrderKey::Columns(paths) = key else { return false };
            let Some(path) = paths.get(place).and_then(Option::as_ref) else { return false };
            let path = canonical(model, relation, path);
            let uuid = model.path_type(relation, &path) == Type::Uuid;
            let found = model.relation(relation);
            let given = |column: &usize| {
                let optional = found.columns.get(*column).is_none_or(|one| one.optional);
                !optional && known.contains(&vec![*column])
            };
            let whole = |key: &Vec<usize>| key.iter().all(given);
            let mut keys = found.keys.iter();
            let told = read.sources.len() == 1 && (known.contains(&path) || keys.any(whole));
            known.push(path);
            uuid && !told
        })
    };
    read.sources.iter().enumerate().any(decides)
}

#[cfg(test)]
mod tests;
