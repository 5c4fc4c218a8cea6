//! Profiles hold what was done while they recorded.

mod common;

use std::panic::{AssertUnwindSafe, catch_unwind};

use common::{context, expect_error, function};
use kernelmill::{Context, LaunchConfig, ProfileKind, ProfileRow, Result, Status};

fn row(context: &Context, kind: ProfileKind, name: &str) -> Result<Option<ProfileRow>> {
    let rows = context.profiler().rows()?;
    Ok(rows.into_iter().find(|row| row.kind == kind && row.name == name))
}

#[track_caller]
fn expect_ranges(context: &Context, name: &str, count: u64) -> Result<()> {
    let row = row(context, ProfileKind::RANGE, name)?;
    assert_eq!(row.map(|row| row.count), (count != 0).then_some(count), "{name}");
    Ok(())
}

#[test]
fn work_is_counted_while_it_records() -> Result<()> {
    let context = context();
    let stream = context.default_stream()?;
    let scale = function(&context, "scale");
    scale.set_work(1000, 8000)?;
    let mut data = stream.clone_htod(&[1.0f32; 1000])?;
    let launch = |data: &mut kernelmill::Slice<f32>| {
        let mut launch = stream.launch_builder(&scale);
        launch.arg(data).arg(&2.0f32).arg(&1000i32);
        // SAFETY: the kernel stays within its 1000 elements.
        unsafe { launch.launch(LaunchConfig::for_num_elems(1000)) }
    };
    let profiler = context.profiler();
    launch(&mut data)?;
    stream.synchronize()?;
    profiler.start()?;
    profiler.start()?; // twice is fine
    for _ in 0..3 {
        launch(&mut data)?;
    }
    stream.synchronize()?;
    profiler.stop()?;
    launch(&mut data)?;
    stream.synchronize()?;
    let kernel = row(&context, ProfileKind::KERNEL, "scale")?.expect("a row");
    assert_eq!((kernel.count, kernel.operations, kernel.size_bytes), (3, 3000, 24000));
    assert!(kernel.min_ns <= kernel.max_ns && kernel.max_ns <= kernel.total_ns, "{kernel:?}");
    assert!(kernel.operations_per_second > 0 && kernel.bytes_per_second > 0, "{kernel:?}");
    assert!(profiler.summary()?.contains("scale"));
    profiler.clear()?;
    assert!(profiler.rows()?.is_empty());
    Ok(())
}

#[test]
fn ranges_end_in_any_order() -> Result<()> {
    let context = context();
    let profiler = context.profiler();
    profiler.start()?;
    let (first, second) = (profiler.range("first")?, profiler.range("second")?);
    drop(first);
    expect_ranges(&context, "first", 1)?;
    expect_ranges(&context, "second", 0)?;
    std::thread::scope(|scope| scope.spawn(move || second.end()).join().expect("no panic"))?;
    expect_ranges(&context, "second", 1)?;
    let by_number = profiler.start_range("by number")?;
    profiler.end_range(by_number)?;
    expect_error(profiler.end_range(by_number), Status::ERROR_NOT_FOUND, "range");
    let guard = profiler.range("by number")?;
    profiler.end_range(guard.id())?;
    expect_error(guard.end(), Status::ERROR_NOT_FOUND, "range");
    expect_ranges(&context, "by number", 2)
}

#[test]
fn ranges_nest() -> Result<()> {
    let context = context();
    let profiler = context.profiler();
    profiler.start()?;
    let result = profiler.in_range("outer", || profiler.in_range("inner", || 7))??;
    assert_eq!(result, 7);
    let panic = catch_unwind(AssertUnwindSafe(|| profiler.in_range("outer", || panic!("meant"))));
    assert!(panic.is_err());
    expect_ranges(&context, "outer", 2)?;
    expect_ranges(&context, "inner", 1)?;
    expect_error(profiler.pop_range(), Status::ERROR_NOT_FOUND, "range");
    profiler.push_range("pushed")?;
    profiler.pop_range()?;
    expect_ranges(&context, "pushed", 1)?;
    let early = profiler.in_range("early", || profiler.pop_range());
    expect_error(early, Status::ERROR_NOT_FOUND, "range");
    expect_error(profiler.push_range("a\0b"), Status::ERROR_INVALID_ARGUMENT, "zero byte at 1");
    expect_error(profiler.range("\0"), Status::ERROR_INVALID_ARGUMENT, "zero byte");
    Ok(())
}

#[test]
fn traces_and_reports_are_written() -> Result<()> {
    let context = context();
    let profiler = context.profiler();
    profiler.start()?;
    context.default_stream()?.clone_htod(&[1u8; 10])?;
    context.synchronize()?;
    let folder = std::env::temp_dir().join(format!("km_rust_profiler_{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let (trace, report) = (folder.join("trace.json"), folder.join("report.html"));
    profiler.write(&trace)?;
    profiler.write(&report)?;
    let read = |path| std::fs::read_to_string(path).expect("a file");
    assert!(read(&trace).contains("traceEvents"));
    assert!(read(&report).starts_with("<!DOCTYPE html>"));
    expect_error(profiler.write(folder.join("no/such/folder")), Status::ERROR_IO, "folder");
    expect_error(profiler.write(""), Status::ERROR_INVALID_ARGUMENT, "path");
    std::fs::remove_dir_all(&folder).expect("gone");
    Ok(())
}
