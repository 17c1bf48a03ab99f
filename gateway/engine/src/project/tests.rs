//! Projects: how they are found, and the keys of their files.

use devgate_core::failure::Failure;

use super::*;

fn parse(text: &str) -> Result<Project, ProjectError> {
    Project::parse(PathBuf::from("/p"), text)
}

#[test]
fn an_empty_project_file_has_defaults() -> Result<(), ProjectError> {
    let project = parse("")?;
    assert_eq!(
        project.modulepath,
        [Path::new("/p/modules"), Path::new("/p/.modules")]
    );
    assert_eq!(
        (project.name, project.concurrency, project.format),
        (None, None, None)
    );
    Ok(())
}

#[test]
fn name_modulepath_concurrency_and_format_are_read() -> Result<(), ProjectError> {
    let text = "name: net\nmodulepath: [site, /opt/m]\nconcurrency: 20\nformat: json\nlog: {}\nfromat: x\n";
    let project = parse(text)?;
    assert_eq!(project.name.as_deref(), Some("net"));
    assert_eq!(
        project.modulepath,
        [Path::new("/p/site"), Path::new("/opt/m")]
    );
    assert_eq!(project.concurrency.map(NonZeroUsize::get), Some(20));
    assert_eq!(project.format, Some(Format::Json));
    assert_eq!(
        project.warnings,
        ["/p/bolt-project.yaml: line 6, column 1: unknown key `fromat`; did you mean `format`?"]
    );
    assert_eq!(
        parse("modulepath: a:/b\n")?.modulepath,
        [Path::new("/p/a"), Path::new("/b")]
    );
    Ok(())
}

#[test]
fn all_problems_are_reported_at_once() {
    let error =
        parse("name: Net\nmodulepath: {}\nconcurrency: 0\nformat: 5\n").expect_err("errors");
    let ProjectError::Invalid(problems) = &error else {
        panic!("{error}")
    };
    assert_eq!(problems.len(), 4, "{error}");
    assert!(
        problems[2].starts_with("/p/bolt-project.yaml: line 3, column 14: "),
        "{error}"
    );
    let error = parse("name: [\n").expect_err("an error").to_string();
    assert!(
        error.starts_with("/p/bolt-project.yaml: line 1, column 7: "),
        "{error}"
    );
}

#[test]
fn the_nearest_project_upwards_is_found() -> io::Result<()> {
    let top = tempfile::tempdir()?;
    let top = top.path();
    std::fs::create_dir_all(top.join("a/b/c"))?;
    std::fs::create_dir_all(top.join("d/Boltdir"))?;
    std::fs::write(top.join("a").join(PROJECT_FILE), "name: a\n")?;
    let root = |named: Option<&str>, environment: Option<&str>, current: &str| {
        Project::find(
            named.map(Into::into),
            environment.map(Into::into),
            &top.join(current),
        )
        .map(|project| project.root)
    };
    assert_eq!(root(None, None, "a/b/c").ok(), Some(top.join("a")));
    assert_eq!(root(None, None, "d").ok(), Some(top.join("d/Boltdir")));
    assert_eq!(root(Some("b"), Some("c"), "a").ok(), Some(top.join("a/b")));
    assert_eq!(root(None, Some("b/c"), "a").ok(), Some(top.join("a/b/c")));
    assert!(matches!(
        root(None, Some("x"), "a"),
        Err(ProjectError::NoFolder { .. })
    ));
    Ok(())
}

#[test]
fn a_project_that_everybody_may_write_to_is_refused() -> io::Result<()> {
    let folder = tempfile::tempdir()?;
    std::fs::write(folder.path().join(PROJECT_FILE), "name: a\n")?;
    std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o777))?;
    let refused = Project::find(None, None, folder.path()).expect_err("a refusal");
    assert!(matches!(refused, ProjectError::WorldWritable(_)));
    let failure = Failure::from(refused);
    assert_eq!(failure.kind, "bolt/world-writable-error");
    std::fs::remove_file(folder.path().join(PROJECT_FILE))?;
    assert!(
        Project::find(None, None, folder.path()).is_ok(),
        "nothing there can do harm"
    );
    Ok(())
}
