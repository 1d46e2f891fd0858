//! Keys within keys: references to entities whose key has several attributes.

use shelfmark_design::{Document, Status};

/// The article's tables, with an author that is a record of two fields.
const BLOG: &str = r#"
entity Author { id: text(min 1, max 40)  name: text(max 60)  bio: text  key (id, name) }
entity Post {
  author: Author immutable
  at: timestamp immutable
  title: text(max 200)
  key (author, at)
}
entity Comment { key id: ulid  post: Post immutable  body: text(max 100) }

read posts_of(a) = Post where author = a order by at desc
read names(a: Author) = Post with Author.name select author, at where author = a order by at desc
read comments_of(p) = Comment where post = p order by id
read by_author(a) = Comment where post.author = a order by post, id
write write_post(a, at, title) = insert Post(author a, at at, title title)
write remove(a, at) = delete Post(author a, at at)
write comment(id, p, body) = insert Comment(id id, post p, body body)
"#;

fn document(schemas: &str) -> Document {
    Document::parse("records", &format!("{BLOG}{schemas}"))
        .unwrap_or_else(|report| panic!("{report}"))
}

const FLAT: &str = r#"
schema flat target ordered {
  table posts_by_author from Post key (author, at desc) store { title }
  table posts_by_time from Post key (at, author) store { title }
  table comments from Comment key (post, id) store { body }
  serve posts_of(x) by range posts_by_author (x)
  serve comments_of(p) by range comments (p)
  write write_post { transaction { put posts_by_author ; put posts_by_time } }
}
schema asked target shelfmark {
  table posts from Post key (author; at desc) store { title }
  table comments from Comment key (id;) store all index by_post key (post; id) index of_author key (post.author; post.at, id)
}
"#;

#[test]
fn what_is_nested_is_flat_certified_and_verified() {
    let document = document(FLAT);
    let mut certified = 0;
    for one in document.prove() {
        let name = format!("{}.{}", one.schema, one.pattern);
        document.verify(&one).unwrap_or_else(|why| panic!("{name}: {why}"));
        assert_eq!(one.status, Status::Certified, "{name}: {}", one.reason);
        certified += 1;
        if name == "flat.posts_of" {
            assert_eq!(one.steps, ["range of posts_by_author beginning with (<a.id>, <a.name>)"]);
        }
        if name == "asked.by_author" {
            assert_eq!(one.steps, ["range of of_author in (<a.id>, <a.name>)"]);
        }
    }
    assert_eq!(certified, 14);
}

#[test]
fn schemas_are_derived_and_explained() {
    let document = document("");
    for target in ["shelfmark", "cql", "dynamodb", "ordered", "candb"] {
        let plan = document.plan(target, "planned").unwrap_or_else(|why| panic!("{target}: {why}"));
        let whole = format!("{BLOG}\n{}", plan.schema);
        let planned =
            Document::parse("planned", &whole).unwrap_or_else(|report| panic!("{report}\n{whole}"));
        for one in planned.prove() {
            assert!(
                matches!(one.status, Status::Certified | Status::Multi),
                "{target} {}: {}\n{}",
                one.pattern,
                one.reason,
                plan.schema
            );
        }
        if target == "cql" {
            assert!(plan.schema.contains("(author.id, author.name; at desc)"), "{}", plan.schema);
        }
    }
    let explained = self::document(FLAT).explain("posts_of").unwrap_or_default();
    assert!(explained.contains("author.name"), "{explained}");
}

#[test]
fn a_link_of_such_entities_has_the_key_of_both() {
    let text = r#"
entity Author { id: text(max 40)  name: text(max 60)  key (id, name) }
link Follow from Author as author to Author as reader { at: timestamp immutable  fanout author -> reader avg 3 }
read readers(a) = Follow where author = a order by at
write follow(a, r, at) = link Follow(author a, reader r) set at = at
schema s target cql {
  table t from Follow key (author; at, reader)
  serve readers(a) by query t (a)
}
"#;
    let document = Document::parse("links", text).unwrap_or_else(|report| panic!("{report}"));
    for one in document.prove() {
        assert_eq!(one.status, Status::Certified, "{}: {}", one.pattern, one.reason);
        document.verify(&one).unwrap_or_else(|why| panic!("{}: {why}", one.pattern));
    }
}

/// Half of such a key says nothing: of an optional one all is there, or nothing.
#[test]
fn an_optional_reference_is_there_as_a_whole() {
    let text = format!(
        "{BLOG}entity Note {{ key id: uuid  author: Author optional }}\n\
         read noted(i) = Note where author.id = i and author.name is present order by author, id\n\
         schema s target ordered {{ table t from Note key (author.id, author.name, id) }}\n"
    );
    let document = Document::parse("notes", &text).unwrap_or_else(|report| panic!("{report}"));
    let proven = document.prove();
    let one = proven.iter().find(|one| one.pattern == "noted");
    assert_eq!(one.map(|one| one.status), Some(Status::Certified), "{proven:?}");
}

#[test]
fn what_such_a_reference_cannot_say_is_told() {
    for (text, told) in [
        ("read x(a) = Post where author > a", "`author` stands for several attributes"),
        ("read x() = Post where author = \"Ada\"", "this stands for several attributes"),
        (
            "read x(b) = Post where author.bio = b",
            "`author.bio` is not in the key that `author` holds",
        ),
    ] {
        let report = Document::parse("wrong", &format!("{BLOG}{text}\n"));
        let report = report.err().unwrap_or_else(|| panic!("{text} is taken"));
        assert!(report.text.contains(told), "{told} in\n{}", report.text);
    }
}
