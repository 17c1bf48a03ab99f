//! Type schemas: what a kind of resource consists of, and the checks of resources against it.

mod desired;
mod example;
mod invalid;
mod register;
mod relation;
mod row;
mod schema;
#[cfg(test)]
mod tests;
mod title;

pub use invalid::{InvalidResource, ResourceProblem};
pub use relation::{Related, RelationKind};
pub use row::Row;
pub use schema::{Example, Feature, HIDDEN_PROPERTY, TypeSchema};
