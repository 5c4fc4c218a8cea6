//! Finds the library: the folder that KM_LIBRARY_DIR names, else what pkg-config knows, else a
//! clear error. `cargo doc` and docs.rs link nothing and do without it.

use std::env;
use std::path::{Path, PathBuf};
use std::process::exit;

const LIBRARY: &str = "libkernelmill.so";

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    for variable in ["KM_LIBRARY_DIR", "PKG_CONFIG_PATH", "DOCS_RS"] {
        println!("cargo::rerun-if-env-changed={variable}");
    }
    match find_library() {
        Ok(folder) => link(folder.as_deref()),
        // A file that is never there: the next build looks again.
        Err(_) if is_documenting() => println!("cargo::rerun-if-changed=no-library"),
        Err(reason) => {
            println!("cargo::error={reason}");
            exit(1);
        }
    }
}

/// The folder that the library lies in; none where the linker finds it by itself.
fn find_library() -> Result<Option<PathBuf>, String> {
    if let Some(folder) = env::var_os("KM_LIBRARY_DIR").filter(|folder| !folder.is_empty()) {
        let folder = PathBuf::from(folder);
        if !folder.is_absolute() {
            return Err(format!("KM_LIBRARY_DIR is {}: not an absolute path", folder.display()));
        }
        if !folder.join(LIBRARY).exists() {
            return Err(format!("KM_LIBRARY_DIR is {}: no {LIBRARY} there", folder.display()));
        }
        return Ok(Some(folder));
    }
    let mut pkg_config = pkg_config::Config::new();
    pkg_config.atleast_version("1.0").cargo_metadata(false).env_metadata(false);
    match pkg_config.probe("kernelmill") {
        Ok(library) => Ok(library.link_paths.into_iter().next()),
        Err(_) => Err(format!(
            "{LIBRARY} was not found. Set KM_LIBRARY_DIR to the folder that holds it, or \
             PKG_CONFIG_PATH to the one that holds kernelmill.pc."
        )),
    }
}

fn link(folder: Option<&Path>) {
    println!("cargo::rustc-link-lib=dylib=kernelmill");
    if let Some(folder) = folder {
        println!("cargo::rustc-link-search=native={}", folder.display());
        println!("cargo::rustc-link-arg=-Wl,-rpath,{}", folder.display());
        // Seen by the build scripts of dependents as DEP_KERNELMILL_LIBRARY_DIR.
        println!("cargo::metadata=library_dir={}", folder.display());
    }
}

/// Whether docs.rs builds, or the cargo that started this script is `cargo doc`.
fn is_documenting() -> bool {
    if env::var_os("DOCS_RS").is_some() {
        return true;
    }
    let parent = format!("/proc/{}/cmdline", std::os::unix::process::parent_id());
    let command = std::fs::read(parent).unwrap_or_default();
    command.split(|byte| *byte == 0).any(|word| matches!(word, b"doc" | b"rustdoc" | b"d"))
}
