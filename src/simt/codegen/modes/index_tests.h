// IndexTests, for branches that compare an index with a uniform bound.
#pragma once

#include <llvm/IR/InstrTypes.h>

#include <optional>

#include "simt/codegen/values.h"

namespace km::simt {

/// Decides by the lowest and the highest index of a packet whether all lanes take one side of such
/// a branch, because two scalar comparisons cost less than combining a mask.
class IndexTests : private EmitterBase {
 public:
  IndexTests(CodeBuilder& builder, const CodePlan& plan, Values& values)
      : EmitterBase(builder, plan), values_(values) {}

  /// A condition under which all lanes of the current basic block take the edge `slot`. If it is
  /// false, some lanes may still not differ. Null: the branch is not of this kind.
  Value* surely_all_take(const BasicBlock& block, size_t slot);

 private:
  /// The comparison `base + offsets[lane]` with `bound`, in the given order.
  struct IndexTest {
    llvm::CmpInst::Predicate order;
    Value *base = nullptr, *bound = nullptr;
    const Offsets* offsets = nullptr;
  };

  std::optional<IndexTest> test_of(const BasicBlock& block, size_t slot);

  Values& values_;
};

}  // namespace km::simt
