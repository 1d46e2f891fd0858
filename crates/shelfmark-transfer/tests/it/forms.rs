//! Every form carries what it says it does, both ways, and refuses the rest.

use std::path::Path;

use serde_json::json;
use shelfmark_store::vfs;
use shelfmark_transfer::feed::{Feeding, Imported};
use shelfmark_transfer::input::Input;
use shelfmark_transfer::items::{
    Client, Definition, Exported, ItemExport, ItemForm, ItemImport, Target, export_items,
    import_items, read_workbench, records_of,
};
use shelfmark_transfer::{ErrorKind, PositionFile, Result};

use crate::side::{Side, flat_items, odd_items, with_control};

pub(crate) const FEEDING: Feeding = Feeding { threads: 3, batch_records: 4, skip_bad: 0 };

pub(crate) fn export(
    side: &Side,
    form: ItemForm,
    target: Target,
    is_packed: bool,
) -> Result<Exported> {
    let connect = side.connect();
    let what = ItemExport {
        connect: &connect,
        table: "tab".to_owned(),
        form,
        target,
        is_packed,
        segments: 3,
        random: 7,
    };
    with_control(|control| export_items(&what, control))
}

pub(crate) fn import(
    side: &Side,
    form: ItemForm,
    path: &Path,
    feeding: Feeding,
    position: &PositionFile,
) -> Result<Imported> {
    let connect = side.connect();
    let what = ItemImport { connect: &connect, table: "tab".to_owned(), form, feeding };
    with_control(|control| {
        let mut input = Input::open(path, records_of(form).unwrap())?;
        import_items(&what, &mut input, position, control)
    })
}

fn define(side: &Side, definition: &Definition) {
    let connect = side.connect();
    with_control(|control| {
        let client = Client::new(&connect, control).unwrap();
        let text = definition.text();
        Definition::parse(&text, "tab").unwrap().create(&client).unwrap();
    });
}

fn round_trip(items: &[serde_json::Value], form: ItemForm, name: &str, is_packed: bool) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    let (from, to) = (Side::new(), Side::new());
    from.create("tab");
    items.iter().for_each(|item| from.put("tab", item));
    let target = match name {
        "folder" => Target::Folder(path.clone()),
        _ => Target::File(path.clone()),
    };
    let exported = export(&from, form, target, is_packed).unwrap();
    assert_eq!(exported.sums.rows, items.len() as u64);
    define(&to, &exported.definition);
    let imported = import(&to, form, &path, FEEDING, &PositionFile::none()).unwrap();
    assert_eq!(imported.sums, exported.sums, "{form:?}");
    assert_eq!(to.items("tab"), from.items("tab"), "{form:?}");
    let described = |side: &Side| {
        let connect = side.connect();
        with_control(|control| {
            Definition::read(&Client::new(&connect, control).unwrap(), "tab").unwrap().text()
        })
    };
    assert_eq!(described(&to), described(&from));
    assert!(described(&to).contains("\"ends\"") && described(&to).contains("by_g"));
}

#[test]
fn lines_of_json_carry_every_value() {
    for (form, name) in [
        (ItemForm::JsonLines, "rows.jsonl"),
        (ItemForm::DynamoDbJson, "rows.json"),
        (ItemForm::DynamoDbJson, "folder"),
    ] {
        round_trip(&odd_items(), form, name, false);
        round_trip(&[], form, name, false);
    }
    round_trip(&odd_items(), ItemForm::JsonLines, "rows.jsonl.gz", true);
}

#[test]
fn delimited_text_carries_single_values() {
    round_trip(&flat_items(), ItemForm::Csv, "rows.csv", false);
    round_trip(&flat_items(), ItemForm::Csv, "rows.csv.gz", true);
}

#[test]
fn delimited_text_refuses_what_it_would_lose() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rows.csv");
    for value in
        [json!({ "NULL": true }), json!({ "L": [] }), json!({ "SS": ["a"] }), json!({ "N": "1" })]
    {
        let side = Side::new();
        side.create("tab");
        side.put("tab", &json!({ "pk": { "S": "a" }, "sk": { "N": "1" }, "v": { "S": "x" } }));
        side.put("tab", &json!({ "pk": { "S": "b" }, "sk": { "N": "1" }, "v": value }));
        let refused = export(&side, ItemForm::Csv, Target::File(path.clone()), false).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::Invalid);
        assert!(refused.to_string().contains("attribute v"), "{refused}");
        assert!(!path.exists(), "nothing is begun");
    }
}

#[test]
fn an_export_in_a_folder_has_the_manifests_of_the_service() {
    let folder = tempfile::tempdir().unwrap();
    let side = Side::new();
    side.create("tab");
    odd_items().iter().for_each(|item| side.put("tab", item));
    let target = Target::Folder(folder.path().to_path_buf());
    export(&side, ItemForm::DynamoDbJson, target, false).unwrap();
    let above = vfs::list(&folder.path().join("AWSDynamoDB")).unwrap();
    let [export] = above.as_slice() else { panic!("{above:?}") };
    let read = |name: &str| String::from_utf8(vfs::read(&export.join(name)).unwrap()).unwrap();
    let summary: serde_json::Value = serde_json::from_str(&read("manifest-summary.json")).unwrap();
    assert_eq!(summary["itemCount"], 20);
    assert_eq!(summary["outputFormat"], "DYNAMODB_JSON");
    let list: serde_json::Value = serde_json::from_str(&read("manifest-files.json")).unwrap();
    let key = list["dataFileS3Key"].as_str().unwrap();
    assert!(folder.path().join(key).is_file(), "{key}");
    assert_eq!(list["itemCount"], 20);
    assert!(!read("manifest-files.md5").is_empty());
}

#[test]
fn a_data_model_carries_tables_indexes_and_rows() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.json");
    for items in [odd_items(), Vec::new()] {
        let (from, to) = (Side::new(), Side::new());
        from.create("tab");
        items.iter().for_each(|item| from.put("tab", item));
        let target = Target::File(path.clone());
        let exported = export(&from, ItemForm::Workbench, target, false).unwrap();
        let mut tables = read_workbench(&path, Some("tab")).unwrap();
        let table = tables.pop().unwrap();
        define(&to, &table.definition);
        let connect = to.connect();
        let what = ItemImport {
            connect: &connect,
            table: "tab".to_owned(),
            form: ItemForm::Workbench,
            feeding: FEEDING,
        };
        let imported = with_control(|control| {
            let mut input = Input::of_records(table.rows);
            import_items(&what, &mut input, &PositionFile::none(), control)
        });
        assert_eq!(imported.unwrap().sums, exported.sums);
        assert_eq!(to.items("tab"), from.items("tab"));
        assert!(table.definition.text().contains("by_g"));
    }
    let none = read_workbench(&path, Some("other")).err().unwrap();
    assert_eq!(none.kind(), ErrorKind::Invalid);
}
