//! Statements with tokens left out, doubled, exchanged and put in.
//!
//! Whatever comes of it: no panic, an error lies inside the text, and what is accepted prints as
//! a text of the same tree.

use proptest::prelude::*;
use shelfmark_cql_syntax::parse;

use crate::statements::table;

/// Tokens to put in.
const TOKENS: [&str; 40] = [
    "a", "\"B\"", "\"\"", "'text'", "$$text$$", "1", "-1", "1.5", "1h", "0xAB", "true", "NaN", "?",
    ":m", "(", ")", "[", "]", "{", "}", "<", ">", "=", "+", "-", "*", ",", ".", "..", ";", ":",
    "NULL", "token", "key", "list", "int", "AND", "SELECT", "--x\n", "/*x*/",
];

fn pieces(text: &str) -> Vec<String> {
    let mut pieces: Vec<String> = Vec::new();
    let mut word = false;
    for character in text.chars() {
        let belongs = character.is_alphanumeric() || character == '_';
        match pieces.last_mut() {
            Some(last) if word && belongs => last.push(character),
            _ => pieces.push(character.to_string()),
        }
        word = belongs;
    }
    pieces
}

fn holds(text: &str) -> Result<(), TestCaseError> {
    match parse(text) {
        Ok(parsed) => {
            let printed = parsed.statement.to_string();
            let again = parse(&printed);
            prop_assert_eq!(
                again.map(|again| again.statement),
                Ok(parsed.statement),
                "{} printed as {}",
                text,
                printed
            );
        }
        Err(error) => prop_assert!(error.offset() <= text.len() && error.line() > 0, "{error:?}"),
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_changed_statement_is_refused_or_prints_as_itself(
        row in 0usize..1000,
        changes in prop::collection::vec((any::<prop::sample::Index>(), 0..4u8, 0..TOKENS.len()), 1..4),
    ) {
        let table = table();
        let mut pieces = pieces(&table[row % table.len()].text);
        for (place, change, token) in changes {
            if pieces.is_empty() {
                break;
            }
            let place = place.index(pieces.len());
            match change {
                0 => drop(pieces.remove(place)),
                1 => pieces[place] = TOKENS[token].to_owned(),
                2 => pieces.insert(place, format!(" {} ", TOKENS[token])),
                _ => pieces.truncate(place),
            }
        }
        holds(&pieces.concat())?;
    }

    #[test]
    fn any_tokens_are_refused_or_print_as_themselves(
        tokens in prop::collection::vec(0..TOKENS.len(), 0..12),
    ) {
        let tokens: Vec<&str> = tokens.into_iter().map(|token| TOKENS[token]).collect();
        holds(&format!("SELECT {} FROM t", tokens.join(" ")))?;
        holds(&format!("INSERT INTO t (a) VALUES ({})", tokens.join(" ")))?;
    }

    #[test]
    fn any_text_is_refused_or_prints_as_itself(text in ".{0,60}") {
        holds(&text)?;
    }
}
