//! Type schemas: the attributes of a resource type, and the validation of its resources.

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
