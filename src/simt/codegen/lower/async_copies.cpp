#include "simt/codegen/lower/async_copies.h"

#include "simt/analysis/memory/memory_access.h"
#include "simt/arithmetic/loops.h"
#include "simt/codegen/lower/atomics/atomic_helpers.h"
#include "simt/codegen/lower/lanes/lane_loops.h"

namespace km::simt {

using ptx::Modifier;
using ptx::Operand;
using ptx::Space;
using ptx::Type;

namespace {

/// The alignment and granularity of bulk copies.
constexpr uint64_t kChunkBytes = 16;

llvm::Value* pointer_at(llvm::IRBuilder<>& b, llvm::Value* address) {
  return b.CreateIntToPtr(address, b.getPtrTy());
}

/// A type of that size that LLVM copies by one load and one store.
llvm::Type* chunk_type(llvm::IRBuilder<>& b, uint64_t size_bytes) {
  if (size_bytes == kChunkBytes) return llvm::FixedVectorType::get(b.getInt32Ty(), 4);
  return b.getIntNTy(static_cast<unsigned>(8 * size_bytes));
}

void copy_chunks(llvm::IRBuilder<>& b, llvm::Value* to, llvm::Value* from, llvm::Value* size) {
  const llvm::Align align(kChunkBytes);
  auto* type = chunk_type(b, kChunkBytes);
  emit_loop(b, size, kChunkBytes, [&](llvm::Value* offset) {
    llvm::Value* chunk = b.CreateAlignedLoad(type, pointer_at(b, b.CreateAdd(from, offset)), align);
    b.CreateAlignedStore(chunk, pointer_at(b, b.CreateAdd(to, offset)), align);
  });
}

/// Copies the bytes of each chunk whose bit is set in `mask`, and keeps the others.
void copy_masked_chunks(llvm::IRBuilder<>& b, llvm::Value* to, llvm::Value* from, llvm::Value* size,
                        llvm::Value* mask) {
  const llvm::Align align(kChunkBytes);
  auto* bytes = llvm::FixedVectorType::get(b.getInt8Ty(), kChunkBytes);
  auto* bits = llvm::FixedVectorType::get(b.getInt1Ty(), kChunkBytes);
  llvm::Value* lanes = b.CreateBitCast(mask, bits);
  emit_loop(b, size, kChunkBytes, [&](llvm::Value* offset) {
    llvm::Value* chunk =
        b.CreateAlignedLoad(bytes, pointer_at(b, b.CreateAdd(from, offset)), align);
    b.CreateMaskedStore(chunk, pointer_at(b, b.CreateAdd(to, offset)), align, lanes);
  });
}

}  // namespace

void AsyncCopies::lower_cp(const Inst& inst) {
  const auto& ptx = *inst.ptx;
  for (Modifier m : {Modifier::commit_group, Modifier::wait_group, Modifier::wait_all}) {
    if (ptx.has(m)) return report_groups(inst);
  }
  if (ptx.has(Modifier::prefetch)) return;
  if (ptx.has(Modifier::reduce)) return lower_bulk_reduction(inst);
  if (ptx.has(Modifier::bulk)) return lower_bulk_copy(inst);
  if (ptx.has(Modifier::mbarrier)) return mbarriers_.lower_mbarrier(inst);
  lower_async_copy(inst);
}

/// Copies are complete when they are lowered, so that groups are of interest to the checker only.
void AsyncCopies::report_groups(const Inst& inst) {
  const auto& ptx = *inst.ptx;
  uint32_t pending = ptx.has(Modifier::wait_all) ? copy_groups::kWaitAll : copy_groups::kCommit;
  if (ptx.has(Modifier::wait_group)) pending = static_cast<uint32_t>(ptx.operands[0].bits);
  const bool is_bulk = ptx.has(Modifier::bulk);
  checks_.reports().report_copies(is_bulk ? CopyKind::bulk_group : CopyKind::group, i32(pending));
}

/// Lowers cp.async.ca and .cg, which copy 4, 8 or 16 bytes per lane, to a load and a store if the
/// source has its full size.
void AsyncCopies::lower_async_copy(const Inst& inst) {
  const auto& ptx = *inst.ptx;
  const uint64_t size_bytes = ptx.operands[2].bits;
  const Address to = addresses_.address_of(inst, ptx.operands[0], Space::shared);
  const Address from = addresses_.address_of(inst, ptx.operands[1], Space::global);
  checks_.check_lanes(inst, to, size_bytes);
  count_copy(inst, to, AccessKind::write, mask());
  const unsigned last = ptx.operand_count - (ptx.has(Modifier::L2_cache_hint) ? 1u : 0u);
  if (last > 3) {
    const bool ignores = Arithmetic::operand_type(ptx, 3) == Type::pred;
    Value* sizes =
        values_.operand(inst, ptx.operands[3], ignores ? Type::pred : Type::u32, true, false);
    auto* wide = vector_of(b_.getInt64Ty());
    if (ignores) {
      sizes = b_.CreateSelect(sizes, llvm::Constant::getNullValue(wide), splat(i64(size_bytes)));
    } else {
      sizes = b_.CreateZExt(sizes, wide);
      sizes = b_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, sizes, splat(i64(size_bytes)));
    }
    return copy_part(inst, to, from, sizes);
  }
  checks_.check_lanes(inst, from, size_bytes);
  checks_.reports().report_lanes(inst, from, size_bytes, AccessKind::read);
  count_copy(inst, from, AccessKind::read, mask());
  Access access;
  access.type = Type::b32;
  access.count = static_cast<unsigned>(size_bytes / 4);
  std::vector<Value*> values = accesses_.load(from, access);
  AccessReports& reports = checks_.reports();
  const AccessReports::Manner manner(AccessKind::write, CopyKind::group);
  reports.report_lanes(inst, to, size_bytes, reports.with_values(manner, values, 4));
  const bool uniform = to.lanes == nullptr && to.offsets == nullptr;
  for (Value*& value : values) value = uniform ? value : splat(value);
  accesses_.store(to, access, values);
}

