//! The built-in families: every file, every case; and what a wrong file is told.

use std::env;
use std::path::{Path, PathBuf};

use super::*;
use crate::Refresh;

/// The folder of the built-in families, as on disk.
fn built_in(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("families")
        .join(name)
}

#[test]
fn every_case_of_every_built_in_family_comes_out_as_expected() {
    let refresh = if env::var_os("UPDATE").is_some() {
        Refresh::Yes
    } else {
        Refresh::No
    };
    let mut wrong = Vec::new();
    for family in all() {
        let on_disk = Family::load(&built_in(family.name())).unwrap_or_else(|e| panic!("{e}"));
        let cases = on_disk
            .test(refresh)
            .unwrap_or_else(|error| panic!("{error}"));
        for case in &cases {
            if let Err(difference) = &case.outcome {
                wrong.push(format!("{}/{}: {difference}", family.name(), case.name));
            }
        }
        for kind in &family.types {
            let name = kind.schema().name();
            let of_type = cases
                .iter()
                .filter(|case| case.name.starts_with(name))
                .count();
            assert!(of_type >= 3, "{name} has {of_type} cases, and needs three");
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
