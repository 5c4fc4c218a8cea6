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

llvm::Value* atomic_operation(llvm::IRBuilder<>& builder, const Machine& machine,
                              const ptx::Instruction& instruction, llvm::Value* pointer,
                              llvm::Value* first, llvm::Value* second, bool shared) {
  auto* type = first->getType();
  const llvm::Align align(type->getScalarSizeInBits() / 8);
  const auto ordering = ordering_of(instruction);
  const Op op = operation_of(instruction);
  Arithmetic arithmetic(builder, machine);
  const std::string half = half_operation(instruction);
  auto sum = [&](llvm::Value* old) -> llvm::Value* {
    if (!half.empty()) {
      const auto any = register_operand(0);
      llvm::Value* sources[] = {old, first};
      return arithmetic.lower(make_instruction(half, {any, any, any}, instruction), sources)[0];
    }
    if (op != Op::FAdd) return plain_operation(builder, op, old, first);
    // The manual says that f32 sums flush subnormals in global memory, and only there.
    arithmetic::Lanes lanes(builder, machine, 0);
    const bool flushes = type->isFloatTy() && !shared && !instruction.has(Modifier::noftz);
    llvm::Value* result =
        builder.CreateFAdd(lanes.flush_if(flushes, old), lanes.flush_if(flushes, first));
    return lanes.flush_if(flushes, lanes.canonical_nan(result));
  };
  if (instruction.has(Modifier::cas)) {
    if (shared) {
      llvm::Value* old = builder.CreateAlignedLoad(type, pointer, align);
      llvm::Value* fresh = builder.CreateSelect(builder.CreateICmpEQ(old, first), second, old);
      builder.CreateAlignedStore(fresh, pointer, align);
      return old;
    }
    auto failure = llvm::AtomicCmpXchgInst::getStrongestFailureOrdering(ordering);
    llvm::Value* pair =
        builder.CreateAtomicCmpXchg(pointer, first, second, align, ordering, failure);
    return builder.CreateExtractValue(pair, 0);
  }
  if (shared) {
    llvm::Value* old = builder.CreateAlignedLoad(type, pointer, align);
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
  auto* retry = llvm::BasicBlock::Create(builder.getContext(), "retry", function);
  auto* done = llvm::BasicBlock::Create(builder.getContext(), "stored", function);
  llvm::Value* start = builder.CreateAlignedLoad(bits_type, pointer, align);
  builder.CreateBr(retry);
  builder.SetInsertPoint(retry);
  auto* seen = builder.CreatePHI(bits_type, 2);
  seen->addIncoming(start, before);
  llvm::Value* old = builder.CreateBitCast(seen, type);
  llvm::Value* fresh = builder.CreateBitCast(sum(old), bits_type);
  llvm::Value* pair =
      builder.CreateAtomicCmpXchg(pointer, seen, fresh, align, ordering,
                                  llvm::AtomicCmpXchgInst::getStrongestFailureOrdering(ordering));
  seen->addIncoming(builder.CreateExtractValue(pair, 0), builder.GetInsertBlock());
  builder.CreateCondBr(builder.CreateExtractValue(pair, 1), done, retry);
  builder.SetInsertPoint(done);
  return old;
}

bool is_short_atomic(const ptx::Instruction& instruction) {
  return !ptx::is_float(instruction.type()) && !instruction.has(Modifier::cas) &&
         !instruction.has(Modifier::inc) && !instruction.has(Modifier::dec);
}

llvm::Function* atomic_helper(CodeBuilder& codegen, const ptx::Instruction& instruction,
                              bool shared, bool gives) {
  std::string name = (shared ? "shared_" : "") + form_name(instruction) + (gives ? "" : "_unread");
  if (auto* found = codegen.helper(name)) return found;
  auto* element = codegen.type_of(instruction.type());
  auto* addresses = codegen.vector_of(codegen.ir().getInt64Ty());
  auto* content_type = codegen.vector_of(element);
  auto* function =
      codegen.new_helper(name, gives ? content_type : codegen.ir().getVoidTy(),
                         {addresses, content_type, content_type, codegen.ir().getInt32Ty()});
  llvm::IRBuilder<> builder(llvm::BasicBlock::Create(codegen.context(), "start", function));
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
  auto operate = [&](llvm::IRBuilder<>& b, llvm::Value* lane) {
    llvm::Value* at = b.CreateLoad(b.getInt64Ty(), b.CreateGEP(b.getInt64Ty(), slots[0], lane));
    llvm::Value* first = b.CreateLoad(element, b.CreateGEP(element, slots[1], lane));
    llvm::Value* second = first;
    if (arguments == 3) second = b.CreateLoad(element, b.CreateGEP(element, slots[2], lane));
    llvm::Value* pointer = b.CreateIntToPtr(at, b.getPtrTy());
    llvm::Value* old =
        atomic_operation(b, codegen.machine(), instruction, pointer, first, second, shared);
    if (gives) b.CreateStore(old, b.CreateGEP(element, slots[3], lane));
  };
  auto finish = [&] {
    if (gives) {
      builder.CreateRet(builder.CreateLoad(content_type, slots[3]));
    } else {
      builder.CreateRetVoid();
    }
  };
  llvm::Value* bits = function->getArg(3);
  if (is_short_atomic(instruction)) {
    auto* all_block = llvm::BasicBlock::Create(codegen.context(), "all", function);
    auto* some = llvm::BasicBlock::Create(codegen.context(), "some", function);
    builder.CreateCondBr(builder.CreateICmpEQ(bits, builder.getInt32(codegen.all_lanes())),
                         all_block, some);
    builder.SetInsertPoint(all_block);
    for (uint32_t lane = 0; lane < codegen.lanes(); ++lane)
      operate(builder, builder.getInt32(lane));
    finish();
    builder.SetInsertPoint(some);
  }
  emit_lane_loop(builder, bits, operate);
  finish();
  return function;
}

llvm::Function* private_atomic_helper(CodeBuilder& codegen, const ptx::Instruction& instruction,
                                      llvm::Type* content_type) {
  const bool uniform = !content_type->isVectorTy();
  const std::string name = "private_" + form_name(instruction) + (uniform ? "_uniform" : "");
  if (auto* found = codegen.helper(name)) return found;
  auto *word = codegen.ir().getInt32Ty(), *pair = codegen.ir().getInt64Ty();
  auto* offsets_type = codegen.vector_of(word);
  auto* function = codegen.new_helper(name, codegen.ir().getVoidTy(),
                                      {codegen.ir().getPtrTy(), offsets_type, content_type, word});
  llvm::Value *memory = function->getArg(0), *offsets = function->getArg(1);
  llvm::Value *content = function->getArg(2), *bits = function->getArg(3);
  llvm::IRBuilder<> builder(llvm::BasicBlock::Create(codegen.context(), "start", function));
  auto operate = [&](llvm::IRBuilder<>& b, llvm::Value* offset, llvm::Value* own) {
    llvm::Value* at = b.CreateGEP(b.getInt8Ty(), memory, offset);
    atomic_operation(b, codegen.machine(), instruction, at, own, own, true);
  };
  auto* slots = builder.CreateAlloca(offsets_type);
  auto* contents = uniform ? nullptr : builder.CreateAlloca(content_type);
  auto* all_block = llvm::BasicBlock::Create(codegen.context(), "all", function);
  auto* some = llvm::BasicBlock::Create(codegen.context(), "some", function);
  builder.CreateCondBr(builder.CreateICmpEQ(bits, builder.getInt32(codegen.all_lanes())), all_block,
                       some);
  builder.SetInsertPoint(all_block);
  LaneOffsets lane_offsets(offsets);
  for (uint32_t l = 0; l < codegen.lanes(); ++l) {
    llvm::Value* offset = lane_offsets.at(builder, l);
    operate(builder, offset, uniform ? content : builder.CreateExtractElement(content, l));
  }
  builder.CreateRetVoid();
  builder.SetInsertPoint(some);
  builder.CreateStore(offsets, slots);
  if (!uniform) builder.CreateStore(content, contents);
  emit_lane_loop(builder, bits, [&](llvm::IRBuilder<>& b, llvm::Value* lane) {
    llvm::Value* offset = b.CreateLoad(word, b.CreateGEP(word, slots, lane));
    llvm::Value* own = content;
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
