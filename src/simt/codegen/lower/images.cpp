#include "simt/codegen/lower/images.h"

#include <llvm/IR/ValueSymbolTable.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "simt/forms/image_form.h"

namespace km::simt {

using ptx::Modifier;
using ptx::Opcode;
using ptx::Operand;
using ptx::Type;

namespace {

constexpr uint64_t kSlotBytes = sizeof(ImageSlot);

}  // namespace

llvm::Constant* ImageAccesses::form_constant(const ImageForm& form) {
  std::array<uint8_t, sizeof(ImageForm)> bytes{};
  std::memcpy(bytes.data(), &form, sizeof form);
  auto* constant =
      builder_.private_constant(llvm::ConstantDataArray::get(context_, bytes), "km_image");
  constant->setAlignment(llvm::Align(alignof(ImageForm)));
  return constant;
}

/// A buffer in the entry function's frame. All instructions share it, because each has finished
/// with it before the next starts.
llvm::Value* ImageAccesses::memory(const char* name, uint64_t size_bytes) {
  llvm::Value* const known = builder_.entry()->getValueSymbolTable()->lookup(name);
  return known != nullptr ? known : builder_.bytes(size_bytes, name);
}

llvm::Value* ImageAccesses::slot(uint32_t index) {
  if (slots_ == nullptr) slots_ = memory("image_slots", image_slot::kCount * kSlotBytes);
  return b_.CreateConstGEP1_64(b_.getInt8Ty(), slots_, index * kSlotBytes);
}

void ImageAccesses::store(const Inst& inst, const Operand& operand, uint32_t index) {
  if (operand.kind == Operand::Kind::sink) return;
  Value* content = values_.operand(inst, operand, Type::b32, true, true);
  b_.CreateAlignedStore(content, slot(index), llvm::Align(64));
}

/// Stores the elements of a vector operand, or a single operand, in consecutive slots.
void ImageAccesses::store_list(const Inst& inst, const Operand& operand, uint32_t first) {
  if (operand.kind != Operand::Kind::vector) return store(inst, operand, first);
  const uint32_t most = std::min(operand.count, 3U);
  for (uint32_t i = 0; i < most; ++i) {
    store(inst, kernel_.function->operand_pool[operand.first + i], first + i);
  }
}

/// Stores the coordinates. PTX puts the layer before them, and elements after them are padding.
void ImageAccesses::store_coordinates(const Inst& inst, const ImageForm& form,
                                      const Operand& place) {
  const auto& pool = kernel_.function->operand_pool;
  const Operand& list = pool[place.first + 1];
  const uint32_t coordinates = form.is_cube ? 3 : form.dimensions;
  if (list.kind != Operand::Kind::vector) return store(inst, list, image_slot::kX);
  uint32_t next = 0;
  if (form.is_layered && next < list.count) {
    store(inst, pool[list.first + next++], image_slot::kLayer);
  }
  for (uint32_t i = 0; i < coordinates && next < list.count; ++i) {
    store(inst, pool[list.first + next++], image_slot::kX + i);
  }
}

void ImageAccesses::store_extras(const Inst& inst, const ImageForm& form) {
  const auto& ptx = *inst.ptx;
  unsigned next = 2;
  if (form.level == LevelChoice::given) {
    store(inst, ptx.operands[next++], image_slot::kLevel);
  } else if (form.level == LevelChoice::gradients) {
    store_list(inst, ptx.operands[next++], image_slot::kGradients);
    store_list(inst, ptx.operands[next++], image_slot::kGradients + 3);
  }
  if (form.has_offsets) store_list(inst, ptx.operands[next], image_slot::kOffsets);
}

/// Stores the data of a surface store or reduction. Slots are 32 bits wide, so a 64-bit element
/// takes two.
void ImageAccesses::store_data(const Inst& inst, const ImageForm& form, const Operand& data) {
  const auto& pool = kernel_.function->operand_pool;
  uint32_t next = image_slot::kData;
  for (uint32_t i = 0; i < form.elements; ++i) {
    const bool listed = data.kind == Operand::Kind::vector;
    const Operand& element = listed ? pool[data.first + i] : data;
    const Type type = form.element_bytes == 8   ? Type::b64
                      : form.element_bytes == 4 ? Type::b32
                      : form.element_bytes == 2 ? Type::b16
                                                : Type::b8;
    Value* content = values_.operand(inst, element, type, true, true);
    auto* words = vector_of(b_.getInt32Ty());
    b_.CreateAlignedStore(b_.CreateZExtOrTrunc(content, words), slot(next++), llvm::Align(64));
    if (form.element_bytes != 8) continue;
    Value* high = b_.CreateLShr(content, llvm::ConstantInt::get(content->getType(), 32));
    b_.CreateAlignedStore(b_.CreateTrunc(high, words), slot(next++), llvm::Align(64));
  }
}

ImageAccesses::Handle ImageAccesses::handle_of(const Inst& inst, const Operand& operand) {
  const Operand& named = operand.kind == Operand::Kind::tuple
                             ? kernel_.function->operand_pool[operand.first]
                             : operand;
  const auto moved = [&](Value* content) {
    if (named.offset == 0 || named.reg == ptx::kNone) return content;
    return b_.CreateAdd(content, llvm::ConstantInt::getSigned(content->getType(), named.offset));
  };
  Value* const none = llvm::Constant::getNullValue(b_.getPtrTy());
  if (named.symbol != ptx::kNone) {  // the symbol's value is the handle
    Operand symbol = named;
    symbol.kind = Operand::Kind::symbol;
    return {values_.operand(inst, symbol, Type::u64, false, true), none};
  }
  if (named.reg == ptx::kNone) return {i64(static_cast<uint64_t>(named.offset)), none};
  const ValueId value = inst.read(named.reg);
  const Type own = kernel_.values[value].type;
  if (values_.shape_of(value).is_uniform()) {
    return {moved(builder_.coerce(values_.scalar(value), own, Type::b64)), none};
  }
  Value* const all = memory("image_handles", 2 * kSlotBytes);
  Value* each = moved(builder_.coerce(values_.vector(value), own, Type::b64));
  b_.CreateAlignedStore(each, all, llvm::Align(64));
  return {i64(0), all};
}

void ImageAccesses::define_words(const Inst& inst, const ImageForm& form, const Operand& target) {
  const auto& pool = kernel_.function->operand_pool;
  const uint32_t bytes = form.operation == ImageOperation::load ? form.element_bytes
                         : form.halves                          ? 2
                                                                : 4;
  const uint32_t count = target.kind == Operand::Kind::vector ? target.count : 1;
  auto* words = vector_of(b_.getInt32Ty());
  const auto load = [&](uint32_t index) -> Value* {
    return b_.CreateAlignedLoad(words, slot(index), llvm::Align(64));
  };
  for (uint32_t i = 0; i < count; ++i) {
    const Operand& to = target.kind == Operand::Kind::vector ? pool[target.first + i] : target;
    if (to.kind != Operand::Kind::reg) continue;
    if (bytes == 8) {
      auto* wide = vector_of(b_.getInt64Ty());
      Value* high =
          b_.CreateShl(b_.CreateZExt(load(2 * i + 1), wide), llvm::ConstantInt::get(wide, 32));
      values_.define_result(inst, to.reg, b_.CreateOr(high, b_.CreateZExt(load(2 * i), wide)),
                            Type::b64);
    } else {
      const Type type = bytes == 4 ? Type::b32 : bytes == 2 ? Type::b16 : Type::b8;
      auto* narrow = vector_of(b_.getIntNTy(8 * bytes));
      values_.define_result(inst, to.reg, b_.CreateTrunc(load(i), narrow), type);
    }
  }
}

void ImageAccesses::define_results(const Inst& inst, const ImageForm& form) {
  const Operand& target = inst.ptx->operands[0];
  const auto& pool = kernel_.function->operand_pool;
  if (form.operation == ImageOperation::is_kind) {
    Value* is = b_.CreateAlignedLoad(vector_of(b_.getInt32Ty()), slot(0), llvm::Align(64));
    is = b_.CreateICmpNE(is, llvm::Constant::getNullValue(is->getType()));
    return values_.define_result(inst, target.reg, is, Type::pred);
  }
  if (target.kind != Operand::Kind::pair) return define_words(inst, form, target);
  define_words(inst, form, pool[target.first]);
  const Operand& resident = pool[target.first + 1];  // true, since all texels are in memory
  if (resident.kind == Operand::Kind::reg) {
    Value* all = llvm::Constant::getAllOnesValue(vector_of(b_.getInt1Ty()));
    values_.define_result(inst, resident.reg, all, Type::pred);
  }
}

void ImageAccesses::lower(const Inst& inst) {
  const auto& ptx = *inst.ptx;
  ImageForm form = *arithmetic::image_form(ptx);
  form.kernel_set = machine().kernel_set();
  form.lanes = static_cast<uint8_t>(lanes_);
  form.line = builder_.current_line();
  const Operand& named = ptx.operands[arithmetic::image_operand(ptx)];
  if (named.kind == Operand::Kind::tuple) store_coordinates(inst, form, named);
  const bool writes = !inst.writes.empty();
  switch (form.operation) {
    case ImageOperation::fetch:
    case ImageOperation::gather:
    case ImageOperation::query:
      store_extras(inst, form);
      break;
    case ImageOperation::store:
    case ImageOperation::reduce:
      store_data(inst, form, ptx.operands[1]);
      break;
    default:
      break;
  }
  const Handle handle = handle_of(inst, named);
  auto* pointer = b_.getPtrTy();
  auto* wide = b_.getInt64Ty();
  auto* type = llvm::FunctionType::get(
      b_.getVoidTy(), {pointer, pointer, wide, pointer, b_.getInt32Ty(), pointer}, false);
  // Uniform operands give uniform results, of which lane 0's is taken. All lanes must then be
  // computed, because lane 0 may be inactive.
  const bool is_same = writes && values_.results_are_scalar(inst);
  Value* lanes = is_same ? i32(builder_.all_lanes()) : mask_bits();
  frame_.call_runtime(
      offsetof(ImageRuntime, image), type,
      {frame_.state(), form_constant(form), handle.of_all, handle.lanes, lanes, slot(0)});
  if (writes) define_results(inst, form);
}

}  // namespace km::simt
