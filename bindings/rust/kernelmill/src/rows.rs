//! Copies and fills of rows and layers, from and to places that are given in bytes.

use std::mem::size_of;

use crate::copy::{readable, write_into};
use crate::error::check;
use crate::view::Place;
use crate::{
    DeviceSlice, DeviceSliceMut, Error, Fill, Pending, PinnedMemory, Pod, Result, Status, Stream,
    sys,
};

/// How much a copy of rows moves. A picture has depth 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// Elements of a row.
    pub width: usize,
    /// Rows of a layer.
    pub height: usize,
    /// Layers.
    pub depth: usize,
}

impl Extent {
    /// Rows of one layer: a picture, or a part of one.
    pub const fn plane(width: usize, height: usize) -> Self {
        Self { width, height, depth: 1 }
    }
}

/// The places of a copy's rows within a slice of the device or of the host. The default is without
/// gaps, from the first element on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rows {
    /// From the first byte of the slice to that of the first row.
    pub offset_bytes: usize,
    /// From row to row; 0: the rows have no gaps between them.
    pub pitch_bytes: usize,
    /// Rows from layer to layer; 0: the layers have no gaps between them.
    pub layer_rows: usize,
}

impl Rows {
    /// Rows that begin this many bytes apart, from the first element on.
    pub const fn pitched(pitch_bytes: usize) -> Self {
        Self { offset_bytes: 0, pitch_bytes, layer_rows: 0 }
    }

    /// The end of the last row in bytes, as far as a number has room for it; 0 without rows.
    fn end<T>(&self, extent: Extent) -> Option<usize> {
        let width = extent.width.checked_mul(size_of::<T>())?;
        if width == 0 || extent.height == 0 || extent.depth == 0 {
            return Some(0);
        }
        let pitch = if self.pitch_bytes == 0 { width } else { self.pitch_bytes };
        let layer = if self.layer_rows == 0 { extent.height } else { self.layer_rows };
        let rows = (extent.depth - 1).checked_mul(layer)?.checked_add(extent.height - 1)?;
        rows.checked_mul(pitch)?.checked_add(self.offset_bytes)?.checked_add(width)
    }

    /// True when all rows lie within `len` elements.
    fn check<T>(&self, what: &str, extent: Extent, len: usize) -> Result<()> {
        let size = len.saturating_mul(size_of::<T>());
        let end = self.end::<T>(extent);
        if end.is_some_and(|end| end <= size) {
            return Ok(());
        }
        let end = end.map_or_else(|| "more than 2^64".to_owned(), |end| end.to_string());
        let message = format!(
            "{extent:?} of elements of {} bytes at {self:?} ends at byte {end} of the {what}, \
             which has {size}",
            size_of::<T>()
        );
        Err(Error::new(Status::ERROR_OUT_OF_BOUNDS, message))
    }
}

/// Rows in both places, which lie within the elements that there are: `to_len` and `from_len`.
pub(crate) fn copy_shape<T>(
    (from, from_len): (Rows, usize),
    (to, to_len): (Rows, usize),
    extent: Extent,
) -> Result<sys::km_copy_3d> {
    from.check::<T>("source", extent, from_len)?;
    to.check::<T>("destination", extent, to_len)?;
    Ok(sys::km_copy_3d {
        width_bytes: (extent.width * size_of::<T>()) as u64,
        height: extent.height as u64,
        depth: extent.depth as u64,
        destination_offset_bytes: to.offset_bytes as u64,
        destination_pitch_bytes: to.pitch_bytes as u64,
        destination_layer_rows: to.layer_rows as u64,
        source_offset_bytes: from.offset_bytes as u64,
        source_pitch_bytes: from.pitch_bytes as u64,
        source_layer_rows: from.layer_rows as u64,
    })
}

/// Makes an offset one from the beginning of the slice. A sum that does not fit stays at the largest
/// offset, which is out of bounds: the library refuses it even for copies of no bytes.
fn add(offset_bytes: &mut u64, place: Place) {
    *offset_bytes = offset_bytes.saturating_add(place.offset_bytes);
}

/// The copy from the host to the device, where `place` begins within its slice.
pub(crate) fn upload_shape<T>(
    (from, from_len): (Rows, usize),
    (to, place): (Rows, Place),
    extent: Extent,
) -> Result<sys::km_copy_3d> {
    let mut shape = copy_shape::<T>((from, from_len), (to, place.len), extent)?;
    add(&mut shape.destination_offset_bytes, place);
    Ok(shape)
}

