//! For `build.rs`: wraps CUDA C++ kernels in functions with the types that they have.
//!
//! ```no_run
//! // build.rs
//! kernelmill_build::Kernels::new("src/saxpy.cu").instantiate("scale<float>").wrap().unwrap();
//! ```
//!
//! ```ignore
//! // src/main.rs
//! mod saxpy {
//!     include!(concat!(env!("OUT_DIR"), "/saxpy.rs"));
//! }
//! ```
//!
//! The wrapper is made again when the source, or a file that it includes with quotes, changes. It
//! is made by the command `kernelmill`, which the variable `KERNELMILL` names, or which lies in
//! `../bin` beside the folder that `KM_LIBRARY_DIR` names, or on `PATH`. Where that or NVRTC is
//! missing, a wrapper that is committed can take its place: [`Kernels::or_committed`].

use std::collections::BTreeSet;
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs, io};

/// Something that keeps the wrapper from being made, with the reason.
#[derive(Debug)]
pub struct Error(String);

impl fmt::Display for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl std::error::Error for Error {}

/// The kernels of one file, to be wrapped.
#[derive(Clone, Debug)]
pub struct Kernels {
    source: PathBuf,
    options: Vec<String>,
    committed: Option<PathBuf>,
}

impl Kernels {
    /// Those of a CUDA C++ or PTX file, named from the folder of the package.
    pub fn new(source: impl Into<PathBuf>) -> Self {
        Self { source: source.into(), options: Vec::new(), committed: None }
    }

    /// Wraps this instance of a template kernel as well: `scale<float>`.
    #[must_use]
    pub fn instantiate(self, name: &str) -> Self {
        self.option("--instantiate").option(name)
    }

    /// A further option of `kernelmill wrap`, such as `-DNAME=VALUE`.
    #[must_use]
    pub fn option(mut self, option: &str) -> Self {
        self.options.push(option.to_owned());
        self
    }

    /// A wrapper in the package that is used where none can be made.
    #[must_use]
    pub fn or_committed(mut self, wrapper: impl Into<PathBuf>) -> Self {
        self.committed = Some(wrapper.into());
        self
    }

    /// Writes `NAME.rs` into `OUT_DIR`, NAME being that of the source without its extension, and
    /// gives its path.
    ///
    /// # Errors
    ///
    /// Fails when there is no command, or it fails (no NVRTC, errors in the source), and there is
    /// no committed wrapper; and outside build scripts.
    pub fn wrap(&self) -> Result<PathBuf, Error> {
        let folder = env::var_os("OUT_DIR").ok_or_else(|| {
            Error("OUT_DIR is not set: kernelmill_build is for build scripts".to_owned())
        })?;
        let stem = self.source.file_stem().unwrap_or_default();
        let output = Path::new(&folder).join(stem).with_extension("rs");
        self.watch();
        let made = self.run(&output);
        match (&self.committed, made) {
            (_, Ok(())) => Ok(output),
            (None, Err(error)) => Err(error),
            (Some(committed), Err(error)) => {
                println!("cargo::warning=the committed wrapper is used: {error}");
                fs::copy(committed, &output).map_err(|failure| {
                    Error(format!("{error}; and '{}': {failure}", committed.display()))
                })?;
                Ok(output)
            }
        }
    }

    /// Has cargo run the script again when something changes that the wrapper is made from.
    fn watch(&self) {
        for variable in ["KERNELMILL", "KM_LIBRARY_DIR", "KM_NVRTC"] {
            println!("cargo::rerun-if-env-changed={variable}");
        }
        for file in files_of(&self.source) {
            println!("cargo::rerun-if-changed={}", file.display());
        }
    }

    fn run(&self, output: &Path) -> Result<(), Error> {
        let command = command();
        let done = Command::new(&command)
            .arg("wrap")
            .arg(&self.source)
            .args(["--lang", "rust", "-o"])
            .arg(output)
            .args(&self.options)
            .output();
        match done {
            Ok(done) if done.status.success() => Ok(()),
            Ok(done) => Err(Error(String::from_utf8_lossy(&done.stderr).trim().to_owned())),
            Err(failure) => Err(Error(not_found(&command, &failure))),
        }
    }
}

fn not_found(command: &Path, failure: &io::Error) -> String {
    let command = command.display();
    format!(
        "cannot run '{command}' ({failure}): install Kernelmill, or set KERNELMILL to the command"
    )
}

/// The command `kernelmill`.
fn command() -> PathBuf {
    if let Some(named) = env::var_os("KERNELMILL") {
        return named.into();
    }
    let beside =
        env::var_os("KM_LIBRARY_DIR").map(|folder| Path::new(&folder).join("../bin/kernelmill"));
    beside.filter(|path| path.exists()).unwrap_or_else(|| "kernelmill".into())
}

/// The source and the files that it includes by `#include "..."` from its own folder, and so on.
fn files_of(source: &Path) -> BTreeSet<PathBuf> {
    let mut found = BTreeSet::from([source.to_owned()]);
    let mut left = vec![source.to_owned()];
    while let Some(file) = left.pop() {
        let text = fs::read_to_string(&file).unwrap_or_default();
        let folder = file.parent().unwrap_or(Path::new(""));
        for path in text.lines().filter_map(included).map(|name| folder.join(name)) {
            if path.exists() && found.insert(path.clone()) {
                left.push(path);
            }
        }
    }
    found
}

/// The name in a line `#include "name"`.
fn included(line: &str) -> Option<&str> {
    let rest = line.trim_start().strip_prefix('#')?.trim_start().strip_prefix("include")?;
    rest.trim_start().strip_prefix('"')?.split('"').next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn includes_are_read_from_lines() {
        assert_eq!(included(r#"#include "a/b.h" // why"#), Some("a/b.h"));
        assert_eq!(included(r#"  #  include "c.h""#), Some("c.h"));
        assert_eq!(included("#include <d.h>"), None);
        assert_eq!(included(r#"// #include "e.h""#), None);
    }

    #[test]
    fn included_files_are_found_once() {
        let folder = env::temp_dir().join(format!("kernelmill_build_{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let path = |name: &str| folder.join(name);
        fs::write(path("k.cu"), "#include \"a.h\"\n#include \"none.h\"\n").unwrap();
        fs::write(path("a.h"), "#include \"b.h\"\n").unwrap();
        fs::write(path("b.h"), "#include \"a.h\"\n").unwrap();
        let found: Vec<_> = files_of(&path("k.cu")).into_iter().collect();
        assert_eq!(found, [path("a.h"), path("b.h"), path("k.cu")]);
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn a_missing_command_is_an_error_that_names_it() {
        let failure = io::Error::from(io::ErrorKind::NotFound);
        assert!(not_found(Path::new("/no/kernelmill"), &failure).contains("/no/kernelmill"));
    }
}
