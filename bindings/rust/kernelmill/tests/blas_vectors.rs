//! BLAS of level 1 gives right results for all types; vectors are checked.

mod common;
#[path = "common/dense.rs"]
mod dense;

use common::{context, expect_error};
use dense::{C, Element, numbers};
use kernelmill::blas::{Blas, Complex, Layout, Number, Real, Vector, VectorMut, rotg, rotmg};
use kernelmill::{Context, Result, Slice, Status, Stream};

fn blas() -> Result<(Context, Stream, Blas)> {
    let context = context();
    let stream = context.default_stream()?;
    let blas = Blas::new(&stream, Layout::ROWS)?;
    Ok((context, stream, blas))
}

fn upload<T: Element>(stream: &Stream, values: &[C]) -> Result<Slice<T>> {
    stream.clone_htod(&values.iter().map(|value| T::of(*value)).collect::<Vec<_>>())
}

fn values<T: Element>(stream: &Stream, slice: &Slice<T>) -> Result<Vec<C>> {
    Ok(stream.clone_dtoh(slice)?.into_iter().map(T::value).collect())
}

fn updates<T: Element>() -> Result<()> {
    let (_context, stream, blas) = blas()?;
    let (x, y, alpha) = (numbers::<T>(9, 1), numbers::<T>(9, 2), numbers::<T>(1, 3)[0]);
    let (on_x, mut on_y) = (upload::<T>(&stream, &x)?, upload::<T>(&stream, &y)?);
    blas.axpy(T::of(alpha), &on_x, &mut on_y)?;
    let sum: Vec<C> = x.iter().zip(&y).map(|(x, y)| alpha * *x + *y).collect();
    assert_eq!(values(&stream, &on_y)?, sum);
    blas.scal(T::of(C(2.0, 0.0)), &mut on_y)?;
    assert_eq!(values(&stream, &on_y)?, sum.iter().map(|v| C(2.0, 0.0) * *v).collect::<Vec<_>>());
    // Every third element, from the end, into the first three.
    let mut to = stream.alloc_zeros::<T>(4)?;
    blas.copy(&Vector::strided(&on_x, 3, -3)?, &mut to.view_mut(0..3)?)?;
    assert_eq!(values(&stream, &to)?, [x[6], x[3], x[0], C(0.0, 0.0)]);
    // Elements that lie between each other are no overlap.
    let mut pairs = upload::<T>(&stream, &x[..4])?;
    let (left, right) = pairs.split_at_mut(1)?;
    let (mut left, mut right) = (left, right);
    blas.swap(&mut VectorMut::new(&mut left)?, &mut right.view_mut(2..)?)?;
    assert_eq!(values(&stream, &pairs)?, [x[3], x[1], x[2], x[0]]);
    Ok(())
}

fn reductions<T: Element>() -> Result<()> {
    let (context, stream, blas) = blas()?;
    let (x, y) = (numbers::<T>(9, 1), numbers::<T>(9, 2));
    let (on_x, on_y) = (upload::<T>(&stream, &x)?, upload::<T>(&stream, &y)?);
    let sum = |conj: bool| {
        let terms = x.iter().zip(&y).map(|(x, y)| if conj { x.conj() } else { *x } * *y);
        terms.fold(C(0.0, 0.0), |sum, term| sum + term)
    };
    let mut result = context.alloc_zeros::<T>(1)?;
    blas.dot(&on_x, &on_y, &mut result)?;
    assert_eq!(values(&stream, &result)?, [sum(false)]);
    blas.dotc(&on_x, &on_y, &mut result)?;
    assert_eq!(values(&stream, &result)?, [sum(true)]);
    let magnitude = |v: &C| v.0.abs() + v.1.abs();
    let mut real = context.alloc_zeros::<T::Real>(2)?;
    blas.asum(&on_x, &mut real.view_mut(1..)?)?;
    let total: f64 = x.iter().map(magnitude).sum();
    assert_eq!(stream.clone_dtoh(&real)?, [T::real(0.0), T::real(total)]);
    let legs = upload::<T>(&stream, &[C(3.0, 0.0), C(0.0, 0.0), C(4.0, 0.0)])?;
    blas.nrm2(&legs, &mut real.view_mut(..1)?)?;
    assert_eq!(stream.clone_dtoh(&real)?, [T::real(5.0), T::real(total)]);
    let mut index = context.alloc_zeros::<u64>(1)?;
    blas.iamax(&on_x, &mut index)?;
    let largest = x.iter().map(magnitude).fold(0.0, f64::max);
    let first = x.iter().position(|v| magnitude(v) == largest);
    assert_eq!(stream.clone_dtoh(&index)?.first().map(|i| *i as usize), first);
    blas.iamax(&on_x.view(..0)?, &mut index)?;
    assert_eq!(stream.clone_dtoh(&index)?, [u64::MAX]);
    Ok(())
}

fn rotations<T: Element>() -> Result<()> {
    let (_context, stream, blas) = blas()?;
    let (x, y) = (numbers::<T>(4, 1), numbers::<T>(4, 2));
    let (mut on_x, mut on_y) = (upload::<T>(&stream, &x)?, upload::<T>(&stream, &y)?);
    blas.rot(&mut on_x, &mut on_y, T::real(2.0), T::real(-3.0))?;
    let turned = |a: C, x: &[C], b: C, y: &[C]| -> Vec<C> {
        x.iter().zip(y).map(|(x, y)| a * *x + b * *y).collect()
    };
    assert_eq!(values(&stream, &on_x)?, turned(C(2.0, 0.0), &x, C(-3.0, 0.0), &y));
    assert_eq!(values(&stream, &on_y)?, turned(C(3.0, 0.0), &x, C(2.0, 0.0), &y));
    Ok(())
}