/// The copy from the device to the host.
pub(crate) fn download_shape<T>(
    (from, place): (Rows, Place),
    (to, to_len): (Rows, usize),
    extent: Extent,
) -> Result<sys::km_copy_3d> {
    let mut shape = copy_shape::<T>((from, place.len), (to, to_len), extent)?;
    add(&mut shape.source_offset_bytes, place);
    Ok(shape)
}

/// The copy on the device.
pub(crate) fn device_shape<T>(
    (from, source): (Rows, Place),
    (to, destination): (Rows, Place),
    extent: Extent,
) -> Result<sys::km_copy_3d> {
    let mut shape = copy_shape::<T>((from, source.len), (to, destination.len), extent)?;
    add(&mut shape.source_offset_bytes, source);
    add(&mut shape.destination_offset_bytes, destination);
    Ok(shape)
}

/// A fill of rows as the library takes it.
#[derive(Clone, Copy)]
pub(crate) struct FillShape {
    pub slice: sys::km_slice,
    pub offset_bytes: u64,
    pub pitch_bytes: u64,
    pub value: u32,
    pub value_size_bytes: u32,
    pub width: u64,
    pub height: u64,
}

impl FillShape {
    pub(crate) fn new<T: Fill>(
        place: Place,
        rows: Rows,
        (width, height): (usize, usize),
        value: T,
    ) -> Result<Self> {
        rows.check::<T>("destination", Extent::plane(width, height), place.len)?;
        let (value, value_size_bytes) = value.bits();
        Ok(Self {
            slice: place.slice,
            offset_bytes: place.offset_bytes.saturating_add(rows.offset_bytes as u64),
            pitch_bytes: rows.pitch_bytes as u64,
            value,
            value_size_bytes,
            width: width as u64,
            height: height as u64,
        })
    }
}

impl Stream {
    /// Copies rows from the host to the device. The source has been read when the call returns;
    /// beyond 64 KiB it waits for the stream. C: `km_slice_upload_3d`.
    ///
    /// ```
    /// # fn main() -> kernelmill::Result<()> {
    /// # let context = kernelmill::Context::open("cpu")?;
    /// use kernelmill::{Extent, Rows};
    /// let stream = context.default_stream()?;
    /// let picture: Vec<u8> = (0..100).collect(); // 10 by 10
    /// let mut corner = stream.alloc_zeros::<u8>(6)?;
    /// let source = Rows { offset_bytes: 77, pitch_bytes: 10, ..Rows::default() };
    /// let extent = Extent::plane(3, 2);
    /// stream.memcpy_htod_3d(&picture, source, &mut corner, Rows::default(), extent)?;
    /// assert_eq!(stream.clone_dtoh(&corner)?, [77, 78, 79, 87, 88, 89]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Status::ERROR_OUT_OF_BOUNDS`] when a row does not lie within its slice or view,
    /// [`Status::ERROR_INVALID_ARGUMENT`] when a pitch is less than a row, or the distance of
    /// layers less than a layer, [`Status::ERROR_CONTEXT_MISMATCH`] when the destination is of
    /// another context, [`Status::ERROR_NOT_PERMITTED`] inside a callback, the sticky error of the
    /// context when a kernel failed.
    pub fn memcpy_htod_3d<T: Pod>(
        &self,
        source: &[T],
        source_rows: Rows,
        destination: &mut impl DeviceSliceMut<T>,
        destination_rows: Rows,
        extent: Extent,
    ) -> Result<()> {
        let place = destination.place();
        let source = readable(source)?;
        let from = (source_rows, source.len());
        let shape = upload_shape::<T>(from, (destination_rows, place), extent)?;
        // SAFETY: all rows lie within the source, which has been read when the call returns.
        check(unsafe {
            sys::km_slice_upload_3d(self.as_raw(), place.slice, source.as_ptr().cast(), &shape)
        })
    }

    /// Copies rows from the device to the host, which have been written when the call returns: it
    /// waits for the stream. What lies between the rows stays. C: `km_slice_download_3d`.
    ///
    /// # Errors
    ///
    /// Those of [`memcpy_htod_3d`](Self::memcpy_htod_3d).
    pub fn memcpy_dtoh_3d<T: Pod>(
        &self,
        source: &impl DeviceSlice<T>,
        source_rows: Rows,
        destination: &mut [T],
        destination_rows: Rows,
        extent: Extent,
    ) -> Result<()> {
        let place = source.place();
        let to = (destination_rows, destination.len());
        let shape = download_shape::<T>((source_rows, place), to, extent)?;
        write_into(destination, |destination| {
            let to = destination.as_mut_ptr().cast();
            // SAFETY: all rows lie within the destination, which has been written when the call
            // returns; all patterns of bits are elements.
            check(unsafe { sys::km_slice_download_3d(self.as_raw(), place.slice, to, &shape) })
        })
    }

