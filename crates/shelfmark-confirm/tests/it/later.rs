//! Models whose certificates the runner of the engine contradicted once, or which it never called.

use shelfmark_confirm::{Options, Report, confirm, confirm_through_cql, confirm_through_dynamodb};
use shelfmark_design::Document;

/// One way to run a model.
type Run = fn(&Document, &Options) -> Result<Report, String>;

const RUNS: [Run; 3] = [confirm, confirm_through_dynamodb, confirm_through_cql];

/// Runs a model in each way, and returns what each run says of a pattern.
fn agrees(text: &str) -> Vec<Report> {
    let document = Document::parse("t", text).unwrap_or_else(|report| panic!("{report}"));
    let options = Options { scales: vec![3, 9], calls: 12, ..Options::default() };
    let reports = RUNS.iter().map(|run| run(&document, &options).expect("it runs"));
    reports.inspect(|report| assert!(report.ok(), "{report:?}")).collect()
}

#[test]
fn a_loop_passes_over_tuples_that_are_not_as_it_selects_them() {
    let reports = agrees(
        r##"
entity Mail {
  key id: text(min 1, max 20)
  folder: text(min 1, max 20)
  unread: bool
  at: timestamp
}
write all_seen(f) = update Mail(id m.id, unread true) set unread = false for each Mail as m where folder = f
write sweep(f) = delete Mail(id m.id, unread false) for each Mail as m where folder = f
schema cql target cql {
  table mail from Mail key (id;) store all
  table by_folder from Mail key (folder; at desc, id) store all
}
schema dynamo target dynamodb {
  table mail from Mail key (id;) store all
  table by_folder from Mail key (folder; "<at:iso>#<id>") store all
}
schema own target ordered {
  table mail from Mail key (id;) store all
  table by_folder from Mail key (folder; at, id) store all
}
"##,
    );
    let engine = reports.first().expect("a report");
    assert!(engine.verdicts.iter().all(|one| one.calls > 0), "{engine:?}");
}
