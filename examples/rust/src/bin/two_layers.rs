//! A network of two layers learns a function: matrix products by BLAS, what is in between by two
//! kernels. Each step is checked against the same step by ndarray on the host.

use std::error::Error;
use std::process::ExitCode;

use kernelmill::blas::{Blas, Layout, Matrix, MatrixMut};
use kernelmill::{Context, LaunchConfig, Slice, Stream};
use ndarray::{Array1, Array2, Axis, Zip};

#[path = "../generated/two_layers.rs"]
#[rustfmt::skip]
mod kernels;
use kernels::Kernels;

const BATCH: usize = 64;
const INPUTS: usize = 3;
const HIDDEN: usize = 32;
const OUTPUTS: usize = 2;
const RATE: f64 = 0.1;
const STEPS: usize = 50;
const ROWS: Layout = Layout::ROWS;

/// The network on the host.
struct Network {
    first: Array2<f64>,
    bias: Array1<f64>,
    second: Array2<f64>,
}

impl Network {
    fn new() -> Self {
        let weight = |i: usize, j: usize| ((i * 37 + j * 17) % 29) as f64 / 29.0 - 0.5;
        Self {
            first: Array2::from_shape_fn((INPUTS, HIDDEN), |(i, j)| weight(i, j)),
            bias: Array1::from_shape_fn(HIDDEN, |j| weight(3, j)),
            second: Array2::from_shape_fn((HIDDEN, OUTPUTS), |(i, j)| weight(j + 5, i)),
        }
    }

    /// A step of gradient descent; gives the loss before it.
    fn step(&mut self, x: &Array2<f64>, wanted: &Array2<f64>) -> f64 {
        let hidden = (x.dot(&self.first) + &self.bias).mapv(|value| value.max(0.0));
        let error = hidden.dot(&self.second) - wanted;
        let mut gradient = error.dot(&self.second.t());
        Zip::from(&mut gradient).and(&hidden).for_each(|g, h| *g = if *h > 0.0 { *g } else { 0.0 });
        let rate = -RATE / BATCH as f64;
        self.second.scaled_add(rate, &hidden.t().dot(&error));
        self.first.scaled_add(rate, &x.t().dot(&gradient));
        self.bias.scaled_add(rate, &gradient.sum_axis(Axis(0)));
        error.mapv(|value| value * value).sum() / (2 * BATCH) as f64
    }
}

/// The network on the device, and memory for a step.
struct DeviceNetwork {
    stream: Stream,
    blas: Blas,
    kernels: Kernels,
    first: Slice<f64>,
    bias: Slice<f64>,
    second: Slice<f64>,
    hidden: Slice<f64>,
    gradient: Slice<f64>,
    error: Slice<f64>,
    ones: Slice<f64>,
    norm: Slice<f64>,
}

impl DeviceNetwork {
    fn new(context: &Context, network: &Network) -> kernelmill::Result<Self> {
        let stream = context.default_stream()?;
        Ok(Self {
            blas: Blas::new(&stream, ROWS)?,
            kernels: Kernels::load(context)?,
            first: stream.clone_htod_array(&network.first)?,
            bias: stream.clone_htod_array(&network.bias)?,
            second: stream.clone_htod_array(&network.second)?,
            hidden: stream.alloc(BATCH * HIDDEN)?,
            gradient: stream.alloc(BATCH * HIDDEN)?,
            error: stream.alloc(BATCH * OUTPUTS)?,
            ones: stream.clone_htod(&[1.0; BATCH])?,
            norm: stream.alloc(1)?,
            stream,
        })
    }

    /// Error = relu(x first + bias) second - wanted.
    fn forward(&mut self, x: &Slice<f64>, wanted: &Slice<f64>) -> kernelmill::Result<()> {
        let x = Matrix::new(ROWS, x, BATCH, INPUTS)?;
        let first = Matrix::new(ROWS, &self.first, INPUTS, HIDDEN)?;
        let mut hidden = MatrixMut::new(ROWS, &mut self.hidden, BATCH, HIDDEN)?;
        self.blas.gemm(1.0, &x, &first, 0.0, &mut hidden)?;
        let config = LaunchConfig::for_num_elems((BATCH * HIDDEN) as u32);
        let (count, columns) = ((BATCH * HIDDEN) as i32, HIDDEN as i32);
        let (hidden, bias) = (&mut self.hidden, &self.bias);
        // SAFETY: the kernel stays within the matrix and the bias of a row.
        unsafe { self.kernels.bias_relu(&self.stream, config, hidden, bias, count, columns) }?;
        self.blas.copy(wanted, &mut self.error)?;
        let hidden = Matrix::new(ROWS, &self.hidden, BATCH, HIDDEN)?;
        let second = Matrix::new(ROWS, &self.second, HIDDEN, OUTPUTS)?;
        let mut error = MatrixMut::new(ROWS, &mut self.error, BATCH, OUTPUTS)?;
        self.blas.gemm(1.0, &hidden, &second, -1.0, &mut error)
    }

