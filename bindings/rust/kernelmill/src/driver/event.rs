//! Events: marks in streams.

use std::sync::Arc;

use super::error::Cuda;
use super::sys::{CUevent_flags, CUresult};
use super::{CudaContext, CudaStream, DriverError};
use crate::{Error, Event, Status};

/// A point in a stream.
#[derive(Debug)]
pub struct CudaEvent {
    pub(super) native: Event,
    context: Arc<CudaContext>,
}

impl CudaContext {
    /// A new event. Without flags, and with `CU_EVENT_DISABLE_TIMING`, it takes no times. The other
    /// flags make no difference.
    ///
    /// # Errors
    ///
    /// [`DriverError::ContextIsDestroyed`] when the device is lost.
    pub fn new_event(
        self: &Arc<Self>,
        flags: Option<CUevent_flags>,
    ) -> Result<CudaEvent, DriverError> {
        let native = match flags {
            None | Some(CUevent_flags::CU_EVENT_DISABLE_TIMING) => {
                self.shared.native.new_event_without_timing().cuda()?
            }
            Some(_) => self.shared.native.new_event().cuda()?,
        };
        Ok(CudaEvent { native, context: Arc::clone(self) })
    }
}

impl CudaEvent {
    /// The context of the event.
    #[must_use]
    pub fn context(&self) -> &Arc<CudaContext> {
        &self.context
    }

    /// Marks the end of the work queued in the stream so far, in place of what it marked before.
    ///
    /// # Errors
    ///
    /// [`DriverError::InvalidContext`] when the stream is of another context, the error of a kernel
    /// that failed.
    pub fn record(&self, stream: &CudaStream) -> Result<(), DriverError> {
        self.native.record(stream.native()).cuda()
    }

    /// Waits until the work that the event marks is done.
    ///
    /// # Errors
    ///
    /// The error of a kernel that failed, [`DriverError::CapturedEvent`] when the event was recorded
    /// in a capture.
    pub fn synchronize(&self) -> Result<(), DriverError> {
        self.native.synchronize().map_err(captured)
    }

    /// The milliseconds between two events, in whichever order they are named: `start.elapsed_ms(&end)`
    /// and `end.elapsed_ms(&start)` are the same number, which is never negative. Waits for both.
    ///
    /// # Errors
    ///
    /// [`DriverError::InvalidHandle`] when an event takes no times,
    /// [`DriverError::NotReady`] when one was never recorded, else those of
    /// [`synchronize`](Self::synchronize).
    pub fn elapsed_ms(&self, other: &Self) -> Result<f32, DriverError> {
        self.synchronize()?;
        other.synchronize()?;
        match self.native.elapsed_ns(&other.native).cuda()? {
            Some(elapsed_ns) => Ok((elapsed_ns.unsigned_abs() as f64 / 1e6) as f32),
            None => {
                let message = "an event was not recorded; record both before the time is asked for";
                let error = Error::new(Status::NOT_READY, message);
                Err(DriverError::of(CUresult::CUDA_ERROR_NOT_READY, error))
            }
        }
    }

    /// True when the work that the event marks is done; false also when that cannot be known.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.try_is_complete().unwrap_or(false)
    }

    /// True when the work that the event marks is done, or it was never recorded.
    ///
    /// # Errors
    ///
    /// Those of [`synchronize`](Self::synchronize).
    pub fn try_is_complete(&self) -> Result<bool, DriverError> {
        self.native.is_done().map_err(captured)
    }
}

/// CUDA has a result of its own for events of a capture.
fn captured(error: Error) -> DriverError {
    match error.status() {
        Status::ERROR_CAPTURE_UNSUPPORTED => {
            DriverError::of(CUresult::CUDA_ERROR_CAPTURED_EVENT, error)
        }
        _ => DriverError::of_library(error),
    }
}
