//! Many mutants in one build: each function has a body for each of its mutants, and a variable of the
//! environment says which body runs. A build of minutes is made once, not once for each mutant.
//!
//! What it is not: it draws no mutants and judges none; `cargo mutants` lists them, with their places.
//! Functions that are `const` or return an `impl` type have no such form; their mutants are not tried
//! here and are counted as that. Examples in documentation are not run.
//!
//! Invariant: the tree of the repository is not changed; what is built is a copy of it.

mod build;
mod rewrite;
mod tests_of;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::{Context as _, anyhow, bail};

use crate::mutants::area::Area;
use crate::mutants::judge::Verdict;
use crate::mutants::together::rewrite::{Built, Mutant, Rewritten};
use crate::run::{root, target_folder};

/// Rounds of leaving out what does not compile: errors of types hide those of borrows.
const ROUNDS_MAX: usize = 12;

/// Tests at one time.
const WORKERS: usize = 2;

/// Tries the named mutants of an area, of those that `listed` describes.
pub(crate) fn run(
    area: &Area,
    names: &[String],
    listed: &[serde_json::Value],
) -> anyhow::Result<Verdict> {
    let tree = copy()?;
    let wanted: BTreeSet<&str> = names.iter().map(String::as_str).collect();
    let mutants = listed.iter().filter_map(Mutant::read);
    let mutants: Vec<Mutant> = mutants.filter(|own| wanted.contains(own.name.as_str())).collect();
    let mut rewritten = Rewritten::of(&root(), mutants)?;
    let left_out = names.len() - rewritten.count();
    println!("{}: {left_out} are of functions that are const or return an impl type", area.name);
    let mut unviable = 0;
    for round in 0.. {
        rewritten.write(&tree)?;
        build::add_switch(&tree, area.package)?;
        let wrong = build::errors(&tree, area.package)?;
        if wrong.is_empty() {
            break;
        }
        let dropped = rewritten.drop_at(&wrong);
        if dropped == 0 || round == ROUNDS_MAX {
            bail!("the copy does not compile: {:?}", wrong.first());
        }
        unviable += dropped;
    }
    let tests = tests_of::build(&tree, area)?;
    let built: Vec<Built<'_>> = rewritten.built().collect();
    println!("{}: {} mutants in one build, {unviable} do not compile", area.name, built.len());
    let noticed = workers(&built, |_, mutant| {
        let noticed = tests_of::notice(&tests, mutant)?;
        if !noticed {
            println!("  not noticed: {}", mutant.name);
        }
        Ok(noticed)
    })?;
    let missed = built.iter().zip(&noticed).filter(|(_, noticed)| !**noticed);
    let missed: Vec<String> = missed.map(|(mutant, _)| mutant.name.to_owned()).collect();
    Ok(Verdict { noticed: built.len() - missed.len(), unviable, left_out, missed })
}

/// Works on every part, as many at a time as there are workers, and returns what came of them in order.
fn workers<T: Sync, R: Send>(
    parts: &[T],
    work: impl Fn(usize, &T) -> anyhow::Result<R> + Sync,
) -> anyhow::Result<Vec<R>> {
    let (next, done) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let one = || -> anyhow::Result<()> {
        loop {
            let place = next.fetch_add(1, Ordering::Relaxed);
            let Some(part) = parts.get(place) else { return Ok(()) };
            let result = work(place, part)?;
            done.lock().map_err(|_| anyhow!("a worker panicked"))?.push((place, result));
        }
    };
    std::thread::scope(|scope| {
        let running: Vec<_> = (0..WORKERS).map(|_| scope.spawn(one)).collect();
        running
            .into_iter()
            .try_for_each(|own| own.join().map_err(|_| anyhow!("a worker panicked"))?)
    })?;
    let mut done = done.into_inner().unwrap_or_default();
    done.sort_by_key(|(place, _)| *place);
    Ok(done.into_iter().map(|(_, result)| result).collect())
}

/// Copies what git knows of the tree, so that nothing that was built comes along. What the last copy has
/// already stays as it is: cargo builds just what is new, and what another area's mutants stood in.
///
/// One place for all areas: cargo looks for changes in the files that a crate was last built from, and
/// would take a crate of another area's copy for one of this.
fn copy() -> anyhow::Result<PathBuf> {
    let tree = target_folder().join("mutants/tree");
    std::fs::create_dir_all(&tree)?;
    let output = std::process::Command::new("git")
        .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
        .current_dir(root())
        .output()
        .context("cannot start git")?;
    let listed = String::from_utf8(output.stdout)?;
    let names: Vec<&str> =
        listed.split('\0').filter(|name| !name.is_empty() && root().join(name).is_file()).collect();
    let kept: BTreeSet<PathBuf> = names.iter().map(|name| tree.join(name)).collect();
    remove_others(&tree, &kept)?;
    for name in names {
        copy_if_new(&root().join(name), &tree.join(name)).with_context(|| name.to_owned())?;
    }
    Ok(tree)
}

/// Removes the files of a folder that are not among these.
fn remove_others(folder: &Path, kept: &BTreeSet<PathBuf>) -> anyhow::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            remove_others(&entry.path(), kept)?;
        } else if !kept.contains(&entry.path()) {
            std::fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

/// Copies a file, unless the same bytes stand there.
fn copy_if_new(from: &Path, to: &Path) -> anyhow::Result<()> {
    let bytes = std::fs::read(from)?;
    if std::fs::read(to).is_ok_and(|there| there == bytes) {
        return Ok(());
    }
    std::fs::create_dir_all(to.parent().unwrap_or(Path::new("/")))?;
    // Its time is that of the copy: cargo must see that it changed.
    std::fs::copy(from, to)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file that stays keeps its time, so that nothing is built anew because of it; one that a mutant
    /// stood in is as before, and one that is gone is gone.
    #[test]
    fn a_copy_changes_what_is_another() {
        let folder = std::env::temp_dir().join(format!("mutants-copy-{}", std::process::id()));
        let (from, to) = (folder.join("from"), folder.join("to"));
        for (path, text) in [
            (from.join("same"), "a"),
            (from.join("in/changed"), "b"),
            (to.join("same"), "a"),
            (to.join("in/changed"), "mutant"),
            (to.join("in/gone"), "c"),
        ] {
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let long_ago = std::time::SystemTime::UNIX_EPOCH;
        std::fs::File::options()
            .write(true)
            .open(to.join("same"))
            .unwrap()
            .set_modified(long_ago)
            .unwrap();
        remove_others(&to, &BTreeSet::from([to.join("same"), to.join("in/changed")])).unwrap();
        for name in ["same", "in/changed"] {
            copy_if_new(&from.join(name), &to.join(name)).unwrap();
        }
        let modified = to.join("same").metadata().unwrap().modified().unwrap();
        assert_eq!(modified, long_ago, "cargo would build it anew");
        assert_eq!(std::fs::read_to_string(to.join("in/changed")).unwrap(), "b");
        assert!(!to.join("in/gone").exists());
        std::fs::remove_dir_all(folder).unwrap();
    }
}
