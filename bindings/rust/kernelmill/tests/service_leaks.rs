//! 10^5 objects of the services are made and dropped: memory, files and threads stay as they were.
//! A program of its own, because it measures the process.

mod common;
#[path = "common/flat.rs"]
mod flat;

use common::{context, expect_error};
use flat::{CYCLES, few_cycles, stays_flat};
use kernelmill::blas::{Blas, Layout, Matrix, MatrixMut, rotg};
use kernelmill::{Device, Result, Status, Tracking, TuneBufferFlags, Tuner};

#[test]
fn services_do_not_leak() -> Result<()> {
    let context = context();
    let stream = context.default_stream()?;
    let device = Device::open("cpu")?;
    let numbers = stream.clone_htod(&[1.0f32; 16])?;
    let mut sums = stream.alloc_zeros::<f32>(16)?;
    let blas = Blas::new(&stream, Layout::ROWS)?;
    stays_flat("BLAS object", CYCLES, || Blas::new(&stream, Layout::ROWS).map(drop))?;
    stays_flat("BLAS call", few_cycles(), || {
        let a = Matrix::new(Layout::ROWS, &numbers, 4, 4)?;
        let mut c = MatrixMut::new(Layout::ROWS, &mut sums, 4, 4)?;
        blas.gemm(1.0, &a, &a.transposed(), 0.0, &mut c)?;
        stream.synchronize()
    })?;
    stays_flat("rotation", CYCLES, || rotg(3.0f64, 4.0).map(drop))?;
    stays_flat("tuning", CYCLES, || {
        let mut tuner = Tuner::new(&device, "no source", "kernel")?;
        tuner.set_progress(|_, _| {});
        tuner.add_scalar(&1i32)?;
        tuner.add_buffer(&[1u8, 2, 3], TuneBufferFlags::DEFAULT)
    })?;
    let profiler = context.profiler();
    profiler.start()?;
    stays_flat("range", few_cycles(), || {
        profiler.range("range").map(drop)?;
        profiler.clear()
    })?;
    stays_flat("rows", few_cycles(), || profiler.rows().map(drop))?;
    profiler.stop()?;
    context.set_tracking(Tracking::STACKS)?;
    stays_flat("allocation", few_cycles(), || {
        let slice = context.alloc::<u8>(10)?;
        slice.set_tag("allocation")?;
        context.allocations().map(drop)
    })?;
    stays_flat("failure", few_cycles(), || {
        expect_error(context.load_ptx("no PTX"), Status::ERROR_INVALID_PTX, "");
        context.error_history().map(drop)?;
        kernelmill::take_last_error().map(drop)
    })
}
