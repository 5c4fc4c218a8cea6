// The facts about one machine; the folder of an architecture has a table of them.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace km::simt {

/// The sets of vector code that the runtime brings along beside generated code. Numbers are part of
/// generated code.
enum class KernelSet : uint8_t {
  plain = 0,   // as every machine of the architecture runs it
  wide = 1,    // for vectors of eight lanes, with fused multiplication
  widest = 2,  // for vectors of sixteen lanes
};

/// One kind of machine that code is made for. Machine explains the capabilities.
struct MachineFacts {
  std::string_view name;   // in KM_CPU_ISA, in keys of the cache and in messages
  std::string_view needs;  // its name with an example of the instructions that it stands for
  uint32_t number = 0;     // in object files: stays as it is
  std::string_view llvm_processor;
  std::string_view llvm_features;
  std::span<const char* const> host_features;  // by LLVM's names, beyond those of the row before
  uint32_t vector_bytes = 0, vector_registers = 0;
  uint32_t least_masked_load_bytes = 0;  // 0: there are none
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

/// The machines of this architecture, each of which runs the code of those before it.
std::span<const MachineFacts> machine_table();

}  // namespace km::simt
