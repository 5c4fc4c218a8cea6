// Special registers, symbol addresses, fences, barriers as calls, traps, printf and assert.
#include <llvm/IR/MDBuilder.h>

#include <algorithm>

#include "simt/emit/emitter.h"

namespace km::simt {

using ptx::Modifier;
using ptx::Opcode;
using ptx::Operand;
using ptx::Type;

namespace {

constexpr uint64_t kSharedWindowBytes = uint64_t{1} << 31;  // above its base

}  // namespace

llvm::Value* Emitter::block_size(unsigned dimension) {
  const uint32_t known = plan_.variant.block[dimension];
  if (known != 0) return i32(known);
  return load_field(record_, offsetof(LaunchRecord, block) + 4 * dimension, b_.getInt32Ty(), true);
}

llvm::Value* Emitter::block_threads() {
  return b_.CreateMul(b_.CreateMul(block_size(0), block_size(1)), block_size(2));
}

/// %tid of lane 0, or of every lane, from the packet's first linear thread.
llvm::Value* Emitter::thread_index(unsigned dimension, bool as_vector) {
  const auto& block = plan_.variant.block;
  if (block[dimension] == 1) return i32(0);
  if (block[1] == 0) return any_thread_index(dimension, as_vector);
  Value* thread = b_.CreateLoad(b_.getInt32Ty(), first_thread_);
  if (as_vector) thread = b_.CreateAdd(splat(thread), lane_numbers());
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

/// In blocks of any shape. Divisions of vectors are slow: mostly there is one dimension.
llvm::Value* Emitter::any_thread_index(unsigned dimension, bool as_vector) {
  Value* thread = b_.CreateLoad(b_.getInt32Ty(), first_thread_);
  if (as_vector) thread = b_.CreateAdd(splat(thread), lane_numbers());
  auto of_all = [&](Value* scalar) { return as_vector ? splat(scalar) : scalar; };
  Value* one_row = b_.CreateICmpEQ(b_.CreateMul(block_size(1), block_size(2)), i32(1));
  auto linear = [&]() -> std::vector<Value*> { return {dimension == 0 ? thread : of_all(i32(0))}; };
  auto divided = [&]() -> std::vector<Value*> {
    Value* index = thread;
    for (unsigned d = 0; d < dimension; ++d) index = b_.CreateUDiv(index, of_all(block_size(d)));
    return {dimension == 2 ? index : b_.CreateURem(index, of_all(block_size(dimension)))};
  };
  return choose(one_row, linear, divided)[0];
}

/// %laneid and the lane masks.
llvm::Value* Emitter::lane_register(ptx::SpecialRegister special, bool as_vector) {
  using Special = ptx::SpecialRegister;
  auto constant = [&](uint64_t value) { return as_vector ? splat(i32(value)) : i32(value); };
  Value* thread = b_.CreateLoad(b_.getInt32Ty(), first_thread_);
  if (as_vector) thread = b_.CreateAdd(splat(thread), lane_numbers());
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

/// %clock of the host's time stamp counter, %globaltimer in nanoseconds.
llvm::Value* Emitter::time_register(ptx::SpecialRegister special) {
  using Special = ptx::SpecialRegister;
  const bool clock =
      special == Special::clock || special == Special::clock_hi || special == Special::clock64;
  auto* type = llvm::FunctionType::get(b_.getInt64Ty(), {}, false);
  Value* now = clock ? b_.CreateIntrinsic(llvm::Intrinsic::readcyclecounter, {}, {})
                     : static_cast<Value*>(call_runtime(offsetof(RuntimeTable, time_ns), type, {}));
  if (special == Special::clock64 || special == Special::globaltimer) return now;
  const bool high = special == Special::clock_hi || special == Special::globaltimer_hi;
  if (high) now = b_.CreateLShr(now, i64(32));
  return b_.CreateTrunc(now, b_.getInt32Ty());
}

/// %ctaid.
llvm::Value* Emitter::block_index(unsigned dimension) {
  reads_block_ = true;
  return b_.CreateLoad(b_.getInt32Ty(), ctaid_[dimension]);
}

llvm::Value* Emitter::special_register(const Operand& operand, bool as_vector) {
  using Special = ptx::SpecialRegister;
  const unsigned c = operand.component;
  if (operand.special == Special::laneid ||
      (operand.special >= Special::lanemask_eq && operand.special <= Special::lanemask_gt)) {
    return lane_register(operand.special, as_vector);
  }
  auto shared_bytes = [&] {
    return load_field(record_, offsetof(LaunchRecord, shared_dynamic_bytes), b_.getInt64Ty(), true);
  };
  switch (operand.special) {
    case Special::tid:
      return c < 3 ? thread_index(c, as_vector) : i32(0);
    case Special::ntid:
      return c < 3 ? block_size(c) : i32(0);
    case Special::ctaid:
      return c < 3 ? block_index(c) : i32(0);
    case Special::nctaid:
      if (c >= 3) return i32(0);
      return load_field(record_, offsetof(LaunchRecord, grid) + 4 * c, b_.getInt32Ty(), true);
    case Special::warpid:
      return b_.CreateLShr(b_.CreateLoad(b_.getInt32Ty(), first_thread_), i32(5));
    case Special::nwarpid:
      return b_.CreateLShr(b_.CreateAdd(block_threads(), i32(kWarpLanes - 1)), i32(5));
    case Special::clock:
    case Special::clock64:
    case Special::clock_hi:
    case Special::globaltimer:
    case Special::globaltimer_lo:
    case Special::globaltimer_hi:
      return time_register(operand.special);
    case Special::dynamic_smem_size:
      return b_.CreateTrunc(shared_bytes(), b_.getInt32Ty());
    case Special::total_smem_size:
      return b_.CreateTrunc(b_.CreateAdd(shared_bytes(), i64(plan_.layout->dynamic_offset())),
                            b_.getInt32Ty());
    case Special::gridid:
      return load_field(record_, offsetof(LaunchRecord, grid_id), b_.getInt64Ty(), true);
    case Special::is_explicit_cluster:
      return load_field(record_, offsetof(LaunchRecord, is_clustered), b_.getInt32Ty(), true);
    case Special::clusterid:
    case Special::nclusterid:
    case Special::cluster_ctaid:
    case Special::cluster_nctaid:
    case Special::cluster_ctarank:
    case Special::cluster_nctarank:
      return cluster_register(operand);
    case Special::envreg1:  // high half
    case Special::envreg2: {
      const uint64_t half = operand.special == Special::envreg1 ? 4 : 0;
      return load_field(record_, offsetof(LaunchRecord, workspace) + half, b_.getInt32Ty(), true);
    }
    case Special::nsmid:
      return i32(1);
    default:
      return i32(0);  // %smid, performance counters, other %envreg
  }
}

/// The address of a kernel's parameter in the argument buffer.
llvm::Value* Emitter::parameter_address(const Operand& operand) {
  const auto& list = kernel_.function->params;
  const auto index = std::find(list.begin(), list.end(), operand.symbol) - list.begin();
  const uint64_t offset = (*plan_.params)[index].offset_bytes + operand.offset;
  return b_.CreateAdd(b_.CreatePtrToInt(params_, b_.getInt64Ty()), i64(offset));
}

/// An address as the instructions of its space want it; of every lane for local memory.
llvm::Value* Emitter::symbol_address(const Operand& operand, bool as_vector) {
  const auto& symbol = kernel_.symbol_of(operand);
  const auto key = std::make_pair(operand.local_symbol, operand.symbol);
  const auto offset = static_cast<uint64_t>(operand.offset);
  switch (symbol.space) {
    case ptx::Space::shared:
      return i64(plan_.layout->shared.at(key) + offset);
    case ptx::Space::local: {
      Value* base = b_.CreateAdd(local_base_, i64(plan_.layout->local.at(key) + offset));
      if (!as_vector) return base;
      std::vector<llvm::Constant*> lanes;
      for (uint64_t l = 0; l < lanes_; ++l) {
        lanes.push_back(b_.getInt64(l * plan_.layout->local_stride_bytes()));
      }
      return b_.CreateAdd(splat(base), llvm::ConstantVector::get(lanes));
    }
    case ptx::Space::param:
      return parameter_address(operand);
    default: {
      const uint32_t index = (*plan_.variable_of_symbol)[operand.symbol];
      Value* address = load_field(variables_, 8 * uint64_t{index}, b_.getInt64Ty(), true);
      return offset ? b_.CreateAdd(address, i64(offset)) : address;
    }
  }
}

/// True if a generic address, a scalar or a vector, lies in the window of shared memory that begins
/// at `base`.
llvm::Value* Emitter::is_in_window(Value* address, Value* base) {
  const bool lanes = address->getType()->isVectorTy();
  Value* size = i64(kSharedWindowBytes);
  return b_.CreateICmpULT(b_.CreateSub(address, lanes ? splat(base) : base),
                          lanes ? splat(size) : size);
}

void Emitter::lower_isspacep(const Inst& inst) {
  const auto& ptx = *inst.ptx;
  const bool lanes = !results_are_scalar(inst);
  Value* address = operand(inst, ptx.operands[1], Type::u64, lanes, false);
  auto wide = [&](Value* value) { return lanes ? splat(value) : value; };
  auto within = [&](Value* base, Value* size) {
    return b_.CreateICmpULT(b_.CreateSub(address, wide(base)), wide(size));
  };
  Value* shared = is_in_window(address, shared_);
  const uint64_t local_bytes = scratch_bytes_ - local_offset_bytes_;
  Value* local = within(b_.CreateAdd(scratch_, i64(local_offset_bytes_)), i64(local_bytes));
  Value* result = nullptr;
  if (ptx.has(Modifier::shared_cluster)) {
    result = is_cluster_address(address);
  } else if (ptx.has(Modifier::shared) || ptx.has(Modifier::shared_cta)) {
    result = shared;
  } else if (ptx.has(Modifier::local)) {
    result = local;
  } else if (ptx.has(Modifier::global)) {
    result = b_.CreateNot(b_.CreateOr(is_shared_address(address), local));
  } else {
    result = wide(b_.getFalse());
  }
  define_result(inst, ptx.operands[0].reg, result, Type::pred);
}

void Emitter::lower_fence(const Inst& inst) {
  const bool light = inst.ptx->has(Modifier::acq_rel) || inst.ptx->has(Modifier::acquire) ||
                     inst.ptx->has(Modifier::release) || inst.ptx->has(Modifier::cta);
  b_.CreateFence(light ? llvm::AtomicOrdering::AcquireRelease
                       : llvm::AtomicOrdering::SequentiallyConsistent);
}

llvm::CallInst* Emitter::call_runtime(uint64_t entry, llvm::FunctionType* type,
                                      std::vector<Value*> arguments) {
  Value* function = load_field(runtime_, entry, b_.getPtrTy(), true);
  auto* call = b_.CreateCall(type, function, arguments);
  call->setDoesNotThrow();
  return call;
}

/// Ends the launch by a function of the runtime that never returns, so that nothing needs to
/// survive the call, and the code around it keeps its registers.
void Emitter::end_launch(llvm::IRBuilder<>& b, Value* runtime, uint64_t entry,
                         const std::vector<Value*>& arguments) {
  std::vector<llvm::Type*> types;
  for (Value* argument : arguments) types.push_back(argument->getType());
  auto* type = llvm::FunctionType::get(b.getVoidTy(), types, false);
  Value* slot = b.CreateConstGEP1_64(b.getInt8Ty(), runtime, entry);
  auto* call = b.CreateCall(type, b.CreateLoad(b.getPtrTy(), slot), arguments);
  call->setDoesNotThrow();
  call->setDoesNotReturn();
  call->addFnAttr(llvm::Attribute::Cold);
  b.CreateUnreachable();
}

/// Ends the launch with a fault of the lowest active lane.
void Emitter::raise(FaultKind kind) {
  Value* lane = b_.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, mask_bits(), b_.getFalse());
  Value* thread = b_.CreateAdd(b_.CreateLoad(b_.getInt32Ty(), first_thread_), lane);
  // The line is named because calls like this one may be merged.
  end_launch(
      b_, runtime_, offsetof(RuntimeTable, raise),
      {state_, i32(static_cast<uint32_t>(kind)), i64(0), i64(0), thread, i32(current_line())});
  b_.SetInsertPoint(new_block("raised"));
}

llvm::Value* Emitter::lane_of(Value* content, Value* lane) {
  return content->getType()->isVectorTy() ? b_.CreateExtractElement(content, lane) : content;
}

/// Runs `body` once for every set bit, lowest lane first.
void Emitter::for_each_lane(Value* bits, const std::function<void(Value* lane)>& body) {
  auto *loop = new_block("lane"), *done = new_block("lanes.done");
  auto* left = variable(b_.getInt32Ty(), "left");
  b_.CreateStore(bits, left);
  b_.CreateCondBr(b_.CreateICmpNE(bits, i32(0)), loop, done);
  b_.SetInsertPoint(loop);
  Value* rest = b_.CreateLoad(b_.getInt32Ty(), left);
  Value* lane = b_.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, rest, b_.getTrue());
  body(lane);
  Value* next = b_.CreateAnd(rest, b_.CreateSub(rest, i32(1)));
  b_.CreateStore(next, left);
  b_.CreateCondBr(b_.CreateICmpNE(next, i32(0)), loop, done);
  b_.SetInsertPoint(done);
}

void Emitter::lower_call(const Inst& inst) {
  for (unsigned i = 0; i < inst.ptx->operand_count; ++i) {
    const Operand& operand = inst.ptx->operands[i];
    if (operand.kind != Operand::Kind::symbol || operand.local_symbol) continue;
    const std::string& name = kernel_.module->symbols[operand.symbol].name;
    if (name == "vprintf") return lower_print(inst);
    if (name == "malloc") return lower_malloc(inst);
    if (name == "free") return lower_free(inst);
    return lower_assert(inst);
  }
}

namespace {

/// The argument list of a call: the last list operand.
const Operand* arguments_of(const ptx::Instruction& ptx) {
  const Operand* result = nullptr;
  bool after_target = false;
  for (unsigned i = 0; i < ptx.operand_count; ++i) {
    if (ptx.operands[i].kind == Operand::Kind::symbol) after_target = true;
    if (after_target && ptx.operands[i].kind == Operand::Kind::list) result = &ptx.operands[i];
  }
  return result;
}

}  // namespace

void Emitter::lower_print(const Inst& inst) {
  const Operand* list = arguments_of(*inst.ptx);
  const auto& pool = kernel_.function->operand_pool;
  Value* format = operand(inst, pool[list->first], Type::u64, true, false);
  Value* values = operand(inst, pool[list->first + 1], Type::u64, true, false);
  auto* type = llvm::FunctionType::get(
      b_.getInt32Ty(),
      {b_.getPtrTy(), b_.getPtrTy(), b_.getInt64Ty(), b_.getInt64Ty(), b_.getInt32Ty()}, false);
  auto* results = variable(vector_of(b_.getInt32Ty()), "printed");
  Value* first = b_.CreateLoad(b_.getInt32Ty(), first_thread_);
  for_each_lane(mask_bits(), [&](Value* lane) {
    Value* count = call_runtime(
        offsetof(RuntimeTable, print), type,
        {record_, state_, lane_of(format, lane), lane_of(values, lane), b_.CreateAdd(first, lane)});
    Value* old = b_.CreateLoad(vector_of(b_.getInt32Ty()), results);
    b_.CreateStore(b_.CreateInsertElement(old, count, lane), results);
  });
  if (inst.writes.empty()) return;
  Value* counts = b_.CreateLoad(vector_of(b_.getInt32Ty()), results);
  define_result(inst, inst.writes[0].first, counts, Type::s32);
}

/// Null where the heap has no room.
void Emitter::lower_malloc(const Inst& inst) {
  const Operand* list = arguments_of(*inst.ptx);
  const auto& pool = kernel_.function->operand_pool;
  Value* sizes = operand(inst, pool[list->first], Type::u64, true, false);
  auto* word = b_.getInt64Ty();
  auto* type = llvm::FunctionType::get(word, {b_.getPtrTy(), b_.getPtrTy(), word}, false);
  auto* results = variable(vector_of(word), "allocated");
  for_each_lane(mask_bits(), [&](Value* lane) {
    Value* address = call_runtime(offsetof(RuntimeTable, allocate), type,
                                  {record_, state_, lane_of(sizes, lane)});
    Value* old = b_.CreateLoad(vector_of(word), results);
    b_.CreateStore(b_.CreateInsertElement(old, address, lane), results);
  });
  if (inst.writes.empty()) return;
  define_result(inst, inst.writes[0].first, b_.CreateLoad(vector_of(word), results), Type::u64);
}

void Emitter::lower_free(const Inst& inst) {
  const Operand* list = arguments_of(*inst.ptx);
  const auto& pool = kernel_.function->operand_pool;
  Value* addresses = operand(inst, pool[list->first], Type::u64, true, false);
  auto* type = llvm::FunctionType::get(
      b_.getVoidTy(), {b_.getPtrTy(), b_.getPtrTy(), b_.getInt64Ty(), b_.getInt32Ty()}, false);
  Value* first = b_.CreateLoad(b_.getInt32Ty(), first_thread_);
  for_each_lane(mask_bits(), [&](Value* lane) {
    call_runtime(offsetof(RuntimeTable, release), type,
                 {record_, state_, lane_of(addresses, lane), b_.CreateAdd(first, lane)});
  });
}

/// Each lane reports its failure. Then nothing more happens in them, nor in those beside them,
/// which GPUs stop as well: in mode c lanes of a group, else packets, of which others go on.
void Emitter::lower_assert(const Inst& inst) {
  const Operand* list = arguments_of(*inst.ptx);
  const auto& pool = kernel_.function->operand_pool;
  const auto argument = [&](uint32_t i, Type type) {
    return operand(inst, pool[list->first + i], type, true, false);
  };
  Value *message = argument(0, Type::u64), *file = argument(1, Type::u64);
  Value *line = argument(2, Type::u32), *function = argument(3, Type::u64);
  auto* type =
      llvm::FunctionType::get(b_.getVoidTy(),
                              {b_.getPtrTy(), b_.getPtrTy(), b_.getInt64Ty(), b_.getInt64Ty(),
                               b_.getInt32Ty(), b_.getInt64Ty(), b_.getInt32Ty()},
                              false);
  Value* first = b_.CreateLoad(b_.getInt32Ty(), first_thread_);
  for_each_lane(mask_bits(), [&](Value* lane) {
    call_runtime(offsetof(RuntimeTable, assert_fail), type,
                 {record_, state_, lane_of(message, lane), lane_of(file, lane), lane_of(line, lane),
                  lane_of(function, lane), b_.CreateAdd(first, lane)});
  });
  asserts_ = true;
  if (plan_.has_independent_threads()) {
    exit_group();
  } else {
    b_.CreateBr(packet_end_);
  }
  b_.SetInsertPoint(new_block("after.assert"));  // what the kernel has behind it: never entered
}

/// A barrier where regions are not split: nothing for a block of one packet, else a call that
/// suspends the warp.
void Emitter::lower_barrier_call(const Inst& inst) {
  const auto& ptx = *inst.ptx;
  const bool reduces = ptx.has(Modifier::red);
  Value* count = nullptr;
  if (reduces) {
    const Operand& predicate = ptx.operands[ptx.operand_count - 1];
    Value* lanes = operand(inst, predicate, Type::pred, true, false);
    if (ptx.has(Modifier::and_)) lanes = b_.CreateNot(lanes);
    Value* bits = b_.CreateAnd(bits_of(lanes), mask_bits());
    count = b_.CreateUnaryIntrinsic(llvm::Intrinsic::ctpop, bits);
  }
  if (plan_.mode != Mode::run_to_completion) {
    const unsigned first = reduces ? 1 : 0;
    const unsigned last = ptx.operand_count - (reduces ? 1 : 0);
    Value* id = i32(kClusterBarrier);
    if (last > first) id = operand(inst, ptx.operands[first], Type::u32, false, false);
    Value* expected = i32(0);
    if (last > first + 1)
      expected = operand(inst, ptx.operands[first + 1], Type::u32, false, false);
    Value* start = b_.CreateLoad(b_.getInt32Ty(), first_thread_);
    Value* left = b_.CreateSub(block_threads(), start);
    Value* here = b_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, left, i32(kWarpLanes));
    auto* word = b_.getInt32Ty();
    if (reduces) {
      auto* type = llvm::FunctionType::get(
          word, {b_.getPtrTy(), b_.getPtrTy(), word, word, word, word}, false);
      count = call_runtime(offsetof(RuntimeTable, barrier_reduce), type,
                           {record_, state_, id, expected, here, count});
    } else {
      auto* type = llvm::FunctionType::get(b_.getVoidTy(),
                                           {b_.getPtrTy(), b_.getPtrTy(), word, word, word}, false);
      call_runtime(ptx.has(Modifier::arrive) ? offsetof(RuntimeTable, barrier_arrive)
                                             : offsetof(RuntimeTable, barrier_wait),
                   type, {record_, state_, id, expected, here});
    }
  }
  if (!reduces) return;
  Value* result = count;
  Type type = Type::u32;
  if (ptx.has(Modifier::or_)) result = b_.CreateICmpNE(count, i32(0));
  if (ptx.has(Modifier::and_)) result = b_.CreateICmpEQ(count, i32(0));
  if (!ptx.has(Modifier::popc)) type = Type::pred;
  define_result(inst, inst.writes[0].first, result, type);
}

}  // namespace km::simt
