//! Hands the library's folder on: to this crate's tests, as rpath, and to dependents' build
//! scripts, as DEP_KERNELMILL_RUST_LIBRARY_DIR.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if let Ok(folder) = std::env::var("DEP_KERNELMILL_LIBRARY_DIR") {
        println!("cargo::rustc-link-arg=-Wl,-rpath,{folder}");
        println!("cargo::metadata=library_dir={folder}");
    }
}
