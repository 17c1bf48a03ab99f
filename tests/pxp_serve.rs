//! devgate as a PXP module, run as pxp-agent runs it: through a link with another name.

mod answers;
mod ends;
mod files;
mod full;
mod large;
mod module;
mod requests;
mod results;
mod switch;
