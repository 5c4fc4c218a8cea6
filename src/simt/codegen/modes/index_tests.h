// Branches that compare an index of each lane with what is the same for all.
#pragma once

#include <llvm/IR/InstrTypes.h>

#include <optional>

#include "simt/codegen/values.h"

namespace km::simt {

/// Decides by the lowest and the highest index whether all lanes take one way of such a branch.
class IndexTests : public Room {
 public:
  IndexTests(CodeBuilder& builder, const CodePlan& plan, Values& values)
      : Room(builder, plan), values_(values) {}

  /// True if all lanes of the current block go to that successor. False: perhaps not all do. Null:
  /// the two indices do not decide it.
  Value* surely_all_take(const BasicBlock& block, size_t slot);

 private:
  struct IndexTest {
    llvm::CmpInst::Predicate order;
    Value *base = nullptr, *bound = nullptr;
    const Offsets* offsets = nullptr;
  };

  std::optional<IndexTest> test_of(const BasicBlock& block, size_t slot);

  Values& values_;
};

}  // namespace km::simt