/// Counts one side of cp.async: a read of global or a write of shared memory.
void AsyncCopies::count_copy(const Inst& inst, const Address& address, AccessKind kind,
                             Value* lanes) {
  AccessCounts& counts = checks_.reports().counts();
  if (!counts.is_used()) return;
  const auto size_bytes = static_cast<uint16_t>(inst.ptx->operands[2].bits);
  const CountedSpace space = kind == AccessKind::read ? CountedSpace::global : CountedSpace::shared;
  counts.count_lanes(addresses_.lanes_of(address),
                     {inst.ptx->location.line, size_bytes, kind, space}, lanes);
}

/// Copies to each lane `sizes` bytes and fills the rest with zeros. The source after these bytes is
/// not read, because it may be inaccessible.
void AsyncCopies::copy_part(const Inst& inst, const Address& to, const Address& from,
                            Value* sizes) {
  const uint64_t size_bytes = inst.ptx->operands[2].bits;
  Value* sources = addresses_.lanes_of(from);
  checks_.check_lanes(inst, {sources, sizes, size_bytes}, mask());
  AccessReports& reports = checks_.reports();
  reports.report_ranges(inst, sources, sizes, AccessKind::read, mask());
  AccessReports::Manner manner(AccessKind::write, CopyKind::group);
  manner.copy_from(sources, sizes);
  reports.report_ranges(inst, addresses_.lanes_of(to), i64(size_bytes), manner, mask());
  if (checks_.reports().counts().is_used()) {
    Value* reads = b_.CreateICmpNE(sizes, llvm::Constant::getNullValue(sizes->getType()));
    count_copy(inst, from, AccessKind::read, builder_.and_masks(mask(), reads));
  }
  const llvm::Align align(size_bytes);
  const std::string name = "copy_part_" + std::to_string(size_bytes);
  for_lanes(builder_, name, b_.getVoidTy(), {addresses_.lanes_of(to), sources, sizes},
            [&](llvm::IRBuilder<>& b, const std::vector<Value*>& lane) -> Value* {
              auto* type = chunk_type(b, size_bytes);
              Value* target = pointer_at(b, lane[0]);
              Value* is_whole = b.CreateICmpEQ(lane[2], b.getInt64(size_bytes));
              emit_if(
                  b, is_whole,
                  [&] {
                    Value* whole = b.CreateAlignedLoad(type, pointer_at(b, lane[1]), align);
                    b.CreateAlignedStore(whole, target, align);
                  },
                  [&] {
                    b.CreateAlignedStore(llvm::Constant::getNullValue(type), target, align);
                    emit_loop(b, lane[2], 1, [&](Value* offset) {
                      Value* byte =
                          b.CreateLoad(b.getInt8Ty(), pointer_at(b, b.CreateAdd(lane[1], offset)));
                      b.CreateStore(byte, pointer_at(b, b.CreateAdd(lane[0], offset)));
                    });
                  });
              return nullptr;
            });
}

