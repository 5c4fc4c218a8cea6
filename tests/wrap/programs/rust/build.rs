//! Wraps the kernels: all of them, or with WRAP_PROGRAM_ONLY those of the program.
fn main() {
    println!("cargo::rerun-if-env-changed=WRAP_PROGRAM_ONLY");
    let kernels = kernelmill_build::Kernels::new("kernels.cu");
    let kernels = if std::env::var_os("WRAP_PROGRAM_ONLY").is_some() {
        kernels.option("-DPROGRAM_ONLY").option("--object")
    } else {
        kernels.option("--nvrtc=--device-int128")
    };
    let wrapped = kernels.instantiate("scale<float>").instantiate("scale<double>").wrap();
    if let Err(error) = wrapped {
        panic!("{error}");
    }
}
