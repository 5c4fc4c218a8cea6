//! Without a BLAS library calls are errors that say what to install. The case runs in a process of
//! its own, because the library is looked for once.

mod common;

use std::process::Command;

use common::{context, expect_error};
use kernelmill::blas::{Blas, Layout};
use kernelmill::{Category, Result, Status};

const ROLE: &str = "KERNELMILL_TEST_ROLE";

#[test]
fn the_error_says_what_to_install() -> Result<()> {
    if std::env::var_os(ROLE).is_none() {
        let program = std::env::current_exe().expect("a path");
        let mut command = Command::new(program);
        command.args(["--exact", "the_error_says_what_to_install", "--nocapture"]);
        let done = command.env(ROLE, "child").env("KM_OPENBLAS", "/no/such/file").output();
        let done = done.expect("a process");
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        return Ok(());
    }
    let context = context();
    let blas = Blas::new(&context.default_stream()?, Layout::ROWS)?;
    let mut x = context.alloc_zeros::<f32>(3)?;
    expect_error(blas.scal(2.0, &mut x), Status::ERROR_BLAS_UNAVAILABLE, "/no/such/file");
    let error = blas.scal(2.0, &mut x).expect_err("no library");
    assert_eq!(error.category(), Category::ENVIRONMENT);
    assert!(!error.suggestion().is_empty());
    Ok(())
}