    /// Gradient = error second^T, where the hidden layer let something through.
    fn backward(&mut self) -> kernelmill::Result<()> {
        let error = Matrix::new(ROWS, &self.error, BATCH, OUTPUTS)?;
        let second = Matrix::new(ROWS, &self.second, HIDDEN, OUTPUTS)?;
        let mut gradient = MatrixMut::new(ROWS, &mut self.gradient, BATCH, HIDDEN)?;
        self.blas.gemm(1.0, &error, &second.transposed(), 0.0, &mut gradient)?;
        let count = (BATCH * HIDDEN) as i32;
        let config = LaunchConfig::for_num_elems(count as u32);
        let (gradient, hidden) = (&mut self.gradient, &self.hidden);
        // SAFETY: the kernel stays within the two matrices.
        unsafe { self.kernels.relu_gradient(&self.stream, config, gradient, hidden, count) }
    }

    /// Moves all weights against their gradients.
    fn update(&mut self, x: &Slice<f64>) -> kernelmill::Result<()> {
        let rate = -RATE / BATCH as f64;
        let x = Matrix::new(ROWS, x, BATCH, INPUTS)?;
        let hidden = Matrix::new(ROWS, &self.hidden, BATCH, HIDDEN)?;
        let error = Matrix::new(ROWS, &self.error, BATCH, OUTPUTS)?;
        let gradient = Matrix::new(ROWS, &self.gradient, BATCH, HIDDEN)?;
        let mut second = MatrixMut::new(ROWS, &mut self.second, HIDDEN, OUTPUTS)?;
        self.blas.gemm(rate, &hidden.transposed(), &error, 1.0, &mut second)?;
        let mut first = MatrixMut::new(ROWS, &mut self.first, INPUTS, HIDDEN)?;
        self.blas.gemm(rate, &x.transposed(), &gradient, 1.0, &mut first)?;
        self.blas.gemv(rate, &gradient.transposed(), &self.ones, 1.0, &mut self.bias)
    }

    /// The errors of [`Network::step`].
    fn step(&mut self, x: &Slice<f64>, wanted: &Slice<f64>) -> kernelmill::Result<f64> {
        self.forward(x, wanted)?;
        self.blas.nrm2(&self.error, &mut self.norm)?;
        self.backward()?;
        self.update(x)?;
        let norm = self.stream.clone_dtoh(&self.norm)?.iter().sum::<f64>();
        Ok(norm * norm / (2 * BATCH) as f64)
    }

    /// The largest difference to the weights of the host.
    fn difference(&self, network: &Network) -> kernelmill::Result<f64> {
        let own =
            [&self.first, &self.bias, &self.second].map(|slice| self.stream.clone_dtoh(slice));
        let theirs = network.first.iter().chain(&network.bias).chain(&network.second);
        let mut largest = 0f64;
        let own = own.into_iter().collect::<kernelmill::Result<Vec<_>>>()?.concat();
        own.iter().zip(theirs).for_each(|(a, b)| largest = largest.max((a - b).abs()));
        Ok(largest)
    }
}

fn run() -> Result<(), Box<dyn Error>> {
    let x =
        Array2::from_shape_fn((BATCH, INPUTS), |(i, j)| ((i * (j + 3)) % 17) as f64 / 8.5 - 1.0);
    let wanted = Array2::from_shape_fn((BATCH, OUTPUTS), |(i, j)| (x[[i, j]] * 2.0).sin());
    let mut host = Network::new();
    let context = Context::open("auto")?;
    let mut device = DeviceNetwork::new(&context, &host)?;
    let on_device = (device.stream.clone_htod_array(&x)?, device.stream.clone_htod_array(&wanted)?);
    let mut losses = Vec::new();
    for number in 0..STEPS {
        let loss = device.step(&on_device.0, &on_device.1)?;
        let expected = host.step(&x, &wanted);
        let difference = device.difference(&host)?;
        if (loss - expected).abs() > 1e-10 || difference > 1e-10 {
            return Err(format!(
                "step {number}: the loss is {loss}, expected {expected}; the weights differ by \
                 {difference}"
            )
            .into());
        }
        losses.push(loss);
    }
    println!("the loss fell from {:.6} to {:.6}", losses[0], losses[STEPS - 1]);
    if losses[STEPS - 1] > losses[0] / 2.0 {
        return Err("it did not learn".into());
    }
    Ok(())
}

fn main() -> ExitCode {
    run().map_or_else(
        |error| {
            eprintln!("two_layers: {error}");
            ExitCode::FAILURE
        },
        |()| ExitCode::SUCCESS,
    )
}
