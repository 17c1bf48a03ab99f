//! Builds every file below `families/` into the program, so that adding one touches no Rust.

use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let root =
        PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it")).join("families");
    println!("cargo::rerun-if-changed={}", root.display());
    let mut files = Vec::new();
    collect(&root, &mut files)?;
    files.sort();
    let mut list = String::from("&[\n");
    for file in files {
        let name = file
            .strip_prefix(&root)
            .expect("it was found below")
            .display()
            .to_string();
        list.push_str(&format!(
            "({name:?}, include_str!({:?})),\n",
            file.display().to_string()
        ));
    }
    list.push(']');
    fs::write(
        Path::new(&env::var_os("OUT_DIR").expect("cargo sets it")).join("families.rs"),
        list,
    )
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, files)?;
        } else {
            files.push(path);
        }
    }
    Ok(())
}
