//! Generates names of people, few enough that some are shared.

use shelfmark_store::random::SplitMix;

const FIRST: [&str; 24] = [
    "Ada", "Bahar", "Carlos", "Dara", "Emil", "Farid", "Greta", "Hana", "Ivo", "Jamila", "Kenji",
    "Laleh", "Marek", "Marta", "Nora", "Omid", "Petra", "Quentin", "Roya", "Samir", "Tove", "Uma",
    "Viktor", "Zahra",
];
const LAST: [&str; 24] = [
    "Abadi", "Berg", "Castro", "Dahl", "Ek", "Farahani", "Ganz", "Holm", "Ito", "Jansen", "Kaya",
    "Lund", "Moradi", "Novak", "Okafor", "Petrov", "Qureshi", "Rossi", "Sato", "Tehrani", "Ueda",
    "Vega", "Weber", "Zand",
];

/// Returns the next name.
pub(crate) fn name(random: &mut SplitMix) -> String {
    let mut pick = |names: &[&'static str]| {
        let at = random.index(names.len());
        names.get(at).copied().unwrap_or_default()
    };
    let first = pick(&FIRST);
    format!("{first} {}", pick(&LAST))
}
