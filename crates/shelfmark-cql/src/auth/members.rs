//! Roles that are given to roles, and roles listed.
//!
//! Invariant: no role has itself, neither directly nor by way of others.

use std::collections::BTreeMap;

use shelfmark_cql_protocol::{ColumnSpec, CqlError};
use shelfmark_cql_syntax::ast::{GrantRole, ListRoles, Name, Permission};
use shelfmark_cql_types::{CqlType, put_collection};

use super::authority::Authority;
use super::resource::Resource;
use super::roles::{Role, Roles, unauthorized};
use super::user::User;
use crate::outcome::{Answered, Outcome, ResultRows, RowBuffer};

impl Roles {
    /// Returns the role with those that it has, directly or not; empty if there is none of this
    /// name.
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

    fn existing(&self, name: &str) -> Result<Role, CqlError> {
        self.get(name)?.ok_or_else(|| CqlError::invalid(format!("{name} doesn't exist")))
    }

    /// Returns the row of a role that is there, to be changed; that of the role of the start may have
    /// to be made, and is nothing by itself.
    fn existing_row(&self, name: &str) -> Result<Role, CqlError> {
        self.existing(name)?;
        Ok(self.row(name)?.unwrap_or_else(|| Role {
            name: name.to_owned(),
            hash: None,
            can_login: false,
            is_superuser: false,
            member_of: Vec::new(),
        }))
    }
}

impl Authority {
    /// Runs `GRANT role TO role`.
    pub(super) fn grant_role(&self, own: &GrantRole, user: Option<&User>) -> Result<(), CqlError> {
        let (role, grantee) = (own.role.as_str(), own.grantee.as_str());
        self.allow(user, Permission::Authorize, &Resource::Role(role.into()))?;
        let _one = self.hold();
        self.roles.existing(role)?;
        let mut changed = self.roles.existing_row(grantee)?;
        for (holder, held) in [(grantee, role), (role, grantee)] {
            if self.roles.with_inherited(holder)?.iter().any(|own| own.name == held) {
                return Err(CqlError::invalid(format!("{holder} is a member of {held}")));
            }
        }
        changed.member_of.push(role.to_owned());
        changed.member_of.sort();
        self.write(vec![self.roles.put(&changed)?])
    }

    /// Runs `REVOKE role FROM role`.
    pub(super) fn revoke_role(&self, own: &GrantRole, user: Option<&User>) -> Result<(), CqlError> {
        let (role, revokee) = (own.role.as_str(), own.grantee.as_str());
        self.allow(user, Permission::Authorize, &Resource::Role(role.into()))?;
        let _one = self.hold();
        self.roles.existing(role)?;
        let mut changed = self.roles.existing_row(revokee)?;
        // Every role has itself.
        if role == revokee {
            return Ok(());
        }
        if !changed.member_of.iter().any(|own| own == role) {
            return Err(CqlError::invalid(format!("{revokee} is not a member of {role}")));
        }
        changed.member_of.retain(|own| own != role);
        self.write(vec![self.roles.put(&changed)?])
    }

    /// Answers `LIST ROLES`.
    pub(super) fn list_roles(
        &self,
        own: &ListRoles,
        user: Option<&User>,
    ) -> Result<Answered, CqlError> {
        let of = |name: &str| -> Result<Vec<Role>, CqlError> {
            let mut all = self.roles.with_inherited(name)?;
            if !own.recursive {
                let direct = all.iter().find(|role| role.name == name).cloned();
                let given = direct.map(|role| role.member_of).unwrap_or_default();
                all.retain(|role| role.name == name || given.contains(&role.name));
            }
            Ok(all)
        };
        let wanted = own.role.as_ref().map(Name::as_str);
        if let Some(name) = wanted
            && self.roles.get(name)?.is_none()
        {
            return Err(CqlError::invalid(format!("<role {name}> doesn't exist")));
        }
        let own_name = user.map_or("", |user| &*user.name);
        let sees_all = self.may(user, Permission::Describe, &Resource::AllRoles)?;
        let roles = match (sees_all, wanted) {
            (true, None) => self.roles.all()?,
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

    /// Answers `LIST USERS`: the roles that may log in.
    pub(super) fn list_users(&self, user: Option<&User>) -> Result<Answered, CqlError> {
        let mut roles = match self.may(user, Permission::Describe, &Resource::AllRoles)? {
            true => self.roles.all()?,
            false => self.roles.with_inherited(user.map_or("", |user| &*user.name))?,
        };
        roles.retain(|role| role.can_login);
        for role in &mut roles {
            let inherited = self.roles.with_inherited(&role.name)?;
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
}

const fn flag(value: bool) -> &'static [u8] {
    if value { &[1] } else { &[0] }
}

pub(super) fn column(table: &str, name: &str, kind: CqlType) -> ColumnSpec {
    ColumnSpec { keyspace: "system_auth".into(), table: table.into(), name: name.into(), kind }
}

/// Returns rows, or nothing where there are none.
pub(super) fn answer<T>(
    columns: &[ColumnSpec],
    listed: &[T],
    put: impl Fn(&T, &mut RowBuffer),
) -> Answered {
    if listed.is_empty() {
        return Outcome::Void.into();
    }
    let mut rows = RowBuffer::default();
    listed.iter().for_each(|own| put(own, &mut rows));
    Outcome::Rows(ResultRows { columns: columns.into(), rows, paging: None }).into()
}
