//! Reads of several row types in one range: by references that are keys of several attributes, and beside
//! other row types. Each stands beside its neighbour, which is decided the other way.

use super::together::statuses;

const REPOSITORIES: &str = r#"
type nm = text(min 1, max 20, only "a-z0-9")
entity Repo { owner: nm  name: nm  stars: int key (owner, name) }
entity Issue { repo: Repo  no: int(0..99999)  open: bool key (repo, no) fanout repo max 500 }
entity Note { repo: Repo  at: timestamp key (repo, at) fanout repo max 500 }
"#;

fn schema(note: &str) -> String {
    format!(
        r#"schema s target dynamodb {{ table coll {{ pk text sk text
    row RepoR from Repo pk "R\#<owner>\#<name>" sk "REPO" store all
    row IssueR from Issue pk "R\#<repo.owner>\#<repo.name>" sk "ISSUE\#<no:pad(5)>" store all
    row NoteR from Note pk "R\#<repo.owner>\#<repo.name>" sk "{note}\#<at:iso>" store all }} }}
"#
    )
}

/// A reference to a key of several attributes is, of its own entity, that key.
#[test]
fn a_reference_names_the_key_of_its_entity() {
    let found =
        |read: &str| statuses(&format!("{REPOSITORIES}read r(r) = {read}\n{}", schema("A")));
    let right = "where repo = r order by kind, no desc limit 26";
    // From either side, whichever row type comes first.
    assert_eq!(found(&format!("Repo + Issue {right}")), ["s.r certified"]);
    assert_eq!(found("Issue + Repo where repo = r"), ["s.r certified"]);
    // In another order than that of the keys.
    assert_eq!(found("Repo + Issue where repo = r order by kind, no limit 26"), ["s.r refused"]);
}

/// Row types that end a partition, or begin it, are found in a range with one end, without a plan.
#[test]
fn a_range_has_one_end_where_other_rows_lie_beside() {
    let read = "read r(r) = Repo + Issue where repo = r order by kind, no desc limit 26\n";
    let of = |note: &str| statuses(&format!("{REPOSITORIES}{read}{}", schema(note)));
    for beside in ["A", "ZA"] {
        assert_eq!(of(beside), ["s.r certified"], "{beside}");
    }
    // Between the two row types.
    assert_eq!(of("NOTE"), ["s.r refused"]);
}
