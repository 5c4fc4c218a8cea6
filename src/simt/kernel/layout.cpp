#include "simt/kernel/layout.h"

#include <algorithm>

#include "base/integers.h"

namespace km::simt {

namespace {

// Local memory lies at multiples of a cache line. No access needs more than 32 bytes.
constexpr uint64_t kLargestLocalAlign = 64;

uint64_t place(uint64_t& end, const ptx::Symbol& symbol) {
  const uint64_t align = std::max<uint64_t>(symbol.align_bytes, 1);
  const uint64_t offset = round_up(end, align);
  end = offset + symbol.size_bytes;
  return offset;
}

class Layouter {
 public:
  Layouter(const ptx::Module& module, const ptx::Function& function)
      : module_(module), function_(function) {}

  MemoryLayout run() {
    for (const auto& instruction : function_.code) {
      for (unsigned i = 0; i < instruction.operand_count; ++i) use(instruction.operands[i]);
    }
    for (const auto& operand : function_.operand_pool) use(operand);
    for (const auto& [key, symbol] : dynamic_) layout_.shared[key] = layout_.dynamic_offset();
    return std::move(layout_);
  }

 private:
  void use(const ptx::Operand& operand) {
    if (operand.symbol == ptx::kNone) return;
    bool local = operand.local_symbol;
    const auto& symbol =
        local ? function_.symbols[operand.symbol] : module_.symbols[operand.symbol];
    if (symbol.is_function) return;
    const auto key = std::make_pair(local, operand.symbol);
    if (symbol.space == ptx::Space::shared && symbol.unsized) {
      dynamic_[key] = &symbol;
    } else if (symbol.space == ptx::Space::shared && !layout_.shared.count(key)) {
      layout_.shared[key] = place(layout_.shared_static_bytes, symbol);
    } else if (symbol.space == ptx::Space::local && !layout_.local.count(key)) {
      layout_.local[key] = place(layout_.local_bytes, symbol);
      const uint64_t align = std::min<uint64_t>(symbol.align_bytes, kLargestLocalAlign);
      layout_.local_align_bytes = std::max(layout_.local_align_bytes, align);
    }
  }

  const ptx::Module& module_;
  const ptx::Function& function_;
  MemoryLayout layout_;
  std::map<std::pair<bool, ptx::SymbolId>, const ptx::Symbol*> dynamic_;
};

}  // namespace

MemoryLayout lay_out(const ptx::Module& module, const ptx::Function& function) {
  return Layouter(module, function).run();
}

}  // namespace km::simt
