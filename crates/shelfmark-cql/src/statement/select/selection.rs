//! The select clause: the items between `SELECT` and `FROM`.

use std::sync::Arc;

use shelfmark_cql_protocol::{CqlError, Result, invalid};
use shelfmark_cql_syntax::ast::{
    FunctionName, Literal, LiteralKind, Name, SelectClause, Selector, Term, WriteMetadata,
};
use shelfmark_cql_types::function::{
    Aggregate, Argument, Assignability, Resolved, cast, no_cast, property_inside, resolve_call,
};
use shelfmark_cql_types::term::{
    Expr, MetadataKind, MetadataPath, Receiver, Scope, literal_text, preferred, prepare,
    prepare_literal_as, prepare_marker, spelled_argument, test_literal,
};
use shelfmark_cql_types::{CqlType, native_by_name, resolve_type};

use super::composites::field_name;
use super::metadata::{Asked, asked, metadata_path};
use super::names::{column_name, key_name, rewritten, shown_function};
use crate::schema::{ColumnKind, Table};
use crate::statement::relation::undefined_column;

/// A resolved select clause.
#[derive(Debug, Default)]
pub(super) struct Selection {
    pub(super) items: Vec<Expr>,
    pub(super) names: Vec<Arc<str>>,
    pub(super) types: Vec<CqlType>,
    pub(super) aggregates: Vec<(Aggregate, Vec<Expr>)>,
    /// Places of the columns that are looked at.
    pub(super) columns: Vec<usize>,
    /// Every item is a plain column.
    pub(super) is_plain: bool,
    /// `SELECT *`.
    pub(super) is_all: bool,
}

/// Prepares a selection.
pub(super) fn selection(
    clause: &SelectClause,
    table: &Table,
    scope: &mut Scope<'_>,
) -> Result<Selection> {
    let mut out = Selection { is_plain: true, ..Selection::default() };
    let items = match clause {
        SelectClause::All => {
            out.is_all = true;
            for (at, column) in table.columns.iter().enumerate() {
                if table.hides(column) {
                    continue;
                }
                out.items.push(Expr::Column(at));
                out.names.push(Arc::clone(&column.name));
                out.types.push(column.kind.clone());
                out.columns.push(at);
            }
            return Ok(out);
        }
        SelectClause::Items(items) => items,
    };
    for item in items {
        let selector = super::qualify::qualified(&item.selector, scope);
        let mut builder = Builder { table, out: &mut out, inside_aggregate: false };
        builder.check_columns(&selector)?;
        if is_of_constants(&selector) {
            return Err(untyped(&column_name(&selector)));
        }
        let (expr, ty) = builder.item(&selector, None, scope)?;
        let name = match &item.alias {
            Some(alias) => Arc::from(alias.as_str()),
            None => Arc::from(column_name(&builder.without_casts(&selector, scope))),
        };
        out.is_plain &= matches!(item.selector, Selector::Column(_));
        out.items.push(expr);
        out.types.push(ty);
        out.names.push(name);
    }
    Ok(out)
}

/// A selector as the argument of a function.
struct SelectedArgument<'s> {
    selector: &'s Selector,
    /// The type that a function may take from it.
    known: Option<CqlType>,
    /// The type that it is of once a function asks for one.
    tested: Option<CqlType>,
    table: &'s Table,
}

impl Argument for SelectedArgument<'_> {
    fn known_type(&self) -> Option<CqlType> {
        self.known.clone()
    }

    fn test(&self, ty: &CqlType) -> Assignability {
        if let Selector::Literal(literal) = self.selector {
            return test_literal(literal, ty);
        }
        if matches!(self.selector, Selector::Null) && ty.is_counter() {
            return Assignability::No;
        }
        // What is written as a list may be a vector.
        if matches!(self.selector, Selector::List(_)) && matches!(ty, CqlType::Vector { .. }) {
            return match fits(self.table, self.selector, ty) {
                true => Assignability::Weak,
                false => Assignability::No,
            };
        }
        let is_written = matches!(
            self.selector,
            Selector::List(_) | Selector::Set(_) | Selector::Tuple(_) | Selector::MapOrUserType(_)
        );
        if matches!(self.selector, Selector::List(_)) && !matches!(ty, CqlType::List { .. }) {
            return Assignability::No;
        }
        match &self.tested {
            Some(own) if own == ty || own.freeze() == ty.freeze() => Assignability::Exact,
            Some(own) if ty.is_value_compatible_with(own) => Assignability::Weak,
            // What is written down takes the type of the argument.
            _ if is_written && fits(self.table, self.selector, ty) => Assignability::Weak,
            _ if is_written => Assignability::No,
            Some(_) => Assignability::No,
            None => Assignability::Weak,
        }
    }

    fn text(&self) -> String {
        column_name(self.selector)
    }
}

