//! Communicators: collective operations and messages among ranks, in threads and processes.
//!
//! Each rank has a device. All ranks of a communicator call the same operations in the same order;
//! a call joins its stream and returns at once, and what it uses is kept until it is done:
//!
//! ```
//! use kernelmill::comm::{self, Comm, Reduction};
//!
//! # fn main() -> kernelmill::Result<()> {
//! let contexts = [kernelmill::Context::open("cpu")?, kernelmill::Context::open("cpu")?];
//! let ranks = Comm::all(&contexts)?; // of this process; `Comm::new` is for one rank of many
//! let streams = [contexts[0].default_stream()?, contexts[1].default_stream()?];
//! let mut data = [streams[0].clone_htod(&[1.0f32])?, streams[1].clone_htod(&[2.0f32])?];
//! comm::group(|| {
//!     for ((rank, stream), each) in ranks.iter().zip(&streams).zip(&mut data) {
//!         rank.all_reduce_in_place(stream, each, Reduction::Sum)?;
//!     }
//!     Ok(())
//! })?;
//! assert_eq!(streams[0].clone_dtoh(&data[0])?, [3.0]);
//! # Ok(())
//! # }
//! ```
//!
//! A rank that is gone, late or calls something else ends the communicator: its streams go on, with
//! results that mean nothing, and [`Comm::status`] and later calls fail with `ERROR_IO` and a text
//! that names the ranks. Errors of operations, beside those of sizes: `ERROR_CONTEXT_MISMATCH` for
//! a stream of another context than the rank's; `ERROR_CONTEXT_LOST` after a reset;
//! `ERROR_NOT_PERMITTED` when an output lies in a file mapped read-only; and the sticky error of
//! the context.

use std::fmt;
use std::ptr::{null, null_mut};

use crate::blas::{Bf16, F16, fits, offset_of};
use crate::error::{array_text, check};
use crate::view::Place;
use crate::{Context, DeviceSlice, DeviceSliceMut, Error, Pod, Result, Status, Stream, sys};

mod sealed {
    pub trait Sealed {}
}

/// Elements that ranks exchange: integers of 8, 32 and 64 bits, `f32`, `f64`, [`F16`], [`Bf16`],
/// [`F8E4m3`] and [`F8E5m2`].
pub trait CommElement: Pod + sealed::Sealed {
    #[doc(hidden)]
    const TYPE: sys::km_element_type;
}

/// A number of 8 bits with 3 bits of mantissa (OCP e4m3), by its bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct F8E4m3(pub u8);

/// A number of 8 bits with 2 bits of mantissa (OCP e5m2), by its bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct F8E5m2(pub u8);

// SAFETY: a number has no padding, and all patterns are values.
unsafe impl Pod for F8E4m3 {}
// SAFETY: the same.
unsafe impl Pod for F8E5m2 {}

macro_rules! elements {
    ($($element:ty, $type:ident;)*) => {
        $(
            impl sealed::Sealed for $element {}
            impl CommElement for $element {
                const TYPE: sys::km_element_type = sys::km_element_type::$type;
            }
        )*
    };
}
elements! {
    i8, I8;
    u8, U8;
    i32, I32;
    u32, U32;
    i64, I64;
    u64, U64;
    F16, F16;
    Bf16, BF16;
    f32, F32;
    f64, F64;
    F8E4m3, F8_E4M3;
    F8E5m2, F8_E5M2;
}

/// Reductions combine elements of ranks, rank by rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reduction<T> {
    /// Their sum; integers wrap around.
    Sum,
    /// Their product; integers wrap around.
    Product,
    /// The largest; a number wins against NaN.
    Max,
    /// The smallest; a number wins against NaN.
    Min,
    /// Their sum divided by the number of ranks; those of integers are cut off.
    Average,
    /// Their sum, after each rank's elements were multiplied by the factor that it gives.
    ScaledSum(T),
}

impl<T> Reduction<T> {
    fn raw(&self) -> (sys::km_comm_reduction, *const std::ffi::c_void) {
        use sys::km_comm_reduction as kind;
        match self {
            Self::Sum => (kind::SUM, null()),
            Self::Product => (kind::PRODUCT, null()),
            Self::Max => (kind::MAX, null()),
            Self::Min => (kind::MIN, null()),
            Self::Average => (kind::AVERAGE, null()),
            Self::ScaledSum(scale) => (kind::SCALED_SUM, std::ptr::from_ref(scale).cast()),
        }
    }
}

