//! The part that all owned handles have in common.

/// A type that owns one handle of the C ABI and gives it back when dropped.
macro_rules! owned_handle {
    ($(#[$doc:meta])* $name:ident, $raw:ident, $destroy:ident) => {
        $(#[$doc])*
        pub struct $name {
            raw: sys::$raw,
        }

        // SAFETY: base.h says "Threads: any" of every function that takes this handle:
        // any number of threads may call them at once, also on the same object. The handle itself
        // is a checked id, and no pointer to anything.
        unsafe impl Send for $name {}
        // SAFETY: the same.
        unsafe impl Sync for $name {}

        impl $name {
            /// The handle, for calls of [`sys`](crate::sys); it stays this object's.
            #[inline]
            pub fn as_raw(&self) -> sys::$raw {
                self.raw
            }

            /// Takes over a handle of the C ABI.
            ///
            /// # Safety
            ///
            /// Nobody else may destroy the handle. Where it belongs to a context that orders
            /// nothing, what [`Context::new_unordered`](crate::Context::new_unordered) asks of its
            /// caller holds for it. (A handle that is not live is no danger: calls with it fail.)
            pub unsafe fn from_raw(raw: sys::$raw) -> Self {
                Self { raw }
            }

            /// Gives the handle away; the caller is to destroy it.
            pub fn into_raw(self) -> sys::$raw {
                std::mem::ManuallyDrop::new(self).raw
            }
        }

        impl Drop for $name {
            fn drop(&mut self) {
                // SAFETY: the handle is this object's own, and destroying it twice is no danger.
                unsafe { sys::$destroy(self.raw) };
            }
        }

        impl std::fmt::Debug for $name {
            fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                formatter.debug_tuple(stringify!($name)).field(&self.raw).finish()
            }
        }
    };
}

pub(crate) use owned_handle;
