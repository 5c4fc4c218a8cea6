// Functions of the generator, and the record of the first fault.
#include <cstddef>
#include <utility>

#include "spirv/kernel/shader.h"

namespace km::spirv {

using spv::Op;

V Shader::call(const std::string& name, llvm::Type* result, const std::vector<V>& arguments,
               const FunctionBody& body) {
  llvm::Module& module = *b.GetInsertBlock()->getModule();
  llvm::Function* function = module.getFunction(name);
  if (function == nullptr) {
    std::vector<llvm::Type*> types;
    for (V argument : arguments) types.push_back(argument->type);
    function = llvm::Function::Create(llvm::FunctionType::get(result, types, false),
                                      llvm::GlobalValue::InternalLinkage, name, module);
    FunctionCode& before = b.continue_in(function->code());
    const uint32_t deepest = std::exchange(deepest_, 0), nesting = std::exchange(nesting_, 0);
    b.CreateRet(body(function->arguments()));
    nesting_of_functions_[name] = std::exchange(deepest_, deepest);
    nesting_ = nesting;
    b.continue_in(before);
  }
  nested(nesting_of_functions_[name], [] {});
  return b.CreateCall(function, arguments);
}

namespace {

constexpr uint32_t kDeviceScope = static_cast<uint32_t>(spv::Scope::Device);

}  // namespace

void Shader::keep_fault(V kind, const ptx::Instruction& at, V address, uint32_t size_bytes) {
  V line = u32(at.location.line), size = u32(size_bytes);
  if (!in_block_faults_) return keep_to_end(kind, line, address, size);
  has_block_fault_ = true;
  V is_first = b.CreateICmpEQ(load(block_fault_.kind), u32(0));
  const auto keep = [&](const Variable& variable, V content) {
    store(variable, b.CreateSelect(is_first, content, load(variable)));
  };
  keep(block_fault_.line, line);
  keep(block_fault_.address, address);
  keep(block_fault_.size, size);
  keep(block_fault_.kind, kind);
}

void Shader::keep_to_end(V kind, V line, V address, V size_bytes) {
  if_then(b.CreateICmpEQ(load(fault_.kind), u32(0)), [&] {
    store(fault_.kind, kind);
    store(fault_.line, line);
    store(fault_.address, address);
    store(fault_.size, size_bytes);
  });
}

void Shader::begin_block_faults() {
  in_block_faults_ = tests_accesses();
  has_block_fault_ = false;
  if (!in_block_faults_) return;
  store(block_fault_.kind, u32(0));
  store(block_fault_.line, u32(0));
  store(block_fault_.address, u64(0));
  store(block_fault_.size, u32(0));
}

void Shader::end_block_faults() {
  in_block_faults_ = false;
  if (!std::exchange(has_block_fault_, false)) return;
  V kind = load(block_fault_.kind);
  if_then(b.CreateICmpNE(kind, u32(0)), [&] {
    keep_to_end(kind, load(block_fault_.line), load(block_fault_.address), load(block_fault_.size));
  });
}

void Shader::keep_ended_loop() {
  keep_fault(u32(word(FaultKind::ended_loop)), kernel.function->code[0], u64(0), 0);
}

void Shader::begin_faults() {
  auto *word_type = b.getInt32Ty(), *address_type = b.getInt64Ty();
  fault_ = {new_variable(word_type), new_variable(word_type), new_variable(address_type),
            new_variable(word_type)};
  block_fault_ = {new_short_variable(word_type), new_short_variable(word_type),
                  new_short_variable(address_type), new_short_variable(word_type)};
  store(fault_.kind, u32(0));
}

void Shader::end_faults() {
  V kind = load(fault_.kind);
  if_then(b.CreateICmpNE(kind, u32(0)), [&] {
    note_fault(kind, load(fault_.line), load(fault_.address), load(fault_.size), {});
  });
}

void Shader::note_fault(FaultKind kind, const ptx::Instruction& at, V address, V size_bytes,
                        const std::vector<V>& words) {
  note_fault(u32(word(kind)), u32(at.location.line), address, size_bytes, words);
}

/// The thread that changes the record's kind from none writes the rest.
void Shader::note_fault(V kind, V line, V address, V size_bytes, const std::vector<V>& words) {
  std::vector<V> arguments{record_u64(offsetof(LaunchRecord, fault)), kind, line, address,
                           size_bytes};
  for (unsigned axis = 0; axis < 3; ++axis) arguments.push_back(block_index(axis));
  for (unsigned axis = 0; axis < 3; ++axis) arguments.push_back(thread_index(axis));
  for (size_t i = 0; i < 4; ++i) arguments.push_back(i < words.size() ? words[i] : u64(0));
  call("km_note_fault", b.getInt32Ty(), arguments, [&](const std::vector<V>& given) {
    V record = given[0];
    const auto place = [&](uint32_t offset) { return b.CreateAdd(record, u64(offset)); };
    const Id scope = context.writer.u32(kDeviceScope), relaxed = context.writer.u32(0);
    V before = b.make(Op::OpAtomicCompareExchange, b.getInt32Ty(),
                      {atomic_pointer(place(offsetof(FaultRecord, kind)), b.getInt32Ty()), scope,
                       relaxed, relaxed, given[1]->id, u32(0)->id});
    if_then(b.CreateICmpEQ(before, u32(0)), [&] {
      store_global(place(offsetof(FaultRecord, line)), given[2], sizeof(uint32_t));
      store_global(place(offsetof(FaultRecord, address)), given[3], sizeof(uint64_t));
      store_global(place(offsetof(FaultRecord, size_bytes)), given[4], sizeof(uint32_t));
      for (uint32_t axis = 0; axis < 3; ++axis) {
        const uint32_t block = offsetof(FaultRecord, block), thread = offsetof(FaultRecord, thread);
        store_global(place(block + 4 * axis), given[5 + axis], sizeof(uint32_t));
        store_global(place(thread + 4 * axis), given[8 + axis], sizeof(uint32_t));
      }
      for (uint32_t i = 0; i < 4; ++i) {
        store_global(place(offsetof(FaultRecord, assertion) + 8 * i), given[11 + i],
                     sizeof(uint64_t));
      }
    });
    return before;
  });
}

}  // namespace km::spirv
