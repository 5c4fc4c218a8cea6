//! The CUDA driver in cudarc's idiom: `Arc`-counted contexts and streams, slices, views, launches.
//!
#![doc = include_str!("mod.md")]

mod context;
mod context_config;
mod copy;
mod error;
mod event;
mod function;
mod graph;
mod host;
mod launch;
mod memory;
mod module;
mod other_names;
mod pinned;
mod pointer;
mod profile;
mod properties;
mod repr;
pub mod result;
mod slice;
mod stream;
pub mod sys;
mod unified;
mod view;

/// All safe names again, under the name that cudarc gives their module.
pub mod safe {
    pub use super::{
        CudaContext, CudaEvent, CudaFunction, CudaGraph, CudaModule, CudaSlice, CudaStream,
        CudaView, CudaViewMut, DeviceProperties, DevicePtr, DevicePtrMut, DeviceRepr, DeviceSlice,
        DriverError, EventArgument, HostSlice, LaunchArgs, LaunchConfig, PinnedBuffer,
        PinnedHostSlice, Profiler, PushKernelArg, SyncOnDrop, UnifiedSlice, UnifiedView,
        UnifiedViewMut, ValidAsZeroBits, profiler_start, profiler_stop,
    };
}

pub use context::CudaContext;
pub use error::DriverError;
pub use event::CudaEvent;
pub use function::CudaFunction;
pub use graph::CudaGraph;
pub use host::HostSlice;
pub use launch::{LaunchArgs, LaunchConfig, PushKernelArg};
pub(crate) use memory::{Destination, Source, place_of};
pub use module::CudaModule;
pub use pinned::{PinnedBuffer, PinnedHostSlice};
pub(crate) use pointer::sealed::Located;
pub use pointer::{DevicePtr, DevicePtrMut, DeviceSlice, SyncOnDrop};
pub use profile::{Profiler, profiler_start, profiler_stop};
pub use properties::DeviceProperties;
pub use repr::{DeviceRepr, ValidAsZeroBits};
pub use slice::CudaSlice;
pub use stream::{CudaStream, EventArgument};
pub use unified::{UnifiedSlice, UnifiedView, UnifiedViewMut};
pub use view::{CudaView, CudaViewMut};
