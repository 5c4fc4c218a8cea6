// The machines of AArch64. Linux runs on none without vector registers and floating point, so the
// first row needs no feature.
#include "simt/machine/aarch64/machine_table.h"

namespace km::simt::aarch64 {
namespace {

constexpr uint16_t kElfMachine = 183;  // EM_AARCH64
constexpr Architecture kArchitecture = {"AArch64", "aarch64-unknown-linux-gnu", kElfMachine};

constexpr MachineFacts kTable[] = {
    {
        .architecture = &kArchitecture,
        .name = "neon",
        .needs = "ARMv8-A (NEON)",
        .number = 16,
        .llvm_processor = "generic",
        .llvm_features = "+v8a",
        .vector_bytes = 16,
        .vector_registers = 32,
        .fewest_gather_lanes = 1,
        .most_short_lanes = 16,
        .word_masks = true,
        .fma = true,
        .f16_conversions = true,
        .word_products = true,
        .saturating_conversions = true,
        .maximum_quiets_nans = true,
    },
};

}  // namespace

MachineTable machine_table() { return kTable; }

}  // namespace km::simt::aarch64
