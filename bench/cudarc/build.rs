//! Has the program find the library where the build found it, without LD_LIBRARY_PATH.

fn main() {
    if let Ok(folder) = std::env::var("DEP_KERNELMILL_RUST_LIBRARY_DIR") {
        println!("cargo::rustc-link-arg-bins=-Wl,-rpath,{folder}");
    }
}
