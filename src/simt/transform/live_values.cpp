#include "simt/transform/live_values.h"

#include <algorithm>
#include <bit>

#include "simt/kernel/kernel.h"

namespace km::simt {

namespace {

using ptx::Function;
using ptx::Instruction;
using ptx::Opcode;
using ptx::Operand;

/// Limits all sets together to 256 MiB.
constexpr uint64_t kMostBits = uint64_t{1} << 31;

/// A bit set of registers and variables.
class Bits {
 public:
  explicit Bits(size_t count = 0) : words_((count + 63) / 64) {}
  bool operator==(const Bits&) const = default;
  void add(size_t i) { words_[i / 64] |= uint64_t{1} << (i % 64); }
  void drop(size_t i) { words_[i / 64] &= ~(uint64_t{1} << (i % 64)); }
  void add(const Bits& other) {
    for (size_t w = 0; w < words_.size(); ++w) words_[w] |= other.words_[w];
  }
  /// Calls `visit(item)` for each item in ascending order.
  template <class Visit>
  void for_each(Visit visit) const {
    for (size_t w = 0; w < words_.size(); ++w) {
      for (uint64_t bits = words_[w]; bits != 0; bits &= bits - 1) {
        visit(static_cast<uint32_t>(64 * w) + static_cast<uint32_t>(std::countr_zero(bits)));
      }
    }
  }

 private:
  std::vector<uint64_t> words_;
};

/// A range of instructions without labels and jumps inside, like a basic block.
struct Stretch {
  uint32_t begin = 0, end = 0;
  std::vector<uint32_t> succs;
  Bits live_in;
};

class Liveness {
 public:
  explicit Liveness(const Function& function)
      : function_(function), items_(function.registers.size() + function.symbols.size()) {}

  std::optional<std::vector<LiveValues>> run() {
    find_taken();
    cut();
    if (starts_.size() * items_ > kMostBits) return std::nullopt;
    for (uint32_t start : starts_) {
      if (!stretches_.empty()) stretches_.back().end = start;
      const auto count = static_cast<uint32_t>(function_.code.size());
      stretches_.push_back({start, count, {}, Bits(items_)});
    }
    link();
    for (bool changed = true; changed;) {
      changed = false;
      for (size_t i = stretches_.size(); i-- > 0;) {
        Bits live = backwards(stretches_[i], nullptr);
        changed |= live != stretches_[i].live_in;
        stretches_[i].live_in = std::move(live);
      }
    }
    std::vector<LiveValues> result;
    for (const Stretch& stretch : stretches_) {
      std::vector<LiveValues> calls;
      backwards(stretch, &calls);
      result.insert(result.end(), calls.rbegin(), calls.rend());
    }
    return result;
  }

 private:
  uint32_t item_of(ptx::SymbolId symbol) const {
    return static_cast<uint32_t>(function_.registers.size()) + symbol;
  }
  bool is_param(const Operand& operand) const {
    return operand.symbol != ptx::kNone && operand.local_symbol &&
           function_.symbols[operand.symbol].space == ptx::Space::param;
  }

  /// Finds variables whose address is taken, because accesses through it do not name them.
  void find_taken() {
    for (const Instruction& in : function_.code) {
      if (in.opcode == Opcode::call) continue;
      for (unsigned i = 0; i < in.operand_count; ++i) {
        const Operand& operand = in.operands[i];
        if (operand.kind == Operand::Kind::symbol && is_param(operand)) {
          taken_.push_back(item_of(operand.symbol));
        }
      }
    }
  }

  static bool ends(const Instruction& in) {
    return in.opcode == Opcode::bra || in.opcode == Opcode::brx || in.opcode == Opcode::ret ||
           in.opcode == Opcode::exit;
  }

  void cut() {
    const auto count = static_cast<uint32_t>(function_.code.size());
    starts_ = {0};
    for (const ptx::Label& label : function_.labels) starts_.push_back(label.instruction);
    for (uint32_t i = 0; i < count; ++i) {
      if (ends(function_.code[i])) starts_.push_back(i + 1);
    }
    std::sort(starts_.begin(), starts_.end());
    starts_.erase(std::unique(starts_.begin(), starts_.end()), starts_.end());
  }

  uint32_t stretch_at(uint32_t instruction) const {
    const auto found =
        std::lower_bound(stretches_.begin(), stretches_.end(), instruction,
                         [](const Stretch& stretch, uint32_t at) { return stretch.begin < at; });
    return static_cast<uint32_t>(found - stretches_.begin());
  }
  uint32_t target(ptx::LabelId label) const {
    return stretch_at(function_.labels[label].instruction);
  }

