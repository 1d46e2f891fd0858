//! CQL's functions: scalar and aggregate.