/// Engines carry out the operations of a communicator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Engine {
    /// All ranks are in this process.
    Threads,
    /// The ranks are processes of this machine.
    SharedMemory,
    /// The ranks have NVIDIA GPUs: NCCL.
    Nccl,
    /// The ranks are processes that MPI has started, also on several machines.
    Mpi,
    /// One that this version does not know.
    Unknown,
}

/// A name by which the ranks of one communicator find each other: the bytes that one rank passes to
/// the others.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct CommId(pub [u8; 128]);

impl fmt::Debug for CommId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CommId(..)")
    }
}

impl CommId {
    /// A new name, for devices like the context's. This process has to run until all ranks have
    /// joined. Fails with `ERROR_NOT_SUPPORTED` when the backend has no communicators.
    /// C: [`km_comm_id_create`](sys::km_comm_id_create).
    pub fn new(context: &Context) -> Result<Self> {
        let mut id = sys::km_comm_id { bytes: [0; 128] };
        // SAFETY: the handle is a checked id, and the place for the result lives.
        check(unsafe { sys::km_comm_id_create(context.as_raw(), &mut id) })?;
        Ok(Self(id.bytes))
    }
}

/// A rank of a communicator. Dropping it does not wait: queued operations run to their end, and the
/// rank leaves after them.
#[derive(Debug)]
pub struct Comm {
    raw: sys::km_comm,
    rank: u32,
    rank_count: u32,
    engine: Engine,
    reason: String,
}

// SAFETY: base.h says "Threads: any" of every km_comm_... function: any number of threads may call
// them at once, also on the same object.
unsafe impl Send for Comm {}
// SAFETY: the same.
unsafe impl Sync for Comm {}

/// Ends a group without operations, unless it has ended: a call that fails drops all of them.
struct OpenGroup;

impl Drop for OpenGroup {
    fn drop(&mut self) {
        let none = sys::km_element_type::UNKNOWN;
        // SAFETY: null handles are refused, and so the array is not read.
        unsafe {
            sys::km_comm_send(null_mut(), null_mut(), null(), 0, none, 0);
            sys::km_comm_group_end();
        }
    }
}

/// Calls `body`, whose operations go on together once it returns: messages that ranks exchange, and
/// operations of several ranks on one thread, need that. If it fails or panics, nothing is queued.
/// C: [`km_comm_group_begin`](sys::km_comm_group_begin),
/// [`km_comm_group_end`](sys::km_comm_group_end).
pub fn group<R>(body: impl FnOnce() -> Result<R>) -> Result<R> {
    // SAFETY: the call has no conditions.
    check(unsafe { sys::km_comm_group_begin() })?;
    let open = OpenGroup;
    let result = body()?;
    std::mem::forget(open);
    // SAFETY: the call has no conditions.
    check(unsafe { sys::km_comm_group_end() })?;
    Ok(result)
}

impl Comm {
    /// Joins as rank `rank` of `rank_count`, and waits for the others. Fails with `ERROR_IO` when
    /// one does not come within `KM_COMM_TIMEOUT_S`, and `ERROR_INVALID_ARGUMENT` when there is
    /// no such rank.
    /// C: [`km_comm_create`](sys::km_comm_create).
    pub fn new(context: &Context, id: &CommId, rank_count: u32, rank: u32) -> Result<Self> {
        let (id, mut raw) = (sys::km_comm_id { bytes: id.0 }, null_mut());
        // SAFETY: the handle is a checked id, and the parameters live through the call.
        check(unsafe { sys::km_comm_create(context.as_raw(), &id, rank_count, rank, &mut raw) })?;
        Self::owning(raw)
    }

    /// All ranks of a communicator in this process; rank i has the device of `contexts[i]`.
    /// C: [`km_comm_create_all`](sys::km_comm_create_all).
    pub fn all(contexts: &[Context]) -> Result<Vec<Self>> {
        let handles: Vec<_> = contexts.iter().map(Context::as_raw).collect();
        let mut made = vec![null_mut(); handles.len()];
        // SAFETY: handles are checked ids, and both arrays have as many elements.
        check(unsafe {
            sys::km_comm_create_all(handles.as_ptr(), handles.len() as u64, made.as_mut_ptr())
        })?;
        // All handles get their owners before the first failure drops them.
        let owners: Vec<Result<Self>> = made.into_iter().map(Self::owning).collect();
        owners.into_iter().collect()
    }

