//! Lays JSON out over lines without touching its values: numbers keep all their digits.

use std::iter::repeat_n;

/// Returns valid JSON with a member or element a line, indented by two spaces a level.
pub(crate) fn pretty(json: &str) -> String {
    let mut out = String::with_capacity(json.len() * 2);
    let (mut depth, mut in_text, mut is_escaped) = (0_usize, false, false);
    let mut characters = json.chars().peekable();
    let line = |out: &mut String, depth: usize| {
        out.push('\n');
        out.extend(repeat_n("  ", depth));
    };
    while let Some(character) = characters.next() {
        if in_text {
            out.push(character);
            in_text = is_escaped || character != '"';
            is_escaped = !is_escaped && character == '\\';
            continue;
        }
        match character {
            '"' => {
                in_text = true;
                out.push('"');
            }
            '{' | '[' => {
                out.push(character);
                while characters.next_if(char::is_ascii_whitespace).is_some() {}
                if let Some(end) = characters.next_if(|next| matches!(next, '}' | ']')) {
                    out.push(end);
                } else {
                    depth += 1;
                    line(&mut out, depth);
                }
            }
            '}' | ']' => {
                depth = depth.saturating_sub(1);
                line(&mut out, depth);
                out.push(character);
            }
            ',' => {
                out.push(',');
                line(&mut out, depth);
            }
            ':' => out.push_str(": "),
            blank if blank.is_ascii_whitespace() => {}
            other => out.push(other),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::pretty;

    #[test]
    fn values_stay_and_lines_are_as_elsewhere() {
        let json = r#"{"a":[1,{"b":"x: \"{,}\" \\"}],"e":{},"f":[ ],"t":true}"#;
        let value: serde_json::Value = serde_json::from_str(json).unwrap();
        assert_eq!(pretty(json), serde_json::to_string_pretty(&value).unwrap());
        let digits = "-12345678901234567890.12345678901234567";
        assert_eq!(pretty(digits), digits);
    }
}
