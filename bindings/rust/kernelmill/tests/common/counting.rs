//! An allocator that counts, for test programs of their own that show what allocates nothing.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    static MADE: Cell<usize> = const { Cell::new(0) };
}

struct Counting;

// SAFETY: all calls go to System.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        MADE.set(MADE.get() + 1);
        // SAFETY: that of the caller.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: that of the caller.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

#[allow(dead_code)] // not all programs compare with it
pub const CALLS: usize = 10_000;

/// The number of allocations that this thread makes for many calls, after a few.
pub fn allocations_of<E>(mut call: impl FnMut() -> Result<(), E>) -> Result<usize, E> {
    (0..10).try_for_each(|_| call())?;
    let before = MADE.get();
    (0..CALLS).try_for_each(|_| call())?;
    Ok(MADE.get() - before)
}
