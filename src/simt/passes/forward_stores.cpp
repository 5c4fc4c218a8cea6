#include "simt/passes/forward_stores.h"

#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Operator.h>

#include <algorithm>
#include <vector>

#include "base/assert.h"

namespace km::simt {
namespace {

/// The bytes from `base` + `offset` up to `size_bytes` further.
struct Range {
  const llvm::Value* base = nullptr;
  int64_t offset = 0;
  int64_t size_bytes = 0;

  bool overlaps(const Range& other) const {
    return offset < other.offset + other.size_bytes && other.offset < offset + size_bytes;
  }
  bool holds(const Range& other) const {
    return base == other.base && offset <= other.offset &&
           other.offset + other.size_bytes <= offset + size_bytes;
  }
};

class Forwarder {
 public:
  explicit Forwarder(const llvm::DataLayout& layout) : layout_(layout) {}

  bool run(llvm::BasicBlock& block) {
    stores_.clear();
    bool changed = false;
    for (llvm::Instruction& each : llvm::make_early_inc_range(block)) {
      if (auto* load = llvm::dyn_cast<llvm::LoadInst>(&each); load && load->isSimple()) {
        changed |= take_from_register(*load);
      } else if (auto* store = llvm::dyn_cast<llvm::StoreInst>(&each); store && store->isSimple()) {
        note(*store);
      } else if (each.mayWriteToMemory()) {
        stores_.clear();
      }
    }
    return changed;
  }

 private:
  static constexpr size_t kMaxStores = 16;

  struct Stored {
    Range range;
    llvm::Value* content = nullptr;
  };

  Range range_of(const llvm::Value* pointer, llvm::Type* type) const {
    Range range{pointer, 0, static_cast<int64_t>(layout_.getTypeStoreSize(type).getFixedValue())};
    const auto* cast = llvm::dyn_cast<llvm::IntToPtrInst>(pointer);
    if (cast == nullptr) return range;
    range.base = cast->getOperand(0);
    const auto* sum = llvm::dyn_cast<llvm::AddOperator>(range.base);
    const auto* by = sum ? llvm::dyn_cast<llvm::ConstantInt>(sum->getOperand(1)) : nullptr;
    if (by != nullptr && by->getBitWidth() == 64 && by->getValue().abs().ult(kFarthest)) {
      range.base = sum->getOperand(0);
      range.offset = by->getSExtValue();
    }
    return range;
  }

  /// A kernel's accesses cannot reach the engine's own memory.
  void note(llvm::StoreInst& store) {
    if (store.getMetadata(llvm::LLVMContext::MD_alias_scope) != nullptr) return;
    llvm::Value* content = store.getValueOperand();
    const Range range = range_of(store.getPointerOperand(), content->getType());
    const auto is_over = [&](const Stored& stored) {
      return stored.range.base != range.base || stored.range.overlaps(range);
    };
    stores_.erase(std::remove_if(stores_.begin(), stores_.end(), is_over), stores_.end());
    if (stores_.size() == kMaxStores) stores_.erase(stores_.begin());
    if (element_bytes(content->getType()) != 0 && content->getType()->isVectorTy()) {
      stores_.push_back({range, content});
    }
  }

  /// The element size; 0 if the elements are not contiguous in memory.
  int64_t element_bytes(llvm::Type* type) const {
    const uint64_t bits = layout_.getTypeSizeInBits(type->getScalarType()).getFixedValue();
    return type->getScalarType()->isPointerTy() || bits % 8 != 0 ? 0
                                                                 : static_cast<int64_t>(bits / 8);
  }

  bool take_from_register(llvm::LoadInst& load) const {
    llvm::Type* type = load.getType();
    const int64_t size_bytes = element_bytes(type);
    if (size_bytes == 0 || stores_.empty()) return false;
    const Range wanted = range_of(load.getPointerOperand(), type);
    for (const auto& [range, content] : stores_) {
      const bool is_same = content->getType()->getScalarType() == type->getScalarType();
      if (!is_same || content->getType() == type || !range.holds(wanted)) continue;
      const int64_t first = (wanted.offset - range.offset) / size_bytes;
      if ((wanted.offset - range.offset) % size_bytes != 0) return false;
      load.replaceAllUsesWith(part_of(content, first, type, load));
      load.eraseFromParent();
      return true;
    }
    return false;
  }

  static llvm::Value* part_of(llvm::Value* content, int64_t first, llvm::Type* type,
                              llvm::LoadInst& before) {
    llvm::IRBuilder<> builder(&before);
    const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(type);
    KM_ASSERT(
        first >= 0 && first + (vector ? vector->getNumElements() : 1) <=
                          llvm::cast<llvm::FixedVectorType>(content->getType())->getNumElements(),
        "the loaded bytes are a part of the stored ones");
    if (vector == nullptr) return builder.CreateExtractElement(content, first);
    llvm::SmallVector<int> indices;
    for (unsigned i = 0; i < vector->getNumElements(); ++i) {
      indices.push_back(static_cast<int>(first + i));
    }
    return builder.CreateShuffleVector(content, indices);
  }

  static constexpr uint64_t kFarthest = uint64_t{1} << 40;  // sums of offsets cannot wrap below it
  const llvm::DataLayout& layout_;
  std::vector<Stored> stores_;  // the last store to each range
};

}  // namespace

llvm::PreservedAnalyses ForwardStores::run(llvm::Function& function,
                                           llvm::FunctionAnalysisManager&) {
  Forwarder forwarder(function.getDataLayout());
  bool changed = false;
  for (llvm::BasicBlock& block : function) changed |= forwarder.run(block);
  if (!changed) return llvm::PreservedAnalyses::all();
  llvm::PreservedAnalyses kept;
  kept.preserveSet<llvm::CFGAnalyses>();
  return kept;
}

}  // namespace km::simt
