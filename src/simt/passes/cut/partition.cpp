#include "simt/passes/cut/partition.h"

#include <llvm/ADT/PostOrderIterator.h>
#include <llvm/ADT/STLExtras.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/Instructions.h>

namespace km::simt {
namespace {

/// A block, or a loop with its contents, in control-flow order.
struct Item {
  llvm::BasicBlock* block = nullptr;  // null: a loop
  uint32_t size = 0;
  std::vector<uint32_t> items;  // contents of a loop, as item numbers
};

class Partitioner {
 public:
  Partitioner(llvm::Function& function, uint32_t most)
      : function_(function), most_(most), tree_(function), loops_(tree_) {}

  std::vector<BlockList> run() {
    std::vector<uint32_t> roots;
    const llvm::ReversePostOrderTraversal<llvm::Function*> order(&function_);
    const llvm::BasicBlock* const first = &function_.getEntryBlock();
    const llvm::BasicBlock* const second = first->getSingleSuccessor();
    // The first block of a loop in this order is its header, which determines the loop's position.
    for (llvm::BasicBlock* block : order) {
      if (block == first || block == second) continue;
      const uint32_t item =
          add({block, static_cast<uint32_t>(block->size()) + kBlockInstructions, {}});
      list_of(loops_.getLoopFor(block), roots).push_back(item);
    }
    for (size_t i = items_.size(); i-- > 0;) measure(items_[i]);
    pack(roots);
    close();
    return std::move(parts_);
  }

 private:
  uint32_t add(Item item) {
    items_.push_back(std::move(item));
    return static_cast<uint32_t>(items_.size() - 1);
  }

  /// The list of a loop's items. A loop is itself an item in its enclosing loop's list.
  std::vector<uint32_t>& list_of(const llvm::Loop* loop, std::vector<uint32_t>& roots) {
    if (loop == nullptr) return roots;
    if (const auto known = loop_items_.find(loop); known != loop_items_.end()) {
      return items_[known->second].items;
    }
    const uint32_t item = add({});
    loop_items_[loop] = item;
    list_of(loop->getParentLoop(), roots).push_back(item);
    return items_[item].items;
  }

  /// Items of a loop follow it in the array.
  void measure(Item& item) {
    for (uint32_t inner : item.items) item.size += items_[inner].size;
  }

  void pack(const std::vector<uint32_t>& list) {
    for (uint32_t i : list) {
      if (items_[i].block == nullptr && items_[i].size > most_) {
        close();
        pack(items_[i].items);
        close();
        continue;
      }
      if (size_ + items_[i].size > most_) close();
      take(i);
    }
  }

  void take(uint32_t item) {
    size_ += items_[item].block != nullptr ? items_[item].size : 0;
    if (items_[item].block != nullptr) part_.push_back(items_[item].block);
    for (uint32_t inner : items_[item].items) take(inner);
  }

  void close() {
    if (!part_.empty()) parts_.push_back(std::move(part_));
    part_.clear();
    size_ = 0;
  }

  llvm::Function& function_;
  const uint32_t most_;
  const llvm::DominatorTree tree_;
  const llvm::LoopInfo loops_;
  std::vector<Item> items_;
  llvm::DenseMap<const llvm::Loop*, uint32_t> loop_items_;
  std::vector<BlockList> parts_;
  BlockList part_;
  uint32_t size_ = 0;
};

}  // namespace

std::vector<BlockList> partition(llvm::Function& function, uint32_t part_instructions) {
  return Partitioner(function, part_instructions).run();
}

bool split_long_blocks(llvm::Function& function, uint32_t most_instructions) {
  std::vector<llvm::BasicBlock*> blocks;
  for (llvm::BasicBlock& block : llvm::drop_begin(function)) blocks.push_back(&block);
  bool changed = false;
  for (llvm::BasicBlock* block : blocks) {
    std::vector<llvm::Instruction*> cuts;
    uint32_t count = 0;
    for (llvm::Instruction& each : *block) {
      if (llvm::isa<llvm::PHINode>(each) || each.isTerminator()) continue;
      if (++count % most_instructions == 0) cuts.push_back(&each);
    }
    // The last cut comes first, since a cut moves everything after it.
    for (size_t i = cuts.size(); i-- > 0;) block->splitBasicBlock(cuts[i], "piece");
    changed |= !cuts.empty();
  }
  return changed;
}

}  // namespace km::simt
