//! Limits, failures, conversions, and what the library and its devices are.

mod common;

use std::collections::HashSet;
use std::thread;

use common::{context, expect_error};
use kernelmill::{
    AutoOutcome, Category, ContextLimit, Device, DeviceAttribute, Error, ProfileRange, Profiler,
    Result, Status, Tuner, auto_candidates, blas, build_info, cuda_result_name, device_attributes,
    last_error, status_from_cuda, status_to_cuda, take_last_error,
};

#[test]
fn limits_are_set_and_stay() -> Result<()> {
    let context = context();
    let heap = ContextLimit::HEAP_BYTES;
    let more = context.limit(heap)? + (1 << 20);
    context.set_limit(heap, more)?;
    assert!(context.limit(heap)? >= more);
    context.reset()?;
    assert!(context.limit(heap)? >= more);
    let argument = Status::ERROR_INVALID_ARGUMENT;
    expect_error(context.limit(ContextLimit(77)), argument, "77");
    expect_error(context.set_limit(ContextLimit::INVALID, 1), argument, "limit");
    let stack = context.set_limit(ContextLimit::STACK_BYTES, u64::MAX);
    expect_error(stack, Status::ERROR_NOT_SUPPORTED, "18446744073709551615 bytes");
    expect_error(context.limit(ContextLimit::L2_FETCH_BYTES), Status::ERROR_NOT_SUPPORTED, "");
    Ok(())
}

#[test]
fn failures_of_a_context_are_kept() -> Result<()> {
    let context = context();
    assert!(context.error_history()?.is_empty() && context.error_counts()?.is_empty());
    for _ in 0..3 {
        expect_error(context.load_ptx("no PTX"), Status::ERROR_INVALID_PTX, "");
    }
    expect_error(context.load_file("no/such.cu"), Status::ERROR_NOT_FOUND, "no/such.cu");
    let records = context.error_history()?;
    let known: Vec<_> = records.iter().map(|r| (r.call.as_str(), r.status, r.count)).collect();
    let expected = [
        ("km_module_load_file", Status::ERROR_NOT_FOUND, 1),
        ("km_module_load_ptx", Status::ERROR_INVALID_PTX, 3),
    ];
    assert_eq!(known, expected);
    assert_eq!(records[1].category, Category::PROGRAM);
    assert!(records[0].id > records[1].id && records[0].message.contains("no/such.cu"));
    assert!(records[1].first_time <= records[1].last_time);
    let counts = context.error_counts()?;
    let known: Vec<_> = counts.iter().map(|c| (c.status, c.count)).collect();
    assert_eq!(known, [(Status::ERROR_NOT_FOUND, 1), (Status::ERROR_INVALID_PTX, 3)]);
    context.clear_error_history()?;
    assert!(context.error_history()?.is_empty() && context.error_counts()?.is_empty());
    assert!(context.error()?.is_some_and(|error| error.status() == Status::ERROR_NOT_FOUND));
    Ok(())
}

#[test]
fn a_history_forgets_the_oldest() -> Result<()> {
    let context = context();
    for i in 0..100 {
        let name = format!("no/such-{i}.cu");
        expect_error(context.load_file(&name), Status::ERROR_NOT_FOUND, &name);
    }
    let records = context.error_history()?;
    assert_eq!(records.len(), 64);
    assert!(records[0].message.contains("such-99") && records[63].message.contains("such-36"));
    assert_eq!(context.error_counts()?.first().map(|count| count.count), Some(100));
    Ok(())
}

#[test]
fn the_last_failure_of_a_thread_is_peeked_and_taken() -> Result<()> {
    let context = context();
    take_last_error()?;
    assert!(last_error()?.is_none());
    let error = context.load_file("no/such.cu").expect_err("no such file");
    let same = |other: Option<Error>| other.is_some_and(|e| e.message() == error.message());
    assert!(same(last_error()?) && same(last_error()?));
    let elsewhere = thread::scope(|scope| scope.spawn(last_error).join().expect("no panic"))?;
    assert!(elsewhere.is_none());
    let taken = take_last_error()?;
    assert_eq!(taken.as_ref().map(Error::native_code), Some(error.native_code()));
    assert!(same(taken) && last_error()?.is_none());
    // That of the context stays.
    assert!(same(context.error()?));
    Ok(())
}

#[test]
fn errors_of_contexts_have_the_native_code() -> Result<()> {
    let context = context();
    let error = context.load_file("no/such.cu").expect_err("no such file");
    let code = context.error()?.map(|same| same.native_code());
    assert_eq!(code, Some(error.native_code()));
    assert_ne!(error.native_code(), 0, "errno of a file that is not there");
    Ok(())
}

#[test]
fn results_of_cuda_are_converted() -> Result<()> {
    assert_eq!(status_from_cuda(0)?, Status::SUCCESS);
    assert_eq!(status_from_cuda(1)?, Status::ERROR_INVALID_ARGUMENT);
    assert_eq!(status_from_cuda(600)?, Status::NOT_READY);
    assert_eq!(status_to_cuda(Status::ERROR_ILLEGAL_ADDRESS)?, 700);
    assert_eq!(cuda_result_name(700)?, "CUDA_ERROR_ILLEGAL_ADDRESS");
    assert_eq!(status_from_cuda(status_to_cuda(Status::ERROR_TRAP)?)?.0 / 100, 4);
    let argument = Status::ERROR_INVALID_ARGUMENT;
    expect_error(status_from_cuda(-5), argument, "-5");
    expect_error(status_to_cuda(Status(55)), argument, "55");
    expect_error(cuda_result_name(12345), argument, "12345");
    Ok(())
}

