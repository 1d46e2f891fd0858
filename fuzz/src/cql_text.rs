//! CQL from nowhere into the parser.
//!
//! Input: the text. What is refused is refused at a place inside of it; what is accepted prints as
//! a text that means the same, has its markers in order, and prints the same again.

use shelfmark_cql_syntax::{parse, parse_term, parse_type};

/// Runs one input.
pub fn run(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    match parse(&text) {
        Ok(parsed) => {
            let printed = parsed.statement.to_string();
            let again = parse(&printed).expect("what is printed parses");
            assert_eq!(again.statement, parsed.statement, "{text} printed as {printed}");
            assert_eq!(again.markers.len(), parsed.markers.len(), "{printed}");
            assert_eq!(again.statement.to_string(), printed);
            for pair in parsed.markers.windows(2) {
                assert!(pair[0].span.end <= pair[1].span.start, "{text}");
            }
        }
        Err(error) => {
            assert!(error.offset() <= text.len(), "{error:?}");
            assert!(!error.message().is_empty());
        }
    }
    if let Ok(parsed) = parse_type(&text) {
        assert_eq!(parse_type(&parsed.to_string()), Ok(parsed));
    }
    if let Ok(parsed) = parse_term(&text) {
        assert_eq!(parse_term(&parsed.to_string()), Ok(parsed));
    }
}
