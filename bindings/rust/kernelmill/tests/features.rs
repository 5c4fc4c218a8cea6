//! Types of other crates, by optional features.

mod common;

use common::{context, expect_error, function};
use kernelmill::{LaunchConfig, Result, Status};

#[cfg(feature = "half")]
mod with_half {
    use super::*;
    use half::{bf16, f16};
    use kernelmill::blas::{Bf16, Blas, F16, GemmNumber, Layout, Matrix, MatrixMut};

    const SUM: &str = r#"
#include <cuda_fp16.h>
extern "C" __global__ void sum(__half* data, __half one, int n) {
  if (threadIdx.x < n) data[threadIdx.x] = __hadd(data[threadIdx.x], one);
}
"#;

    #[test]
    fn numbers_of_16_bits_are_elements_and_arguments() -> Result<()> {
        let context = context();
        let stream = context.default_stream()?;
        let numbers = [1.5f32, -2.0, 65504.0].map(f16::from_f32);
        let mut slice = stream.clone_htod(&numbers)?;
        assert_eq!(stream.clone_dtoh(&slice)?, numbers);
        stream.fill(&mut slice, f16::from_f32(0.5))?;
        assert_eq!(stream.clone_dtoh(&slice)?, [f16::from_f32(0.5); 3]);
        let brain = stream.clone_htod(&[[bf16::from_f32(3.0); 2]])?;
        assert_eq!(stream.clone_dtoh(&brain)?, [[bf16::from_f32(3.0); 2]]);
        let sum = context.load_source(SUM)?.load_function("sum")?;
        let mut launch = stream.launch_builder(&sum);
        launch.arg(&mut slice).arg(&f16::from_f32(2.0)).arg(&2i32);
        // SAFETY: the kernel stays within two elements.
        unsafe { launch.launch(LaunchConfig::for_num_elems(3)) }?;
        assert_eq!(stream.clone_dtoh(&slice)?, [2.5, 2.5, 0.5].map(f16::from_f32));
        Ok(())
    }

    #[test]
    fn their_bits_are_those_of_the_crates_own_numbers() {
        for bits in 0..=u16::MAX {
            let (theirs, brain) = (f16::from_bits(bits), bf16::from_bits(bits));
            assert_eq!(f16::from(F16::from(theirs)).to_bits(), bits);
            assert_eq!(bf16::from(Bf16::from(brain)).to_bits(), bits);
            if !theirs.is_nan() {
                assert_eq!(F16::from(theirs).to_f32(), theirs.to_f32());
            }
        }
    }

    fn product<T: GemmNumber<Scalar = f32>>(number: impl Fn(f32) -> T) -> Result<()> {
        let context = context();
        let stream = context.default_stream()?;
        let blas = Blas::new(&stream, Layout::ROWS)?;
        let a = stream.clone_htod(&[1., 2., 3., 4.].map(&number))?;
        let mut c = stream.clone_htod(&[0.; 4].map(&number))?;
        let a = Matrix::new(Layout::ROWS, &a, 2, 2)?;
        blas.gemm(2.0, &a, &a, 0.0, &mut MatrixMut::new(Layout::ROWS, &mut c, 2, 2)?)?;
        assert_eq!(stream.clone_dtoh(&c)?, [14., 20., 30., 44.].map(&number));
        Ok(())
    }

    #[test]
    fn matrices_of_them_are_multiplied() -> Result<()> {
        product(f16::from_f32)?;
        product(bf16::from_f32)
    }
}

#[cfg(feature = "bytemuck")]
mod with_bytemuck {
    use super::*;
    use bytemuck::TransparentWrapper;
    use bytemuck::allocation::TransparentWrapperAlloc;
    use kernelmill::Plain;

