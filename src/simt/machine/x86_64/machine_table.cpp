// The machines of x86-64, one for each level of the instruction set.
#include "simt/machine/x86_64/machine_table.h"

namespace km::simt::x86_64 {
namespace {

constexpr uint16_t kElfMachine = 62;  // EM_X86_64
constexpr Architecture kArchitecture = {"x86-64", "x86_64-unknown-linux-gnu", kElfMachine};

constexpr const char* kV2[] = {"cx16", "sahf", "popcnt", "sse3", "ssse3", "sse4.1", "sse4.2"};
constexpr const char* kV3[] = {"avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe"};
constexpr const char* kV4[] = {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"};

constexpr MachineFacts kTable[] = {
    {
        .architecture = &kArchitecture,
        .name = "x86-64-v2",
        .needs = "x86-64-v2 (SSE4.2)",
        .number = 1,
        .llvm_processor = "x86-64-v2",
        .llvm_features = "",
        .host_features = kV2,
        .vector_bytes = 16,
        .vector_registers = 16,
        .fewest_gather_lanes = 32,
        .indivisible_vectors = true,
    },
    {
        .architecture = &kArchitecture,
        .name = "avx2",
        .needs = "x86-64-v3 (AVX2)",
        .number = 2,
        .llvm_processor = "x86-64-v3",
        .llvm_features = "",
        .host_features = kV3,
        .vector_bytes = 32,
        .vector_registers = 16,
        .least_masked_load_bytes = 4,
        .fewest_gather_lanes = 1,
        .indivisible_vectors = true,
        .fma = true,
        .f16_conversions = true,
        .directed_f16_conversions = true,
        .kernel_set = KernelSet::wide,
    },
    {
        .architecture = &kArchitecture,
        .name = "avx512",
        .needs = "x86-64-v4 (AVX-512)",
        .number = 3,
        .llvm_processor = "x86-64-v4",
        // LLVM tunes x86-64-v4 like Skylake, for which it prefers 256-bit registers.
        .llvm_features = "-prefer-256-bit",
        .host_features = kV4,
        .vector_bytes = 64,
        .vector_registers = 32,
        .least_masked_load_bytes = 1,
        .fewest_gather_lanes = 16,
        .mask_registers = true,
        .masked_stores = true,
        .indivisible_vectors = true,
        .gather_scatter = true,
        .fma = true,
        .f16_conversions = true,
        .directed_f16_conversions = true,
        .int64_conversions = true,
        .int64_products = true,
        .unsigned_conversions = true,
        .embedded_rounding = true,
        .ternary_logic = true,
        .wide_permutes = true,
        .kernel_set = KernelSet::widest,
    },
};

}  // namespace

MachineTable machine_table() { return kTable; }

}  // namespace km::simt::x86_64
