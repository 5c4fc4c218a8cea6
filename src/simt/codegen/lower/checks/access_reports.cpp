#include "simt/codegen/lower/checks/access_reports.h"

#include <algorithm>
#include <array>
#include <bit>

#include "base/assert.h"
#include "simt/analysis/memory/memory_access.h"
#include "simt/arithmetic/loops.h"
#include "simt/plan/memory/lane_runs.h"
#include "simt/runtime/check/order_runtime.h"

namespace km::simt {

using ptx::Modifier;
using ptx::Opcode;

MemoryScope scope_of(const ptx::Instruction& instruction) {
  if (instruction.has(Modifier::cta)) return MemoryScope::block;
  if (instruction.has(Modifier::cluster)) return MemoryScope::cluster;
  if (instruction.has(Modifier::sys) || instruction.has(Modifier::volatile_)) {
    return MemoryScope::system;
  }
  return MemoryScope::device;
}

AccessNote note_of(const Inst& inst, const MemoryAccess& access) {
  const ptx::Instruction& ptx = *inst.ptx;
  AccessNote note{};
  note.line = access.line;
  note.size_bytes = static_cast<uint16_t>(access.size_bytes);
  note.element_bytes = static_cast<uint16_t>(ptx::size_bytes(ptx.types[ptx.type_count - 1]));
  note.kind = access_kind_of(inst);
  const bool atomic = note.kind == AccessKind::atomic, store = note.kind == AccessKind::write;
  note.scope = scope_of(ptx);
  // Loads past the caches are how older programs read what others write.
  const bool past_caches = ptx.has(Modifier::cv) || (!store && ptx.has(Modifier::cg));
  if (atomic || past_caches || is_strong_access(ptx)) note.flags |= access_flag::kStrong;
  const bool is_sum = atomic && ptx.has(Modifier::add);
  if (is_sum && ptx::is_float(ptx.types[ptx.type_count - 1])) note.flags |= access_flag::kFloatSum;
  if (ptx.has(Modifier::volatile_)) note.flags |= access_flag::kVolatile;
  if (ptx.has(Modifier::acquire) || ptx.has(Modifier::acq_rel)) note.flags |= access_flag::kAcquire;
  if (ptx.has(Modifier::release) || ptx.has(Modifier::acq_rel)) note.flags |= access_flag::kRelease;
  return note;
}

/// The access of an instruction, if it is reported: constants and parameters never change, and a
/// thread's local memory is its own, but begins without content.
std::optional<MemoryAccess> AccessReports::reported(const Inst& inst) const {
  if (!is_used()) return std::nullopt;
  const std::optional<MemoryAccess> access = memory_access(kernel_, inst);
  if (!access) return std::nullopt;
  const bool is_watched =
      access->space == ptx::Space::global || access->space == ptx::Space::shared ||
      access->space == ptx::Space::generic || (access->space == ptx::Space::local && has_init());
  return is_watched ? access : std::nullopt;
}

AccessNote AccessReports::own_note(const Inst& inst, const MemoryAccess& access,
                                   const Address& address) const {
  AccessNote note = note_of(inst, access);
  // Programs that spin on volatile memory mean each other's values, so that they do not count on
  // lanes in step.
  if (plan_.has_spin_loop()) note.flags &= static_cast<uint8_t>(~access_flag::kVolatile);
  if (address.offsets == nullptr || address.ok != nullptr) return note;
  const LaneRun run = run_of(*address.offsets, lanes_);
  if (run.lanes == lanes_ && run.step == note.size_bytes) note.flags |= access_flag::kConsecutive;
  return note;
}

/// The flags that say what a load is for.
uint8_t AccessReports::role_of(const Inst& inst) {
  if (inst.ptx->opcode != Opcode::ld && inst.ptx->opcode != Opcode::ldu) return 0;
  uint8_t role = 0;
  if (has_init()) {
    if (!copied_) copied_.emplace(kernel_);
    if (copied_->are_only_copied(inst)) role |= access_flag::kCopied;
  }
  if (has_accesses()) {
    if (!repeated_) repeated_.emplace(kernel_);
    if (repeated_->are_repeated(inst)) role |= access_flag::kRepeated;
  }
  return role;
}

llvm::Constant* AccessReports::constant_note(const AccessNote& note) {
  const auto words = std::bit_cast<std::array<uint64_t, 2>>(note);
  return builder_.private_constant(llvm::ConstantDataArray::get(context_, words), "km_access_note");
}

llvm::Value* AccessReports::stored(Value* addresses) {
  auto* memory = builder_.variable(addresses->getType(), "addresses");
  b_.CreateStore(addresses, memory);
  return memory;
}

llvm::Value* AccessReports::no_values() { return llvm::ConstantPointerNull::get(b_.getPtrTy()); }

void AccessReports::call_access(Value* addresses, Value* lanes, const AccessNote& note,
                                Value* values) {
  call_content(addresses, lanes, note, note.size_bytes, no_values());
  call_race(addresses, lanes, note, values);
}

/// The memory that gets the values of a store's elements, a row of all lanes for each.
llvm::Value* AccessReports::rows_of(std::span<Value* const> values, uint16_t element_bytes) {
  auto* row = vector_of(b_.getIntNTy(8U * element_bytes));
  auto* rows = llvm::ArrayType::get(row, values.size());
  auto* memory = builder_.variable(rows, "stored");
  for (unsigned i = 0; i < values.size(); ++i) {
    Value* each = values[i]->getType()->isVectorTy() ? values[i] : splat(values[i]);
    if (each->getType() != row) each = b_.CreateBitCast(each, row);
    b_.CreateStore(each, b_.CreateConstGEP2_32(rows, memory, 0, i));
  }
  return memory;
}

AccessReports::Manner AccessReports::with_values(Manner manner, std::span<Value* const> values,
                                                 uint16_t element_bytes) {
  if (!has_accesses()) return manner;
  manner.values = rows_of(values, element_bytes);
  manner.element_bytes = element_bytes;
  return manner;
}

AccessReports::Manner AccessReports::zeros(CopyKind copy) {
  Manner manner(AccessKind::write, copy);
  manner.copy_from(i64(0), i64(0));
  return manner;
}

/// The pointer to the StoreSources of a store; null if it has none.
llvm::Value* AccessReports::sources_of(const Manner& manner) {
  if (manner.sources == nullptr) return no_values();
  auto* pointer = b_.getPtrTy();
  auto* type = llvm::StructType::get(pointer, pointer, pointer);
  auto* memory = builder_.variable(type, "sources");
  const auto in_memory = [&](Value* each) {
    return stored(each->getType()->isVectorTy() ? each : splat(each));
  };
  Value* const masks = manner.byte_masks;
  b_.CreateStore(in_memory(manner.sources), b_.CreateStructGEP(type, memory, 0));
  b_.CreateStore(in_memory(manner.held_bytes), b_.CreateStructGEP(type, memory, 1));
  b_.CreateStore(masks != nullptr ? in_memory(masks) : no_values(),
                 b_.CreateStructGEP(type, memory, 2));
  return memory;
}

namespace {

/// True if the memory may be a thread's own.
bool may_be_local(const Plan& plan, const MemoryAccess& access) {
  return plan.layout->local_bytes != 0 &&
         (access.space == ptx::Space::local || access.space == ptx::Space::generic);
}

}  // namespace

/// The variables of a place that knows nothing yet.
AccessReports::Defined AccessReports::defined_memory(const MemoryAccess& access) {
  auto* word = b_.getInt64Ty();
  Defined known{};
  known.range = builder_.variable(llvm::ArrayType::get(word, 2), "defined");
  if (access.space != ptx::Space::global) known.block = builder_.variable(word, "defined_block");
  return known;
}

/// The block for which a place knows memory. In mode a, one call runs several blocks, each of which
/// begins with undefined shared memory, and several packets, each of which begins with undefined
/// local memory.
llvm::Value* AccessReports::current_block(const MemoryAccess& access) {
  auto *half = b_.getInt32Ty(), *word = b_.getInt64Ty();
  Value* block = b_.CreateZExt(b_.CreateLoad(half, frame_.block_index_variable(0)), word);
  if (!may_be_local(plan_, access)) return block;
  Value* first = b_.CreateLoad(half, frame_.first_thread());
  return b_.CreateOr(block, b_.CreateShl(b_.CreateZExt(first, word), i64(32)));
}

/// True (i1) if an access is not surely to memory that its place knows.
llvm::Value* AccessReports::may_be_undefined(const Defined& known, const MemoryAccess& access,
                                             const Address& address) {
  Value* outside = outside_range(address, known.range, known.low_bytes);
  if (known.block == nullptr) return outside;
  Value* before = b_.CreateLoad(b_.getInt64Ty(), known.block);
  return b_.CreateOr(outside, b_.CreateICmpNE(current_block(access), before));
}

/// Reports an access to memory that the place does not know to be defined.
void AccessReports::test_content(const Defined& known, const MemoryAccess& access,
                                 const Address& address, const AccessNote& note) {
  builder_.branch_unlikely(may_be_undefined(known, access, address), [&] {
    call_content(addresses_.lanes_of(address), mask_bits(), note, known.extent_bytes, known.range);
    if (known.block != nullptr) b_.CreateStore(current_block(access), known.block);
  });
}

/// Tests the content of an access. The first one of a group tests the others as well, which need no
/// test if all is known to be defined.
void AccessReports::report_content(const Inst& inst, const MemoryAccess& access,
                                   const Address& address, const AccessNote& note) {
  if (!has_init()) return;
  const std::pair<int64_t, int64_t> extremes = extremes_of(address.offsets, lanes_);
  Defined own = defined_memory(access);
  own.low_bytes = extremes.first;
  own.extent_bytes = static_cast<uint64_t>(extremes.second - extremes.first) + note.size_bytes;
  JointAccesses::Group* const group = joint_.group_of(inst, access);
  if (group == nullptr) return test_content(own, access, address, note);
  if (group->first != &inst) {
    return builder_.branch_unlikely(group->may_be_undefined,
                                    [&] { test_content(own, access, address, note); });
  }
  Defined all = defined_memory(access);
  all.low_bytes = extremes.first + group->low_bytes;
  all.extent_bytes = group->extent_bytes(extremes);
  const auto known = [&]() -> CodeBuilder::Values { return {b_.getFalse()}; };
  const auto test = [&]() -> CodeBuilder::Values {
    test_content(own, access, address, note);
    narrow_range(own.range, all.range, all.extent_bytes - own.extent_bytes);
    if (all.block != nullptr) b_.CreateStore(current_block(access), all.block);
    return {outside_range(address, all.range, all.low_bytes)};
  };
  Value* is_known = b_.CreateNot(may_be_undefined(all, access, address));
  group->may_be_undefined = builder_.choose(is_known, known, test)[0];
}

void AccessReports::narrow_range(llvm::AllocaInst* range, llvm::AllocaInst* joint,
                                 uint64_t more_bytes) {
  auto* word = b_.getInt64Ty();
  Value* begin = builder_.load_field(range, 0, word, false);
  Value* last = builder_.load_field(range, 8, word, false);
  Value* fits = b_.CreateICmpUGE(last, i64(more_bytes));
  b_.CreateStore(b_.CreateSelect(fits, begin, i64(UINT64_MAX)), joint);
  Value* rest = b_.CreateSelect(fits, b_.CreateSub(last, i64(more_bytes)), i64(0));
  b_.CreateStore(rest, b_.CreateConstGEP1_64(b_.getInt8Ty(), joint, 8));
}

void AccessReports::call_content(Value* addresses, Value* lanes, const AccessNote& note,
                                 uint64_t extent_bytes, Value* range) {
  if (!has_init()) return;
  llvm::Type *pointer = b_.getPtrTy(), *word = b_.getInt32Ty();
  auto* type = llvm::FunctionType::get(
      b_.getVoidTy(), {pointer, pointer, word, pointer, b_.getInt64Ty(), pointer}, false);
  frame_.call_runtime(
      offsetof(CheckRuntime, report_content), type,
      {frame_.state(), stored(addresses), lanes, constant_note(note), i64(extent_bytes), range});
}

void AccessReports::call_race(Value* addresses, Value* lanes, const AccessNote& note,
                              Value* values) {
  if (!has_accesses()) return;
  llvm::Type *pointer = b_.getPtrTy(), *word = b_.getInt32Ty();
  auto* type = llvm::FunctionType::get(b_.getVoidTy(),
                                       {pointer, pointer, word, pointer, pointer, word}, false);
  frame_.call_runtime(
      offsetof(CheckRuntime, report_access), type,
      {frame_.state(), stored(addresses), lanes, constant_note(note), values, i32(lanes_)});
}

llvm::Value* AccessReports::call_filter(const AccessNote& note, const Tested& tested) {
  llvm::Type *pointer = b_.getPtrTy(), *word = b_.getInt32Ty(), *wide = b_.getInt64Ty();
  auto* type =
      llvm::FunctionType::get(word, {pointer, pointer, word, pointer, wide, wide, pointer}, false);
  return frame_.call_runtime(offsetof(CheckRuntime, filter_access), type,
                             {frame_.state(), tested.addresses, mask_bits(), constant_note(note),
                              i64(tested.held_bytes), i64(tested.extent_bytes), tested.range});
}

void AccessReports::call_acquire(Value* addresses, const AccessNote& note) {
  llvm::Type *pointer = b_.getPtrTy(), *word = b_.getInt32Ty();
  auto* type = llvm::FunctionType::get(b_.getVoidTy(), {pointer, pointer, word, pointer}, false);
  frame_.call_runtime(offsetof(CheckRuntime, report_acquire), type,
                      {frame_.state(), stored(addresses), mask_bits(), constant_note(note)});
}

llvm::Value* AccessReports::outside_range(const Address& address, llvm::AllocaInst* range,
                                          int64_t low_bytes) {
  Value* begin = builder_.load_field(range, 0, b_.getInt64Ty(), false);
  Value* last = builder_.load_field(range, 8, b_.getInt64Ty(), false);
  const auto low = static_cast<uint64_t>(low_bytes);
  if (address.lanes != nullptr) {
    Value* distance = b_.CreateSub(address.lanes, splat(b_.CreateSub(begin, i64(low))));
    return builder_.any(builder_.and_masks(mask(), b_.CreateICmpUGT(distance, splat(last))));
  }
  Value* at = b_.CreateAdd(address.base, i64(low));
  Value* outside = b_.CreateICmpUGT(b_.CreateSub(at, begin), last);
  return address.ok != nullptr ? b_.CreateOr(outside, b_.CreateNot(address.ok)) : outside;
}

void AccessReports::report_access(const Inst& inst, const Address& address) {
  counts_.count_access(inst, address);
  const auto access = reported(inst);
  if (!access) return;
  AccessNote note = own_note(inst, *access, address);
  note.flags |= role_of(inst);
  note.may_be_old = note.kind == AccessKind::read && may_load_old(inst) ? 1 : 0;
  report_content(inst, *access, address, note);
  if (!has_accesses() || access->space == ptx::Space::local) return;
  call_race(addresses_.lanes_of(address), mask_bits(), note, no_values());
}

llvm::Value* AccessReports::report_store(const Inst& inst, const Address& address,
                                         std::span<Value* const> values) {
  counts_.count_access(inst, address);
  const auto access = reported(inst);
  if (!access) return nullptr;
  const AccessNote note = own_note(inst, *access, address);
  report_content(inst, *access, address, note);
  if (!has_accesses() || access->space == ptx::Space::local) return nullptr;
  Value* const memory = rows_of(values, note.element_bytes);
  Value* const addresses = addresses_.lanes_of(address);
  call_race(addresses, mask_bits(), note, memory);
  const bool may_delay = plan_.variant.is_scheduled() && (note.flags & access_flag::kStrong) == 0;
  if (!may_delay) return nullptr;
  llvm::Type *pointer = b_.getPtrTy(), *word = b_.getInt32Ty();
  auto* type =
      llvm::FunctionType::get(word, {pointer, pointer, word, pointer, pointer, word}, false);
  return frame_.call_runtime(
      offsetof(OrderRuntime, delay_store), type,
      {frame_.state(), stored(addresses), mask_bits(), constant_note(note), memory, i32(lanes_)});
}

bool AccessReports::may_load_old(const Inst& inst) const {
  if (!plan_.variant.is_scheduled()) return false;
  const auto access = reported(inst);
  if (!access || access->space == ptx::Space::local) return false;
  return (note_of(inst, *access).flags & access_flag::kStrong) == 0;
}

llvm::Value* AccessReports::load_old(const Inst& inst, const Address& address, Value* memory) {
  const AccessNote note = note_of(inst, *reported(inst));
  llvm::Type *pointer = b_.getPtrTy(), *word = b_.getInt32Ty();
  auto* type =
      llvm::FunctionType::get(word, {pointer, pointer, word, pointer, pointer, word}, false);
  return frame_.call_runtime(offsetof(OrderRuntime, load_old), type,
                             {frame_.state(), stored(addresses_.lanes_of(address)), mask_bits(),
                              constant_note(note), memory, i32(lanes_)});
}

void AccessReports::report_acquire(const Inst& inst, const Address& address) {
  const auto access = reported(inst);
  if (!access) return;
  const AccessNote note = note_of(inst, *access);
  if ((note.flags & access_flag::kStrong) == 0 || note.kind == AccessKind::write) return;
  if (!has_race() || access->space == ptx::Space::local) return;
  call_acquire(addresses_.lanes_of(address), note);
}

void AccessReports::report_lanes(const Inst& inst, const Address& address, uint64_t size_bytes,
                                 Manner manner) {
  if (is_used()) report_lanes(inst, addresses_.lanes_of(address), size_bytes, manner, mask());
}

void AccessReports::report_lanes(const Inst& inst, Value* addresses, uint64_t size_bytes,
                                 Manner manner, Value* lanes) {
  if (!is_used()) return;
  AccessNote note{};
  note.line = inst.ptx->location.line;
  note.size_bytes = note.element_bytes = static_cast<uint16_t>(size_bytes);
  note.kind = manner.kind;
  note.copy = manner.copy;
  if (manner.values != nullptr) note.element_bytes = manner.element_bytes;
  call_access(addresses, lanes != nullptr ? builder_.bits_of(lanes) : mask_bits(), note,
              manner.values != nullptr ? manner.values : no_values());
}

void AccessReports::report_ranges(const Inst& inst, Value* addresses, Value* sizes, Manner manner,
                                  Value* lanes) {
  if (!is_used()) return;
  AccessNote note{};
  note.line = inst.ptx->location.line;
  note.element_bytes = 1;
  note.kind = manner.kind;
  note.copy = manner.copy;
  note.flags = manner.flags;
  note.scope = scope_of(*inst.ptx);
  Value* each = sizes->getType()->isVectorTy() ? sizes : splat(sizes);
  llvm::Type *pointer = b_.getPtrTy(), *word = b_.getInt32Ty();
  auto* type = llvm::FunctionType::get(b_.getVoidTy(),
                                       {pointer, pointer, pointer, word, pointer, pointer}, false);
  frame_.call_runtime(offsetof(CheckRuntime, report_ranges), type,
                      {frame_.state(), stored(addresses), stored(each),
                       lanes != nullptr ? builder_.bits_of(lanes) : mask_bits(),
                       constant_note(note), sources_of(manner)});
}

namespace {

/// The report of an operation on an mbarrier object. Its scope is the block's if it names none.
AccessNote barrier_note(const Inst& inst, AccessKind kind, uint8_t order) {
  AccessNote note{};
  note.line = inst.ptx->location.line;
  note.size_bytes = note.element_bytes = sizeof(uint64_t);
  note.kind = kind;
  note.flags = access_flag::kStrong | order;
  // Copies complete on barriers of other blocks too.
  note.scope = MemoryScope::cluster;
  return note;
}

}  // namespace

void AccessReports::report_arrival(const Inst& inst, const Address& barrier, CopyKind by) {
  if (!is_used()) return;
  AccessNote note = barrier_note(inst, AccessKind::atomic, access_flag::kRelease);
  note.copy = by;
  call_access(addresses_.lanes_of(barrier), mask_bits(), note, no_values());
}

void AccessReports::report_multicast(const Inst& inst, const Multicast& copy) {
  if (!is_used()) return;
  AccessNote note = barrier_note(inst, AccessKind::atomic, access_flag::kRelease);
  note.copy = CopyKind::barrier;
  auto* none = llvm::Constant::getNullValue(copy.ranks->getType());
  emit_loop(b_, b_.CreateExtractElement(copy.blocks, uint64_t{0}), 1, [&](Value* rank) {
    Value* each = splat(rank);
    Value* bit = b_.CreateAnd(b_.CreateLShr(copy.ranks, each), splat(i64(1)));
    Value* receives = builder_.and_masks(mask(), b_.CreateICmpNE(bit, none));
    Value* distance = b_.CreateShl(b_.CreateSub(each, copy.own_rank), copy.bits);
    if (copy.to != nullptr) {
      Manner manner = zeros(CopyKind::barrier);
      if (copy.from != nullptr) manner.copy_from(copy.from, copy.sizes);
      report_ranges(inst, b_.CreateAdd(copy.to, distance), copy.sizes, manner, receives);
    }
    call_access(b_.CreateAdd(copy.barriers, distance), builder_.bits_of(receives), note,
                no_values());
  });
}

void AccessReports::report_copies(CopyKind kind, Value* pending) {
  if (!has_race()) return;
  auto* word = b_.getInt32Ty();
  auto* type = llvm::FunctionType::get(b_.getVoidTy(), {b_.getPtrTy(), word, word, word}, false);
  frame_.call_runtime(offsetof(CheckRuntime, report_copies), type,
                      {frame_.state(), mask_bits(), i32(static_cast<uint32_t>(kind)), pending});
}

void AccessReports::report_phase_test(const Inst& inst, const Address& barrier) {
  if (!is_used()) return;
  Value* const addresses = addresses_.lanes_of(barrier);
  const AccessNote note = barrier_note(inst, AccessKind::read, access_flag::kAcquire);
  call_access(addresses, mask_bits(), note, no_values());
  call_acquire(addresses, note);
}

void AccessReports::report_fence(const Inst& inst) {
  if (!is_used()) return;
  MemoryScope scope = scope_of(*inst.ptx);
  auto* word = b_.getInt32Ty();
  auto* type = llvm::FunctionType::get(b_.getVoidTy(), {b_.getPtrTy(), word, word}, false);
  frame_.call_runtime(offsetof(CheckRuntime, report_fence), type,
                      {frame_.state(), mask_bits(), i32(static_cast<uint32_t>(scope))});
}

void AccessReports::report_barrier(const Inst& inst, Value* id, Value* thread_count) {
  if (!has_sync()) return;
  auto* word = b_.getInt32Ty();
  auto* type =
      llvm::FunctionType::get(b_.getVoidTy(), {b_.getPtrTy(), word, word, word, word}, false);
  frame_.call_runtime(
      offsetof(CheckRuntime, report_barrier), type,
      {frame_.state(), mask_bits(), id, thread_count, i32(inst.ptx->location.line)});
}

void AccessReports::report_members(const Inst& inst, Value* members) {
  if (!has_sync()) return;
  Value* each = members->getType()->isVectorTy() ? members : splat(members);
  llvm::Type *pointer = b_.getPtrTy(), *word = b_.getInt32Ty();
  auto* type = llvm::FunctionType::get(b_.getVoidTy(), {pointer, pointer, word, word}, false);
  frame_.call_runtime(offsetof(CheckRuntime, report_members), type,
                      {frame_.state(), stored(each), mask_bits(), i32(inst.ptx->location.line)});
}

void AccessReports::report_undefined(const Inst& inst, UndefinedUse use) {
  KM_ASSERT(has_init(), "code without init has marks of what is undefined");
  llvm::Type *pointer = b_.getPtrTy(), *word = b_.getInt32Ty(), *wide = b_.getInt64Ty();
  if (use == UndefinedUse::locals) {
    auto* type = llvm::FunctionType::get(b_.getVoidTy(), {pointer, wide, word, wide, wide}, false);
    frame_.call_runtime(offsetof(CheckRuntime, report_locals), type,
                        {frame_.state(), frame_.local_base(), mask_bits(),
                         i64(plan_.layout->local_stride_bytes()), i64(plan_.layout->local_bytes)});
    return;
  }
  auto* type = llvm::FunctionType::get(b_.getVoidTy(), {pointer, word, word, word}, false);
  frame_.call_runtime(
      offsetof(CheckRuntime, report_undefined), type,
      {frame_.state(), mask_bits(), i32(static_cast<uint32_t>(use)), i32(inst.ptx->location.line)});
}

void AccessReports::report_warp_sync(Value* lanes, bool orders) {
  KM_ASSERT(has_warp_syncs(), "a warp's order is reported to no tool");
  auto* word = b_.getInt32Ty();
  auto* type = llvm::FunctionType::get(b_.getVoidTy(), {b_.getPtrTy(), word, word}, false);
  frame_.call_runtime(offsetof(CheckRuntime, report_warp_sync), type,
                      {frame_.state(), lanes, i32(orders ? 1 : 0)});
}

}  // namespace km::simt
