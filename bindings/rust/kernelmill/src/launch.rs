//! Launches: one call of a kernel, put together argument by argument.

use std::marker::PhantomData;
use std::mem::{ManuallyDrop, MaybeUninit, size_of};

use crate::error::{check, counted};
use crate::view::Place;
use crate::view::sealed::HasPlace;
use crate::{
    Error, Function, Param, Pod, PreparedLaunch, Result, Slice, Status, Stream, View, ViewMut, sys,
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

/// Kernels of up to this many words of arguments need no memory for a launch.
const FEW: usize = 16;

/// Parts that few launches have: the arguments of larger kernels, or an error.
#[derive(Default)]
struct Rare {
    words: Vec<u64>,
    operands: Vec<sys::km_launch_operand>,
    error: Option<Error>, // the first one, for launch() to return
    cluster: Option<(u32, u32, u32)>,
    is_cooperative: bool,
}

/// Dropped without a call where there is none. (Not the builder itself: one that is dropped by hand
/// would hold its borrows until the end of its scope.)
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
// In this order, so that no two things to be zeroed have the arrays between them: the compiler
// would zero those too, which takes as long as all the rest of a launch.
#[repr(C)]
pub struct LaunchBuilder<'a> {
    // The arguments as km_launch_kernel_operands takes them; these two cost nothing until they are
    // used.
    words: MaybeUninit<[u64; FEW]>,
    operands: MaybeUninit<[sys::km_launch_operand; FEW]>,
    stream: sys::km_stream, // null for a kernel of a graph
    function: &'a Function,
    given: usize,
    operand_count: usize,
    is_large: bool,   // the arguments lie in `rare`
    needs_care: bool, // is large, has an error, or is launched in clusters or as a cooperative one
    rare: RareSlot,
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

    #[inline]
    fn with_raw(stream: sys::km_stream, function: &'a Function) -> Self {
        let is_large = function.arguments_size_bytes() > FEW * size_of::<u64>();
        Self {
            stream,
            function,
            given: 0,
            words: MaybeUninit::uninit(),
            operands: MaybeUninit::uninit(),
            operand_count: 0,
            is_large,
            needs_care: is_large,
            rare: RareSlot(ManuallyDrop::new(None)),
            borrows: PhantomData,
        }
    }

    /// The next argument: `&` of a slice or view that the kernel only reads, `&mut` of one that it
    /// may write, or `&` of a number or structure, which is copied. What does not fit the kernel's
    /// parameter makes [`launch`](Self::launch) fail.
    #[inline]
    pub fn arg<A: Argument<'a>>(&mut self, argument: A) -> &mut Self {
        argument.add_to(self);
        self
    }

    /// Launches in clusters of that many blocks along x, y, z, which use each other's shared memory
    /// and wait for each other; 0, 0, 0: what the kernel was compiled for, else none. C:
    /// `km_launch_set_cluster`.
    pub fn cluster_dim(&mut self, cluster_dim: (u32, u32, u32)) -> &mut Self {
        self.needs_care = true;
        self.rare().cluster = Some(cluster_dim);
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
        self.needs_care = true;
        self.rare().is_cooperative = true;
        self
    }

    /// Takes back that the launch is a cooperative one.
    pub(crate) fn not_cooperative(&mut self) {
        self.rare().is_cooperative = false;
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
        if self.needs_care || self.given != self.function.params().len() {
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
        let operands = self.operands();
        // SAFETY: the arguments have the size that the kernel's parameters have, which the library
        // checks; what the kernel does is the caller's promise.
        check(unsafe {
            sys::km_launch_kernel_operands(
                self.stream,
                self.function.as_raw(),
                config,
                self.words().cast(),
                self.function.arguments_size_bytes() as u64,
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
        self.check_arguments()?;
        if !self.is_special() {
            // SAFETY: what the kernel does is the caller's promise.
            return unsafe { self.launch_plainly(&config.native()) };
        }
        let mut launch = PreparedLaunch::new(self.stream, self.function)?;
        launch.set_config(config)?;
        if let Some(cluster) = self.rare().cluster {
            launch.set_cluster(cluster)?;
        }
        launch.set_cooperative(self.rare().is_cooperative)?;
        self.give_arguments(&mut launch)?;
        // SAFETY: what the kernel does is the caller's promise.
        unsafe { launch.submit() }
    }

    /// True when it is to be launched in clusters or as a cooperative one.
    fn is_special(&self) -> bool {
        self.rare.0.as_ref().is_some_and(|rare| rare.cluster.is_some() || rare.is_cooperative)
    }

    /// Gives all arguments to a launch that takes them one by one.
    fn give_arguments(&self, launch: &mut PreparedLaunch) -> Result<()> {
        let function = self.function;
        let words = self.words().cast::<u8>();
        let operands = self.operands();
        for (index, param) in function.params().iter().enumerate() {
            if let Some(operand) = operands.iter().find(|one| one.parameter as usize == index) {
                launch.arg_operand(operand)?;
                continue;
            }
            // SAFETY: the words have room for all parameters, see arguments_size_bytes(), and a
            // value was written to this one's.
            unsafe { launch.arg_bytes(words.add(param.offset_bytes), param.size_bytes) }?;
        }
        Ok(())
    }

    /// The arguments for a kernel of a graph. The words stay where they are until the builder is
    /// moved or changed.
    pub(crate) fn node_arguments(&self) -> Result<NodeArguments> {
        self.check_arguments()?;
        if self.is_special() {
            let what = "is added to a graph, which takes no clusters and no cooperative launches; \
                        capture the launch instead";
            return Err(self.invalid(what.to_owned()));
        }
        let size_bytes = self.function.arguments_size_bytes() as u64;
        let words = self.words();
        Ok(NodeArguments { words, size_bytes, slices: self.operands().iter().map(slice).collect() })
    }

    fn check_arguments(&self) -> Result<()> {
        let has_error = self.rare.0.as_ref().is_some_and(|rare| rare.error.is_some());
        if has_error || self.given != self.function.params().len() {
            return Err(self.explain());
        }
        Ok(())
    }

    #[cold]
    fn explain(&self) -> Error {
        if let Some(error) = self.rare.0.as_ref().and_then(|rare| rare.error.as_ref()) {
            return error.clone();
        }
        let (count, given) = (self.function.params().len(), self.given);
        let (has, gets) = (counted(count, "parameter"), counted(given, "argument"));
        self.invalid(format!("has {has}; {gets} given"))
    }

    #[cold]
    fn invalid(&self, what: String) -> Error {
        let name = self.function.name().unwrap_or_default();
        Error::new(Status::ERROR_INVALID_LAUNCH, format!("launch: kernel '{name}' {what}"))
    }

    /// The place of the next parameter in bytes, if it has this size; else the launch fails.
    #[inline(always)]
    fn next_param(&mut self, size_bytes: usize) -> Option<usize> {
        let index = self.given;
        self.given += 1;
        match self.function.params().get(index) {
            Some(param) if param.size_bytes == size_bytes => Some(param.offset_bytes),
            param => self.refuse(index, param.copied(), size_bytes),
        }
    }

    #[cold]
    #[inline(never)]
    fn refuse(&mut self, index: usize, param: Option<Param>, size_bytes: usize) -> Option<usize> {
        let what = match param {
            Some(param) => format!(
                "takes {} for parameter {index}; {size_bytes} were given",
                counted(param.size_bytes, "byte")
            ),
            None => format!("has {}; more arguments were given", counted(index, "parameter")),
        };
        let error = self.invalid(what);
        self.needs_care = true;
        self.rare().error.get_or_insert(error);
        None
    }

    /// Copies the bytes of a value that the kernel may be given.
    #[inline]
    pub(crate) fn add_value<T>(&mut self, value: &T) {
        let Some(offset) = self.next_param(size_of::<T>()) else { return };
        let (words, room) = if self.is_large {
            let words = self.large_words();
            (words.as_mut_ptr(), size_of_val(words))
        } else {
            (self.words.as_mut_ptr().cast::<u64>(), FEW * size_of::<u64>())
        };
        // The library's own numbers, but a write out of bounds must not hang on them.
        if offset + size_of::<T>() > room {
            return;
        }
        let source: *const T = value;
        // SAFETY: the value has that many bytes, and lies within the words.
        unsafe {
            let destination = words.cast::<u8>().add(offset);
            destination.copy_from_nonoverlapping(source.cast(), size_of::<T>());
        }
    }

    #[inline(always)] // as launch(), for the place
    pub(crate) fn add_place<T: Pod>(&mut self, place: Place, access: sys::km_access) {
        let parameter = self.given as u32;
        if self.next_param(size_of::<u64>()).is_some() {
            self.add_operand(sys::km_launch_operand {
                parameter,
                access,
                slice: place.slice.addr() as u64,
                offset_bytes: place.offset_bytes,
                size_bytes: (place.len * size_of::<T>()) as u64,
            });
        }
    }

    /// The arguments; what lies between them and in the place of slices is not written.
    #[inline]
    fn words(&self) -> *const u64 {
        if self.is_large {
            return self.rare.0.as_ref().map_or(std::ptr::null(), |rare| rare.words.as_ptr());
        }
        self.words.as_ptr().cast()
    }

    #[inline(always)]
    fn add_operand(&mut self, operand: sys::km_launch_operand) {
        if self.is_large {
            self.large_words();
            self.rare().operands.push(operand);
        } else if self.operand_count < FEW {
            // Always so: each has a parameter of its own, of one word.
            // SAFETY: the place lies within the array.
            unsafe {
                let first = self.operands.as_mut_ptr().cast::<sys::km_launch_operand>();
                first.add(self.operand_count).write(operand);
            }
            self.operand_count += 1;
        }
    }

    #[cold]
    #[inline(never)]
    fn rare(&mut self) -> &mut Rare {
        self.rare.0.get_or_insert_default()
    }

    #[cold]
    #[inline(never)]
    fn large_words(&mut self) -> &mut [u64] {
        let len = self.function.arguments_size_bytes().div_ceil(size_of::<u64>());
        let words = &mut self.rare().words;
        words.resize(len, 0);
        words
    }

    #[inline]
    pub(crate) fn operands(&self) -> &[sys::km_launch_operand] {
        if self.is_large {
            return self.rare.0.as_ref().map_or(&[], |rare| &rare.operands);
        }
        // SAFETY: add_operand() wrote that many.
        unsafe { std::slice::from_raw_parts(self.operands.as_ptr().cast(), self.operand_count) }
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
            .field("function", &self.function)
            .field("given", &self.given)
            .finish_non_exhaustive()
    }
}

/// An argument that a kernel can be given. Slices and views are borrowed until the builder is gone.
pub trait Argument<'a> {
    /// Gives it to the launch; for types of other crates by [`LaunchBuilder::arg`] of its parts.
    fn add_to(self, launch: &mut LaunchBuilder<'a>);
}

impl<'a, T: Pod> Argument<'a> for &T {
    #[inline]
    fn add_to(self, launch: &mut LaunchBuilder<'a>) {
        launch.add_value(self);
    }
}

impl<'a, T: Pod> Argument<'a> for &'a Slice<T> {
    #[inline]
    fn add_to(self, launch: &mut LaunchBuilder<'a>) {
        launch.add_place::<T>(self.place(), sys::km_access::READ);
    }
}

impl<'a, T: Pod> Argument<'a> for &'a mut Slice<T> {
    #[inline]
    fn add_to(self, launch: &mut LaunchBuilder<'a>) {
        launch.add_place::<T>(self.place(), sys::km_access::READ_WRITE);
    }
}

impl<'a, T: Pod> Argument<'a> for &'a View<'_, T> {
    #[inline]
    fn add_to(self, launch: &mut LaunchBuilder<'a>) {
        launch.add_place::<T>(self.place(), sys::km_access::READ);
    }
}

impl<'a, T: Pod> Argument<'a> for &'a mut ViewMut<'_, T> {
    #[inline]
    fn add_to(self, launch: &mut LaunchBuilder<'a>) {
        launch.add_place::<T>(self.place(), sys::km_access::READ_WRITE);
    }
}
