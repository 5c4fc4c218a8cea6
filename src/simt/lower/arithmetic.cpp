#include "simt/lower/arithmetic.h"

#include "ptx/forms.h"
#include "simt/lower/lanes.h"

namespace km::simt {
namespace {

using lower::Handler;

constexpr Handler (*kFamilies[])(const ptx::Instruction&) = {
    lower::find_integer, lower::find_division,     lower::find_bits,  lower::find_permute,
    lower::find_compare, lower::find_float,        lower::find_half,  lower::find_convert,
    lower::find_approx,  lower::find_narrow_float, lower::find_video,
};

Handler find(const ptx::Instruction& instruction) {
  for (auto family : kFamilies) {
    if (Handler handler = family(instruction)) return handler;
  }
  return nullptr;
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

bool Arithmetic::supports(const ptx::Instruction& instruction) {
  return find(instruction) != nullptr;
}

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
  lower::Lanes lanes(b_, isa_, lanes_of(sources));
  lower::Values results = find(instruction)(lanes, instruction, sources);
  if (instruction.operands[0].kind != ptx::Operand::Kind::pair) results.resize(1);
  return results;
}

llvm::Value* Arithmetic::canonical_nan(llvm::Value* value) {
  llvm::Value* sources[] = {value};
  return lower::Lanes(b_, isa_, lanes_of(sources)).canonical_nan(value);
}

}  // namespace km::simt
