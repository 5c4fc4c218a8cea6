//! The places of the library that programs look into.

use std::env;
use std::ffi::{CStr, OsStr, OsString, c_char};
use std::fs;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::ptr::NonNull;

pub const NAME: &str = "libkernelmill.so.1";

/// The files in the order of trial; the bare name stands for the folders of the system's loader.
pub fn places() -> Vec<PathBuf> {
    if let Some(folder) = variable(c"KM_LIBRARY_DIR") {
        return vec![Path::new(&folder).join(NAME)];
    }
    let mut places = Vec::new();
    if let Some(folder) = env::current_exe().ok().as_deref().and_then(Path::parent) {
        places.push(folder.join(NAME));
        places.push(folder.join("../lib").join(NAME));
    }
    if let Some(folder) = option_env!("KERNELMILL_BUILD_LIBRARY_DIR") {
        places.push(Path::new(folder).join(NAME));
    }
    for name in [c"VIRTUAL_ENV", c"CONDA_PREFIX"] {
        places.extend(variable(name).iter().flat_map(|prefix| below(Path::new(prefix))));
    }
    places.push(PathBuf::from(NAME));
    places.extend(beside_the_command().iter().flat_map(|prefix| below(prefix)));
    let home = variable(c"HOME").map(|home| Path::new(&home).join(".local"));
    let roots = home.into_iter().chain(["/usr/local".into(), "/usr".into()]);
    places.extend(roots.flat_map(|prefix| of_wheels(&prefix)));
    places
}

/// A variable, which counts as unset in programs that run with more rights than their user has, and
/// where it is empty.
fn variable(name: &CStr) -> Option<OsString> {
    unsafe extern "C" {
        safe fn secure_getenv(name: *const c_char) -> *const c_char;
    }
    let value = NonNull::new(secure_getenv(name.as_ptr()).cast_mut())?;
    // SAFETY: the environment's strings end with a zero.
    let bytes = unsafe { CStr::from_ptr(value.as_ptr()) }.to_bytes();
    (!bytes.is_empty()).then(|| OsString::from_vec(bytes.to_vec()))
}

/// The libraries below a prefix: of an archive that was unpacked there, and of wheels.
fn below(prefix: &Path) -> Vec<PathBuf> {
    let archive = Some(prefix.join("lib").join(NAME)).filter(|file| file.exists());
    archive.into_iter().chain(of_wheels(prefix)).collect()
}

/// The libraries of wheels in the Pythons of a prefix; Debian's Python calls the folder
/// dist-packages.
fn of_wheels(prefix: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(prefix.join("lib")) else { return Vec::new() };
    let mut pythons: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.file_name().is_some_and(is_python))
        .collect();
    pythons.sort();
    let packages = pythons
        .iter()
        .rev()
        .flat_map(|python| ["site-packages", "dist-packages"].map(|folder| python.join(folder)));
    packages.map(|folder| folder.join("kernelmill/lib").join(NAME)).filter(|f| f.exists()).collect()
}

fn is_python(name: &OsStr) -> bool {
    name.to_str().is_some_and(|name| name.starts_with("python3"))
}

/// The prefixes of the commands `kernelmill` on PATH, with links followed: tools for commands of
/// Python packages put links into a folder on PATH.
fn beside_the_command() -> Vec<PathBuf> {
    let folders = variable(c"PATH").unwrap_or_default();
    let commands = env::split_paths(&folders)
        .filter(|folder| folder.is_absolute())
        .filter_map(|folder| fs::canonicalize(folder.join("kernelmill")).ok());
    commands.filter_map(|command| Some(command.parent()?.parent()?.to_owned())).collect()
}
