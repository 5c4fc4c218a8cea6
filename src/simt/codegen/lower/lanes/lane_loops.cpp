#include "simt/codegen/lower/lanes/lane_loops.h"

#include "simt/arithmetic/loops.h"

namespace km::simt {

std::string form_name(const ptx::Instruction& instruction) {
  std::string name(ptx::text_of(instruction.opcode));
  for (ptx::Modifier modifier : instruction.modifiers) {
    name += '_';
    name += ptx::text_of(modifier);
  }
  for (unsigned i = 0; i < instruction.type_count; ++i) {
    name += '_';
    name += ptx::text_of(instruction.types[i]);
  }
  return name;
}

llvm::Value* for_lanes(CodeBuilder& codegen, const std::string& name, llvm::Type* result,
                       const std::vector<llvm::Value*>& arguments, const LaneWork& body) {
  llvm::IRBuilder<>& at_call = codegen.ir();
  std::vector<llvm::Value*> values;
  std::vector<llvm::Type*> types;
  for (llvm::Value* argument : arguments) {
    values.push_back(codegen.splat(argument));
    types.push_back(values.back()->getType());
  }
  values.push_back(codegen.mask_bits());
  types.push_back(at_call.getInt32Ty());
  if (auto found = codegen.helper(name)) {
    return at_call.CreateCall(found, values);
  }
  const bool gives = !result->isVoidTy();
  llvm::Type* results = gives ? codegen.vector_of(result) : result;
  auto* function = codegen.new_helper(name, results, types);
  llvm::IRBuilder<> builder(llvm::BasicBlock::Create(codegen.context(), "start", function));
  std::vector<llvm::AllocaInst*> slots;
  for (size_t i = 0; i < arguments.size(); ++i) {
    slots.push_back(builder.CreateAlloca(types[i]));
    builder.CreateStore(function->getArg(static_cast<unsigned>(i)), slots.back());
  }
  llvm::AllocaInst* out = gives ? builder.CreateAlloca(results) : nullptr;
  if (gives) builder.CreateStore(llvm::Constant::getNullValue(results), out);
  llvm::Value* bits = function->getArg(static_cast<unsigned>(arguments.size()));
  emit_lane_loop(builder, bits, [&](llvm::IRBuilder<>& b, llvm::Value* lane) {
    std::vector<llvm::Value*> own;
    for (size_t i = 0; i < slots.size(); ++i) {
      auto* element = types[i]->getScalarType();
      own.push_back(b.CreateLoad(element, b.CreateGEP(element, slots[i], lane)));
    }
    llvm::Value* content = body(b, own);
    if (gives) b.CreateStore(content, b.CreateGEP(result, out, lane));
  });
  if (gives) {
    builder.CreateRet(builder.CreateLoad(results, out));
  } else {
    builder.CreateRetVoid();
  }
  return at_call.CreateCall(function, values);
}

}  // namespace km::simt
