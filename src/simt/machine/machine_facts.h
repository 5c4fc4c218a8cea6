// The capabilities of one machine. The folder of each architecture that code is generated for has a
// table of them.
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

/// An architecture that code is generated for, which need not be that of this build.
struct Architecture {
  std::string_view name;  // in messages
  const char* llvm_triple = nullptr;
  uint16_t elf_machine = 0;  // e_machine of its objects
};

/// A row of a machine table. The methods of Machine document the capabilities.
struct MachineFacts {
  const Architecture* architecture = nullptr;
  std::string_view name;   // in KM_CPU_ISA, cache keys and messages
  std::string_view needs;  // the level, with its best-known instructions
  uint32_t number = 0;     // stored in object files, so it never changes
  std::string_view llvm_processor;
  std::string_view llvm_features;
  std::span<const char* const> host_features = {};  // LLVM's names; earlier rows' are implied
  uint32_t vector_bytes = 0, vector_registers = 0;
  uint32_t least_masked_load_bytes = 0;  // 0: no masked loads
  uint32_t fewest_gather_lanes = 0;
  uint32_t most_short_lanes = 32;
  bool mask_registers = false;
  bool word_masks = false;
  bool masked_stores = false;
  bool indivisible_vectors = false;
  bool gather_scatter = false;
  bool fma = false;
  bool f16_conversions = false;
  bool directed_f16_conversions = false;
  bool int64_conversions = false;
  bool int64_products = false;
  bool word_products = false;
  bool unsigned_conversions = false;
  bool saturating_conversions = false;
  bool embedded_rounding = false;
  bool maximum_quiets_nans = false;
  bool ternary_logic = false;
  bool wide_permutes = false;
  KernelSet kernel_set = KernelSet::plain;
};

/// The machines of one architecture in ascending order: each one also runs the code of those before
/// it.
using MachineTable = std::span<const MachineFacts>;

/// The table of this build's architecture.
MachineTable machine_table();
/// The tables of all architectures that code is generated for.
std::span<const MachineTable> machine_tables();

}  // namespace km::simt
