//! The checker's tools are those of a context, and its findings come to a function.

mod common;

use std::sync::Mutex;

use common::{expect_error, function};
use kernelmill::{Check, Context, Finding, LaunchConfig, Result, Status};

fn run_add(context: &Context) -> Result<()> {
    let stream = context.default_stream()?;
    let add = function(context, "add");
    let (a, b) = (stream.alloc_zeros::<i32>(30)?, stream.alloc_zeros::<i32>(64)?);
    let mut sum = stream.alloc_zeros::<i32>(64)?;
    let mut launch = stream.launch_builder(&add);
    launch.arg(&a).arg(&b).arg(&mut sum).arg(&32i32);
    // SAFETY: the checker leaves out the two reads beyond `a`.
    unsafe { launch.launch(LaunchConfig::for_num_elems(32)) }?;
    stream.synchronize()
}

#[test]
fn findings_come_to_the_function_of_their_context() -> Result<()> {
    static FIRST: Mutex<Vec<Finding>> = Mutex::new(Vec::new());
    static SECOND: Mutex<Vec<Finding>> = Mutex::new(Vec::new());
    let (first, second) = (Context::open("cpu")?, Context::open("cpu")?);
    first.set_check(Check::MEMORY, 0, &|found| FIRST.lock().unwrap().push(found))?;
    second
        .set_check(Check::MEMORY | Check::RACE, 1, &|found| SECOND.lock().unwrap().push(found))?;
    run_add(&first)?;
    let found = std::mem::take(&mut *FIRST.lock().unwrap());
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!((found[0].tool, found[0].kind.as_str()), (Check::MEMORY, "illegal-address"));
    assert_eq!((found[0].kernel.as_str(), found[0].count), ("add", 2));
    assert_eq!((found[0].size_bytes, found[0].place.thread), (4, [30, 0, 0]));
    assert!(found[0].place.line > 0 && found[0].other.is_none());
    assert!(found[0].place.callers.is_empty(), "{found:?}");
    assert!(SECOND.lock().unwrap().is_empty());
    for _ in 0..2 {
        run_add(&second)?;
    }
    assert_eq!(SECOND.lock().unwrap().len(), 1); // the limit
    assert!(FIRST.lock().unwrap().is_empty());
    first.set_check_printed(Check::OFF)?;
    let unknown = kernelmill::sys::km_check_flags(1 << 20);
    expect_error(first.set_check_printed(unknown), Status::ERROR_INVALID_ARGUMENT, "flags");
    Ok(())
}
