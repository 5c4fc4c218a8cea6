// The machine for which code is generated, described by capabilities. Only the tables in the
// architectures' folders map instruction sets to capabilities.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "simt/machine/machine_facts.h"

namespace km::simt {

/// A kind of machine of any architecture that code is generated for. Machine is a value type: two
/// machines of one kind are equal.
class Machine {
 public:
  /// The baseline of this build's architecture, whose code runs on every supported machine.
  Machine() : facts_(&machine_table().front()) {}

  /// All kinds of this build's architecture in ascending order: each one also runs the code of
  /// those before it.
  static std::vector<Machine> all();
  /// All kinds of all architectures.
  static std::vector<Machine> of_all_architectures();
  /// The kind with this name, if there is one.
  static std::optional<Machine> of_name(std::string_view name);
  /// The kind with this number(), if there is one.
  static std::optional<Machine> of_number(uint32_t number);
  /// The kind with this llvm_processor(); the baseline if there is none.
  static Machine of_llvm_processor(std::string_view processor);
  /// The best kind that both this computer and its operating system support; the baseline if they
  /// support none.
  static Machine best();
  /// The kind that KM_CPU_ISA names, or the best one if the variable is not set. Fails with
  /// KM_ERROR_INVALID_ARGUMENT for an unknown name, and with KM_ERROR_NOT_SUPPORTED if this
  /// computer does not run the kind's code.
  static Result<Machine> selected();

  /// The kind that KM_CPU_OBJECT_ISA names, of any architecture; nothing if the variable is not
  /// set. Fails with KM_ERROR_INVALID_ARGUMENT for an unknown name.
  static Result<std::optional<Machine>> selected_for_objects();

  const Architecture& architecture() const { return *facts_->architecture; }
  /// The name that users see: "x86-64-v2", "avx2", "avx512", "neon".
  std::string_view name() const { return facts_->name; }
  /// The number in object files.
  uint32_t number() const { return facts_->number; }
  /// True if this computer runs the kind's code.
  bool runs_here() const;
  /// LLVM's name for the processor.
  std::string_view llvm_processor() const { return facts_->llvm_processor; }
  /// The features that LLVM adds to those of the processor, or removes from them.
  std::string_view llvm_features() const { return facts_->llvm_features; }

  // ---- Registers.
  /// The size of a vector register.
  uint32_t vector_bytes() const { return facts_->vector_bytes; }
  /// The number of elements of this size in a vector register.
  uint32_t elements_of(uint32_t element_bits) const { return 8 * vector_bytes() / element_bits; }
  /// True if the vector registers together hold sixteen 32-bit values of every lane of a warp, so
  /// that code may keep several vectors live at once.
  bool has_many_registers() const { return vector_bytes() * facts_->vector_registers >= 2048; }
  /// The lanes of a packet of a short kernel whose lanes do not work together, on machines without
  /// many registers: those of four registers, but all of a warp where that has been faster.
  uint32_t most_short_lanes() const { return facts_->most_short_lanes; }
  /// True if lane masks have registers of their own with one bit per lane, so that a test of a mask
  /// or a select by it is one instruction. On other machines a mask is a vector of integers.
  bool has_mask_registers() const { return facts_->mask_registers; }
  /// True if LLVM needs masks as vectors of words for good code. Elsewhere it finds a good form of
  /// vectors of i1 by itself.
  bool has_word_masks() const { return facts_->word_masks; }

  // ---- Memory.
  /// True if a vector of elements of this size can be loaded for some lanes only, without access to
  /// the addresses of the other lanes.
  bool has_masked_loads(uint64_t element_bytes) const {
    const uint64_t least = facts_->least_masked_load_bytes;
    return least != 0 && element_bytes >= least;
  }
  /// True if stores can be masked for every element size and are as fast as unmasked ones.
  bool has_masked_stores() const { return facts_->masked_stores; }
  /// True if a load or store of an aligned vector of 128 bits is indivisible: no thread sees a part
  /// of another's store. Elsewhere only exclusive accesses are.
  bool has_indivisible_vectors() const { return facts_->indivisible_vectors; }
  /// True if gathers and scatters of 4-byte and 8-byte elements are single instructions and faster
  /// than one access per lane.
  bool has_gather_scatter() const { return facts_->gather_scatter; }
  /// The smallest packet that pays off if gathers dominate
  /// (bench/experiments/lanes-for-gathers.md); a whole warp if smaller packets never do.
  uint32_t fewest_gather_lanes() const { return facts_->fewest_gather_lanes; }

  // ---- Arithmetic.
  /// True if a multiply-add can be rounded once.
  bool has_fma() const { return facts_->fma; }
  /// True if vectors of f32 can be converted to f16, rounded to nearest, and back.
  bool has_f16_conversions() const { return facts_->f16_conversions; }
  /// True if the conversion to f16 can round in any mode.
  bool has_directed_f16_conversions() const { return facts_->directed_f16_conversions; }
  /// True if vectors of 64-bit integers can be converted to floating point.
  bool has_int64_conversions() const { return facts_->int64_conversions; }
  /// True if one instruction multiplies vectors of 64-bit integers.
  bool has_int64_products() const { return facts_->int64_products; }
  /// True if vectors of 64-bit products are best made of products of words, for which there is an
  /// instruction. LLVM uses that one only if it sees that both factors are extended words, and
  /// multiplies lane by lane otherwise.
  bool has_word_products() const { return facts_->word_products; }
  /// True if vectors of f32 can be converted to unsigned integers, with all ones for values out of
  /// range.
  bool has_unsigned_conversions() const { return facts_->unsigned_conversions; }
  /// True if vectors of f32 can be converted to integers in any rounding mode, with the nearest
  /// integer for values out of range and zero for NaN.
  bool has_saturating_conversions() const { return facts_->saturating_conversions; }
  /// True if instructions can encode a rounding mode.
  bool has_embedded_rounding() const { return facts_->embedded_rounding; }
  /// True if LLVM makes an instruction of `a > b ? a : b` whose result for a signalling NaN is a
  /// quiet one, and not `b`.
  bool maximum_quiets_nans() const { return facts_->maximum_quiets_nans; }
  /// True if one instruction computes any bitwise function of three vectors.
  bool has_ternary_logic() const { return facts_->ternary_logic; }
  /// True if one instruction selects the words of its result from anywhere in one vector, or in
  /// two.
  bool has_wide_permutes() const { return facts_->wide_permutes; }

  /// The set of the runtime's vector kernels that runs on the machine.
  KernelSet kernel_set() const { return facts_->kernel_set; }

  friend bool operator==(const Machine&, const Machine&) = default;

 private:
  explicit Machine(const MachineFacts& facts) : facts_(&facts) {}

  const MachineFacts* facts_;
};

}  // namespace km::simt
