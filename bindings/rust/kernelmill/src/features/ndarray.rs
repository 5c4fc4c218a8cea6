//! The feature `ndarray`: copies between arrays and slices. Elements are taken and given in the
//! array's order, the last axis first; arrays that lie so in memory are not copied on the host.

use ::ndarray::{Array, ArrayRef, Dimension, StrideShape};

use crate::copy::{room_for, same_len};
use crate::{Context, DeviceSlice, DeviceSliceMut, Error, Pod, Result, Slice, Status, Stream};

impl Stream {
    /// A new slice with a copy of an array or a view of one, in the array's order: row after row.
    /// One that does not lie so in memory is put in order on the host first. Blocks as
    /// [`memcpy_htod`](Self::memcpy_htod) does. C: `km_slice_upload`. With the feature `ndarray`.
    ///
    /// ```
    /// # fn main() -> kernelmill::Result<()> {
    /// # let context = kernelmill::Context::open("cpu")?;
    /// let stream = context.default_stream()?;
    /// let array = ndarray::array![[1, 2, 3], [4, 5, 6]];
    /// let slice = stream.clone_htod_array(&array)?;
    /// let turned = stream.clone_htod_array(&array.t())?;
    /// assert_eq!(stream.clone_dtoh(&slice)?, [1, 2, 3, 4, 5, 6]);
    /// assert_eq!(stream.clone_dtoh(&turned)?, [1, 4, 2, 5, 3, 6]);
    /// assert_eq!(stream.clone_dtoh_array(&slice, (2, 3))?, array);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// Those of [`clone_htod`](Self::clone_htod), and
    /// [`Status::ERROR_OUT_OF_HOST_MEMORY`] when there is no memory for a copy on the host.
    pub fn clone_htod_array<T: Pod, D: Dimension>(
        &self,
        source: &ArrayRef<T, D>,
    ) -> Result<Slice<T>> {
        match source.as_slice() {
            Some(elements) => self.clone_htod(elements),
            None => self.clone_htod(&in_order(source)?),
        }
    }

    /// Copies an array or a view of one to as many elements on the device, in the array's order, as
    /// [`clone_htod_array`](Self::clone_htod_array) does. C: `km_slice_upload`. With the feature
    /// `ndarray`.
    ///
    /// # Errors
    ///
    /// Those of [`memcpy_htod`](Self::memcpy_htod), and
    /// [`Status::ERROR_OUT_OF_HOST_MEMORY`] when there is no memory for a copy on the host.
    pub fn memcpy_htod_array<T: Pod, D: Dimension>(
        &self,
        source: &ArrayRef<T, D>,
        destination: &mut impl DeviceSliceMut<T>,
    ) -> Result<()> {
        same_len("memcpy_htod_array", source.len(), destination.len())?;
        match source.as_slice() {
            Some(elements) => self.memcpy_htod(elements, destination),
            None => self.memcpy_htod(&in_order(source)?, destination),
        }
    }

    /// A new array of this shape with a copy of what the device has. The shape says the order too:
    /// `(2, 3)` is row after row, `(2, 3).f()` column after column. Blocks until the copy is done.
    /// C: `km_slice_download`. With the feature `ndarray`.
    ///
    /// # Errors
    ///
    /// Those of [`clone_dtoh`](Self::clone_dtoh), and [`Status::ERROR_INVALID_ARGUMENT`] when the
    /// shape does not have as many elements, or its strides are no layout of these.
    pub fn clone_dtoh_array<T: Pod, D: Dimension>(
        &self,
        source: &impl DeviceSlice<T>,
        shape: impl Into<StrideShape<D>>,
    ) -> Result<Array<T, D>> {
        let shape = shape.into();
        let wanted = shape.raw_dim().size_checked();
        if wanted != Some(source.len()) {
            return Err(wrong_shape(source.len(), shape.raw_dim().slice()));
        }
        let dimensions = shape.raw_dim().clone();
        Array::from_shape_vec(shape, self.clone_dtoh(source)?)
            .map_err(|_| wrong_shape(source.len(), dimensions.slice()))
    }

    /// Copies from the device to all elements of an array or a view of one, in the array's order.
    /// Blocks until the copy is done. C: `km_slice_download`. With the feature `ndarray`.
    ///
    /// # Errors
    ///
    /// Those of [`memcpy_dtoh`](Self::memcpy_dtoh), and [`Status::ERROR_OUT_OF_HOST_MEMORY`] when
    /// there is no memory for a copy on the host, which an array that does not lie row after row
    /// needs.
    pub fn memcpy_dtoh_array<T: Pod, D: Dimension>(
        &self,
        source: &impl DeviceSlice<T>,
        destination: &mut ArrayRef<T, D>,
    ) -> Result<()> {
        same_len("memcpy_dtoh_array", source.len(), destination.len())?;
        if let Some(elements) = destination.as_slice_mut() {
            return self.memcpy_dtoh(source, elements);
        }
        let elements = self.clone_dtoh(source)?;
        destination.iter_mut().zip(elements).for_each(|(place, element)| *place = element);
        Ok(())
    }
}

impl<T: Pod> Slice<T> {
    /// Makes the memory of an array a slice, in the array's order, without a copy where the array
    /// lies so in memory and the device can reach host memory: [`Slice::from_vec`]. Never blocks.
    /// C: `km_slice_from_host`. With the feature `ndarray`.
    ///
    /// # Errors
    ///
    /// Those of [`from_vec`](Self::from_vec), and
    /// [`Status::ERROR_OUT_OF_HOST_MEMORY`] when there is no memory for a copy on the host.
    pub fn from_array<D: Dimension>(context: &Context, array: Array<T, D>) -> Result<Self> {
        if !array.is_standard_layout() {
            return Self::from_vec(context, in_order(&array)?);
        }
        let len = array.len();
        let (mut elements, offset) = array.into_raw_vec_and_offset();
        elements.truncate(offset.unwrap_or(0).saturating_add(len));
        let slice = Self::from_vec(context, elements)?;
        match offset {
            None | Some(0) => Ok(slice),
            Some(first) => slice.into_part(first..),
        }
    }
}

/// All elements in the array's order.
fn in_order<T: Pod, D: Dimension>(array: &ArrayRef<T, D>) -> Result<Vec<T>> {
    let mut elements = room_for(array.len())?;
    elements.extend(array.iter().copied());
    Ok(elements)
}

fn wrong_shape(len: usize, shape: &[usize]) -> Error {
    let message = format!(
        "clone_dtoh_array: the source has {len} elements, which do not make an array of the shape \
         {shape:?}"
    );
    Error::new(Status::ERROR_INVALID_ARGUMENT, message)
}
