// The machine that code is made for, as code generation asks about it: by what it can do. Which
// instruction sets answer how is told once, in the table of the architecture's folder.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "simt/machine/machine_facts.h"

namespace km::simt {

/// A kind of machine of this architecture. A value: two of one kind are equal.
class Machine {
 public:
  /// The least one, whose code every machine runs that the engine supports.
  Machine() : facts_(&machine_table().front()) {}

  /// All kinds, each of which runs the code of those before it.
  static std::vector<Machine> all();
  /// The kind of this name; nothing: there is none.
  static std::optional<Machine> of_name(std::string_view name);
  /// The kind with this number(); nothing: there is none.
  static std::optional<Machine> of_number(uint32_t number);
  /// The kind whose code LLVM makes for a processor of this name; the least: there is none.
  static Machine of_llvm_processor(std::string_view processor);
  /// The best kind whose code this computer runs, operating system support included.
  static Machine best();
  /// The kind to make code for: KM_CPU_ISA when set (KM_ERROR_INVALID_ARGUMENT for an unknown name,
  /// KM_ERROR_NOT_SUPPORTED for one whose code this computer does not run), else the best.
  static Result<Machine> selected();

  /// Its name: "x86-64-v2", "avx2", "avx512".
  std::string_view name() const { return facts_->name; }
  /// Its number in object files.
  uint32_t number() const { return facts_->number; }
  /// True if this computer runs its code.
  bool runs_here() const;
  /// LLVM's name for its processor.
  std::string_view llvm_processor() const { return facts_->llvm_processor; }
  /// The features that LLVM is to add to the processor, or to take from it.
  std::string_view llvm_features() const { return facts_->llvm_features; }

  // ---- Registers.
  /// The bytes of a vector register.
  uint32_t vector_bytes() const { return facts_->vector_bytes; }
  /// The elements of this size that a vector register holds.
  uint32_t elements_of(uint32_t element_bits) const { return 8 * vector_bytes() / element_bits; }
  /// True if the vector registers hold sixteen 32-bit values of a whole warp: code need not spare
  /// them.
  bool has_many_registers() const { return vector_bytes() * facts_->vector_registers >= 2048; }
  /// True if masks of lanes live in registers of their own, with a bit for a lane, so that their
  /// tests and selections by them cost one instruction. Elsewhere a mask is a vector of integers.
  bool has_mask_registers() const { return facts_->mask_registers; }

  // ---- Memory.
  /// True if elements of this size can be loaded for some lanes of a vector, at no risk for others.
  bool has_masked_loads(uint64_t element_bytes) const {
    const uint64_t least = facts_->least_masked_load_bytes;
    return least != 0 && element_bytes >= least;
  }
  /// True if elements of each size can be stored for some lanes of a vector, as fast as for all.
  bool has_masked_stores() const { return facts_->masked_stores; }
  /// True if elements of 4 and 8 bytes go to and come from every lane's own address by one
  /// instruction, which is worth it.
  bool has_gather_scatter() const { return facts_->gather_scatter; }
  /// The fewest lanes that are worth a packet whose time goes to loads at every lane's own address
  /// (bench/experiments/lanes-for-gathers.md); those of a warp: fewer are never better.
  uint32_t fewest_gather_lanes() const { return facts_->fewest_gather_lanes; }

  // ---- Arithmetic.
  /// True if a product and a sum are rounded together.
  bool has_fma() const { return facts_->fma; }
  /// True if vectors of f32 become f16, in any rounding mode, and back.
  bool has_f16_conversions() const { return facts_->f16_conversions; }
  /// True if vectors of 64-bit integers become floating-point numbers.
  bool has_int64_conversions() const { return facts_->int64_conversions; }
  /// True if vectors of 64-bit integers are multiplied by one instruction.
  bool has_int64_products() const { return facts_->int64_products; }
  /// True if vectors of f32 become unsigned integers, all ones where they do not fit.
  bool has_unsigned_conversions() const { return facts_->unsigned_conversions; }
  /// True if an instruction's own bits say how its result is rounded.
  bool has_embedded_rounding() const { return facts_->embedded_rounding; }
  /// True if one instruction makes any function of three bits, in all bits of a vector.
  bool has_ternary_logic() const { return facts_->ternary_logic; }
  /// True if one instruction takes each word of a vector from any place of one vector, or of two.
  bool has_wide_permutes() const { return facts_->wide_permutes; }

  /// The vector code of the runtime's that it runs.
  KernelSet kernel_set() const { return facts_->kernel_set; }

  friend bool operator==(const Machine&, const Machine&) = default;

 private:
  explicit Machine(const MachineFacts& facts) : facts_(&facts) {}

  const MachineFacts* facts_;
};

}  // namespace km::simt
