#include "simt/codegen/lower/atomics/atomics.h"

#include "simt/codegen/lower/atomics/atomic_helpers.h"
#include "simt/passes/merge_shared_atomics.h"

namespace km::simt {

using ptx::Modifier;
using ptx::Opcode;
using ptx::Operand;
using ptx::Space;
using ptx::Type;

using arithmetic::Op;

/// Reduces an integer red to a uniform address over the lanes first, so that memory is accessed
/// once. Returns false if that is not possible: floating-point results would depend on the order.
bool Atomics::lower_uniform_reduction(const Inst& inst, const Address& address, bool shared) {
  const auto& ptx = *inst.ptx;
  const Op op = operation_of(ptx);
  const bool unused = !code_plan_.reads.has_readers(inst);
  bool associative = op == Op::Add || op == Op::And || op == Op::Or || op == Op::Xor ||
                     op == Op::Min || op == Op::Max || op == Op::UMin || op == Op::UMax;
  if (!unused || !associative || ptx.has(Modifier::cas)) return false;
  const Operand& source = ptx.operands[ptx.opcode == Opcode::red ? 1 : 2];
  if (ptx::is_float(ptx.type()) || source.kind == Operand::Kind::vector) return false;
  auto* element = type_of(ptx.type());
  const unsigned bits = element->getScalarSizeInBits();
  llvm::APInt neutral(bits, 0);
  if (op == Op::And || op == Op::UMin) neutral = llvm::APInt::getAllOnes(bits);
  if (op == Op::Min) neutral = llvm::APInt::getSignedMaxValue(bits);
  if (op == Op::Max) neutral = llvm::APInt::getSignedMinValue(bits);
  Value* content = values_.operand(inst, source, ptx.type(), true, true);
  if (mask() != nullptr) {
    content = b_.CreateSelect(mask(), content, splat(llvm::ConstantInt::get(element, neutral)));
  }
  Value* total = nullptr;
  switch (op) {
    case Op::Add:
      total = b_.CreateAddReduce(content);
      break;
    case Op::And:
      total = b_.CreateAndReduce(content);
      break;
    case Op::Or:
      total = b_.CreateOrReduce(content);
      break;
    case Op::Xor:
      total = b_.CreateXorReduce(content);
      break;
    case Op::Min:
    case Op::UMin:
      total = b_.CreateIntMinReduce(content, op == Op::Min);
      break;
    default:
      total = b_.CreateIntMaxReduce(content, op == Op::Max);
      break;
  }
  auto add_at = [&](Value* at, bool alone) -> std::vector<Value*> {
    atomic_operation(b_, machine(), ptx, b_.CreateIntToPtr(at, b_.getPtrTy()), total, total, alone);
    return {};
  };
  if (shared || !code_plan_.privatized.is_privatized(inst)) {
    add_at(address.base, shared);
    return true;
  }
  builder_.choose(
      privatized_.is_privatized(address.base),
      [&] { return add_at(privatized_.copy_of(address.base), true); },
      [&] {
        privatized_.count_down(address.base, total->getType());
        return add_at(address.base, false);
      });
  return true;
}

/// The operand of each lane, or one scalar if it is uniform.
llvm::Value* Atomics::reduced_content(const Inst& inst) {
  const auto& ptx = *inst.ptx;
  const Operand& source = ptx.operands[ptx.opcode == Opcode::red ? 1 : 2];
  const bool uniform =
      source.kind == Operand::Kind::immediate ||
      (source.kind == Operand::Kind::reg && values_.shape_of(inst.read(source.reg)).is_uniform());
  return values_.operand(inst, source, ptx.type(), !uniform, true);
}

/// Lowers an unread integer operation on 32-bit words in shared memory to a helper with 32-bit
/// offsets, whose calls merge_shared_atomics() can merge. Returns false for other operations.
bool Atomics::lower_shared_reduction(const Inst& inst, const Address& address) {
  const auto& ptx = *inst.ptx;
  const Operand& source = ptx.operands[ptx.opcode == Opcode::red ? 1 : 2];
  const bool words = is_short_atomic(ptx) && ptx::size_bits(ptx.type()) == 32;
  if (!words || source.kind == Operand::Kind::vector || code_plan_.reads.has_readers(inst))
    return false;
  Value* content = reduced_content(inst);
  Value* offsets =
      b_.CreateTrunc(b_.CreateSub(addresses_.lanes_of(address), splat(frame_.shared())),
                     vector_of(b_.getInt32Ty()));
  frame_.note_line();
  llvm::CallInst* call = b_.CreateCall(
      private_atomic_helper(builder_, ptx, content->getType()),
      {b_.CreateIntToPtr(frame_.shared(), b_.getPtrTy()), offsets, content, mask_bits()});
  const Op op = operation_of(ptx);
  if (!content->getType()->isVectorTy() && op != Op::Xchg) {
    mark_reduction(*call, op, plan_.layout->shared_static_bytes);
  }
  return true;
}

/// Generates the operation of one lane with a constant number inline.
llvm::Value* Atomics::lane_atomic(const Inst& inst, const std::vector<Value*>& arguments,
                                  unsigned lane, bool shared) {
  const auto of_lane = [&](Value* each) { return b_.CreateExtractElement(each, lane); };
  Value* place = b_.CreateIntToPtr(of_lane(arguments[0]), b_.getPtrTy());
  Value* old = atomic_operation(b_, machine(), *inst.ptx, place, of_lane(arguments[1]),
                                of_lane(arguments[2]), shared);
  Value* none = llvm::Constant::getNullValue(arguments[1]->getType());
  return b_.CreateInsertElement(none, old, lane);
}

/// Calls the helper for the active lanes. In the generic space, f32 additions flush subnormals only
/// in global memory, so lanes are divided by the memory that their addresses are in.
llvm::Value* Atomics::call_atomic(const Inst& inst, const std::vector<Value*>& arguments,
                                  ptx::Space space, bool gives) {
  const auto& ptx = *inst.ptx;
  auto call = [&](bool shared, Value* lanes) -> Value* {
    const auto* known = llvm::dyn_cast<llvm::ConstantInt>(lanes);
    if (known != nullptr && known->getValue().isPowerOf2()) {
      return lane_atomic(inst, arguments, known->getValue().exactLogBase2(), shared);
    }
    std::vector<Value*> list = arguments;
    list.push_back(lanes);
    frame_.note_line();
    return b_.CreateCall(atomic_helper(builder_, ptx, shared, gives), list);
  };
  const bool depends =
      ptx.type() == Type::f32 && ptx.has(Modifier::add) && space == ptx::Space::generic;
  if (!depends) return call(space == ptx::Space::shared, mask_bits());
  Value* in_shared = registers_.is_shared_address(arguments[0]);
  Value* bits = b_.CreateAnd(builder_.bits_of(in_shared), mask_bits());
  Value* first = call(true, bits);
  Value* second = call(false, b_.CreateAnd(mask_bits(), b_.CreateNot(bits)));
  return gives ? b_.CreateSelect(in_shared, first, second) : nullptr;
}

/// Adds to private memory if all active lanes' places are privatised, otherwise to global memory.
void Atomics::lower_privatized(const Inst& inst, const Address& address, Space space) {
  const auto& ptx = *inst.ptx;
  Value* content = reduced_content(inst);
  const PrivatizedMemory::Places places = privatized_.places_of(address);
  auto keep = [&]() -> std::vector<Value*> {
    Value* copy =
        b_.CreateIntToPtr(privatized_.field(offsetof(BlockState, privatized)), b_.getPtrTy());
    b_.CreateCall(private_atomic_helper(builder_, ptx, content->getType()),
                  {copy, places.offsets, content, mask_bits()});
    return {};
  };
  auto add = [&]() -> std::vector<Value*> {
    Value* lanes = addresses_.lanes_of(address);
    privatized_.count_down(builder_.of_first_lane(lanes, mask_bits()), type_of(ptx.type()));
    Value* each = splat(content);
    call_atomic(inst, {lanes, each, each}, space, false);
    return {};
  };
  builder_.choose(places.are_privatized, keep, add);
}

void Atomics::lower_atomic(const Inst& inst) {
  const unsigned at = inst.ptx->opcode == ptx::Opcode::atom ? 1 : 0;
  const Operand& place = inst.ptx->operands[at];
  const Address address = checks_.check_access(
      inst, addresses_.address_of(inst, place, space_of(kernel_, inst, place)));
  checks_.reports().report_access(inst, address);
  lower_checked(inst, address);
  checks_.reports().report_acquire(inst, address);
}

/// Lowers an atomic whose accesses have been checked.
void Atomics::lower_checked(const Inst& inst, const Address& address) {
  const auto& ptx = *inst.ptx;
  const bool returns = code_plan_.reads.has_readers(inst);
  const unsigned at = ptx.opcode == Opcode::atom ? 1 : 0;
  const bool is_async = ptx.has(Modifier::mbarrier_complete_tx_bytes);
  const ptx::Space space = space_of(kernel_, inst, ptx.operands[at]);
  const bool shared = is_async || space == ptx::Space::shared;
  const Type type = ptx.type();
  const bool uniform = address.lanes == nullptr && address.offsets == nullptr;
  const Operand& content = ptx.operands[at + 1];
  const bool several = content.kind == Operand::Kind::vector;
  const uint32_t count = several ? content.count : 1;
  const auto& pool = kernel_.function->operand_pool;
  if (uniform && lower_uniform_reduction(inst, address, shared)) {
    if (is_async)
      mbarriers_.complete_transactions(inst, ptx.operands[at + 2], i64(ptx::size_bytes(type)));
    return;
  }
  if (shared && !is_async && lower_shared_reduction(inst, address)) return;
  if (!shared && code_plan_.privatized.is_privatized(inst))
    return lower_privatized(inst, address, space);
  Value* places = addresses_.lanes_of(address);
  for (uint32_t i = 0; i < count; ++i) {
    const Operand& part = several ? pool[content.first + i] : content;
    Value* first = values_.operand(inst, part, type, true, true);
    Value* second = first;
    if (ptx.has(Modifier::cas))
      second = values_.operand(inst, ptx.operands[at + 2], type, true, true);
    Value* place = b_.CreateAdd(places, splat(i64(uint64_t{i} * ptx::size_bytes(type))));
    Value* old =
        call_atomic(inst, {place, first, second}, shared ? ptx::Space::shared : space, returns);
    if (!returns) continue;
    const Operand& target = ptx.operands[0];
    const bool has_elements = target.kind == Operand::Kind::vector && i < target.count;
    const Operand& result = has_elements ? pool[target.first + i] : target;
    if (result.kind == Operand::Kind::reg) values_.define_result(inst, result.reg, old, type);
  }
  if (is_async)
    mbarriers_.complete_transactions(inst, ptx.operands[at + 2], i64(ptx::size_bytes(type)));
}

}  // namespace km::simt
