// mma and wmma: a runtime function multiplies, since the arithmetic of tensor cores is long and
// none that an instruction of this processor does. Loads and stores of wmma are gathers.
#include <array>
#include <bit>

#include "simt/emit/emitter.h"
#include "simt/lower/tensor_form.h"

namespace km::simt {

using lower::WmmaFragment;
using ptx::Modifier;
using ptx::Operand;
using ptx::Type;

namespace {

// Of the largest forms: f64 m16n8k16 and wmma with 8 registers each; metadata are one more.
constexpr uint64_t kOperandWords = (16 * 2 + 1) * kWarpLanes;
constexpr uint64_t kResultWords = 4 * 2 * kWarpLanes;

}  // namespace

/// Register `index` of operand `operand`, which may be a single one without braces.
const Operand& Emitter::tensor_register(const Operand& operand, uint32_t index) const {
  if (operand.kind != Operand::Kind::vector) return operand;
  return kernel_.function->operand_pool[operand.first + index];
}

/// One for all instructions of the form.
llvm::Constant* Emitter::mma_form_constant(const MmaForm& form) {
  static_assert(std::has_unique_object_representations_v<MmaForm>);
  const auto bytes = std::bit_cast<std::array<uint8_t, sizeof(MmaForm)>>(form);
  auto* content = llvm::ConstantDataArray::get(context_, bytes);
  std::string name = "km_mma";
  for (const uint8_t byte : bytes) name += "_" + std::to_string(byte);
  if (auto* known = module_.getNamedGlobal(name)) return known;
  auto* constant =
      llvm::cast<llvm::GlobalVariable>(module_.getOrInsertGlobal(name, content->getType()));
  constant->setInitializer(content);
  constant->setConstant(true);
  constant->setLinkage(llvm::GlobalValue::PrivateLinkage);
  constant->setAlignment(llvm::Align(alignof(MmaForm)));
  return constant;
}

/// Memory for the fragments, shared by all instructions of the kernel.
void Emitter::make_mma_memory() {
  if (mma_operands_ != nullptr) return;
  auto words = [&](uint64_t count, const char* name) {
    auto* memory = variable(llvm::ArrayType::get(b_.getInt32Ty(), count), name);
    memory->setAlignment(llvm::Align(64));
    return memory;
  };
  mma_operands_ = words(kOperandWords, "mma.operands");
  mma_results_ = words(kResultWords, "mma.results");
}

void Emitter::lower_mma(const Inst& inst) {
  const auto& ptx = *inst.ptx;
  MmaForm form = *lower::mma_form(ptx);
  form.wide = plan_.variant.isa != Isa::x86_64_v2;
  make_mma_memory();
  const Type type = form.a == MmaType::f64 ? Type::b64 : Type::b32;
  auto* fragment = vector_of(type_of(type));
  const uint64_t fragment_bytes = ptx::size_bytes(type) * kWarpLanes;
  uint64_t offset = 0;
  auto put = [&](const Operand& source) {
    Value* content = operand(inst, source, type, true, true);
    Value* at = b_.CreateConstGEP1_64(b_.getInt8Ty(), mma_operands_, offset);
    b_.CreateAlignedStore(content, at, llvm::Align(64));
    offset += fragment_bytes;
  };
  const uint32_t counts[] = {form.a_registers, form.b_registers, form.c_registers};
  for (unsigned i = 0; i < 3; ++i) {
    for (uint32_t r = 0; r < counts[i]; ++r) put(tensor_register(ptx.operands[i + 1], r));
  }
  if (form.sparse) put(ptx.operands[4]);
  auto* pointer = b_.getPtrTy();
  auto* call =
      llvm::FunctionType::get(b_.getVoidTy(), {pointer, pointer, pointer, pointer, pointer}, false);
  call_runtime(offsetof(RuntimeTable, mma), call,
               {record_, state_, mma_form_constant(form), mma_operands_, mma_results_});
  for (uint32_t r = 0; r < form.d_registers; ++r) {
    const Operand& target = tensor_register(ptx.operands[0], r);
    if (target.kind != Operand::Kind::reg) continue;
    Value* at = b_.CreateConstGEP1_64(b_.getInt8Ty(), mma_results_, r * fragment_bytes);
    define_result(inst, target.reg, b_.CreateAlignedLoad(fragment, at, llvm::Align(64)), type);
  }
}

void Emitter::lower_wmma(const Inst& inst) {
  if (inst.ptx->has(Modifier::mma)) return lower_mma(inst);
  if (inst.ptx->has(Modifier::load)) return lower_wmma_load(inst);
  lower_wmma_store(inst);
}

/// Where element `element` of register `index` of every lane lies.
llvm::Value* Emitter::wmma_addresses(const WmmaPlace& place, uint32_t index, uint32_t element) {
  const WmmaFragment& fragment = *place.fragment;
  std::vector<llvm::Constant*> lines, offsets;
  for (uint32_t lane = 0; lane < kWarpLanes; ++lane) {
    const MmaBlock at = fragment.place(index, lane, element);
    const uint32_t line = fragment.by_columns ? at.column : at.row;
    const uint32_t along = fragment.by_columns ? at.row : at.column;
    lines.push_back(b_.getInt64(line));
    offsets.push_back(b_.getInt64(along * element_bits(fragment.type) / 8));
  }
  Value* start = b_.CreateMul(llvm::ConstantVector::get(lines), place.stride_bytes);
  return b_.CreateAdd(place.base, b_.CreateAdd(start, llvm::ConstantVector::get(offsets)));
}

Emitter::WmmaPlace Emitter::wmma_place(const Inst& inst, const WmmaFragment& fragment,
                                       unsigned address, unsigned stride) {
  const auto& ptx = *inst.ptx;
  const Operand& at = ptx.operands[address];
  WmmaPlace place;
  place.fragment = &fragment;
  place.base = lanes_of(address_of(inst, at, space_of(inst, at)));
  Value* elements = splat(i64(fragment.by_columns ? fragment.rows() : fragment.columns()));
  if (stride < ptx.operand_count) {
    elements = b_.CreateZExt(operand(inst, ptx.operands[stride], Type::u32, true, false),
                             vector_of(b_.getInt64Ty()));
  }
  Value* bits = b_.CreateMul(elements, splat(i64(element_bits(fragment.type))));
  place.stride_bytes = b_.CreateLShr(bits, splat(i64(3)));
  place.part_type = Type::b32;
  if (fragment.type == MmaType::f64) place.part_type = Type::b64;
  if (!fragment.is_contiguous()) {
    place.part_type = element_bits(fragment.type) == 8 ? Type::b8 : Type::b16;
    place.parts = elements_per_register(fragment.type);
  }
  return place;
}

void Emitter::lower_wmma_load(const Inst& inst) {
  const auto& ptx = *inst.ptx;
  const WmmaFragment fragment = *lower::wmma_fragment(ptx);
  const WmmaPlace place = wmma_place(inst, fragment, 1, 2);
  const uint64_t size_bytes = ptx::size_bytes(place.part_type);
  const Access access{place.part_type};
  const Operand& target = ptx.operands[0];
  const uint32_t count = target.kind == Operand::Kind::vector ? target.count : 1;
  std::vector<Value*> registers;
  for (uint32_t r = 0; r < std::min(count, fragment.registers()); ++r) {
    Value* content = nullptr;
    for (uint32_t part = 0; part < place.parts; ++part) {
      Value* at = wmma_addresses(place, r, part);
      check_lanes(inst, {at, i64(size_bytes), size_bytes}, mask());
      Value* loaded = load_gather({}, access, at)[0];
      if (place.parts > 1) {
        loaded = b_.CreateZExt(loaded, vector_of(b_.getInt32Ty()));
        loaded = b_.CreateShl(loaded, splat(i32(part * 32 / place.parts)));
      }
      content = content ? b_.CreateOr(content, loaded) : loaded;
    }
    registers.push_back(content);
  }
  const Type type = fragment.type == MmaType::f64 ? Type::b64 : Type::b32;
  for (uint32_t r = 0; r < count; ++r) {
    const Operand& to = tensor_register(target, r);
    if (to.kind != Operand::Kind::reg) continue;
    define_result(inst, to.reg, registers[r % registers.size()], type);
  }
}

void Emitter::lower_wmma_store(const Inst& inst) {
  const auto& ptx = *inst.ptx;
  const WmmaFragment fragment = *lower::wmma_fragment(ptx);
  const WmmaPlace place = wmma_place(inst, fragment, 0, 2);
  const uint64_t size_bytes = ptx::size_bytes(place.part_type);
  const Access access{place.part_type};
  const Type type = fragment.type == MmaType::f64 ? Type::b64 : Type::b32;
  const Operand& source = ptx.operands[1];
  const uint32_t count = source.kind == Operand::Kind::vector ? source.count : 1;
  for (uint32_t r = 0; r < count; ++r) {
    Value* content = operand(inst, tensor_register(source, r), type, true, true);
    for (uint32_t part = 0; part < place.parts; ++part) {
      Value* stored = content;
      if (place.parts > 1) {
        stored = b_.CreateLShr(content, splat(i32(part * 32 / place.parts)));
        stored = b_.CreateTrunc(stored, vector_of(type_of(place.part_type)));
      }
      Value* at = wmma_addresses(place, r, part);
      check_lanes(inst, {at, i64(size_bytes), size_bytes}, mask());
      store_scatter({}, access, {stored}, at);
    }
  }
}

}  // namespace km::simt
