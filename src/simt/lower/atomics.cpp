// atom and red. Shared memory needs no lock prefix: the blocks of a cluster run on one thread at a
// time. Float reductions go in lane order, which PTX leaves open.
#include <algorithm>

#include "simt/emit/emitter.h"
#include "simt/emit/joined_reductions.h"
#include "simt/lower/lanes.h"
#include "simt/lower/reductions.h"
#include "simt/transform/make_instruction.h"

namespace km::simt {

using lower::Op;
using lower::plain_operation;
using ptx::Modifier;
using ptx::Opcode;
using ptx::Operand;
using ptx::Type;

namespace {

Op operation_of(const ptx::Instruction& ptx) {
  const bool real = ptx::is_float(ptx.type());
  const bool is_signed = ptx::is_signed(ptx.type());
  if (ptx.has(Modifier::add)) return real ? Op::FAdd : Op::Add;
  if (ptx.has(Modifier::and_)) return Op::And;
  if (ptx.has(Modifier::or_)) return Op::Or;
  if (ptx.has(Modifier::xor_)) return Op::Xor;
  if (ptx.has(Modifier::min)) return is_signed ? Op::Min : Op::UMin;
  if (ptx.has(Modifier::max)) return is_signed ? Op::Max : Op::UMax;
  if (ptx.has(Modifier::inc)) return Op::UIncWrap;
  if (ptx.has(Modifier::dec)) return Op::UDecWrap;
  return Op::Xchg;
}

/// "add.bf16x2": the instruction that computes what an atomic on halves stores; empty: none is.
std::string half_operation(const ptx::Instruction& ptx) {
  switch (ptx.type()) {
    case Type::f16:
    case Type::f16x2:
    case Type::bf16:
    case Type::bf16x2:
      break;
    default:
      return {};
  }
  std::string name = ptx.has(Modifier::add) ? "add.rn" : ptx.has(Modifier::min) ? "min" : "max";
  return name + "." + std::string(ptx::text_of(ptx.type()));
}

llvm::AtomicOrdering ordering_of(const ptx::Instruction& ptx) {
  if (ptx.has(Modifier::acq_rel)) return llvm::AtomicOrdering::AcquireRelease;
  if (ptx.has(Modifier::acquire)) return llvm::AtomicOrdering::Acquire;
  if (ptx.has(Modifier::release)) return llvm::AtomicOrdering::Release;
  return llvm::AtomicOrdering::Monotonic;
}

}  // namespace

llvm::Value* Emitter::atomic_operation(llvm::IRBuilder<>& builder,
                                       const ptx::Instruction& instruction, Value* pointer,
                                       Value* first, Value* second, bool shared) {
  auto* type = first->getType();
  const llvm::Align align(type->getScalarSizeInBits() / 8);
  const auto ordering = ordering_of(instruction);
  const Op op = operation_of(instruction);
  Arithmetic arithmetic(builder, plan_.variant.isa);
  const std::string half = half_operation(instruction);
  auto sum = [&](Value* old) -> Value* {
    if (!half.empty()) {
      const auto any = register_operand(0);
      Value* sources[] = {old, first};
      return arithmetic.lower(make_instruction(half, {any, any, any}, instruction), sources)[0];
    }
    if (op != Op::FAdd) return plain_operation(builder, op, old, first);
    // The manual says that f32 sums flush subnormals in global memory, and only there.
    lower::Lanes lanes(builder, plan_.variant.isa, 0);
    const bool flushes = type->isFloatTy() && !shared;
    Value* result =
        builder.CreateFAdd(lanes.flush_if(flushes, old), lanes.flush_if(flushes, first));
    return lanes.flush_if(flushes, lanes.canonical_nan(result));
  };
  if (instruction.has(Modifier::cas)) {
    if (shared) {
      Value* old = builder.CreateAlignedLoad(type, pointer, align);
      Value* fresh = builder.CreateSelect(builder.CreateICmpEQ(old, first), second, old);
      builder.CreateAlignedStore(fresh, pointer, align);
      return old;
    }
    auto failure = llvm::AtomicCmpXchgInst::getStrongestFailureOrdering(ordering);
    Value* pair = builder.CreateAtomicCmpXchg(pointer, first, second, align, ordering, failure);
    return builder.CreateExtractValue(pair, 0);
  }
  if (shared) {
    Value* old = builder.CreateAlignedLoad(type, pointer, align);
    builder.CreateAlignedStore(sum(old), pointer, align);
    return old;
  }
  if (half.empty() && op != Op::FAdd && op != Op::UIncWrap && op != Op::UDecWrap) {
    return builder.CreateAtomicRMW(op, pointer, first, align, ordering);
  }
  // A loop of our own: the sum's NaN must be PTX's.
  auto* bits_type = builder.getIntNTy(type->getScalarSizeInBits());
  auto* function = builder.GetInsertBlock()->getParent();
  auto* before = builder.GetInsertBlock();
  auto* retry = llvm::BasicBlock::Create(context_, "retry", function);
  auto* done = llvm::BasicBlock::Create(context_, "stored", function);
  Value* start = builder.CreateAlignedLoad(bits_type, pointer, align);
  builder.CreateBr(retry);
  builder.SetInsertPoint(retry);
  auto* seen = builder.CreatePHI(bits_type, 2);
  seen->addIncoming(start, before);
  Value* old = builder.CreateBitCast(seen, type);
  Value* fresh = builder.CreateBitCast(sum(old), bits_type);
  Value* pair =
      builder.CreateAtomicCmpXchg(pointer, seen, fresh, align, ordering,
                                  llvm::AtomicCmpXchgInst::getStrongestFailureOrdering(ordering));
  seen->addIncoming(builder.CreateExtractValue(pair, 0), builder.GetInsertBlock());
  builder.CreateCondBr(builder.CreateExtractValue(pair, 1), done, retry);
  builder.SetInsertPoint(done);
  return old;
}

/// red of integers to one place: reduced over the lanes first, exactly, then done once.
bool Emitter::lower_uniform_reduction(const Inst& inst, const Address& address, bool shared) {
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
    atomic_operation(b_, ptx, b_.CreateIntToPtr(at, b_.getPtrTy()), total, total, alone);
    return {};
  };
  if (shared || !code_plan_.privatized.is_privatized(inst)) {
    add_at(address.base, shared);
    return true;
  }
  builder_.choose(
      sums_.holds_kept_sum(address.base),
      [&] { return add_at(sums_.kept_sum_at(address.base), true); },
      [&] {
        sums_.note_sum_outside(address.base, total->getType());
        return add_at(address.base, false);
      });
  return true;
}

