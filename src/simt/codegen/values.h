// Values, which assigns storage to the kernel's values, reads operands and writes results.
#pragma once

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "simt/codegen/special_registers.h"

namespace km::simt {

/// Reads operands and defines results. A value that other basic blocks read has a variable. A value
/// read after the divergent loop that computes it has another variable, which holds in each lane
/// the content of that lane's last iteration. In mode c, variables are in scratch memory.
class Values : private EmitterBase {
 public:
  /// The pointer to a variable, and the type of its content.
  struct Place {
    Value* pointer = nullptr;
    llvm::Type* type = nullptr;
  };

  Values(CodeBuilder& builder, const CodePlan& plan, LaunchFrame& frame,
         SpecialRegisters& registers);

  // ---- Operands and results.
  /// Reads an operand as `type`: as a vector of all lanes, or as a scalar (the base of an offset
  /// shape). `bits_escape`: the result is used as bits, for example stored, so NaNs must be
  /// canonical.
  Value* operand(const Inst& inst, const ptx::Operand& operand, ptx::Type type, bool as_vector,
                 bool bits_escape);
  /// Writes one result of an instruction. If the instruction has a guard, lanes whose guard is
  /// false keep the register's old content.
  void define_result(const Inst& inst, ptx::RegisterId reg, Value* content, ptx::Type type);
  /// True if no result of the instruction varies over lanes, so that computing one scalar is
  /// enough.
  bool results_are_scalar(const Inst& inst) const;

  // ---- Values.
  /// The shape of a value at the current basic block, which differs from the shape at its
  /// definition after a divergent loop.
  Shape shape_of(ValueId value) const { return plan_.shapes->at(kernel_, value, position_.block); }
  /// The value as it is stored for the current basic block: a scalar, the base of an offset shape,
  /// or a vector.
  Value* stored(ValueId value);
  /// stored() for a value that does not vary over lanes.
  Value* scalar(ValueId value);
  /// The value as a vector of all lanes.
  Value* vector(ValueId value);
  /// The condition under which base + offsets is right for a speculative value: no 32-bit
  /// expression wrapped. Null: it is always right.
  Value* no_wrap(ValueId value);
  /// Canonicalises NaNs in the content if the value may hold one computed by the host's arithmetic.
  Value* canonical(ValueId value, Value* content);
  /// Caches the content as the value's definition, and stores it in the variable if other basic
  /// blocks read it.
  void define(ValueId value, Value* content);

  // ---- Variables.
  /// The type of a value's variable.
  llvm::Type* storage_type(ValueId value) const;
  /// The variable of a value, created at the first use. Asking for one that an earlier region
  /// defined makes the region load it at its start.
  Place value_variable(ValueId value);
  /// The variable that holds a value as each lane left the divergent loop.
  Place loop_variable(ValueId value, uint32_t loop);
  /// Stores the value as lanes of `mask` (null: all) leave the loop.
  void store_loop_value(ValueId value, uint32_t loop, Value* mask);
  /// Mode c: assigns each variable a place in scratch memory, starting at `offset`. Returns the
  /// end.
  uint64_t lay_out_in_scratch(uint64_t offset);
  /// Records that the value enters the current region from a spill slot, with the content it had
  /// after leaving the divergent `loop` (UINT32_MAX: none).
  void begin_kept(ValueId value, uint32_t loop);
  /// Ends begin_kept(). Returns the loop if code of the region uses the variable, so that only
  /// those values are loaded.
  std::optional<uint32_t> end_kept(ValueId value);

 private:
  /// The least and the greatest of the lanes' numbers, i64.
  struct LaneEnds {
    Value *first, *last;
  };
  bool has_lane_ends(const Inst& inst, const ptx::Operand& operand, ptx::Type type);
  LaneEnds ends_of(const Inst& inst, const ptx::Operand& operand, ptx::Type type);
  Value* as_64_bits(Value* content, ptx::Type type);
  Value* are_numbers_of(const LaneEnds& ends, ptx::Type type);
  Value* no_wrap_of(const Inst& inst, const ptx::Operand& operand, ValueId result);
  Value* clamps_none(const Inst& inst);
  static constexpr uint32_t kNotKept = UINT32_MAX - 1;

  llvm::Constant* lane_constant(llvm::Type* element, const std::vector<uint64_t>& lanes);
  Value* offsets_constant(const Shape& shape, llvm::Type* element);
  Value* exact_vector(ValueId value);

  LaunchFrame& frame_;
  SpecialRegisters& registers_;
  std::vector<Place> value_variables_;
  std::map<std::pair<ValueId, uint32_t>, Place> loop_variables_;
  std::vector<uint64_t> value_offsets_;  // by value: offset in scratch memory
  std::vector<uint32_t> kept_after_;     // by value: the divergent loop that it left, or kNotKept
  std::vector<uint8_t> is_needed_;       // by value: a region that begins with it uses it
};

}  // namespace km::simt
