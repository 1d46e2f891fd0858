//! Reads key ids and secrets from a file in the form of `~/.aws/credentials`, so that a server
//! takes the very file that the clients have; and passwords from files.
//!
//! Every section counts, whatever its name, which names its user where something is refused. Beside
//! the AWS tools' settings, which are passed over if they are no keys, a section may have two of ours:
//!
//! ```text
//! shelfmark_tables = orders, logs-*      which tables the key may use; without it, all
//! shelfmark_access = read, write         what it may do with them: read, write, manage
//! ```
//!
//! Invariant: no error shows a secret. What restricts a key and cannot be read is an error, so that no
//! key may do more than is written.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context as _, anyhow, bail};
use shelfmark_dynamo::auth::{Access, Credentials, Policy};
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
    // Some editors write a mark of the order of bytes, which is no text.
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    parse(text).with_context(|| format!("the credentials {shown} cannot be taken"))
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

/// Returns a line without its line end.
pub(crate) fn line(text: &str) -> &str {
    let text = text.strip_suffix('\n').unwrap_or(text);
    text.strip_suffix('\r').unwrap_or(text)
}

/// The settings of a section so far, each with its line.
#[derive(Default)]
struct Section<'t> {
    name: &'t str,
    key_id: Option<(usize, &'t str)>,
    secret: Option<(usize, &'t str)>,
    tables: Option<(usize, &'t str)>,
    access: Option<(usize, &'t str)>,
}

fn parse(text: &str) -> anyhow::Result<Credentials> {
    let mut credentials = Credentials::new();
    let mut policies: BTreeMap<&str, (Policy, bool)> = BTreeMap::new();
    let mut section = Section::default();
    for (line, number) in text.lines().map(str::trim).chain(["[]"]).zip(1..) {
        if let Some(name) = line.strip_prefix('[') {
            let name = name.trim_end_matches(']').trim();
            let ended = std::mem::replace(&mut section, Section { name, ..Section::default() });
            if let Some((key_id, secret, policy, is_restricted)) = ended.key()? {
                check_alike(&mut policies, (key_id, &policy, is_restricted), ended.name)?;
                credentials = match is_restricted {
                    true => credentials.with_policy(key_id, secret, policy),
                    false => credentials.with(key_id, secret),
                };
            }
            continue;
        }
        if line.is_empty() || line.starts_with(['#', ';']) {
            continue;
        }
        let Some((name, value)) = line.split_once('=') else {
            bail!("line {number} is neither a section nor a setting");
        };
        section.set(name.trim(), (number, value.trim()))?;
    }
    if credentials.is_empty() {
        bail!("it has no section with aws_access_key_id and aws_secret_access_key");
    }
    Ok(credentials)
}

/// Refuses a key that stands in two sections with different permissions.
fn check_alike<'t>(
    policies: &mut BTreeMap<&'t str, (Policy, bool)>,
    (key_id, policy, is_restricted): (&'t str, &Policy, bool),
    section: &str,
) -> anyhow::Result<()> {
    let known = policies.insert(key_id, (policy.clone(), is_restricted));
    let Some((other, was_restricted)) = known else { return Ok(()) };
    if (is_restricted || was_restricted) && !other.is_like(policy) {
        bail!(
            "the key of section [{section}] is that of section [{}] too, and may do something else \
             there",
            other.user()
        );
    }
    Ok(())
}

impl<'t> Section<'t> {
    fn set(&mut self, name: &str, value: (usize, &'t str)) -> anyhow::Result<()> {
        let number = value.0;
        let (place, is_ours) = match name {
            "aws_access_key_id" => (&mut self.key_id, false),
            "aws_secret_access_key" => (&mut self.secret, false),
            "shelfmark_tables" => (&mut self.tables, true),
            "shelfmark_access" => (&mut self.access, true),
            // One that is misspelt would allow everything.
            _ if name.to_ascii_lowercase().starts_with("shelfmark") => {
                bail!(
                    "line {number}: there is no setting {name}; there are shelfmark_tables and \
                     shelfmark_access"
                );
            }
            _ => return Ok(()),
        };
        if value.1.is_empty() {
            bail!("line {number}: {name} is empty");
        }
        if is_ours && place.is_some() {
            bail!("line {number}: {name} stands twice in section [{}]", self.name);
        }
        *place = Some(value);
        Ok(())
    }

    /// Returns the section's key id and secret, its policy, and true if the policy restricts it.
    fn key(&self) -> anyhow::Result<Option<(&'t str, &'t str, Policy, bool)>> {
        let (key_id, secret) = match (self.key_id, self.secret) {
            (Some((_, key_id)), Some((_, secret))) => (key_id, secret),
            (None, None) => {
                if let Some((number, _)) = self.tables.or(self.access) {
                    bail!("line {number}: section [{}] has no key that this restricts", self.name);
                }
                return Ok(None);
            }
            (Some(_), None) => bail!("section [{}] has no aws_secret_access_key", self.name),
            (None, Some(_)) => bail!("section [{}] has no aws_access_key_id", self.name),
        };
        let mut policy = Policy::of_user(self.name);
        if let Some((number, names)) = self.tables {
            let names = names.split(',').map(str::trim);
            let restricted = policy.on_tables(names);
            policy = restricted.map_err(|why| anyhow!("line {number}: shelfmark_tables: {why}"))?;
        }
        if let Some((number, words)) = self.access {
            policy = policy.allowing(access(number, words)?);
        }
        let is_restricted = self.tables.is_some() || self.access.is_some();
        Ok(Some((key_id, secret, policy, is_restricted)))
    }
}

fn access(number: usize, words: &str) -> anyhow::Result<Vec<Access>> {
    let one = |word: &str| {
        let known = Access::ALL.into_iter().find(|own| own.name() == word);
        known.with_context(|| {
            format!(
                "line {number}: shelfmark_access is read, write, manage or several, not {word:?}"
            )
        })
    };
    words.split(',').map(|word| one(word.trim())).collect()
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

    #[test]
    fn what_restricts_a_key_is_read() {
        let keys = "[ann]\naws_access_key_id=A\naws_secret_access_key=s\n\
                    shelfmark_tables = orders, logs-*\nshelfmark_access = read\n\
                    [bob]\naws_access_key_id=B\naws_secret_access_key=t\n\
                    [cat]\naws_access_key_id=C\naws_secret_access_key=u\nshelfmark_access=read,write";
        let keys = parse(keys).unwrap();
        let ann = keys.policy("A").unwrap();
        assert_eq!(ann.user(), "ann");
        assert!(ann.allows(Access::Read, "logs-1") && !ann.allows(Access::Write, "logs-1"));
        assert!(!ann.allows(Access::Read, "other"));
        assert_eq!(keys.policy("B"), None);
        let cat = keys.policy("C").unwrap();
        assert!(cat.allows(Access::Write, "any") && !cat.allows(Access::Manage, "any"));
    }

    #[test]
    fn what_restricts_a_key_and_cannot_be_read_is_an_error() {
        let key = "aws_access_key_id=A\naws_secret_access_key=s\n";
        for (setting, why) in [
            (
                "shelfmark_acess = read",
                "line 3: there is no setting shelfmark_acess; there are shelfmark_tables and shelfmark_access",
            ),
            (
                "Shelfmark_Access = read",
                "line 3: there is no setting Shelfmark_Access; there are shelfmark_tables and shelfmark_access",
            ),
            (
                "shelfmark_access = reed",
                "line 3: shelfmark_access is read, write, manage or several, not \"reed\"",
            ),
            (
                "shelfmark_access = read,",
                "line 3: shelfmark_access is read, write, manage or several, not \"\"",
            ),
            ("shelfmark_access =", "line 3: shelfmark_access is empty"),
            (
                "shelfmark_tables = a b",
                "line 3: shelfmark_tables: \"a b\" is the name of no table: these consist of letters, digits, _ . and -, and * stands for any of them",
            ),
            (
                "shelfmark_tables = a\nshelfmark_tables = b",
                "line 4: shelfmark_tables stands twice in section []",
            ),
        ] {
            check(&format!("{key}{setting}"), Err(why));
        }
        let keyless =
            "[a]\nshelfmark_access = read\n[b]\naws_access_key_id=A\naws_secret_access_key=s";
        check(keyless, Err("line 2: section [a] has no key that this restricts"));
        let one = "aws_access_key_id=A\naws_secret_access_key=s\nshelfmark_access=read\n";
        let twice = format!("[a]\n{one}[b]\n{key}");
        let why =
            "the key of section [b] is that of section [a] too, and may do something else there";
        check(&twice, Err(why));
        check(&format!("[a]\n{one}[b]\n{one}"), Ok("{\"A\"}"));
    }
}
