//! Launches: one call of a kernel, put together argument by argument.

use std::marker::PhantomData;
use std::mem::{ManuallyDrop, size_of};

use crate::arguments::Arguments;
use crate::error::check;
use crate::view::Place;
use crate::view::sealed::HasPlace;
use crate::{
    DeviceSlice, DeviceSliceMut, DeviceType, Function, Pod, PreparedLaunch, Result, Slice, Stream,
    View, ViewMut, sys,
};

/// The shape of a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaunchConfig {
    /// Blocks along x, y, z.
    pub grid_dim: (u32, u32, u32),
    /// Threads of a block along x, y, z.
    pub block_dim: (u32, u32, u32),
    /// Dynamic shared memory per block.
    pub shared_mem_bytes: u64,
}

impl LaunchConfig {
    /// A thread for each of `count` elements, in blocks of 256.
    pub fn for_num_elems(count: u32) -> Self {
        let blocks = count.div_ceil(256).max(1);
        Self { grid_dim: (blocks, 1, 1), block_dim: (256, 1, 1), shared_mem_bytes: 0 }
    }

    #[inline(always)]
    pub(crate) fn native(self) -> sys::km_launch_config {
        let (grid, block) = (self.grid_dim, self.block_dim);
        sys::km_launch_config {
            grid: [grid.0, grid.1, grid.2],
            block: [block.0, block.1, block.2],
            shared_bytes: self.shared_mem_bytes,
        }
    }
}

/// One call of a kernel: [`Stream::launch_builder`], an [`arg`](Self::arg) for each parameter in
/// order, [`launch`](Self::launch).
///
/// ```
/// # fn main() -> kernelmill::Result<()> {
/// # let context = kernelmill::Context::open("cpu")?;
/// use kernelmill::LaunchConfig;
/// let module = context.load_source(
///     "extern \"C\" __global__ void scale(float* data, float factor, int n) {
///        int i = blockIdx.x * blockDim.x + threadIdx.x;
///        if (i < n) data[i] *= factor;
///      }",
/// )?;
/// let scale = module.load_function("scale")?;
/// let stream = context.default_stream()?;
/// let mut data = stream.clone_htod(&[1.0f32, 2.0, 3.0])?;
/// let mut launch = stream.launch_builder(&scale);
/// launch.arg(&mut data).arg(&2.0f32).arg(&3i32);
/// // SAFETY: the kernel stays within its three elements.
/// unsafe { launch.launch(LaunchConfig::for_num_elems(3)) }?;
/// assert_eq!(stream.clone_dtoh(&data)?, [2.0, 4.0, 6.0]);
/// # Ok(())
/// # }
/// ```
///
/// Memory that is written is not given twice:
///
/// ```compile_fail,E0502
/// # fn main() -> kernelmill::Result<()> {
/// # let context = kernelmill::Context::open("cpu")?;
/// # let function = context.load_file("add.cu")?.load_function("add")?;
/// let stream = context.default_stream()?;
/// let mut data = stream.clone_htod(&[1.0f32, 2.0, 3.0])?;
/// let mut launch = stream.launch_builder(&function);
/// launch.arg(&data).arg(&mut data); // error: borrowed twice
/// # Ok(())
/// # }
/// ```
///
/// Values that are no plain data are not given at all, and nothing is launched by accident:
///
/// ```compile_fail,E0277
/// # fn main() -> kernelmill::Result<()> {
/// # let context = kernelmill::Context::open("cpu")?;
/// # let function = context.load_file("add.cu")?.load_function("add")?;
/// let stream = context.default_stream()?;
/// stream.launch_builder(&function).arg(&String::from("text")); // error: a String has pointers
/// # Ok(())
/// # }
/// ```
///
/// ```compile_fail,E0133
/// # fn main() -> kernelmill::Result<()> {
/// # let context = kernelmill::Context::open("cpu")?;
/// # let function = context.load_file("add.cu")?.load_function("add")?;
/// # let config = kernelmill::LaunchConfig::for_num_elems(1);
/// let stream = context.default_stream()?;
/// stream.launch_builder(&function).launch(config)?; // error: unsafe
/// # Ok(())
/// # }
/// ```
pub struct LaunchBuilder<'a> {
    arguments: Arguments<'a>,
    stream: sys::km_stream, // null for a kernel of a graph
    borrows: PhantomData<&'a mut ()>,
}

