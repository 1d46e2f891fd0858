//! What certificates state of their targets: each model stands beside its nearest neighbour, of which
//! nothing is stated.

use shelfmark_design::Document;

/// Returns the assumptions of one pattern's certificate, under each schema.
fn assumed(text: &str, pattern: &str) -> Vec<String> {
    let document = Document::parse("stated", text).unwrap_or_else(|report| panic!("{report}"));
    let mut found = Vec::new();
    for certificate in document.prove().iter().filter(|one| one.pattern == pattern) {
        let checked = document.verify(certificate);
        assert!(checked.is_ok(), "{}: {checked:?}", certificate.schema);
        let text = certificate.text();
        let lines = text.lines().filter_map(|line| line.trim().strip_prefix("assumed: "));
        let lines: Vec<&str> = lines.collect();
        found.push(format!("{}: {}", certificate.schema, lines.join(" | ")));
    }
    found
}

/// A plain request of CQL and a conditional one on the same row come in no order.
#[test]
fn plain_and_conditional_requests_on_one_table_are_stated() {
    let text = |edit: &str| {
        format!(
            r#"
entity Page {{ key id: text(min 1, max 20)  version: int(0..1000000)  body: text(max 100) }}
entity Note {{ key id: text(min 1, max 20)  body: text(max 100) }}
write put_(p, v, b) = insert Page(id p, version v, body b) or replace
write note(n, b) = insert Note(id n, body b) or replace
{edit}
schema c target cql {{ table page from Page key (id;) store all
  table note from Note key (id;) store all }}
"#
        )
    };
    let mixed = text("write edit(p, v, w) = update Page(id p) set version = w if version = v");
    let found = assumed(&mixed, "put_");
    assert!(found.iter().any(|one| one.contains("no conditional request on page")), "{found:?}");
    let found = assumed(&mixed, "note");
    assert!(!found.iter().any(|one| one.contains("conditional")), "{found:?}");
    let found = assumed(&mixed, "edit");
    assert!(!found.iter().any(|one| one.contains("no conditional request")), "{found:?}");
    let found = assumed(&text(""), "put_");
    assert!(!found.iter().any(|one| one.contains("conditional")), "{found:?}");
}

/// A counter of CQL is deleted once.
#[test]
fn a_counter_that_is_deleted_is_not_begun_again() {
    let text = r#"
entity User { key id: uuid  name: text(max 40) }
entity Post { key id: uuid  author: User  words: int(0..100000) }
read posts_of(a) = count of Post where author = a
write join(u, n) = insert User(id u, name n)
write leave(u) = delete User(id u)
schema c target cql {
  table user from User key (id;) store { name }
  table post from Post key (id;) store { author, words }
  table user_counts from User key (id;) store { count Post } }
schema d target dynamodb { table user from User key (id;) store { name, count Post }
  table post from Post key (id;) store { author, words } }
"#;
    let found = assumed(text, "leave");
    assert!(
        found[0].contains("a row of user_counts that is deleted is not begun again"),
        "{found:?}"
    );
    assert!(!found[1].contains("begun again"), "{found:?}");
}

/// What the store deletes by itself stays in numbers, and in rows that do not show when they expire.
#[test]
fn what_the_store_deletes_by_itself_is_stated() {
    let text = |ttl: &str| {
        format!(
            r#"
entity User {{ key id: text(min 1, max 20)  name: text(max 20) }}
entity Session {{ key id: text(min 1, max 20)  user: User  expires: int {ttl} }}
read n_of(u) = count of Session where user = u
write begin(s, u, e) = insert Session(id s, user u, expires e)
schema kept target dynamodb {{ table users from User key (id;) store {{ name, count Session }}
  table sessions from Session key (id;) store all }}
schema beside target dynamodb {{ table users from User key (id;) store {{ name }}
  table sessions from Session key (id;) store all
  table by_user from Session key (user; id) store {{}} }}
schema whole target dynamodb {{ table users from User key (id;) store {{ name }}
  table sessions from Session key (id;) store all }}
"#
        )
    };
    let found = assumed(&text("ttl"), "begin");
    assert!(found[0].contains("by the store itself (expires), which leaves users"), "{found:?}");
    assert!(found[1].contains("by the store itself (expires), which leaves by_user"), "{found:?}");
    assert!(!found[2].contains("by the store itself"), "{found:?}");
    let found = assumed(&text("ttl"), "n_of");
    assert!(found[0].contains("takes it out of no number"), "{found:?}");
    for pattern in ["begin", "n_of"] {
        let found = assumed(&text(""), pattern);
        assert!(!found.iter().any(|one| one.contains("by the store itself")), "{found:?}");
    }
}

/// A global index follows its table: a write that reads it may miss what was just written.
#[test]
fn a_write_that_reads_an_index_states_that_it_follows() {
    let text = r#"
entity Session { key token: text(min 1, max 20)  id: text(min 1, max 20) unique  until: int(0..9) }
write refresh(t, u) = update Session(token t) set until = u
write refresh_id(i, u) = update Session(id i) set until = u
schema d target dynamodb { table s from Session key (token;) store all
  index by_id key (id;) store all }
"#;
    let found = assumed(text, "refresh_id");
    assert!(found[0].contains("by_id shows all that was written before"), "{found:?}");
    let found = assumed(text, "refresh");
    assert!(!found[0].contains("written before"), "{found:?}");
}

/// A Query of DynamoDB ends at 1 MB.
#[test]
fn an_answer_that_may_be_cut_is_stated() {
    let text = r#"
entity Doc { owner: text(min 1, max 20)  id: text(min 1, max 20)  body: text  key (owner, id) }
entity Tag { owner: text(min 1, max 20)  id: text(min 1, max 20)  key (owner, id) }
read docs(o) = Doc where owner = o order by id limit 50
read some(o) = Doc where owner = o order by id page 50
read tags(o) = Tag where owner = o order by id limit 50
schema d target dynamodb { table docs from Doc key (owner; id) store all
  table tags from Tag key (owner; id) store all }
"#;
    let found = assumed(text, "docs");
    assert!(found[0].contains("ends at 1 MB"), "{found:?}");
    for pattern in ["some", "tags"] {
        let found = assumed(text, pattern);
        assert!(!found[0].contains("ends at 1 MB"), "{found:?}");
    }
}
