//! Roles, users, permissions, identities.

use super::cursor::{Parse, Parser};
use crate::ast::{
    AccessTo, AddIdentity, AlterRole, CreateRole, DropIdentity, DropRole, Grant, GrantRole,
    ListPermissions, ListRoles, Name, Permission, Permissions, Resource, RoleOption, RoleSyntax,
    Statement,
};
use crate::lexer::Kind;
use crate::span::Span;

impl Parser<'_> {
    /// Parses the name of a role, which may also be a string.
    fn role_name(&mut self) -> Parse<Name> {
        if self.now() == Kind::String {
            return Ok(self.string_as_name());
        }
        self.name_not_bound("role")
    }

    fn string_as_name(&mut self) -> Name {
        let token = self.bump();
        let span = Span { start: token.start, end: token.end };
        Name::at(self.meaning(token), span)
    }

    /// Parses the name of a user: never quoted, and no keyword; its case is kept.
    fn user_name(&mut self) -> Parse<Name> {
        self.plain_or_string("user names and USER is deprecated, please use ROLE")
    }

    fn plain_or_string(&mut self, of: &str) -> Parse<Name> {
        match self.now() {
            Kind::Quoted => {
                self.note(|| format!("Quoted strings are are not supported for {of}"));
            }
            Kind::Ident | Kind::String => {}
            _ => return self.no_viable(1),
        }
        Ok(self.string_as_name())
    }

    /// Parses `CREATE ROLE` and `CREATE USER`, from behind the second word.
    pub(super) fn create_role(&mut self, syntax: RoleSyntax) -> Parse<CreateRole> {
        let if_not_exists = self.if_not_exists()?;
        let (name, options) = self.role_and_options(syntax)?;
        Ok(CreateRole { syntax, if_not_exists, name, options })
    }

    /// Parses `ALTER ROLE` and `ALTER USER`, from behind the second word.
    pub(super) fn alter_role(&mut self, syntax: RoleSyntax) -> Parse<AlterRole> {
        let if_exists = self.if_exists()?;
        let (name, options) = self.role_and_options(syntax)?;
        Ok(AlterRole { syntax, if_exists, name, options })
    }

    /// Parses `DROP ROLE` and `DROP USER`, from behind the second word.
    pub(super) fn drop_role(&mut self, syntax: RoleSyntax) -> Parse<DropRole> {
        let if_exists = self.if_exists()?;
        let name = match syntax {
            RoleSyntax::Role => self.role_name()?,
            RoleSyntax::User => self.user_name()?,
        };
        Ok(DropRole { syntax, if_exists, name })
    }

    fn role_and_options(&mut self, syntax: RoleSyntax) -> Parse<(Name, Vec<RoleOption>)> {
        let (name, options) = match syntax {
            RoleSyntax::Role => {
                let name = self.role_name()?;
                let with = self.eat(Kind::With);
                (name, if with { self.role_options()? } else { Vec::new() })
            }
            RoleSyntax::User => {
                let name = self.user_name()?;
                (name, self.user_options()?)
            }
        };
        let has = |wanted: fn(&RoleOption) -> bool| options.iter().any(wanted);
        if has(|option| matches!(option, RoleOption::Password(_)))
            && has(|option| matches!(option, RoleOption::HashedPassword(_)))
        {
            self.broken_rule = None;
            return self.refuse("Options 'password' and 'hashed password' are mutually exclusive");
        }
        Ok((name, options))
    }

    /// Parses `[WITH [HASHED] PASSWORD '…'] [SUPERUSER | NOSUPERUSER]`
    fn user_options(&mut self) -> Parse<Vec<RoleOption>> {
        let mut options = Vec::new();
        if self.eat(Kind::With) {
            let hashed = self.now() == Kind::Hashed;
            if hashed {
                self.bump();
            } else if self.now() != Kind::Password {
                return self.no_viable(1);
            }
            self.expect(Kind::Password)?;
            let text = self.expect_text(Kind::String)?;
            options.push(password(hashed, text));
        }
        if self.eat(Kind::Superuser) {
            options.push(RoleOption::Superuser(true));
        } else if self.eat(Kind::Nosuperuser) {
            options.push(RoleOption::Superuser(false));
        }
        Ok(options)
    }

    fn role_options(&mut self) -> Parse<Vec<RoleOption>> {
        let mut options: Vec<RoleOption> = Vec::new();
        loop {
            let option = self.role_option()?;
            let same = |other: &RoleOption| {
                std::mem::discriminant(other) == std::mem::discriminant(&option)
            };
            if let (Some(name), true) = (option_name(&option), options.iter().any(same)) {
                self.broken_rule = None;
                return self.refuse(format!("Multiple definition for property '{name}'"));
            }
            options.push(option);
            if !self.eat(Kind::And) {
                return Ok(options);
            }
        }
    }

    fn role_option(&mut self) -> Parse<RoleOption> {
        match self.now() {
            kind @ (Kind::Password | Kind::Hashed) => {
                self.looked(2);
                if kind == Kind::Hashed {
                    self.bump();
                }
                self.expect(Kind::Password)?;
                self.expect(Kind::Equal)?;
                Ok(password(kind == Kind::Hashed, self.expect_text(Kind::String)?))
            }
            Kind::Options => {
                self.looked(2);
                self.bump();
                self.expect(Kind::Equal)?;
                Ok(RoleOption::Options(self.property_map()?))
            }
            kind @ (Kind::Superuser | Kind::Login) => {
                self.looked(2);
                self.bump();
                self.expect(Kind::Equal)?;
                let yes = self.expect_text(Kind::Boolean)?.eq_ignore_ascii_case("true");
                let option =
                    if kind == Kind::Login { RoleOption::Login } else { RoleOption::Superuser };
                Ok(option(yes))
            }
            Kind::Access => self.access(),
            _ => self.no_viable(1),
        }
    }

    /// Parses `ACCESS TO …` and `ACCESS FROM …`
    fn access(&mut self) -> Parse<RoleOption> {
        let datacenters = match self.peek(2) {
            Kind::To => true,
            Kind::From => false,
            _ => return self.no_viable(2),
        };
        let word = if datacenters { Kind::Datacenters } else { Kind::Cidrs };
        let third = self.peek(3);
        if third != Kind::All && third != word {
            return self.no_viable(3);
        }
        self.looked(4);
        self.bump();
        self.bump();
        let all = self.eat(Kind::All);
        self.expect(word)?;
        let access = if all {
            AccessTo::All
        } else {
            self.expect(Kind::LeftBrace)?;
            let names = self.list(|parser| parser.expect_text(Kind::String))?;
            self.expect(Kind::RightBrace)?;
            AccessTo::These(names)
        };
        Ok(if datacenters { RoleOption::Datacenters(access) } else { RoleOption::Cidrs(access) })
    }

    /// Parses `GRANT` and `REVOKE`, from the first word.
    pub(super) fn grant_or_revoke(&mut self) -> Parse<Statement> {
        let grant = self.now() == Kind::Grant;
        let preposition = if grant { Kind::To } else { Kind::From };
        let permissions = self.is_about_permissions(preposition)?;
        self.bump();
        if permissions {
            let granted = self.permissions_grant(preposition)?;
            return Ok(if grant {
                Statement::GrantPermissions(granted)
            } else {
                Statement::RevokePermissions(granted)
            });
        }
        let role = self.role_name()?;
        self.expect(preposition)?;
        let granted = GrantRole { role, grantee: self.role_name()? };
        Ok(if grant { Statement::GrantRole(granted) } else { Statement::RevokeRole(granted) })
    }

    /// Returns true if a permission stands here, and no role of the same name: what follows
    /// decides.
    fn is_about_permissions(&mut self, preposition: Kind) -> Parse<bool> {
        let next = self.peek(2);
        if permission(next).is_some() && !next.is_name() {
            self.looked(3);
            return Ok(true);
        }
        if next == Kind::All || permission(next).is_some() {
            let third = self.peek(3);
            let permissions = match third {
                Kind::On => true,
                Kind::Permissions => next == Kind::All,
                Kind::Comma | Kind::Permission => next != Kind::All,
                _ => false,
            };
            if !permissions && third != preposition {
                return self.no_viable(3);
            }
            self.looked(4);
            return Ok(permissions);
        }
        if next.is_name() || matches!(next, Kind::String | Kind::Question) {
            self.looked(3);
            return Ok(false);
        }
        self.no_viable(2)
    }

    fn permissions_grant(&mut self, preposition: Kind) -> Parse<Grant> {
        let mut permissions = self.permissions()?;
        self.expect(Kind::On)?;
        let resource = self.resource()?;
        self.expect(preposition)?;
        let role = self.role_name()?;
        if let Permissions::These(these) = &mut permissions {
            let (class, applicable) = applicable(&resource);
            these.retain(|permission| applicable.contains(permission));
            if these.is_empty() {
                self.note(|| {
                    format!(
                        "Resource type {class} does not support any of the requested permissions"
                    )
                });
            }
        }
        Ok(Grant { permissions, resource, role })
    }

    fn permissions(&mut self) -> Parse<Permissions> {
        if self.eat(Kind::All) {
            self.eat(Kind::Permissions);
            return Ok(Permissions::All);
        }
        if permission(self.now()).is_none() {
            return self.no_viable(1);
        }
        let mut permissions = self.list(|parser| match permission(parser.now()) {
            Some(permission) => {
                parser.bump();
                parser.eat(Kind::Permission);
                Ok(permission)
            }
            None => parser.expect(Kind::Broken).map(|_| Permission::Create),
        })?;
        permissions.sort_unstable();
        permissions.dedup();
        Ok(Permissions::These(permissions))
    }

    fn resource(&mut self) -> Parse<Resource> {
        let first = self.now();
        match first {
            Kind::All => return self.all_resources(),
            Kind::Role | Kind::Function | Kind::Mbean | Kind::Mbeans => {
                if let Some(resource) = self.named_resource()? {
                    return Ok(resource);
                }
            }
            Kind::Keyspace => {
                self.looked(2);
                self.bump();
                return Ok(Resource::Keyspace(self.keyspace_name()?));
            }
            Kind::Table => {
                self.looked(2);
                self.bump();
            }
            kind if kind.is_name() || kind == Kind::Question => self.looked(2),
            _ => return self.no_viable(1),
        }
        Ok(Resource::Table(self.table_name()?))
    }

    /// Parses a role, a function or a bean, unless the word is the name of a table.
    fn named_resource(&mut self) -> Parse<Option<Resource>> {
        let first = self.now();
        let next = self.peek(2);
        let named = next.is_name() || next == Kind::Question;
        let fits = match first {
            Kind::Role => named || next == Kind::String,
            Kind::Function => named || next == Kind::Token,
            _ => next == Kind::String,
        };
        if !fits {
            return match next {
                Kind::End => Ok(None),
                kind if kind == Kind::Dot || follows_resource(kind) => {
                    self.looked(3);
                    Ok(None)
                }
                _ => self.no_viable(2),
            };
        }
        self.looked(3);
        self.bump();
        Ok(Some(match first {
            Kind::Role => Resource::Role(self.role_name()?),
            Kind::Function => {
                let name = self.function_name()?;
                Resource::Function { name, arguments: self.resource_arguments()? }
            }
            Kind::Mbean => Resource::Mbean(self.expect_text(Kind::String)?),
            _ => Resource::Mbeans(self.expect_text(Kind::String)?),
        }))
    }

    fn all_resources(&mut self) -> Parse<Resource> {
        let second = self.peek(2);
        match second {
            Kind::Keyspaces | Kind::Roles | Kind::Mbeans | Kind::Functions | Kind::Tables => {
                self.looked(3);
            }
            Kind::End => return Ok(Resource::Table(self.table_name()?)),
            kind if kind == Kind::Dot || follows_resource(kind) => {
                self.looked(3);
                return Ok(Resource::Table(self.table_name()?));
            }
            _ => return self.no_viable(2),
        }
        let third = self.peek(3);
        if second == Kind::Functions
            && !matches!(third, Kind::In | Kind::End)
            && !follows_resource(third)
        {
            return self.no_viable(3);
        }
        self.bump();
        self.bump();
        Ok(match second {
            Kind::Keyspaces => Resource::AllKeyspaces,
            Kind::Roles => Resource::AllRoles,
            Kind::Mbeans => Resource::AllMbeans,
            Kind::Functions if third != Kind::In => Resource::AllFunctions,
            _ => {
                self.expect(Kind::In)?;
                self.expect(Kind::Keyspace)?;
                let keyspace = self.keyspace_name()?;
                if second == Kind::Functions {
                    Resource::AllFunctionsIn(keyspace)
                } else {
                    Resource::AllTables(keyspace)
                }
            }
        })
    }

    /// Parses `LIST …`, from the first word.
    pub(super) fn list_statement(&mut self) -> Parse<Statement> {
        let next = self.peek(2);
        if next == Kind::Ident && self.is_superusers(2) {
            self.bump();
            self.bump();
            return Ok(Statement::ListSuperUsers);
        }
        let listed = permission(next).is_some() || next == Kind::All;
        if !matches!(next, Kind::Users | Kind::Roles) && !listed {
            return self.no_viable(2);
        }
        self.looked(3);
        self.bump();
        match next {
            Kind::Users => {
                self.bump();
                Ok(Statement::ListUsers)
            }
            Kind::Roles => {
                self.bump();
                let role = self.of_role()?;
                let recursive = !self.eat(Kind::Norecursive);
                Ok(Statement::ListRoles(ListRoles { role, recursive }))
            }
            _ => {
                let permissions = self.permissions()?;
                let resource = if self.eat(Kind::On) { Some(self.resource()?) } else { None };
                let role = self.of_role()?;
                let recursive = !self.eat(Kind::Norecursive);
                let list = ListPermissions { permissions, resource, role, recursive };
                Ok(Statement::ListPermissions(list))
            }
        }
    }

    /// Returns true for `SUPERUSERS`, which became a keyword after 5.0 and is taken as a word here.
    fn is_superusers(&self, ahead: usize) -> bool {
        let token = self.token(self.position + ahead - 1);
        self.slice(token).eq_ignore_ascii_case("superusers")
    }

    fn of_role(&mut self) -> Parse<Option<Name>> {
        if self.eat(Kind::Of) { Ok(Some(self.role_name()?)) } else { Ok(None) }
    }

    /// Parses `ADD IDENTITY`, from behind `ADD`.
    pub(super) fn add_identity(&mut self) -> Parse<AddIdentity> {
        self.expect(Kind::Identity)?;
        let if_not_exists = self.if_not_exists()?;
        let identity = self.plain_or_string("identity")?.as_str().into();
        self.expect(Kind::To)?;
        self.expect(Kind::Role)?;
        let role = self.plain_or_string("identity")?.as_str().into();
        Ok(AddIdentity { if_not_exists, identity, role })
    }

    /// Parses `DROP IDENTITY`, from behind `IDENTITY`.
    pub(super) fn drop_identity(&mut self) -> Parse<DropIdentity> {
        let if_exists = self.if_exists()?;
        let identity = self.plain_or_string("identity")?.as_str().into();
        Ok(DropIdentity { if_exists, identity })
    }
}