namespace {

/// The state spaces of a bulk copy, which its modifiers name.
struct BulkSpaces {
  Space to = Space::shared, from = Space::shared;
};

BulkSpaces spaces_of(const ptx::Instruction& ptx) {
  if (!ptx.has(Modifier::global)) return {};
  if (ptx.has(Modifier::bulk_group)) return {Space::global, Space::shared};
  return {Space::shared, Space::global};
}

}  // namespace

/// Reads the operands of a bulk copy and checks that sizes and addresses are multiples of 16, as
/// PTX requires.
AsyncCopies::BulkCopy AsyncCopies::bulk_copy_of(const Inst& inst) {
  const auto& ptx = *inst.ptx;
  const BulkSpaces spaces = spaces_of(ptx);
  BulkCopy copy;
  copy.to_shared = spaces.to == Space::shared;
  copy.to = addresses_.lanes_of(addresses_.address_of(inst, ptx.operands[0], spaces.to));
  copy.from = addresses_.lanes_of(addresses_.address_of(inst, ptx.operands[1], spaces.from));
  copy.sizes = b_.CreateZExt(values_.operand(inst, ptx.operands[2], Type::u32, true, false),
                             vector_of(b_.getInt64Ty()));
  checks_.require_aligned({}, copy.sizes, mask_bits(), kChunkBytes);
  checks_.check_lanes(inst, {copy.to, copy.sizes, kChunkBytes}, mask());
  checks_.check_lanes(inst, {copy.from, copy.sizes, kChunkBytes}, mask());
  const CopyKind kind = ptx.has(Modifier::bulk_group) ? CopyKind::bulk_group : CopyKind::barrier;
  AccessReports& reports = checks_.reports();
  reports.report_ranges(inst, copy.from, copy.sizes, {AccessKind::read, kind}, mask());
  if (!ptx.has(Modifier::multicast_cluster)) report_target(inst, copy, kind);
  return copy;
}

/// Reports what a bulk copy or reduction writes.
void AsyncCopies::report_target(const Inst& inst, const BulkCopy& copy, CopyKind kind) {
  const auto& ptx = *inst.ptx;
  AccessReports::Manner manner(AccessKind::write, kind);
  if (ptx.has(Modifier::reduce)) {
    manner.kind = AccessKind::atomic;
    manner.flags = access_flag::kStrong;
    const bool is_sum = ptx.has(Modifier::add) && ptx::is_float(ptx.type());
    if (is_sum) manner.flags |= access_flag::kFloatSum;
  } else {
    manner.copy_from(copy.from, copy.sizes);
  }
  if (ptx.has(Modifier::cp_mask)) manner.byte_masks = byte_masks(inst);
  checks_.reports().report_ranges(inst, copy.to, copy.sizes, manner, mask());
}

llvm::Value* AsyncCopies::byte_masks(const Inst& inst) {
  const Operand& last = inst.ptx->operands[inst.ptx->operand_count - 1];
  return values_.operand(inst, last, Type::b16, true, false);
}

