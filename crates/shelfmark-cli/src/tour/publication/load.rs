//! Loads the variants, with the operations a client would use.

use serde_json::{Value, json};
use shelfmark_dynamo::Face;

use super::data::Index;
use super::face::call;

/// Writes of one BatchWriteItem.
const BATCH: usize = 25;

pub(super) const ROOT: &str = "publication_root";
pub(super) const HIERARCHICAL: &str = "publication_hierarchical";
pub(super) const GSI: &str = "publication_gsi";
pub(super) const CORRECTED: &str = "publication_corrected";
/// The one partition of the hierarchical variant.
pub(super) const SHELF: &str = "1f0c1b2e-7a64-4a0e-9d5b-6a3a3f3f9b11";
/// The partition of publications alone.
pub(super) const PUBLICATIONS: &str = "Publications";

/// Creates and fills all variants.
pub(super) fn all(face: &Face, index: &Index) -> anyhow::Result<()> {
    create(face, ROOT, None)?;
    create(face, HIERARCHICAL, None)?;
    create(face, GSI, Some("GSIPK"))?;
    create(face, CORRECTED, Some("GSIPK"))?;
    put(face, ROOT, root(index))?;
    put(face, HIERARCHICAL, hierarchical(index))?;
    put(face, GSI, gsi(index, |tag, _| format!("Tag#{tag}")))?;
    put(face, CORRECTED, gsi(index, |tag, title| format!("Tag#{tag}#{title}")))?;
    put(face, CORRECTED, alone(index))
}

/// Returns every publication once more, without anything below it.
fn alone(index: &Index) -> Vec<Value> {
    let names = index.publications.keys();
    names.map(|name| metadata(PUBLICATIONS, &format!("PublicationName#{name}"), name)).collect()
}

fn create(face: &Face, table: &str, indexed: Option<&str>) -> anyhow::Result<()> {
    let mut names = vec!["PK", "SK"];
    names.extend(indexed);
    let key = |name: &str, kind: &str| json!({"AttributeName": name, "KeyType": kind});
    let mut body = json!({
        "TableName": table,
        "BillingMode": "PAY_PER_REQUEST",
        "AttributeDefinitions": names
            .iter()
            .map(|name| json!({"AttributeName": name, "AttributeType": "S"}))
            .collect::<Vec<_>>(),
        "KeySchema": [key("PK", "HASH"), key("SK", "RANGE")],
    });
    if let (Some(name), Some(body)) = (indexed, body.as_object_mut()) {
        body.insert(
            "GlobalSecondaryIndexes".to_owned(),
            json!([{
                "IndexName": "by_title",
                "KeySchema": [key(name, "HASH"), key("SK", "RANGE")],
                "Projection": {"ProjectionType": "ALL"},
            }]),
        );
    }
    call(face, "CreateTable", &body)?;
    Ok(())
}

/// Puts items; later ones replace earlier ones with the same key, as later writes do.
fn put(face: &Face, table: &str, items: Vec<Value>) -> anyhow::Result<()> {
    let key = |item: &Value| (item.get("PK").cloned(), item.get("SK").cloned());
    for batch in items.chunks(BATCH) {
        let mut requests: Vec<Value> = Vec::new();
        for (position, item) in batch.iter().enumerate() {
            // One batch may not name a key twice.
            let again = batch.iter().skip(position + 1).any(|later| key(later) == key(item));
            if !again {
                requests.push(json!({"PutRequest": {"Item": item}}));
            }
        }
        call(face, "BatchWriteItem", &json!({"RequestItems": {table: requests}}))?;
    }
    Ok(())
}

fn item(pk: &str, sk: &str) -> Value {
    json!({"PK": {"S": pk}, "SK": {"S": sk}})
}

/// Returns a publication's own item.
fn metadata(pk: &str, sk: &str, name: &str) -> Value {
    let about = format!("{name} is about what programs do when nobody looks");
    json!({
        "PK": {"S": pk},
        "SK": {"S": sk},
        "name": {"S": name},
        "description": {"S": about},
        "language": {"S": "en"},
        "followers": {"N": (name.len() * 1_000).to_string()},
    })
}

/// Returns a title's item.
fn title(pk: &str, sk: &str, name: &str) -> Value {
    let address = name.to_lowercase().replace(' ', "-");
    json!({
        "PK": {"S": pk},
        "SK": {"S": sk},
        "title": {"S": name},
        "url": {"S": format!("/titles/{address}")},
        "minutes": {"N": (name.len() % 12 + 1).to_string()},
    })
}

fn root(index: &Index) -> Vec<Value> {
    let mut items = Vec::new();
    for (name, titles) in &index.publications {
        let pk = format!("PublicationName#{name}");
        items.push(metadata(&pk, "Metadata#1", name));
        items.extend(titles.keys().map(|own| title(&pk, &format!("Title#{own}"), own)));
        items.extend(Index::tags_of(titles).iter().map(|tag| item(&pk, &format!("Tag#{tag}"))));
    }
    items
}

fn hierarchical(index: &Index) -> Vec<Value> {
    let mut items = Vec::new();
    for (name, titles) in &index.publications {
        let prefix = format!("PublicationName#{name}");
        items.push(metadata(SHELF, &format!("{prefix}#Metadata#1"), name));
        for (own, tags) in titles {
            let key = format!("{prefix}#Title#{own}");
            items.push(title(SHELF, &key, own));
            for tag in tags {
                let mut row = item(SHELF, &format!("{key}#Tag#{tag}"));
                if let Some(row) = row.as_object_mut() {
                    row.insert("tag".to_owned(), json!({"S": tag}));
                }
                items.push(row);
            }
        }
    }
    items
}

fn gsi(index: &Index, sort_key: impl Fn(&str, &str) -> String) -> Vec<Value> {
    let mut items = Vec::new();
    for (name, titles) in &index.publications {
        let pk = format!("PublicationName#{name}");
        items.push(metadata(&pk, "Metadata#1", name));
        for (own, tags) in titles {
            items.push(title(&pk, &format!("Title#{own}"), own));
            for tag in tags {
                let mut row = item(&pk, &sort_key(tag, own));
                if let Some(row) = row.as_object_mut() {
                    let listed = format!("Title#{name}#{own}");
                    row.insert("GSIPK".to_owned(), json!({"S": listed}));
                }
                items.push(row);
            }
        }
    }
    items
}