    /// The communicator of the ranks that give the same color, in the order of their keys; `None`
    /// for a negative color. All ranks call it, and it waits for them.
    /// C: [`km_comm_split`](sys::km_comm_split).
    pub fn split(&self, color: i32, key: i32) -> Result<Option<Self>> {
        let mut raw = null_mut();
        // SAFETY: the handle is this object's own, and the place for the result lives.
        check(unsafe { sys::km_comm_split(self.raw, color, key, &mut raw) })?;
        if raw.is_null() { Ok(None) } else { Self::owning(raw).map(Some) }
    }

    fn owning(raw: sys::km_comm) -> Result<Self> {
        let mut made =
            Self { raw, rank: 0, rank_count: 0, engine: Engine::Unknown, reason: String::new() };
        let size = u32::try_from(size_of::<sys::km_comm_info>()).unwrap_or(0);
        let mut info = sys::km_comm_info { struct_size: size, ..Default::default() };
        // SAFETY: the handle is this object's own, and the place for the result has its size.
        check(unsafe { sys::km_comm_info_get(raw, &mut info) })?;
        (made.rank, made.rank_count) = (info.rank, info.rank_count);
        made.engine = match info.engine {
            sys::km_comm_engine::THREADS => Engine::Threads,
            sys::km_comm_engine::SHARED_MEMORY => Engine::SharedMemory,
            sys::km_comm_engine::NCCL => Engine::Nccl,
            sys::km_comm_engine::MPI => Engine::Mpi,
            _ => Engine::Unknown,
        };
        made.reason = array_text(&info.reason);
        Ok(made)
    }

    /// The handle, for calls of [`sys`]; it stays this object's.
    pub fn as_raw(&self) -> sys::km_comm {
        self.raw
    }

    /// The rank's number, from 0.
    /// C: [`km_comm_info_get`](sys::km_comm_info_get).
    pub fn rank(&self) -> u32 {
        self.rank
    }

    /// The number of ranks.
    pub fn rank_count(&self) -> u32 {
        self.rank_count
    }

    /// The engine that carries out the operations.
    pub fn engine(&self) -> Engine {
        self.engine
    }

    /// Why it is this engine.
    pub fn reason(&self) -> &str {
        &self.reason
    }

    /// Fails with `ERROR_IO`, and the reason, if the communicator has failed.
    /// C: [`km_comm_status`](sys::km_comm_status).
    pub fn status(&self) -> Result<()> {
        // SAFETY: the handle is this object's own.
        check(unsafe { sys::km_comm_status(self.raw) })
    }

    /// Ends the operations of all ranks, which fail.
    /// C: [`km_comm_abort`](sys::km_comm_abort).
    pub fn abort(&self) -> Result<()> {
        // SAFETY: the handle is this object's own.
        check(unsafe { sys::km_comm_abort(self.raw) })
    }

    /// The elements of a block of which an array has one for each rank.
    fn block_of(&self, what: &str, len: usize) -> Result<usize> {
        let ranks = self.rank_count as usize;
        if len % ranks == 0 {
            return Ok(len / ranks);
        }
        let message = format!("{what} has {len} elements, which are no blocks of {ranks} ranks");
        Err(Error::new(Status::ERROR_INVALID_ARGUMENT, message))
    }

    fn blocks(&self, block: usize) -> Option<usize> {
        block.checked_mul(self.rank_count as usize)
    }

    fn is(&self, root: u32) -> bool {
        self.rank == root
    }
}

/// An array of a call, after a check that it has as many elements as the call needs.
fn array<T: Pod>(what: &str, needed: Option<usize>, place: Place) -> Result<sys::km_array> {
    fits(|| format!("`{what}` of the operation"), needed, place.len)?;
    let slice = place.slice.addr() as u64;
    Ok(sys::km_array { slice, address: 0, offset: offset_of::<T>(place)?, stride: 0 })
}

/// One call of the C ABI on a communicator.
macro_rules! call {
    ($comm:expr, $stream:expr, $function:ident($($argument:expr),* $(,)?)) => {
        // SAFETY: handles are checked ids; arrays are checked against their memory; a factor is of
        // the type that is given, and lives through the call.
        check(unsafe { sys::$function($comm.raw, $stream.as_raw(), $($argument),*) })
    };
}

