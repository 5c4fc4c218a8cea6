//! Tracking of memory: the allocations that are alive, and the places where they were made.

use std::mem::size_of;
use std::time::SystemTime;

use crate::error::{array_text, c_string, check, read_text};
use crate::list::{read_list, time_at};
use crate::{Context, Pod, Result, Slice, sys};

/// The facts that are kept of allocations, [`km_tracking_flags`](sys::km_tracking_flags): `Tracking::ON` or,
/// with the place where each was made, `Tracking::STACKS`.
pub use sys::km_tracking_flags as Tracking;

/// The call that made an allocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum AllocationKind {
    /// A kind that this crate does not know.
    Unknown,
    /// Device memory.
    Device,
    /// A block of a pool.
    Pool,
    /// Page-locked host memory.
    Host,
    /// Memory of the program's own: [`Slice::from_vec`].
    Foreign,
    /// A mapped file.
    File,
}

impl From<sys::km_allocation_kind> for AllocationKind {
    fn from(kind: sys::km_allocation_kind) -> Self {
        match kind {
            sys::km_allocation_kind::ALLOCATION_DEVICE => Self::Device,
            sys::km_allocation_kind::ALLOCATION_POOL => Self::Pool,
            sys::km_allocation_kind::ALLOCATION_HOST => Self::Host,
            sys::km_allocation_kind::ALLOCATION_FOREIGN => Self::Foreign,
            sys::km_allocation_kind::ALLOCATION_FILE => Self::File,
            _ => Self::Unknown,
        }
    }
}

/// An allocation that is tracked and alive: [`Context::allocations`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Allocation {
    /// The call that made it.
    pub kind: AllocationKind,
    /// Its number, which rises with each allocation of the context.
    pub id: u64,
    /// The address of its first byte.
    pub address: u64,
    /// Its size.
    pub size_bytes: u64,
    /// The time when it was made.
    pub time: SystemTime,
    /// The name that [`Slice::set_tag`] gave it, cut where longer than 63 bytes; else empty.
    pub tag: String,
    /// Return addresses where it was made, the innermost first, at most 16; empty without
    /// [`Tracking::STACKS`]. [`Context::allocation_stack`] has them as text.
    pub frames: Vec<u64>,
}

impl From<&sys::km_allocation_info> for Allocation {
    fn from(info: &sys::km_allocation_info) -> Self {
        Self {
            kind: info.kind.into(),
            id: info.id,
            address: info.address,
            size_bytes: info.size_bytes,
            time: time_at(info.time_ns),
            tag: array_text(&info.tag),
            frames: info.frames.iter().copied().take(info.frame_count as usize).collect(),
        }
    }
}

impl Context {
    /// Has allocations of the context tracked from now on; those before are not. What is alive when
    /// the context goes, or at exit, is then logged as a warning. Never blocks.
    /// C: `km_context_set_tracking`.
    ///
    /// ```
    /// # fn main() -> kernelmill::Result<()> {
    /// # let context = kernelmill::Context::open("cpu")?;
    /// use kernelmill::Tracking;
    /// context.set_tracking(Tracking::ON)?;
    /// let weights = context.alloc_zeros::<f32>(100)?;
    /// weights.set_tag("weights")?;
    /// for allocation in context.allocations()? {
    ///     println!("{} bytes of {}", allocation.size_bytes, allocation.tag);
    /// }
    /// # assert_eq!(context.allocations()?.len(), 1);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// `ERROR_INVALID_ARGUMENT` when the flags have unknown bits.
    pub fn set_tracking(&self, tracking: Tracking) -> Result<()> {
        // SAFETY: handles are checked ids.
        check(unsafe { sys::km_context_set_tracking(self.as_raw(), tracking) })
    }

    /// The tracked allocations that are alive, in the order in which they were made. Never blocks.
    /// C: `km_context_allocations`.
    pub fn allocations(&self) -> Result<Vec<Allocation>> {
        let blank = sys::km_allocation_info {
            struct_size: size_of::<sys::km_allocation_info>() as u32,
            ..Default::default()
        };
        let list = read_list(blank, |capacity, infos, count| {
            // SAFETY: `read_list` gives room for `capacity` structures, which say their size.
            unsafe { sys::km_context_allocations(self.as_raw(), capacity, infos, count) }
        })?;
        Ok(list.iter().map(Allocation::from).collect())
    }

    /// The stack where the allocation of this [`id`](Allocation::id) was made, a line per frame, the
    /// innermost first, with names where the program exports them; empty without
    /// [`Tracking::STACKS`]. Never blocks. C: `km_context_allocation_stack`.
    ///
    /// # Errors
    ///
    /// `ERROR_NOT_FOUND` when no tracked allocation that is alive has this number.
    pub fn allocation_stack(&self, id: u64) -> Result<String> {
        read_text(|buffer, capacity, size| {
            // SAFETY: `read_text` gives room for `capacity` bytes.
            unsafe { sys::km_context_allocation_stack(self.as_raw(), id, buffer, capacity, size) }
        })
    }
}

impl<T: Pod> Slice<T> {
    /// A name for the allocation, for listings and reports. Never blocks. C: `km_slice_set_tag`.
    ///
    /// # Errors
    ///
    /// `ERROR_NOT_FOUND` when the allocation is not tracked; `ERROR_INVALID_ARGUMENT` when the tag
    /// has a zero byte; `ERROR_CONTEXT_LOST` after a reset of the context.
    pub fn set_tag(&self, tag: &str) -> Result<()> {
        let tag = c_string(tag, "tag")?;
        // SAFETY: handles are checked ids, and the text lives through the call.
        check(unsafe { sys::km_slice_set_tag(self.as_raw(), tag.as_ptr()) })
    }
}
