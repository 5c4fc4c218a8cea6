#include "simt/codegen/lower/calls.h"

#include <array>

#include "ptx/checks/program_check.h"
#include "simt/runtime/device_call.h"

namespace km::simt {

using ptx::Operand;
using ptx::Type;

void Calls::lower_call(const Inst& inst) {
  for (unsigned i = 0; i < inst.ptx->operand_count; ++i) {
    const Operand& operand = inst.ptx->operands[i];
    if (operand.kind != Operand::Kind::symbol || operand.local_symbol) continue;
    const std::string& name = kernel_.module->symbols[operand.symbol].name;
    if (name == "vprintf") return lower_print(inst);
    if (name == "malloc") return lower_malloc(inst);
    if (name == "free") return lower_free(inst);
    if (name == ptx::kDeviceCallName) return lower_device_call(inst);
    return lower_assert(inst);
  }
}

namespace {

/// The operand that lists the arguments: the list after the call's target.
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

/// Lowers vprintf to one call of the runtime per active lane, so that the output is in the order of
/// threads.
void Calls::lower_print(const Inst& inst) {
  const Operand* list = arguments_of(*inst.ptx);
  const auto& pool = kernel_.function->operand_pool;
  Value* format = values_.operand(inst, pool[list->first], Type::u64, true, false);
  Value* values = values_.operand(inst, pool[list->first + 1], Type::u64, true, false);
  auto* type = llvm::FunctionType::get(
      b_.getInt32Ty(),
      {b_.getPtrTy(), b_.getPtrTy(), b_.getInt64Ty(), b_.getInt64Ty(), b_.getInt32Ty()}, false);
  auto* results = builder_.variable(vector_of(b_.getInt32Ty()), "printed");
  Value* first = b_.CreateLoad(b_.getInt32Ty(), frame_.first_thread());
  builder_.for_each_lane(mask_bits(), [&](Value* lane) {
    Value* count =
        frame_.call_runtime(offsetof(RuntimeTable, print), type,
                            {frame_.record(), frame_.state(), builder_.lane_of(format, lane),
                             builder_.lane_of(values, lane), b_.CreateAdd(first, lane)});
    Value* old = b_.CreateLoad(vector_of(b_.getInt32Ty()), results);
    b_.CreateStore(b_.CreateInsertElement(old, count, lane), results);
  });
  if (inst.writes.empty()) return;
  Value* counts = b_.CreateLoad(vector_of(b_.getInt32Ty()), results);
  values_.define_result(inst, inst.writes[0].first, counts, Type::s32);
}

/// Lowers malloc to one call of the runtime per active lane; the result is null if the heap is
/// full.
void Calls::lower_malloc(const Inst& inst) {
  const Operand* list = arguments_of(*inst.ptx);
  const auto& pool = kernel_.function->operand_pool;
  Value* sizes = values_.operand(inst, pool[list->first], Type::u64, true, false);
  auto* word = b_.getInt64Ty();
  auto* type = llvm::FunctionType::get(word, {b_.getPtrTy(), b_.getPtrTy(), word}, false);
  auto* results = builder_.variable(vector_of(word), "allocated");
  builder_.for_each_lane(mask_bits(), [&](Value* lane) {
    Value* address =
        frame_.call_runtime(offsetof(RuntimeTable, allocate), type,
                            {frame_.record(), frame_.state(), builder_.lane_of(sizes, lane)});
    Value* old = b_.CreateLoad(vector_of(word), results);
    b_.CreateStore(b_.CreateInsertElement(old, address, lane), results);
  });
  if (inst.writes.empty()) return;
  values_.define_result(inst, inst.writes[0].first, b_.CreateLoad(vector_of(word), results),
                        Type::u64);
}

/// Lowers free to one call of the runtime per active lane.
void Calls::lower_free(const Inst& inst) {
  const Operand* list = arguments_of(*inst.ptx);
  const auto& pool = kernel_.function->operand_pool;
  Value* addresses = values_.operand(inst, pool[list->first], Type::u64, true, false);
  auto* type = llvm::FunctionType::get(
      b_.getVoidTy(), {b_.getPtrTy(), b_.getPtrTy(), b_.getInt64Ty(), b_.getInt32Ty()}, false);
  Value* first = b_.CreateLoad(b_.getInt32Ty(), frame_.first_thread());
  builder_.for_each_lane(mask_bits(), [&](Value* lane) {
    frame_.call_runtime(offsetof(RuntimeTable, release), type,
                        {frame_.record(), frame_.state(), builder_.lane_of(addresses, lane),
                         b_.CreateAdd(first, lane)});
  });
}

/// Lowers km_device_call to one call of the runtime per active lane, which passes the arguments in
/// memory.
void Calls::lower_device_call(const Inst& inst) {
  const Operand* list = arguments_of(*inst.ptx);
  const auto& pool = kernel_.function->operand_pool;
  auto* word = b_.getInt64Ty();
  std::array<Value*, kDeviceCallWords> words;
  Value* function = values_.operand(inst, pool[list->first], Type::u32, true, false);
  for (uint32_t i = 0; i < kDeviceCallWords; ++i) {
    words[i] = values_.operand(inst, pool[list->first + 1 + i], Type::u64, true, false);
  }
  auto* type = llvm::FunctionType::get(
      word, {b_.getPtrTy(), b_.getPtrTy(), b_.getInt32Ty(), b_.getPtrTy(), b_.getInt32Ty()}, false);
  Value* memory = builder_.bytes(kDeviceCallWords * sizeof(uint64_t), "device_call_words");
  auto* results = builder_.variable(vector_of(word), "device_call_results");
  Value* first = b_.CreateLoad(b_.getInt32Ty(), frame_.first_thread());
  builder_.for_each_lane(mask_bits(), [&](Value* lane) {
    for (uint32_t i = 0; i < kDeviceCallWords; ++i) {
      b_.CreateStore(builder_.lane_of(words[i], lane), b_.CreateConstGEP1_64(word, memory, i));
    }
    Value* result =
        frame_.call_runtime(offsetof(DeviceRuntime, call), type,
                            {frame_.record(), frame_.state(), builder_.lane_of(function, lane),
                             memory, b_.CreateAdd(first, lane)});
    Value* old = b_.CreateLoad(vector_of(word), results);
    b_.CreateStore(b_.CreateInsertElement(old, result, lane), results);
  });
  if (inst.writes.empty()) return;
  values_.define_result(inst, inst.writes[0].first, b_.CreateLoad(vector_of(word), results),
                        Type::u64);
}

/// Reports a failed assertion for each active lane, then ends the active group in mode c and the
/// whole packet in other modes: GPUs also stop the other lanes of the warp. Other packets of the
/// block continue.
void Calls::lower_assert(const Inst& inst) {
  const Operand* list = arguments_of(*inst.ptx);
  const auto& pool = kernel_.function->operand_pool;
  const auto argument = [&](uint32_t i, Type type) {
    return values_.operand(inst, pool[list->first + i], type, true, false);
  };
  Value *message = argument(0, Type::u64), *file = argument(1, Type::u64);
  Value *line = argument(2, Type::u32), *function = argument(3, Type::u64);
  auto* type =
      llvm::FunctionType::get(b_.getVoidTy(),
                              {b_.getPtrTy(), b_.getPtrTy(), b_.getInt64Ty(), b_.getInt64Ty(),
                               b_.getInt32Ty(), b_.getInt64Ty(), b_.getInt32Ty()},
                              false);
  Value* first = b_.CreateLoad(b_.getInt32Ty(), frame_.first_thread());
  builder_.for_each_lane(mask_bits(), [&](Value* lane) {
    frame_.call_runtime(offsetof(RuntimeTable, assert_fail), type,
                        {frame_.record(), frame_.state(), builder_.lane_of(message, lane),
                         builder_.lane_of(file, lane), builder_.lane_of(line, lane),
                         builder_.lane_of(function, lane), b_.CreateAdd(first, lane)});
  });
  asserts_ = true;
  leave_();
  b_.SetInsertPoint(builder_.new_block("after.assert"));  // unreachable code of the kernel
}

}  // namespace km::simt
