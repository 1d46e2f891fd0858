//! Typed indexes and unique constraints.

use serde::{Deserialize, Serialize};
use shelfmark_typed::{ErrorKind, Index, OrderedTable, UniqueIndex};

use crate::drivers::{Bed, on_every_driver};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct User {
    email: String,
    city: Option<String>,
    age: u8,
}

fn user(email: &str, city: &str, age: u8) -> User {
    let city = (!city.is_empty()).then(|| city.to_owned());
    User { email: email.to_owned(), city, age }
}

fn users(bed: &Bed) -> OrderedTable<(String, u32), User> {
    OrderedTable::named(&bed.database, "users").unwrap()
}

#[test]
fn an_index_is_a_range_in_its_own_order() {
    on_every_driver(|bed| {
        let users = users(bed);
        // Some before the index is built, some after.
        users.insert(("b", 1), &user("b1", "Rome", 30)).unwrap();
        users.insert(("a", 2), &user("a2", "Oslo", 50)).unwrap();
        let by_city: Index<(String, u8)> = users.index("by_city", ["city", "age"]).unwrap();
        users.insert(("a", 1), &user("a1", "Rome", 20)).unwrap();
        users.insert(("c", 1), &user("c1", "", 20)).unwrap();
        let of = |city: &str| -> Vec<String> {
            let range = users.by(&by_city).prefix(city).unwrap();
            range.values().map(|user| user.unwrap().email).collect()
        };
        assert_eq!(
            (of("Rome"), of("Oslo"), of("Paris")),
            (vec!["a1".into(), "b1".into()], vec!["a2".into()], vec![])
        );
        let all = users.by(&by_city).all().descending().keys().collect::<Result<Vec<_>, _>>();
        assert_eq!(all.unwrap().first().unwrap(), &("b".to_owned(), 1), "none without a city");
        assert_eq!(users.by(&by_city).get(("Rome", 30)).count().unwrap(), 1);
        let between = users.by(&by_city).range_prefix(("Rome", 0)..("Rome", 30)).unwrap();
        assert_eq!(between.to_vec().unwrap(), [(("a".to_owned(), 1), user("a1", "Rome", 20))]);
        let owned = ("Oslo".to_owned(), 0)..=("Rome".to_owned(), 20);
        assert_eq!(users.by(&by_city).range(owned).unwrap().count().unwrap(), 2);
        // A page, and where to go on.
        let page = users.by(&by_city).prefix("Rome").unwrap().page(1).unwrap();
        let rest = users.by(&by_city).prefix("Rome").unwrap().after(page.cursor.unwrap());
        assert_eq!(rest.values().next().unwrap().unwrap().email, "b1");
        // A change of the value moves the entry.
        users.insert(("a", 1), &user("a1", "Oslo", 20)).unwrap();
        assert_eq!((of("Rome").len(), of("Oslo").len()), (1, 2));
        users.remove(("a", 1)).unwrap();
        assert_eq!(of("Oslo").len(), 1);
    });
}

#[test]
fn a_unique_constraint_holds_in_and_outside_of_transactions() {
    on_every_driver(|bed| {
        let users = users(bed);
        let by_email: UniqueIndex<String> = users.unique_index("by_email", ["email"]).unwrap();
        users.insert(("a", 1), &user("same", "", 1)).unwrap();
        let refused = |ended: shelfmark_typed::Result<()>| {
            assert_eq!(ended.unwrap_err().kind(), ErrorKind::AlreadyExists);
        };
        refused(users.insert(("b", 1), &user("same", "", 2)).map(drop));
        refused(bed.database.transact(|tx| {
            let users = tx.table(&users)?;
            users.insert(("c", 1), &user("other", "", 3))?;
            users.insert(("b", 1), &user("same", "", 2)).map(drop)
        }));
        assert_eq!(users.count().unwrap(), 1);
        // The same entry may be written again, and what is free may be taken.
        users.insert(("a", 1), &user("same", "", 9)).unwrap();
        let found = users.by_unique(&by_email).get("same").unwrap();
        assert_eq!(found, Some((("a".to_owned(), 1), user("same", "", 9))));
        users.remove(("a", 1)).unwrap();
        users.insert(("b", 1), &user("same", "", 2)).unwrap();
        assert_eq!(users.by_unique(&by_email).get("nobody").unwrap(), None);
    });
}

#[test]
fn an_index_read_in_a_transaction_is_validated() {
    on_every_driver(|bed| {
        let users = users(bed);
        let by_city: Index<String> = users.index("by_city", ["city"]).unwrap();
        for round in 0..10 {
            let city = format!("city {round}");
            std::thread::scope(|scope| {
                for who in ["ann", "bob"] {
                    let (users, by_city, city) = (&users, &by_city, &city);
                    scope.spawn(move || {
                        bed.database.transact(|tx| {
                            let users = tx.table(users)?;
                            if users.by(by_city).get(city).count()? == 0 {
                                users.insert((who, round), &user(who, city, 1))?;
                            }
                            Ok(())
                        })
                    });
                }
            });
            assert_eq!(users.by(&by_city).get(&city).count().unwrap(), 1, "{city}");
        }
    });
}

#[test]
fn an_index_is_opened_as_what_it_is() {
    on_every_driver(|bed| {
        let users = users(bed);
        let _: Index<String> = users.index("i", ["city"]).unwrap();
        let _: Index<String> = users.index("i", ["city"]).unwrap();
        let kind = |error: Option<shelfmark_typed::Error>| error.map(|error| error.kind());
        assert_eq!(kind(users.index::<String>("i", ["email"]).err()), Some(ErrorKind::Mismatch));
        assert_eq!(kind(users.index::<u8>("i", ["city"]).err()), Some(ErrorKind::Mismatch));
        assert_eq!(
            kind(users.unique_index::<String>("i", ["city"]).err()),
            Some(ErrorKind::Mismatch)
        );
        assert_eq!(
            kind(users.index::<String>("j", ["city", "age"]).err()),
            Some(ErrorKind::Invalid)
        );
        // Two entries with one key: nothing is left of the constraint.
        users.insert(("a", 1), &user("same", "", 1)).unwrap();
        users.insert(("b", 1), &user("same", "", 1)).unwrap();
        let twice = users.unique_index::<String>("by_email", ["email"]).err();
        assert_eq!(kind(twice), Some(ErrorKind::AlreadyExists));
        users.insert(("b", 1), &user("other", "", 1)).unwrap();
        let by_email: UniqueIndex<String> = users.unique_index("by_email", ["email"]).unwrap();
        users.drop_index("by_email").unwrap();
        assert_eq!(kind(users.by_unique(&by_email).get("same").err()), Some(ErrorKind::NotFound));
        // An index of one table says nothing of another.
        let others: OrderedTable<u8, User> = OrderedTable::named(&bed.database, "others").unwrap();
        let by_city: Index<String> = users.index("i", ["city"]).unwrap();
        assert_eq!(kind(others.by(&by_city).all().to_vec().err()), Some(ErrorKind::NotFound));
    });
}