// SAFETY: the stream's handle is a checked id, and no pointer to anything; all else is Send.
unsafe impl Send for LaunchBuilder<'_> {}
// SAFETY: the same; a launch changes through `&mut` only.
unsafe impl Sync for LaunchBuilder<'_> {}

impl<'a> LaunchBuilder<'a> {
    #[inline]
    pub(crate) fn new(stream: &'a Stream, function: &'a Function) -> Self {
        Self::with_raw(stream.as_raw(), function)
    }

    /// The stream, which stays its owner's.
    pub(crate) fn stream(&self) -> ManuallyDrop<Stream> {
        // SAFETY: the object is not dropped, so the handle stays the owner's.
        ManuallyDrop::new(unsafe { Stream::from_raw(self.stream) })
    }

    /// Takes arguments for a kernel of a graph.
    pub(crate) fn without_stream(function: &'a Function) -> Self {
        Self::with_raw(std::ptr::null_mut(), function)
    }

    #[inline(always)] // in place, not copied
    fn with_raw(stream: sys::km_stream, function: &'a Function) -> Self {
        Self { arguments: Arguments::new(function), stream, borrows: PhantomData }
    }

    /// The next argument: `&` of a slice or view that the kernel only reads, `&mut` of one that it
    /// may write, or `&` of a number or structure, which is copied. What does not fit the kernel's
    /// parameter makes [`launch`](Self::launch) fail.
    #[inline(always)] // so that the compiler knows where the arguments lie
    pub fn arg<A: Argument<'a>>(&mut self, argument: A) -> &mut Self {
        argument.add_to(self);
        self
    }

    /// The next argument: memory that the kernel only reads, in whatever form it is given.
    #[inline(always)]
    pub fn arg_slice<T: Pod>(&mut self, memory: &'a impl DeviceSlice<T>) -> &mut Self {
        self.add_place::<T>(memory.place(), sys::km_access::READ);
        self
    }

    /// The next argument: memory that the kernel may write, in whatever form it is given.
    #[inline(always)]
    pub fn arg_slice_mut<T: Pod>(&mut self, memory: &'a mut impl DeviceSliceMut<T>) -> &mut Self {
        self.add_place::<T>(memory.place(), sys::km_access::READ_WRITE);
        self
    }

    /// Launches in clusters of that many blocks along x, y, z, which use each other's shared memory
    /// and wait for each other; 0, 0, 0: what the kernel was compiled for, else none. C:
    /// `km_launch_set_cluster`.
    pub fn cluster_dim(&mut self, cluster_dim: (u32, u32, u32)) -> &mut Self {
        self.arguments.rare().cluster = Some(cluster_dim);
        self
    }

    /// Launches so that all blocks of the grid may wait for each other (`grid.sync()` of
    /// cooperative groups). They have to fit the device at once, else [`launch`](Self::launch)
    /// fails. C: `km_launch_set_cooperative`.
    ///
    /// ```
    /// # fn main() -> kernelmill::Result<()> {
    /// # let context = kernelmill::Context::open("cpu")?;
    /// # let config = kernelmill::LaunchConfig::for_num_elems(4);
    /// # let source = "extern \"C\" __global__ void empty() {}";
    /// let function = context.load_source(source)?.load_function("empty")?;
    /// let stream = context.default_stream()?;
    /// // SAFETY: the kernel does nothing.
    /// unsafe { stream.launch_builder(&function).cooperative().launch(config) }?;
    /// # stream.synchronize()
    /// # }
    /// ```
    pub fn cooperative(&mut self) -> &mut Self {
        self.arguments.rare().is_cooperative = true;
        self
    }

    /// Takes back that the launch is a cooperative one.
    pub(crate) fn not_cooperative(&mut self) {
        self.arguments.rare().is_cooperative = false;
    }

    /// Queues the kernel in the stream; it may be launched again with the same arguments. Never
    /// blocks, but the first launch of a kernel may compile it. C: `km_launch_kernel_operands`.
    ///
    /// # Safety
    ///
    /// Nothing checks what the kernel does with the addresses and numbers that it is given: it must
    /// stay within the memory of its arguments, not write what it is given by `&`, and not race
    /// with other work on memory that it reaches otherwise. Other work on its arguments is ordered,
    /// see [the crate's page](crate#what-is-ordered).
    ///
    /// # Errors
    ///
    /// [`Status::ERROR_INVALID_LAUNCH`](crate::Status) when shape or arguments do not fit the
    /// kernel or the device, as the message says; nothing was run then,
    /// [`Status::ERROR_CONTEXT_MISMATCH`](crate::Status) when a slice or the kernel is of another
    /// context, [`Status::ERROR_UNSUPPORTED_PTX`](crate::Status) when the device cannot run the
    /// kernel in this shape, [`Status::ERROR_COMPILER`](crate::Status) when the code generator
    /// failed, [`Status::ERROR_OUT_OF_DEVICE_MEMORY`](crate::Status) when there is no room for the
    /// launch, [`Status::ERROR_CONTEXT_LOST`](crate::Status) when the context was reset, the sticky
    /// error of the context when a kernel failed.
    // A call of its own reads the shape in other pieces than were written, which stalls.
    #[inline(always)]
    pub unsafe fn launch(&mut self, config: LaunchConfig) -> Result<()> {
        if !self.arguments.are_plain() {
            // SAFETY: what the kernel does is the caller's promise.
            return unsafe { self.launch_with_care(config) };
        }
        // SAFETY: what the kernel does is the caller's promise.
        unsafe { self.launch_plainly(&config.native()) }
    }

    /// # Safety
    ///
    /// That of [`launch`](Self::launch); all arguments are there.
    #[inline(always)]
    unsafe fn launch_plainly(&self, config: &sys::km_launch_config) -> Result<()> {
        let (function, operands) = (self.arguments.function(), self.arguments.operands());
        // SAFETY: the arguments have the size that the kernel's parameters have, which the library
        // checks; what the kernel does is the caller's promise.
        check(unsafe {
            sys::km_launch_kernel_operands(
                self.stream,
                function.as_raw(),
                config,
                self.arguments.words().cast(),
                function.arguments_size_bytes() as u64,
                operands.as_ptr(),
                operands.len() as u64,
            )
        })
    }

    /// # Safety
    ///
    /// That of [`launch`](Self::launch).
    #[cold]
    #[inline(never)]
    unsafe fn launch_with_care(&mut self, config: LaunchConfig) -> Result<()> {
        self.arguments.settle()?;
        if !self.arguments.is_special() {
            // SAFETY: what the kernel does is the caller's promise.
            return unsafe { self.launch_plainly(&config.native()) };
        }
        let mut launch = PreparedLaunch::new(self.stream, self.arguments.function())?;
        launch.set_config(config)?;
        let rare = self.arguments.rare();
        if let Some(cluster) = rare.cluster {
            launch.set_cluster(cluster)?;
        }
        launch.set_cooperative(rare.is_cooperative)?;
        self.give_arguments(&mut launch)?;
        // SAFETY: what the kernel does is the caller's promise.
        unsafe { launch.submit() }
    }

    /// Gives all arguments to a launch that takes them one by one.
    fn give_arguments(&self, launch: &mut PreparedLaunch) -> Result<()> {
        let function = self.arguments.function();
        let words = self.arguments.words().cast::<u8>();
        let operands = self.arguments.operands();
        for (index, param) in function.params().iter().enumerate() {
            if let Some(operand) = operands.iter().find(|one| one.parameter as usize == index) {
                launch.arg_operand(operand)?;
                continue;
            }
            // SAFETY: the arguments are settled, so the words have a value for the parameter.
            unsafe { launch.arg_bytes(words.add(param.offset_bytes), param.size_bytes) }?;
        }
        Ok(())
    }

    /// The arguments for a kernel of a graph. The words stay where they are until the builder is
    /// moved or changed.
    pub(crate) fn node_arguments(&mut self) -> Result<NodeArguments> {
        self.arguments.settle()?;
        if self.arguments.is_special() {
            let what = "is added to a graph, which takes no clusters and no cooperative launches; \
                        capture the launch instead";
            return Err(self.arguments.invalid(what));
        }
        let size_bytes = self.arguments.function().arguments_size_bytes() as u64;
        let slices = self.arguments.operands().iter().map(slice).collect();
        Ok(NodeArguments { words: self.arguments.words(), size_bytes, slices })
    }

    #[cfg(test)]
    pub(crate) fn check(&self) -> std::result::Result<(), String> {
        self.arguments.check()
    }

    #[cfg(test)]
    pub(crate) fn operands(&self) -> &[sys::km_launch_operand] {
        self.arguments.operands()
    }

    /// Copies the bytes of a value that the kernel may be given.
    #[inline(always)]
    pub(crate) fn add_value<T>(&mut self, value: &T, element: DeviceType) {
        self.arguments.add_value(value, element.kind());
    }

    #[inline(always)]
    pub(crate) fn add_place<T: Pod>(&mut self, place: Place, access: sys::km_access) {
        let bytes = Place { len: place.len * size_of::<T>(), ..place };
        self.arguments.add_place(bytes, access);
    }
}

