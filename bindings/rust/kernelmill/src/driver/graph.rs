//! Graphs: work of a stream, captured, to be launched as a whole.

use std::sync::Arc;

use super::error::Cuda;
use super::sys::{CUgraphInstantiate_flags, CUstreamCaptureMode, CUstreamCaptureStatus};
use super::{CudaStream, DriverError};
use crate::{CaptureStatus, Graph, GraphExec};

/// Work that was captured in a stream, ready to be launched there. It keeps what it uses.
///
/// ```
/// use kernelmill::driver::{CudaContext, sys};
/// # fn main() -> Result<(), kernelmill::driver::DriverError> {
/// let stream = CudaContext::new(0)?.new_stream()?;
/// let source = stream.clone_htod(&[1u32, 2, 3])?;
/// let mut copy = stream.alloc_zeros::<u32>(3)?;
/// stream.begin_capture(sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_GLOBAL)?;
/// stream.memcpy_dtod(&source, &mut copy)?; // becomes a node, and does not run
/// let graph = stream.end_capture(sys::CUgraphInstantiate_flags(0))?;
/// assert_eq!(stream.clone_dtoh(&copy)?, [0, 0, 0]);
/// graph.as_ref().unwrap().launch()?;
/// assert_eq!(stream.clone_dtoh(&copy)?, [1, 2, 3]);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct CudaGraph {
    graph: Graph,
    exec: GraphExec,
    stream: Arc<CudaStream>,
}

impl CudaStream {
    /// Begins to capture the stream: what is queued in it, and in streams that wait for events
    /// recorded in it, becomes nodes of a graph and does not run. Copies from and to memory of the
    /// host, unified memory included, are errors meanwhile. The mode makes no difference.
    ///
    /// # Errors
    ///
    /// [`DriverError::NotPermitted`] when the stream is captured already, the error of a kernel that
    /// failed.
    pub fn begin_capture(&self, _mode: CUstreamCaptureMode) -> Result<(), DriverError> {
        self.queue.with_capture(|stream| {
            // SAFETY: no memory of the host is used while the stream is captured, see Queue. What is
            // queued is never given a host function.
            unsafe { stream.begin_capture() }
        })
    }

    /// Ends the capture, and gives the graph, which is never missing here. Of the flags,
    /// `AUTO_FREE_ON_LAUNCH`, `UPLOAD` and `USE_NODE_PRIORITY` make no difference.
    ///
    /// # Errors
    ///
    /// [`DriverError::InvalidValue`] for other flags, [`DriverError::StreamCaptureInvalidated`] when
    /// a call has invalidated the capture, [`DriverError::StreamCaptureUnjoined`] when the stream
    /// does not wait for one that joined: the capture is over then;
    /// [`DriverError::NotPermitted`] when the stream is not captured.
    pub fn end_capture(
        &self,
        flags: CUgraphInstantiate_flags,
    ) -> Result<Option<CudaGraph>, DriverError> {
        let graph = self.queue.with_capture(crate::Stream::end_capture)?;
        let known = CUgraphInstantiate_flags::CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH
            | CUgraphInstantiate_flags::CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD
            | CUgraphInstantiate_flags::CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY;
        if flags.0 & !known.0 != 0 {
            let message =
                format!("flags is {:#x}; graphs here take bits of {:#x}", flags.0, known.0);
            return Err(DriverError::invalid(message));
        }
        let exec = graph.instantiate().cuda()?;
        Ok(Some(CudaGraph { graph, exec, stream: self.counted() }))
    }

    /// The state of a capture of the stream.
    ///
    /// # Errors
    ///
    /// [`DriverError::ContextIsDestroyed`] when the device is lost.
    pub fn capture_status(&self) -> Result<CUstreamCaptureStatus, DriverError> {
        Ok(match self.native().capture_status().cuda()? {
            CaptureStatus::ACTIVE => CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_ACTIVE,
            CaptureStatus::INVALIDATED => {
                CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_INVALIDATED
            }
            _ => CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_NONE,
        })
    }
}

impl CudaGraph {
    /// Queues one run of the graph in the stream that it was captured in. Never blocks.
    ///
    /// # Errors
    ///
    /// The error of a kernel that failed.
    pub fn launch(&self) -> Result<(), DriverError> {
        self.exec.launch(self.stream.native()).cuda()
    }

    /// Does nothing, as [`launch`](Self::launch) does not wait for uploads.
    ///
    /// # Errors
    ///
    /// None; the signature is cudarc's.
    pub fn upload(&self) -> Result<(), DriverError> {
        Ok(())
    }

    /// The graph itself, for what the library can do beyond cudarc.
    #[must_use]
    pub fn native(&self) -> &Graph {
        &self.graph
    }
}
