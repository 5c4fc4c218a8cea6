//! Allocations are listed with tags and stacks, and memory is profiled.

mod common;

use std::time::{Duration, SystemTime};

use common::{context, expect_error};
use kernelmill::{AllocationKind, Result, Slice, Status, Tracking};

#[test]
fn allocations_are_listed_while_they_live() -> Result<()> {
    let context = context();
    let before = context.alloc_zeros::<u8>(1)?;
    assert!(context.allocations()?.is_empty());
    context.set_tracking(Tracking::ON)?;
    expect_error(before.set_tag("late"), Status::ERROR_NOT_FOUND, "track");
    let begin = SystemTime::now();
    let slice = context.alloc_zeros::<f32>(100)?;
    slice.set_tag("weights")?;
    let pinned = context.alloc_pinned::<u64>(10)?;
    let vector = Slice::from_vec(&context, vec![1u8; 5])?;
    let all = context.allocations()?;
    let known: Vec<_> = all.iter().map(|a| (a.kind, a.size_bytes, a.tag.as_str())).collect();
    let expected = [
        (AllocationKind::Device, 400, "weights"),
        (AllocationKind::Host, 80, ""),
        (AllocationKind::Foreign, 5, ""),
    ];
    assert_eq!(known, expected);
    assert_eq!(all[0].address, slice.address()?);
    assert!(all[0].id < all[1].id && all[1].id < all[2].id);
    let age = all[0].time.duration_since(begin).unwrap_or_default();
    assert!(age < Duration::from_secs(60), "{age:?}");
    assert!(all.iter().all(|allocation| allocation.frames.is_empty()));
    assert_eq!(context.allocation_stack(all[0].id)?, "");
    drop((slice, vector));
    let rest: Vec<_> = context.allocations()?.iter().map(|a| a.id).collect();
    assert_eq!(rest, [all[1].id]);
    expect_error(context.allocation_stack(all[0].id), Status::ERROR_NOT_FOUND, "");
    drop(pinned);
    context.set_tracking(Tracking::OFF)?;
    let _untracked = context.alloc_zeros::<u8>(1)?;
    assert!(context.allocations()?.is_empty());
    Ok(())
}

#[test]
fn stacks_say_where() -> Result<()> {
    let context = context();
    context.set_tracking(Tracking::ON | Tracking::STACKS)?;
    let slice = context.alloc_zeros::<u8>(3)?;
    slice.set_tag(&"long ".repeat(50))?;
    let all = context.allocations()?;
    assert!(!all[0].frames.is_empty() && all[0].frames.len() <= 16);
    let stack = context.allocation_stack(all[0].id)?;
    assert_eq!(stack.lines().count(), all[0].frames.len(), "{stack}");
    assert_eq!(all[0].tag.len(), 63);
    expect_error(slice.set_tag("a\0"), Status::ERROR_INVALID_ARGUMENT, "zero byte at 1");
    let unknown = kernelmill::sys::km_tracking_flags(64);
    expect_error(context.set_tracking(unknown), Status::ERROR_INVALID_ARGUMENT, "flags");
    Ok(())
}

#[test]
fn memory_is_profiled() -> Result<()> {
    let context = context();
    let kept = context.alloc_zeros::<u8>(1000)?;
    let used = context.memory_profile()?;
    assert!(!used.is_running && used.used_bytes >= 1000);
    context.start_memory_profile(Duration::from_micros(100))?;
    let again = context.start_memory_profile(Duration::from_micros(100));
    expect_error(again, Status::ERROR_NOT_PERMITTED, "");
    drop(context.alloc_zeros::<u8>(1 << 20)?);
    while context.memory_profile()?.sample_count < 3 {
        std::thread::sleep(Duration::from_millis(1));
    }
    assert!(context.memory_profile()?.is_running);
    drop(kept);
    context.stop_memory_profile()?;
    context.stop_memory_profile()?; // fine when none runs
    let profile = context.memory_profile()?;
    assert!(profile.peak_bytes >= used.used_bytes + (1 << 20), "{profile:?}");
    assert!(profile.minimum_bytes <= used.used_bytes - 1000, "{profile:?}");
    assert!((profile.minimum_bytes..=profile.peak_bytes).contains(&profile.mean_bytes));
    assert_eq!((profile.allocation_count, profile.free_count), (1, 2));
    assert_eq!((profile.is_running, profile.interval_ns), (false, 100_000));
    let samples = context.memory_samples()?;
    assert_eq!(samples.len() as u64, profile.sample_count);
    assert!(samples.is_sorted_by_key(|sample| sample.time_ns));
    let zero = context.start_memory_profile(Duration::ZERO);
    expect_error(zero, Status::ERROR_INVALID_ARGUMENT, "interval");
    Ok(())
}
