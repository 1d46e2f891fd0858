//! Case 12: renaming: onto a taken key under each policy, onto itself, from an absent key.

use shelfmark_typed::{Attributes, ErrorKind, Overwrite};

use crate::drivers::{n, on_every_driver};

#[test]
fn a_rename_onto_a_taken_key_does_what_the_policy_says() {
    on_every_driver(|bed| {
        let table = bed.entities("t");
        let fresh = |pk: &str| {
            let partition = table.partition(pk);
            partition.put("a", n(1).with("from", "a")).unwrap();
            partition.put("b", n(2).with("only", "b")).unwrap();
            partition
        };
        let replaced = fresh("replace");
        let old = replaced.rename("a", "b", Overwrite::Replace).unwrap().unwrap();
        assert_eq!((old.sk.as_str(), &old.attributes), ("a", &n(1).with("from", "a")));
        assert_eq!(replaced.get("b").unwrap().unwrap().attributes, n(1).with("from", "a"));
        assert_eq!((replaced.exists("a").unwrap(), replaced.count().unwrap()), (false, 1));

        let refused = fresh("refuse");
        let error = refused.rename("a", "b", Overwrite::Refuse).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::AlreadyExists);
        assert_eq!(refused.get("a").unwrap().unwrap().attributes, n(1).with("from", "a"));
        assert_eq!(refused.get("b").unwrap().unwrap().attributes, n(2).with("only", "b"));
        assert_eq!(refused.rename("a", "c", Overwrite::Refuse).unwrap().unwrap().sk, "a");
        assert!(refused.exists("c").unwrap());

        let merged = fresh("merge");
        merged.rename("a", "b", Overwrite::Merge).unwrap().unwrap();
        let both = n(1).with("from", "a").with("only", "b");
        assert_eq!(merged.get("b").unwrap().unwrap().attributes, both);
        assert_eq!(merged.count().unwrap(), 1);
    });
}

#[test]
fn a_rename_onto_itself_changes_nothing() {
    on_every_driver(|bed| {
        let partition = bed.entities("t").partition("p");
        partition.put("a", n(1)).unwrap();
        for overwrite in [Overwrite::Replace, Overwrite::Refuse, Overwrite::Merge] {
            let same = partition.rename("a", "a", overwrite).unwrap().unwrap();
            assert_eq!(same.attributes, n(1));
            assert_eq!((partition.get("a").unwrap(), partition.count().unwrap()), (Some(same), 1));
        }
    });
}

#[test]
fn a_rename_from_an_absent_key_leaves_the_other_alone() {
    on_every_driver(|bed| {
        let partition = bed.entities("t").partition("p");
        partition.put("b", n(2)).unwrap();
        for overwrite in [Overwrite::Replace, Overwrite::Refuse, Overwrite::Merge] {
            assert_eq!(partition.rename("a", "b", overwrite).unwrap(), None);
            assert_eq!(partition.get("b").unwrap().unwrap().attributes, n(2));
        }
        assert_eq!(partition.count().unwrap(), 1);
    });
}

#[test]
fn the_expiry_goes_along() {
    on_every_driver(|bed| {
        let partition = bed.entities("t").partition("p");
        partition.put_with_ttl("a", Attributes::new(), std::time::Duration::from_secs(10)).unwrap();
        partition.rename("a", "b", Overwrite::Refuse).unwrap();
        partition.update("b", |_| n(3)).unwrap();
        assert_eq!(partition.get("b").unwrap().unwrap().expires_at, Some(1_700_000_010));
        bed.seconds(10);
        assert_eq!(partition.get("b").unwrap(), None);
        assert!(!partition.exists("b").unwrap());
    });
}