#[test]
fn the_library_says_what_it_is() -> Result<()> {
    let info = build_info()?;
    assert_eq!(info.version, kernelmill::version()?);
    assert!(!info.build_id.is_empty() && !info.compiler.is_empty());
    Ok(())
}

#[test]
fn attributes_have_names_and_units() -> Result<()> {
    let device = Device::open("cpu")?;
    let table = device_attributes()?;
    let names: HashSet<_> = table.iter().map(|info| info.attribute).collect();
    assert_eq!(names.len(), table.len());
    let find = |attribute| table.iter().find(|info| info.attribute == attribute);
    let warp = find(DeviceAttribute::WARP_SIZE).expect("a row");
    assert_eq!((warp.name.as_str(), warp.unit.as_str()), ("WARP_SIZE", "threads"));
    assert_eq!(warp.cuda_attribute, Some(10));
    // Every row of the table can be asked for; some are not known here.
    let answers = table.iter().map(|info| device.attribute(info.attribute));
    let (known, refused): (Vec<_>, Vec<_>) = answers.partition(|answer| answer.is_ok());
    assert!(known.len() > 50, "{} of {}", known.len(), table.len());
    let status = |answer: Result<i64>| answer.expect_err("refused").status();
    assert!(refused.into_iter().all(|answer| status(answer) == Status::ERROR_NOT_SUPPORTED));
    assert_eq!(device.cuda_attribute(10)?, device.attribute(DeviceAttribute::WARP_SIZE)?);
    for number in [0, -990, i32::MAX, i32::MIN] {
        expect_error(device.cuda_attribute(number), Status::ERROR_INVALID_ARGUMENT, "attribute");
    }
    Ok(())
}

#[test]
fn auto_says_what_it_chooses_and_why() -> Result<()> {
    let candidates = auto_candidates()?;
    let chosen: Vec<_> = candidates.iter().filter(|c| c.outcome == AutoOutcome::Chosen).collect();
    assert_eq!(chosen.len(), 1, "{candidates:?}");
    assert_eq!(chosen[0].status, Status::SUCCESS);
    let opened = Device::open("auto")?.info()?.uri;
    assert!(opened.starts_with(&chosen[0].uri), "{opened} and {candidates:?}");
    assert!(candidates.iter().all(|candidate| !candidate.reason.is_empty()));
    for refused in candidates.iter().filter(|c| c.outcome == AutoOutcome::Refused) {
        assert_ne!(refused.status, Status::SUCCESS, "{refused:?}");
    }
    Ok(())
}

fn is_send_and_sync<T: Send + Sync>() {}

#[test]
fn objects_of_services_are_send_and_sync() {
    is_send_and_sync::<Profiler<'static>>();
    is_send_and_sync::<ProfileRange<'static>>();
    is_send_and_sync::<Tuner>();
    is_send_and_sync::<blas::Blas>();
    is_send_and_sync::<blas::Vector<'static, f32>>();
    is_send_and_sync::<blas::VectorMut<'static, f32>>();
    is_send_and_sync::<blas::Matrix<'static, f64>>();
    is_send_and_sync::<blas::MatrixMut<'static, f64>>();
    is_send_and_sync::<blas::MatrixBatchMut<'static, blas::F16>>();
    is_send_and_sync::<blas::PackedTriangleMut<'static, blas::Complex<f32>>>();
}

#[test]
fn services_work_on_eight_threads_at_once() -> Result<()> {
    let context = context();
    context.set_tracking(kernelmill::Tracking::ON)?;
    context.profiler().start()?;
    let work = |number: f32| -> Result<()> {
        let stream = context.new_stream()?;
        let blas = blas::Blas::new(&stream, blas::Layout::ROWS)?;
        for _ in 0..50 {
            let _range = context.profiler().range("work")?;
            let mut x = stream.clone_htod(&[number; 100])?;
            blas.scal(2.0, &mut x)?;
            assert_eq!(stream.clone_dtoh(&x)?, [2.0 * number; 100]);
            expect_error(context.load_ptx("no PTX"), Status::ERROR_INVALID_PTX, "");
            let last = last_error()?.map(|error| error.status());
            assert_eq!(last, Some(Status::ERROR_INVALID_PTX));
            context.allocations()?;
            context.profiler().rows()?;
            context.error_history()?;
        }
        Ok(())
    };
    thread::scope(|scope| {
        let threads: Vec<_> = (0..8).map(|i| scope.spawn(move || work(i as f32))).collect();
        threads.into_iter().try_for_each(|thread| thread.join().expect("no panic"))
    })?;
    let counts = context.error_counts()?;
    assert_eq!(counts.first().map(|count| count.count), Some(400));
    assert!(context.allocations()?.is_empty());
    Ok(())
}
