//! The arguments of a launch, as the library takes them.

use std::mem::{ManuallyDrop, MaybeUninit, size_of};

use crate::error::counted;
use crate::layout::{Kinds, Layout, ROOM_BYTES};
use crate::signature::ValueKind;
use crate::view::Place;
use crate::{Error, Function, Param, Result, Status, sys};

const FEW: usize = ROOM_BYTES / size_of::<u64>();

/// Parts that few launches have: arguments beyond the first words, and how it is launched.
#[derive(Default)]
pub(crate) struct Rare {
    pub cluster: Option<(u32, u32, u32)>,
    pub is_cooperative: bool,
    spilled: Vec<usize>, // sizes of the arguments that lie in `bytes`
    bytes: Vec<MaybeUninit<u8>>,
    // All arguments, arranged for a kernel that takes more than the first words have.
    words: Vec<MaybeUninit<u64>>,
    operands: Vec<sys::km_launch_operand>,
}

/// Dropped without a call where there is none. (Not the arguments themselves: a type that is dropped
/// by hand would hold its borrows until the end of its scope.)
struct RareSlot(ManuallyDrop<Option<Box<Rare>>>);

impl Drop for RareSlot {
    #[inline]
    fn drop(&mut self) {
        if self.0.is_some() {
            self.free();
        }
    }
}

impl RareSlot {
    #[cold]
    #[inline(never)]
    fn free(&mut self) {
        drop(self.0.take());
    }
}

/// Values and places of memory, one after the other, each where its alignment puts it in the first
/// words, or else in memory. Nothing is compared with the kernel's parameters until
/// [`settle`](Self::settle).
// In this order, so that nothing to be zeroed lies beside the arrays: the compiler would zero those
// too, which takes as long as all the rest of a launch.
#[repr(C)]
pub(crate) struct Arguments<'a> {
    // The form that km_launch_kernel_operands takes; these two cost nothing until they are used.
    words: MaybeUninit<[u64; FEW]>,
    operands: MaybeUninit<[sys::km_launch_operand; FEW]>,
    function: &'a Function,
    layout: Layout,   // of the values and places in `words`
    kinds: Kinds,     // of all
    end_bytes: usize, // of the last one there; beyond the words when others follow elsewhere
    given: usize,
    operand_count: usize,
    needs_care: bool,
    rare: RareSlot,
}

impl<'a> Arguments<'a> {
    #[inline(always)]
    pub fn new(function: &'a Function) -> Self {
        Self {
            words: MaybeUninit::uninit(),
            operands: MaybeUninit::uninit(),
            function,
            layout: Layout::EMPTY,
            kinds: Kinds::UNKNOWN,
            end_bytes: 0,
            given: 0,
            operand_count: 0,
            needs_care: false,
            rare: RareSlot(ManuallyDrop::new(None)),
        }
    }

