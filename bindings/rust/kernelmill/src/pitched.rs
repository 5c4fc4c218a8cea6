//! Device memory of a chosen alignment, shared with the host, or in rows with gaps between them.

use std::marker::PhantomData;
use std::mem::size_of;
use std::ptr::null_mut;

use crate::copy::same_len;
use crate::error::check;
use crate::launch::Argument;
use crate::sys;
use crate::view::Place;
use crate::view::sealed::HasPlace;
use crate::{
    Context, Error, Extent, Fill, LaunchBuilder, Pod, Result, Rows, Slice, Status, Stream,
};

impl Context {
    /// Device memory for `len` elements with any content, at an address that is a multiple of
    /// `alignment_bytes`. Never blocks. C: `km_slice_create_aligned`.
    ///
    /// # Errors
    ///
    /// [`Status::ERROR_INVALID_ARGUMENT`] when the alignment is no power of two, an element has no
    /// size or all do not fit 64 bits, [`Status::ERROR_OUT_OF_DEVICE_MEMORY`] when the device has
    /// not that much memory left, the sticky error of the context when a kernel failed.
    pub fn alloc_aligned<T: Pod>(&self, len: usize, alignment_bytes: u64) -> Result<Slice<T>> {
        self.create_aligned(len, alignment_bytes, sys::km_slice_flags::DEFAULT)
    }

    /// Aligned device memory like that of [`alloc_aligned`](Self::alloc_aligned), zeroed.
    ///
    /// # Errors
    ///
    /// Those of [`alloc_aligned`](Self::alloc_aligned).
    pub fn alloc_zeros_aligned<T: Pod>(
        &self,
        len: usize,
        alignment_bytes: u64,
    ) -> Result<Slice<T>> {
        self.create_aligned(len, alignment_bytes, sys::km_slice_flags::ZEROED)
    }

    fn create_aligned<T: Pod>(
        &self,
        len: usize,
        alignment_bytes: u64,
        flags: sys::km_slice_flags,
    ) -> Result<Slice<T>> {
        let (context, count, size) = (self.as_raw(), len as u64, size_of::<T>() as u64);
        let mut raw = null_mut();
        // SAFETY: handles are checked ids, and the out-parameter lives through the call.
        check(unsafe {
            sys::km_slice_create_aligned(context, count, size, alignment_bytes, flags, &mut raw)
        })?;
        Ok(Slice::adopt(raw, len))
    }

    /// Memory for `len` elements, zeroed, that host and device share: [`Slice::host_pointer`] gives
    /// its address for the host on every device that has such memory. Never blocks. C:
    /// `km_slice_create` with `KM_SLICE_MANAGED`.
    ///
    /// # Errors
    ///
    /// [`Status::ERROR_NOT_SUPPORTED`] when the device has no such memory, else those of
    /// [`alloc_zeros`](Self::alloc_zeros).
    pub fn alloc_managed<T: Pod>(&self, len: usize) -> Result<Slice<T>> {
        let flags = sys::km_slice_flags::ZEROED | sys::km_slice_flags::MANAGED;
        Slice::create(self, len, flags)
    }

    /// Device memory for `height` rows of `width` elements, zeroed, that begin at multiples of 256
    /// bytes. Never blocks. C: `km_slice_create_pitched`.
    ///
    /// # Errors
    ///
    /// [`Status::ERROR_INVALID_ARGUMENT`] when all rows do not fit 64 bits,
    /// [`Status::ERROR_OUT_OF_DEVICE_MEMORY`] when the device has not that much memory left, the
    /// sticky error of the context when a kernel failed.
    pub fn alloc_pitched<T: Pod>(&self, width: usize, height: usize) -> Result<PitchedSlice<T>> {
        let too_large = || {
            let message = format!("rows of {width} elements of {} bytes", size_of::<T>());
            Error::new(Status::ERROR_INVALID_ARGUMENT, message)
        };
        if size_of::<T>() == 0 {
            return Err(too_large());
        }
        let row = width.checked_mul(size_of::<T>()).ok_or_else(too_large)?;
        let (mut raw, mut pitch) = (null_mut(), 0);
        // SAFETY: handles are checked ids, and the out-parameters live through the call.
        check(unsafe {
            let (context, flags) = (self.as_raw(), sys::km_slice_flags::ZEROED);
            let (row, height) = (row as u64, height as u64);
            sys::km_slice_create_pitched(context, row, height, flags, &mut raw, &mut pitch)
        })?;
        // SAFETY: the call gave a handle of its own.
        let bytes: Slice<u8> = unsafe { Slice::from_raw(raw) }?;
        T::DEVICE_TYPE.set(raw);
        Ok(PitchedSlice { bytes, width, height, pitch_bytes: pitch as usize, element: PhantomData })
    }
}

/// Device memory for rows that begin at multiples of 256 bytes, made by [`Context::alloc_pitched`].
/// A kernel is given the address of the first row, and the [pitch](Self::pitch_bytes) as a number.
///
/// ```
/// # fn main() -> kernelmill::Result<()> {
/// # let context = kernelmill::Context::open("cpu")?;
/// let stream = context.default_stream()?;
/// let mut picture = context.alloc_pitched::<f32>(3, 2)?;
/// stream.memcpy_htod_2d(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], &mut picture)?;
/// assert_eq!(picture.pitch_bytes() % 256, 0);
/// assert_eq!(stream.clone_dtoh_2d(&picture)?, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct PitchedSlice<T: Pod> {
    bytes: Slice<u8>,
    width: usize,
    height: usize,
    pitch_bytes: usize,
    element: PhantomData<T>,
}

