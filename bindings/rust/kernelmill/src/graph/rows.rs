//! Nodes that copy and fill rows and layers.

use super::keep::Resource;
use super::work::{Copy3dWork, Download3dWork, Fill2dWork, Upload3dWork};
use super::{Graph, GraphBuffer, Node};
use crate::rows::{FillShape, device_shape, download_shape, upload_shape};
use crate::{DeviceSlice, DeviceSliceMut, Extent, Fill, Pod, Result, Rows, sys};

impl Graph {
    /// Adds a copy of rows within a context, as [`Stream::memcpy_dtod_3d`](crate::Stream) does. The
    /// graph keeps the memory. Never blocks. C: `km_graph_add_copy_3d`.
    ///
    /// # Errors
    ///
    /// [`Status::ERROR_OUT_OF_BOUNDS`](crate::Status) when a row does not lie within its slice or
    /// view, [`Status::ERROR_INVALID_ARGUMENT`](crate::Status) when a pitch is less than a row, or
    /// the distance of layers less than a layer, or rows of source and destination overlap, or a
    /// dependency is no node of the graph or is named twice;
    /// [`Status::ERROR_CONTEXT_MISMATCH`](crate::Status) when something is of another context,
    /// [`Status::ERROR_CONTEXT_LOST`](crate::Status) when the context was reset.
    pub fn add_copy_3d<T: Pod>(
        &self,
        dependencies: &[Node],
        (source, source_rows): (&impl DeviceSlice<T>, Rows),
        (destination, destination_rows): (&mut impl DeviceSliceMut<T>, Rows),
        extent: Extent,
    ) -> Result<Node> {
        let (from, to) = (source.place(), destination.place());
        let shape = device_shape::<T>((source_rows, from), (destination_rows, to), extent)?;
        let work = Copy3dWork { destination: to.slice, source: from.slice, shape: &shape };
        // SAFETY: the shape lives through the call.
        unsafe { self.add(dependencies, &work, Vec::new()) }
    }

    /// Gives a node that is a copy of rows another source, destination and shape. What is
    /// instantiated stays as it was: see [`GraphExec::update_node`](crate::GraphExec::update_node).
    /// Never blocks. C: `km_graph_set_copy_3d`.
    ///
    /// # Errors
    ///
    /// Those of [`add_copy_3d`](Self::add_copy_3d), and
    /// [`Status::ERROR_INVALID_ARGUMENT`](crate::Status) when the node is of another kind.
    pub fn set_copy_3d<T: Pod>(
        &self,
        node: Node,
        (source, source_rows): (&impl DeviceSlice<T>, Rows),
        (destination, destination_rows): (&mut impl DeviceSliceMut<T>, Rows),
        extent: Extent,
    ) -> Result<()> {
        let (from, to) = (source.place(), destination.place());
        let shape = device_shape::<T>((source_rows, from), (destination_rows, to), extent)?;
        let work = Copy3dWork { destination: to.slice, source: from.slice, shape: &shape };
        // SAFETY: the shape lives through the call.
        unsafe { self.set(node, &work, Vec::new()) }
    }

    /// Adds a copy of rows from a buffer to the device, which reads the buffer each time that it
    /// runs. The graph keeps both. Never blocks. C: `km_graph_add_upload_3d`.
    ///
    /// # Errors
    ///
    /// Those of [`add_copy_3d`](Self::add_copy_3d).
    pub fn add_upload_3d<T: Pod>(
        &self,
        dependencies: &[Node],
        (source, source_rows): (&GraphBuffer<T>, Rows),
        (destination, destination_rows): (&mut impl DeviceSliceMut<T>, Rows),
        extent: Extent,
    ) -> Result<Node> {
        let place = destination.place();
        let from = (source_rows, source.len());
        let shape = upload_shape::<T>(from, (destination_rows, place), extent)?;
        let work = upload_work(source, place.slice, &shape);
        // SAFETY: the shape lives through the call; the buffer has all rows, is kept, and nobody
        // writes it while a launch reads it.
        unsafe { self.add(dependencies, &work, vec![Resource::Buffer(source.tracked())]) }
    }

    /// Gives a node that is an upload of rows another source, destination and shape, as
    /// [`set_copy_3d`](Self::set_copy_3d) does. Never blocks. C: `km_graph_set_upload_3d`.
    ///
    /// # Errors
    ///
    /// Those of [`set_copy_3d`](Self::set_copy_3d).
    pub fn set_upload_3d<T: Pod>(
        &self,
        node: Node,
        (source, source_rows): (&GraphBuffer<T>, Rows),
        (destination, destination_rows): (&mut impl DeviceSliceMut<T>, Rows),
        extent: Extent,
    ) -> Result<()> {
        let place = destination.place();
        let from = (source_rows, source.len());
        let shape = upload_shape::<T>(from, (destination_rows, place), extent)?;
        let work = upload_work(source, place.slice, &shape);
        // SAFETY: as for add_upload_3d().
        unsafe { self.set(node, &work, vec![Resource::Buffer(source.tracked())]) }
    }