  void link() {
    for (uint32_t i = 0; i < stretches_.size(); ++i) {
      Stretch& stretch = stretches_[i];
      const bool is_empty = stretch.begin == stretch.end;
      const Instruction* last = is_empty ? nullptr : &function_.code[stretch.end - 1];
      const bool jumps = last != nullptr && ends(*last);
      if (jumps && last->opcode == Opcode::bra) {
        stretch.succs.push_back(target(last->operands[0].label));
      }
      if (jumps && last->opcode == Opcode::brx) {
        const auto& list = function_.target_lists[last->operands[1].label];
        for (ptx::LabelId label : list.labels) stretch.succs.push_back(target(label));
      }
      const bool passes = !jumps || last->guard != ptx::kNone;
      if (passes && i + 1 < stretches_.size()) stretch.succs.push_back(i + 1);
    }
  }

  /// The values that are live at the beginning of the range; `out_calls` gets those live across its
  /// calls, last call first.
  Bits backwards(const Stretch& stretch, std::vector<LiveValues>* out_calls) const {
    Bits live(items_);
    for (uint32_t succ : stretch.succs) live.add(stretches_[succ].live_in);
    if (stretch.succs.empty()) return_results(live);
    for (uint32_t i = stretch.end; i-- > stretch.begin;) {
      const Instruction& in = function_.code[i];
      if (in.opcode == Opcode::ret) return_results(live);
      const RegisterUse use = registers_of(function_, in);
      if (in.guard == ptx::kNone || out_calls != nullptr) drop_written(in, use, live);
      if (out_calls != nullptr && in.opcode == Opcode::call) {
        out_calls->push_back(values_of(live));
      }
      for (ptx::RegisterId reg : use.reads) live.add(reg);
      // Under a guard the destination may keep its old value, so it stays live.
      if (in.guard != ptx::kNone) {
        live.add(in.guard);
        for (ptx::RegisterId reg : use.writes) live.add(reg);
      }
      read_variables(in, live);
    }
    return live;
  }

  void drop_written(const Instruction& in, const RegisterUse& use, Bits& live) const {
    for (ptx::RegisterId reg : use.writes) live.drop(reg);
    if (in.opcode == Opcode::call) {
      const Operand& results = in.operands[0];
      for (uint32_t i = 0; i < results.count; ++i) {
        const Operand& result = function_.operand_pool[results.first + i];
        if (is_param(result)) live.drop(item_of(result.symbol));
      }
    } else if (in.opcode == Opcode::st && is_param(in.operands[0]) && covers(in)) {
      live.drop(item_of(in.operands[0].symbol));
    }
  }

  bool covers(const Instruction& store) const {
    const uint64_t size = function_.symbols[store.operands[0].symbol].size_bytes;
    return store.operands[0].offset == 0 && store.operands[1].kind != Operand::Kind::vector &&
           ptx::size_bytes(store.type()) == size;
  }

  void read_variables(const Instruction& in, Bits& live) const {
    if (in.opcode == Opcode::ld && is_param(in.operands[1])) {
      live.add(item_of(in.operands[1].symbol));
    }
    if (in.opcode != Opcode::call) return;
    const Operand& arguments = in.operands[2];
    for (uint32_t i = 0; i < arguments.count; ++i) {
      const Operand& argument = function_.operand_pool[arguments.first + i];
      if (is_param(argument)) live.add(item_of(argument.symbol));
    }
  }

  void return_results(Bits& live) const {
    for (ptx::SymbolId id : function_.returns) {
      const ptx::Symbol& symbol = function_.symbols[id];
      live.add(symbol.space == ptx::Space::reg ? symbol.reg : item_of(id));
    }
  }

  LiveValues values_of(Bits live) const {
    for (uint32_t item : taken_) live.add(item);
    LiveValues values;
    const auto registers = static_cast<uint32_t>(function_.registers.size());
    live.for_each([&](uint32_t item) {
      if (item < registers) {
        values.registers.push_back(item);
      } else {
        values.variables.push_back(item - registers);
      }
    });
    return values;
  }

  const Function& function_;
  const size_t items_;
  std::vector<uint32_t> starts_;  // starts of the ranges
  std::vector<Stretch> stretches_;
  std::vector<uint32_t> taken_;
};

}  // namespace

std::optional<std::vector<LiveValues>> live_across_calls(const Function& function) {
  return Liveness(function).run();
}

}  // namespace km::simt