    /// The structure as the kernel `widths` takes it.
    #[derive(Clone, Copy, Debug, PartialEq)]
    #[repr(C)]
    struct Point {
        place: [f32; 2],
        tag: i32,
    }
    // SAFETY: three numbers of 4 bytes; zeros are one.
    unsafe impl bytemuck::Zeroable for Point {}
    // SAFETY: the same; there is no padding, and all patterns are values.
    unsafe impl bytemuck::Pod for Point {}

    #[derive(Clone, Copy, Debug, PartialEq)]
    #[repr(transparent)]
    struct Own(Point);
    // SAFETY: that of Point.
    unsafe impl bytemuck::Zeroable for Own {}
    // SAFETY: that of Point.
    unsafe impl bytemuck::Pod for Own {}
    kernelmill::impl_pod!(Own);

    const POINT: Point = Point { place: [6.5, -7.0], tag: 8 };

    #[test]
    fn any_plain_type_is_an_element() -> Result<()> {
        let context = context();
        let stream = context.default_stream()?;
        let points = vec![POINT; 100];
        let mut slice = stream.clone_htod(Plain::wrap_slice(&points))?;
        assert_eq!(Plain::peel_vec(stream.clone_dtoh(&slice)?), points);
        let other = [Point { tag: 9, ..POINT }; 100];
        stream.memcpy_htod(Plain::wrap_slice(&other), &mut slice)?;
        let mut back = [POINT; 100];
        stream.memcpy_dtoh(&slice, Plain::wrap_slice_mut(&mut back))?;
        assert_eq!(back, other);
        assert_eq!(stream.clone_dtoh(&stream.clone_htod(&[Own(POINT)])?)?, [Own(POINT)]);
        Ok(())
    }

    #[test]
    fn numbers_of_the_crate_are_cast_by_bytemuck() {
        use kernelmill::blas::{Complex, F16};
        let numbers = [Complex::new(1f32, 2.0), Complex::new(3.0, 4.0)];
        assert_eq!(bytemuck::cast_slice::<_, f32>(&numbers), [1.0, 2.0, 3.0, 4.0]);
        assert_eq!(bytemuck::cast::<_, F16>([0u8, 0x3c]), F16::from_f32(1.0));
    }

    #[test]
    fn any_plain_type_is_an_argument() -> Result<()> {
        let context = context();
        let stream = context.default_stream()?;
        let widths = function(&context, "widths");
        let mut out = stream.alloc_zeros::<f64>(10)?;
        let one = LaunchConfig { grid_dim: (1, 1, 1), block_dim: (1, 1, 1), shared_mem_bytes: 0 };
        for is_own in [false, true] {
            let mut launch = stream.launch_builder(&widths);
            launch.arg(&mut out).arg(&1u8).arg(&2i16).arg(&3i32).arg(&4i64).arg(&5f32).arg(&6f64);
            if is_own {
                launch.arg(&Own(POINT))
            } else {
                launch.arg(&Plain(POINT))
            };
            launch.arg(&9u8);
            // SAFETY: the kernel writes ten elements.
            unsafe { launch.launch(one) }?;
            assert_eq!(stream.clone_dtoh(&out)?, [1., 2., 3., 4., 5., 6., 6.5, -7., 8., 9.]);
        }
        Ok(())
    }
}

#[cfg(feature = "ndarray")]
mod with_ndarray {
    use super::*;
    use kernelmill::Slice;
    use ndarray::{Array, Array2, Array3, ShapeBuilder, array, s};

    fn cube() -> Array3<u32> {
        Array::from_shape_fn((3, 4, 5), |(i, j, k)| (i * 100 + j * 10 + k) as u32)
    }

