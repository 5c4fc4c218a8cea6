#include "simt/codegen/special_registers.h"

#include <algorithm>
#include <optional>

#include "simt/codegen/shared_end.h"

namespace km::simt {

using ptx::Operand;

namespace {

constexpr uint64_t kSharedWindowBytes = uint64_t{1} << 31;  // size of the window above its base

/// The offset, from the end of the block's own shared memory, of the place that a register names. A
/// register that gives a size names the end of the memory that it measures.
std::optional<uint64_t> offset_from_shared_end(ptx::SpecialRegister special) {
  using Special = ptx::SpecialRegister;
  switch (special) {
    case Special::total_smem_size:
    case Special::reserved_smem_offset_begin:
      return 0;
    case Special::reserved_smem_offset_0:
      return kReservedSharedOffsets[0];
    case Special::reserved_smem_offset_1:
      return kReservedSharedOffsets[1];
    case Special::aggr_smem_size:
    case Special::reserved_smem_offset_end:
      return kReservedSharedBytes;
    default:
      return std::nullopt;
  }
}

}  // namespace

/// Computes %tid of lane 0, or of every lane, from the linear index of the packet's first thread.
/// The block size is a constant here, so LLVM replaces the divisions by multiplications.
llvm::Value* SpecialRegisters::thread_index(unsigned dimension, bool as_vector) {
  const auto& block = plan_.variant.block;
  if (block[dimension] == 1) return i32(0);
  if (block[1] == 0) return any_thread_index(dimension, as_vector);
  Value* thread = b_.CreateLoad(b_.getInt32Ty(), frame_.first_thread());
  if (as_vector) thread = b_.CreateAdd(splat(thread), builder_.lane_numbers());
  if (block[1] * block[2] == 1) return thread;
  auto constant = [&](uint64_t value) { return as_vector ? splat(i32(value)) : i32(value); };
  const uint64_t below = dimension == 0   ? 1
                         : dimension == 1 ? block[0]
                                          : uint64_t{block[0]} * block[1];
  const uint64_t threads = uint64_t{block[0]} * block[1] * block[2];
  if (below > 1) thread = b_.CreateUDiv(thread, constant(below));
  if (below * block[dimension] < threads) {
    thread = b_.CreateURem(thread, constant(block[dimension]));
  }
  return thread;
}

/// Computes %tid for an unknown block size. Vector divisions are slow, so code tests whether the
/// block has only one dimension, as most do, and then needs none.
llvm::Value* SpecialRegisters::any_thread_index(unsigned dimension, bool as_vector) {
  Value* thread = b_.CreateLoad(b_.getInt32Ty(), frame_.first_thread());
  if (as_vector) thread = b_.CreateAdd(splat(thread), builder_.lane_numbers());
  auto of_all = [&](Value* scalar) { return as_vector ? splat(scalar) : scalar; };
  Value* one_row =
      b_.CreateICmpEQ(b_.CreateMul(frame_.block_size(1), frame_.block_size(2)), i32(1));
  auto linear = [&]() -> std::vector<Value*> { return {dimension == 0 ? thread : of_all(i32(0))}; };
  auto divided = [&]() -> std::vector<Value*> {
    Value* index = thread;
    for (unsigned d = 0; d < dimension; ++d)
      index = b_.CreateUDiv(index, of_all(frame_.block_size(d)));
    return {dimension == 2 ? index : b_.CreateURem(index, of_all(frame_.block_size(dimension)))};
  };
  return builder_.choose(one_row, linear, divided)[0];
}

/// Computes %laneid and the lane masks from the thread's index modulo 32, because a packet may be
/// narrower than a warp.
llvm::Value* SpecialRegisters::lane_register(ptx::SpecialRegister special, bool as_vector) {
  using Special = ptx::SpecialRegister;
  auto constant = [&](uint64_t value) { return as_vector ? splat(i32(value)) : i32(value); };
  Value* thread = b_.CreateLoad(b_.getInt32Ty(), frame_.first_thread());
  if (as_vector) thread = b_.CreateAdd(splat(thread), builder_.lane_numbers());
  Value* lane = b_.CreateAnd(thread, constant(31));
  if (special == Special::laneid) return lane;
  Value* bit = b_.CreateShl(constant(1), lane);
  Value* above = b_.CreateShl(b_.CreateNeg(bit), constant(1));
  switch (special) {
    case Special::lanemask_lt:
      return b_.CreateSub(bit, constant(1));
    case Special::lanemask_le:
      return b_.CreateNot(above);
    case Special::lanemask_ge:
      return b_.CreateNeg(bit);
    case Special::lanemask_gt:
      return above;
    default:
      return bit;
  }
}

/// Reads %clock from the host's time stamp counter, or %globaltimer in nanoseconds from the
/// runtime.
llvm::Value* SpecialRegisters::time_register(ptx::SpecialRegister special) {
  using Special = ptx::SpecialRegister;
  const bool clock =
      special == Special::clock || special == Special::clock_hi || special == Special::clock64;
  auto* type = llvm::FunctionType::get(b_.getInt64Ty(), {}, false);
  Value* now =
      clock ? b_.CreateIntrinsic(llvm::Intrinsic::readcyclecounter, {}, {})
            : static_cast<Value*>(frame_.call_runtime(offsetof(RuntimeTable, time_ns), type, {}));
  if (special == Special::clock64 || special == Special::globaltimer) return now;
  const bool high = special == Special::clock_hi || special == Special::globaltimer_hi;
  if (high) now = b_.CreateLShr(now, i64(32));
  return b_.CreateTrunc(now, b_.getInt32Ty());
}

llvm::Value* SpecialRegisters::special_register(const Operand& operand, bool as_vector) {
  using Special = ptx::SpecialRegister;
  const unsigned c = operand.component;
  if (operand.special == Special::laneid ||
      (operand.special >= Special::lanemask_eq && operand.special <= Special::lanemask_gt)) {
    return lane_register(operand.special, as_vector);
  }
  if (const auto offset = offset_from_shared_end(operand.special)) {
    Value* end = shared_end(builder_, *plan_.layout, frame_.record());
    return b_.CreateTrunc(b_.CreateAdd(end, i64(*offset)), b_.getInt32Ty());
  }
  switch (operand.special) {
    case Special::tid:
      return c < 3 ? thread_index(c, as_vector) : i32(0);
    case Special::ntid:
      return c < 3 ? frame_.block_size(c) : i32(0);
    case Special::ctaid:
      return c < 3 ? frame_.block_index(c) : i32(0);
    case Special::nctaid:
      if (c >= 3) return i32(0);
      return builder_.load_field(frame_.record(), offsetof(LaunchRecord, grid) + 4 * c,
                                 b_.getInt32Ty(), true);
    case Special::warpid:
      return b_.CreateLShr(b_.CreateLoad(b_.getInt32Ty(), frame_.first_thread()), i32(5));
    case Special::nwarpid:
      return b_.CreateLShr(b_.CreateAdd(frame_.block_threads(), i32(kWarpLanes - 1)), i32(5));
    case Special::clock:
    case Special::clock64:
    case Special::clock_hi:
    case Special::globaltimer:
    case Special::globaltimer_lo:
    case Special::globaltimer_hi:
      return time_register(operand.special);
    case Special::dynamic_smem_size:  // low half of 64 bits
      return builder_.load_field(frame_.record(), offsetof(LaunchRecord, shared_dynamic_bytes),
                                 b_.getInt32Ty(), true);
    case Special::reserved_smem_offset_cap:
      return i32(kReservedSharedBytes);
    case Special::gridid:
      return builder_.load_field(frame_.record(), offsetof(LaunchRecord, grid_id), b_.getInt64Ty(),
                                 true);
    case Special::current_graph_exec:
      return builder_.load_field(frame_.record(), offsetof(LaunchRecord, graph_exec),
                                 b_.getInt64Ty(), true);
    case Special::is_explicit_cluster:
      return builder_.load_field(frame_.record(), offsetof(LaunchRecord, is_clustered),
                                 b_.getInt32Ty(), true);
    case Special::clusterid:
    case Special::nclusterid:
    case Special::cluster_ctaid:
    case Special::cluster_nctaid:
    case Special::cluster_ctarank:
    case Special::cluster_nctarank:
      return cluster_register(operand);
    case Special::envreg1:  // high half; envreg2 has the low half
    case Special::envreg2: {
      const uint64_t half = operand.special == Special::envreg1 ? 4 : 0;
      return builder_.load_field(frame_.record(), offsetof(LaunchRecord, workspace) + half,
                                 b_.getInt32Ty(), true);
    }
    case Special::nsmid:
      return i32(1);
    default:
      return i32(0);  // %smid, performance counters, other %envreg
  }
}

llvm::Value* SpecialRegisters::parameter_address(const Operand& operand) {
  const auto& list = kernel_.function->params;
  const auto index = std::find(list.begin(), list.end(), operand.symbol) - list.begin();
  const uint64_t offset = (*plan_.params)[index].offset_bytes + operand.offset;
  return b_.CreateAdd(b_.CreatePtrToInt(frame_.params(), b_.getInt64Ty()), i64(offset));
}

llvm::Value* SpecialRegisters::local_begin(bool as_vector) {
  if (!as_vector) return frame_.local_base();
  std::vector<llvm::Constant*> lanes;
  for (uint64_t l = 0; l < lanes_; ++l) {
    lanes.push_back(b_.getInt64(l * plan_.layout->local_stride_bytes()));
  }
  return b_.CreateAdd(splat(frame_.local_base()), llvm::ConstantVector::get(lanes));
}

llvm::Value* SpecialRegisters::symbol_address(const Operand& operand, bool as_vector) {
  const auto& symbol = kernel_.symbol_of(operand);
  // The value of a texture or surface is its handle, which is the content of the variable or
  // parameter, so the handle is loaded in place of taking the address.
  if (ptx::kind_of(symbol.type) == ptx::TypeKind::opaque) {
    const uint32_t index = operand.local_symbol ? 0 : (*plan_.variable_of_symbol)[operand.symbol];
    Value* place =
        operand.local_symbol
            ? parameter_address(operand)
            : builder_.load_field(frame_.variables(), 8 * uint64_t{index}, b_.getInt64Ty(), true);
    return builder_.load_field(b_.CreateIntToPtr(place, b_.getPtrTy()), 0, b_.getInt64Ty(), true);
  }
  const auto key = std::make_pair(operand.local_symbol, operand.symbol);
  const auto offset = static_cast<uint64_t>(operand.offset);
  switch (symbol.space) {
    case ptx::Space::shared:
      return i64(plan_.layout->shared.at(key) + offset);
    case ptx::Space::local: {
      const uint64_t distance = plan_.layout->local.at(key) + offset;
      Value* const begin = local_begin(as_vector);
      return b_.CreateAdd(begin, as_vector ? splat(i64(distance)) : i64(distance));
    }
    case ptx::Space::param:
      return parameter_address(operand);
    default: {
      const uint32_t index = (*plan_.variable_of_symbol)[operand.symbol];
      Value* address =
          builder_.load_field(frame_.variables(), 8 * uint64_t{index}, b_.getInt64Ty(), true);
      return offset ? b_.CreateAdd(address, i64(offset)) : address;
    }
  }
}

llvm::Value* SpecialRegisters::is_in_window(Value* address, Value* base) {
  const bool lanes = address->getType()->isVectorTy();
  Value* size = i64(kSharedWindowBytes);
  return b_.CreateICmpULT(b_.CreateSub(address, lanes ? splat(base) : base),
                          lanes ? splat(size) : size);
}

llvm::Value* SpecialRegisters::cluster_size(unsigned dimension) {
  return builder_.load_field(frame_.record(),
                             offsetof(LaunchRecord, cluster) + 4 * uint64_t{dimension},
                             b_.getInt32Ty(), true);
}

llvm::Value* SpecialRegisters::cluster_blocks() {
  return b_.CreateMul(b_.CreateMul(cluster_size(0), cluster_size(1)), cluster_size(2));
}

llvm::Value* SpecialRegisters::cluster_bits() {
  return builder_.load_field(frame_.record(), offsetof(LaunchRecord, cluster_bits), b_.getInt32Ty(),
                             true);
}

llvm::Value* SpecialRegisters::rank_in_cluster() {
  Value* rank = i32(0);
  for (unsigned d = 3; d-- > 0;) {
    Value* index = frame_.block_index(d);
    Value* size = cluster_size(d);
    rank = b_.CreateAdd(b_.CreateMul(rank, size), b_.CreateURem(index, size));
  }
  return rank;
}

/// Computes the registers of clusters from the block's index and the cluster's size.
llvm::Value* SpecialRegisters::cluster_register(const Operand& operand) {
  using Special = ptx::SpecialRegister;
  if (operand.special == Special::cluster_ctarank) return rank_in_cluster();
  if (operand.special == Special::cluster_nctarank) return cluster_blocks();
  const unsigned c = operand.component;
  if (c >= 3) return i32(0);
  Value* size = cluster_size(c);
  switch (operand.special) {
    case Special::clusterid:
      return b_.CreateUDiv(frame_.block_index(c), size);
    case Special::nclusterid: {
      const uint64_t grid = offsetof(LaunchRecord, grid) + 4 * uint64_t{c};
      return b_.CreateUDiv(builder_.load_field(frame_.record(), grid, b_.getInt32Ty(), true), size);
    }
    case Special::cluster_ctaid:
      return b_.CreateURem(frame_.block_index(c), size);
    default:  // Special::cluster_nctaid
      return size;
  }
}

llvm::Value* SpecialRegisters::is_cluster_address(Value* address) {
  auto* wide = b_.getInt64Ty();
  Value* below =
      b_.CreateShl(b_.CreateZExt(rank_in_cluster(), wide), b_.CreateZExt(cluster_bits(), wide));
  return is_in_window(address, b_.CreateSub(frame_.shared(), below));
}

llvm::Value* SpecialRegisters::is_shared_address(Value* address) {
  if (meets_cluster(*kernel_.function)) return is_cluster_address(address);
  return is_in_window(address, frame_.shared());
}

}  // namespace km::simt
