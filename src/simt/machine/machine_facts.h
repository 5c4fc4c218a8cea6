// The capabilities of one machine. Each architecture's folder has a table of them.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace km::simt {

/// The variants of the vector code in the runtime library that generated code calls. Generated code
/// contains the numbers, which therefore never change.
enum class KernelSet : uint8_t {
  plain = 0,   // runs on every machine of the architecture
  wide = 1,    // vectors of eight lanes, with fused multiply-add
  widest = 2,  // vectors of sixteen lanes
};

/// A row of the machine table. The methods of Machine document the capabilities.
struct MachineFacts {
  std::string_view name;   // in KM_CPU_ISA, cache keys and messages
  std::string_view needs;  // the level, with its best-known instructions
  uint32_t number = 0;     // stored in object files, so it never changes
  std::string_view llvm_processor;
  std::string_view llvm_features;
  std::span<const char* const> host_features;  // LLVM's names; those of earlier rows are implied
  uint32_t vector_bytes = 0, vector_registers = 0;
  uint32_t least_masked_load_bytes = 0;  // 0: no masked loads
  uint32_t fewest_gather_lanes = 0;
  bool mask_registers = false;
  bool masked_stores = false;
  bool gather_scatter = false;
  bool fma = false;
  bool f16_conversions = false;
  bool int64_conversions = false;
  bool int64_products = false;
  bool unsigned_conversions = false;
  bool embedded_rounding = false;
  bool ternary_logic = false;
  bool wide_permutes = false;
  KernelSet kernel_set = KernelSet::plain;
};

/// The machines of this architecture in ascending order: each one also runs the code of those
/// before it.
std::span<const MachineFacts> machine_table();

}  // namespace km::simt