/// The items of a selection, while they are resolved one after the other.
pub(super) struct Builder<'b> {
    table: &'b Table,
    out: &'b mut Selection,
    inside_aggregate: bool,
}

/// Returns true if it is a list of plain numbers.
fn is_of_numbers(own: &Selector) -> bool {
    let is_number = |item: &Selector| matches!(item, Selector::Literal(literal) if matches!(literal.kind, LiteralKind::Integer | LiteralKind::Float));
    matches!(own, Selector::List(items) if !items.is_empty() && items.iter().all(is_number))
}

impl Builder<'_> {
    fn column(&mut self, name: &str) -> Result<(usize, CqlType)> {
        let (at, column) =
            self.table.find(name).ok_or_else(|| undefined_column(name, self.table))?;
        if !self.out.columns.contains(&at) {
            self.out.columns.push(at);
        }
        Ok((at, column.kind.clone()))
    }

    /// Checks that the columns that a selector names are there, before its types are looked at.
    fn check_columns(&self, selector: &Selector) -> Result<()> {
        let mut found = Ok(());
        rewritten(selector, &mut |own| {
            if let (Selector::Column(name), Ok(())) = (&own, &found)
                && self.table.column(name.as_str()).is_none()
            {
                found = Err(undefined_column(name.as_str(), self.table));
            }
            own
        });
        found
    }

    /// Checks that what stands before the values of a user type are columns, as where nothing tells
    /// that they are fields.
    pub(super) fn check_names_of_fields(&self, selector: &Selector) -> Result<()> {
        let Selector::MapOrUserType(items) = selector else { return Ok(()) };
        items.iter().try_for_each(|(name, _)| self.check_columns(name))
    }

    /// Returns a selector without the casts to types that values have already, which are not shown.
    fn without_casts(&mut self, selector: &Selector, scope: &mut Scope<'_>) -> Selector {
        rewritten(selector, &mut |own| match own {
            Selector::Cast { selector: inner, target } => {
                let known = self.known(&inner, scope).ok().flatten();
                let is_written = matches!(*inner, Selector::Literal(_));
                let is_same = known.is_some_and(|own| own.to_string() == target.name());
                if is_same && !is_written {
                    *inner
                } else {
                    Selector::Cast { selector: inner, target }
                }
            }
            other => other,
        })
    }

    /// Returns the type of a selector, if it has one of its own.
    pub(super) fn known(
        &mut self,
        selector: &Selector,
        scope: &mut Scope<'_>,
    ) -> Result<Option<CqlType>> {
        Ok(match selector {
            Selector::Literal(literal) => Some(preferred(literal)),
            Selector::Null | Selector::Marker(_) => None,
            Selector::TypeHint { target, .. } => {
                Some(resolve_type(target, scope.keyspace, scope.schema)?)
            }
            Selector::Column(name) => {
                let column = self.table.column(name.as_str());
                Some(
                    column.ok_or_else(|| undefined_column(name.as_str(), self.table))?.kind.clone(),
                )
            }
            // Whether it can be cast is looked at later.
            Selector::Cast { target, .. } => native_by_name(target.name()).map(CqlType::Native),
            _ => {
                // What a compound is of, it says when it is prepared; a copy is thrown away.
                let mut markers = shelfmark_cql_types::term::BindMarkers::default();
                let mut probe = Selection::default();
                let mut inner_scope = Scope {
                    schema: scope.schema,
                    keyspace: scope.keyspace,
                    table: scope.table,
                    markers: &mut markers,
                };
                let mut builder =
                    Builder { table: self.table, out: &mut probe, inside_aggregate: false };
                Some(builder.item(selector, None, &mut inner_scope)?.1)
            }
        })
    }

    pub(super) fn item(
        &mut self,
        selector: &Selector,
        receiver: Option<&CqlType>,
        scope: &mut Scope<'_>,
    ) -> Result<(Expr, CqlType)> {
        match selector {
            Selector::Column(name) => {
                let (at, ty) = self.column(name.as_str())?;
                Ok((Expr::Column(at), ty))
            }
            Selector::Literal(literal) => literal_of(literal, receiver),
            Selector::Null => match receiver {
                Some(ty) => Ok((Expr::Constant(None), ty.clone())),
                None => Err(untyped("NULL")),
            },
            Selector::Marker(marker) => match receiver {
                Some(ty) => {
                    let to = Receiver { name: "[selection]", ty };
                    Ok((prepare_marker(marker.index, to, scope), ty.clone()))
                }
                None => Err(untyped("?")),
            },
            Selector::TypeHint { target, selector: inner } => {
                let ty = resolve_type(target, scope.keyspace, scope.schema)?;
                self.hinted(selector, inner, ty, scope)
            }
            Selector::CountRows => self.aggregate(Aggregate::count_rows(), Vec::new()),
            Selector::Cast { selector, target } => {
                let target = native_by_name(target.name()).map_or(CqlType::Text, CqlType::Native);
                self.cast_to(selector, target, scope)
            }
            Selector::Function { name, arguments } => self.call(name, arguments, receiver, scope),
            Selector::Metadata { kind, of } => self.metadata(*kind, of, scope),
            Selector::Element { of, key } => self.element(of, key, scope),
            Selector::Slice { of, from, to } => self.slice(of, from.as_ref(), to.as_ref(), scope),
            Selector::Field { of, field } => self.field(of, field, scope),
            Selector::Negate(inner) => self.negated(inner, receiver, scope),
            Selector::Arithmetic { operator, left, right } => {
                self.arithmetic(operator.symbol(), left, right, receiver, scope)
            }
            Selector::List(items) => self.elements(items, receiver, false, scope),
            Selector::Set(items)
                if items.is_empty() && matches!(receiver, Some(CqlType::Map { .. })) =>
            {
                self.map(&[], receiver, scope)
            }
            Selector::Set(items) => self.elements(items, receiver, true, scope),
            Selector::Tuple(items) => match (items.as_slice(), receiver) {
                // Parentheses make a tuple of one where a tuple is asked for, and nowhere else.
                ([only], Some(ty)) if !matches!(ty, CqlType::Tuple(_)) => {
                    self.item(only, receiver, scope)
                }
                (items, None) if items.len() == 1 || items.iter().any(is_untyped) => {
                    invalid(format!(
                        "Cannot infer type for term {} in selection clause (try using a cast to force a type)",
                        column_name(selector)
                    ))
                }
                _ => self.tuple(items, receiver, scope),
            },
            Selector::MapOrUserType(items) => self.map(items, receiver, scope),
        }
    }

    /// Prepares a selector behind a type hint.
    fn hinted(
        &mut self,
        selector: &Selector,
        inner: &Selector,
        ty: CqlType,
        scope: &mut Scope<'_>,
    ) -> Result<(Expr, CqlType)> {
        let refused = || {
            let shown = column_name(selector);
            invalid(format!("Cannot assign value {shown} to {shown} of type {}", ty.freeze()))
        };
        if !fits(self.table, inner, &ty) {
            return refused();
        }
        let frozen = ty.freeze();
        let receiver = Some(&frozen).filter(|_| !is_from_json(inner));
        let (expr, own) = self.item(inner, receiver, scope)?;
        if !is_assignable(&own, &ty) {
            return refused();
        }
        Ok((expr, ty))
    }

    /// Prepares a selector as a value of another type.
    fn cast_to(
        &mut self,
        selector: &Selector,
        target: CqlType,
        scope: &mut Scope<'_>,
    ) -> Result<(Expr, CqlType)> {
        let known = match selector {
            Selector::Literal(_) => None,
            _ => self.known(selector, scope)?,
        };
        let (expr, from) = self.item(selector, known.as_ref(), scope)?;
        if from == target {
            return Ok((expr, target));
        }
        match cast(&from, &target) {
            Some(function) => Ok((Expr::Call { function, arguments: vec![expr] }, target)),
            None => {
                // The original names the first column that was selected.
                let first = self.out.columns.first();
                let first = first.and_then(|at| self.table.columns.get(*at));
                let shown = first.map_or_else(|| column_name(selector), |own| own.name.to_string());
                Err(no_cast(&shown, &target))
            }
        }
    }

    /// Prepares an element of a collection.
    fn element(
        &mut self,
        of: &Selector,
        key: &Term,
        scope: &mut Scope<'_>,
    ) -> Result<(Expr, CqlType)> {
        let shown = column_name(of);
        let (of, ty) = self.item(of, None, scope)?;
        let (key_type, value_type) = element_types(&ty, "element", &shown)?;
        let to = Receiver { name: &key_name(&ty, &shown), ty: &key_type };
        let key = prepare(key, to, scope)?;
        let (of, key) = (Box::new(of), Box::new(key));
        Ok((Expr::Element { of, ty, key, shown }, value_type))
    }

    /// Prepares a part of a collection.
    fn slice(
        &mut self,
        of: &Selector,
        from: Option<&Term>,
        to: Option<&Term>,
        scope: &mut Scope<'_>,
    ) -> Result<(Expr, CqlType)> {
        let shown = column_name(of);
        let (of, ty) = self.item(of, None, scope)?;
        let (key_type, _) = element_types(&ty, "slice", &shown)?;
        let name = key_name(&ty, &shown);
        let to_key = Receiver { name: &name, ty: &key_type };
        let (from, to) = (slice_bound(from, to_key, scope)?, slice_bound(to, to_key, scope)?);
        let shown = ty.clone();
        Ok((Expr::Slice { of: Box::new(of), ty, from, to }, shown))
    }

    /// Prepares a field of a user type.
    fn field(
        &mut self,
        of: &Selector,
        field: &Name,
        scope: &mut Scope<'_>,
    ) -> Result<(Expr, CqlType)> {
        let (expr, ty) = self.item(within_parentheses(of), None, scope)?;
        let CqlType::User { definition, .. } = &ty else {
            // What is written down is frozen.
            let is_hinted = matches!(within_parentheses(of), Selector::TypeHint { .. });
            let shown = if is_hinted { ty.freeze() } else { ty.clone() };
            return invalid(format!(
                "Invalid field selection: {} of type {shown} is not a user type",
                column_name(of)
            ));
        };
        match definition.field(field.as_str()) {
            Some((at, field_type)) => {
                let field_type = field_type.clone();
                Ok((Expr::Field { of: Box::new(expr), at }, field_type))
            }
            None => {
                invalid(format!("{} of type {ty} has no field {}", column_name(of), field.as_str()))
            }
        }
    }

    fn aggregate(&mut self, aggregate: Aggregate, arguments: Vec<Expr>) -> Result<(Expr, CqlType)> {
        if self.inside_aggregate {
            return invalid(
                "aggregate functions cannot be used as arguments of aggregate functions",
            );
        }
        let returns = aggregate.returns.clone();
        self.out.aggregates.push((aggregate, arguments));
        Ok((Expr::Aggregate(self.out.aggregates.len() - 1), returns))
    }

    /// Prepares the token of a partition key.
    fn token(&mut self, arguments: &[Selector], scope: &mut Scope<'_>) -> Result<(Expr, CqlType)> {
        let columns: Vec<CqlType> =
            self.table.partition_columns().iter().map(|own| own.kind.clone()).collect();
        if columns.len() != arguments.len() {
            return invalid(format!(
                "Invalid number of arguments in call to function system.token: {} required but {} provided",
                columns.len(),
                arguments.len()
            ));
        }
        let mut parts = Vec::with_capacity(arguments.len());
        for (at, (argument, ty)) in arguments.iter().zip(&columns).enumerate() {
            let known = match argument {
                // What is written down is looked at when it is prepared.
                Selector::List(_)
                | Selector::Set(_)
                | Selector::Tuple(_)
                | Selector::MapOrUserType(_) => None,
                _ => self.known(argument, scope)?,
            };
            let tested = known.clone();
            let own = SelectedArgument { selector: argument, known, tested, table: self.table };
            if own.test(ty) == Assignability::No {
                return invalid(format!(
                    "Type error: {} cannot be passed as argument {at} of function system.token of type {ty}",
                    column_name(argument)
                ));
            }
            let part = self.item(argument, Some(ty), scope)?.0;
            parts.push(spelled_argument(part, ty, self.table.is_shared()));
        }
        Ok((Expr::Token(parts), CqlType::Bigint))
    }

    /// Looks at an argument of a function.
    fn argument<'s>(
        &mut self,
        function: &str,
        selector: &'s Selector,
        scope: &mut Scope<'_>,
    ) -> Result<SelectedArgument<'s>>
    where
        Self: 's,
    {
        let known = match selector {
            // Lists of numbers are vectors where vectors are compared.
            Selector::List(items)
                if function.starts_with("similarity_") && is_of_numbers(selector) =>
            {
                let count = u32::try_from(items.len()).unwrap_or(u32::MAX);
                Some(CqlType::vector(CqlType::Float, count))
            }
            Selector::Tuple(items) if items.len() > 1 => {
                let types: Result<Vec<Option<CqlType>>> =
                    items.iter().map(|item| self.known(item, scope)).collect();
                types?.into_iter().collect::<Option<Vec<_>>>().map(CqlType::tuple)
            }
            // It may be a map as well as a user type.
            Selector::MapOrUserType(_) => None,
            Selector::List(_) | Selector::Set(_) => match self.known(selector, scope) {
                Err(error) if error.message.starts_with("Cannot infer type for term") => None,
                // Its members are compared with those of the vector that is asked for.
                Err(error)
                    if function.starts_with("similarity_")
                        && error.message.starts_with("Invalid ") =>
                {
                    None
                }
                known => known?,
            },
            _ => self.known(within_parentheses(selector), scope)?,
        };
        // In parentheses it may be a tuple of one.
        let is_open = matches!(selector, Selector::Tuple(items) if items.len() == 1);
        let tested = known.clone();
        Ok(SelectedArgument {
            selector,
            known: known.filter(|_| !is_open),
            tested,
            table: self.table,
        })
    }

    fn call(
        &mut self,
        function: &FunctionName,
        arguments: &[Selector],
        receiver: Option<&CqlType>,
        scope: &mut Scope<'_>,
    ) -> Result<(Expr, CqlType)> {
        let name = function.name.as_str();
        if name == "token" && function.keyspace.as_ref().is_none_or(|own| own.as_str() == "system")
        {
            let native = self.token(arguments, scope);
            // A function of this name is asked where the native one does not fit.
            let is_theirs = function.keyspace.is_none()
                && native.is_err()
                && !scope.schema.user_functions(scope.keyspace, name).is_empty();
            if !is_theirs {
                return native;
            }
        }
        let mut known = Vec::with_capacity(arguments.len());
        for selector in arguments {
            known.push(self.argument(name, selector, scope)?);
        }
        let refs: Vec<&dyn Argument> = known.iter().map(|own| own as &dyn Argument).collect();
        // Which function is meant follows from its arguments; one alone follows what is asked for.
        let receiver = receiver.filter(|_| is_named_from_json(function));
        let found = resolve_call(function, scope.schema, scope.keyspace, &refs, receiver)?;
        found.iter().for_each(|own| scope.markers.note_call(own));
        let Some(resolved) = found else {
            return invalid(format!("Unknown function '{}'", shown_function(function)));
        };
        let types = match &resolved {
            Resolved::Scalar(own) => own.arguments.clone(),
            Resolved::Aggregate(own) => own.arguments.clone(),
        };
        let is_aggregate = matches!(resolved, Resolved::Aggregate(_));
        let outside = self.inside_aggregate;
        if is_aggregate && outside {
            return invalid(
                "aggregate functions cannot be used as arguments of aggregate functions",
            );
        }
        self.inside_aggregate |= is_aggregate;
        let mut parts = Vec::with_capacity(arguments.len());
        for (argument, ty) in arguments.iter().zip(&types) {
            let argument = match ty {
                CqlType::Tuple(_) => argument,
                _ => within_parentheses(argument),
            };
            parts.push(self.item(argument, Some(ty), scope)?.0);
        }
        self.inside_aggregate = outside;
        match resolved {
            Resolved::Aggregate(aggregate) => self.aggregate(aggregate, parts),
            Resolved::Scalar(function) => {
                let returns = function.returns.clone();
                Ok((Expr::Call { function, arguments: parts }, returns))
            }
        }
    }

    fn metadata(
        &mut self,
        kind: WriteMetadata,
        of: &Selector,
        scope: &mut Scope<'_>,
    ) -> Result<(Expr, CqlType)> {
        let name = kind.name();
        let Asked { column, part, is_inside } = asked(kind, of)?;
        let (at, ty) = self.column(column.as_str())?;
        let role = self.table.columns.get(at).map(|own| own.role);
        if role.is_some_and(ColumnKind::is_key) {
            return invalid(format!(
                "Cannot use selection function {name} on PRIMARY KEY part {}",
                column.as_str()
            ));
        }
        crate::statement::shared::check_metadata(self.table, name)?;
        let kind = match kind {
            WriteMetadata::WriteTime => MetadataKind::WriteTime,
            WriteMetadata::MaxWriteTime => MetadataKind::MaxWriteTime,
            WriteMetadata::Ttl => MetadataKind::Ttl,
        };
        let (path, several) = metadata_path(part, column, &ty, scope)?;
        // A frozen column is one cell.
        let (path, several) =
            if ty.is_multi_cell() { (path, several) } else { (MetadataPath::Whole, false) };
        let one = if kind == MetadataKind::Ttl { CqlType::Int } else { CqlType::Bigint };
        let returns =
            if several && kind != MetadataKind::MaxWriteTime { CqlType::list(one) } else { one };
        let property = Expr::Metadata { kind, column: at, path };
        if !is_inside && (ty.is_multi_cell() || matches!(part, Selector::Column(_))) {
            return Ok((property, returns));
        }
        let (value, inside) = self.item(of, None, scope)?;
        let function = property_inside(name, &returns, &inside);
        Ok((Expr::Call { function, arguments: vec![property, value] }, returns))
    }
}

