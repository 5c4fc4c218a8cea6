//! Profiles of the current thread's context.

use std::sync::Arc;

use super::DriverError;
use super::context::Shared;
use super::error::Cuda;

/// A time in which the current context is profiled: from [`new`](Self::new) to the drop.
///
/// ```
/// use kernelmill::driver::{CudaContext, Profiler};
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let context = CudaContext::new(0)?;
/// {
///     let _profiler = Profiler::new()?;
///     context.default_stream().alloc_zeros::<u8>(100)?;
/// }
/// println!("{}", context.native().profiler().summary()?);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Profiler {
    context: Arc<Shared>,
}

impl Profiler {
    /// Begins to record what the current context does. [`CudaContext::native`] has the results.
    ///
    /// [`CudaContext::native`]: super::CudaContext::native
    ///
    /// # Errors
    ///
    /// [`DriverError::NotSupported`] when the device takes no times.
    pub fn new() -> Result<Self, DriverError> {
        let context = Shared::current()?;
        context.native.profiler().start().cuda()?;
        Ok(Self { context })
    }
}

impl Drop for Profiler {
    fn drop(&mut self) {
        // All work of this time is recorded, as far as it can still be done.
        let _ = self.context.native.synchronize();
        let _ = self.context.native.profiler().stop();
    }
}

/// Begins to record what the current context does.
///
/// # Errors
///
/// Those of [`Profiler::new`].
pub fn profiler_start() -> Result<(), DriverError> {
    Shared::current()?.native.profiler().start().cuda()
}

/// Stops recording; what was recorded stays.
///
/// # Errors
///
/// [`DriverError::ContextIsDestroyed`] when the device is lost.
pub fn profiler_stop() -> Result<(), DriverError> {
    Shared::current()?.native.profiler().stop().cuda()
}
