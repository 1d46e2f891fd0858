//! The syntax tree: one statement as the text says it, before anything is looked up.
//!
//! What it is not: it knows no schema, so it cannot tell a set from an empty map or a user type
//! from a map with names as keys; where the grammar leaves that open, the tree does too and says
//! so at the node.
//!
//! Invariant: two trees are equal exactly when they say the same; where in the text they stood
//! (their spans) does not count.

mod describe;
mod function;
mod modify;
mod names;
mod relation;
mod role;
mod schema;
mod select;
mod statement;
mod terms;
mod transaction;
mod types;
mod view;

pub use describe::{Describe, DescribeTarget};
pub use function::{Argument, CreateAggregate, CreateFunction, DropFunction};
pub use modify::{
    Assignment, Attributes, Batch, BatchKind, Condition, ConditionPath, ConditionTest, Conditions,
    Delete, Deletion, Insert, InsertValues, JsonDefault, JsonValue, Modification, Operation,
    Update,
};
pub use names::{FunctionName, Name, QualifiedName};
pub use relation::{InValues, Operator, Relation};
pub use role::{
    AccessTo, AddIdentity, AlterRole, CreateRole, DropIdentity, DropRole, Grant, GrantRole,
    ListPermissions, ListRoles, Permission, Permissions, Resource, RoleOption, RoleSyntax,
};
pub use schema::{
    AlterKeyspace, AlterTable, AlterTableAction, AlterType, AlterTypeAction, ColumnDefinition,
    ColumnMask, CreateIndex, CreateKeyspace, CreateTable, CreateTrigger, CreateType, Direction,
    DropTrigger, Dropped, Field, IndexTarget, IndexTargetKind, PrimaryKey, Property, PropertyValue,
    Rename, TableOptions,
};
pub use select::{Ordering, Select, SelectClause, SelectedItem, Selector, WriteMetadata};
pub use statement::{BindMarker, Parsed, Statement, StatementKind};
pub use terms::{ArithmeticOperator, IntegerValue, Literal, LiteralKind, Marker, Term};
pub use transaction::{Reference, Returned, Transaction};
pub use types::{NativeType, Type};
pub use view::{AlterView, CreateView};
