# Unity builds: the C++ files of a folder are compiled as one, which instantiates the templates that
# they share once, in two thirds of the time. Presets that find a missing #include (release,
# ci-clang, the sanitizers) do without.
option(KM_UNITY_BUILD "Compile the files of a folder together (the preset ci does)" OFF)

# Files with internal names that another file of their folder has, too. A redefinition in CI means
# one more of them: share the name if both mean the same, rename one if not, and list the file
# otherwise.
set(km_files_apart
  dropin/cuda/api/driver/init.cpp
  dropin/cuda/api/driver/library_table.cpp
  dropin/cuda/api/driver/log_api.cpp
  dropin/cuda/api/driver/not_implemented.cpp
  dropin/cuda/api/driver/proc_address.cpp
  dropin/cuda/api/memory/managed_api.cpp
  dropin/cuda/api/memory/memory_api.cpp
  dropin/cuda/graph/graph_memory.cpp
  dropin/cuda/memory/virtual_memory.cpp
  dropin/cudnn/api/rnn_api.cpp
  dropin/cudnn/graph/plan.cpp
  dropin/cufft/api_fftw/single_api.cpp
  dropin/cusolver/api/cholesky_api.cpp
  dropin/cusolver/api/lu_api.cpp
  dropin/cusolver/api/qr_api.cpp
  dropin/cusolver/api/refinement_api.cpp
  dropin/cusolver/api_sp/symbolic_api.cpp
  dropin/cusparse/api/sparse_sum_api.cpp
  dropin/cusparse/generic/format_conversion.cpp
  dropin/nvrtc/forward_api.cpp
  dropin/toolchain/fat_binary.cpp
  dropin/toolchain/host_object.cpp
  dropin/toolchain/release.cpp
  src/api/library/sparse.cpp
  src/backends/cpu/blas/x86_64/half_gemm_wide.cpp
  src/backends/cpu/blas/x86_64/half_gemm_widest.cpp
  src/backends/cpu/execution/fiber_block.cpp
  src/backends/cpu/fault/host_copy.cpp
  src/backends/cpu/library/sparse.cpp
  src/backends/cpu/memory/shared_pages.cpp
  src/backends/cpu/module/object_file.cpp
  src/backends/cuda/driver/cufft.cpp
  src/backends/cuda/driver/cusolver.cpp
  src/backends/cuda/driver/cusparse.cpp
  src/backends/cuda/driver/nccl.cpp
  src/backends/vulkan/device/completion_thread.cpp
  src/compile/includes.cpp
  src/core/context/leak_report.cpp
  src/core/error/thread_error.cpp  # libcuda.so.1 goes without its thread-local storage
  src/math/fft/x86_64/lines_widest.cpp
  src/ptx/target.cpp
  src/simt/analysis/memory/gathers.cpp
  src/simt/analysis/memory/polls.cpp
  src/simt/arithmetic/floating_point/half.cpp
  src/simt/arithmetic/lanes_of_llvm.cpp
  src/simt/codegen/lower/tensors/warpgroup_matrices.cpp
  src/simt/passes/merge_shared_atomics.cpp
  src/simt/passes/promote_variables.cpp
  src/simt/runtime/mma_integer.cpp
  src/simt/runtime/mma_real.cpp
  src/simt/runtime/print/device_printf.cpp
  src/simt/runtime/print/printf.cpp
  src/simt/runtime/tensors/tensor_core_scaled.cpp
  src/simt/runtime/tensors/tensor_move.cpp
  src/simt/runtime/tensors/tensor_operands.cpp
  src/simt/runtime/tensors/warpgroup.cpp
  src/spirv/ir/wide.cpp
  src/tools/kernels.cpp
  src/tools/main.cpp
  src/tools/run.cpp
  src/tools/setup.cpp
  src/tools/wrap/emit_cpp.cpp
  src/tools/wrap/emit_go.cpp
  src/tools/wrap/emit_rust.cpp
  src/tools/wrap/emit_zig.cpp
  tests/fuzz/memory_check.cpp
  tests/reference/conformance/sweep.cpp
  tests/unit/base/thread_object_test.cpp
  tests/unit/cpu/race_check_test.cpp
  tests/unit/simt/arithmetic/arith_convert_test.cpp
  tests/unit/simt/arithmetic/arith_harness.cpp
  tests/unit/simt/code_load_test.cpp
  tests/unit/simt/flatten_test.cpp
  tests/unit/simt/interruption_test.cpp
  tests/unit/simt/lanes_test.cpp
  tests/unit/simt/machine_test.cpp
  tests/unit/simt/plan_test.cpp
  tests/unit/simt/target_test.cpp)

# km_use_unity_build(target...): folders of the targets' C++ files are compiled together. Stubs are
# not: they declare each function without its parameters. Nor is src/base, of which each library
# takes the files that it uses; some have static thread-local storage, of which there is little.
function(km_use_unity_build)
  if(NOT KM_UNITY_BUILD)
    return()
  endif()
  foreach(target IN LISTS ARGN)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
    get_target_property(sources ${target} SOURCES)
    get_target_property(base ${target} SOURCE_DIR)
    list(FILTER sources INCLUDE REGEX "\\.cpp$")
    list(FILTER sources EXCLUDE REGEX "/stubs\\.cpp$|/src/base/|^\\$<")
    foreach(source IN LISTS sources)
      cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY ${base} NORMALIZE)
      cmake_path(RELATIVE_PATH source BASE_DIRECTORY ${PROJECT_SOURCE_DIR} OUTPUT_VARIABLE name)
      if(NOT name IN_LIST km_files_apart)
        cmake_path(GET name PARENT_PATH folder)
        string(MAKE_C_IDENTIFIER ${folder} group)
        set_source_files_properties(${source} TARGET_DIRECTORY ${target}
          PROPERTIES UNITY_GROUP ${group})
      endif()
    endforeach()
  endforeach()
endfunction()
