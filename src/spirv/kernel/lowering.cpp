#include "spirv/kernel/lowering.h"

#include <algorithm>
#include <cstddef>
#include <set>

#include "ptx/checks/program_check.h"
#include "ptx/forms.h"
#include "ptx/names.h"
#include "simt/kernel/nan_bits.h"
#include "simt/transform/make_instruction.h"
#include "spirv/kernel/modes.h"

namespace km::spirv {

using ptx::Family;
using ptx::Modifier;
using ptx::Opcode;
using ptx::Operand;
using ptx::Type;

namespace {

FaultKind fault_of_trap(const ptx::Instruction& trap) {
  switch (simt::trap_reason(trap)) {
    case simt::FaultKind::stack_overflow:
      return FaultKind::stack_overflow;
    case simt::FaultKind::no_function:
      return FaultKind::no_function;
    default:
      return FaultKind::trap;
  }
}

}  // namespace

bool Lowering::lower_block(simt::BlockId block) {
  s.begin_block(block);
  s.load_phis(block);
  s.begin_block_faults();
  bool goes_on = true;
  for (const simt::Inst& inst : s.kernel.blocks[block].insts) {
    if (runs_in_step(inst)) {
      lower_in_step(inst, nullptr);
      continue;
    }
    goes_on = lower(inst);
    s.take_refusal(*inst.ptx);
    if (!goes_on) break;
  }
  s.end_block_faults();
  return goes_on;
}

void Lowering::lower_in_step(const simt::Inst& inst, V active) {
  if (is_volatile_shared_store(inst)) {
    // All have read before one writes, and all see it afterwards.
    s.barrier();
    const auto store = [&] { memory_.lower_store(inst); };
    if (active == nullptr) store();
    if (active != nullptr) s.if_then(active, store);
    s.barrier();
  } else {
    warp_.lower(inst, active);
  }
  s.take_refusal(*inst.ptx);
}

bool Lowering::lower(const simt::Inst& inst) {
  const auto& ptx = *inst.ptx;
  switch (ptx::family_of(ptx)) {
    case Family::move:
      lower_move(inst);
      return true;
    case Family::address:
      memory_.lower_address(inst);
      return true;
    case Family::load:
      memory_.lower_load(inst);
      return true;
    case Family::store:
      memory_.lower_store(inst);
      return true;
    case Family::atomic:
      memory_.lower_atomic(inst);
      return true;
    case Family::async_copy:
      memory_.lower_copy(inst);
      return true;
    case Family::fence:
      s.memory_barrier(spv::Scope::Device);
      return true;
    case Family::barrier:  // the end of the block has the code
      return true;
    case Family::hint:
      return true;
    case Family::policy:
      if (!inst.writes.empty()) s.define_result(inst, inst.writes[0].first, s.u32(0), Type::u32);
      return true;
    case Family::call:
      return lower_call(inst);
    case Family::control:
      if (ptx.opcode != Opcode::trap) return true;
      s.note_fault(fault_of_trap(ptx), ptx, s.u64(0), s.u32(0));
      return false;
    default:
      break;
  }
  if (!simt::lowers_arithmetic(ptx)) {
    s.refuse(ptx, "instructions of this family have no counterpart in a shader");
    return true;
  }
  lower_arithmetic(inst);
  return true;
}

void Lowering::lower_arithmetic(const simt::Inst& inst) {
  const auto& ptx = *inst.ptx;
  std::vector<V> sources;
  for (unsigned i = 1; i < ptx.operand_count; ++i) {
    const Type type = simt::Arithmetic::operand_type(ptx, i);
    const Operand& operand = ptx.operands[i];
    const bool is_vector = operand.kind == Operand::Kind::vector;
    for (uint32_t k = 0; k < (is_vector ? operand.count : 1); ++k) {
      const Operand& one = is_vector ? s.kernel.function->operand_pool[operand.first + k] : operand;
      sources.push_back(s.operand(inst, one, type));
    }
  }
  s.context.flushes = ptx.has(Modifier::ftz) && ptx::family_of(ptx) == Family::real;
  std::vector<V> results = s.arithmetic.lower(ptx, sources);
  s.context.flushes = false;
  if (simt::makes_float(ptx)) results[0] = s.arithmetic.canonical_nan(results[0]);
  const Operand& destination = ptx.operands[0];
  const auto write = [&](const Operand& target, unsigned element) {
    if (target.kind != Operand::Kind::reg || element >= results.size()) return;
    s.define_result(inst, target.reg, results[element],
                    simt::Arithmetic::operand_type(ptx, 0, element));
  };
  if (destination.kind == Operand::Kind::reg) return write(destination, 0);
  for (uint32_t i = 0; i < destination.count; ++i) {
    write(s.kernel.function->operand_pool[destination.first + i], i);
  }
}

/// Plain copies, packing {a, b} -> d and unpacking a -> {d, e}.
void Lowering::lower_move(const simt::Inst& inst) {
  const auto& ptx = *inst.ptx;
  const Operand &to = ptx.operands[0], &from = ptx.operands[1];
  const Type type = ptx.type();
  const auto& pool = s.kernel.function->operand_pool;
  if (from.kind == Operand::Kind::vector) {
    const unsigned part_bits = ptx::size_bits(type) / from.count;
    auto* whole = b.getIntNTy(ptx::size_bits(type));
    V result = llvm::Constant::getNullValue(whole);
    for (uint32_t i = 0; i < from.count; ++i) {
      V part =
          b.CreateZExt(s.operand(inst, pool[from.first + i], ptx::bits_type(part_bits)), whole);
      part = b.CreateShl(part, llvm::ConstantInt::get(whole, uint64_t{i} * part_bits));
      result = b.CreateOr(result, part);
    }
    return s.define_result(inst, to.reg, result, type);
  }
  if (to.kind == Operand::Kind::vector) {
    auto* whole = b.getIntNTy(ptx::size_bits(type));
    V source = b.CreateBitCast(s.operand(inst, from, type), whole);
    const unsigned part_bits = ptx::size_bits(type) / to.count;
    for (uint32_t i = 0; i < to.count; ++i) {
      const Operand& target = pool[to.first + i];
      if (target.kind != Operand::Kind::reg) continue;
      V part = b.CreateLShr(source, llvm::ConstantInt::get(whole, uint64_t{i} * part_bits));
      s.define_result(inst, target.reg, b.CreateTrunc(part, b.getIntNTy(part_bits)),
                      ptx::bits_type(part_bits));
    }
    return;
  }
  if (to.kind == Operand::Kind::reg)
    s.define_result(inst, to.reg, s.operand(inst, from, type), type);
}

// ---- Barriers at the ends of blocks.

bool Lowering::takes_barrier(const simt::BasicBlock& block) {
  const auto& ptx = *block.terminator_ptx;
  if (simt::is_block_barrier(ptx) && !simt::is_cluster_wait(ptx)) return true;
  s.refuse(ptx, "barriers of a part of a block have no counterpart in a shader");
  return false;
}

V Lowering::counted_at(const simt::BasicBlock& block) {
  const auto& ptx = *block.terminator_ptx;
  V truth = s.operand(block.insts.back(), ptx.operands[ptx.operand_count - 1], Type::pred);
  return ptx.has(Modifier::and_) ? b.CreateNot(truth) : truth;
}

void Lowering::define_reduction(const simt::BasicBlock& block, V count) {
  const auto& ptx = *block.terminator_ptx;
  const simt::Inst& inst = block.insts.back();
  V result = count;
  if (ptx.has(Modifier::or_)) result = b.CreateICmpNE(count, s.u32(0));
  if (ptx.has(Modifier::and_)) result = b.CreateICmpEQ(count, s.u32(0));
  s.define_result(inst, inst.writes[0].first, result,
                  ptx.has(Modifier::popc) ? Type::u32 : Type::pred);
}

// ---- Calls of the runtime.

V Lowering::argument(const simt::Inst& inst, uint32_t index, Type type) {
  const Operand* list = nullptr;
  bool after_target = false;
  for (unsigned i = 0; i < inst.ptx->operand_count; ++i) {
    const Operand& one = inst.ptx->operands[i];
    if (one.kind == Operand::Kind::symbol) after_target = true;
    if (after_target && one.kind == Operand::Kind::list) list = &one;
  }
  return s.operand(inst, s.kernel.function->operand_pool[list->first + index], type);
}

bool Lowering::lower_call(const simt::Inst& inst) {
  const auto& ptx = *inst.ptx;
  std::string name;
  for (unsigned i = 0; i < ptx.operand_count; ++i) {
    const Operand& operand = ptx.operands[i];
    if (operand.kind != Operand::Kind::symbol || operand.local_symbol) continue;
    name = s.kernel.module->symbols[operand.symbol].name;
  }
  if (name == "vprintf") {
    lower_print(inst);
    return true;
  }
  if (name == "__assertfail") {
    const std::vector<V> words{argument(inst, 0, Type::u64), argument(inst, 1, Type::u64),
                               b.CreateZExt(argument(inst, 2, Type::u32), b.getInt64Ty()),
                               argument(inst, 3, Type::u64)};
    s.note_fault(FaultKind::assertion, ptx, s.u64(0), s.u32(0), words);
    return false;
  }
  s.refuse(ptx, "calls of '" + name + "' have no counterpart in a shader");
  return true;
}

namespace {

/// Bytes of arguments that are kept: printf of CUDA has at most 32 arguments of 8 bytes.
constexpr uint32_t kMostArgumentBytes = 32 * 8;
constexpr uint32_t kPrintHeaderBytes = 16;

/// True if anything but a copy that nobody reads reads the value.
bool is_read(const simt::Kernel& kernel, simt::ValueId value, std::set<simt::ValueId>* seen) {
  if (!seen->insert(value).second) return false;
  const auto reads = [&](const simt::Inst& inst) {
    bool found = inst.guard == value;
    for (const auto& read : inst.reads) found = found || read.second == value;
    for (const simt::ValueId old : inst.old_values) found = found || old == value;
    return found;
  };
  const auto copies = [&](const simt::Inst& inst) {
    return ptx::family_of(*inst.ptx) == Family::move && inst.guard != value &&
           std::none_of(inst.writes.begin(), inst.writes.end(),
                        [&](const auto& write) { return is_read(kernel, write.second, seen); });
  };
  for (const simt::BasicBlock& block : kernel.blocks) {
    if (block.condition == value) return true;
    for (const simt::Phi& phi : block.phis) {
      const bool is_input =
          std::find(phi.inputs.begin(), phi.inputs.end(), value) != phi.inputs.end();
      if (is_input && is_read(kernel, phi.result, seen)) return true;
    }
    for (const simt::Inst& inst : block.insts) {
      if (reads(inst) && !copies(inst)) return true;
    }
  }
  return false;
}

}  // namespace

/// Reserves a record of the largest size that the arguments can have, and copies them as words.
void Lowering::lower_print(const simt::Inst& inst) {
  s.uses_printf = true;
  std::set<simt::ValueId> seen;
  if (!inst.writes.empty() && is_read(s.kernel, inst.writes[0].second, &seen)) {
    return s.refuse(*inst.ptx, "the host prints, so that no kernel gets what printf returns");
  }
  V format = argument(inst, 0, Type::u64), values = argument(inst, 1, Type::u64);
  V buffer = s.record_u64(offsetof(LaunchRecord, print));
  const auto result = s.new_variable(b.getInt32Ty());
  s.store(result, s.u32(UINT32_MAX));
  // Arguments lie in local memory, and not beyond its end.
  const uint64_t local = s.input.analysed.layout.local_bytes;
  V offset = b.CreateAnd(values, s.u64(0xffffffff));
  V left = b.CreateTrunc(b.CreateSub(s.u64(local), offset), b.getInt32Ty());
  V is_null = b.CreateICmpEQ(values, s.u64(0));
  V bytes = b.CreateBinaryIntrinsic(llvm::Intrinsic::umin, left, s.u32(kMostArgumentBytes));
  bytes = b.CreateSelect(is_null, s.u32(0), b.CreateAnd(bytes, s.u32(~3u)));
  V size = b.CreateAnd(b.CreateAdd(bytes, s.u32(kPrintHeaderBytes + 7)), s.u32(~7u));
  s.if_then(b.CreateICmpNE(buffer, s.u64(0)), [&] {
    auto& writer = s.context.writer;
    V begin = b.make(spv::Op::OpAtomicIAdd, b.getInt32Ty(),
                     {s.atomic_pointer(buffer, b.getInt32Ty()),
                      writer.u32(word(spv::Scope::Device)), writer.u32(0), size->id});
    V capacity = s.record_u32(offsetof(LaunchRecord, print_bytes));
    V fits = b.CreateICmpULE(b.CreateAdd(begin, size), capacity);
    s.if_then(b.CreateAnd(fits, b.CreateICmpULT(begin, capacity)), [&] {
      V to = b.CreateAdd(b.CreateAdd(buffer, s.u64(sizeof(PrintBuffer))),
                         b.CreateZExt(begin, b.getInt64Ty()));
      s.store_global(to, size, 4);
      s.store_global(b.CreateAdd(to, s.u64(4)), bytes, 4);
      s.store_global(b.CreateAdd(to, s.u64(8)), format, 8);
      s.store(result, s.u32(0));
      const auto at = s.new_variable(b.getInt32Ty());
      s.store(at, s.u32(0));
      s.if_then(b.CreateICmpNE(bytes, s.u32(0)), [&] {
        s.loop([&] {
          V index = s.load(at);
          V wide = b.CreateZExt(index, b.getInt64Ty());
          V content = memory_.load_any_word(b.CreateAdd(values, wide));
          s.store_global(b.CreateAdd(b.CreateAdd(to, s.u64(kPrintHeaderBytes)), wide), content, 4);
          V next = b.CreateAdd(index, s.u32(4));
          s.store(at, next);
          return b.CreateICmpULT(next, bytes);
        });
      });
    });
  });
  if (!inst.writes.empty()) {
    s.define_result(inst, inst.writes[0].first, s.load(result), Type::s32);
  }
}

}  // namespace km::spirv
