//! Memory, files and threads of the process, for tests that look for leaks.
#![allow(dead_code)] // each test program uses a part of it

use kernelmill::Result;

const ROOM_KIB: usize = 4096; // for caches of allocators

pub const CYCLES: usize = 100_000;

/// Cycles of what takes long: a tenth, and all of them with KM_TEST_LONG=1.
pub fn few_cycles() -> usize {
    if std::env::var_os("KM_TEST_LONG").is_some() { CYCLES } else { CYCLES / 10 }
}

/// Resident memory in KiB, open files, threads.
fn usage() -> (usize, usize, usize) {
    let status = std::fs::read_to_string("/proc/self/status").expect("/proc");
    let number = |key: &str| {
        let line = status.lines().find(|line| line.starts_with(key)).expect("a line of status");
        line.split_whitespace().nth(1).and_then(|word| word.parse().ok()).expect("a number")
    };
    let files = std::fs::read_dir("/proc/self/fd").expect("/proc").count();
    (number("VmRSS:"), files, number("Threads:"))
}

/// Makes and drops: first some to warm up, then `cycles`, after which nothing may have grown.
pub fn stays_flat(what: &str, cycles: usize, mut make: impl FnMut() -> Result<()>) -> Result<()> {
    (0..cycles / 10).try_for_each(|_| make())?;
    let before = usage();
    (0..cycles).try_for_each(|_| make())?;
    let after = usage();
    let grown = after.0.saturating_sub(before.0);
    assert!(grown < ROOM_KIB, "{what}: {grown} KiB more after {cycles} cycles");
    assert_eq!((after.1, after.2), (before.1, before.2), "{what}: files, threads");
    Ok(())
}