impl<T: Pod> PitchedSlice<T> {
    /// Elements of a row.
    pub fn width(&self) -> usize {
        self.width
    }

    /// The number of rows.
    pub fn height(&self) -> usize {
        self.height
    }

    /// Bytes from the beginning of one row to that of the next.
    pub fn pitch_bytes(&self) -> usize {
        self.pitch_bytes
    }

    /// The places of the rows within [`as_bytes`](Self::as_bytes).
    pub fn rows(&self) -> Rows {
        Rows::pitched(self.pitch_bytes)
    }

    /// All rows with the gaps between them, to be read.
    pub fn as_bytes(&self) -> &Slice<u8> {
        &self.bytes
    }

    /// All rows with the gaps between them, to be written.
    pub fn as_bytes_mut(&mut self) -> &mut Slice<u8> {
        &mut self.bytes
    }

    /// The rows as bytes: what the copies below move.
    fn extent_bytes(&self) -> Extent {
        Extent::plane(self.width * size_of::<T>(), self.height)
    }

    /// The elements of all rows.
    fn len(&self) -> usize {
        self.width * self.height
    }

    fn place(&self) -> Place {
        self.bytes.place()
    }
}

impl<'a, T: Pod> Argument<'a> for &'a PitchedSlice<T> {
    fn add_to(self, launch: &mut LaunchBuilder<'a>) {
        launch.add_place::<u8>(self.place(), sys::km_access::READ);
    }
}

impl<'a, T: Pod> Argument<'a> for &'a mut PitchedSlice<T> {
    fn add_to(self, launch: &mut LaunchBuilder<'a>) {
        launch.add_place::<u8>(self.place(), sys::km_access::READ_WRITE);
    }
}

impl Stream {
    /// Copies rows without gaps from the host to all rows of the device. The source has been read
    /// when the call returns; beyond 64 KiB it waits for the stream. C: `km_slice_upload_3d`.
    ///
    /// # Errors
    ///
    /// [`Status::ERROR_INVALID_ARGUMENT`] when the numbers of elements differ, else those of
    /// [`memcpy_htod_3d`](Self::memcpy_htod_3d).
    pub fn memcpy_htod_2d<T: Pod>(
        &self,
        source: &[T],
        destination: &mut PitchedSlice<T>,
    ) -> Result<()> {
        same_len("memcpy_htod_2d", source.len(), destination.len())?;
        let (rows, extent) = (destination.rows(), destination.extent_bytes());
        let source = bytes_of(source);
        self.memcpy_htod_3d(source, Rows::default(), destination.as_bytes_mut(), rows, extent)
    }

    /// Copies all rows of the device to rows without gaps on the host, which have been written when
    /// the call returns: it waits for the stream. C: `km_slice_download_3d`.
    ///
    /// # Errors
    ///
    /// Those of [`memcpy_htod_2d`](Self::memcpy_htod_2d).
    pub fn memcpy_dtoh_2d<T: Pod>(
        &self,
        source: &PitchedSlice<T>,
        destination: &mut [T],
    ) -> Result<()> {
        same_len("memcpy_dtoh_2d", source.len(), destination.len())?;
        let (rows, extent) = (source.rows(), source.extent_bytes());
        let destination = bytes_of_mut(destination);
        self.memcpy_dtoh_3d(source.as_bytes(), rows, destination, Rows::default(), extent)
    }

    /// A vector with a copy of all rows, without gaps: it waits for the stream. C:
    /// `km_slice_download_3d`.
    ///
    /// # Errors
    ///
    /// Those of [`memcpy_htod_3d`](Self::memcpy_htod_3d).
    pub fn clone_dtoh_2d<T: Pod>(&self, source: &PitchedSlice<T>) -> Result<Vec<T>> {
        let mut vector = crate::copy::zeros(source.len())?;
        self.memcpy_dtoh_2d(source, &mut vector)?;
        Ok(vector)
    }

    /// Writes the value to all elements of all rows; what lies between the rows stays. Never
    /// blocks. C: `km_slice_fill_2d`.
    ///
    /// # Errors
    ///
    /// Those of [`fill_2d`](Self::fill_2d).
    pub fn fill_pitched<T: Fill>(&self, destination: &mut PitchedSlice<T>, value: T) -> Result<()> {
        let (rows, width, height) = (destination.rows(), destination.width, destination.height);
        let size = destination.bytes.len() / size_of::<T>();
        let mut elements = Elements(Place { len: size, ..destination.place() }, PhantomData);
        self.fill_2d::<T>(&mut elements, rows, width, height, value)
    }
}

/// The bytes of rows as elements, gaps included: every pitch is a multiple of their size.
struct Elements<'a, T>(Place, PhantomData<&'a mut T>);

impl<T: Pod> HasPlace for Elements<'_, T> {
    fn place(&self) -> Place {
        self.0
    }
}
impl<T: Pod> crate::DeviceSlice<T> for Elements<'_, T> {}
impl<T: Pod> crate::DeviceSliceMut<T> for Elements<'_, T> {}

fn bytes_of<T: Pod>(elements: &[T]) -> &[u8] {
    // SAFETY: the elements have no padding, see Pod.
    unsafe { std::slice::from_raw_parts(elements.as_ptr().cast(), size_of_val(elements)) }
}

fn bytes_of_mut<T: Pod>(elements: &mut [T]) -> &mut [u8] {
    // SAFETY: the elements have no padding, and all patterns of bits are elements, see Pod.
    unsafe { std::slice::from_raw_parts_mut(elements.as_mut_ptr().cast(), size_of_val(elements)) }
}
