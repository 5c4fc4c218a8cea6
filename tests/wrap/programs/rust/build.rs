//! Wraps the kernels.
fn main() {
    let kernels = kernelmill_build::Kernels::new("kernels.cu").option("--nvrtc=--device-int128");
    let wrapped = kernels.instantiate("scale<float>").instantiate("scale<double>").wrap();
    if let Err(error) = wrapped {
        panic!("{error}");
    }
}
