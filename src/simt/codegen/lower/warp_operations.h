// Warp operations: a packet is a whole warp wherever they occur, so they are register operations.
#pragma once

#include "simt/codegen/independent_warp_frame.h"
#include "simt/codegen/values.h"

namespace km::simt {

/// Lowers the family `warp`: shfl, vote, match, redux, elect and activemask.
class WarpOperations : public Room {
 public:
  WarpOperations(CodeBuilder& builder, const CodePlan& plan, Values& values,
                 IndependentWarpFrame& warp_frame)
      : Room(builder, plan), values_(values), warp_frame_(warp_frame) {}

  /// Mode c: sets the lanes that take part, as bits, which need not be those that run. Null: those
  /// that run do.
  void set_participants(Value* participants) { participants_ = participants; }
  /// Lowers an instruction of the family.
  void lower(const Inst& inst);

 private:
  /// Lowers shfl: a permutation of lanes.
  void lower_shuffle(const Inst& inst);
  /// Lowers vote by the bits of a predicate.
  void lower_vote(const Inst& inst);
  /// Lowers match: each lane gets the lanes that have its value.
  void lower_match(const Inst& inst);
  /// Lowers redux: a reduction over lanes.
  void lower_redux(const Inst& inst);
  /// Lowers elect: the lowest lane is elected.
  void lower_elect(const Inst& inst);
  Value* participant_bits();
  Value* participant_mask();
  Value* participant_groups(const Inst& inst, const ptx::Operand& members);
  /// The source of the operation: in mode c what each participant has sent.
  Value* contribution(const Inst& inst, const ptx::Operand& source, ptx::Type type,
                      bool bits_escape);
  Value* permute(Value* source, Value* index);
  Value* reduce_groups(const ptx::Instruction& redux, Value* content, Value* groups);
  llvm::Function* permute_helper();
  llvm::Function* match_helper(llvm::Type* element, bool match_all);

  Values& values_;
  IndependentWarpFrame& warp_frame_;
  Value* participants_ = nullptr;  // i32
};

}  // namespace km::simt
