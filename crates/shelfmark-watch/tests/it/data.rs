//! Items against the row families of their keys.

use serde_json::{Map, Value as Json, json};
use shelfmark_watch::items::Partitions;

use crate::stage::{BEGUN_MS, dynamo, opened, text, watched};

fn item(value: Json) -> Map<String, Json> {
    let Json::Object(fields) = value else { panic!("{value} is no object") };
    fields
}

/// What is told of an item of the battle model, as lines.
fn told(value: Json) -> Vec<String> {
    let watched = watched(&text("reference/battle.shelf"), "corrected");
    let broken = watched.items.check("battle", &item(value));
    broken.into_iter().map(|own| format!("{} {}: {}", own.kind, own.about, own.message)).collect()
}

#[test]
fn what_is_declared_of_attributes_is_checked() {
    let good =
        json!({ "pk": "USER#a", "sk": "A", "name": "Anna", "email": "a@b", "born": "1990-01-01" });
    assert_eq!(told(good.clone()), [] as [&str; 0]);
    let mut long = good.clone();
    long["name"] = json!("secret".repeat(20));
    assert_eq!(told(long), ["type User.name: is longer than 60 characters, in a row of UserRow"]);
    let mut number = good.clone();
    number["email"] = json!(7);
    assert_eq!(told(number), ["type User.email: is not a text, in a row of UserRow"]);
    let mut absent = good;
    absent["email"] = Json::Null;
    let missing = "missing User.email: is absent and not optional, in a row of UserRow";
    assert_eq!(told(absent), [missing]);
    let strange = json!({ "pk": "TEAM#1", "sk": "A" });
    assert_eq!(told(strange), ["row battle: a row has a key that no row of the model has"]);
}

#[test]
fn ranges_of_numbers_are_checked_and_what_is_optional_may_be_absent() {
    let playing =
        |place: Json| json!({ "pk": "GAME#1", "sk": "USER#a", "joined": 1, "place": place });
    assert_eq!(told(playing(json!(50))), [] as [&str; 0]);
    assert_eq!(told(playing(Json::Null)), [] as [&str; 0]);
    let broken = "type Playing.place: is not within 1..50, in a row of PlayingRow";
    assert_eq!(told(playing(json!(51))), [broken]);
}

#[test]
fn bytes_are_counted_however_they_come() {
    let messaging =
        text("reference/messaging.shelf").replace("bytes max 1000000 avg 500k", "bytes(max 3)");
    let watched = watched(&messaging, "published");
    let chunk = |value: Json| {
        let row = json!({ "email": "0".repeat(26), "file": "f", "number": 1, "value": value });
        watched.items.check("attachments", &item(row)).len()
    };
    assert_eq!(
        (chunk(json!("0x010203")), chunk(json!("0x01020304")), chunk(json!("abc"))),
        (0, 1, 1)
    );
}

#[test]
fn a_partition_that_outgrows_its_fan_out_is_told() {
    let watched = watched(&text("reference/battle.shelf"), "corrected");
    let mut partitions = Partitions::default();
    let mut count = |game: u32, user: u32| {
        let row = item(json!({ "pk": format!("GAME#{game}"), "sk": format!("USER#{user}") }));
        watched.items.count(&mut partitions, "battle", &row)
    };
    for game in 0..3 {
        assert!((0..50).all(|user| count(game, user).is_none()), "{game}");
    }
    let broken = count(2, 50).unwrap();
    assert_eq!((broken.kind, broken.about.as_str()), ("partition", "PlayingRow"));
    assert_eq!(broken.message, "a partition has 51 rows or more; one game has at most 50");
}

#[test]
fn items_of_puts_are_checked_as_they_come() {
    let mut own = opened("reference/battle.shelf", "corrected");
    let item = json!({ "pk": { "S": "USER#a" }, "sk": { "S": "A" }, "name": { "S": "A" },
                       "email": { "N": "12" }, "born": { "S": "1990-01-01" } });
    own.take(&dynamo("PutItem", &json!({ "TableName": "battle", "Item": item }), (0, 0), 0));
    let batch = json!({ "RequestItems": { "battle": [{ "PutRequest": { "Item": item } }] } });
    own.take(&dynamo("BatchWriteItem", &batch, (0, 0), 0));
    let report = own.report(BEGUN_MS + 1_000, 0);
    let [only] = report.findings.as_slice() else { panic!("{}", report.text()) };
    assert_eq!((only.kind.as_str(), only.about.as_str(), only.count), ("type", "User.email", 2));
    assert_eq!(report.tables[0].written, 2);
}
