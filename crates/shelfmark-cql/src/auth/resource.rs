//! Resources of permissions: keyspaces and tables, roles, functions, beans, each within others.
//!
//! What it is not: a list of what there is. A resource may name what was dropped or never made.
//!
//! Invariant: [`Resource::name`] is what Cassandra stores and [`Resource::from_name`] reads it back;
//! a parent's permission is one on everything below it.
//!
//! Source: Cassandra 5.0, `DataResource`, `RoleResource`, `FunctionResource`, `JMXResource` and
//! `Permission`, read 2026-11.

use std::fmt;

use shelfmark_cql_syntax::ast::Permission;

/// Every permission, in the order in which they are listed.
pub(crate) const PERMISSIONS: [Permission; 10] = [
    Permission::Create,
    Permission::Alter,
    Permission::Drop,
    Permission::Select,
    Permission::Modify,
    Permission::Authorize,
    Permission::Describe,
    Permission::Execute,
    Permission::Unmask,
    Permission::SelectMasked,
];

/// A set of permissions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct PermissionSet(u16);

impl PermissionSet {
    const fn bit(permission: Permission) -> u16 {
        1 << permission as u16
    }

    /// Returns the set of these.
    pub(crate) fn of(permissions: &[Permission]) -> Self {
        Self(permissions.iter().fold(0, |bits, own| bits | Self::bit(*own)))
    }

    pub(crate) const fn has(self, permission: Permission) -> bool {
        self.0 & Self::bit(permission) != 0
    }

    pub(crate) const fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub(crate) const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(crate) const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    pub(crate) const fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// Returns the permissions in the order in which they are listed.
    pub(crate) fn iter(self) -> impl Iterator<Item = Permission> {
        PERMISSIONS.into_iter().filter(move |own| self.has(*own))
    }

    /// Returns their names, separated by commas.
    pub(crate) fn text(self) -> String {
        self.iter().map(Permission::name).collect::<Vec<_>>().join(", ")
    }
}

/// A resource: the object of a permission.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Resource {
    AllKeyspaces,
    Keyspace(Box<str>),
    /// The tables of a keyspace, without the keyspace itself.
    AllTables(Box<str>),
    Table(Box<str>, Box<str>),
    AllRoles,
    Role(Box<str>),
    AllFunctions,
    AllFunctionsIn(Box<str>),
    /// A function or aggregate of a user's with the types of its arguments.
    Function(Box<str>, Box<str>),
    AllMbeans,
    /// A bean of Java's, or a pattern of their names. There are none: nothing here asks for them.
    Mbean(Box<str>),
}

impl Resource {
    pub(crate) fn table(keyspace: &str, name: &str) -> Self {
        Self::Table(keyspace.into(), name.into())
    }

    /// Returns the permissions that there are on resources of its sort.
    pub(crate) fn applicable(&self) -> PermissionSet {
        use Permission::{
            Alter, Authorize, Create, Describe, Drop, Execute, Modify, Select, SelectMasked, Unmask,
        };
        PermissionSet::of(match self {
            Self::AllKeyspaces | Self::Keyspace(_) | Self::AllTables(_) => {
                &[Create, Alter, Drop, Select, Modify, Authorize, Unmask, SelectMasked]
            }
            Self::Table(..) => &[Alter, Drop, Select, Modify, Authorize, Unmask, SelectMasked],
            Self::AllRoles => &[Create, Alter, Drop, Authorize, Describe],
            Self::Role(_) => &[Alter, Drop, Authorize, Describe],
            Self::AllFunctions | Self::AllFunctionsIn(_) => {
                &[Create, Alter, Drop, Authorize, Execute]
            }
            Self::Function(..) => &[Alter, Drop, Authorize, Execute],
            Self::AllMbeans | Self::Mbean(_) => &[Authorize, Describe, Execute, Modify, Select],
        })
    }

    /// Returns the resource that it is part of; `None` at the end of the chain.
    pub(crate) fn parent(&self) -> Option<Self> {
        match self {
            Self::AllKeyspaces | Self::AllRoles | Self::AllFunctions | Self::AllMbeans => None,
            Self::Keyspace(_) => Some(Self::AllKeyspaces),
            Self::AllTables(keyspace) => Some(Self::Keyspace(keyspace.clone())),
            Self::Table(keyspace, _) => Some(Self::AllTables(keyspace.clone())),
            Self::Role(_) => Some(Self::AllRoles),
            Self::AllFunctionsIn(_) => Some(Self::AllFunctions),
            Self::Function(keyspace, _) => Some(Self::AllFunctionsIn(keyspace.clone())),
            Self::Mbean(_) => Some(Self::AllMbeans),
        }
    }

    /// Returns it and what it is part of, from within.
    pub(crate) fn chain(&self) -> impl Iterator<Item = Self> {
        std::iter::successors(Some(self.clone()), Self::parent)
    }

    /// Returns it and the resources whose permissions are ones on it, from within. For the server's own
    /// keyspaces those on all keyspaces do not count.
    pub(crate) fn granting(&self) -> impl Iterator<Item = Self> {
        let is_own = self.keyspace().is_some_and(crate::schema::is_system);
        self.chain().filter(move |own| !is_own || *own != Self::AllKeyspaces)
    }

    /// Returns the keyspace that it is or lies in, of keyspaces and tables.
    pub(crate) fn keyspace(&self) -> Option<&str> {
        match self {
            Self::Keyspace(name) | Self::AllTables(name) | Self::Table(name, _) => Some(name),
            _ => None,
        }
    }

