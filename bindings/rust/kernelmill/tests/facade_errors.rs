//! Errors of the facade.

#[path = "common/facade.rs"]
mod facade;

use std::process::Command;
use std::sync::Arc;

use facade::{Tested, expect_error, function, own_context};
use kernelmill::driver::sys::CUresult;
use kernelmill::driver::{CudaContext, DriverError, LaunchConfig, PushKernelArg};
use kernelmill::{Category, Status};

const ONE: LaunchConfig =
    LaunchConfig { grid_dim: (1, 1, 1), block_dim: (1, 1, 1), shared_mem_bytes: 0 };

fn kind(error: DriverError) -> &'static str {
    match error {
        DriverError::OutOfMemory => "memory",
        DriverError::InvalidValue => "value",
        DriverError::LaunchFailed => "launch",
        DriverError(CUresult::CUDA_ERROR_ILLEGAL_ADDRESS) => "address",
        _ => "other",
    }
}

#[test]
fn errors_match_by_name() -> Tested {
    let context = own_context()?;
    let stream = context.default_stream();
    let error = stream.alloc_zeros::<u8>(1 << 60).expect_err("an exabyte");
    assert_eq!(kind(error), "memory");
    assert!(error.to_string().contains("CUDA_ERROR_OUT_OF_MEMORY"), "{error}");
    let error =
        stream.memcpy_htod(&[1, 2], &mut stream.alloc_zeros::<i32>(1)?).expect_err("no room");
    assert_eq!(kind(error), "value");
    unsafe { stream.launch_builder(&function(&context, "trap")).launch(ONE) }?;
    assert_eq!(kind(stream.synchronize().expect_err("a trap")), "launch");
    Ok(())
}

#[test]
fn faults_of_kernels_surface_at_the_next_wait() -> Tested {
    let context = own_context()?;
    let stream = context.new_stream()?;
    let wild = function(&context, "wild");
    unsafe { stream.launch_builder(&wild).arg(&0x10u64).launch(ONE) }?; // not here
    let error = stream.synchronize().expect_err("a wild write");
    assert_eq!(kind(error), "address");
    assert!(error.to_string().contains("wild"), "{error}");
    assert_eq!(error.details().expect("details").category(), Category::KERNEL_FAULT);
    // It sticks to its context, and to no other.
    expect_error(stream.alloc_zeros::<u8>(1), DriverError::IllegalAddress, "wild");
    let other = own_context()?.default_stream();
    assert_eq!(other.clone_dtoh(&other.clone_htod(&[1, 2])?)?, [1, 2]);

    context.reset()?;
    expect_error(stream.synchronize(), DriverError::ContextIsDestroyed, "reset");
    let stream = context.default_stream();
    assert_eq!(stream.clone_dtoh(&stream.clone_htod(&[3, 4])?)?, [3, 4]);
    Ok(())
}

#[test]
fn errors_are_boxed_printed_and_small() -> Tested {
    fn boxed(context: &Arc<CudaContext>) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
        context.default_stream().alloc_zeros::<u64>(usize::MAX)?;
        Ok(())
    }
    assert_eq!(size_of::<DriverError>(), 4);
    let context = own_context()?;
    let error = boxed(&context).expect_err("too large");
    assert!(error.downcast_ref::<DriverError>().is_some());
    assert!(error.to_string().starts_with("CUDA_ERROR_INVALID_VALUE: "), "{error}");
    let known = DriverError::InvalidValue;
    let details = known.details().expect("this thread's failure");
    assert_eq!(details.status(), Status::ERROR_INVALID_ARGUMENT);
    assert!(format!("{known:?}").starts_with("DriverError(CUDA_ERROR_INVALID_VALUE, \""));
    assert_eq!(known.error_name()?, c"CUDA_ERROR_INVALID_VALUE");
    assert!(!known.error_string()?.is_empty());
    // Another thread knows the name only.
    let elsewhere = std::thread::spawn(move || known.to_string()).join().expect("a thread");
    assert_eq!(elsewhere, "CUDA_ERROR_INVALID_VALUE");
    Ok(())
}

#[test]
fn recorded_errors_are_given_once() -> Tested {
    let context = own_context()?;
    context.record_err::<()>(Ok(()));
    context.check_err()?;
    context.record_err::<()>(Err(DriverError::NotReady));
    context.record_err::<()>(Err(DriverError::InvalidValue));
    assert_eq!(context.bind_to_thread(), Err(DriverError::NotReady));
    context.synchronize()?;
    Ok(())
}

/// Each constant of the errors is CUDA's number, and each number is one of them.
#[test]
fn results_have_the_numbers_of_cuda() -> Tested {
    for (error, number) in [
        (DriverError::InvalidValue, 1),
        (DriverError::OutOfMemory, 2),
        (DriverError::InvalidContext, 201),
        (DriverError::IllegalAddress, 700),
        (DriverError::LaunchFailed, 719),
        (DriverError::Unknown, 999),
    ] {
        assert_eq!((error.0 as i32, CUresult::from_number(number)), (number, error.0));
    }
    for number in 0..1000 {
        let known = CUresult::from_number(number);
        match kernelmill::cuda_result_name(number) {
            Ok(name) => assert_eq!(format!("{known:?}"), name),
            Err(_) => assert_eq!(known, CUresult::CUDA_ERROR_UNKNOWN, "{number}"),
        }
    }
    assert_eq!(CUresult::CUDA_SUCCESS.result(), Ok(()));
    Ok(())
}

/// Without the library, calls give an error that says where it was looked for.
#[test]
#[cfg_attr(feature = "dynamic-linking", ignore = "the linker has bound the library")]
fn a_missing_library_is_an_error() -> Tested {
    const ROLE: &str = "KERNELMILL_TEST_ROLE";
    if std::env::var_os(ROLE).is_none() {
        let mut command = Command::new(std::env::current_exe()?);
        command.args(["--exact", "a_missing_library_is_an_error", "--nocapture"]);
        let done = command.env(ROLE, "child").env("KM_LIBRARY_DIR", "/no/such/folder").output()?;
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        return Ok(());
    }
    let place = "/no/such/folder/libkernelmill.so.1 is not there";
    expect_error(CudaContext::new(0), DriverError::SharedObjectInitFailed, place);
    expect_error(CudaContext::device_count(), DriverError::SharedObjectInitFailed, place);
    expect_error(kernelmill::driver::result::init(), DriverError::SharedObjectInitFailed, place);
    let error = kernelmill::nvrtc::compile_ptx("").expect_err("no library");
    assert!(error.to_string().contains(place), "{error}");
    assert!(DriverError::InvalidValue.error_name().is_err());
    assert_eq!(DriverError::InvalidValue.to_string(), "CUDA_ERROR_INVALID_VALUE");
    Ok(())
}