/// Returns true unless what is written down, or a column in it, is of no such type.
fn fits(table: &Table, selector: &Selector, ty: &CqlType) -> bool {
    let all = |items: &[Selector], types: &mut dyn Iterator<Item = &CqlType>| {
        items.iter().zip(types).all(|(item, ty)| fits(table, item, ty))
    };
    match (selector, ty) {
        (Selector::Literal(_), CqlType::Tuple(_)) => true,
        (Selector::Literal(literal), ty) => test_literal(literal, ty) != Assignability::No,
        (Selector::Column(name), ty) => {
            let column = table.column(name.as_str());
            column.is_none_or(|own| is_assignable(&own.kind, ty))
        }
        (
            Selector::List(items),
            CqlType::List { element, .. } | CqlType::Vector { element, .. },
        )
        | (Selector::Set(items), CqlType::Set { element, .. }) => {
            items.iter().all(|item| fits(table, item, element))
        }
        (Selector::Set(items), CqlType::Map { .. }) => items.is_empty(),
        (Selector::MapOrUserType(items), CqlType::Map { key, value, .. }) => {
            items.iter().all(|(k, v)| fits(table, k, key) && fits(table, v, value))
        }
        (Selector::MapOrUserType(items), CqlType::User { definition, .. }) => {
            // Fields that are not there are refused where it is prepared.
            items.iter().all(|(name, value)| {
                let field = field_name(name).and_then(|name| definition.field(name));
                field.is_none_or(|(_, ty)| fits(table, value, ty))
            })
        }
        (Selector::Tuple(items), CqlType::Tuple(types)) => {
            items.len() <= types.len() && all(items, &mut types.iter())
        }
        (Selector::Tuple(items), CqlType::User { definition, .. }) if items.len() != 1 => {
            let mut types = definition.fields.iter().map(|(_, ty)| ty);
            items.len() <= types.len() && all(items, &mut types)
        }
        (Selector::Tuple(items), ty) => match items.as_slice() {
            [only] => fits(table, only, ty),
            _ => false,
        },
        (Selector::Set(_) | Selector::MapOrUserType(_), _) => false,
        _ => true,
    }
}

