//! Roles that are given to roles, and roles listed.
//!
//! Invariant: no role has itself, neither directly nor by way of others.

use std::collections::BTreeMap;

use shelfmark_cql_syntax::ast::{GrantRole, ListRoles};

use super::User;
use super::roles::{Role, Roles, unauthorized};
use crate::error::CqlError;
use crate::outcome::{Answered, ColumnSpec, Outcome, ResultRows, RowBuffer};
use crate::types::{CqlType, put_collection};

impl Roles {
    /// The role with those that it has, directly or not; empty if there is none of this name.
    pub(super) fn with_inherited(&self, name: &str) -> Result<Vec<Role>, CqlError> {
        let mut found: BTreeMap<String, Role> = BTreeMap::new();
        let mut open = vec![name.to_owned()];
        while let Some(name) = open.pop() {
            if found.contains_key(&name) {
                continue;
            }
            if let Some(role) = self.get(&name)? {
                open.extend(role.member_of.iter().cloned());
                found.insert(name, role);
            }
        }
        Ok(found.into_values().collect())
    }

    /// Whether `role` is the user's own or was given to it.
    pub(super) fn is_given(&self, user: Option<&User>, role: &str) -> Result<bool, CqlError> {
        let Some(user) = user else { return Ok(false) };
        let all = self.with_inherited(&user.name)?;
        Ok(*user.name == *role || all.iter().any(|own| own.name == role))
    }

    fn existing(&self, name: &str) -> Result<Role, CqlError> {
        self.get(name)?.ok_or_else(|| CqlError::invalid(format!("{name} doesn't exist")))
    }

    /// `GRANT role TO role`.
    pub(super) fn grant(&self, own: &GrantRole, user: Option<&User>) -> Result<(), CqlError> {
        self.allow(user)?;
        let (role, grantee) = (own.role.as_str(), own.grantee.as_str());
        self.existing(role)?;
        let mut changed = self.existing(grantee)?;
        for (holder, held) in [(grantee, role), (role, grantee)] {
            if self.with_inherited(holder)?.iter().any(|own| own.name == held) {
                return Err(CqlError::invalid(format!("{holder} is a member of {held}")));
            }
        }
        changed.member_of.push(role.to_owned());
        changed.member_of.sort();
        self.put(&changed)
    }

    /// `REVOKE role FROM role`.
    pub(super) fn revoke(&self, own: &GrantRole, user: Option<&User>) -> Result<(), CqlError> {
        self.allow(user)?;
        let (role, revokee) = (own.role.as_str(), own.grantee.as_str());
        self.existing(role)?;
        let mut changed = self.existing(revokee)?;
        // Every role has itself.
        if role == revokee {
            return Ok(());
        }
        if !changed.member_of.iter().any(|own| own == role) {
            return Err(CqlError::invalid(format!("{revokee} is not a member of {role}")));
        }
        changed.member_of.retain(|own| own != role);
        self.put(&changed)
    }

    /// Takes a role that was dropped away from those that had it.
    pub(super) fn forget(&self, name: &str) -> Result<(), CqlError> {
        for mut role in self.all()? {
            if role.member_of.iter().any(|own| own == name) {
                role.member_of.retain(|own| own != name);
                self.put(&role)?;
            }
        }
        Ok(())
    }

    /// The role that the server was started with, where users log in.
    fn started(user: Option<&User>) -> Option<Role> {
        Some(Role {
            name: user?.start_role.to_string(),
            hash: None,
            can_login: true,
            is_superuser: true,
            member_of: Vec::new(),
        })
    }

    /// `LIST ROLES`.
    pub(super) fn list(&self, own: &ListRoles, user: Option<&User>) -> Result<Answered, CqlError> {
        let of = |name: &str| -> Result<Vec<Role>, CqlError> {
            let mut all = self.with_inherited(name)?;
            if all.is_empty() && user.is_some_and(|user| *user.start_role == *name) {
                all.extend(Self::started(user));
            }
            if !own.recursive {
                let direct = all.iter().find(|role| role.name == name).cloned();
                let given = direct.map(|role| role.member_of).unwrap_or_default();
                all.retain(|role| role.name == name || given.contains(&role.name));
            }
            Ok(all)
        };
        let wanted = own.role.as_ref().map(shelfmark_cql_syntax::ast::Name::as_str);
        if let Some(name) = wanted
            && of(name)?.is_empty()
        {
            return Err(CqlError::invalid(format!("<role {name}> doesn't exist")));
        }
        let own_name = user.map_or("", |user| &*user.name);
        let roles = match (self.is_superuser(user)?, wanted) {
            (true, None) => self.everyone(user)?,
            (true, Some(name)) => of(name)?,
            (false, None) => of(own_name)?,
            (false, Some(name)) if self.is_given(user, name)? => of(name)?,
            (false, Some(name)) => {
                return Err(unauthorized(format!(
                    "You are not authorized to view roles granted to {name} "
                )));
            }
        };
        let options: Vec<u8> = put_collection(0, std::iter::empty::<&[u8]>());
        let columns = [
            column("roles", "role", CqlType::Text),
            column("roles", "super", CqlType::Boolean),
            column("roles", "login", CqlType::Boolean),
            column("roles", "options", CqlType::map(CqlType::Text, CqlType::Text)),
            column("roles", "datacenters", CqlType::Text),
        ];
        Ok(answer(&columns, &roles, |role, rows| {
            rows.row([
                Some(role.name.as_bytes()),
                Some(flag(role.is_superuser)),
                Some(flag(role.can_login)),
                Some(options.as_slice()),
                Some(b"ALL".as_slice()),
            ]);
        }))
    }

    /// `LIST USERS`: the roles that may log in.
    pub(super) fn list_users(&self, user: Option<&User>) -> Result<Answered, CqlError> {
        let mut roles = match self.is_superuser(user)? {
            true => self.everyone(user)?,
            false => self.with_inherited(user.map_or("", |user| &*user.name))?,
        };
        roles.retain(|role| role.can_login);
        for role in &mut roles {
            let inherited = self.with_inherited(&role.name)?;
            role.is_superuser |= inherited.iter().any(|own| own.is_superuser);
        }
        let columns = [
            column("users", "name", CqlType::Text),
            column("users", "super", CqlType::Boolean),
            column("users", "datacenters", CqlType::Text),
        ];
        Ok(answer(&columns, &roles, |role, rows| {
            let name = Some(role.name.as_bytes());
            rows.row([name, Some(flag(role.is_superuser)), Some(b"ALL".as_slice())]);
        }))
    }

    fn everyone(&self, user: Option<&User>) -> Result<Vec<Role>, CqlError> {
        let mut roles = self.all()?;
        let started = Self::started(user);
        roles.extend(started.filter(|own| !roles.iter().any(|role| role.name == own.name)));
        roles.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(roles)
    }
}

const fn flag(value: bool) -> &'static [u8] {
    if value { &[1] } else { &[0] }
}

fn column(table: &str, name: &str, kind: CqlType) -> ColumnSpec {
    ColumnSpec { keyspace: "system_auth".into(), table: table.into(), name: name.into(), kind }
}

/// Rows, or nothing where there are none.
fn answer(columns: &[ColumnSpec], roles: &[Role], put: impl Fn(&Role, &mut RowBuffer)) -> Answered {
    if roles.is_empty() {
        return Outcome::Void.into();
    }
    let mut rows = RowBuffer::default();
    roles.iter().for_each(|role| put(role, &mut rows));
    Outcome::Rows(ResultRows { columns: columns.into(), rows, paging: None }).into()
}