/// Lowers cp.async.bulk to a copy in chunks, after which the transactions of its mbarrier are
/// complete.
void AsyncCopies::lower_bulk_copy(const Inst& inst) {
  const BulkCopy copy = bulk_copy_of(inst);
  if (inst.ptx->has(Modifier::multicast_cluster)) return multicast(inst, copy);
  if (inst.ptx->has(Modifier::cp_mask)) return copy_masked(inst, copy);
  for_lanes(builder_, "bulk_copy", b_.getVoidTy(), {copy.to, copy.from, copy.sizes},
            [&](llvm::IRBuilder<>& b, const std::vector<Value*>& lane) -> Value* {
              copy_chunks(b, lane[0], lane[1], lane[2]);
              return nullptr;
            });
  if (inst.ptx->has(Modifier::bulk_group)) return;
  mbarriers_.complete_transactions(inst, inst.ptx->operands[3], copy.sizes);
}

/// Lowers a bulk copy with a byte mask. Bit i of the mask selects byte i of each 16 bytes.
void AsyncCopies::copy_masked(const Inst& inst, const BulkCopy& copy) {
  for_lanes(builder_, "bulk_copy_masked", b_.getVoidTy(),
            {copy.to, copy.from, copy.sizes, byte_masks(inst)},
            [&](llvm::IRBuilder<>& b, const std::vector<Value*>& lane) -> Value* {
              copy_masked_chunks(b, lane[0], lane[1], lane[2], lane[3]);
              return nullptr;
            });
}

/// Copies to the same place in each block of the cluster whose bit is set, and completes the
/// transactions of the mbarrier in each of them.
void AsyncCopies::multicast(const Inst& inst, const BulkCopy& copy) {
  const Operand& barrier = inst.ptx->operands[3];
  auto* wide = vector_of(b_.getInt64Ty());
  Value* ranks = values_.operand(inst, inst.ptx->operands[4], Type::b16, true, false);
  Value* own = b_.CreateZExt(splat(registers_.rank_in_cluster()), wide);
  Value* bits = b_.CreateZExt(splat(registers_.cluster_bits()), wide);
  Value* barriers =
      addresses_.lanes_of(addresses_.address_of(inst, barrier, space_of(kernel_, inst, barrier)));
  const std::vector<Value*> arguments = {
      copy.to, copy.from, copy.sizes, b_.CreateZExt(ranks, wide),
      own,     bits,      barriers,   b_.CreateZExt(splat(registers_.cluster_blocks()), wide)};
  checks_.reports().report_multicast(
      inst, {barriers, arguments[3], own, bits, arguments[7], copy.to, copy.sizes, copy.from});
  for_lanes(builder_, "multicast", b_.getVoidTy(), arguments,
            [&](llvm::IRBuilder<>& b, const std::vector<Value*>& lane) -> Value* {
              emit_loop(b, lane[7], 1, [&](Value* rank) {
                Value* bit = b.CreateAnd(b.CreateLShr(lane[3], rank), b.getInt64(1));
                Value* distance = b.CreateShl(b.CreateSub(rank, lane[4]), lane[5]);
                auto do_block = [&] {
                  copy_chunks(b, b.CreateAdd(lane[0], distance), lane[1], lane[2]);
                  complete_bytes(b, b.CreateAdd(lane[6], distance), lane[2]);
                };
                emit_if(b, b.CreateIsNotNull(bit), do_block, [] {});
              });
              return nullptr;
            });
}

void AsyncCopies::lower_fill(const Inst& inst) {
  constexpr uint64_t kUnitBytes = 8;
  const auto& ptx = *inst.ptx;
  const Address address =
      addresses_.address_of(inst, ptx.operands[0], space_of(kernel_, inst, ptx.operands[0]));
  Value* to = addresses_.lanes_of(address);
  Value* sizes =
      values_.operand(inst, ptx.operands[1], Arithmetic::operand_type(ptx, 1), true, false);
  sizes = b_.CreateZExt(sizes, vector_of(b_.getInt64Ty()));
  checks_.require_aligned({}, sizes, mask_bits(), kUnitBytes);
  checks_.check_lanes(inst, {to, sizes, kUnitBytes}, mask());
  AccessReports& reports = checks_.reports();
  reports.report_ranges(inst, to, sizes, reports.zeros(), mask());
  for_lanes(builder_, "fill", b_.getVoidTy(), {to, sizes},
            [](llvm::IRBuilder<>& b, const std::vector<Value*>& lane) -> Value* {
              emit_loop(b, lane[1], kUnitBytes, [&](Value* offset) {
                Value* target = pointer_at(b, b.CreateAdd(lane[0], offset));
                b.CreateAlignedStore(b.getInt64(0), target, llvm::Align(kUnitBytes));
              });
              return nullptr;
            });
}

