#include "simt/arithmetic/arithmetic.h"

#include "ptx/forms.h"
#include "simt/arithmetic/lanes.h"

namespace km::simt {
namespace {

using arithmetic::Handler;

/// The handler of the instruction; null if its family is not arithmetic or has none for the form.
Handler find(const ptx::Instruction& instruction) {
  switch (ptx::family_of(instruction)) {
    case ptx::Family::integer:
      return arithmetic::find_integer(instruction);
    case ptx::Family::division:
      return arithmetic::find_division(instruction);
    case ptx::Family::bits:
      return arithmetic::find_bits(instruction);
    case ptx::Family::permute:
      return arithmetic::find_permute(instruction);
    case ptx::Family::compare:
      return arithmetic::find_compare(instruction);
    case ptx::Family::real:
      return arithmetic::find_float(instruction);
    case ptx::Family::half:
      return arithmetic::find_half(instruction);
    case ptx::Family::approx:
      return arithmetic::find_approx(instruction);
    case ptx::Family::convert:
      return arithmetic::find_convert(instruction);
    case ptx::Family::narrow_float:
      return arithmetic::find_narrow_float(instruction);
    case ptx::Family::video:
      return arithmetic::find_video(instruction);
    default:
      return nullptr;
  }
}

unsigned lanes_of(std::span<llvm::Value* const> sources) {
  auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(sources[0]->getType());
  return vector ? vector->getNumElements() : 0;
}

}  // namespace

llvm::Type* llvm_type(llvm::LLVMContext& context, ptx::Type type) {
  switch (type) {
    case ptx::Type::f32:
      return llvm::Type::getFloatTy(context);
    case ptx::Type::f64:
      return llvm::Type::getDoubleTy(context);
    case ptx::Type::none:
      return llvm::Type::getVoidTy(context);
    default:
      return llvm::Type::getIntNTy(context, ptx::size_bits(type));
  }
}

bool lowers_arithmetic(const ptx::Instruction& instruction) { return find(instruction) != nullptr; }

ptx::Type Arithmetic::operand_type(const ptx::Instruction& instruction, unsigned index,
                                   unsigned element) {
  const ptx::Form& form = ptx::all_forms()[instruction.form];
  auto assignment = ptx::assign_operands(form, instruction);
  if (!assignment || index >= instruction.operand_count) return ptx::Type::none;
  const ptx::OperandSpec& spec = *(*assignment)[index];
  if (element > 0 && spec.pair) return ptx::Type::pred;
  return ptx::operand_type(spec, instruction);
}

std::vector<llvm::Value*> Arithmetic::lower(const ptx::Instruction& instruction,
                                            std::span<llvm::Value* const> sources) {
  arithmetic::Lanes lanes(b_, machine_, lanes_of(sources));
  arithmetic::Values results = find(instruction)(lanes, instruction, sources);
  if (instruction.operands[0].kind != ptx::Operand::Kind::pair) results.resize(1);
  return results;
}

llvm::Value* Arithmetic::canonical_nan(llvm::Value* value) {
  llvm::Value* sources[] = {value};
  return arithmetic::Lanes(b_, machine_, lanes_of(sources)).canonical_nan(value);
}

}  // namespace km::simt
