// WarpOperations, for instructions that exchange data between lanes. A packet contains all lanes
// that exchange data, so these are operations on registers.
#pragma once

#include "simt/codegen/independent_warp_frame.h"
#include "simt/codegen/values.h"

namespace km::simt {

/// Lowers the family `warp`: shfl, vote, match, redux, elect and activemask.
class WarpOperations : private EmitterBase {
 public:
  WarpOperations(CodeBuilder& builder, const CodePlan& plan, Values& values,
                 IndependentWarpFrame& warp_frame)
      : EmitterBase(builder, plan), values_(values), warp_frame_(warp_frame) {}

  /// Mode c: sets the lanes that take part in the next operation, as bits. They may have arrived in
  /// another group, so they need not be the active ones. Null: the active lanes take part.
  void set_participants(Value* participants) { participants_ = participants; }
  /// The lanes that take part in the current operation, as bits.
  Value* participants() { return participant_bits(); }
  /// Lowers one instruction of the family.
  void lower(const Inst& inst);

 private:
  /// Lowers shfl to a permutation of a vector.
  void lower_shuffle(const Inst& inst);
  /// Lowers vote to integer operations on the bits of the predicate.
  void lower_vote(const Inst& inst);
  /// Lowers match, which gives each lane the set of lanes with an equal value.
  void lower_match(const Inst& inst);
  /// Lowers redux to a reduction over the lanes.
  void lower_redux(const Inst& inst);
  /// Lowers redux of f32: the least or greatest number.
  void lower_real_redux(const Inst& inst);
  /// Lowers elect: the lowest lane is elected.
  void lower_elect(const Inst& inst);
  Value* participant_bits();
  Value* participant_mask();
  Value* participant_groups(const Inst& inst, const ptx::Operand& members);
  /// The operand that lanes contribute; in mode c the values that the participants sent, since some
  /// of them may be inactive now.
  Value* contribution(const Inst& inst, const ptx::Operand& source, ptx::Type type,
                      bool bits_escape);
  Value* permute(Value* source, Value* index);
  Value* reduce_groups(const ptx::Instruction& redux, Value* content, Value* groups);
  llvm::Function* permute_helper();
  llvm::Function* match_helper(llvm::Type* element, bool match_all);

  Values& values_;
  IndependentWarpFrame& warp_frame_;
  Value* participants_ = nullptr;  // i32; null: mask()
};

}  // namespace km::simt
