//! Kernelmill runs CUDA-style kernels, written in CUDA C++ or PTX, on NVIDIA GPUs and on any CPU:
//! the same kernels with the same results on a machine with a GPU and without.
//!
//! ```
//! use kernelmill::{Context, LaunchConfig};
//!
//! # fn main() -> kernelmill::Result<()> {
//! let context = Context::open("auto")?; // a GPU where there is one, else the CPU
//! let stream = context.default_stream()?;
//! let module = context.load_source(
//!     "extern \"C\" __global__ void saxpy(const float* x, float* y, float a, int n) {
//!        int i = blockIdx.x * blockDim.x + threadIdx.x;
//!        if (i < n) y[i] += a * x[i];
//!      }",
//! )?;
//! let saxpy = module.load_function("saxpy")?;
//! let x = stream.clone_htod(&[1.0f32; 1000])?;
//! let mut y = stream.alloc_zeros::<f32>(1000)?;
//! let mut launch = stream.launch_builder(&saxpy);
//! launch.arg(&x).arg(&mut y).arg(&2.0f32).arg(&1000i32);
//! // SAFETY: saxpy() touches the first 1000 elements of x and y only.
//! unsafe { launch.launch(LaunchConfig::for_num_elems(1000)) }?;
//! assert_eq!(stream.clone_dtoh(&y)?, [2.0; 1000]);
//! # Ok(())
//! # }
//! ```
//!
//! # What it needs
//!
//! The library `libkernelmill.so.1`, which is loaded at the first call: from the folder that
//! `KM_LIBRARY_DIR` names, from the program's own folder or `../lib` beside it, from where the build
//! found it, or from where the system's loader looks. Without it the call is an error that lists
//! these places. CUDA C++ needs NVIDIA's NVRTC as well, by `KM_NVRTC` or from the loader; PTX does
//! not. With `default-features = false` and the feature `dynamic-linking` the linker binds the
//! library.
//!
//! # What there is
//!
//! | for | see |
//! |---|---|
//! | devices | [`Device`], [`backends`], [`device_attributes`], [`auto_candidates`] |
//! | a device, opened | [`Context`], [`ContextLimit`] |
//! | memory of the device | [`Slice`], [`View`], [`ViewMut`], [`PitchedSlice`], [`Pool`] |
//! | memory of the host | [`PinnedMemory`], [`MappedMemory`], [`set_allocator`] |
//! | queues of work and marks in them | [`Stream`], [`Event`], [`Finished`] |
//! | compiling | [`Program`], [`compile_ptx`], [`Module`], [`Tuner`] |
//! | running kernels | [`Function`], [`LaunchBuilder`], [`PreparedLaunch`], [`Occupancy`] |
//! | work that is repeated | [`Graph`], [`GraphExec`], [`Capture`], [`GraphBuffer`] |
//! | linear algebra | [`blas`] |
//! | what went on | [`Profiler`], [`Tracking`], [`MemoryProfile`], [`ErrorRecord`], [`Check`] |
//!
//! # In cudarc's idiom
//!
//! Programs that are written for the crate cudarc run with `use kernelmill as cudarc;`: [`driver`],
//! [`nvrtc`] and [`cublas`] have its names. [Coming from cudarc](coming_from_cudarc) says what is the
//! same, what differs, and what is not there.
//!
//! ```
//! use kernelmill as cudarc;
//!
//! use cudarc::driver::{CudaContext, LaunchConfig, PushKernelArg};
//! use cudarc::nvrtc::compile_ptx;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let ctx = CudaContext::new(0)?;
//! let stream = ctx.default_stream();
//! let ptx = compile_ptx("extern \"C\" __global__ void one(float* y) { y[threadIdx.x] = 1.0f; }")?;
//! let one = ctx.load_module(ptx)?.load_function("one")?;
//! let mut y = stream.alloc_zeros::<f32>(1024)?;
//! // SAFETY: the kernel writes the 1024 elements of y.
//! unsafe { stream.launch_builder(&one).arg(&mut y).launch(LaunchConfig::for_num_elems(1024)) }?;
//! assert_eq!(stream.clone_dtoh(&y)?, [1.0; 1024]);
//! # Ok(())
//! # }
//! ```
//!
//! # What holds for all of it
//!
//! - Calls give a [`Result`]; an [`Error`] keeps the status, the text, the category, a suggestion
//!   and the backend's own code. Nothing panics, but for the calls of [`driver`] that say so.
//! - Dropping an object gives its handle back, in any order, and never waits: what is queued goes
//!   on and keeps what it uses.
//! - All objects are `Send` and `Sync`: the C header grants every call to any number of threads at
//!   once. A [`LaunchBuilder`] is used through `&mut`.
//! - Host memory that is borrowed for a copy has been read or written when the call returns; a copy
//!   that goes on owns its [`PinnedMemory`] as [`Pending`].
//! - A kernel that fails puts its context into a sticky error: calls that allocate, enqueue or wait
//!   return it until [`Context::reset`].
//! - Launches of kernels ([`LaunchBuilder::launch`], [`PreparedLaunch::submit`],
//!   [`KernelNode::add`], [`Tuner::run`]) are unsafe, because kernels are; so are copies by raw
//!   address, machine code from object files, bytes of mapped files and captures of streams that
//!   others use. All else is safe.
//! - Memory of the host that a [`Graph`] uses later is a [`GraphBuffer`], which belongs to launches
//!   while they run and to the program while it holds a guard; host functions belong to the graph.
//! - Waits have a form for asynchronous programs, on any executor: [`Stream::finished`],
//!   [`Event::wait`], and awaiting a [`Pending`] or what [`LaunchBuilder::launch_async`] and
//!   [`GraphExec::launch_async`] give.
//! - [`sys`] is the C ABI below.
//!
//! # Types of other crates
//!
//! With the feature `half` its `f16` and `bf16` are elements, also of matrix products. With
//! `bytemuck` so is any type that is `Pod` there: `impl_pod!` for those of one's own crate, `Plain`
//! for others. With `ndarray` arrays are copied to slices and back: `Stream::clone_htod_array`,
//! `Stream::clone_dtoh_array`, `Slice::from_array`.
//!
//! # What is ordered
//!
//! Work on one stream runs in order. Work on different streams runs side by side, except that each
//! use of a slice waits for the earlier uses on other streams that it conflicts with, because one
//! of them writes and they share an element: copies, fills, and launches, which read what they are
//! given by `&` and write what they are given by `&mut`. So safe calls do not race on the device:
//!
//! ```
//! # fn main() -> kernelmill::Result<()> {
//! # let context = kernelmill::Context::open("cpu")?;
//! let (one, other) = (context.new_stream()?, context.new_stream()?);
//! let mut data = one.alloc_zeros::<u32>(1 << 20)?;
//! one.fill(&mut data, 7)?;
//! assert_eq!(other.clone_dtoh(&data)?[1 << 19], 7); // no event between them
//! # Ok(())
//! # }
//! ```
//!
//! The page `docs/guide/ordering.md` of Kernelmill has the rules, and the cost: a comparison for each use
//! where all are on one stream.
#![deny(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::undocumented_unsafe_blocks,
    clippy::unreachable,
    clippy::unwrap_used
)]