    #[test]
    fn arrays_are_copied_in_their_order() -> Result<()> {
        let context = context();
        let stream = context.default_stream()?;
        let cube = cube();
        let views = [
            cube.view(),
            cube.view().reversed_axes(),
            cube.slice(s![.., 1..3, ..]),
            cube.slice(s![..;-1, .., 1..;2]),
        ];
        for view in views {
            let elements: Vec<u32> = view.iter().copied().collect();
            let mut slice = stream.clone_htod_array(&view)?;
            assert_eq!(stream.clone_dtoh(&slice)?, elements);
            stream.memset_zeros(&mut slice)?;
            stream.memcpy_htod_array(&view, &mut slice)?;
            assert_eq!(stream.clone_dtoh_array(&slice, view.raw_dim())?, view);
        }
        let column = Array2::from_shape_fn((2, 3).f(), |(i, j)| i * 3 + j);
        assert_eq!(stream.clone_dtoh(&stream.clone_htod_array(&column)?)?, [0, 1, 2, 3, 4, 5]);
        let empty = stream.clone_htod_array(&Array2::<f32>::zeros((0, 7)))?;
        assert_eq!(stream.clone_dtoh_array(&empty, (0, 7))?.dim(), (0, 7));
        Ok(())
    }

    #[test]
    fn arrays_are_filled_in_their_order() -> Result<()> {
        let context = context();
        let stream = context.default_stream()?;
        let slice = stream.clone_htod(&[1, 2, 3, 4, 5, 6])?;
        let mut array = Array2::<i32>::zeros((2, 3));
        stream.memcpy_dtoh_array(&slice, &mut array)?;
        assert_eq!(array, array![[1, 2, 3], [4, 5, 6]]);
        let mut wide = Array2::<i32>::zeros((3, 6));
        stream.memcpy_dtoh_array(&slice, &mut wide.slice_mut(s![.., ..;3]))?;
        assert_eq!(wide.slice(s![.., ..;3]), array![[1, 2], [3, 4], [5, 6]]);
        assert_eq!(wide.sum(), 21);
        let by_columns = stream.clone_dtoh_array(&slice, (2, 3).f())?;
        assert_eq!(by_columns, array![[1, 3, 5], [2, 4, 6]]);
        Ok(())
    }

    #[test]
    fn the_memory_of_an_array_becomes_a_slice() -> Result<()> {
        let context = context();
        let stream = context.default_stream()?;
        let cube = cube();
        let place = cube.as_ptr();
        let slice = Slice::from_array(&context, cube.clone())?;
        assert_eq!(stream.clone_dtoh_array(&slice, (3, 4, 5))?, cube);
        let own = cube.clone();
        let own_place = own.as_ptr();
        assert_eq!(Slice::from_array(&context, own)?.host_pointer()?.cast_const(), own_place);
        let part = cube.clone().slice_move(s![1..2, .., ..]); // begins inside its memory
        let slice = Slice::from_array(&context, part.clone())?;
        assert_eq!(stream.clone_dtoh_array(&slice, (1, 4, 5))?, part);
        let turned = cube.clone().reversed_axes();
        let slice = Slice::from_array(&context, turned.clone())?;
        assert_eq!(stream.clone_dtoh_array(&slice, (5, 4, 3))?, turned);
        assert_eq!(cube.as_ptr(), place);
        Ok(())
    }

    #[test]
    fn shapes_that_do_not_fit_are_errors() -> Result<()> {
        let context = context();
        let stream = context.default_stream()?;
        let mut slice = stream.clone_htod(&[1u8, 2, 3, 4, 5, 6])?;
        let argument = Status::ERROR_INVALID_ARGUMENT;
        expect_error(stream.clone_dtoh_array(&slice, (2, 2)), argument, "6 elements");
        expect_error(stream.clone_dtoh_array(&slice, (2, 2)), argument, "[2, 2]");
        let large = usize::MAX / 2;
        expect_error(stream.clone_dtoh_array(&slice, (large, 3)), argument, "6 elements");
        let overlapping = (2, 3).strides((0, 1));
        expect_error(stream.clone_dtoh_array(&slice, overlapping), argument, "6 elements");
        let mut array = Array2::<u8>::zeros((2, 2));
        expect_error(stream.memcpy_dtoh_array(&slice, &mut array), argument, "4");
        expect_error(stream.memcpy_htod_array(&array, &mut slice), argument, "4");
        Ok(())
    }
}
