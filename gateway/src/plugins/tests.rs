//! Plugins as an inventory asks them.
