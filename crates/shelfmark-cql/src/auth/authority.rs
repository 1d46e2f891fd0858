//! Authorization: decided from roles, the roles granted to them, and permissions.
//!
//! What it is not: a list of what statements need (`statement::needs`), nor the statements that
//! change roles and permissions (`role_statements`, `permissions`), which write through it.
//!
//! Invariant: what was changed holds from the next statement on, on every connection. What is
//! cached of a role is forgotten by each change, and a change that came in between is noticed.
//!
//! Source: Cassandra 5.0, `ClientState`, `CassandraAuthorizer` and `AllowAllAuthorizer`, read
//! 2026-11.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, RwLock};
use std::time::Duration;

use shelfmark_cql_protocol::CqlError;
use shelfmark_cql_syntax::ast::Permission;
use shelfmark_engine::{Engine, Write};

use super::grants::{Granted, Grants};
use super::resource::{PermissionSet, Resource};
use super::roles::{Roles, failed, unauthorized};
use super::user::User;
use crate::limits::{GRANTS_PER_COMMIT_MAX, ROLES_REMEMBERED_MAX};
use shelfmark_engine::locks::{self, lock};

/// The rule that decides what a role may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Authorizer {
    /// Allows everything to every role; superusers alone change roles.
    #[default]
    AllowAll,
    /// Permissions are given, inherited and checked as by Cassandra's `CassandraAuthorizer`.
    Cassandra,
}

impl Authorizer {
    /// Returns the authorizer of this name: that of Cassandra's class, its case ignored.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        [Self::AllowAll, Self::Cassandra].into_iter().find(|own| {
            let short = name.strip_prefix("org.apache.cassandra.auth.").unwrap_or(name);
            own.name().eq_ignore_ascii_case(short)
        })
    }

    /// Returns the name of Cassandra's class.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::AllowAll => "AllowAllAuthorizer",
            Self::Cassandra => "CassandraAuthorizer",
        }
    }
}

/// A permission that a statement requires.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum RequiredPermission {
    /// The permission, on the resource or on what it is part of: see [`RequiredPermission::on`].
    On(Permission, Resource, Box<[String]>),
    /// To be a superuser; the text says so.
    Superuser(&'static str),
    /// Nobody may run it; the text says why.
    Nobody(String),
}

impl RequiredPermission {
    /// Returns the need of a permission. The names by which it can be granted are worked out here,
    /// once for a plan that runs often.
    pub(crate) fn on(permission: Permission, resource: Resource) -> Self {
        let names = resource.granting().map(|own| own.name()).collect();
        Self::On(permission, resource, names)
    }
}

/// The effective permissions of a role, those of the roles granted to it included.
#[derive(Debug, Default)]
pub(crate) struct Effective {
    pub(super) is_superuser: bool,
    /// The role itself, if there is one, and those that it has.
    pub(super) roles: BTreeSet<String>,
    grants: HashMap<String, PermissionSet>,
}

impl Effective {
    /// Tells whether the permission was granted by one of these names of resources.
    fn has(&self, permission: Permission, names: &[String]) -> bool {
        let on = |name: &String| self.grants.get(name).copied().unwrap_or_default();
        self.is_superuser || names.iter().any(|name| on(name).has(permission))
    }
}

/// The time for which permissions are believed where several servers share a store.
///
/// Source: `permissions_validity` of Cassandra, 2000 ms.
const CACHED_BESIDE_OTHERS: Duration = Duration::from_secs(2);

/// A cache of effective permissions, and the number of changes since the start.
#[derive(Default)]
struct PermissionCache {
    changes: u64,
    /// The beginning of what is cached, where other servers may change it.
    since: Duration,
    by_role: HashMap<Arc<str>, Arc<Effective>>,
}

impl PermissionCache {
    /// Keeps what was read of a role since there were so many changes; not if something changed
    /// while it was read.
    fn put(&mut self, name: &Arc<str>, effective: &Arc<Effective>, changes: u64) {
        if self.changes != changes {
            return;
        }
        if self.by_role.len() >= ROLES_REMEMBERED_MAX {
            self.by_role.clear();
        }
        self.by_role.insert(Arc::clone(name), Arc::clone(effective));
    }

    fn forget(&mut self) {
        self.changes += 1;
        self.by_role.clear();
    }
}

/// Decides for one server. Shared by all connections.
pub(crate) struct Authority {
    pub(super) roles: Roles,
    pub(super) grants: Grants,
    authorizer: Authorizer,
    engine: Engine,
    cache: RwLock<PermissionCache>,
    /// Roles and permissions change one after the other.
    changing: Mutex<()>,
}