    /// Returns the permissions on it that nobody can be given.
    pub(crate) fn never_given(&self) -> PermissionSet {
        use Permission::{Alter, Describe, Select};
        let is_own = |own: &str| crate::schema::is_system(own) && !crate::schema::is_virtual(own);
        match self.keyspace() {
            Some(keyspace) if is_own(keyspace) => PermissionSet::of(&PERMISSIONS)
                .without(PermissionSet::of(&[Select, Describe, Alter])),
            _ => PermissionSet::default(),
        }
    }

    /// Returns the name that it is stored by.
    pub(crate) fn name(&self) -> String {
        match self {
            Self::AllKeyspaces => "data".to_owned(),
            Self::Keyspace(keyspace) => format!("data/{keyspace}"),
            Self::AllTables(keyspace) => format!("data/{keyspace}/*"),
            Self::Table(keyspace, table) => format!("data/{keyspace}/{table}"),
            Self::AllRoles => "roles".to_owned(),
            Self::Role(role) => format!("roles/{role}"),
            Self::AllFunctions => "functions".to_owned(),
            Self::AllFunctionsIn(keyspace) => format!("functions/{keyspace}"),
            Self::Function(keyspace, function) => format!("functions/{keyspace}/{function}"),
            Self::AllMbeans => "mbean".to_owned(),
            Self::Mbean(name) => format!("mbean/{name}"),
        }
    }

    /// Reads the name that it is stored by; `None` if it is none.
    pub(crate) fn from_name(name: &str) -> Option<Self> {
        let (kind, rest) = match name.split_once('/') {
            Some((kind, rest)) => (kind, Some(rest)),
            None => (name, None),
        };
        Some(match (kind, rest) {
            ("data", None) => Self::AllKeyspaces,
            ("data", Some(rest)) => match rest.split_once('/') {
                None => Self::Keyspace(rest.into()),
                Some((keyspace, "*")) => Self::AllTables(keyspace.into()),
                Some((keyspace, table)) => Self::table(keyspace, table),
            },
            ("roles", None) => Self::AllRoles,
            ("roles", Some(role)) => Self::Role(role.into()),
            ("functions", None) => Self::AllFunctions,
            ("functions", Some(rest)) => match rest.split_once('/') {
                None => Self::AllFunctionsIn(rest.into()),
                Some((keyspace, function)) => Self::Function(keyspace.into(), function.into()),
            },
            ("mbean", None) => Self::AllMbeans,
            ("mbean", Some(bean)) => Self::Mbean(bean.into()),
            _ => return None,
        })
    }
}

impl fmt::Display for Resource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AllKeyspaces => f.write_str("<all keyspaces>"),
            Self::Keyspace(keyspace) => write!(f, "<keyspace {keyspace}>"),
            Self::AllTables(keyspace) => write!(f, "<all tables in {keyspace}>"),
            Self::Table(keyspace, table) => write!(f, "<table {keyspace}.{table}>"),
            Self::AllRoles => f.write_str("<all roles>"),
            Self::Role(role) => write!(f, "<role {role}>"),
            Self::AllFunctions => f.write_str("<all functions>"),
            Self::AllFunctionsIn(keyspace) => write!(f, "<all functions in {keyspace}>"),
            Self::Function(keyspace, function) => write!(f, "<function {keyspace}.{function}>"),
            Self::AllMbeans => f.write_str("<all mbeans>"),
            Self::Mbean(name) => write!(f, "<mbean {name}>"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back_and_chains_end() {
        let role: Box<str> = "a/b".into();
        let check = |resource: &Resource, name: &str, shown: &str, parents: &[&str]| {
            assert_eq!(resource.name(), name);
            assert_eq!(Resource::from_name(name).as_ref(), Some(resource), "{name}");
            assert_eq!(resource.to_string(), shown);
            let chain: Vec<String> = resource.chain().skip(1).map(|own| own.name()).collect();
            assert_eq!(chain, parents, "{name}");
        };
        let table = Resource::table("k", "t");
        check(&table, "data/k/t", "<table k.t>", &["data/k/*", "data/k", "data"]);
        let all = Resource::AllTables("k".into());
        check(&all, "data/k/*", "<all tables in k>", &["data/k", "data"]);
        check(&Resource::Keyspace("k".into()), "data/k", "<keyspace k>", &["data"]);
        check(&Resource::AllKeyspaces, "data", "<all keyspaces>", &[]);
        check(&Resource::Role(role), "roles/a/b", "<role a/b>", &["roles"]);
        let functions = Resource::AllFunctionsIn("k".into());
        check(&functions, "functions/k", "<all functions in k>", &["functions"]);
        let bean = Resource::Mbean("x:y=*".into());
        check(&bean, "mbean/x:y=*", "<mbean x:y=*>", &["mbean"]);
        assert_eq!(Resource::from_name("nothing/x"), None);
    }

    #[test]
    fn sets_hold_what_they_were_given() {
        let both = PermissionSet::of(&[Permission::SelectMasked, Permission::Create]);
        assert_eq!(both.text(), "CREATE, SELECT_MASKED");
        for own in PERMISSIONS {
            assert_eq!(both.has(own), both.iter().any(|other| other == own), "{own:?}");
            assert!(PermissionSet::of(&PERMISSIONS).has(own), "{own:?}");
        }
        assert!(both.without(both).is_empty() && !both.and(both).is_empty());
    }
}
