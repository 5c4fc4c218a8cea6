// Stores past the caches. Where a launch stores more than the last cache holds, each line would be
// read from memory first and push out another one, only to be written later. In kernels with
// barriers a processor does not see those stores coming either: a block loads, works on what it has
// loaded, and then stores all at once. Such stores come late for other threads, so nothing may
// follow them that orders them: the thread makes them visible when its part of the launch is over.
#include <algorithm>
#include <map>
#include <numeric>

#include "simt/analysis/reach.h"
#include "simt/emit/emitter.h"

namespace km::simt {

using ptx::Modifier;
using ptx::Opcode;
using ptx::Operand;

namespace {

constexpr uint64_t kLineBytes = 64;
constexpr unsigned kDepth = 100;

bool is_plain_store(const ptx::Instruction& ptx) {
  return ptx.opcode == Opcode::st && !is_strong_access(ptx) && !ptx.has(Modifier::async);
}

/// Parameters that pointers were made of. A guess where several are terms of an address.
class Roots {
 public:
  explicit Roots(const Kernel& kernel) : kernel_(kernel) {}

  /// kNone: not known.
  ptx::SymbolId of(ValueId value, unsigned depth = kDepth) {
    if (depth == 0 || kernel_.values[value].block == kNone) return ptx::kNone;
    const auto [known, fresh] = known_.try_emplace(value, ptx::kNone);
    if (fresh) known_[value] = find(value, depth - 1);
    return known_[value];
  }

 private:
  ptx::SymbolId find(ValueId value, unsigned depth) {
    if (const Phi* const phi = kernel_.phi_of(value)) {
      for (ValueId input : phi->inputs) {
        if (const auto root = of(input, depth); root != ptx::kNone) return root;
      }
      return ptx::kNone;
    }
    const Inst& inst = *kernel_.instruction_of(value);
    switch (inst.ptx->opcode) {
      case Opcode::ld: {
        const Operand& source = inst.ptx->operands[1];
        return inst.reads.empty() && kernel_.is_parameter(source) ? source.symbol : ptx::kNone;
      }
      case Opcode::mov:
      case Opcode::cvta:
      case Opcode::add:
      case Opcode::mad:
        for (const auto& read : inst.reads) {
          if (const auto root = of(read.second, depth); root != ptx::kNone) return root;
        }
        return ptx::kNone;
      default:
        return ptx::kNone;
    }
  }

  const Kernel& kernel_;
  std::map<ValueId, ptx::SymbolId> known_;
};

/// True if other blocks may rely, from this instruction on, on the accesses before it.
bool orders(const Inst& inst) {
  if (is_plain_store(*inst.ptx)) return false;
  const bool loads = inst.ptx->opcode == Opcode::ld || inst.ptx->opcode == Opcode::ldu;
  return loads ? is_strong_access(*inst.ptx) : !orders_nothing(*inst.ptx);
}

/// Blocks that lead to something that orders, or have it.
Marks leading_to_order(const Kernel& kernel) {
  Marks having(kernel.blocks.size());
  for (BlockId b = 0; b < having.size(); ++b) {
    const auto& insts = kernel.blocks[b].insts;
    having[b] = std::any_of(insts.begin(), insts.end(), orders);
  }
  return reaching(kernel, having);
}

}  // namespace

/// Stores that every thread makes at most once, to where the kernel does not load from: what has
/// been loaded is in the cache.
void Emitter::plan_streams() {
  if (!has_phases()) return;
  Roots roots(kernel_);
  std::set<ptx::SymbolId> loaded;
  for (const Block& block : kernel_.blocks) {
    for (const Inst& inst : block.insts) {
      const auto access = memory_access(inst);
      if (!access || !is_global(access->space) || is_plain_store(*inst.ptx)) continue;
      if (reads_constants(*inst.ptx) || access->place->reg == ptx::kNone) continue;
      const ptx::SymbolId root = roots.of(inst.read(access->place->reg));
      if (root == ptx::kNone) return;
      loaded.insert(root);
    }
  }
  const Marks leading = leading_to_order(kernel_);
  for (BlockId b = 0; b < kernel_.blocks.size(); ++b) {
    const Block& block = kernel_.blocks[b];
    const bool is_ordered = std::any_of(block.succs.begin(), block.succs.end(),
                                        [&](BlockId succ) { return leading[succ] != 0; });
    if (is_ordered || plan_.shapes->loops.innermost[b] != UINT32_MAX) continue;
    // From its end on, as far as nothing orders.
    for (size_t i = block.insts.size(); i-- > 0 && !orders(block.insts[i]);) {
      const Inst& inst = block.insts[i];
      const auto access = memory_access(inst);
      if (!access || !is_global(access->space) || !is_plain_store(*inst.ptx)) continue;
      if (access->place->reg == ptx::kNone) continue;
      const ptx::SymbolId root = roots.of(inst.read(access->place->reg));
      if (root == ptx::kNone || loaded.count(root) != 0) continue;
      streamed_.insert(&inst);
      streamed_bytes_ += access->size_bytes;
    }
  }
}

/// Tests if the launch stores more than the caches hold.
void Emitter::load_streams() {
  if (streamed_.empty()) return;
  Value* blocks = b_.getInt64(1);
  for (unsigned d = 0; d < 3; ++d) {
    Value* size = load_field(record_, offsetof(LaunchRecord, grid) + 4 * d, b_.getInt32Ty(), true);
    blocks = b_.CreateMul(blocks, b_.CreateZExt(size, b_.getInt64Ty()));
  }
  Value* threads = b_.CreateZExt(block_threads(), b_.getInt64Ty());
  Value* most = load_field(record_, offsetof(LaunchRecord, cached_bytes), b_.getInt64Ty(), true);
  Value* of_block = b_.CreateMul(threads, i64(streamed_bytes_));
  exceeds_caches_ = b_.CreateICmpUGT(blocks, b_.CreateUDiv(most, of_block));
}

/// All lanes, whose elements lie side by side.
void Emitter::store_row(const Address& address, const Access& access, Value* content) {
  const llvm::Align align(ptx::size_bytes(access.type));
  Value* pointer = b_.CreateIntToPtr(address.base, b_.getPtrTy());
  auto* type = llvm::cast<llvm::FixedVectorType>(content->getType());
  const auto plain = [&]() -> std::vector<Value*> {
    b_.CreateAlignedStore(content, pointer, align);
    return {};
  };
  const auto line = static_cast<unsigned>(kLineBytes / align.value());  // elements
  if (!access.streams || type->getNumElements() % line != 0) {
    plain();
    return;
  }
  const auto past = [&]() -> std::vector<Value*> {
    for (unsigned first = 0; first < type->getNumElements(); first += line) {
      std::vector<int> pick(line);
      std::iota(pick.begin(), pick.end(), static_cast<int>(first));
      Value* at = b_.CreateConstGEP1_64(type->getElementType(), pointer, first);
      auto* store =
          b_.CreateAlignedStore(b_.CreateShuffleVector(content, pick), at, llvm::Align(kLineBytes));
      auto* const one = llvm::ConstantAsMetadata::get(b_.getInt32(1));
      store->setMetadata(llvm::LLVMContext::MD_nontemporal, llvm::MDNode::get(context_, {one}));
    }
    return {};
  };
  Value* rest = b_.CreateAnd(address.base, i64(kLineBytes - 1));
  choose(b_.CreateAnd(exceeds_caches_, b_.CreateICmpEQ(rest, i64(0))), past, plain);
}

}  // namespace km::simt
