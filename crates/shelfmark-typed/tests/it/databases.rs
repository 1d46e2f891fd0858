//! Databases, environments, and which belongs to which.

use shelfmark_typed::{DatabaseInfo, ErrorKind, OrderedTable, Registry};

use crate::drivers::{n, on_every_driver};

#[test]
fn names_are_listed_and_come_back_after_opening_again() {
    on_every_driver(|bed| {
        let live = bed.registry.environment("live").unwrap();
        live.create_database("posts").unwrap();
        bed.registry.create_database("orphan").unwrap();
        bed.registry.assign("posts", "default").unwrap();
        let again = Registry::open(&bed.engine).unwrap();
        assert_eq!(again.environments().unwrap(), ["default", "live"]);
        let info = |name: &str, environments: &[&str]| DatabaseInfo {
            name: name.to_owned(),
            environments: environments.iter().map(|name| (*name).to_owned()).collect(),
        };
        let expected = [
            info("default", &["default"]),
            info("orphan", &[]),
            info("posts", &["default", "live"]),
        ];
        assert_eq!(again.databases().unwrap(), expected);
        let orphan = live.database("orphan").map(|_| ()).unwrap_err();
        assert_eq!(orphan.kind(), ErrorKind::Restricted);
        let orphan = live.create_database("orphan").map(|_| ()).unwrap_err();
        assert_eq!(orphan.kind(), ErrorKind::Restricted, "being there is no right to it");
    });
}

#[test]
fn one_name_in_two_databases_is_two_tables() {
    on_every_driver(|bed| {
        let environment = bed.registry.environment("default").unwrap();
        let (one, two) = (
            environment.create_database("one").unwrap(),
            environment.create_database("two").unwrap(),
        );
        let first: OrderedTable<u8, u8> = OrderedTable::named(&one, "t").unwrap();
        let second: OrderedTable<u8, u8> = OrderedTable::named(&two, "t").unwrap();
        first.write(&1, &1).unwrap();
        assert!(second.is_empty().unwrap());
        assert_eq!(one.tables().unwrap(), ["t"]);
    });
}

#[test]
fn a_deleted_database_is_gone_with_its_tables_and_may_come_back_empty() {
    on_every_driver(|bed| {
        let environment = bed.registry.environment("default").unwrap();
        let database = environment.create_database("posts").unwrap();
        let table: OrderedTable<u8, u8> = OrderedTable::named(&database, "t").unwrap();
        table.write(&1, &1).unwrap();
        bed.registry.delete_database("posts").unwrap();
        assert_eq!(table.read(&1).unwrap_err().kind(), ErrorKind::Restricted);
        assert_eq!(bed.registry.databases().unwrap().len(), 1);
        let again = environment.create_database("posts").unwrap();
        let table: OrderedTable<u8, u8> = OrderedTable::named(&again, "t").unwrap();
        assert!(table.is_empty().unwrap());
    });
}

#[test]
fn a_deleted_environment_loses_its_databases() {
    on_every_driver(|bed| {
        let live = bed.registry.environment("live").unwrap();
        let database = live.create_database("posts").unwrap();
        bed.registry.delete_environment("live").unwrap();
        assert_eq!(database.tables().unwrap_err().kind(), ErrorKind::Restricted);
        assert_eq!(bed.registry.environments().unwrap(), ["default"]);
        assert_eq!(bed.registry.databases().unwrap().len(), 2, "the database stays");
        assert_eq!(bed.registry.assign("posts", "live").unwrap_err().kind(), ErrorKind::NotFound);
    });
}

#[test]
fn names_have_rules() {
    on_every_driver(|bed| {
        for name in ["", "1a", "a b", "a/b", &"x".repeat(64), "ä", "-a"] {
            let error = bed.registry.environment(name).map(|_| ()).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Invalid, "{name:?}");
        }
        for name in ["dynamodb", "system", "system_schema", "shelfmark", "Shelfmark"] {
            let error = bed.registry.create_database(name).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Invalid, "{name:?}");
        }
        assert!(bed.registry.environment("a-1").is_ok());
        for name in ["", "_blobs"] {
            let error = OrderedTable::<u8, u8>::named(&bed.database, name).map(|_| ()).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Invalid, "{name:?}");
        }
    });
}

#[test]
fn a_table_is_opened_with_the_key_it_was_created_with() {
    on_every_driver(|bed| {
        OrderedTable::<(String, u32), u8>::named(&bed.database, "t").unwrap();
        assert!(OrderedTable::<(String, u32), String>::named(&bed.database, "t").is_ok());
        let error =
            OrderedTable::<(String, i32), u8>::named(&bed.database, "t").map(|_| ()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Mismatch);
        let error =
            shelfmark_typed::EntityTable::named(&bed.database, "t").map(|_| ()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Mismatch);
    });
}

#[test]
fn a_dropped_table_may_be_created_again_under_old_handles() {
    on_every_driver(|bed| {
        let table = bed.entities("t");
        table.partition("p").put("a", n(1)).unwrap();
        bed.database.drop_table("t").unwrap();
        assert_eq!(table.partition("p").get("a").unwrap_err().kind(), ErrorKind::NotFound);
        let again = bed.entities("t");
        again.partition("p").put("b", n(1)).unwrap();
        assert_eq!(table.partition("p").entities().count().unwrap(), 1);
    });
}
