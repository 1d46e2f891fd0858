//! Key ids and secrets, read from a file in the form of `~/.aws/credentials`, so that a server takes
//! the very file that the clients have; and passwords.
//!
//! Every section counts, whatever its name; settings that are no keys are passed over.
//!
//! Invariant: no error shows what is behind an equals sign.

use std::path::Path;

use anyhow::{Context as _, bail};
use shelfmark_dynamo::auth::Credentials;
use shelfmark_store::vfs;

/// Longest file, in bytes. Source: ours; thousands of keys.
const FILE_BYTES_MAX: usize = 1024 * 1024;

/// Reads the keys of a file.
pub(crate) fn read(path: &Path) -> anyhow::Result<Credentials> {
    let shown = path.display();
    let bytes = vfs::read(path).with_context(|| format!("cannot read the credentials {shown}"))?;
    if bytes.len() > FILE_BYTES_MAX {
        bail!("{shown} is no file of credentials: it has more than {FILE_BYTES_MAX} bytes");
    }
    let text = String::from_utf8(bytes).with_context(|| format!("{shown} is not UTF-8"))?;
    parse(&text).with_context(|| format!("{shown} holds no credentials"))
}

/// Reads the password of a file; a line end at its end does not count.
pub(crate) fn password(path: &Path) -> anyhow::Result<String> {
    let shown = path.display();
    let bytes = vfs::read(path).with_context(|| format!("cannot read {shown}"))?;
    let text = String::from_utf8(bytes).ok().with_context(|| format!("{shown} is not UTF-8"))?;
    let password = line(&text);
    if password.is_empty() {
        bail!("{shown} holds no password: it is empty, or begins with an empty line");
    }
    Ok(password.to_owned())
}

/// Returns a line without its end.
pub(crate) fn line(text: &str) -> &str {
    let text = text.strip_suffix('\n').unwrap_or(text);
    text.strip_suffix('\r').unwrap_or(text)
}

fn parse(text: &str) -> anyhow::Result<Credentials> {
    let mut credentials = Credentials::new();
    let (mut section, mut key_id, mut secret) = ("", None, None);
    for (line, number) in text.lines().map(str::trim).chain(["[]"]).zip(1..) {
        if let Some(name) = line.strip_prefix('[') {
            match (key_id.take(), secret.take()) {
                (Some(id), Some(secret)) => credentials = credentials.with(id, secret),
                (None, None) => {}
                (Some(_), None) => bail!("section [{section}] has no aws_secret_access_key"),
                (None, Some(_)) => bail!("section [{section}] has no aws_access_key_id"),
            }
            section = name.trim_end_matches(']').trim();
            continue;
        }
        if line.is_empty() || line.starts_with(['#', ';']) {
            continue;
        }
        let Some((name, value)) = line.split_once('=') else {
            bail!("line {number} is neither a section nor a setting");
        };
        let value = value.trim().to_owned();
        let place = match name.trim() {
            "aws_access_key_id" => &mut key_id,
            "aws_secret_access_key" => &mut secret,
            _ => continue,
        };
        if value.is_empty() {
            bail!("line {number}: {} is empty", name.trim());
        }
        *place = Some(value);
    }
    if credentials.is_empty() {
        bail!("it has no section with aws_access_key_id and aws_secret_access_key");
    }
    Ok(credentials)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: Result<&str, &str>) {
        let answer = parse(text).map(|keys| format!("{keys:?}")).map_err(|error| error.to_string());
        let expected = expected.map(str::to_owned).map_err(str::to_owned);
        assert_eq!(answer, expected, "{text}");
    }

    #[test]
    fn the_form_of_the_aws_tools_is_read() {
        let two = "# mine\n[default]\naws_access_key_id = A\naws_secret_access_key=s=1\n\n[other]\n\
                   region = x\naws_secret_access_key = t\naws_access_key_id = B\n";
        check(two, Ok("{\"A\", \"B\"}"));
        check("aws_access_key_id=A\naws_secret_access_key=s", Ok("{\"A\"}"));
    }

    #[test]
    fn what_is_missing_is_named_and_no_secret_is_shown() {
        let none = "it has no section with aws_access_key_id and aws_secret_access_key";
        check("", Err(none));
        check("[a]\nregion = x", Err(none));
        check("[a]\naws_access_key_id = A\n[b]\n", Err("section [a] has no aws_secret_access_key"));
        check("[a]\naws_secret_access_key = s", Err("section [a] has no aws_access_key_id"));
        check("[a]\nsecret", Err("line 2 is neither a section nor a setting"));
        check("[a]\naws_secret_access_key =", Err("line 2: aws_secret_access_key is empty"));
    }
}