    /// Copies rows within a context. Never blocks. C: `km_slice_copy_3d`.
    ///
    /// # Errors
    ///
    /// Those of [`memcpy_htod_3d`](Self::memcpy_htod_3d).
    pub fn memcpy_dtod_3d<T: Pod>(
        &self,
        source: &impl DeviceSlice<T>,
        source_rows: Rows,
        destination: &mut impl DeviceSliceMut<T>,
        destination_rows: Rows,
        extent: Extent,
    ) -> Result<()> {
        let (from, to) = (source.place(), destination.place());
        let shape = device_shape::<T>((source_rows, from), (destination_rows, to), extent)?;
        // SAFETY: handles are checked ids, and ranges are checked.
        check(unsafe { sys::km_slice_copy_3d(self.as_raw(), to.slice, from.slice, &shape) })
    }

    /// Copies rows from page-locked memory to the device, later, in stream order. Never blocks. C:
    /// `km_slice_upload_3d`.
    ///
    /// # Errors
    ///
    /// Those of [`memcpy_htod_3d`](Self::memcpy_htod_3d).
    pub fn memcpy_htod_3d_async<T: Pod>(
        &self,
        source: PinnedMemory<T>,
        source_rows: Rows,
        destination: &mut impl DeviceSliceMut<T>,
        destination_rows: Rows,
        extent: Extent,
    ) -> Result<Pending<T>> {
        let place = destination.place();
        let from = (source_rows, source.len());
        let shape = upload_shape::<T>(from, (destination_rows, place), extent)?;
        Pending::queue(self, source, |from| {
            // SAFETY: all rows lie within the source, and nobody writes it while Pending owns it.
            unsafe { sys::km_slice_upload_3d(self.as_raw(), place.slice, from.cast(), &shape) }
        })
    }

    /// Copies rows from the device to page-locked memory, later, in stream order. Never blocks. C:
    /// `km_slice_download_3d`.
    ///
    /// # Errors
    ///
    /// Those of [`memcpy_htod_3d`](Self::memcpy_htod_3d).
    pub fn memcpy_dtoh_3d_async<T: Pod>(
        &self,
        source: &impl DeviceSlice<T>,
        source_rows: Rows,
        destination: PinnedMemory<T>,
        destination_rows: Rows,
        extent: Extent,
    ) -> Result<Pending<T>> {
        let place = source.place();
        let to = (destination_rows, destination.len());
        let shape = download_shape::<T>((source_rows, place), to, extent)?;
        Pending::queue(self, destination, |to| {
            // SAFETY: all rows lie within the destination, and nobody touches it while Pending owns
            // it.
            unsafe { sys::km_slice_download_3d(self.as_raw(), place.slice, to.cast(), &shape) }
        })
    }

    /// Writes a value to `width` elements of each of `height` rows; the rows' layers do not count.
    /// Never blocks. C: `km_slice_fill_2d`.
    ///
    /// # Errors
    ///
    /// [`Status::ERROR_OUT_OF_BOUNDS`] when a row does not lie within the slice or view,
    /// [`Status::ERROR_INVALID_ARGUMENT`] when the pitch is less than a row, or a row's address no
    /// multiple of the element's size, [`Status::ERROR_CONTEXT_MISMATCH`] when the slice is of
    /// another context, the sticky error of the context when a kernel failed.
    pub fn fill_2d<T: Fill>(
        &self,
        destination: &mut impl DeviceSliceMut<T>,
        rows: Rows,
        width: usize,
        height: usize,
        value: T,
    ) -> Result<()> {
        let fill = FillShape::new(destination.place(), rows, (width, height), value)?;
        // SAFETY: handles are checked ids, and ranges are checked.
        check(unsafe {
            sys::km_slice_fill_2d(
                self.as_raw(),
                fill.slice,
                fill.offset_bytes,
                fill.pitch_bytes,
                fill.value,
                fill.value_size_bytes,
                fill.width,
                fill.height,
            )
        })
    }
}