/// The number that each lane adds, or one scalar for all of them.
llvm::Value* Emitter::reduced_content(const Inst& inst) {
  const auto& ptx = *inst.ptx;
  const Operand& source = ptx.operands[ptx.opcode == Opcode::red ? 1 : 2];
  const bool uniform =
      source.kind == Operand::Kind::immediate ||
      (source.kind == Operand::Kind::reg && values_.shape_of(inst.read(source.reg)).is_uniform());
  return values_.operand(inst, source, ptx.type(), !uniform, true);
}

/// red of words in shared memory.
bool Emitter::lower_shared_reduction(const Inst& inst, const Address& address) {
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
      private_reduction_helper(ptx, content->getType()),
      {b_.CreateIntToPtr(frame_.shared(), b_.getPtrTy()), offsets, content, mask_bits()});
  const Op op = operation_of(ptx);
  if (!content->getType()->isVectorTy() && op != Op::Xchg) {
    mark_reduction(*call, op, plan_.layout->shared_static_bytes);
  }
  return true;
}

/// The operation of one lane, whose number is known.
llvm::Value* Emitter::lane_atomic(const Inst& inst, const std::vector<Value*>& arguments,
                                  unsigned lane, bool shared) {
  const auto of_lane = [&](Value* each) { return b_.CreateExtractElement(each, lane); };
  Value* place = b_.CreateIntToPtr(of_lane(arguments[0]), b_.getPtrTy());
  Value* old =
      atomic_operation(b_, *inst.ptx, place, of_lane(arguments[1]), of_lane(arguments[2]), shared);
  Value* none = llvm::Constant::getNullValue(arguments[1]->getType());
  return b_.CreateInsertElement(none, old, lane);
}

/// In generic space f32 sums go by where each lane's address leads.
llvm::Value* Emitter::call_atomic(const Inst& inst, const std::vector<Value*>& arguments,
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
    return b_.CreateCall(atomic_helper(ptx, shared, gives), list);
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

/// The parts of a vector form are atomic one by one.
void Emitter::lower_atomic(const Inst& inst) {
  const auto& ptx = *inst.ptx;
  const bool returns = code_plan_.reads.has_readers(inst);
  const unsigned at = ptx.opcode == Opcode::atom ? 1 : 0;
  const bool is_async = ptx.has(Modifier::async);
  const ptx::Space space = space_of(kernel_, inst, ptx.operands[at]);
  const bool shared = is_async || space == ptx::Space::shared;
  const Address address = addresses_.address_of(inst, ptx.operands[at], space);
  const Type type = ptx.type();
  checks_.check_access(inst, address);
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
    return lower_kept_sum(inst, address, space);
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
    const bool parted = target.kind == Operand::Kind::vector && i < target.count;
    const Operand& result = parted ? pool[target.first + i] : target;
    if (result.kind == Operand::Kind::reg) values_.define_result(inst, result.reg, old, type);
  }
  if (is_async)
    mbarriers_.complete_transactions(inst, ptx.operands[at + 2], i64(ptx::size_bytes(type)));
}

}  // namespace km::simt
