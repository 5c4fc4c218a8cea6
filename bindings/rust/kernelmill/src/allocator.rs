//! Host memory of the library itself, from functions of the program.

use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::null_mut;

use crate::error::check;
use crate::{Result, sys};

/// An allocator for the library's own host memory: objects, queues, texts; not device memory and
/// not stacks.
///
/// # Safety
///
/// [`allocate`](Self::allocate) gives null, or memory of at least that size, aligned to 16 bytes,
/// that nobody else uses until it is given to [`free`](Self::free). Neither makes a call of
/// this library. Both work until the process ends, on any thread.
pub unsafe trait HostAllocator: Sync {
    /// Memory of this size, or null when there is none: then the call that needed it fails with
    /// `ERROR_OUT_OF_HOST_MEMORY`, or, when `is_needed`, the code generator gives up
    /// (`ERROR_COMPILER`) or the process ends.
    fn allocate(&self, size_bytes: usize, is_needed: bool) -> *mut u8;

    /// Takes back what [`allocate`](Self::allocate) gave.
    ///
    /// # Safety
    ///
    /// It gave this pointer, which is not null and has not been freed since.
    unsafe fn free(&self, pointer: *mut u8);
}

/// Has the library take its own host memory from `allocator` from now on. What was allocated before
/// goes back to where it came from. Never blocks. A panic in the allocator counts as no memory.
/// C: `km_set_allocator`.
///
/// ```standalone_crate
/// use std::alloc::{Layout, System, GlobalAlloc};
/// use std::sync::atomic::{AtomicUsize, Ordering};
///
/// /// Counts allocations; the size of each lies before it.
/// struct Counting(AtomicUsize);
/// fn layout(size: usize) -> Option<Layout> {
///     Layout::from_size_align(size.checked_add(16)?, 16).ok()
/// }
/// // SAFETY: System gives memory of that size and alignment, and works on any thread.
/// unsafe impl kernelmill::HostAllocator for Counting {
///     fn allocate(&self, size: usize, _is_needed: bool) -> *mut u8 {
///         self.0.fetch_add(1, Ordering::Relaxed);
///         let Some(layout) = layout(size) else { return std::ptr::null_mut() };
///         // SAFETY: the layout is not empty, and the size fits before what is given.
///         unsafe {
///             let start = System.alloc(layout);
///             if start.is_null() {
///                 return start;
///             }
///             start.cast::<usize>().write(size);
///             start.add(16)
///         }
///     }
///     unsafe fn free(&self, pointer: *mut u8) {
///         // SAFETY: allocate() gave it, with its size before it.
///         unsafe {
///             let start = pointer.sub(16);
///             if let Some(layout) = layout(start.cast::<usize>().read()) {
///                 System.dealloc(start, layout);
///             }
///         }
///     }
/// }
/// static COUNTING: Counting = Counting(AtomicUsize::new(0));
///
/// # fn main() -> kernelmill::Result<()> {
/// kernelmill::set_allocator(&COUNTING)?;
/// let _context = kernelmill::Context::open("cpu")?;
/// assert!(COUNTING.0.load(Ordering::Relaxed) > 0);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// `ERROR_NOT_SUPPORTED` when the library was built with a sanitizer.
pub fn set_allocator<A: HostAllocator>(allocator: &'static A) -> Result<()> {
    let data: *const A = allocator;
    // SAFETY: both functions get back the allocator, which lives for ever and promises the rest.
    check(unsafe {
        sys::km_set_allocator(Some(allocate::<A>), Some(free::<A>), data.cast_mut().cast())
    })
}

/// Has the library take its own host memory from `malloc` again, as at the start. Never blocks.
///
/// # Errors
///
/// `ERROR_NOT_SUPPORTED` when the library was built with a sanitizer.
pub fn reset_allocator() -> Result<()> {
    // SAFETY: no functions mean malloc.
    check(unsafe { sys::km_set_allocator(None, None, null_mut()) })
}

unsafe extern "C" fn allocate<A: HostAllocator>(
    data: *mut c_void,
    size_bytes: u64,
    flags: sys::km_host_allocation_flags,
) -> *mut c_void {
    // SAFETY: what set_allocator() gave, which lives for ever.
    let allocator = unsafe { &*data.cast_const().cast::<A>() };
    let is_needed = flags == sys::km_host_allocation_flags::NEEDED;
    let size = size_bytes as usize;
    let memory = catch_unwind(AssertUnwindSafe(|| allocator.allocate(size, is_needed)));
    memory.unwrap_or(null_mut()).cast()
}

unsafe extern "C" fn free<A: HostAllocator>(data: *mut c_void, pointer: *mut c_void) {
    // SAFETY: what set_allocator() gave, which lives for ever.
    let allocator = unsafe { &*data.cast_const().cast::<A>() };
    if pointer.is_null() {
        return;
    }
    // A panic has been reported by its hook, and must not unwind into the library.
    let _ = catch_unwind(AssertUnwindSafe(|| {
        // SAFETY: the library frees what allocate() gave, once.
        unsafe { allocator.free(pointer.cast()) }
    }));
}
