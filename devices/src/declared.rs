//! Resource types declared as data, with a file for each form of change.

mod cli;
#[cfg(test)]
mod collect_tests;
#[cfg(test)]
mod commit_tests;
mod crud;
mod data_form;
#[cfg(test)]
mod data_tests;
mod definition;
mod form;
mod get;
mod line_patterns;
#[cfg(test)]
mod line_patterns_tests;
mod line_templates;
#[cfg(test)]
mod line_templates_tests;
mod merged_rows;
mod netconf;
mod on_device;
mod ovsdb;
mod panos;
#[cfg(test)]
mod panos_tests;
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
