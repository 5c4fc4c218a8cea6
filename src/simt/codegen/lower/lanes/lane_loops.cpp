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

llvm::Value* LaneLoops::for_lanes(const std::string& name, llvm::Type* result,
                                  const std::vector<Value*>& arguments, const LaneWork& body) {
  std::vector<Value*> values;
  std::vector<llvm::Type*> types;
  for (Value* argument : arguments) {
    values.push_back(splat(argument));
    types.push_back(values.back()->getType());
  }
  values.push_back(mask_bits());
  types.push_back(b_.getInt32Ty());
  if (auto found = builder_.helper(name)) {
    return b_.CreateCall(found, values);
  }
  const bool gives = !result->isVoidTy();
  llvm::Type* results = gives ? vector_of(result) : result;
  auto* function = builder_.new_helper(name, results, types);
  llvm::IRBuilder<> builder(llvm::BasicBlock::Create(context_, "start", function));
  std::vector<llvm::AllocaInst*> slots;
  for (size_t i = 0; i < arguments.size(); ++i) {
    slots.push_back(builder.CreateAlloca(types[i]));
    builder.CreateStore(function->getArg(static_cast<unsigned>(i)), slots.back());
  }
  llvm::AllocaInst* out = gives ? builder.CreateAlloca(results) : nullptr;
  if (gives) builder.CreateStore(llvm::Constant::getNullValue(results), out);
  Value* bits = function->getArg(static_cast<unsigned>(arguments.size()));
  emit_lane_loop(builder, bits, [&](llvm::IRBuilder<>& b, Value* lane) {
    std::vector<Value*> own;
    for (size_t i = 0; i < slots.size(); ++i) {
      auto* element = types[i]->getScalarType();
      own.push_back(b.CreateLoad(element, b.CreateGEP(element, slots[i], lane)));
    }
    Value* content = body(b, own);
    if (gives) b.CreateStore(content, b.CreateGEP(result, out, lane));
  });
  if (gives) {
    builder.CreateRet(builder.CreateLoad(results, out));
  } else {
    builder.CreateRetVoid();
  }
  return b_.CreateCall(function, values);
}

}  // namespace km::simt
