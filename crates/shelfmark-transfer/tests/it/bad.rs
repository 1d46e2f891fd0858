//! Records that cannot be kept are told with their file and line, and the others are kept.

use shelfmark_store::vfs;
use shelfmark_transfer::feed::Feeding;
use shelfmark_transfer::items::ItemForm;
use shelfmark_transfer::{ErrorKind, PositionFile};

use crate::forms::{FEEDING, import};
use crate::side::Side;

/// Lines of plain JSON, of which the third, fifth and seventh are bad.
const LINES: &str = r#"{"pk": "a", "sk": 1}

{"pk": "a", "sk": 2
{"pk": "a", "sk": 3}
{"pk": "a", "sk": "no number"}
{"pk": "a", "sk": 4, "v": {"$set": ["x", "y"]}}
{"pk": "a", "sk": 5, "v": {"$set": ["x", "x"]}}
"#;

#[test]
fn the_first_bad_line_ends_an_import_and_the_next_call_meets_it_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rows.jsonl");
    vfs::replace_shared(&path, LINES.as_bytes()).unwrap();
    let side = Side::new();
    side.create("tab");
    let position = PositionFile::beside(&path, "import");
    let feeding = Feeding { threads: 1, batch_records: 1, skip_bad: 0 };
    for _ in 0..2 {
        let error = import(&side, ItemForm::JsonLines, &path, feeding, &position).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::BadRecord);
        assert!(error.to_string().contains("rows.jsonl, line 3: it is no JSON"), "{error}");
    }
    vfs::replace_shared(&path, LINES.replace("2\n", "2}\n").as_bytes()).unwrap();
    let error = import(&side, ItemForm::JsonLines, &path, feeding, &position).unwrap_err();
    assert!(error.to_string().contains("line 5"), "{error}");
}

#[test]
fn bad_lines_are_passed_over_up_to_their_number() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rows.jsonl");
    vfs::replace_shared(&path, LINES.as_bytes()).unwrap();
    for (skip_bad, is_enough) in [(2, false), (3, true)] {
        let side = Side::new();
        side.create("tab");
        let feeding = Feeding { skip_bad, ..FEEDING };
        let none = PositionFile::none();
        match import(&side, ItemForm::JsonLines, &path, feeding, &none) {
            Ok(imported) => {
                assert!(is_enough);
                assert_eq!((imported.sums.rows, imported.bad), (3, 3));
                let mut lines: Vec<u64> =
                    imported.bad_told.iter().map(|bad| bad.place.line).collect();
                lines.sort_unstable();
                assert_eq!(lines, [3, 5, 7]);
                assert_eq!(side.items("tab").len(), 3);
            }
            Err(error) => {
                assert!(!is_enough);
                assert_eq!(error.kind(), ErrorKind::BadRecord);
            }
        }
    }
}

#[test]
fn bad_records_of_delimited_text_have_their_line() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rows.csv");
    let side = Side::new();
    side.create("tab");
    for (text, expected) in [
        ("pk,sk,n:N\na,1,2\nb,2,x\n", "line 3: n: \"x\" is no number"),
        ("pk,sk\na,1,2\n", "line 2: the record has 3 fields"),
        ("pk,sk,ok:BOOL\n\"two\nlines\",1,true\nb,1,maybe\n", "line 4: ok"),
        ("pk,sk\na,\"1\n", "line 2: the quote"),
    ] {
        vfs::replace_shared(&path, text.as_bytes()).unwrap();
        let error =
            import(&side, ItemForm::Csv, &path, FEEDING, &PositionFile::none()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::BadRecord);
        assert!(error.to_string().contains(expected), "{error}");
    }
    let none = folder.path().join("none.csv");
    let error = import(&side, ItemForm::Csv, &none, FEEDING, &PositionFile::none()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Io);
}