/// Returns a literal in the type that is asked of it.
fn literal_of(literal: &Literal, receiver: Option<&CqlType>) -> Result<(Expr, CqlType)> {
    let Some(ty) = receiver.cloned() else {
        return invalid(format!(
            "Cannot infer type for term {} in selection clause (try using a cast to force a type)",
            literal_text(literal)
        ));
    };
    let to = Receiver { name: "[selection]", ty: &ty };
    Ok((Expr::Constant(Some(prepare_literal_as(literal, to)?)), ty))
}

/// Returns true if a value of a type can be one of another type where a hint asks for that; live
/// collections and user types are not their frozen forms.
fn is_assignable(own: &CqlType, ty: &CqlType) -> bool {
    !own.is_multi_cell() && (own.freeze() == ty.freeze() || ty.is_value_compatible_with(own))
}

/// Returns true if it is a call of `from_json`, for which a hint is no receiver.
fn is_from_json(selector: &Selector) -> bool {
    matches!(selector, Selector::Function { name, .. } if is_named_from_json(name))
}

fn is_named_from_json(function: &FunctionName) -> bool {
    matches!(function.name.as_str(), "from_json" | "fromjson")
}

/// Returns true if it is a list or set of nothing but constants, whose type nothing tells.
fn is_of_constants(selector: &Selector) -> bool {
    matches!(selector, Selector::List(items) | Selector::Set(items)
        if items.iter().all(|item| is_untyped(item) || is_of_constants(item)))
}

