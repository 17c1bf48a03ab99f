//! The sources of inventories.

use std::path::PathBuf;

use super::*;
use crate::inventory::InventorySource;

#[test]
fn only_a_file_that_was_named_must_exist() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("inventory.yaml");
    let default = now(Inventory::load(
        InventorySource::Default(path.clone()),
        plugins(),
        false,
    ))
    .expect("an empty inventory");
    assert_eq!(default.members("all"), Some(Vec::new()));
    let error = now(Inventory::load(
        InventorySource::File(path),
        plugins(),
        false,
    ))
    .expect_err("a refusal");
    assert_eq!(error.kind(), "bolt/file-error");
}

#[test]
fn the_environment_and_a_named_file_exclude_each_other() {
    let default = PathBuf::from("inventory.yaml");
    let environment = Some(InventorySource::Environment("targets: [a]".to_owned()));
    let both = InventorySource::choose(
        Some(InventorySource::File("x.yaml".into())),
        environment.clone(),
        default.clone(),
    );
    assert!(matches!(both, Err(InventoryError::TwoSources)));
    let source = InventorySource::choose(None, environment, default).expect("a source");
    let inventory = now(Inventory::load(source, plugins(), false)).expect("an inventory");
    assert_eq!(inventory.members("all"), Some(vec!["a"]));
}
