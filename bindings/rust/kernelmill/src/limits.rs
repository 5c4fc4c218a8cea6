//! Limits of contexts.

use crate::error::check;
use crate::{Context, Result, sys};

/// A limit of a context, [`km_context_limit`](sys::km_context_limit): `ContextLimit::STACK_BYTES`.
pub use sys::km_context_limit as ContextLimit;

impl Context {
    /// A limit of the context. Never blocks. C: `km_context_limit_get`.
    ///
    /// ```
    /// # fn main() -> kernelmill::Result<()> {
    /// # let context = kernelmill::Context::open("cpu")?;
    /// use kernelmill::ContextLimit;
    /// context.set_limit(ContextLimit::HEAP_BYTES, 16 << 20)?;
    /// assert!(context.limit(ContextLimit::HEAP_BYTES)? >= 16 << 20);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// `ERROR_INVALID_ARGUMENT` when it is no limit; `ERROR_NOT_SUPPORTED` when the device has no
    /// such limit.
    pub fn limit(&self, limit: ContextLimit) -> Result<u64> {
        let mut value = 0;
        // SAFETY: handles are checked ids, and the out-parameter lives through the call.
        check(unsafe { sys::km_context_limit_get(self.as_raw(), limit, &mut value) })?;
        Ok(value)
    }

    /// Sets a limit for work that is queued from now on. The device may have more than what is asked
    /// for; [`limit`](Self::limit) tells. It stays when the context is reset. Never blocks.
    /// C: `km_context_limit_set`.
    ///
    /// # Errors
    ///
    /// `ERROR_INVALID_ARGUMENT` when it is no limit; `ERROR_NOT_SUPPORTED` when the device has no
    /// such limit, or cannot have that much.
    pub fn set_limit(&self, limit: ContextLimit, value: u64) -> Result<()> {
        // SAFETY: handles are checked ids.
        check(unsafe { sys::km_context_limit_set(self.as_raw(), limit, value) })
    }
}