/// Returns the error for a term whose type nothing tells.
pub(super) fn untyped(shown: &str) -> CqlError {
    CqlError::invalid(format!(
        "Cannot infer type for term {shown} in selection clause (try using a cast to force a type)"
    ))
}

/// Prepares a bound of a slice.
pub(super) fn slice_bound(
    bound: Option<&Term>,
    to: Receiver<'_>,
    scope: &mut Scope<'_>,
) -> Result<Option<Box<Expr>>> {
    bound.map(|term| prepare(term, to, scope).map(Box::new)).transpose()
}

/// Returns true if a selector has no type of its own.
pub(super) fn is_untyped(selector: &Selector) -> bool {
    matches!(selector, Selector::Literal(_) | Selector::Null | Selector::Marker(_))
        || matches!(selector, Selector::Tuple(items) if items.len() == 1)
}

/// Returns what stands in parentheses, which make a tuple of one where a value of its own type is asked
/// for.
pub(super) fn within_parentheses(selector: &Selector) -> &Selector {
    match selector {
        Selector::Tuple(items) => match items.as_slice() {
            [only] => within_parentheses(only),
            _ => selector,
        },
        _ => selector,
    }
}

pub(super) fn element_types(ty: &CqlType, what: &str, shown: &str) -> Result<(CqlType, CqlType)> {
    match ty {
        CqlType::Map { key, value, .. } if what == "element" => {
            Ok(((**key).clone(), (**value).clone()))
        }
        CqlType::Map { key, .. } => Ok(((**key).clone(), ty.clone())),
        CqlType::Set { element, .. } => Ok(((**element).clone(), (**element).clone())),
        CqlType::List { .. } => {
            let what = if what == "slice" { "Slice" } else { "Element" };
            invalid(format!(
                "{what} selection is only allowed on sets and maps, but {shown} is a list"
            ))
        }
        _ if what == "slice" => {
            invalid(format!("Invalid slice selection: {shown} of type {ty} is not a collection"))
        }
        _ => invalid(format!(
            "Invalid {what} selection: {shown} is of type {ty} is not a collection"
        )),
    }
}