/// The operations. A block has as many elements as `send`, or as `receive` where `send` has a block
/// for each rank.
impl Comm {
    /// Puts the reduction of all ranks' `send` into `receive`, on all ranks.
    /// C: [`km_comm_all_reduce`](sys::km_comm_all_reduce).
    pub fn all_reduce<T: CommElement>(
        &self,
        stream: &Stream,
        send: &impl DeviceSlice<T>,
        receive: &mut impl DeviceSliceMut<T>,
        reduction: Reduction<T>,
    ) -> Result<()> {
        self.all_reduce_places(stream, send.place(), receive.place(), &reduction)
    }

    /// Replaces an array by the reduction of all ranks' arrays.
    /// C: [`km_comm_all_reduce`](sys::km_comm_all_reduce).
    pub fn all_reduce_in_place<T: CommElement>(
        &self,
        stream: &Stream,
        data: &mut impl DeviceSliceMut<T>,
        reduction: Reduction<T>,
    ) -> Result<()> {
        self.all_reduce_places(stream, data.place(), data.place(), &reduction)
    }

    fn all_reduce_places<T: CommElement>(
        &self,
        stream: &Stream,
        send: Place,
        receive: Place,
        reduction: &Reduction<T>,
    ) -> Result<()> {
        let from = array::<T>("send", Some(send.len), send)?;
        let to = array::<T>("receive", Some(send.len), receive)?;
        let (kind, scale) = reduction.raw();
        let count = send.len as u64;
        call!(self, stream, km_comm_all_reduce(&from, &to, count, T::TYPE, kind, scale))
    }

    /// Puts the reduction of all ranks' `send` into `receive` of rank `root`.
    /// C: [`km_comm_reduce`](sys::km_comm_reduce).
    pub fn reduce<T: CommElement>(
        &self,
        stream: &Stream,
        send: &impl DeviceSlice<T>,
        receive: &mut impl DeviceSliceMut<T>,
        reduction: Reduction<T>,
        root: u32,
    ) -> Result<()> {
        let count = send.len();
        let needed = if self.is(root) { count } else { 0 };
        let from = array::<T>("send", Some(count), send.place())?;
        let to = array::<T>("receive", Some(needed), receive.place())?;
        let (kind, scale) = reduction.raw();
        call!(self, stream, km_comm_reduce(&from, &to, count as u64, T::TYPE, kind, scale, root))
    }

    /// Puts the rank's block of the reduction of all ranks' `send` into `receive`.
    /// C: [`km_comm_reduce_scatter`](sys::km_comm_reduce_scatter).
    pub fn reduce_scatter<T: CommElement>(
        &self,
        stream: &Stream,
        send: &impl DeviceSlice<T>,
        receive: &mut impl DeviceSliceMut<T>,
        reduction: Reduction<T>,
    ) -> Result<()> {
        let count = receive.len();
        let from = array::<T>("send", self.blocks(count), send.place())?;
        let to = array::<T>("receive", Some(count), receive.place())?;
        let (kind, scale) = reduction.raw();
        call!(self, stream, km_comm_reduce_scatter(&from, &to, count as u64, T::TYPE, kind, scale))
    }

    /// Puts `send` of rank `root` into `receive`, on all ranks.
    /// C: [`km_comm_broadcast`](sys::km_comm_broadcast).
    pub fn broadcast<T: CommElement>(
        &self,
        stream: &Stream,
        send: &impl DeviceSlice<T>,
        receive: &mut impl DeviceSliceMut<T>,
        root: u32,
    ) -> Result<()> {
        self.broadcast_places::<T>(stream, send.place(), receive.place(), root)
    }

    /// Replaces an array by that of rank `root`.
    /// C: [`km_comm_broadcast`](sys::km_comm_broadcast).
    pub fn broadcast_in_place<T: CommElement>(
        &self,
        stream: &Stream,
        data: &mut impl DeviceSliceMut<T>,
        root: u32,
    ) -> Result<()> {
        self.broadcast_places::<T>(stream, data.place(), data.place(), root)
    }

    fn broadcast_places<T: CommElement>(
        &self,
        stream: &Stream,
        send: Place,
        receive: Place,
        root: u32,
    ) -> Result<()> {
        let count = receive.len;
        let needed = if self.is(root) { count } else { 0 };
        let from = array::<T>("send", Some(needed), send)?;
        let to = array::<T>("receive", Some(count), receive)?;
        call!(self, stream, km_comm_broadcast(&from, &to, count as u64, T::TYPE, root))
    }

