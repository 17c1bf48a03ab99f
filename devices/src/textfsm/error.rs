//! What can be wrong with a template or an output.

/// The reason why an output could not be parsed.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Error {
    /// The template is invalid at this line.
    Template { line: usize, message: String },
    /// An `Error` rule of the template refuses this line of the output.
    Output { line: usize, message: String },
}