/// The arguments of a kernel as graphs take them, which do not ask what it only reads.
pub(crate) struct NodeArguments {
    pub words: *const u64,
    pub size_bytes: u64,
    pub slices: Vec<sys::km_launch_slice>,
}

fn slice(operand: &sys::km_launch_operand) -> sys::km_launch_slice {
    sys::km_launch_slice {
        parameter: operand.parameter,
        reserved: 0,
        slice: operand.slice,
        offset_bytes: operand.offset_bytes,
    }
}

impl std::fmt::Debug for LaunchBuilder<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("LaunchBuilder")
            .field("function", self.arguments.function())
            .field("given", &self.arguments.given())
            .finish_non_exhaustive()
    }
}

/// An argument that a kernel can be given. Slices and views are borrowed until the builder is gone.
pub trait Argument<'a> {
    /// Gives it to the launch; for types of other crates by [`LaunchBuilder::arg`] of its parts.
    fn add_to(self, launch: &mut LaunchBuilder<'a>);
}

impl<'a, T: Pod> Argument<'a> for &T {
    #[inline(always)]
    fn add_to(self, launch: &mut LaunchBuilder<'a>) {
        launch.add_value(self, T::DEVICE_TYPE);
    }
}

impl<'a, T: Pod> Argument<'a> for &'a Slice<T> {
    #[inline(always)]
    fn add_to(self, launch: &mut LaunchBuilder<'a>) {
        launch.add_place::<T>(self.place(), sys::km_access::READ);
    }
}

impl<'a, T: Pod> Argument<'a> for &'a mut Slice<T> {
    #[inline(always)]
    fn add_to(self, launch: &mut LaunchBuilder<'a>) {
        launch.add_place::<T>(self.place(), sys::km_access::READ_WRITE);
    }
}

impl<'a, T: Pod> Argument<'a> for &'a View<'_, T> {
    #[inline(always)]
    fn add_to(self, launch: &mut LaunchBuilder<'a>) {
        launch.add_place::<T>(self.place(), sys::km_access::READ);
    }
}

impl<'a, T: Pod> Argument<'a> for &'a mut ViewMut<'_, T> {
    #[inline(always)]
    fn add_to(self, launch: &mut LaunchBuilder<'a>) {
        launch.add_place::<T>(self.place(), sys::km_access::READ_WRITE);
    }
}
