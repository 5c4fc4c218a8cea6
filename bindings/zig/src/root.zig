//! Kernelmill: runs CUDA-style kernels on NVIDIA GPUs and on any CPU.
//!
//! ```zig
//! const km = @import("kernelmill");
//! var diagnostics: km.Diagnostics = .{};
//! errdefer std.log.err("{s}", .{diagnostics.message()});
//! const context = try km.Context.open("auto", &diagnostics);
//! defer context.deinit();
//! ```
//!
//! Each object owns one handle: give it to `deinit` once, in any order. Handles are checked ids:
//! one that was destroyed, or a copy of it, gives error.InvalidHandle and has no effect. Units,
//! blocking and statuses stand in c_api.h under the function's name, which each method gives; all
//! of them may be called from any number of threads at once, but see `Diagnostics`, and a `Launch`
//! is for one thread at a time. Functions that give lists or texts take the allocator that they are
//! freed with.
//!
//! Work on different streams runs side by side, except that each use of a slice waits for the
//! earlier uses on other streams that it conflicts with: docs/guide/ordering.md has the rules.
//!
//! `cuda_native` and the namespaces beside it have the names of a Zig GPU driver, on any device.
const address = @import("address.zig");
const backend = @import("backend.zig");
const blas_file = @import("blas/blas.zig");
const blas_sparse = @import("blas/sparse.zig");
const blas_types = @import("blas/types.zig");
const capture = @import("capture.zig");
const check = @import("check.zig");
const comm = @import("comm.zig");
const context_file = @import("context.zig");
const device = @import("device.zig");
const device_type = @import("device_type.zig");
const embed = @import("embed.zig");
const error_history = @import("error_history.zig");
const errors = @import("errors.zig");
const fft = @import("fft.zig");
const function = @import("function.zig");
const graph = @import("graph.zig");
const graph_exec = @import("graph_exec.zig");
const graph_read = @import("graph_read.zig");
const graph_rows = @import("graph_rows.zig");
const launch = @import("launch.zig");
const level1 = @import("blas/level1.zig");
const library = @import("library.zig");
const memory = @import("memory.zig");
const memory_profile = @import("memory_profile.zig");
const module = @import("module.zig");
const occupancy = @import("occupancy.zig");
const output = @import("output.zig");
const pinned = @import("pinned.zig");
const pool = @import("pool.zig");
const profiler = @import("profiler.zig");
const program = @import("program.zig");
const rows = @import("rows.zig");
const stream = @import("stream.zig");
const tracking = @import("tracking.zig");
const tune = @import("tune.zig");
const value = @import("value.zig");
const wait = @import("wait.zig");

