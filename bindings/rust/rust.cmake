# How everything in Rust is built here: cargo, with its output inside the build folder, and with the
# compiler, rustdoc and clippy that lie beside it.
# Tests carry no debug information, and cargo keeps nothing for a second build: both together are
# 4 GB of a disk.
set(KM_CARGO_LEAN CARGO_INCREMENTAL=0 CARGO_PROFILE_DEV_DEBUG=0 CARGO_PROFILE_TEST_DEBUG=0)
get_filename_component(km_rust_folder ${KM_RUSTC} DIRECTORY)
set(KM_CARGO_ENVIRONMENT PATH=${km_rust_folder}:$ENV{PATH} CARGO_TERM_COLOR=never
  ${KM_CARGO_LEAN}
  CARGO_TARGET_DIR=${PROJECT_BINARY_DIR}/rust)

# km_add_cargo_program(TARGET FOLDER NAME OUTPUT LIBRARY_DIR): a program, built anew whenever cargo
# says so.
function(km_add_cargo_program target folder name output library_dir)
  add_custom_target(${target}
    COMMAND ${CMAKE_COMMAND} -E env ${KM_CARGO_ENVIRONMENT} KM_LIBRARY_DIR=${library_dir}
      ${KM_CARGO} build --release --locked --quiet --manifest-path ${folder}/Cargo.toml
    COMMAND ${CMAKE_COMMAND} -E copy_if_different
      ${PROJECT_BINARY_DIR}/rust/release/${name} ${output}
    BYPRODUCTS ${output} VERBATIM
    COMMENT "Building ${target} with cargo")
endfunction()