    /// The kernel that takes them.
    #[inline(always)]
    pub fn function(&self) -> &'a Function {
        self.function
    }

    /// The number of arguments.
    pub fn given(&self) -> usize {
        self.given
    }

    /// True when they lie as the kernel takes them and it is launched in no special way.
    #[inline(always)]
    pub fn are_plain(&self) -> bool {
        !self.needs_care && self.layout == *self.function.layout() && self.conflicts() == 0
    }

    #[inline(always)]
    fn conflicts(&self) -> u64 {
        self.kinds.conflicts(self.function.kinds())
    }

    /// Adds the bytes of a value.
    #[inline(always)]
    pub fn add_value<T>(&mut self, value: &T, kind: ValueKind) {
        self.kinds.add(self.given, kind);
        let source: *const T = value;
        let offset_bytes = self.end_bytes.next_multiple_of(align_of::<T>());
        if size_of::<T>() == 0 || offset_bytes + size_of::<T>() > ROOM_BYTES {
            // SAFETY: the value has that many bytes.
            return unsafe { self.spill_value(source.cast(), size_of::<T>()) };
        }
        // SAFETY: the place lies within the words.
        unsafe {
            let words = self.words.as_mut_ptr().cast::<u8>();
            words.add(offset_bytes).copy_from_nonoverlapping(source.cast(), size_of::<T>());
        }
        self.note(offset_bytes, size_of::<T>());
    }

    /// Adds the address of so many bytes of a slice.
    #[inline(always)]
    pub fn add_place(&mut self, bytes: Place, access: sys::km_access) {
        self.kinds.add(self.given, ValueKind::Other);
        let offset_bytes = self.end_bytes.next_multiple_of(size_of::<u64>());
        if offset_bytes + size_of::<u64>() > ROOM_BYTES {
            return self.spill_place(bytes, access);
        }
        // SAFETY: there is an operand for each word.
        unsafe {
            let first = self.operands.as_mut_ptr().cast::<sys::km_launch_operand>();
            first.add(self.operand_count).write(operand(self.given, bytes, access));
        }
        self.operand_count += 1;
        self.note(offset_bytes, size_of::<u64>());
    }

    #[inline(always)]
    fn note(&mut self, offset_bytes: usize, size_bytes: usize) {
        self.layout.add(offset_bytes, size_bytes);
        self.end_bytes = offset_bytes + size_bytes;
        self.given += 1;
    }

    /// # Safety
    ///
    /// The value has that many bytes.
    #[cold]
    #[inline(never)]
    unsafe fn spill_value(&mut self, value: *const u8, size_bytes: usize) {
        let bytes = self.spill(size_bytes);
        // SAFETY: both have that many bytes.
        unsafe { bytes.cast::<u8>().copy_from_nonoverlapping(value, size_bytes) };
    }

    #[cold]
    #[inline(never)]
    fn spill_place(&mut self, bytes: Place, access: sys::km_access) {
        let operand = operand(self.given, bytes, access);
        self.spill(size_of::<u64>());
        self.rare().operands.push(operand);
    }

    /// Room for an argument in memory, and all later ones go there, too.
    fn spill(&mut self, size_bytes: usize) -> *mut MaybeUninit<u8> {
        if self.end_bytes <= ROOM_BYTES {
            self.end_bytes = ROOM_BYTES + 1;
            let operands = self.inline_operands().to_vec();
            self.rare().operands = operands;
        }
        self.given += 1;
        let rare = self.rare();
        rare.spilled.push(size_bytes);
        let start = rare.bytes.len();
        rare.bytes.resize(start + size_bytes, MaybeUninit::uninit());
        // SAFETY: the vector has more bytes than that, or as many when the size is 0.
        unsafe { rare.bytes.as_mut_ptr().add(start) }
    }

    /// The parts that few launches have, of one that is special from now on.
    #[cold]
    #[inline(never)]
    pub fn rare(&mut self) -> &mut Rare {
        self.needs_care = true;
        self.rare.0.get_or_insert_default()
    }

    /// True when it is to be launched in clusters or as a cooperative one.
    pub fn is_special(&self) -> bool {
        self.rare.0.as_ref().is_some_and(|rare| rare.cluster.is_some() || rare.is_cooperative)
    }

    /// Puts the arguments where the kernel takes them, if their number and sizes are right.
    pub fn settle(&mut self) -> Result<()> {
        let lies_right = self.layout == *self.function.layout() && !self.has_spilled();
        if lies_right && self.conflicts() == 0 {
            return Ok(());
        }
        self.check().map_err(|what| self.refuse(&what))?;
        if self.has_spilled() || self.function.arguments_size_bytes() > ROOM_BYTES {
            self.arrange_in_memory();
        } else {
            self.arrange_in_place();
        }
        Ok(())
    }

    fn has_spilled(&self) -> bool {
        self.rare.0.as_ref().is_some_and(|rare| !rare.spilled.is_empty())
    }

    /// The first argument that does not fit its parameter: its index and size, and the parameter's
    /// size.
    fn misfit(&self) -> Option<(usize, usize, usize)> {
        let spilled = self.rare.0.as_ref().map_or(&[][..], |rare| &rare.spilled);
        let sizes = self.layout.places().map(|(_, size_bytes)| size_bytes);
        let sizes = sizes.chain(spilled.iter().copied());
        let conflicts = self.conflicts();
        let is_other = |index: usize| index < u64::BITS as usize && conflicts >> index & 1 == 1;
        let mut pairs = self.function.params().iter().zip(sizes).enumerate();
        let found = pairs.find(|(index, (param, size_bytes))| {
            param.size_bytes != *size_bytes || is_other(*index)
        });
        found.map(|(index, (param, size_bytes))| (index, size_bytes, param.size_bytes))
    }

    /// Says what does not fit the parameters.
    pub fn check(&self) -> std::result::Result<(), String> {
        let params = self.function.params();
        if let Some((index, given, takes)) = self.misfit() {
            let takes = counted(takes, "byte");
            return Err(format!("takes {takes} for parameter {index}; {given} were given"));
        }
        let has = counted(params.len(), "parameter");
        match self.given {
            given if given < params.len() => {
                let given = counted(given, "argument");
                Err(format!("has {has}; {given} given"))
            }
            given if given > params.len() => Err(format!("has {has}; more arguments were given")),
            _ => Ok(()),
        }
    }

    /// check() as an error. Of an argument, the library says more: types, and what to give.
    #[cold]
    fn refuse(&self, what: &str) -> Error {
        let Some((index, size_bytes, _)) = self.misfit() else {
            return self.invalid(what);
        };
        let is_place = self.operands().iter().any(|operand| operand.parameter as usize == index);
        let element = match self.kinds.element_of(index, size_bytes) {
            _ if is_place => sys::km_element_type::POINTER,
            element => element,
        };
        let lanes = u32::from(element != sys::km_element_type::UNKNOWN);
        let (raw, size) = (self.function.as_raw(), size_bytes as u64);
        let ask = sys::km_function_check_argument;
        // SAFETY: handles are checked ids.
        match unsafe { ask(raw, index as u32, element, lanes, size) } {
            Status::ERROR_INVALID_LAUNCH => Error::last_of(Status::ERROR_INVALID_LAUNCH, "launch"),
            _ => self.invalid(what),
        }
    }

    /// An error about the arguments.
    #[cold]
    pub fn invalid(&self, what: &str) -> Error {
        let name = self.function.name().unwrap_or_default();
        Error::new(Status::ERROR_INVALID_LAUNCH, format!("launch: kernel '{name}' {what}"))
    }

    /// Moves the values within the words to where the parameters are.
    fn arrange_in_place(&mut self) {
        let function = self.function;
        let from = self.words;
        for ((offset_bytes, _), param) in self.layout.places().zip(function.params()) {
            let source = from.as_ptr().cast::<u8>().wrapping_add(offset_bytes);
            let destination = self.words.as_mut_ptr().cast::<u8>();
            // SAFETY: the words have all arguments, which fit them at either place: see `Function`.
            unsafe { move_value(source, destination, param) };
        }
        self.layout = *function.layout();
    }

    /// Copies all values to where the parameters are in memory that has room for them.
    fn arrange_in_memory(&mut self) {
        let function = self.function;
        if !self.has_spilled() {
            let operands = self.inline_operands().to_vec();
            self.rare().operands = operands;
        }
        let (inline, layout) = (self.words, self.layout);
        let rare = self.rare();
        let len = function.arguments_size_bytes().div_ceil(size_of::<u64>());
        rare.words.resize(len, MaybeUninit::uninit());
        let destination = rare.words.as_mut_ptr().cast::<u8>();
        let mut params = function.params().iter();
        for ((offset_bytes, _), param) in layout.places().zip(params.by_ref()) {
            let source = inline.as_ptr().cast::<u8>().wrapping_add(offset_bytes);
            // SAFETY: the words have the value, and memory has a place for each parameter.
            unsafe { move_value(source, destination, param) };
        }
        let mut offset_bytes = 0;
        for (size_bytes, param) in rare.spilled.iter().zip(params) {
            let source = rare.bytes.as_ptr().cast::<u8>().wrapping_add(offset_bytes);
            // SAFETY: the bytes have the value, and memory has a place for each parameter.
            unsafe { move_value(source, destination, param) };
            offset_bytes += size_bytes;
        }
    }

    /// The values in memory, if they need more than the words that the arguments hold themselves.
    fn in_memory(&self) -> Option<&Rare> {
        self.rare.0.as_deref().filter(|rare| !rare.words.is_empty())
    }

    /// The values, once they are settled; what lies between them and in the place of slices is not
    /// written.
    #[inline(always)]
    pub fn words(&self) -> *const u64 {
        if self.needs_care {
            if let Some(rare) = self.in_memory() {
                return rare.words.as_ptr().cast();
            }
        }
        self.words.as_ptr().cast()
    }

    /// The places of memory, once they are settled.
    #[inline(always)]
    pub fn operands(&self) -> &[sys::km_launch_operand] {
        if self.needs_care {
            if let Some(rare) = self.in_memory() {
                return &rare.operands;
            }
        }
        self.inline_operands()
    }

    #[inline(always)]
    fn inline_operands(&self) -> &[sys::km_launch_operand] {
        // SAFETY: add_place() wrote that many.
        unsafe { std::slice::from_raw_parts(self.operands.as_ptr().cast(), self.operand_count) }
    }
}

/// # Safety
///
/// The source has the size of the parameter, and the destination has it at the parameter's place.
unsafe fn move_value(source: *const u8, destination: *mut u8, param: &Param) {
    // SAFETY: the caller promises it, and the two are memory of different owners.
    unsafe {
        destination.add(param.offset_bytes).copy_from_nonoverlapping(source, param.size_bytes);
    }
}

#[inline(always)] // written into its place: one that is copied was written in other pieces, a stall
fn operand(parameter: usize, bytes: Place, access: sys::km_access) -> sys::km_launch_operand {
    sys::km_launch_operand {
        parameter: parameter as u32,
        access,
        slice: bytes.slice.addr() as u64,
        offset_bytes: bytes.offset_bytes,
        size_bytes: bytes.len as u64,
    }
}
