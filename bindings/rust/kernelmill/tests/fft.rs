//! Fourier transforms agree with their definition, and stay within their arrays.

mod common;

use std::f64::consts::PI;

use common::{context, expect_error};
use kernelmill::blas::{Bf16, Complex, F16};
use kernelmill::fft::{Fft, FftLayout, FftShape};
use kernelmill::{NodeKind, Result, Status};

type C32 = Complex<f32>;

fn numbers(count: usize) -> Vec<C32> {
    (0..count).map(|i| Complex::new((i * 7 % 11) as f32 - 5.0, (i * 3 % 5) as f32 - 2.0)).collect()
}

/// The transform of a line by its definition.
fn transformed(from: &[C32], sign: f64) -> Vec<C32> {
    let n = from.len();
    let number = |k: usize| {
        let (mut re, mut im) = (0.0, 0.0);
        for (j, each) in from.iter().enumerate() {
            let (sin, cos) = (sign * 2.0 * PI * (j * k % n) as f64 / n as f64).sin_cos();
            re += f64::from(each.re) * cos - f64::from(each.im) * sin;
            im += f64::from(each.re) * sin + f64::from(each.im) * cos;
        }
        Complex::new(re as f32, im as f32)
    };
    (0..n).map(number).collect()
}

fn expect_near(found: &[C32], wanted: &[C32]) {
    assert_eq!(found.len(), wanted.len());
    for (a, b) in found.iter().zip(wanted) {
        assert!((a.re - b.re).abs() < 1e-4 && (a.im - b.im).abs() < 1e-4, "{a:?} is not {b:?}");
    }
}

#[test]
fn lines_are_transformed_and_back() -> Result<()> {
    let context = context();
    let stream = context.default_stream()?;
    let given = numbers(20);
    let x = stream.clone_htod(&given)?;
    let mut y = stream.alloc_zeros::<C32>(20)?;
    let plan = Fft::<C32>::new(&stream, &FftShape::new(&[10]).batch(2))?;
    plan.forward(&x, &mut y)?;
    let found = stream.clone_dtoh(&y)?;
    expect_near(&found[..10], &transformed(&given[..10], -1.0));
    expect_near(&found[10..], &transformed(&given[10..], -1.0));
    plan.inverse_in_place(&mut y)?;
    let scaled: Vec<_> = given.iter().map(|c| Complex::new(10.0 * c.re, 10.0 * c.im)).collect();
    expect_near(&stream.clone_dtoh(&y)?, &scaled);
    plan.forward_in_place(&mut y)?;
    plan.inverse(&x, &mut y)?;
    expect_near(&stream.clone_dtoh(&y)?[..10], &transformed(&given[..10], 1.0));
    Ok(())
}

#[test]
fn real_numbers_have_half_a_spectrum() -> Result<()> {
    let context = context();
    let stream = context.default_stream()?;
    let given: Vec<C32> = numbers(12).iter().map(|c| Complex::new(c.re, 0.0)).collect();
    let real: Vec<f32> = given.iter().map(|c| c.re).collect();
    let mut x = stream.clone_htod(&real)?;
    let mut half = stream.alloc_zeros::<C32>(7)?;
    Fft::<f32, C32>::new(&stream, &FftShape::new(&[12]))?.forward(&x, &mut half)?;
    expect_near(&stream.clone_dtoh(&half)?, &transformed(&given, -1.0)[..7]);
    Fft::<C32, f32>::new(&stream, &FftShape::new(&[12]))?.inverse(&half, &mut x)?;
    for (found, wanted) in stream.clone_dtoh(&x)?.iter().zip(&real) {
        assert!((found - 12.0 * wanted).abs() < 1e-4);
    }
    Ok(())
}

#[test]
fn layouts_say_where_elements_lie() -> Result<()> {
    let context = context();
    let stream = context.default_stream()?;
    let given = numbers(13);
    let x = stream.clone_htod(&given)?;
    let mut y = stream.alloc_zeros::<C32>(10)?;
    let columns = FftLayout { stride: 2, distance: 1, ..FftLayout::default() };
    let plan = Fft::<C32>::new(&stream, &FftShape::new(&[5]).batch(2).input(columns))?;
    plan.forward(&x.view(3..)?, &mut y)?;
    let line: Vec<_> = (0..5).map(|i| given[4 + 2 * i]).collect();
    expect_near(&stream.clone_dtoh(&y)?[5..], &transformed(&line, -1.0));
    Ok(())
}

