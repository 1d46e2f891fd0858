//! Roles, permissions, identities.

use std::fmt::{self, Display, Formatter};

use super::list;
use super::names::{quoted_string, strictly_quoted};
use super::schema::{if_exists, if_not_exists};
use super::terms::{braced, bracketed};
use crate::ast::{
    AccessTo, AddIdentity, AlterRole, CreateRole, DropIdentity, DropRole, Grant, GrantRole,
    ListPermissions, ListRoles, Name, Permission, Permissions, QualifiedName, Resource, RoleOption,
    RoleSyntax,
};

/// Parses a role's name; a user's may not stand in double quotes.
fn role(syntax: RoleSyntax, name: &Name) -> String {
    match syntax {
        RoleSyntax::Role => strictly_quoted(name).into_owned(),
        RoleSyntax::User => quoted_string(name.as_str()),
    }
}

fn sort(syntax: RoleSyntax) -> &'static str {
    match syntax {
        RoleSyntax::Role => "ROLE",
        RoleSyntax::User => "USER",
    }
}

impl Display for CreateRole {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let exists = if_not_exists(self.if_not_exists);
        let name = role(self.syntax, &self.name);
        write!(f, "CREATE {} {exists}{name}", sort(self.syntax))?;
        options(f, self.syntax, &self.options)
    }
}

impl Display for AlterRole {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let exists = if_exists(self.if_exists);
        let name = role(self.syntax, &self.name);
        write!(f, "ALTER {} {exists}{name}", sort(self.syntax))?;
        options(f, self.syntax, &self.options)
    }
}

impl Display for DropRole {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let name = role(self.syntax, &self.name);
        write!(f, "DROP {} {}{name}", sort(self.syntax), if_exists(self.if_exists))
    }
}

fn options(f: &mut Formatter<'_>, syntax: RoleSyntax, options: &[RoleOption]) -> fmt::Result {
    if syntax == RoleSyntax::Role {
        super::word(f, !options.is_empty(), " WITH ")?;
        return list(f, options, " AND ");
    }
    for option in options {
        match option {
            RoleOption::Password(text) => {
                write!(f, " WITH PASSWORD {}", quoted_string(text))?;
            }
            RoleOption::HashedPassword(text) => {
                write!(f, " WITH HASHED PASSWORD {}", quoted_string(text))?;
            }
            RoleOption::Superuser(true) => f.write_str(" SUPERUSER")?,
            RoleOption::Superuser(false) => f.write_str(" NOSUPERUSER")?,
            other => write!(f, " {other}")?,
        }
    }
    Ok(())
}

impl Display for RoleOption {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            RoleOption::Password(text) => write!(f, "PASSWORD = {}", quoted_string(text)),
            RoleOption::HashedPassword(text) => {
                write!(f, "HASHED PASSWORD = {}", quoted_string(text))
            }
            RoleOption::Options(entries) => {
                f.write_str("OPTIONS = ")?;
                braced(f, entries)
            }
            RoleOption::Superuser(yes) => write!(f, "SUPERUSER = {yes}"),
            RoleOption::Login(yes) => write!(f, "LOGIN = {yes}"),
            RoleOption::Datacenters(access) => access_to(f, "ACCESS TO", "DATACENTERS", access),
            RoleOption::Cidrs(access) => access_to(f, "ACCESS FROM", "CIDRS", access),
        }
    }
}

fn access_to(f: &mut Formatter<'_>, verb: &str, noun: &str, access: &AccessTo) -> fmt::Result {
    match access {
        AccessTo::All => write!(f, "{verb} ALL {noun}"),
        AccessTo::These(names) => {
            let names: Vec<String> = names.iter().map(|name| quoted_string(name)).collect();
            write!(f, "{verb} {noun} ")?;
            bracketed(f, '{', &names, '}')
        }
    }
}

impl Display for Permission {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Display for Permissions {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Permissions::All => f.write_str("ALL PERMISSIONS"),
            Permissions::These(these) => list(f, these, ", "),
        }
    }
}

impl Display for Resource {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Resource::AllKeyspaces => f.write_str("ALL KEYSPACES"),
            Resource::Keyspace(name) => write!(f, "KEYSPACE {name}"),
            Resource::AllTables(name) => write!(f, "ALL TABLES IN KEYSPACE {name}"),
            Resource::Table(QualifiedName { keyspace, name }) => {
                f.write_str("TABLE ")?;
                if let Some(keyspace) = keyspace {
                    write!(f, "{keyspace}.")?;
                }
                name.fmt(f)
            }
            Resource::AllRoles => f.write_str("ALL ROLES"),
            Resource::Role(name) => write!(f, "ROLE {}", strictly_quoted(name)),
            Resource::AllFunctions => f.write_str("ALL FUNCTIONS"),
            Resource::AllFunctionsIn(name) => write!(f, "ALL FUNCTIONS IN KEYSPACE {name}"),
            Resource::Function { name, arguments } => {
                write!(f, "FUNCTION {name}")?;
                bracketed(f, '(', arguments, ')')
            }
            Resource::AllMbeans => f.write_str("ALL MBEANS"),
            Resource::Mbean(name) => write!(f, "MBEAN {}", quoted_string(name)),
            Resource::Mbeans(name) => write!(f, "MBEANS {}", quoted_string(name)),
        }
    }
}

/// Writes a grant with the word that stands before the role.
pub(super) fn grant(f: &mut Formatter<'_>, grant: &Grant, preposition: &str) -> fmt::Result {
    let role = strictly_quoted(&grant.role);
    write!(f, "{} ON {} {preposition} {role}", grant.permissions, grant.resource)
}

/// Writes a grant of a role with the word that stands before the other role.
pub(super) fn grant_role(
    f: &mut Formatter<'_>,
    grant: &GrantRole,
    preposition: &str,
) -> fmt::Result {
    let grantee = strictly_quoted(&grant.grantee);
    write!(f, "{} {preposition} {grantee}", strictly_quoted(&grant.role))
}

impl Display for ListPermissions {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "LIST {}", self.permissions)?;
        if let Some(resource) = &self.resource {
            write!(f, " ON {resource}")?;
        }
        of_role(f, self.role.as_ref(), self.recursive)
    }
}

impl Display for ListRoles {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("LIST ROLES")?;
        of_role(f, self.role.as_ref(), self.recursive)
    }
}

fn of_role(f: &mut Formatter<'_>, role: Option<&Name>, recursive: bool) -> fmt::Result {
    if let Some(role) = role {
        write!(f, " OF {}", strictly_quoted(role))?;
    }
    super::word(f, !recursive, " NORECURSIVE")
}

impl Display for AddIdentity {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let exists = if_not_exists(self.if_not_exists);
        let (identity, role) = (quoted_string(&self.identity), quoted_string(&self.role));
        write!(f, "ADD IDENTITY {exists}{identity} TO ROLE {role}")
    }
}

impl Display for DropIdentity {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let identity = quoted_string(&self.identity);
        write!(f, "DROP IDENTITY {}{identity}", if_exists(self.if_exists))
    }
}
