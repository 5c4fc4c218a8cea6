// The places where a kernel's values live, and the reading and writing of registers.
#pragma once

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "simt/codegen/special_registers.h"

namespace km::simt {

/// Reads operands and defines results. A value that code in other basic blocks reads has a
/// variable; one that a divergent loop leaves has another, in which each lane has what it left
/// with. In mode c variables lie in scratch memory.
class Values : public Room {
 public:
  /// A variable.
  struct Place {
    Value* pointer = nullptr;
    llvm::Type* type = nullptr;
  };

  Values(CodeBuilder& builder, const CodePlan& plan, LaunchFrame& frame,
         SpecialRegisters& registers);

  // ---- Operands and results.
  /// An operand read as `type`: all lanes as a vector, or a scalar (the base of an offset shape).
  /// `bits_escape`: NaNs must have PTX's bits.
  Value* operand(const Inst& inst, const ptx::Operand& operand, ptx::Type type, bool as_vector,
                 bool bits_escape);
  /// Writes one result, under the instruction's own guard if it has one.
  void define_result(const Inst& inst, ptx::RegisterId reg, Value* content, ptx::Type type);
  /// True if no result of the instruction varies over lanes.
  bool results_are_scalar(const Inst& inst) const;

  // ---- Values.
  Shape shape_of(ValueId value) const { return plan_.shapes->at(kernel_, value, position_.block); }
  /// The value's own form as seen from the current block: a scalar or base, or a vector.
  Value* stored(ValueId value);
  /// stored() of a value that is known to be no vector.
  Value* scalar(ValueId value);
  /// All lanes of the value.
  Value* vector(ValueId value);
  /// True if base + offsets holds for a speculative value; null: always.
  Value* no_wrap(ValueId value);
  /// The content with PTX's bits if the value may be a NaN that arithmetic made.
  Value* canonical(ValueId value, Value* content);
  /// Makes the content the value, and stores it if other code reads it from a variable.
  void define(ValueId value, Value* content);

  // ---- Variables.
  /// The type of a value's variable.
  llvm::Type* storage_type(ValueId value) const;
  /// The variable of a value; one that an earlier region has left is loaded at the region's start.
  Place value_variable(ValueId value);
  /// The variable for what lanes leave a divergent loop with.
  Place loop_variable(ValueId value, uint32_t loop);
  /// Stores what lanes of `mask` (null: all) leave the loop with.
  void store_loop_value(ValueId value, uint32_t loop, Value* mask);
  /// Mode c: places all variables in scratch memory from `offset` on; gives the end.
  uint64_t lay_out_in_scratch(uint64_t offset);
  /// Notes that memory keeps the value for the region that begins, since the divergent `loop` left.
  void begin_kept(ValueId value, uint32_t loop);
  /// Ends that; gives the loop if code of the region reads the value.
  std::optional<uint32_t> end_kept(ValueId value);

 private:
  static constexpr uint32_t kNotKept = UINT32_MAX - 1;

  llvm::Constant* lane_constant(llvm::Type* element, const std::vector<uint64_t>& lanes);
  Value* offsets_constant(const Shape& shape, llvm::Type* element);
  Value* exact_vector(ValueId value);

  LaunchFrame& frame_;
  SpecialRegisters& registers_;
  std::vector<Place> value_variables_;
  std::map<std::pair<ValueId, uint32_t>, Place> loop_variables_;
  std::vector<uint64_t> value_offsets_;  // by value, in scratch memory
  std::vector<uint32_t> kept_after_;     // by value: the divergent loop left, or kNotKept
  std::vector<uint8_t> is_needed_;       // by value
};

}  // namespace km::simt