mod address;
mod advice;
mod allocator;
mod arguments;
mod attributes;
pub mod blas;
mod build_info;
mod check;
pub mod coming_from_cudarc;
pub mod comm;
mod context;
mod copy;
pub mod cublas;
mod cuda;
mod device;
pub mod driver;
mod error;
mod error_history;
mod event;
mod features;
pub mod fft;
mod file;
mod future;
mod graph;
mod handle;
mod launch;
mod layout;
mod limits;
mod list;
mod memory;
mod memory_profile;
mod module;
pub mod nvrtc;
mod object;
mod occupancy;
mod parts;
mod peer;
mod pinned;
mod pitched;
mod pool;
mod prepared;
mod profiler;
mod program;
mod rows;
mod signature;
mod status_texts;
mod stream;
#[cfg(test)]
mod tests;
mod tracking;
mod tuner;
pub mod types;
mod value;
mod view;

pub use kernelmill_sys as sys;

#[cfg(feature = "bytemuck")]
#[doc(hidden)]
pub use ::bytemuck;

pub use allocator::{HostAllocator, reset_allocator, set_allocator};
pub use attributes::{
    AutoCandidate, AutoOutcome, DeviceAttributeInfo, auto_candidates, device_attributes,
};
pub use blas::Blas;
pub use build_info::{BuildInfo, build_info};
pub use check::{Check, Finding, FindingPlace};
pub use context::Context;
pub use copy::Fill;
pub use cuda::{cuda_result_name, status_from_cuda, status_to_cuda};
pub use device::{BackendInfo, Device, DeviceAttribute, DeviceInfo, backends, version};
pub use error::{Category, Error, Result, Status};
pub use error_history::{ErrorCount, ErrorRecord, last_error, take_last_error};
pub use event::Event;
#[cfg(feature = "bytemuck")]
pub use features::bytemuck::Plain;
pub use file::{MapFlags, MappedMemory};
pub use future::{Finished, PendingFuture};
pub use graph::{
    Capture, CaptureEvent, CaptureStatus, Graph, GraphBuffer, GraphBufferGuard, GraphDifference,
    GraphExec, KernelNode, Node, NodeInfo, NodeKind, NodeRows,
};
pub use launch::{Argument, LaunchBuilder, LaunchConfig};
pub use limits::ContextLimit;
pub use memory::{Pod, Slice};
pub use memory_profile::{MemoryProfile, MemorySample};
pub use module::{Function, FunctionAttribute, Module, Param, ParamKind, ParamType};
pub use occupancy::{BestBlock, Occupancy, OccupancyLimit};
pub use pinned::{Pending, PinnedMemory};
pub use pitched::PitchedSlice;
pub use pool::{Pool, PoolInfo};
pub use prepared::PreparedLaunch;
pub use profiler::{CounterKind, ProfileCounter, ProfileKind, ProfileRange, ProfileRow, Profiler};
pub use program::{Program, compile_ptx};
pub use rows::{Extent, Rows};
pub use signature::{DeviceType, ElementType, ParamSignature, SignatureKind};
pub use stream::Stream;
pub use tracking::{Allocation, AllocationKind, Tracking};
pub use tuner::{TuneBufferFlags, TuneCheck, TuneResult, Tuner};
pub use value::{StreamValue, WaitCondition};
pub use view::{DeviceSlice, DeviceSliceMut, View, ViewMut};