fn password(hashed: bool, text: Box<str>) -> RoleOption {
    if hashed { RoleOption::HashedPassword(text) } else { RoleOption::Password(text) }
}

/// Returns the original's name of an option that may stand only once.
fn option_name(option: &RoleOption) -> Option<&'static str> {
    match option {
        RoleOption::Password(_) => Some("PASSWORD"),
        RoleOption::HashedPassword(_) => Some("HASHED PASSWORD"),
        RoleOption::Options(_) => Some("OPTIONS"),
        RoleOption::Superuser(_) => Some("SUPERUSER"),
        RoleOption::Login(_) => Some("LOGIN"),
        RoleOption::Datacenters(_) | RoleOption::Cidrs(_) => None,
    }
}

/// Returns the tokens that may follow a resource, anywhere in the grammar.
fn follows_resource(kind: Kind) -> bool {
    matches!(kind, Kind::Semicolon | Kind::From | Kind::Norecursive | Kind::Of | Kind::To)
}

fn permission(kind: Kind) -> Option<Permission> {
    Some(match kind {
        Kind::Create => Permission::Create,
        Kind::Alter => Permission::Alter,
        Kind::Drop => Permission::Drop,
        Kind::Select => Permission::Select,
        Kind::Modify => Permission::Modify,
        Kind::Authorize => Permission::Authorize,
        Kind::Describe => Permission::Describe,
        Kind::Execute => Permission::Execute,
        Kind::Unmask => Permission::Unmask,
        Kind::SelectMasked => Permission::SelectMasked,
        _ => return None,
    })
}

