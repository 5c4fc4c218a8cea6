//! Counters of what warps did, of which there are none unless the program asks for them.

mod common;

use common::{context, expect_error, function};
use kernelmill::{CounterKind, LaunchConfig, Result, Status};

#[test]
fn counters_say_what_warps_did() -> Result<()> {
    let context = context();
    let stream = context.default_stream()?;
    let scale = function(&context, "scale");
    let mut data = stream.clone_htod(&[1.0f32; 1024])?;
    let profiler = context.profiler();
    profiler.start()?;
    profiler.set_counters(true)?;
    let mut launch = stream.launch_builder(&scale);
    launch.arg(&mut data).arg(&2.0f32).arg(&1024i32);
    // SAFETY: the kernel stays within its 1024 elements.
    unsafe { launch.launch(LaunchConfig::for_num_elems(1024)) }?;
    profiler.set_counters(false)?;
    // SAFETY: likewise, and this launch is not counted.
    unsafe { launch.launch(LaunchConfig::for_num_elems(1024)) }?;
    stream.synchronize()?;
    let rows = profiler.rows()?;
    let row = rows.iter().position(|row| row.name == "scale").expect("a row") as u32;
    let counters = profiler.counters(row)?;
    let loads = counters.iter().find(|each| each.kind == CounterKind::GLOBAL_LOAD).expect("loads");
    assert!(loads.is_total && loads.source.is_empty(), "{loads:?}");
    assert_eq!((loads.requests, loads.threads, loads.taken, loads.ideal), (32, 1024, 128, 128));
    assert!(counters.iter().any(|each| !each.is_total && each.line != 0), "{counters:?}");
    expect_error(profiler.counters(1000), Status::ERROR_INVALID_ARGUMENT, "row is 1000");
    Ok(())
}
