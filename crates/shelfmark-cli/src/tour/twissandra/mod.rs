//! Twissandra in the command language of 2012: users, friends, followers, tweets and timelines.

mod bulk;
mod data;
mod families;
mod people;
mod session;
mod tweets;

use shelfmark_cassandra_cli::{Client, Local, Mode};

use super::asker::Asker;
use super::face::open_face;
use super::meter::Meter;
use super::{Outcome, Stage};
use bulk::Bulk;
use data::World;
use session::{Session, run as run_all};

/// Returns commands that read a few timelines.
pub(super) fn further() -> String {
    "echo 'list Newsline limit 3;' | shelfmark cassandra-cli -k Twissandra".to_owned()
}

/// Loads the column families and asks the document's questions.
pub(super) fn run(stage: &Stage<'_>) -> anyhow::Result<Vec<Outcome>> {
    (stage.progress)("loading users and tweets");
    let world = World::generate(stage.seed);
    let meter = Meter::default();
    let face = open_face(stage, &meter)?;
    let mut loader = Client::new(Bulk::new(Local::new(&face)), Mode::Strict);
    families::create(&mut loader, &world)?;
    (stage.progress)("asking");
    let mut session = Session { client: Client::new(Local::new(&face), Mode::Strict), meter };
    run_all(&mut session.client, "use Twissandra;")?;
    let clock = stage.engine.environment().clock.clone();
    let mut asker = Asker::new("twissandra", "cassandra-cli", clock);
    people::ask(&mut asker, &mut session, &world)?;
    tweets::ask(&mut asker, &mut session, &world)?;
    Ok(asker.outcomes)
}