void AsyncCopies::lower_try_cancel(const Inst& inst) {
  const auto& ptx = *inst.ptx;
  const Operand& barrier = ptx.operands[1];
  const Address address =
      addresses_.address_of(inst, ptx.operands[0], space_of(kernel_, inst, ptx.operands[0]));
  checks_.check_lanes(inst, address, kChunkBytes);
  Value* to = addresses_.lanes_of(address);
  const auto answer = [](llvm::IRBuilder<>& b, Value* at) {
    auto* type = chunk_type(b, kChunkBytes);
    b.CreateAlignedStore(llvm::Constant::getNullValue(type), pointer_at(b, at),
                         llvm::Align(kChunkBytes));
  };
  if (!ptx.has(Modifier::multicast_cluster_all)) {
    AccessReports& reports = checks_.reports();
    reports.report_ranges(inst, to, i64(kChunkBytes), reports.zeros(CopyKind::barrier), mask());
    for_lanes(builder_, "answer_cancel", b_.getVoidTy(), {to},
              [&](llvm::IRBuilder<>& b, const std::vector<Value*>& lane) -> Value* {
                answer(b, lane[0]);
                return nullptr;
              });
    return mbarriers_.complete_transactions(inst, barrier, splat(i64(kChunkBytes)));
  }
  auto* wide = vector_of(b_.getInt64Ty());
  const auto number = [&](Value* value) { return b_.CreateZExt(splat(value), wide); };
  Value* barriers =
      addresses_.lanes_of(addresses_.address_of(inst, barrier, space_of(kernel_, inst, barrier)));
  const std::vector<Value*> arguments = {to, barriers, number(registers_.rank_in_cluster()),
                                         number(registers_.cluster_bits()),
                                         number(registers_.cluster_blocks())};
  checks_.reports().report_multicast(inst, {barriers, splat(i64(UINT64_MAX)), arguments[2],
                                            arguments[3], arguments[4], to, i64(kChunkBytes)});
  for_lanes(builder_, "answer_cancel_all", b_.getVoidTy(), arguments,
            [&](llvm::IRBuilder<>& b, const std::vector<Value*>& lane) -> Value* {
              emit_loop(b, lane[4], 1, [&](Value* rank) {
                Value* distance = b.CreateShl(b.CreateSub(rank, lane[2]), lane[3]);
                answer(b, b.CreateAdd(lane[0], distance));
                complete_bytes(b, b.CreateAdd(lane[1], distance), b.getInt64(kChunkBytes));
              });
              return nullptr;
            });
}

/// Element by element, in the order of addresses.
void AsyncCopies::lower_bulk_reduction(const Inst& inst) {
  const auto& ptx = *inst.ptx;
  const BulkCopy copy = bulk_copy_of(inst);
  for_lanes(builder_, form_name(ptx), b_.getVoidTy(), {copy.to, copy.from, copy.sizes},
            [&](llvm::IRBuilder<>& b, const std::vector<Value*>& lane) -> Value* {
              emit_loop(b, lane[2], ptx::size_bytes(ptx.type()), [&](Value* offset) {
                Value* source = pointer_at(b, b.CreateAdd(lane[1], offset));
                Value* content = b.CreateLoad(type_of(ptx.type()), source);
                Value* target = pointer_at(b, b.CreateAdd(lane[0], offset));
                atomic_operation(b, machine(), ptx, target, content, content, copy.to_shared);
              });
              return nullptr;
            });
  if (!ptx.has(Modifier::bulk_group))
    mbarriers_.complete_transactions(inst, ptx.operands[3], copy.sizes);
}

}  // namespace km::simt
