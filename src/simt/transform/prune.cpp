#include "simt/transform/prune.h"

#include <algorithm>
#include <map>
#include <utility>

namespace km::simt {
namespace {

using Side = Shapes::Side;

class Pruner {
 public:
  Pruner(const Kernel& kernel, const std::vector<Side>& sides) : kernel_(kernel) {
    for (BlockId b = 0; b < kernel_.blocks.size(); ++b) {
      BasicBlock& block = kernel_.blocks[b];
      if (sides[b] == Side::both) continue;
      block.succs = {block.succs[sides[b] == Side::first ? 0 : 1]};
      block.terminator = Terminator::jump;
      block.condition = kNone;
    }
  }

  Kernel run() {
    drop_edges();
    replace_copies();
    drop_blocks();
    return std::move(kernel_);
  }

 private:
  /// Removes edges from predecessors that were removed, and duplicate edges that became one.
  void drop_edges() {
    kept_.resize(kernel_.blocks.size());
    for (BlockId b : reverse_postorder(kernel_.graph())) kept_[b] = 1;  // reached along successors
    std::map<std::pair<BlockId, BlockId>, uint32_t> edges;
    for (BlockId b = 0; b < kernel_.blocks.size(); ++b) {
      if (!kept_[b]) continue;
      for (BlockId succ : kernel_.blocks[b].succs) ++edges[{b, succ}];
    }
    for (BlockId b = 0; b < kernel_.blocks.size(); ++b) {
      drop_edges_to(b, [&](BlockId pred) {
        const auto edge = edges.find({pred, b});
        return edge != edges.end() && edge->second != 0 && edge->second-- != 0;
      });
    }
  }

  /// Removes predecessors' edges and phi inputs for which `takes(pred)` finds no edge.
  template <class Takes>
  void drop_edges_to(BlockId target, Takes takes) {
    BasicBlock& block = kernel_.blocks[target];
    std::vector<size_t> slots;
    for (size_t slot = 0; slot < block.preds.size(); ++slot) {
      if (takes(block.preds[slot])) slots.push_back(slot);
    }
    if (slots.size() == block.preds.size()) return;
    const auto keep = [&](std::vector<uint32_t>& list) {
      for (size_t i = 0; i < slots.size(); ++i) list[i] = list[slots[i]];
      list.resize(slots.size());
    };
    keep(block.preds);
    for (Phi& phi : block.phis) keep(phi.inputs);
  }

  /// Replaces a phi with one input by that input.
  void replace_copies() {
    copy_of_.assign(kernel_.values.size(), kNone);
    for (BlockId b = 0; b < kernel_.blocks.size(); ++b) {
      BasicBlock& block = kernel_.blocks[b];
      if (!kept_[b] || block.preds.size() != 1) continue;
      for (const Phi& phi : block.phis) {
        copy_of_[phi.result] = phi.inputs[0];
        forget(phi.result);
      }
      block.phis.clear();
    }
    for (BasicBlock& block : kernel_.blocks) {
      replace(block.condition);
      for (Phi& phi : block.phis) {
        for (ValueId& input : phi.inputs) replace(input);
      }
      for (Inst& inst : block.insts) {
        for (auto& [reg, value] : inst.reads) replace(value);
        for (ValueId& value : inst.old_values) replace(value);
        replace(inst.guard);
      }
    }
  }

  void replace(ValueId& value) const {
    while (value != kNone && copy_of_[value] != kNone) value = copy_of_[value];
  }

  /// Marks the value as having no reader any more.
  void forget(ValueId value) {
    Value& forgotten = kernel_.values[value];
    forgotten.block = forgotten.instruction = forgotten.phi = kNone;
  }

  /// Removes blocks; the others keep their order, which is still a reverse postorder.
  void drop_blocks() {
    std::vector<BlockId> number(kernel_.blocks.size(), kNone);
    std::vector<BasicBlock> blocks;
    for (BlockId b = 0; b < kernel_.blocks.size(); ++b) {
      if (!kept_[b]) continue;
      number[b] = static_cast<BlockId>(blocks.size());
      blocks.push_back(std::move(kernel_.blocks[b]));
    }
    for (BasicBlock& block : blocks) {
      for (BlockId& succ : block.succs) succ = number[succ];
      for (BlockId& pred : block.preds) pred = number[pred];
    }
    for (ValueId v = 0; v < kernel_.values.size(); ++v) {
      Value& value = kernel_.values[v];
      if (value.block == kNone) continue;
      if (kept_[value.block]) {
        value.block = number[value.block];
      } else {
        forget(v);
      }
    }
    kernel_.blocks = std::move(blocks);
  }

  Kernel kernel_;
  std::vector<uint8_t> kept_;     // by block
  std::vector<ValueId> copy_of_;  // by value
};

}  // namespace

Shapes analyse_and_prune(const Kernel*& kernel, Kernel& storage, const ShapeOptions& options) {
  for (;;) {
    Shapes shapes = analyse_shapes(*kernel, options);
    const bool decided = std::any_of(shapes.sides.begin(), shapes.sides.end(),
                                     [](Side side) { return side != Side::both; });
    if (!decided) return shapes;
    storage = Pruner(*kernel, shapes.sides).run();
    kernel = &storage;
  }
}

}  // namespace km::simt
