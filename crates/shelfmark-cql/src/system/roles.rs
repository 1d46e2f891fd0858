//! The rows of `system_auth`: roles, who has which, and permissions.
//!
//! What it is not: where they are kept; that is `auth`'s.
//!
//! Invariant: no hash of a password is shown. What cannot be read looks empty.

use super::value::Cells;
use super::value::{boolean, text, texts};
use crate::auth::Authority;

/// Returns the rows of a table of this keyspace; none of those that nothing is kept in.
pub(super) fn rows(table: &str, authority: &Authority) -> Vec<Cells> {
    match table {
        "roles" => roles(authority),
        "role_members" => role_members(authority),
        "role_permissions" => role_permissions(authority),
        "resource_role_permissons_index" => resource_roles(authority),
        "identity_to_role" => identities(authority),
        "cidr_permissions" => cidr_permissions(authority),
        _ => Vec::new(),
    }
}

fn roles(authority: &Authority) -> Vec<Cells> {
    let found = authority.roles().all().unwrap_or_default();
    found
        .iter()
        .map(|role| {
            let mut row = vec![
                ("role", text(&role.name)),
                ("can_login", boolean(role.can_login)),
                ("is_superuser", boolean(role.is_superuser)),
            ];
            if !role.member_of.is_empty() {
                row.push(("member_of", texts(&role.member_of)));
            }
            row
        })
        .collect()
}

fn role_members(authority: &Authority) -> Vec<Cells> {
    let found = authority.roles().all().unwrap_or_default();
    let pairs =
        found.iter().flat_map(|role| role.member_of.iter().map(move |given| (given, &role.name)));
    let mut pairs: Vec<_> = pairs.collect();
    pairs.sort();
    let row =
        |(given, member): (&String, &String)| vec![("role", text(given)), ("member", text(member))];
    pairs.into_iter().map(row).collect()
}

fn role_permissions(authority: &Authority) -> Vec<Cells> {
    let mut found = authority.grants().all().unwrap_or_default();
    found.sort_by(|a, b| (&a.role, &a.resource).cmp(&(&b.role, &b.resource)));
    found
        .iter()
        .map(|own| {
            let mut names: Vec<&str> = own.permissions.iter().map(|one| one.name()).collect();
            names.sort_unstable();
            vec![
                ("role", text(&own.role)),
                ("resource", text(&own.resource)),
                ("permissions", texts(&names)),
            ]
        })
        .collect()
}

fn resource_roles(authority: &Authority) -> Vec<Cells> {
    let mut found = authority.grants().all().unwrap_or_default();
    found.sort_by(|a, b| (&a.resource, &a.role).cmp(&(&b.resource, &b.role)));
    let row = |own: &crate::auth::Granted| {
        vec![("resource", text(&own.resource)), ("role", text(&own.role))]
    };
    found.iter().map(row).collect()
}

fn identities(authority: &Authority) -> Vec<Cells> {
    let found = authority.roles().identities().unwrap_or_default();
    found
        .iter()
        .map(|own| vec![("identity", text(&own.identity)), ("role", text(&own.role))])
        .collect()
}

/// Returns the rows of a table without groups: every role may connect from everywhere.
fn cidr_permissions(authority: &Authority) -> Vec<Cells> {
    let found = authority.roles().rows().unwrap_or_default();
    let row = |role: &crate::auth::Role| {
        vec![("role", text(&role.name)), ("cidr_groups", texts::<&str>(&[]))]
    };
    found.iter().map(row).collect()
}
