//! Roles, users, permissions, identities.

use crate::ast::{FunctionName, Literal, Name, QualifiedName, Type};

/// `CREATE ROLE …` and `CREATE USER …`
#[derive(Clone, Debug, PartialEq)]
pub struct CreateRole {
    /// The word that was written: a user may log in, a role only if it says so.
    pub syntax: RoleSyntax,
    /// `IF NOT EXISTS`
    pub if_not_exists: bool,
    /// The role.
    pub name: Name,
    /// The options in the order of the text.
    pub options: Vec<RoleOption>,
}

/// `ALTER ROLE …` and `ALTER USER …`
#[derive(Clone, Debug, PartialEq)]
pub struct AlterRole {
    /// The word that was written.
    pub syntax: RoleSyntax,
    /// `IF EXISTS`
    pub if_exists: bool,
    /// The role.
    pub name: Name,
    /// The options in the order of the text.
    pub options: Vec<RoleOption>,
}

/// `DROP ROLE …` and `DROP USER …`
#[derive(Clone, Debug, PartialEq)]
pub struct DropRole {
    /// The word that was written.
    pub syntax: RoleSyntax,
    /// `IF EXISTS`
    pub if_exists: bool,
    /// The role.
    pub name: Name,
}

/// The two ways to speak of roles.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RoleSyntax {
    /// `… ROLE`
    Role,
    /// `… USER`, the older one.
    User,
}

/// An option of a role.
#[derive(Clone, Debug, PartialEq)]
pub enum RoleOption {
    /// `PASSWORD = '…'`
    Password(Box<str>),
    /// `HASHED PASSWORD = '…'`
    HashedPassword(Box<str>),
    /// `OPTIONS = {…}`
    Options(Vec<(Literal, Literal)>),
    /// `SUPERUSER = …`, or `SUPERUSER` and `NOSUPERUSER` of a user.
    Superuser(bool),
    /// `LOGIN = …`
    Login(bool),
    /// `ACCESS TO [ALL] DATACENTERS …`
    Datacenters(AccessTo),
    /// `ACCESS FROM [ALL] CIDRS …`
    Cidrs(AccessTo),
}

/// The access that an `ACCESS` option gives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AccessTo {
    /// `ALL`
    All,
    /// A list; at least one.
    These(Vec<Box<str>>),
}

/// `GRANT permissions ON resource TO role`, and `REVOKE … FROM role`.
#[derive(Clone, Debug, PartialEq)]
pub struct Grant {
    /// The permissions.
    pub permissions: Permissions,
    /// On what.
    pub resource: Resource,
    /// To or from whom.
    pub role: Name,
}

/// `GRANT role TO role`, and `REVOKE … FROM role`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GrantRole {
    /// The role that is given or taken.
    pub role: Name,
    /// To or from whom.
    pub grantee: Name,
}

/// `LIST permissions [ON resource] [OF role] [NORECURSIVE]`
#[derive(Clone, Debug, PartialEq)]
pub struct ListPermissions {
    /// The permissions.
    pub permissions: Permissions,
    /// On what.
    pub resource: Option<Resource>,
    /// Whose.
    pub role: Option<Name>,
    /// False when `NORECURSIVE` was said.
    pub recursive: bool,
}

/// `LIST ROLES [OF role] [NORECURSIVE]`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListRoles {
    /// Whose.
    pub role: Option<Name>,
    /// False when `NORECURSIVE` was said.
    pub recursive: bool,
}

/// A list of permissions, or all of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Permissions {
    /// `ALL`
    All,
    /// A list; at least one.
    These(Vec<Permission>),
}

/// A permission.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Permission {
    /// `CREATE`
    Create,
    /// `ALTER`
    Alter,
    /// `DROP`
    Drop,
    /// `SELECT`
    Select,
    /// `MODIFY`
    Modify,
    /// `AUTHORIZE`
    Authorize,
    /// `DESCRIBE`
    Describe,
    /// `EXECUTE`
    Execute,
    /// `UNMASK`
    Unmask,
    /// `SELECT_MASKED`
    SelectMasked,
}

impl Permission {
    /// Returns the permission's name as `LIST` prints it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Permission::Create => "CREATE",
            Permission::Alter => "ALTER",
            Permission::Drop => "DROP",
            Permission::Select => "SELECT",
            Permission::Modify => "MODIFY",
            Permission::Authorize => "AUTHORIZE",
            Permission::Describe => "DESCRIBE",
            Permission::Execute => "EXECUTE",
            Permission::Unmask => "UNMASK",
            Permission::SelectMasked => "SELECT_MASKED",
        }
    }
}

/// The resource that a permission is on.
#[derive(Clone, Debug, PartialEq)]
pub enum Resource {
    /// `ALL KEYSPACES`
    AllKeyspaces,
    /// `KEYSPACE k`
    Keyspace(Name),
    /// `ALL TABLES IN KEYSPACE k`
    AllTables(Name),
    /// `[TABLE] t`
    Table(QualifiedName),
    /// `ALL ROLES`
    AllRoles,
    /// `ROLE r`
    Role(Name),
    /// `ALL FUNCTIONS`
    AllFunctions,
    /// `ALL FUNCTIONS IN KEYSPACE k`
    AllFunctionsIn(Name),
    /// `FUNCTION f(types)`
    Function {
        /// The function.
        name: FunctionName,
        /// Its argument types.
        arguments: Vec<Type>,
    },
    /// `ALL MBEANS`
    AllMbeans,
    /// `MBEAN 'name'`
    Mbean(Box<str>),
    /// `MBEANS 'pattern'`
    Mbeans(Box<str>),
}

/// `ADD IDENTITY [IF NOT EXISTS] 'identity' TO ROLE 'role'`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AddIdentity {
    /// `IF NOT EXISTS`
    pub if_not_exists: bool,
    /// The identity as written; never folded.
    pub identity: Box<str>,
    /// The role as written; never folded.
    pub role: Box<str>,
}

/// `DROP IDENTITY [IF EXISTS] 'identity'`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DropIdentity {
    /// `IF EXISTS`
    pub if_exists: bool,
    /// The identity as written; never folded.
    pub identity: Box<str>,
}
