// KM_DUMP=ir: a kernel's blocks and values as text.
#include "simt/kernel/kernel.h"

namespace km::simt {

namespace {

std::string name_of(const Kernel& kernel, ValueId value) {
  if (value == kNone) return "-";
  return kernel.function->registers[kernel.values[value].reg].name + "." + std::to_string(value);
}

void append(std::string& text, const Kernel& kernel, const Inst& inst) {
  text += "  ";
  for (const auto& write : inst.writes) text += name_of(kernel, write.second) + " ";
  text += "= " + describe(*kernel.module, *inst.ptx);
  for (const auto& read : inst.reads) text += " " + name_of(kernel, read.second);
  if (inst.guard != kNone) text += " if " + name_of(kernel, inst.guard);
  text += "\n";
}

}  // namespace

std::string dump(const Kernel& kernel) {
  static const char* const kTerminators[] = {"jump",    "branch",    "table",
                                             "barrier", "warp_sync", "exit"};
  std::string text;
  for (BlockId b = 0; b < kernel.blocks.size(); ++b) {
    const BasicBlock& block = kernel.blocks[b];
    text += "block " + std::to_string(b) + ":\n";
    for (const Phi& phi : block.phis) {
      text += "  " + name_of(kernel, phi.result) + " = phi";
      for (size_t i = 0; i < phi.inputs.size(); ++i) {
        text += " [" + std::to_string(block.preds[i]) + ": " + name_of(kernel, phi.inputs[i]) + "]";
      }
      text += "\n";
    }
    for (const Inst& inst : block.insts) append(text, kernel, inst);
    text += std::string("  ") + kTerminators[static_cast<int>(block.terminator)];
    if (block.condition != kNone) text += " " + name_of(kernel, block.condition);
    if (block.condition_negated) text += " negated";
    for (BlockId succ : block.succs) text += " " + std::to_string(succ);
    text += "\n";
  }
  return text;
}

}  // namespace km::simt