#[test]
fn sixteen_bits_are_a_type() -> Result<()> {
    let context = context();
    let stream = context.default_stream()?;
    let one = Complex::new(F16::from_f32(1.0), F16::from_f32(0.0));
    let mut x = stream.clone_htod(&[one; 4])?;
    Fft::<Complex<F16>>::new(&stream, &FftShape::new(&[4]))?.forward_in_place(&mut x)?;
    assert_eq!(stream.clone_dtoh(&x)?[0].re.to_f32(), 4.0);
    let reals = stream.clone_htod(&[Bf16::from_f32(1.0); 4])?;
    let mut half = stream.alloc_zeros::<Complex<Bf16>>(3)?;
    Fft::<Bf16, Complex<Bf16>>::new(&stream, &FftShape::new(&[4]))?.forward(&reals, &mut half)?;
    assert_eq!(stream.clone_dtoh(&half)?[0].re.to_f32(), 4.0);
    Ok(())
}

#[test]
fn arrays_are_as_large_as_the_shape() -> Result<()> {
    let context = context();
    let stream = context.default_stream()?;
    let mut data = stream.alloc_zeros::<C32>(100)?;
    let (left, mut right) = data.split_at_mut(50)?;
    // A view of a larger slice has no more elements than it shows.
    let plan = Fft::<C32>::new(&stream, &FftShape::new(&[3, 4, 5]))?;
    expect_error(plan.forward(&left, &mut right), Status::ERROR_OUT_OF_BOUNDS, "needs 60 elements");
    let rows = FftLayout { extents: [0, 6, 0], stride: 1, distance: 25 };
    let shape = FftShape::new(&[4, 5]).batch(2).input(rows).output(rows);
    let plan = Fft::<C32>::new(&stream, &shape)?;
    plan.forward(&left.view(..48)?, &mut right)?;
    expect_error(
        plan.forward(&left.view(..47)?, &mut right),
        Status::ERROR_OUT_OF_BOUNDS,
        "the input of the transform needs 48 elements; there are 47",
    );
    let half = Fft::<f32, C32>::new(&stream, &FftShape::new(&[2, 9]))?;
    let real = stream.alloc_zeros::<f32>(18)?;
    half.forward(&real, &mut right.view_mut(..10)?)?;
    expect_error(
        half.forward(&real, &mut right.view_mut(..9)?),
        Status::ERROR_OUT_OF_BOUNDS,
        "the output of the transform needs 10 elements; there are 9",
    );
    Ok(())
}

#[test]
fn wrong_shapes_are_errors() -> Result<()> {
    let context = context();
    let stream = context.default_stream()?;
    let plan = |shape: FftShape| Fft::<C32>::new(&stream, &shape);
    let invalid = Status::ERROR_INVALID_ARGUMENT;
    expect_error(plan(FftShape::new(&[])), invalid, "shape->rank is 0");
    expect_error(plan(FftShape::new(&[1, 2, 3, 4])), invalid, "shape->rank is 4");
    expect_error(plan(FftShape::new(&[4, 0])), invalid, "shape->sizes[1] is 0");
    expect_error(plan(FftShape::new(&[4]).batch(0)), invalid, "shape->batch_count is 0");
    let overlapping = FftLayout { stride: 1, distance: 3, ..FftLayout::default() };
    let shape = FftShape::new(&[4]).batch(2);
    plan(shape.input(overlapping))?;
    expect_error(plan(shape.output(overlapping)), invalid, "share memory");
    Ok(())
}

#[test]
fn calls_are_captured() -> Result<()> {
    let context = context();
    let stream = context.default_stream()?;
    let given = numbers(8);
    let mut x = stream.clone_htod(&given)?;
    stream.synchronize()?;
    let capture = context.begin_capture()?;
    {
        // SAFETY: the array outlives the graph's runs, and nothing else uses it meanwhile.
        let stream = unsafe { capture.stream() };
        Fft::<C32>::new(stream, &FftShape::new(&[8]))?.forward_in_place(&mut x)?;
    }
    let graph = capture.end()?;
    let nodes = graph.nodes()?;
    assert_eq!(graph.node_info(nodes[0])?.kind, NodeKind::Library);
    let exec = graph.instantiate()?;
    exec.launch(&stream)?;
    expect_near(&stream.clone_dtoh(&x)?, &transformed(&given, -1.0));
    Ok(())
}
