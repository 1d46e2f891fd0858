//! Checks what pictures promise: labels do not overlap, every pattern is named, samples are states.

use super::reach::{Mark, first};
use super::svg::Svg;
use super::{Scene, View};
use crate::document::Document;
use shelfmark_design_language::certificate::Status;
use shelfmark_design_language::model::schema::Step;

const MODELS: [(&str, &str); 16] = [
    ("blog", include_str!("../../../../models/seeds/blog.shelf")),
    ("followers", include_str!("../../../../models/seeds/followers.shelf")),
    ("openchat", include_str!("../../../../models/seeds/openchat.shelf")),
    ("phonebook", include_str!("../../../../models/seeds/phonebook.shelf")),
    ("publication", include_str!("../../../../models/seeds/publication.shelf")),
    ("reddit", include_str!("../../../../models/seeds/reddit.shelf")),
    ("twissandra", include_str!("../../../../models/seeds/twissandra.shelf")),
    ("battle", include_str!("../../../../models/reference/battle.shelf")),
    ("hotel", include_str!("../../../../models/reference/hotel.shelf")),
    ("killrvideo", include_str!("../../../../models/reference/killrvideo.shelf")),
    ("leaderboard", include_str!("../../../../models/reference/leaderboard.shelf")),
    ("messaging", include_str!("../../../../models/reference/messaging.shelf")),
    ("rubis", include_str!("../../../../models/reference/rubis.shelf")),
    ("sensors", include_str!("../../../../models/reference/sensors.shelf")),
    ("social", include_str!("../../../../models/reference/social.shelf")),
    ("features", include_str!("../../../shelfmark-design-prove/src/tests/features.shelf")),
];

fn documents() -> impl Iterator<Item = (&'static str, Document)> {
    MODELS.iter().map(|(name, text)| {
        let document = Document::parse(name, text).unwrap_or_else(|report| panic!("{report}"));
        (*name, document)
    })
}

/// Checks all promises on one scene of each model, since proving takes the time here.
#[test]
fn pictures_keep_their_promises() {
    let mut rows_seen = 0;
    for (name, document) in documents() {
        let scene = Scene::of(&document);
        samples_are_states_with_rows_in_every_relation(name, &scene);
        for number in 0..scene.model.schemas.len() {
            for view in View::ALL {
                labels_do_not_overlap(name, view, &scene.picture(view, number));
            }
            every_read_is_named(name, &scene, number);
        }
        rows_seen += intervals_of_certified_reads_hold_nothing_else(name, &scene);
    }
    assert!(rows_seen > 200, "only {rows_seen} rows were looked at");
}

fn samples_are_states_with_rows_in_every_relation(name: &str, scene: &Scene<'_>) {
    assert!(scene.state.is_valid(scene.model), "{name}");
    for (id, relation) in scene.model.relations.iter().enumerate() {
        assert!(!scene.state.tuples(id).is_empty(), "{name}: {} is empty", relation.name.text);
    }
}

fn labels_do_not_overlap(name: &str, view: View, picture: &Svg) {
    for (at, a) in picture.labels.iter().enumerate() {
        for b in picture.labels.iter().skip(at + 1) {
            let apart = a.right <= b.left + 0.5
                || b.right <= a.left + 0.5
                || a.bottom <= b.top + 0.5
                || b.bottom <= a.top + 0.5;
            assert!(apart, "{name} {}: {a:?} meets {b:?}", view.word());
        }
    }
}

fn every_read_is_named(name: &str, scene: &Scene<'_>, number: usize) {
    let picture = scene.picture(View::Ranges, number);
    for read in &scene.model.reads {
        let call = format!("{}(", read.name.text);
        let found = picture.labels.iter().any(|label| label.text.starts_with(&call));
        assert!(found, "{name}: {} is not drawn in schema {number}", read.name.text);
    }
}

/// Checks that the picture agrees with the proof: a certified read wants every row of its interval.
fn intervals_of_certified_reads_hold_nothing_else(name: &str, scene: &Scene<'_>) -> usize {
    let mut rows_seen = 0;
    for proof in scene.proofs.iter().filter(|proof| !proof.certificate.write) {
        let schema = &scene.model.schemas[proof.schema];
        let read = &scene.model.reads[proof.pattern];
        let Some(serve) = &proof.serve else { continue };
        let Some(Step::Read(step)) = serve.steps.first() else { continue };
        if proof.certificate.status != Status::Certified || read.aggregate.is_some() {
            continue;
        }
        let rows = scene.rows(schema);
        let line = rows.in_order(schema, step.table);
        let inputs = scene.inputs_of(proof);
        let asked = (read, &proof.analysis.families);
        for reach in first(scene.model, schema, &scene.state, asked, step, &line, inputs) {
            let certain =
                reach.missed.is_empty() && reach.marks.iter().all(|mark| *mark == Mark::Wanted);
            assert!(certain, "{name}.{}: {reach:?}", read.name.text);
            rows_seen += reach.marks.len();
        }
    }
    rows_seen
}

#[test]
fn texts_fit_where_they_are_cut() {
    use super::metrics::{Face, fit, width};
    for text in ["", "a", "publication.name", "日本語のタイトル", "iiiiiiiiiiiiii", "WWWWWWWWWW"]
    {
        for face in [Face::Sans, Face::Bold, Face::Mono] {
            for room in [20.0, 55.5, 300.0] {
                let shown = fit(text, face, 12.0, room);
                assert!(width(&shown, face, 12.0) <= room, "{text} in {room}: {shown}");
            }
        }
    }
}

/// Checks that the rows that a document prints, its slips included, stand where made-up ones would.
#[test]
fn printed_rows_are_shown_of_tables_that_have_some() {
    let (_, document) = documents().find(|(name, _)| *name == "twissandra").expect("a seed");
    let scene = Scene::of(&document);
    let texts = |number: usize| -> Vec<String> {
        let picture = scene.picture(View::Aggregate, number);
        picture.labels.iter().map(|label| label.text.clone()).collect()
    };
    let published = texts(0);
    let count = |wanted: &str| published.iter().filter(|text| *text == wanted).count();
    assert_eq!(count("table, rows as printed"), 3, "FRIEND, FOLLOWER and TIMELINE: {published:?}");
    assert_eq!(count("329836819781000"), 1, "the truncated time: {published:?}");
    assert!(count("table") == 2 && count("?") > 0, "what is not printed is not made up");
    assert!(!texts(1).iter().any(|text| text.contains("printed")), "the corrected one prints none");
}