impl Authority {
    /// Creates what decides about an engine's tables. `start_role` is the role that the server is
    /// started with; without one nobody logs in.
    pub(crate) fn new(engine: &Engine, authorizer: Authorizer, start_role: Option<&str>) -> Self {
        Self {
            roles: Roles::new(engine.clone(), start_role),
            grants: Grants::new(engine.clone()),
            authorizer,
            engine: engine.clone(),
            cache: RwLock::default(),
            changing: Mutex::default(),
        }
    }

    pub(crate) fn authorizer(&self) -> Authorizer {
        self.authorizer
    }

    /// Tells whether clients have to log in.
    pub(crate) fn has_logins(&self) -> bool {
        self.roles.has_start_role()
    }

    /// Returns the roles.
    pub(crate) fn roles(&self) -> &Roles {
        &self.roles
    }

    /// Returns the permissions that were given.
    pub(crate) fn grants(&self) -> &Grants {
        &self.grants
    }

    /// Tells whether it can be that something is refused: needs need not be looked for otherwise.
    pub(crate) fn checks(&self) -> bool {
        self.authorizer == Authorizer::Cassandra
    }

    /// Lets a statement run if `user` has what it needs.
    ///
    /// # Errors
    ///
    /// * `Unauthorized`: the first of the needs that it has not.
    pub(crate) fn check(
        &self,
        user: Option<&User>,
        needs: &[RequiredPermission],
    ) -> Result<(), CqlError> {
        let Some(user) = user.filter(|own| self.checks() && !own.is_start_role()) else {
            return Ok(());
        };
        if needs.is_empty() {
            return Ok(());
        }
        let effective = self.effective(&user.name)?;
        for need in needs {
            match need {
                RequiredPermission::On(permission, resource, names)
                    if !effective.has(*permission, names) =>
                {
                    return Err(unauthorized(format!(
                        "User {} has no {} permission on {resource} or any of its parents",
                        user.name,
                        permission.name()
                    )));
                }
                RequiredPermission::Superuser(text) if !effective.is_superuser => {
                    return Err(unauthorized((*text).to_owned()));
                }
                RequiredPermission::Nobody(text) if !effective.is_superuser => {
                    return Err(unauthorized(text.clone()));
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Tells whether `user` has a permission; everybody has where nothing is checked.
    pub(crate) fn has(
        &self,
        user: Option<&User>,
        permission: Permission,
        resource: &Resource,
    ) -> Result<bool, CqlError> {
        let Some(user) = user.filter(|own| self.checks() && !own.is_start_role()) else {
            return Ok(true);
        };
        let names: Vec<String> = resource.granting().map(|own| own.name()).collect();
        Ok(self.effective(&user.name)?.has(permission, &names))
    }

    /// Tells whether `user` is a superuser, by itself or by a role that it was given; whoever need
    /// not log in is one.
    pub(super) fn is_superuser(&self, user: Option<&User>) -> Result<bool, CqlError> {
        let Some(user) = user.filter(|user| !user.is_start_role()) else { return Ok(true) };
        Ok(self.effective(&user.name)?.is_superuser)
    }

    /// Tells whether `user` may do something with a role. Where there are no permissions, only
    /// superusers may.
    pub(super) fn may(
        &self,
        user: Option<&User>,
        permission: Permission,
        resource: &Resource,
    ) -> Result<bool, CqlError> {
        if !self.checks() || self.is_superuser(user)? {
            return self.is_superuser(user);
        }
        let Some(user) = user else { return Ok(true) };
        let names: Vec<String> = resource.granting().map(|own| own.name()).collect();
        Ok(self.effective(&user.name)?.has(permission, &names))
    }

    /// Tells whether `role` is the user's own or was given to it.
    pub(super) fn is_given(&self, user: Option<&User>, role: &str) -> Result<bool, CqlError> {
        let Some(user) = user else { return Ok(false) };
        Ok(*user.name == *role || self.effective(&user.name)?.roles.contains(role))
    }

    fn effective(&self, name: &Arc<str>) -> Result<Arc<Effective>, CqlError> {
        self.forget_what_others_changed();
        let changes = {
            let cache = locks::read(&self.cache);
            if let Some(found) = cache.by_role.get(name) {
                return Ok(Arc::clone(found));
            }
            cache.changes
        };
        let mut effective = Effective::default();
        for role in self.roles.with_inherited(name)? {
            effective.is_superuser |= role.is_superuser;
            for own in self.grants.of_role(&role.name)? {
                let all = effective.grants.entry(own.resource).or_default();
                *all = all.with(own.permissions);
            }
            effective.roles.insert(role.name);
        }
        let effective = Arc::new(effective);
        let mut cache = locks::write(&self.cache);
        cache.put(name, &effective, changes);
        Ok(effective)
    }

    /// Forgets what is cached once it is older than [`CACHED_BESIDE_OTHERS`], where other servers
    /// change roles, too.
    fn forget_what_others_changed(&self) {
        if self.engine.store().peers().is_none() {
            return;
        }
        let now = self.engine.environment().clock.monotonic();
        let since = locks::read(&self.cache).since;
        if now.saturating_sub(since) > CACHED_BESIDE_OTHERS {
            let mut cache = locks::write(&self.cache);
            cache.forget();
            cache.since = now;
        }
    }

    /// Holds other changes of roles and permissions off.
    pub(super) fn hold(&self) -> MutexGuard<'_, ()> {
        lock(&self.changing)
    }

    /// Writes changes of roles and permissions: all or none if they are not very many. They are on
    /// disk once this returns, and hold from then on.
    pub(super) fn write(&self, writes: Vec<Write>) -> Result<(), CqlError> {
        let mut writes = writes.into_iter().peekable();
        let mut done = Ok(());
        while writes.peek().is_some() && done.is_ok() {
            let some = writes.by_ref().take(GRANTS_PER_COMMIT_MAX).collect();
            done = self.engine.write_all(some).map(drop).map_err(|error| failed(&error));
        }
        // Also after a failure: what was written is not known then.
        locks::write(&self.cache).forget();
        done
    }

    /// Takes all permissions away on resources that are no more, or that are about to be made.
    pub(crate) fn forget_resources(&self, is_gone: impl Fn(&str) -> bool) -> Result<(), CqlError> {
        let _one = self.hold();
        let writes = self.grants.without(|own| is_gone(&own.resource))?;
        if writes.is_empty() { Ok(()) } else { self.write(writes) }
    }

    /// Gives whoever made a resource all permissions on it.
    pub(crate) fn created(
        &self,
        user: Option<&User>,
        resources: &[Resource],
    ) -> Result<(), CqlError> {
        let Some(user) = user.filter(|_| self.checks()) else { return Ok(()) };
        let _one = self.hold();
        let given = |own: &Resource| self.grants.set(&user.name, own, own.applicable());
        let writes = resources.iter().map(given).collect::<Result<Vec<_>, _>>()?;
        self.write(writes)
    }

    /// Returns what `role` was given, on `resource` if there is one; of all roles if there is none.
    pub(super) fn given(
        &self,
        role: Option<&str>,
        resource: Option<&Resource>,
    ) -> Result<Vec<Granted>, CqlError> {
        let mut found = match role {
            None => self.grants.all()?,
            Some(role) => {
                let mut found = Vec::new();
                for own in self.roles.with_inherited(role)? {
                    found.extend(self.grants.of_role(&own.name)?);
                }
                found
            }
        };
        if let Some(name) = resource.map(Resource::name) {
            found.retain(|own| own.resource == name);
        }
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_read_before_a_change_is_not_remembered() {
        let (mut cache, role) = (PermissionCache::default(), Arc::<str>::from("ann"));
        let effective = Arc::default();
        let began = cache.changes;
        cache.forget();
        cache.put(&role, &effective, began);
        assert!(cache.by_role.is_empty());
        let began = cache.changes;
        cache.put(&role, &effective, began);
        assert_eq!(cache.by_role.len(), 1);
        for number in 0..=ROLES_REMEMBERED_MAX {
            cache.put(&number.to_string().into(), &effective, began);
        }
        assert!(cache.by_role.len() <= ROLES_REMEMBERED_MAX);
    }

    #[test]
    fn authorizers_have_cassandras_names() {
        for own in [Authorizer::AllowAll, Authorizer::Cassandra] {
            assert_eq!(Authorizer::named(own.name()), Some(own));
            let long = format!("org.apache.cassandra.auth.{}", own.name());
            assert_eq!(Authorizer::named(&long), Some(own));
        }
        assert_eq!(Authorizer::named("cassandraauthorizer"), Some(Authorizer::Cassandra));
        assert_eq!(Authorizer::named("Cassandra"), None);
    }
}
