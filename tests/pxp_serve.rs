//! devgate as a PXP module: driven as pxp-agent drives it, by a link under another name.

mod answers;
mod ends;
mod files;
mod full;
mod large;
mod module;
mod requests;
mod results;
mod switch;
