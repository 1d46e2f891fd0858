//! The policy of a key: which tables it may use, and for what.
//!
//! What it is not: IAM's language. There are no conditions, no denials and no resources below a
//! table: whoever may read a table reads its indexes.
//!
//! Invariant: what is not allowed is refused; a key without a policy may do everything.

use crate::limits::TABLE_PATTERNS_MAX;

/// A kind of access to a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Access {
    /// Reads items, and describes and lists tables.
    Read,
    /// Puts, updates and deletes items.
    Write,
    /// Creates, changes and deletes tables, with their tags and times to live.
    Manage,
}

impl Access {
    /// Every kind of access.
    pub const ALL: [Self; 3] = [Self::Read, Self::Write, Self::Manage];

    /// Returns its name in files of credentials.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Manage => "manage",
        }
    }
}

/// The permissions of one key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Policy {
    /// The user that refusals name.
    user: String,
    /// Patterns of the tables' names; without any, all tables.
    tables: Option<Vec<String>>,
    access: Vec<Access>,
}

impl Policy {
    /// Creates the policy of a user who may do everything.
    #[must_use]
    pub fn of_user(user: impl Into<String>) -> Self {
        Self { user: user.into(), tables: None, access: Access::ALL.to_vec() }
    }

    /// Restricts the policy to the tables of these names, in which `*` stands for any letters and
    /// `?` for one.
    ///
    /// # Errors
    ///
    /// * What is wrong with the names: none, too many, or one that no table can have.
    pub fn on_tables<'n>(self, names: impl IntoIterator<Item = &'n str>) -> Result<Self, String> {
        let names: Vec<String> = names.into_iter().map(str::to_owned).collect();
        if names.is_empty() {
            return Err("no table is named".to_owned());
        }
        if names.len() > TABLE_PATTERNS_MAX {
            return Err(format!("more than {TABLE_PATTERNS_MAX} tables are named"));
        }
        let fits = |letter: char| letter.is_ascii_alphanumeric() || "_.-*?".contains(letter);
        if let Some(wrong) = names.iter().find(|name| name.is_empty() || !name.chars().all(fits)) {
            return Err(format!(
                "{wrong:?} is the name of no table: these consist of letters, digits, _ . and -, and * \
                 stands for any of them"
            ));
        }
        Ok(Self { tables: Some(names), ..self })
    }

    /// Restricts the policy to these kinds of access.
    #[must_use]
    pub fn allowing(self, access: impl IntoIterator<Item = Access>) -> Self {
        Self { access: access.into_iter().collect(), ..self }
    }

    /// Returns the user's name.
    #[must_use]
    pub fn user(&self) -> &str {
        &self.user
    }

    /// Returns true if another policy allows the same, of whichever user.
    #[must_use]
    pub fn is_like(&self, other: &Self) -> bool {
        self.tables == other.tables && self.access == other.access
    }

    /// Returns true if this kind of access is allowed to some table.
    #[must_use]
    pub fn grants(&self, access: Access) -> bool {
        self.access.contains(&access)
    }

    /// Returns true if this kind of access is allowed to the table of this name.
    #[must_use]
    pub fn allows(&self, access: Access, table: &str) -> bool {
        let named = |names: &Vec<String>| names.iter().any(|name| fits(name, table));
        self.grants(access) && self.tables.as_ref().is_none_or(named)
    }
}

/// Returns true if a name matches a pattern. Goes back to the last `*` only, so the work is bounded
/// by the product of the lengths.
fn fits(pattern: &str, name: &str) -> bool {
    let (pattern, name) = (pattern.as_bytes(), name.as_bytes());
    let (mut at, mut of) = (0, 0);
    let mut back: Option<(usize, usize)> = None;
    while let Some(letter) = name.get(of) {
        match pattern.get(at) {
            Some(b'*') => {
                at += 1;
                back = Some((at, of));
            }
            Some(own) if own == letter || *own == b'?' => {
                at += 1;
                of += 1;
            }
            _ => {
                let Some((behind, began)) = back else { return false };
                back = Some((behind, began + 1));
                (at, of) = (behind, began + 1);
            }
        }
    }
    pattern.get(at..).is_some_and(|rest| rest.iter().all(|own| *own == b'*'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_fit_whole_names() {
        let check = |pattern: &str, name: &str, expected: bool| {
            assert_eq!(fits(pattern, name), expected, "{pattern} {name}");
        };
        for (pattern, fitting, others) in [
            ("orders", &["orders"][..], &["order", "orders2", "Orders", ""][..]),
            ("logs-*", &["logs-", "logs-1", "logs-*"], &["logs", "my-logs-1"]),
            ("*", &["", "a", "a.b-c_d"], &[]),
            ("a*b*c", &["abc", "axxbyyc", "abcbc"], &["ab", "abcd", "xabc"]),
            ("a?c", &["abc", "a?c"], &["ac", "abbc"]),
            ("*a", &["a", "ba", "aaa"], &["ab", ""]),
        ] {
            fitting.iter().for_each(|name| check(pattern, name, true));
            others.iter().for_each(|name| check(pattern, name, false));
        }
        // Many stars and a name that fits nowhere: not exponential.
        check(&"*a".repeat(100), &"a".repeat(99), false);
        check(&format!("{}b", "*a".repeat(100)), &"a".repeat(255), false);
    }

    #[test]
    fn what_is_not_allowed_is_refused() {
        let policy = Policy::of_user("ann");
        assert!(policy.allows(Access::Manage, "x"));
        let read = policy.clone().on_tables(["orders", "logs-*"]).unwrap().allowing([Access::Read]);
        assert!(read.allows(Access::Read, "orders") && read.allows(Access::Read, "logs-2"));
        assert!(!read.allows(Access::Write, "orders") && !read.allows(Access::Read, "other"));
        assert!(!policy.clone().allowing([]).grants(Access::Read));
        for wrong in [&[][..], &[""], &["a b"], &["ärger"], &["a/b"]] {
            assert!(policy.clone().on_tables(wrong.iter().copied()).is_err(), "{wrong:?}");
        }
        let many = vec!["t"; TABLE_PATTERNS_MAX + 1];
        assert!(policy.on_tables(many).is_err());
    }
}
