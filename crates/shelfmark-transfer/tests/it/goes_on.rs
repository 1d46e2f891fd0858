//! A transfer that ended in the middle goes on, and its sums are those of the whole.

use serde_json::json;
use shelfmark_store::vfs;
use shelfmark_transfer::items::{ItemForm, Target};
use shelfmark_transfer::{ErrorKind, PositionFile};

use crate::forms::{FEEDING, export, import};
use crate::side::Side;

/// Items that make many pages of a megabyte.
const ITEMS: usize = 30;

fn filled() -> Side {
    let side = Side::new();
    side.create("tab");
    for number in 0..ITEMS {
        side.put(
            "tab",
            &json!({
                "pk": { "S": format!("p{number}") },
                "sk": { "N": "1" },
                "text": { "S": "x".repeat(200_000) },
            }),
        );
    }
    side
}

#[test]
fn an_export_goes_on_behind_what_is_in_its_output() {
    let side = filled();
    let forms = [
        (ItemForm::JsonLines, "rows.jsonl", false),
        (ItemForm::JsonLines, "rows.jsonl.gz", true),
        (ItemForm::DynamoDbJson, "folder", false),
        (ItemForm::Csv, "rows.csv", false),
        (ItemForm::Workbench, "model.json", false),
    ];
    for (form, name, is_packed) in forms {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        let target = || match name {
            "folder" => Target::Folder(path.clone()),
            _ => Target::File(path.clone()),
        };
        let whole = folder.path().join("whole.jsonl");
        let whole = export(&side, ItemForm::JsonLines, Target::File(whole), false).unwrap().sums;
        let (mut calls, mut failed) = (0, 0);
        let exported = loop {
            calls += 1;
            // Three requests are about the definition, so a call reads a page or two. CSV reads the whole
            // table once before it begins.
            side.fail_behind(Some(if form == ItemForm::Csv { 11 + calls } else { 5 }));
            match export(&side, form, target(), is_packed) {
                Ok(exported) => break exported,
                Err(error) => {
                    assert_eq!(error.kind(), ErrorKind::Unreachable, "{error}");
                    failed += 1;
                    // What a kill leaves behind the last position is cut off.
                    if name != "folder" && path.exists() {
                        let length = vfs::read(&path).unwrap().len() as u64;
                        let file = vfs::open_or_create(&path).unwrap();
                        vfs::write_all_at(&file, b"torn", length).unwrap();
                    }
                }
            }
        };
        side.fail_behind(None);
        assert!(failed > 0, "{name}");
        assert_eq!(exported.sums, whole, "{name}");
        let position = PositionFile::beside(&path, "");
        assert!(!position.path().unwrap().exists(), "the position is removed");
        if form != ItemForm::Workbench {
            let to = Side::new();
            to.create("tab");
            let imported = import(&to, form, &path, FEEDING, &PositionFile::none()).unwrap();
            assert_eq!(imported.sums, whole, "{name}");
        }
    }
}

#[test]
fn an_import_goes_on_behind_what_is_kept() {
    let side = filled();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rows.jsonl");
    let whole = export(&side, ItemForm::JsonLines, Target::File(path.clone()), false).unwrap().sums;
    let to = Side::new();
    to.create("tab");
    let position = PositionFile::beside(&path, "import");
    let mut calls = 0;
    let imported = loop {
        calls += 1;
        to.fail_behind(Some(3 + calls * 2));
        match import(&to, ItemForm::JsonLines, &path, FEEDING, &position) {
            Ok(imported) => break imported,
            Err(error) => assert_eq!(error.kind(), ErrorKind::Unreachable, "{error}"),
        }
    };
    to.fail_behind(None);
    assert!(calls > 2 && imported.earlier > 0);
    assert_eq!(imported.sums, whole);
    assert_eq!(to.items("tab"), side.items("tab"));
    assert!(!position.path().unwrap().exists());
    let other = PositionFile::beside(&path, "another import");
    vfs::replace_shared(position.path().unwrap(), br#"{"of":"import","position":{}}"#).unwrap();
    let refused = import(&to, ItemForm::JsonLines, &path, FEEDING, &other).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Invalid);
}
