//! Values in statements: literals, markers, and terms made of them.
