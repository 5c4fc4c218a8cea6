//! Finds the library: in the folder that KM_LIBRARY_DIR names, else in the archive that the feature
//! `bundled` brings, else by what pkg-config knows.
//! Programs that load it at run time build without it; this folder is one of those that they look
//! into. Programs that link it stop with an error that says what is missing, but for documentation.

use std::env;
use std::path::PathBuf;
use std::process::exit;

#[path = "build/bundled.rs"]
mod bundled;

const LIBRARY: &str = "libkernelmill.so";

fn main() {
    for file in ["build.rs", "build/bundled.rs", "bundled.txt"] {
        println!("cargo::rerun-if-changed={file}");
    }
    for variable in ["KM_LIBRARY_DIR", "KM_BUNDLED_ARCHIVE", "PKG_CONFIG_PATH", "DOCS_RS"] {
        println!("cargo::rerun-if-env-changed={variable}");
    }
    let is_linking = feature("DYNAMIC_LINKING") || !feature("DYNAMIC_LOADING");
    match find_library() {
        Ok(folder) => use_folder(folder, is_linking),
        // A file that is never there: the next build looks again.
        Err(_) if is_documenting() || !(is_linking || feature("BUNDLED")) => {
            println!("cargo::rerun-if-changed=no-library");
        }
        Err(reason) => {
            println!("cargo::error={reason}");
            exit(1);
        }
    }
}

fn feature(name: &str) -> bool {
    env::var_os(format!("CARGO_FEATURE_{name}")).is_some()
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
    // Documentation downloads nothing.
    if feature("BUNDLED") && !is_documenting() {
        return bundled::library().map(Some);
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

fn use_folder(folder: Option<PathBuf>, is_linking: bool) {
    if is_linking {
        println!("cargo::rustc-link-lib=dylib=kernelmill");
    }
    let Some(folder) = folder else { return };
    let folder = folder.display();
    println!("cargo::rustc-env=KERNELMILL_BUILD_LIBRARY_DIR={folder}");
    if is_linking {
        println!("cargo::rustc-link-search=native={folder}");
        println!("cargo::rustc-link-arg=-Wl,-rpath,{folder}");
        // Seen by the build scripts of dependents as DEP_KERNELMILL_LIBRARY_DIR.
        println!("cargo::metadata=library_dir={folder}");
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