/// Returns the original's name for a sort of resource, and the permissions that there are on it.
fn applicable(resource: &Resource) -> (&'static str, &'static [Permission]) {
    use Permission::{
        Alter, Authorize, Create, Describe, Drop, Execute, Modify, Select, SelectMasked, Unmask,
    };
    match resource {
        Resource::AllKeyspaces | Resource::Keyspace(_) | Resource::AllTables(_) => (
            "DataResource",
            &[Create, Alter, Drop, Select, Modify, Authorize, Unmask, SelectMasked],
        ),
        Resource::Table(_) => {
            ("DataResource", &[Alter, Drop, Select, Modify, Authorize, Unmask, SelectMasked])
        }
        Resource::AllRoles => ("RoleResource", &[Create, Alter, Drop, Authorize, Describe]),
        Resource::Role(_) => ("RoleResource", &[Alter, Drop, Authorize, Describe]),
        Resource::AllFunctions | Resource::AllFunctionsIn(_) => {
            ("FunctionResource", &[Create, Alter, Drop, Authorize, Execute])
        }
        Resource::Function { .. } => ("FunctionResource", &[Alter, Drop, Authorize, Execute]),
        Resource::AllMbeans | Resource::Mbean(_) | Resource::Mbeans(_) => {
            ("JMXResource", &[Authorize, Describe, Execute, Modify, Select])
        }
    }
}
