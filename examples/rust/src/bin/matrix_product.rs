//! A matrix product whose bands of rows go through four streams at once: copies to the device,
//! kernels and copies back overlap. It checks the product and says how long it took.

use std::error::Error;
use std::process::ExitCode;
use std::time::Instant;

use kernelmill::{Context, LaunchConfig, Pending, PinnedMemory, Slice, Stream};
use ndarray::{Array2, ArrayView2, Axis, s};

#[path = "../generated/product.rs"]
#[rustfmt::skip]
mod kernels;
use kernels::Kernels;

const TILE: u32 = 16;
const STREAMS: usize = 4;
const BAND: usize = 40; // rows

/// Page-locked memory with a copy of rows.
fn pinned(context: &Context, rows: ArrayView2<f32>) -> kernelmill::Result<PinnedMemory<f32>> {
    let mut memory = context.alloc_pinned(rows.len())?;
    memory.iter_mut().zip(rows).for_each(|(place, element)| *place = *element);
    Ok(memory)
}

/// Queues the product of a band of A with all of B, and gives the copy of it that is under way.
fn queue_band(
    stream: &Stream,
    kernels: &Kernels,
    band: ArrayView2<f32>,
    b: &Slice<f32>,
) -> kernelmill::Result<Pending<f32>> {
    let context = stream.context()?;
    let (rows, depth) = band.dim();
    let columns = b.len() / depth;
    let mut a = stream.alloc(band.len())?;
    // The copy owns the host's memory until it is done; nobody needs to wait for it.
    drop(stream.memcpy_htod_async(pinned(&context, band)?, &mut a)?);
    let mut c = stream.alloc::<f32>(rows * columns)?;
    let config = LaunchConfig {
        grid_dim: ((columns as u32).div_ceil(TILE), (rows as u32).div_ceil(TILE), 1),
        block_dim: (TILE, TILE, 1),
        shared_mem_bytes: 0,
    };
    // SAFETY: the kernel reads and writes whole matrices of these sizes.
    unsafe {
        kernels.product(stream, config, &a, b, &mut c, rows as i32, depth as i32, columns as i32)
    }?;
    stream.clone_dtoh_async(&c)
}

/// The objects that products need.
struct Multiplier {
    kernels: Kernels,
    streams: Vec<Stream>,
}

impl Multiplier {
    fn new(context: &Context) -> kernelmill::Result<Self> {
        let kernels = Kernels::load(context)?;
        let streams = (0..STREAMS).map(|_| context.new_stream()).collect::<Result<_, _>>()?;
        Ok(Self { kernels, streams })
    }

    fn multiply(&self, a: &Array2<f32>, b: &Array2<f32>) -> kernelmill::Result<Array2<f32>> {
        let on_device = self.streams[0].clone_htod_array(b)?; // the other streams wait for it
        let bands = a.axis_chunks_iter(Axis(0), BAND);
        let pending: Vec<_> = bands
            .zip(self.streams.iter().cycle())
            .map(|(band, stream)| queue_band(stream, &self.kernels, band, &on_device))
            .collect::<Result<_, _>>()?;
        let mut c = Array2::zeros((a.nrows(), b.ncols()));
        for (mut rows, copy) in c.axis_chunks_iter_mut(Axis(0), BAND).zip(pending) {
            let done = copy.wait()?;
            rows.iter_mut().zip(done.iter()).for_each(|(place, element)| *place = *element);
        }
        Ok(c)
    }
}

fn run() -> Result<(), Box<dyn Error>> {
    // Small whole numbers, so that the product is exact.
    let a = Array2::from_shape_fn((500, 300), |(i, j)| ((i * 7 + j * 3) % 11) as f32 - 5.0);
    let b = Array2::from_shape_fn((300, 210), |(i, j)| ((i * 5 + j * 2) % 13) as f32 - 6.0);
    let multiplier = Multiplier::new(&Context::open("auto")?)?;
    multiplier.multiply(&a, &b)?; // makes the machine code
    let start = Instant::now();
    let c = multiplier.multiply(&a, &b)?;
    println!("a product of {:?} and {:?} took {:?}", a.dim(), b.dim(), start.elapsed());
    println!("its corner:\n{}", c.slice(s![..3, ..3]));
    if c != a.dot(&b) {
        return Err("the product is wrong".into());
    }
    Ok(())
}

fn main() -> ExitCode {
    run().map_or_else(
        |error| {
            eprintln!("matrix_product: {error}");
            ExitCode::FAILURE
        },
        |()| ExitCode::SUCCESS,
    )
}