pub const Allocation = tracking.Allocation;
pub const AllocationKind = tracking.AllocationKind;
pub const Array = fft.Array;
pub const AutoCandidate = backend.AutoCandidate;
pub const AutoOutcome = backend.AutoOutcome;
pub const Backend = backend.Backend;
pub const BestBlock = occupancy.BestBlock;
pub const Bf16 = blas_types.Bf16;
pub const Blas = blas_file.Blas;
pub const BlasDiagonal = blas_file.Diagonal;
pub const BlasLayout = blas_file.Layout;
pub const BlasOperation = blas_file.Operation;
pub const BlasSide = blas_file.Side;
pub const BlasTriangle = blas_file.Triangle;
pub const BuildInfo = library.BuildInfo;
pub const CaptureStatus = capture.CaptureStatus;
pub const Category = errors.Category;
pub const Check = check.Check;
pub const Comm = comm.Comm;
pub const CommEngine = comm.CommEngine;
pub const CommGroup = comm.CommGroup;
pub const CommId = comm.CommId;
pub const CommInfo = comm.CommInfo;
pub const CommReduction = comm.CommReduction;
pub const Complex = blas_types.Complex;
pub const Context = context_file.Context;
pub const ContextLimit = context_file.ContextLimit;
pub const Device = device.Device;
pub const DeviceAddress = address.DeviceAddress;
pub const DeviceAttribute = device.DeviceAttribute;
pub const DeviceAttributeInfo = device.DeviceAttributeInfo;
pub const DeviceInfo = device.DeviceInfo;
pub const DeviceType = device_type.DeviceType;
pub const Diagnostics = errors.Diagnostics;
pub const EnvironmentError = errors.EnvironmentError;
pub const ElementType = device_type.ElementType;
pub const Error = errors.Error;
pub const ErrorCount = error_history.ErrorCount;
pub const ErrorRecord = error_history.ErrorRecord;
pub const Event = stream.Event;
pub const ExecutionMode = function.ExecutionMode;
pub const F8E4m3 = comm.F8E4m3;
pub const F8E5m2 = comm.F8E5m2;
pub const Fft = fft.Fft;
pub const FftLayout = fft.FftLayout;
pub const FftShape = fft.FftShape;
pub const FillShape = graph_rows.FillShape;
pub const Finding = check.Finding;
pub const Function = function.Function;
pub const FunctionAttribute = function.FunctionAttribute;
pub const Graph = graph.Graph;
pub const GraphDifference = graph_exec.GraphDifference;
pub const GraphExec = graph_exec.GraphExec;
pub const HostMemory = pinned.HostMemory;
pub const Kernel = embed.Kernel;
pub const KernelFault = errors.KernelFault;
pub const Launch = launch.Launch;
pub const LaunchConfig = launch.Config;
pub const MapMode = memory.MapMode;
pub const MappedFile = pinned.MappedFile;
pub const Matrix = blas_types.Matrix;
pub const MemoryProfile = memory_profile.MemoryProfile;
pub const MemorySample = memory_profile.MemorySample;
pub const Module = module.Module;
pub const Node = graph.Node;
pub const NodeInfo = graph_read.NodeInfo;
pub const NodeKind = graph_read.NodeKind;
pub const Occupancy = occupancy.Occupancy;
pub const OccupancyLimit = occupancy.OccupancyLimit;
pub const OutputSink = output.OutputSink;
pub const Param = function.Param;
pub const ParamKind = function.ParamKind;
pub const ParamSignature = function.ParamSignature;
pub const ParamType = function.ParamType;
pub const Part = launch.Part;
pub const Pitched = rows.Pitched;
pub const Pool = pool.Pool;
pub const PoolInfo = pool.PoolInfo;
pub const CounterKind = profiler.CounterKind;
pub const ProfileCounter = profiler.ProfileCounter;
pub const ProfileKind = profiler.ProfileKind;
pub const ProfileRow = profiler.ProfileRow;
pub const Profiler = profiler.Profiler;
pub const Program = program.Program;
pub const ProgramError = errors.ProgramError;
pub const ReadOnly = launch.ReadOnly;
pub const ResourceError = errors.ResourceError;
pub const RowCopy = rows.RowCopy;
pub const SignatureKind = function.SignatureKind;
pub const Slice = memory.Slice;
pub const SliceInfo = memory.SliceInfo;
pub const SparseFormat = blas_sparse.SparseFormat;
pub const SparseMatrix = blas_sparse.SparseMatrix;
pub const Status = errors.Status;
pub const Stream = stream.Stream;
pub const Tracking = tracking.Tracking;
pub const Tune = tune.Tune;
pub const TuneCheck = tune.TuneCheck;
pub const TuneResult = tune.TuneResult;
pub const UsageError = errors.UsageError;
pub const Vector = blas_types.Vector;
pub const View = memory.View;
pub const WaitCondition = value.WaitCondition;
pub const WaitError = wait.WaitError;
pub const autoCandidates = backend.autoCandidates;
pub const backends = backend.backends;
pub const buildInfo = library.buildInfo;
pub const cudaResultName = errors.cudaResultName;
pub const deviceAttributes = device.deviceAttributes;
pub const embedKernels = embed.embedKernels;
pub const lastStatus = errors.lastStatus;
pub const part = launch.part;
pub const readOnly = launch.readOnly;
pub const rotg = level1.rotg;
pub const rotmg = level1.rotmg;
pub const setAllocator = library.setAllocator;
pub const takeLastStatus = errors.takeLastStatus;
pub const text = errors.arrayText;
pub const version = library.version;

// The names of a Zig GPU driver.
pub const cuda_device_query = @import("cuda_device_query");
pub const cuda_memory = @import("cuda_memory");
pub const cuda_native = @import("cuda_native");
pub const cuda_nvrtc = @import("cuda_nvrtc");
pub const cuda_stream = @import("cuda_stream");
pub const error_handling = @import("error_handling");
pub const profiling = @import("profiling");
pub const compileKernel = cuda_native.compileKernel;
pub const destroyKernel = cuda_native.destroyKernel;

test {
    @import("std").testing.refAllDecls(@This());
}
