//! Joins the tour's questions with the modeller's proofs: one verdict for one question.
//!
//! A run over some data cannot say that a plan is right, only the proof can. So where a plan of the
//! tour is the plan of a schema in the models, it counts as right only if it answered right here and
//! is not refused there.
//!
//! What it is not: no second list of verdicts. Which plans are the same is written down here, their
//! verdicts are computed.
//!
//! Invariant: a plan that is proven answers right on every data; if one does not, the tour fails.

use anyhow::{anyhow, bail};
use shelfmark_design::{Document, Status};

use super::outcome::{Outcome, Plan};
use super::proofs::MODELS;

/// A plan of the tour and the modeller's schema and pattern for it: the model, the question, the
/// number of the published plan or none for the right one, the schema and the pattern.
type Same = (&'static str, &'static str, Option<usize>, &'static str);

/// The plans that the models have too.
const SAME: &[Same] = &[
    ("openchat", "getChatsForUser", Some(0), "heading.get_chats_for_user"),
    ("openchat", "getChatsForUser", None, "corrected.get_chats_for_user"),
    ("openchat", "getMessagesInChat", Some(0), "heading.get_messages_in_chat"),
    ("openchat", "getMessagesInChat", Some(1), "prose.get_messages_in_chat"),
    ("openchat", "getMessagesInChat", None, "corrected.get_messages_in_chat"),
    ("openchat", "createChat", Some(0), "heading.create_chat"),
    ("openchat", "createChat", None, "corrected.create_chat"),
    ("openchat", "sendMessage", Some(0), "heading.send_message"),
    ("openchat", "sendMessage", None, "corrected.send_message"),
    ("reddit", "comments of a post", Some(0), "published.comments_of_post"),
    ("reddit", "comments of a subreddit", Some(0), "published.comments_of_subreddit"),
    ("reddit", "comments of a subreddit", None, "corrected.comments_of_subreddit"),
    ("reddit", "replies of a comment", Some(0), "published.replies_of_comment"),
    ("publication", "metadata", Some(0), "root.metadata"),
    ("publication", "metadata", None, "gsi.metadata"),
    ("publication", "titles", Some(0), "root.titles"),
    ("publication", "tags", Some(0), "root.tags"),
    ("publication", "metadata by hierarchy", Some(0), "hierarchical.metadata"),
    ("publication", "titles by hierarchy", Some(0), "hierarchical.titles"),
    ("publication", "tags of a title", Some(0), "gsi.tags_of_title"),
    ("publication", "tags of a title", None, "corrected.tags_of_title"),
    ("blog", "posts of an author", Some(0), "tuples.posts_of"),
    ("blog", "newest of an author", Some(0), "tuples.latest_of"),
    ("blog", "newest of an author", None, "corrected.latest_of"),
    ("blog", "newest of all", Some(0), "tuples.newest"),
    ("blog", "newest of all", None, "corrected.newest"),
    ("twissandra", "user by name", Some(0), "published.user_by_name"),
    ("twissandra", "users of a day", Some(0), "published.users_created"),
    ("twissandra", "friends of a user", Some(0), "published.friends"),
    ("twissandra", "followers of a user", Some(0), "published.followers"),
    ("twissandra", "newest of the timeline", Some(0), "published.timeline"),
    ("followers", "newest followers", Some(0), "asked.by_time"),
    ("followers", "does one follow another", Some(0), "asked.is_following"),
    ("followers", "unfollow", Some(0), "asked.unfollow"),
    ("followers", "two followers in one instant", Some(0), "two_columns.by_time"),
    ("phonebook", "phones of a unit", Some(0), "published.by_unit"),
    ("phonebook", "phones of a building by name", Some(0), "published.by_name_in_building"),
    ("phonebook", "phone of a name", Some(2), "published.by_name"),
];

/// Adds the modeller's verdicts to the plans of a model that are proven or refused there.
///
/// # Errors
///
/// A model that cannot be read, a plan that no model has, and a proven plan that answered wrongly.
pub(super) fn hold_to_proofs(model: &str, outcomes: &mut [Outcome]) -> anyhow::Result<()> {
    let same: Vec<&Same> = SAME.iter().filter(|own| own.0 == model).collect();
    let Some((_, _, text)) = MODELS.iter().find(|(name, ..)| *name == model) else {
        return Ok(());
    };
    let certificates = Document::parse(model, text)?.prove();
    for (_, pattern, published, proof) in same {
        let plan = if published.is_some() { Plan::Published } else { Plan::Right };
        let mut own = outcomes.iter_mut().filter(|own| own.pattern == *pattern && own.plan == plan);
        // A seed may draw data on which a question is not asked.
        let Some(outcome) = own.nth(published.unwrap_or(0)) else { continue };
        let certificate = certificates
            .iter()
            .find(|one| *proof == format!("{}.{}", one.schema, one.pattern))
            .ok_or_else(|| anyhow!("the model {model} has no plan {proof}"))?;
        outcome.proof = Some((*proof).to_owned());
        match (certificate.status, outcome.correct) {
            (Status::Certified | Status::Multi, false) => {
                bail!("{model}: {proof} is proven and answered wrongly: {}", outcome.note)
            }
            (Status::Refused | Status::Unservable, true) => {
                outcome.correct = false;
                outcome.note = format!(
                    "{}; right on this data, not on all: {}",
                    outcome.note, certificate.reason
                );
            }
            _ => {}
        }
    }
    Ok(())
}
