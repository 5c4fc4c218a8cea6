//! Memory of the host, in copies.

use std::mem::MaybeUninit;
use std::slice::{from_raw_parts, from_raw_parts_mut};
use std::sync::Arc;

use super::memory::Memory;
use super::pinned::Pages;
use super::pointer::sealed::Located;
use super::{PinnedHostSlice, UnifiedSlice};
use crate::view::Place;

pub(super) mod sealed {
    use super::{Readable, Writable};

    pub trait HostMemory {
        #[doc(hidden)]
        fn readable(&self) -> Readable<'_>;

        #[doc(hidden)]
        fn writable(&mut self) -> Writable<'_>;
    }
}
use sealed::HostMemory;

/// The bytes of host memory that is read.
pub enum Readable<'a> {
    /// Any memory.
    Pageable(&'a [MaybeUninit<u8>]),
    /// Page-locked memory, which is read later.
    Pinned(&'a Pages),
    /// Memory that host and device share.
    Unified(&'a Arc<Memory>, Place),
}

/// The bytes of host memory that is written.
pub enum Writable<'a> {
    /// Any memory.
    Pageable(&'a mut [MaybeUninit<u8>]),
    /// Page-locked memory, which is written later.
    Pinned(&'a Pages),
    /// Memory that host and device share.
    Unified(&'a Arc<Memory>, Place),
}

/// Memory of the host: arrays, slices, vectors, and [`PinnedHostSlice`], from and to which copies
/// go on while the host does other work. [`UnifiedSlice`] is host memory as well.
pub trait HostSlice<T>: HostMemory {
    /// The number of elements.
    fn len(&self) -> usize;

    /// True when there are none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// The bytes of elements, of which some may be padding.
fn bytes_of<T>(elements: &[T]) -> &[MaybeUninit<u8>] {
    // SAFETY: the elements are that many bytes, and no byte has to have a value.
    unsafe { from_raw_parts(elements.as_ptr().cast(), size_of_val(elements)) }
}

/// The bytes of elements, to be overwritten with elements.
fn bytes_of_mut<T>(elements: &mut [T]) -> &mut [MaybeUninit<u8>] {
    // SAFETY: the elements are that many bytes; only copies of device memory, which holds elements
    // of the type, are written here.
    unsafe { from_raw_parts_mut(elements.as_mut_ptr().cast(), size_of_val(elements)) }
}

macro_rules! pageable {
    ($([$($parameter:tt)*] $kind:ty;)*) => {
        $(
            impl<T, $($parameter)*> HostMemory for $kind {
                fn readable(&self) -> Readable<'_> {
                    Readable::Pageable(bytes_of(self))
                }

                fn writable(&mut self) -> Writable<'_> {
                    Writable::Pageable(bytes_of_mut(self))
                }
            }

            impl<T, $($parameter)*> HostSlice<T> for $kind {
                fn len(&self) -> usize {
                    <[T]>::len(self)
                }
            }
        )*
    };
}
pageable! {
    [] [T];
    [] Vec<T>;
    [const N: usize] [T; N];
}

impl<T> HostMemory for PinnedHostSlice<T> {
    fn readable(&self) -> Readable<'_> {
        Readable::Pinned(self.pages())
    }

    fn writable(&mut self) -> Writable<'_> {
        Writable::Pinned(self.pages())
    }
}

impl<T> HostSlice<T> for PinnedHostSlice<T> {
    fn len(&self) -> usize {
        self.len()
    }
}

impl<T> HostMemory for UnifiedSlice<T> {
    fn readable(&self) -> Readable<'_> {
        Readable::Unified(self.memory(), self.bytes())
    }

    fn writable(&mut self) -> Writable<'_> {
        Writable::Unified(self.memory(), self.bytes())
    }
}

impl<T> HostSlice<T> for UnifiedSlice<T> {
    fn len(&self) -> usize {
        self.as_view().len()
    }
}