fn real_rotations<T: Element + Real>() -> Result<()> {
    let (_context, stream, blas) = blas()?;
    let number = |value: f64| T::of(C(value, 0.0));
    let rotation = rotg(number(3.0), number(4.0))?;
    assert_eq!(rotation.r.value(), C(5.0, 0.0));
    // A flag of -1: all four numbers count.
    let parameters = [-1.0, 1.0, 2.0, 3.0, 4.0].map(number);
    let mut x = stream.clone_htod(&[number(1.0)])?;
    let mut y = stream.clone_htod(&[number(10.0)])?;
    blas.rotm(&mut x, &mut y, &parameters)?;
    assert_eq!(
        (values(&stream, &x)?, values(&stream, &y)?),
        (vec![C(31.0, 0.0)], vec![C(42.0, 0.0)])
    );
    // The second number becomes 0, and x1 is what the parameters make of the first.
    let made = rotmg(number(1.0), number(1.0), number(3.0), number(4.0))?;
    let mut x = stream.clone_htod(&[number(3.0)])?;
    let mut y = stream.clone_htod(&[number(4.0)])?;
    blas.rotm(&mut x, &mut y, &made.parameters)?;
    assert_eq!(values(&stream, &x)?, [made.x1.value()]);
    assert!(values(&stream, &y)?[0].0.abs() < 1e-6);
    Ok(())
}

#[test]
fn level_1_is_right_for_all_types() -> Result<()> {
    fn all<T: Element>() -> Result<()> {
        updates::<T>()?;
        reductions::<T>()?;
        rotations::<T>()
    }
    all::<f32>()?;
    all::<f64>()?;
    all::<Complex<f32>>()?;
    all::<Complex<f64>>()
}

#[test]
fn rotations_are_made_and_used() -> Result<()> {
    real_rotations::<f32>()?;
    real_rotations::<f64>()?;
    let rotation = rotg(Complex::new(0.0f64, 3.0), Complex::new(4.0, 0.0))?;
    assert_eq!((rotation.c, rotation.r), (0.6, Complex::new(0.0, 5.0)));
    assert_eq!(rotation.s, Complex::new(0.0, 0.8));
    Ok(())
}

#[test]
fn lengths_are_checked() -> Result<()> {
    let (context, _stream, blas) = blas()?;
    let argument = Status::ERROR_INVALID_ARGUMENT;
    let (x, mut y) = (context.alloc_zeros::<f32>(3)?, context.alloc_zeros::<f32>(4)?);
    expect_error(blas.axpy(1.0, &x, &mut y), argument, "length of x is 3 and that of y is 4");
    let mut result = context.alloc_zeros::<f32>(2)?;
    expect_error(blas.dot(&x, &x, &mut result), argument, "the result has 2 elements");
    expect_error(blas.nrm2(&x, &mut result), argument, "the result has 2 elements");
    let mut two = context.alloc_zeros::<u64>(2)?;
    expect_error(blas.iamax(&x, &mut two), argument, "2 elements");
    Ok(())
}

#[test]
fn increments_are_checked() -> Result<()> {
    let (context, _stream, blas) = blas()?;
    let (bounds, argument) = (Status::ERROR_OUT_OF_BOUNDS, Status::ERROR_INVALID_ARGUMENT);
    let mut x = context.alloc_zeros::<f32>(9)?;
    let message = "a vector of 6 elements with increment -2 needs 11 elements; there are 9";
    expect_error(Vector::strided(&x, 6, -2), bounds, message);
    expect_error(VectorMut::strided(&mut x, 10, 1), bounds, "needs 10 elements; there are 9");
    expect_error(Vector::strided(&x, 2, 0), argument, "increment 0");
    expect_error(Vector::strided(&x, 3, i64::MIN), bounds, "needs");
    expect_error(Vector::strided(&x, usize::MAX, i64::MAX), bounds, "more than 2^64");
    assert_eq!(Vector::strided(&x, 5, -2)?.len(), 5);
    assert!(Vector::strided(&x, 0, -7)?.is_empty());
    let far = Vector::strided(&x, 1, 1 << 40)?; // one element needs no step, but BLAS cannot say it
    let mut y = context.alloc_zeros::<f32>(1)?;
    expect_error(blas.copy(&far, &mut y), argument, "increment");
    let mut index = context.alloc_zeros::<u64>(1)?;
    expect_error(blas.iamax(&Vector::strided(&x, 2, -1)?, &mut index), argument, "increment");
    Ok(())
}

#[test]
fn objects_of_other_contexts_are_refused() -> Result<()> {
    let (_context, _stream, blas) = blas()?;
    let other = context();
    let mut foreign = other.alloc_zeros::<f32>(3)?;
    expect_error(blas.scal(1.0, &mut foreign), Status::ERROR_CONTEXT_MISMATCH, "context");
    expect_error(
        Blas::new(&other.default_stream()?, Layout(7)),
        Status::ERROR_INVALID_ARGUMENT,
        "layout",
    );
    Ok(())
}

#[test]
fn objects_go_in_any_order() -> Result<()> {
    let (context, stream, blas) = blas()?;
    let mut x = stream.clone_htod(&vec![1.0f32; 1 << 16])?;
    blas.scal(3.0, &mut x)?;
    let second = Blas::new(&stream, Layout::COLUMNS)?;
    drop(blas);
    second.scal(2.0, &mut x)?;
    drop((second, context));
    assert_eq!(stream.clone_dtoh(&x)?, vec![6.0; 1 << 16]);
    Ok(())
}

fn is_number<T: Number>() {}

#[test]
fn all_types_are_numbers() {
    is_number::<f32>();
    is_number::<f64>();
    is_number::<Complex<f32>>();
    is_number::<Complex<f64>>();
}
