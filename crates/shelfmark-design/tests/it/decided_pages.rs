//! Pages: where the next one goes on, and how the target is asked for it.
//! Each model stands beside its nearest neighbour, which is decided the other way.

use super::together::statuses;

#[test]
fn a_page_goes_on_where_one_range_ended() {
    let model = |plan: &str| {
        format!(
            "entity Post {{ key id: uuid  author: uuid  at: timestamp  tag: enum(\"x\", \"y\") }}\n\
             read newest(a) = Post where author = a order by at desc page 10\n\
             schema s target shelfmark {{\n  \
             table posts from Post key (author; at desc, id) store all\n  \
             table spread from Post key (author, bucket(hash(id), 4); at desc, id) store all\n  \
             serve newest(a) by {plan}\n}}\n"
        )
    };
    assert_eq!(statuses(&model("query posts (a) limit 10")), ["s.newest certified"]);
    let merged = "each b in 0..3 query spread (a, b) limit 10 sort at desc take 10";
    assert_eq!(statuses(&model(merged)), ["s.newest refused"]);
    // The same list without pages is one.
    let list = model(merged).replace("page 10", "limit 10");
    assert_eq!(statuses(&list), ["s.newest multi"]);
}

#[test]
fn the_next_page_is_a_request_of_the_target() {
    for (target, told) in
        [("dynamodb", "LastEvaluatedKey"), ("cql", "paging_state"), ("shelfmark", "last_key")]
    {
        let text = format!(
            "entity Post {{ key id: ulid  author: uuid  at: timestamp }}\n\
             read newest(a, n) = Post where author = a order by at, id page n\n\
             schema s target {target} {{ table posts from Post key (author; at{}) store all }}\n",
            if target == "dynamodb" { "" } else { ", id" }
        );
        let text = match target {
            "dynamodb" => text
                .replace("order by at, id", "order by at")
                .replace(
                    "key (author; at)",
                    "key (author; id) store all index by_at key (author; at)",
                )
                .replace("store all }", "store {} }"),
            _ => text,
        };
        let document = shelfmark_design::Document::parse("m", &text);
        let document = document.unwrap_or_else(|report| panic!("{report}\n{text}"));
        let calls = format!("{:?}", document.calls("s", None));
        assert!(calls.contains(told), "{target}: {calls}");
    }
}
