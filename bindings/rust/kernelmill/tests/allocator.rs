//! The library takes its own memory from an allocator of the program. A program of its own, because
//! there is one for the whole process.

mod common;

use std::alloc::{GlobalAlloc, Layout, System};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use common::{context, expect_error};
use kernelmill::{HostAllocator, Result, Status, reset_allocator, set_allocator};

/// Counts what is alive, and refuses or panics when it is asked to.
struct Counting {
    made: AtomicUsize,
    alive: AtomicUsize,
    panics: AtomicBool,
}

fn layout(size_bytes: usize) -> Option<Layout> {
    Layout::from_size_align(size_bytes.checked_add(16)?, 16).ok()
}

// SAFETY: System gives memory of that size and alignment, on any thread.
unsafe impl HostAllocator for Counting {
    fn allocate(&self, size_bytes: usize, is_needed: bool) -> *mut u8 {
        assert!(is_needed || !self.panics.load(Ordering::SeqCst), "meant");
        let Some(layout) = layout(size_bytes) else { return null_mut() };
        // SAFETY: the layout is not empty, and the size lies before what is given.
        unsafe {
            let start = System.alloc(layout);
            if start.is_null() {
                return start;
            }
            start.cast::<usize>().write(size_bytes);
            self.made.fetch_add(1, Ordering::SeqCst);
            self.alive.fetch_add(1, Ordering::SeqCst);
            start.add(16)
        }
    }

    unsafe fn free(&self, pointer: *mut u8) {
        self.alive.fetch_sub(1, Ordering::SeqCst);
        // SAFETY: allocate() gave it, with its size before it.
        unsafe {
            let start = pointer.sub(16);
            if let Some(layout) = layout(start.cast::<usize>().read()) {
                System.dealloc(start, layout);
            }
        }
    }
}

static COUNTING: Counting = Counting {
    made: AtomicUsize::new(0),
    alive: AtomicUsize::new(0),
    panics: AtomicBool::new(false),
};

#[test]
fn the_library_takes_its_memory_from_the_program() -> Result<()> {
    let context = context();
    let stream = context.default_stream()?;
    set_allocator(&COUNTING)?;
    let kept = stream.clone_htod(&[1u32, 2, 3])?;
    assert!(COUNTING.made.load(Ordering::SeqCst) > 0);
    // A panic is no memory, and goes no further.
    std::panic::set_hook(Box::new(|_| {}));
    COUNTING.panics.store(true, Ordering::SeqCst);
    let failed = context.alloc::<u8>(10);
    COUNTING.panics.store(false, Ordering::SeqCst);
    let _ = std::panic::take_hook();
    expect_error(failed, Status::ERROR_OUT_OF_HOST_MEMORY, "");
    reset_allocator()?;
    let made = COUNTING.made.load(Ordering::SeqCst);
    let other = stream.clone_htod(&[4u32])?;
    assert_eq!(COUNTING.made.load(Ordering::SeqCst), made);
    // Memory goes back to the allocator that it came from.
    let alive = COUNTING.alive.load(Ordering::SeqCst);
    assert_eq!(stream.clone_dtoh(&kept)?, [1, 2, 3]);
    drop((kept, other, stream, context));
    assert!(COUNTING.alive.load(Ordering::SeqCst) < alive);
    Ok(())
}
