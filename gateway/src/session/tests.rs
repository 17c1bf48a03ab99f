//! Lending and borrowing, with a device that is made up.
