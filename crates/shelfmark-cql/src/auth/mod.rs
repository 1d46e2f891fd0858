//! Authentication and authorization: PasswordAuthenticator, SASL PLAIN, bcrypt;
//! CassandraAuthorizer.
//!
//! * `roles`, `members`, `identities`, `grants`: what is kept; `resource`: what permissions are on.
//! * `authority`: who may do what; `role_statements`, `permissions`: the statements that change it.
//!
//! What it is not: what each statement needs; that is said where statements run.
//!
//! Invariant: no password and no hash of one reaches a log, an error or a `Debug`. A wrong name
//! takes as long to refuse as a wrong password.

mod authority;
mod grants;
mod identities;
mod login;
mod members;
mod password;
mod permissions;
mod plain;
mod resource;
mod role_statements;
mod roles;
mod user;

pub use authority::Authorizer;
pub(crate) use authority::{Authority, RequiredPermission};
pub(crate) use grants::Granted;
pub use login::{Login, OneRole, RefusalListener};
pub use password::{BadHash, PasswordHash};
pub(crate) use permissions::{Context as PermissionContext, run as run_permission_statement};
pub(crate) use plain::plain;
pub(crate) use resource::Resource;
pub(crate) use role_statements::{RoleChange, run as run_role_statement};
pub(crate) use roles::Role;
pub use user::User;
