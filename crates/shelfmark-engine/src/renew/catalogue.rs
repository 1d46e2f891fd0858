//! The catalogue after part of it was lost: ids of what it does not know any more are given up, and
//! views and their bases know of each other.

use std::collections::BTreeSet;

use shelfmark_keycode::take_ordered_varint;
use shelfmark_model::TableName;
use shelfmark_records::cells::CellsLayout;
use shelfmark_records::keys::{Tree, tree_range};
use shelfmark_store::KeyRange;
use shelfmark_tables::rows::{Moment, Walk};
use shelfmark_tables::{ErrorKind, Result};

use super::pen::persistently;
use super::{Mended, Teller};
use crate::inner::Inner;

pub(super) fn mend(inner: &Inner, tell: &mut Teller<'_>) -> Result<()> {
    ids(inner, tell)?;
    for name in inner.catalogue.names(None, None, usize::MAX)? {
        if is_unreadable(inner, &name)? {
            continue;
        }
        views_of(inner, &name, tell)?;
        base_of(inner, &name, tell)?;
    }
    Ok(())
}

/// Has the keys of ids that no table has purged, and keeps all ids from being given again.
fn ids(inner: &Inner, tell: &mut Teller<'_>) -> Result<()> {
    let mut used = BTreeSet::new();
    let mut knows_all = true;
    for name in inner.catalogue.names(None, None, usize::MAX)? {
        if is_unreadable(inner, &name)? {
            knows_all = false;
            continue;
        }
        let table = inner.catalogue.table(&name)?;
        used.insert(table.id);
        used.extend(&table.index_ids);
    }
    let dropped: BTreeSet<u64> =
        inner.catalogue.dropped()?.iter().map(|dropped| dropped.id).collect();
    let stored = stored_ids(inner)?;
    let all: BTreeSet<u64> = used.iter().chain(&dropped).chain(&stored).copied().collect();
    persistently(|| inner.catalogue.pass_over(&all))?;
    if !knows_all {
        // Rows of a table whose record cannot be read look as if they were nobody's.
        return Ok(());
    }
    let is_known = |id: &u64| used.contains(id) || dropped.contains(id);
    let strangers: Vec<u64> = stored.iter().filter(|id| !is_known(id)).copied().collect();
    // One that is back: what is written into it from now on is not to be purged.
    let kept: Vec<u64> = used.intersection(&dropped).copied().collect();
    persistently(|| inner.catalogue.set_dropped(&strangers, &kept))?;
    for id in strangers {
        tell(Mended::Unknown { id });
    }
    Ok(())
}

/// Tells whether neither the record of a table nor its copy can be read.
fn is_unreadable(inner: &Inner, name: &TableName) -> Result<bool> {
    match inner.catalogue.table(name) {
        Err(error) if error.kind() == ErrorKind::Corrupt => Ok(true),
        found => found.map(|_| false),
    }
}

/// Returns the ids that keys have.
pub(super) fn stored_ids(inner: &Inner) -> Result<BTreeSet<u64>> {
    let moment = Moment::take(&inner.store)?;
    let mut ids = BTreeSet::new();
    for tree in Tree::OF_IDS {
        let mut rest = Some(KeyRange::prefix(vec![tree as u8]));
        while let Some(range) = rest.take() {
            let Some(row) = Walk::over(range.clone()).next(&moment)? else { break };
            let mut after = row.key.get(1..).unwrap_or_default();
            let Ok(id) = take_ordered_varint(&mut after) else { break };
            ids.insert(id);
            rest = tree_range(tree, id).end.map(|start| KeyRange { start, end: range.end });
        }
    }
    Ok(ids)
}

/// Has a table forget the views that are not there.
fn views_of(inner: &Inner, name: &TableName, tell: &mut Teller<'_>) -> Result<()> {
    let table = inner.catalogue.table(name)?;
    let Some(cells) = &table.schema.cells else { return Ok(()) };
    for view in &cells.views {
        let is_there = match inner.catalogue.table(view) {
            Ok(own) => own.cells().is_ok_and(CellsLayout::is_view),
            Err(error) if error.kind() == ErrorKind::NotFound => false,
            Err(error) => return Err(error),
        };
        if is_there {
            continue;
        }
        persistently(|| {
            inner.catalogue.alter(name, |schema| {
                if let Some(cells) = &mut schema.cells {
                    cells.views.retain(|own| own != view);
                }
                Ok(())
            })
        })?;
        tell(Mended::ViewForgotten { view: view.clone(), base: name.clone() });
    }
    Ok(())
}

/// Has the base of a view know of it, if there is one.
fn base_of(inner: &Inner, name: &TableName, tell: &mut Teller<'_>) -> Result<()> {
    let view = inner.catalogue.table(name)?;
    let Some(schema) = view.schema.cells.as_ref().and_then(|cells| cells.view_of.as_ref()) else {
        return Ok(());
    };
    let base = match inner.catalogue.table(&schema.base) {
        Ok(base) => base,
        Err(error) if error.kind() == ErrorKind::NotFound => {
            tell(Mended::ViewWithoutBase { view: name.clone(), base: schema.base.clone() });
            return Ok(());
        }
        Err(error) => return Err(error),
    };
    let lacks = base.schema.cells.as_ref().is_some_and(|cells| !cells.views.contains(name));
    if lacks {
        persistently(|| {
            inner.catalogue.alter(&schema.base, |base| {
                let cells = base.cells.as_mut();
                if let Some(cells) = cells.filter(|cells| !cells.views.contains(name)) {
                    cells.views.push(name.clone());
                }
                Ok(())
            })
        })?;
    }
    Ok(())
}
