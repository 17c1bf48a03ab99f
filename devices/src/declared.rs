//! Resource types declared as data, with a file for each form of change.

mod body;
mod cli;
#[cfg(test)]
mod commit_tests;
mod crud;
mod data_form;
#[cfg(test)]
mod data_tests;
mod definition;
mod form;
mod line_templates;
#[cfg(test)]
mod line_templates_tests;
mod merged_rows;
mod netconf;
mod ovsdb;
mod provider;
mod read;
mod rest;
mod rows;
#[cfg(test)]
mod singleton_tests;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod text_tests;

pub(crate) use provider::DeclaredType;
