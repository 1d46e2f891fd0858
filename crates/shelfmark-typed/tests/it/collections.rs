//! Cells and logs.

use serde::{Deserialize, Serialize};
use shelfmark_typed::{Cell, ErrorKind, LinearLog};

use crate::drivers::on_every_driver;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Settings {
    /// Also the name of the key column.
    name: String,
    dark: bool,
}

#[test]
fn a_cell_has_its_default_until_it_is_set() {
    on_every_driver(|bed| {
        let default = Settings { name: "none".to_owned(), dark: false };
        let cell = Cell::named(&bed.database, "settings", default.clone()).unwrap();
        assert_eq!(cell.read().unwrap(), default);
        let dark = Settings { name: "x".to_owned(), dark: true };
        cell.write(&dark).unwrap();
        let again = Cell::named(&bed.database, "settings", default.clone()).unwrap();
        assert_eq!(again.read().unwrap(), dark);
        cell.delete().unwrap();
        assert_eq!(again.read().unwrap(), default);
        let wrong = Cell::named(&bed.database, "settings", 0_u32).unwrap();
        cell.write(&dark).unwrap();
        assert_eq!(wrong.read().unwrap_err().kind(), ErrorKind::Mismatch);
    });
}

#[test]
fn modifying_answers_with_the_old_the_new_or_anything() {
    on_every_driver(|bed| {
        let cell = Cell::named(&bed.database, "n", 10_i64).unwrap();
        assert_eq!(cell.get_modify(|n| n + 1).unwrap(), 10);
        assert_eq!(cell.modify_get(|n| n + 1).unwrap(), 12);
        assert_eq!(cell.modify(|n| (n * 2, "doubled")).unwrap(), "doubled");
        assert_eq!(cell.read().unwrap(), 24);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..20 {
                        cell.modify_get(|n| n + 1).unwrap();
                    }
                });
            }
        });
        assert_eq!(cell.read().unwrap(), 104);
    });
}

#[test]
fn a_log_grows_at_its_end_and_keeps_its_holes() {
    on_every_driver(|bed| {
        let log: LinearLog<String> = LinearLog::named(&bed.database, "events").unwrap();
        assert_eq!((log.size().unwrap(), log.at(0).unwrap()), (0, None));
        for n in 0..5_u64 {
            assert_eq!(log.add(&format!("e{n}")).unwrap(), n);
        }
        log.delete(4).unwrap();
        log.delete(2).unwrap();
        log.delete(99).unwrap();
        assert_eq!(log.add(&"e5".to_owned()).unwrap(), 5, "numbers are not used again");
        assert_eq!((log.size().unwrap(), log.at(2).unwrap()), (6, None));
        let entries = log.entries(1, 3).unwrap();
        let numbers: Vec<u64> = entries.iter().map(|(number, _)| *number).collect();
        assert_eq!(numbers, [1, 3, 5]);
        assert_eq!(entries[1].1, "e3");
        let other: LinearLog<String> = LinearLog::named(&bed.database, "other").unwrap();
        assert_eq!(other.size().unwrap(), 0);
    });
}

#[test]
fn cells_and_logs_take_part_in_transactions() {
    on_every_driver(|bed| {
        let cell = Cell::named(&bed.database, "total", 0_i64).unwrap();
        let log: LinearLog<i64> = LinearLog::named(&bed.database, "deposits").unwrap();
        let deposit = |amount: i64| {
            bed.database.transact(|tx| {
                tx.log(&log)?.add(&amount)?;
                let total = tx.cell(&cell)?.modify_get(|total| total + amount)?;
                assert_eq!(tx.cell(&cell)?.read()?, total);
                if total > 100 { tx.abort("too much") } else { Ok(total) }
            })
        };
        assert_eq!(deposit(60).unwrap(), 60);
        assert_eq!(deposit(60).unwrap_err().kind(), ErrorKind::Aborted);
        assert_eq!(deposit(40).unwrap(), 100);
        assert_eq!(log.entries(0, 10).unwrap(), [(0, 60), (1, 40)]);
        let other = bed.registry.environment("default").unwrap().create_database("other").unwrap();
        let error = other.transact(|tx| tx.cell(&cell)?.read()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Restricted);
    });
}
