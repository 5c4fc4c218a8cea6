//! Tunings choose the fastest candidate, and say what became of the others.

mod common;

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use common::{context, expect_error};
use kernelmill::{Device, LaunchConfig, Result, Status, TuneBufferFlags, TuneCheck, Tuner};

const SOURCE: &str = r#"
#ifndef WORK
#define WORK 1
#endif
#ifndef WRONG
#define WRONG 0
#endif
extern "C" __global__ void tuned(float* out, const float* in, int n, float scale) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (WORK < 0) __trap();
  volatile float sum = 0;
  for (int k = 0; k < WORK * 100; ++k) sum = sum + 1.0f;
  if (i < n) out[i] = in[i] * scale + WRONG + (sum < 0);
}"#;
const COUNT: usize = 4096;

fn config(block: u32) -> LaunchConfig {
    let grid = (COUNT as u32).div_ceil(block);
    LaunchConfig { grid_dim: (grid, 1, 1), block_dim: (block, 1, 1), shared_mem_bytes: 0 }
}

fn tuner() -> Result<Tuner> {
    let mut tuner = Tuner::new(&Device::open("cpu")?, SOURCE, "tuned")?;
    tuner.add_zeros::<f32>(COUNT, TuneBufferFlags::OUTPUT)?;
    tuner.add_buffer(&[3.0f32; COUNT], TuneBufferFlags::DEFAULT)?;
    tuner.add_scalar(&(COUNT as i32))?;
    tuner.add_scalar(&2.0f32)?;
    tuner.set_budget(Duration::from_millis(50), 1)?;
    Ok(tuner)
}

/// Runs it.
fn run(tuner: &mut Tuner) -> Result<u32> {
    // SAFETY: the kernel stays within its buffers of COUNT elements.
    unsafe { tuner.run(None) }
}

#[test]
fn the_fastest_candidate_is_chosen() -> Result<()> {
    let mut tuner = tuner()?;
    assert_eq!(tuner.add_candidate(config(64), &["-DWORK=100"])?, 0);
    assert_eq!(tuner.add_candidate(config(128), &[])?, 1);
    assert_eq!(tuner.add_candidate(config(64), &["-DWORK=100", "-DWRONG=0"])?, 2);
    tuner.set_check(TuneCheck::F32, 1e-5)?;
    assert_eq!(tuner.result(0)?.status, Status::NOT_READY);
    let seen = Arc::new(Mutex::new(Vec::new()));
    let also_seen = Arc::clone(&seen);
    tuner.set_progress(move |done, count| also_seen.lock().expect("ours").push((done, count)));
    let best = run(&mut tuner)?;
    assert_eq!(best, 1);
    assert_eq!(*seen.lock().expect("ours"), [(1, 3), (2, 3), (3, 3)]);
    let result = tuner.result(best)?;
    assert_eq!((result.status, result.message.as_str()), (Status::SUCCESS, ""));
    assert!(result.sample_count >= 1 && result.min_ns <= result.median_ns);
    // The chosen one, in a context of the caller's.
    let context = context();
    let stream = context.default_stream()?;
    let function = tuner.function(best, &context)?;
    drop(tuner);
    let input = stream.clone_htod(&[3.0f32; COUNT])?;
    let mut output = stream.alloc_zeros::<f32>(COUNT)?;
    let mut launch = stream.launch_builder(&function);
    launch.arg(&mut output).arg(&input).arg(&(COUNT as i32)).arg(&5.0f32);
    // SAFETY: the kernel stays within its buffers of COUNT elements.
    unsafe { launch.launch(config(128)) }?;
    assert_eq!(stream.clone_dtoh(&output)?, [15.0; COUNT]);
    Ok(())
}

#[test]
fn candidates_that_fail_are_left_out() -> Result<()> {
    let mut tuner = tuner()?;
    tuner.add_candidate(config(64), &["-DWORK=-1"])?;
    tuner.add_candidate(config(64), &["-DWORK=no number"])?;
    tuner.add_candidate(config(64), &[])?;
    tuner.add_candidate(config(64), &["-DWRONG=1"])?;
    tuner.set_check(TuneCheck::EXACT, 0.0)?;
    assert_eq!(run(&mut tuner)?, 2);
    let left_out = |candidate, status, part: &str| -> Result<()> {
        let result = tuner.result(candidate)?;
        assert_eq!((result.status, result.sample_count), (status, 0));
        assert!(result.message.contains(part), "{}", result.message);
        Ok(())
    };
    left_out(0, Status::ERROR_TRAP, "trap")?;
    left_out(1, Status::ERROR_COMPILATION_FAILED, "undefined")?;
    left_out(3, Status::ERROR_RESULT_MISMATCH, "")
}

#[test]
fn what_fails_in_a_callback_stays_there() -> Result<()> {
    static CALLS: AtomicU32 = AtomicU32::new(0);
    let mut tuner = tuner()?;
    tuner.add_candidate(config(64), &[])?;
    tuner.add_candidate(config(128), &[])?;
    tuner.set_progress(|_, _| {
        CALLS.fetch_add(1, Ordering::Relaxed);
        panic!("meant");
    });
    run(&mut tuner)?;
    assert_eq!(CALLS.load(Ordering::Relaxed), 2);
    tuner.clear_progress();
    // SAFETY: as in run().
    unsafe { tuner.run_again(Some("a problem")) }?;
    assert_eq!(CALLS.load(Ordering::Relaxed), 2);
    Ok(())
}

#[test]
fn bad_use_is_an_error() -> Result<()> {
    let argument = Status::ERROR_INVALID_ARGUMENT;
    let mut tuner = tuner()?;
    expect_error(run(&mut tuner), argument, "candidates");
    let two_lines = tuner.add_candidate(config(64), &["-DA\n-DB"]);
    expect_error(two_lines, argument, r#""-DA\n-DB" has a line break"#);
    expect_error(tuner.add_candidate(config(64), &["\0"]), argument, "zero byte");
    expect_error(tuner.set_check(TuneCheck::F32, -1.0), argument, "tolerance is -1");
    expect_error(tuner.set_check(TuneCheck::F32, f64::NAN), argument, "tolerance");
    expect_error(tuner.set_check(TuneCheck(77), 0.0), argument, "check is 77");
    let flags = TuneBufferFlags(64);
    expect_error(tuner.add_buffer(&[1u8], flags), argument, "flags");
    expect_error(tuner.add_zeros::<u64>(usize::MAX, flags), argument, "too many");
    expect_error(tuner.add_scalar(&[0u8; 40_000]), argument, "40000");
    expect_error(tuner.result(3), argument, "candidate");
    expect_error(tuner.function(3, &context()), argument, "candidate");
    tuner.add_candidate(config(64), &["-DWORK=-1"])?;
    expect_error(run(&mut tuner), Status::ERROR_TRAP, "trap");
    Ok(())
}