    /// Adds a copy of rows from the device to a buffer, which writes the buffer each time that it
    /// runs; what lies between the rows stays. The graph keeps both. Never blocks. C:
    /// `km_graph_add_download_3d`.
    ///
    /// # Errors
    ///
    /// Those of [`add_copy_3d`](Self::add_copy_3d).
    pub fn add_download_3d<T: Pod>(
        &self,
        dependencies: &[Node],
        (source, source_rows): (&impl DeviceSlice<T>, Rows),
        (destination, destination_rows): (&GraphBuffer<T>, Rows),
        extent: Extent,
    ) -> Result<Node> {
        let place = source.place();
        let to = (destination_rows, destination.len());
        let shape = download_shape::<T>((source_rows, place), to, extent)?;
        let work = download_work(place.slice, destination, &shape);
        // SAFETY: the shape lives through the call; the buffer has all rows, is kept, and nobody
        // touches it while a launch writes it.
        unsafe { self.add(dependencies, &work, vec![Resource::Buffer(destination.tracked())]) }
    }

    /// Gives a node that is a download of rows another source, destination and shape, as
    /// [`set_copy_3d`](Self::set_copy_3d) does. Never blocks. C: `km_graph_set_download_3d`.
    ///
    /// # Errors
    ///
    /// Those of [`set_copy_3d`](Self::set_copy_3d).
    pub fn set_download_3d<T: Pod>(
        &self,
        node: Node,
        (source, source_rows): (&impl DeviceSlice<T>, Rows),
        (destination, destination_rows): (&GraphBuffer<T>, Rows),
        extent: Extent,
    ) -> Result<()> {
        let place = source.place();
        let to = (destination_rows, destination.len());
        let shape = download_shape::<T>((source_rows, place), to, extent)?;
        let work = download_work(place.slice, destination, &shape);
        // SAFETY: as for add_download_3d().
        unsafe { self.set(node, &work, vec![Resource::Buffer(destination.tracked())]) }
    }

    /// Adds a fill of `width` elements of each of `height` rows, as
    /// [`Stream::fill_2d`](crate::Stream::fill_2d) does. The graph keeps the memory. Never blocks.
    /// C: `km_graph_add_fill_2d`.
    ///
    /// # Errors
    ///
    /// Those of [`add_copy_3d`](Self::add_copy_3d), and
    /// [`Status::ERROR_INVALID_ARGUMENT`](crate::Status) when a row's address is no multiple of the
    /// element's size.
    pub fn add_fill_2d<T: Fill>(
        &self,
        dependencies: &[Node],
        (destination, rows): (&mut impl DeviceSliceMut<T>, Rows),
        (width, height): (usize, usize),
        value: T,
    ) -> Result<Node> {
        let fill = FillShape::new(destination.place(), rows, (width, height), value)?;
        // SAFETY: the work has no pointers.
        unsafe { self.add(dependencies, &fill_work(fill), Vec::new()) }
    }

    /// Gives a node that is a fill of rows another destination, shape and value, as
    /// [`set_copy_3d`](Self::set_copy_3d) does. Never blocks. C: `km_graph_set_fill_2d`.
    ///
    /// # Errors
    ///
    /// Those of [`add_fill_2d`](Self::add_fill_2d), and
    /// [`Status::ERROR_INVALID_ARGUMENT`](crate::Status) when the node is of another kind.
    pub fn set_fill_2d<T: Fill>(
        &self,
        node: Node,
        (destination, rows): (&mut impl DeviceSliceMut<T>, Rows),
        (width, height): (usize, usize),
        value: T,
    ) -> Result<()> {
        let fill = FillShape::new(destination.place(), rows, (width, height), value)?;
        // SAFETY: the work has no pointers.
        unsafe { self.set(node, &fill_work(fill), Vec::new()) }
    }
}

fn upload_work<T: Pod>(
    source: &GraphBuffer<T>,
    destination: sys::km_slice,
    shape: &sys::km_copy_3d,
) -> Upload3dWork {
    Upload3dWork { destination, source: source.pointer().cast_const().cast(), shape }
}

fn download_work<T: Pod>(
    source: sys::km_slice,
    destination: &GraphBuffer<T>,
    shape: &sys::km_copy_3d,
) -> Download3dWork {
    Download3dWork { source, destination: destination.pointer().cast(), shape }
}

fn fill_work(fill: FillShape) -> Fill2dWork {
    Fill2dWork {
        slice: fill.slice,
        offset_bytes: fill.offset_bytes,
        pitch_bytes: fill.pitch_bytes,
        value: fill.value,
        value_size_bytes: fill.value_size_bytes,
        width: fill.width,
        height: fill.height,
    }
}
