#include "spirv/ir/context.h"

#include "spirv/facade/llvm/IR/IRBuilder.h"

namespace km::spirv {

struct Context::Store {
  std::deque<llvm::Value> values;
  std::deque<llvm::FunctionType> function_types;
  std::deque<std::unique_ptr<llvm::BasicBlock>> blocks;
  std::map<std::string, llvm::Function> functions;
  std::map<std::tuple<uint32_t, uint32_t, uint32_t>, llvm::Type> types;
};

Context::Context(const DeviceFacts& device) : facts(device), store_(std::make_unique<Store>()) {}

Context::~Context() = default;

llvm::Value* Context::new_value() { return &store_->values.emplace_back(); }

llvm::FunctionType* Context::new_function_type() { return &store_->function_types.emplace_back(); }

llvm::BasicBlock* Context::keep(std::unique_ptr<llvm::BasicBlock> block) {
  return store_->blocks.emplace_back(std::move(block)).get();
}

llvm::Function* Context::find(const std::string& name) const {
  const auto found = store_->functions.find(name);
  return found == store_->functions.end() ? nullptr : &found->second;
}

llvm::Function* Context::add(const std::string& name) { return &store_->functions[name]; }

llvm::Type* Context::type(uint32_t kind, uint32_t bits, uint32_t count) {
  const auto place = store_->types.try_emplace(std::tuple(kind, bits, count), *this,
                                               static_cast<llvm::Type::Kind>(kind), bits, count);
  return &place.first->second;
}

}  // namespace km::spirv
