//! Published designs beside derived ones: tables, indexes, writes and dollars, as `docs/models.md`
//! shows them.
//!
//! `SHELFMARK_BLESS=1` writes the document anew.

use shelfmark_design::{Beside, Document};

use crate::root;

/// Models whose planned schema has an index where the published one has none, and why.
const MORE_INDEXES: [(&str, &str); 1] =
    [("social", "it keeps a second row for each follow, which costs twice as much to write")];

/// A model with both schemas.
struct Compared {
    name: String,
    source: String,
    beside: Beside,
}

fn all() -> Vec<Compared> {
    let mut found = Vec::new();
    for folder in ["reference", "designs"] {
        let path = root().join("../../models").join(folder);
        let listed = std::fs::read_dir(path).unwrap_or_else(|error| panic!("{folder}: {error}"));
        let mut files: Vec<_> = listed.flatten().map(|file| file.path()).collect();
        files.sort();
        for file in files {
            let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            let text = std::fs::read_to_string(&file).unwrap_or_default();
            let comment: Vec<&str> =
                text.lines().take_while(|line| line.starts_with('#')).collect();
            let comment = comment.join(" ").replace("# ", "");
            let source = comment.split("Source: ").nth(1).unwrap_or("").to_owned();
            let document =
                Document::parse(&name, &text).unwrap_or_else(|report| panic!("{report}"));
            let beside = document
                .plan_beside("published", "planned")
                .unwrap_or_else(|error| panic!("{name}: {error}"));
            found.push(Compared { name, source, beside });
        }
    }
    found
}

fn dollars(value: f64) -> String {
    if value >= 100.0 { format!("{value:.0}") } else { format!("{value:.2}") }
}

fn document(all: &[Compared]) -> String {
    let mut out = String::from(
        "# Published designs and planned ones\n\n\
         Each model has a schema that people published; `shelfmark design plan` derives one for the \
         patterns that it serves, and both are counted by the same rules: bytes of items, units of \
         requests, storage, declared rates (one call a second where none is declared), and the price \
         list of the target. This page is written by a test of `shelfmark-design` and held true by \
         it; `shelfmark design plan MODEL --beside published` shows a line for each pattern.\n\n\
         | model | target | patterns | tables | indexes | dollars a month | planned / published |\n\
         | --- | --- | --- | --- | --- | --- | --- |\n",
    );
    for one in all {
        let (written, planned) = (&one.beside.written, &one.beside.planned);
        let (before, after) = one.beside.months();
        out.push_str(&format!(
            "| {} | {} | {} | {} → {} | {} → {} | {} → {} | {:.2} |\n",
            one.name,
            planned.target,
            written.patterns.len(),
            written.tables,
            planned.tables,
            written.indexes,
            planned.indexes,
            dollars(before),
            dollars(after),
            one.beside.ratio()
        ));
    }
    let cheaper = all.iter().filter(|one| one.beside.ratio() <= 1.0 + 1e-9).count();
    out.push_str(&format!(
        "\n{cheaper} of {} cost no more than what was published; no write of any costs more units.\n",
        all.len()
    ));
    for (name, why) in MORE_INDEXES {
        out.push_str(&format!("The published schema of {name} has no index: {why}.\n"));
    }
    out.push_str("\n## Sources\n\n");
    for one in all {
        out.push_str(&format!("* {}: {}\n", one.name, one.source));
    }
    out
}

#[test]
fn planned_schemas_stand_beside_published_ones() {
    let all = all();
    let (mut cheaper, mut trouble) = (0, Vec::new());
    for one in &all {
        let (name, beside) = (&one.name, &one.beside);
        let (written, planned) = (&beside.written, &beside.planned);
        if planned.tables > written.tables {
            trouble.push(format!("{name}: {} tables, not {}", planned.tables, written.tables));
        }
        let known = MORE_INDEXES.iter().any(|(known, _)| known == name);
        if planned.indexes > written.indexes && !known {
            trouble.push(format!("{name}: {} indexes, not {}", planned.indexes, written.indexes));
        }
        if !beside.dearer_writes().is_empty() {
            trouble.push(format!("{name}: {:?} cost more", beside.dearer_writes()));
        }
        for pattern in planned.patterns.iter().filter(|pattern| !pattern.served) {
            trouble.push(format!("{name}: {} is not served", pattern.name));
        }
        let ratio = beside.ratio();
        cheaper += usize::from(ratio <= 1.0 + 1e-9);
        if ratio > 1.1 {
            trouble.push(format!("{name}: {ratio:.3} of what was published"));
        }
    }
    assert!(trouble.is_empty(), "{}", trouble.join("\n"));
    assert!(cheaper * 5 >= all.len() * 4, "only {cheaper} of {} cost no more", all.len());
    assert!(all.len() >= 20, "{} models", all.len());
    let path = root().join("../../docs/models.md");
    let text = document(&all);
    if std::env::var_os("SHELFMARK_BLESS").is_some() {
        std::fs::write(&path, &text).expect("the document can be written");
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(kept, text, "docs/models.md differs; SHELFMARK_BLESS=1 writes it anew");
}
