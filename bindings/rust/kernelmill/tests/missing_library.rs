//! Programs start without the library, and say where they looked for it. Each case runs in a process
//! of its own, because the library is loaded once.

use std::process::Command;

use kernelmill::{Category, Context, Status};

const ROLE: &str = "KERNELMILL_TEST_ROLE";

/// Runs the test of this name again, as a process that finds the library where `folder` says.
fn run_again(test: &str, folder: &str) {
    let program = std::env::current_exe().expect("a path");
    let mut command = Command::new(program);
    command.args(["--exact", test, "--nocapture"]).env(ROLE, "child").env("KM_LIBRARY_DIR", folder);
    let done = command.output().expect("a process");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
}

fn is_child() -> bool {
    std::env::var_os(ROLE).is_some()
}

#[test]
#[cfg_attr(feature = "dynamic-linking", ignore = "the linker has bound the library")]
fn the_error_says_where_was_looked() {
    if !is_child() {
        return run_again("the_error_says_where_was_looked", "/no/such/folder");
    }
    let error = Context::open("cpu").expect_err("no library");
    assert_eq!(error.status(), Status::ERROR_BACKEND_UNAVAILABLE);
    assert_eq!(error.category(), Category::ENVIRONMENT);
    assert_eq!(error.status_name(), "KM_ERROR_BACKEND_UNAVAILABLE");
    assert!(error.suggestion().contains("KM_LIBRARY_DIR"), "{}", error.suggestion());
    let place = "/no/such/folder/libkernelmill.so.1 is not there";
    assert!(error.message().contains(place), "{error}");
    assert!(kernelmill::version().is_err());
    assert!(kernelmill::backends().is_err());
    assert_eq!(kernelmill::sys::load_error(), Some(error.message()));
}

/// An error that has nothing to do with the library keeps its kind.
#[test]
fn errors_of_the_crate_itself_need_no_library() {
    if !is_child() {
        run_again("errors_of_the_crate_itself_need_no_library", "/no/such/folder");
    }
    let error = kernelmill::Program::with_name("", "a\0b").expect_err("a zero byte");
    assert_eq!(error.status(), Status::ERROR_INVALID_ARGUMENT);
    assert_eq!(error.category(), Category::USAGE);
    assert_eq!(error.status_name(), "KM_ERROR_INVALID_ARGUMENT");
    assert_eq!(error.suggestion(), "Correct the argument that the message names.");
}

#[test]
#[cfg_attr(feature = "dynamic-linking", ignore = "the linker has bound the library")]
fn what_is_no_library_is_named() {
    if !is_child() {
        let folder = std::env::temp_dir().join(format!("km_rust_{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        std::fs::write(folder.join("libkernelmill.so.1"), "no library").expect("a file");
        run_again("what_is_no_library_is_named", folder.to_str().expect("UTF-8"));
        return std::fs::remove_dir_all(&folder).expect("gone");
    }
    let error = Context::open("cpu").expect_err("no library");
    assert!(error.message().contains("libkernelmill.so.1: "), "{error}");
}
