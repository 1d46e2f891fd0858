//! Chains of operators, which bind to the left.

use super::cursor::{Parse, Parser};
use crate::ast::ArithmeticOperator;
use crate::lexer::Kind;

impl Parser<'_> {
    /// Operands with operators between. Each operator counts as one level, because the tree grows
    /// by one.
    pub(super) fn chain<T>(
        &mut self,
        operand: fn(&mut Self) -> Parse<T>,
        goes_on: fn(&mut Self) -> Parse<Option<ArithmeticOperator>>,
        combine: fn(ArithmeticOperator, T, T) -> T,
    ) -> Parse<T> {
        let mut left = operand(self)?;
        let mut levels = 0;
        while let Some(operator) = goes_on(self)? {
            self.bump();
            self.descend()?;
            levels += 1;
            let right = operand(self)?;
            left = combine(operator, left, right);
        }
        self.ascend(levels);
        Ok(left)
    }

    /// Parses the operator of a product, if one stands here.
    pub(super) fn product_goes_on(&mut self) -> Parse<Option<ArithmeticOperator>> {
        Ok(match self.now() {
            Kind::Star => Some(ArithmeticOperator::Multiply),
            Kind::Slash => Some(ArithmeticOperator::Divide),
            Kind::Percent => Some(ArithmeticOperator::Modulo),
            _ => None,
        })
    }
}
