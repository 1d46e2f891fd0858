//! Case 6: a prefix finds every suffix, and nothing else.

use shelfmark_typed::OrderedTable;

use crate::drivers::{n, on_every_driver};

#[test]
fn a_prefix_finds_suffixes_beyond_the_tilde_and_leaves_the_plural_out() {
    on_every_driver(|bed| {
        let partition = bed.entities("t").partition("p");
        let inside =
            ["chat#", "chat#1", "chat#~", "chat#~~1", "chat#é", "chat#漢", "chat#\u{10FFFF}"];
        let outside = ["chat", "chats#1", "chat$", "chaz", "cha", "Chat#1", "chat\u{22}"];
        for key in inside.iter().chain(&outside) {
            partition.put(key, n(1)).unwrap();
        }
        let sks = |descending: bool| -> Vec<String> {
            let mut stream = partition.begins_with("chat#");
            if descending {
                stream = stream.descending();
            }
            stream.map(|entity| entity.unwrap().sk).collect()
        };
        let mut expected: Vec<String> = inside.iter().map(|key| (*key).to_owned()).collect();
        expected.sort();
        assert_eq!(sks(false), expected);
        expected.reverse();
        assert_eq!(sks(true), expected);
        assert_eq!(partition.begins_with("").count().unwrap(), 14);
    });
}

#[test]
fn the_typed_tables_have_it_too() {
    on_every_driver(|bed| {
        let table: OrderedTable<(u8, String), u8> =
            OrderedTable::named(&bed.database, "t").unwrap();
        for (a, text) in [(1, "é~"), (1, "éa"), (1, "f"), (2, "éz"), (1, "e")] {
            table.write(&(a, text.into()), &0).unwrap();
        }
        let keys: Vec<(u8, String)> =
            table.prefix_begins_with((1,), "é").unwrap().keys().collect::<Result<_, _>>().unwrap();
        assert_eq!(keys, [(1, "éa".to_owned()), (1, "é~".to_owned())]);
        assert!(table.begins_with("é").is_err(), "the first part is no text");
    });
}
