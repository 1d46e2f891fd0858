//! Spaces seen from outside: which there are, who is in them, and their end.

use shelfmark_conformance::Lane as _;
use shelfmark_conformance::terse::{add, get, put, write};
use shelfmark_tikv::Spaces;

use crate::lanes::Space;

#[test]
#[ignore = "needs a cluster: cargo xtask tikv"]
fn a_space_is_listed_while_it_holds_keys_and_is_removed_whole() {
    let [one, beside] = [Space::new("listed"), Space::new("beside")];
    let spaces = Spaces::connect(one.options().clone()).unwrap();
    let name = one.options().space.as_str();
    assert_eq!(spaces.names(name).unwrap(), Vec::<String>::new());
    assert_eq!(spaces.remove(name).unwrap(), 0);
    let (store, other) = (one.open(), beside.open());
    write(&*other, vec![put("a", "stays")]);
    for part in 0..5 {
        // More than one transaction deletes, in several regions.
        let rows = (0..500).map(|row| put(format!("{part}/{row:03}"), "v".repeat(4000)));
        write(&*store, rows.chain([add("n", 1)]).collect());
    }
    assert_eq!(spaces.names(name).unwrap(), [name]);
    assert_eq!(spaces.names(&name[..name.len() - 1]).unwrap(), [name]);
    assert!(spaces.names("").unwrap().contains(&beside.options().space));
    assert!(spaces.is_in_use(name).unwrap());
    store.close().unwrap();
    assert!(!spaces.is_in_use(name).unwrap());
    assert!(spaces.remove(name).unwrap() >= 2501);
    assert_eq!(spaces.names(name).unwrap(), Vec::<String>::new());
    for kind in 0..3 {
        assert_eq!(one.raw_rows(kind), [], "kind {kind}");
    }
    assert_eq!(get(&*other, "a").unwrap(), "stays");
    assert!(spaces.is_in_use(&beside.options().space).unwrap());
    assert!(spaces.remove("No Name").is_err());
    // What was removed can be had again.
    write(&*one.open(), vec![put("a", "new")]);
    assert_eq!(spaces.names(name).unwrap(), [name]);
}
