// mma and wmma.mma call a runtime function: the arithmetic of tensor cores takes much code, and no
// instruction of the CPU matches it.
#include "simt/codegen/lower/matrices/matrices.h"

#include <array>
#include <bit>

#include "simt/forms/tensor_form.h"

namespace km::simt {

using ptx::Modifier;
using ptx::Operand;
using ptx::Type;

namespace {

// The buffer holds registers of fragments, and after them the operands of one instruction that are
// not among these. The largest forms are f64 m16n8k16, and wmma with 8 registers per operand;
// metadata is one more register.
constexpr uint32_t kFragmentBytes = 24 << 10;
constexpr uint32_t kOperandBytes = 4 * (16 * 2 + 1) * kWarpLanes;

uint32_t register_bytes(Type type) {
  return static_cast<uint32_t>(ptx::size_bytes(type)) * kWarpLanes;
}

}  // namespace

/// Register `index` of an operand, which may be a single register without braces.
const Operand& Matrices::tensor_register(const Operand& operand, uint32_t index) const {
  if (operand.kind != Operand::Kind::vector) return operand;
  return kernel_.function->operand_pool[operand.first + index];
}

/// The constant that describes the form, shared by all instructions of the form.
llvm::Constant* Matrices::mma_form_constant(const MmaForm& form) {
  static_assert(std::has_unique_object_representations_v<MmaForm>);
  const auto bytes = std::bit_cast<std::array<uint8_t, sizeof(MmaForm)>>(form);
  auto* content = llvm::ConstantDataArray::get(context_, bytes);
  auto* constant = builder_.private_constant(content, "km_mma");
  constant->setAlignment(llvm::Align(alignof(MmaForm)));
  return constant;
}

/// Creates the buffer of fragments at its first use; the kernel has one.
void Matrices::make_fragment_memory() {
  if (fragments_ == nullptr)
    fragments_ = builder_.bytes(kFragmentBytes + kOperandBytes, "fragments");
}

/// The pointer to an offset in the buffer.
llvm::Value* Matrices::fragment_pointer(uint32_t place) {
  return b_.CreateConstGEP1_64(b_.getInt8Ty(), fragments_, place);
}

/// Forgets the fragments in [place, place + size_bytes), which are about to be overwritten.
void Matrices::forget_fragments(uint32_t place, uint32_t size_bytes) {
  std::erase_if(fragment_places_, [&](const auto& known) {
    const uint64_t end = known.second + known.first->getType()->getPrimitiveSizeInBits() / 8;
    return end > place && known.second < place + size_bytes;
  });
}

/// Allocates room for `count` registers in the buffer. The buffer is used as a ring, so the oldest
/// fragments are overwritten.
uint32_t Matrices::new_fragments(uint32_t count, Type type) {
  const uint32_t size_bytes = count * register_bytes(type);
  if (next_fragment_ + size_bytes > kFragmentBytes) next_fragment_ = 0;
  const uint32_t place = next_fragment_;
  next_fragment_ += size_bytes;
  forget_fragments(place, size_bytes);
  return place;
}

/// Loads a register that an instruction left in the buffer. Its offset is remembered for later
/// instructions that need it in memory.
llvm::Value* Matrices::load_fragment(uint32_t place, Type type) {
  auto* content =
      b_.CreateAlignedLoad(vector_of(type_of(type)), fragment_pointer(place), llvm::Align(64));
  fragment_places_[content] = place;
  return content;
}

/// The offset of each register in the buffer. A register that is not there yet is stored first.
std::vector<uint32_t> Matrices::fragment_places(const Inst& inst,
                                                const std::vector<const Operand*>& sources,
                                                Type type) {
  make_fragment_memory();
  std::vector<uint32_t> places;
  for (const Operand* source : sources) {
    Value* content = values_.operand(inst, *source, type, true, true);
    Value* made = content;
    while (auto* cast = llvm::dyn_cast<llvm::BitCastInst>(made)) made = cast->getOperand(0);
    if (auto known = fragment_places_.find(made); known != fragment_places_.end()) {
      places.push_back(known->second);
      continue;
    }
    const auto index = static_cast<uint32_t>(places.size());
    places.push_back(kFragmentBytes + index * register_bytes(type));
    b_.CreateAlignedStore(content, fragment_pointer(places.back()), llvm::Align(64));
  }
  return places;
}

/// The offset of the first of these registers, after moving them if they are not contiguous.
uint32_t Matrices::fragments_in_row(const Inst& inst, const std::vector<const Operand*>& sources,
                                    Type type) {
  const std::vector<uint32_t> places = fragment_places(inst, sources, type);
  bool in_row = true;
  for (uint32_t r = 0; r < places.size(); ++r) {
    in_row = in_row && places[r] == places[0] + r * register_bytes(type);
  }
  if (in_row) return places[0];
  for (uint32_t r = 0; r < places.size(); ++r) {
    if (places[r] >= kFragmentBytes) continue;
    Value* to = fragment_pointer(kFragmentBytes + r * register_bytes(type));
    b_.CreateAlignedStore(values_.operand(inst, *sources[r], type, true, true), to,
                          llvm::Align(64));
  }
  return kFragmentBytes;
}

void Matrices::lower_mma(const Inst& inst) {
  const auto& ptx = *inst.ptx;
  MmaForm form = *arithmetic::mma_form(ptx);
  form.wide = machine().kernel_set() != KernelSet::plain;
  const Type type = form.a == MmaType::f64 ? Type::b64 : Type::b32;
  std::vector<const Operand*> sources;
  const uint32_t counts[] = {form.a_registers, form.b_registers, form.c_registers};
  for (unsigned i = 0; i < 3; ++i) {
    for (uint32_t r = 0; r < counts[i]; ++r) {
      sources.push_back(&tensor_register(ptx.operands[i + 1], r));
    }
  }
  if (form.sparse) sources.push_back(&ptx.operands[4]);
  std::vector<uint32_t> places = fragment_places(inst, sources, type);
  const uint32_t results = result_place(form, places, type);
  places.push_back(results);
  auto* table =
      builder_.private_constant(llvm::ConstantDataArray::get(context_, places), "km_places");
  auto* pointer = b_.getPtrTy();
  auto* call =
      llvm::FunctionType::get(b_.getVoidTy(), {pointer, pointer, pointer, pointer, pointer}, false);
  frame_.call_runtime(
      offsetof(RuntimeTable, mma), call,
      {frame_.record(), frame_.state(), mma_form_constant(form), table, fragments_});
  define_fragments(inst, ptx.operands[0], form.d_registers, results, type);
}

/// The offset for the result: that of C if its registers are contiguous, so that a chain of
/// products accumulates in place.
uint32_t Matrices::result_place(const MmaForm& form, const std::vector<uint32_t>& places,
                                Type type) {
  const uint32_t first = places[form.a_registers + form.b_registers];
  const uint32_t size_bytes = form.d_registers * register_bytes(type);
  bool in_place = form.c_registers == form.d_registers && first + size_bytes <= kFragmentBytes;
  for (uint32_t r = 0; r < form.c_registers; ++r) {
    const uint32_t expected = first + r * register_bytes(type);
    in_place = in_place && places[form.a_registers + form.b_registers + r] == expected;
  }
  if (!in_place) return new_fragments(form.d_registers, type);
  forget_fragments(first, size_bytes);
  return first;
}

/// Defines the registers of `target` from the `count` registers at `place`; a longer operand
/// repeats them.
void Matrices::define_fragments(const Inst& inst, const Operand& target, uint32_t count,
                                uint32_t place, Type type) {
  const uint32_t all = target.kind == Operand::Kind::vector ? target.count : 1;
  for (uint32_t r = 0; r < all; ++r) {
    const Operand& to = tensor_register(target, r);
    if (to.kind != Operand::Kind::reg) continue;
    Value* content = load_fragment(place + r % count * register_bytes(type), type);
    values_.define_result(inst, to.reg, content, type);
  }
}

void Matrices::lower_wmma(const Inst& inst) {
  if (inst.ptx->has(Modifier::mma)) return lower_mma(inst);
  if (inst.ptx->has(Modifier::load)) return lower_wmma_load(inst);
  lower_wmma_store(inst);
}

}  // namespace km::simt
