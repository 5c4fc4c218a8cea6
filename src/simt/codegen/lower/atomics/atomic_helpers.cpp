#include "simt/codegen/lower/atomics/atomic_helpers.h"

#include "simt/arithmetic/lanes.h"
#include "simt/arithmetic/loops.h"
#include "simt/codegen/lower/lanes/lane_loops.h"
#include "simt/codegen/lower/lanes/lane_offsets.h"
#include "simt/transform/make_instruction.h"

namespace km::simt {

using ptx::Modifier;
using ptx::Type;

using arithmetic::Op;
using arithmetic::plain_operation;

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

namespace {

/// The PTX instruction that computes the result of an atomic on f16 or bf16, such as
/// "add.rn.bf16x2"; empty for other types.
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

llvm::Value* AtomicHelpers::operation(llvm::IRBuilder<>& builder,
                                      const ptx::Instruction& instruction, Value* pointer,
                                      Value* first, Value* second, bool shared) {
  auto* type = first->getType();
  const llvm::Align align(type->getScalarSizeInBits() / 8);
  const auto ordering = ordering_of(instruction);
  const Op op = operation_of(instruction);
  Arithmetic arithmetic(builder, machine());
  const std::string half = half_operation(instruction);
  auto sum = [&](Value* old) -> Value* {
    if (!half.empty()) {
      const auto any = register_operand(0);
      Value* sources[] = {old, first};
      return arithmetic.lower(make_instruction(half, {any, any, any}, instruction), sources)[0];
    }
    if (op != Op::FAdd) return plain_operation(builder, op, old, first);
    // PTX specifies that atomic f32 additions flush subnormals in global memory but not in shared
    // memory.
    arithmetic::Lanes lanes(builder, machine(), 0);
    const bool flushes = type->isFloatTy() && !shared && !instruction.has(Modifier::noftz);
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
  // The other operations need a compare-and-swap loop. LLVM could generate it for most of them, but
  // its floating-point sums would keep the host's NaN bits.
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

bool AtomicHelpers::is_short(const ptx::Instruction& instruction) {
  return !ptx::is_float(instruction.type()) && !instruction.has(Modifier::cas) &&
         !instruction.has(Modifier::inc) && !instruction.has(Modifier::dec);
}

llvm::Function* AtomicHelpers::lanes_helper(const ptx::Instruction& instruction, bool shared,
                                            bool gives) {
  std::string name = (shared ? "shared_" : "") + form_name(instruction) + (gives ? "" : "_unread");
  if (auto* found = builder_.helper(name)) return found;
  auto* element = type_of(instruction.type());
  auto* addresses = vector_of(b_.getInt64Ty());
  auto* content_type = vector_of(element);
  auto* function = builder_.new_helper(name, gives ? content_type : b_.getVoidTy(),
                                       {addresses, content_type, content_type, b_.getInt32Ty()});
  llvm::IRBuilder<> builder(llvm::BasicBlock::Create(context_, "start", function));
  const unsigned arguments = instruction.has(Modifier::cas) ? 3 : 2;
  llvm::AllocaInst* slots[4];
  for (unsigned i = 0; i < arguments; ++i) {
    slots[i] = builder.CreateAlloca(function->getArg(i)->getType());
    builder.CreateStore(function->getArg(i), slots[i]);
  }
  if (gives) {
    slots[3] = builder.CreateAlloca(content_type);
    builder.CreateStore(llvm::Constant::getNullValue(content_type), slots[3]);
  }
  auto operate = [&](llvm::IRBuilder<>& b, Value* lane) {
    Value* at = b.CreateLoad(b.getInt64Ty(), b.CreateGEP(b.getInt64Ty(), slots[0], lane));
    Value* first = b.CreateLoad(element, b.CreateGEP(element, slots[1], lane));
    Value* second = first;
    if (arguments == 3) second = b.CreateLoad(element, b.CreateGEP(element, slots[2], lane));
    Value* pointer = b.CreateIntToPtr(at, b.getPtrTy());
    Value* old = operation(b, instruction, pointer, first, second, shared);
    if (gives) b.CreateStore(old, b.CreateGEP(element, slots[3], lane));
  };
  auto finish = [&] {
    if (gives) {
      builder.CreateRet(builder.CreateLoad(content_type, slots[3]));
    } else {
      builder.CreateRetVoid();
    }
  };
  Value* bits = function->getArg(3);
  if (is_short(instruction)) {
    auto* all_block = llvm::BasicBlock::Create(context_, "all", function);
    auto* some = llvm::BasicBlock::Create(context_, "some", function);
    builder.CreateCondBr(builder.CreateICmpEQ(bits, i32(builder_.all_lanes())), all_block, some);
    builder.SetInsertPoint(all_block);
    for (uint32_t lane = 0; lane < lanes_; ++lane) operate(builder, builder.getInt32(lane));
    finish();
    builder.SetInsertPoint(some);
  }
  emit_lane_loop(builder, bits, operate);
  finish();
  return function;
}

llvm::Function* AtomicHelpers::private_helper(const ptx::Instruction& instruction,
                                              llvm::Type* content_type) {
  const bool uniform = !content_type->isVectorTy();
  const std::string name = "private_" + form_name(instruction) + (uniform ? "_uniform" : "");
  if (auto* found = builder_.helper(name)) return found;
  auto *word = b_.getInt32Ty(), *pair = b_.getInt64Ty();
  auto* offsets_type = vector_of(word);
  auto* function =
      builder_.new_helper(name, b_.getVoidTy(), {b_.getPtrTy(), offsets_type, content_type, word});
  Value *memory = function->getArg(0), *offsets = function->getArg(1);
  Value *content = function->getArg(2), *bits = function->getArg(3);
  llvm::IRBuilder<> builder(llvm::BasicBlock::Create(context_, "start", function));
  auto operate = [&](llvm::IRBuilder<>& b, Value* offset, Value* own) {
    Value* at = b.CreateGEP(b.getInt8Ty(), memory, offset);
    operation(b, instruction, at, own, own, true);
  };
  auto* slots = builder.CreateAlloca(offsets_type);
  auto* contents = uniform ? nullptr : builder.CreateAlloca(content_type);
  auto* all_block = llvm::BasicBlock::Create(context_, "all", function);
  auto* some = llvm::BasicBlock::Create(context_, "some", function);
  builder.CreateCondBr(builder.CreateICmpEQ(bits, i32(builder_.all_lanes())), all_block, some);
  builder.SetInsertPoint(all_block);
  LaneOffsets lane_offsets(offsets);
  for (uint32_t l = 0; l < lanes_; ++l) {
    Value* offset = lane_offsets.at(builder, l);
    operate(builder, offset, uniform ? content : builder.CreateExtractElement(content, l));
  }
  builder.CreateRetVoid();
  builder.SetInsertPoint(some);
  builder.CreateStore(offsets, slots);
  if (!uniform) builder.CreateStore(content, contents);
  emit_lane_loop(builder, bits, [&](llvm::IRBuilder<>& b, Value* lane) {
    Value* offset = b.CreateLoad(word, b.CreateGEP(word, slots, lane));
    Value* own = content;
    if (!uniform) {
      auto* element = content_type->getScalarType();
      own = b.CreateLoad(element, b.CreateGEP(element, contents, lane));
    }
    operate(b, b.CreateSExt(offset, pair), own);
  });
  builder.CreateRetVoid();
  return function;
}

}  // namespace km::simt
