//! The places of a launch's arguments.

use crate::Param;

/// Arguments within this many bytes need no memory of their own.
pub(crate) const ROOM_BYTES: usize = 128;

/// Arguments one after the other in [`ROOM_BYTES`]: a bit for each byte that is the first one of an
/// argument, and for each that is the last one.
///
/// A launch compares the layout of what it was given with that of the kernel's parameters, instead of
/// each argument with its parameter: in a program that gives all arguments in one function it is a
/// constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Layout {
    firsts: u128,
    lasts: u128,
}

impl Layout {
    /// No arguments.
    pub const EMPTY: Self = Self { firsts: 0, lasts: 0 };

    /// The layout of parameters that do not fit, which no arguments have.
    const NONE: Self = Self { firsts: 0, lasts: 1 };

    /// The layout of parameters that lie one after the other.
    pub fn of(params: &[Param]) -> Self {
        let mut layout = Self::EMPTY;
        for param in params {
            if param.size_bytes == 0 || param.offset_bytes + param.size_bytes > ROOM_BYTES {
                return Self::NONE;
            }
            layout.add(param.offset_bytes, param.size_bytes);
        }
        layout
    }

    /// Adds an argument after all others, of at least one byte, which ends within the room.
    #[inline(always)]
    pub fn add(&mut self, offset_bytes: usize, size_bytes: usize) {
        self.firsts |= 1 << offset_bytes;
        self.lasts |= 1 << (offset_bytes + size_bytes - 1);
    }

    /// Offset and size of each argument, in order.
    pub fn places(self) -> impl Iterator<Item = (usize, usize)> {
        let offsets = |bits: u128| (0..ROOM_BYTES).filter(move |offset| bits >> offset & 1 == 1);
        let lasts = offsets(self.lasts);
        offsets(self.firsts).zip(lasts).map(|(first, last)| (first, last + 1 - first))
    }
}