    /// Puts the blocks `send` of all ranks into `receive`, on all ranks.
    /// C: [`km_comm_all_gather`](sys::km_comm_all_gather).
    pub fn all_gather<T: CommElement>(
        &self,
        stream: &Stream,
        send: &impl DeviceSlice<T>,
        receive: &mut impl DeviceSliceMut<T>,
    ) -> Result<()> {
        let count = send.len();
        let from = array::<T>("send", Some(count), send.place())?;
        let to = array::<T>("receive", self.blocks(count), receive.place())?;
        call!(self, stream, km_comm_all_gather(&from, &to, count as u64, T::TYPE))
    }

    /// Fills an array with a block of each rank, of which it has the rank's own one.
    /// C: [`km_comm_all_gather`](sys::km_comm_all_gather).
    pub fn all_gather_in_place<T: CommElement>(
        &self,
        stream: &Stream,
        data: &mut impl DeviceSliceMut<T>,
    ) -> Result<()> {
        let count = self.block_of("the array", data.len())? as u64;
        let to = array::<T>("receive", Some(data.len()), data.place())?;
        let own = u64::from(self.rank) * count;
        let from = sys::km_array { offset: to.offset + own, ..to };
        call!(self, stream, km_comm_all_gather(&from, &to, count, T::TYPE))
    }

    /// Puts block j of `send` of rank i into block i of `receive` of rank j.
    /// C: [`km_comm_all_to_all`](sys::km_comm_all_to_all).
    pub fn all_to_all<T: CommElement>(
        &self,
        stream: &Stream,
        send: &impl DeviceSlice<T>,
        receive: &mut impl DeviceSliceMut<T>,
    ) -> Result<()> {
        let count = self.block_of("`send` of the operation", send.len())?;
        let from = array::<T>("send", Some(send.len()), send.place())?;
        let to = array::<T>("receive", Some(send.len()), receive.place())?;
        call!(self, stream, km_comm_all_to_all(&from, &to, count as u64, T::TYPE))
    }

    /// Puts the blocks `send` of all ranks into `receive` of rank `root`.
    /// C: [`km_comm_gather`](sys::km_comm_gather).
    pub fn gather<T: CommElement>(
        &self,
        stream: &Stream,
        send: &impl DeviceSlice<T>,
        receive: &mut impl DeviceSliceMut<T>,
        root: u32,
    ) -> Result<()> {
        let count = send.len();
        let needed = if self.is(root) { self.blocks(count) } else { Some(0) };
        let from = array::<T>("send", Some(count), send.place())?;
        let to = array::<T>("receive", needed, receive.place())?;
        call!(self, stream, km_comm_gather(&from, &to, count as u64, T::TYPE, root))
    }

    /// Puts the rank's block of `send` of rank `root` into `receive`.
    /// C: [`km_comm_scatter`](sys::km_comm_scatter).
    pub fn scatter<T: CommElement>(
        &self,
        stream: &Stream,
        send: &impl DeviceSlice<T>,
        receive: &mut impl DeviceSliceMut<T>,
        root: u32,
    ) -> Result<()> {
        let count = receive.len();
        let needed = if self.is(root) { self.blocks(count) } else { Some(0) };
        let from = array::<T>("send", needed, send.place())?;
        let to = array::<T>("receive", Some(count), receive.place())?;
        call!(self, stream, km_comm_scatter(&from, &to, count as u64, T::TYPE, root))
    }

    /// Sends a message to rank `peer`, which receives as many elements.
    /// C: [`km_comm_send`](sys::km_comm_send).
    pub fn send<T: CommElement>(
        &self,
        stream: &Stream,
        data: &impl DeviceSlice<T>,
        peer: u32,
    ) -> Result<()> {
        let from = array::<T>("data", Some(data.len()), data.place())?;
        call!(self, stream, km_comm_send(&from, data.len() as u64, T::TYPE, peer))
    }

    /// Receives a message of rank `peer`.
    /// C: [`km_comm_receive`](sys::km_comm_receive).
    pub fn receive<T: CommElement>(
        &self,
        stream: &Stream,
        data: &mut impl DeviceSliceMut<T>,
        peer: u32,
    ) -> Result<()> {
        let to = array::<T>("data", Some(data.len()), data.place())?;
        call!(self, stream, km_comm_receive(&to, data.len() as u64, T::TYPE, peer))
    }
}

impl Drop for Comm {
    fn drop(&mut self) {
        // SAFETY: the handle is this object's own, and destroying it twice is no danger.
        unsafe { sys::km_comm_destroy(self.raw) };
    }
}
