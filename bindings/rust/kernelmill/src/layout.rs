//! The places of a launch's arguments.

use crate::signature::ValueKind;
use crate::{Param, ParamKind, ParamType, sys};

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

/// The kinds of the first 64 arguments or parameters, as far as they are known: a bit for each that
/// is a floating-point number, and for each that is an integer or an address.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kinds {
    floats: u64,
    others: u64,
}

impl Kinds {
    /// Nothing is known.
    pub const UNKNOWN: Self = Self { floats: 0, others: 0 };

    /// The kinds of parameters, by what PTX declares.
    pub fn of(params: &[Param]) -> Self {
        let mut kinds = Self::UNKNOWN;
        for (index, param) in params.iter().enumerate() {
            let is_other =
                param.value_type == ParamType::INTEGER || param.kind == ParamKind::POINTER;
            let kind = match param.value_type {
                ParamType::FLOAT => ValueKind::Float,
                _ if is_other => ValueKind::Other,
                _ => ValueKind::Unknown,
            };
            kinds.add(index, kind);
        }
        kinds
    }

    /// Notes the kind of one of them.
    #[inline(always)]
    pub fn add(&mut self, index: usize, kind: ValueKind) {
        if index >= u64::BITS as usize {
            return;
        }
        match kind {
            ValueKind::Float => self.floats |= 1 << index,
            ValueKind::Other => self.others |= 1 << index,
            ValueKind::Unknown => (),
        }
    }

    /// A bit for each argument that is known to be of another kind than its parameter.
    #[inline(always)]
    pub fn conflicts(self, params: Self) -> u64 {
        (self.floats & params.others) | (self.others & params.floats)
    }

    /// The type of an argument of that size, for a message.
    pub fn element_of(self, index: usize, size_bytes: usize) -> sys::km_element_type {
        let has = |bits: u64| index < u64::BITS as usize && bits >> index & 1 == 1;
        match size_bytes {
            2 if has(self.floats) => sys::km_element_type::F16,
            4 if has(self.floats) => sys::km_element_type::F32,
            8 if has(self.floats) => sys::km_element_type::F64,
            1 if has(self.others) => sys::km_element_type::I8,
            2 if has(self.others) => sys::km_element_type::I16,
            4 if has(self.others) => sys::km_element_type::I32,
            8 if has(self.others) => sys::km_element_type::I64,
            _ => sys::km_element_type::UNKNOWN,
        }
    }
}
