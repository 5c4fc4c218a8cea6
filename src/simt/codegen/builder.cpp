#include "simt/codegen/builder.h"

#include <llvm/BinaryFormat/Dwarf.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/MDBuilder.h>

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "simt/object/target.h"

namespace km::simt {

CodeBuilder::CodeBuilder(const Plan& plan, llvm::TargetMachine& machine)
    : plan_(plan),
      kernel_(*plan.kernel),
      lanes_(plan.lanes),
      module_(kernel_.function->name, context_),
      b_(context_),
      arithmetic_(b_, plan.machine()),
      values_(kernel_.values.size()),
      vectors_(kernel_.values.size()) {
  prepare_module(module_, machine);
  mask_storage_ =
      plan.machine().has_mask_registers() ? vector_of(b_.getInt1Ty()) : vector_of(b_.getInt32Ty());
}

void CodeBuilder::create_entry() {
  KM_ASSERT(entry_ == nullptr, "the entry function is created only once");
  create_debug_info();
  bool whole = plan_.mode == Mode::run_to_completion;
  auto* pointer = b_.getPtrTy();
  std::vector<llvm::Type*> types{pointer, pointer};
  if (whole) {
    types.insert(types.end(), {b_.getInt64Ty(), b_.getInt64Ty()});
  } else {
    types.push_back(b_.getInt32Ty());
  }
  auto* result = plan_.has_independent_threads() ? b_.getInt32Ty() : b_.getVoidTy();
  auto* type = llvm::FunctionType::get(result, types, false);
  entry_ = llvm::Function::Create(type, llvm::GlobalValue::ExternalLinkage, kEntrySymbol, module_);
  entry_->setDoesNotThrow();
  entry_->setSubprogram(subprogram_);
  auto* allocas = new_block("allocas");
  auto* start = new_block("start");
  b_.SetInsertPoint(allocas);
  set_location(nullptr);
  alloca_point_ = b_.CreateBr(start);
  b_.SetInsertPoint(start);
}

/// Creates debug information whose source file is the PTX text, so that faults can be attributed to
/// PTX lines.
void CodeBuilder::create_debug_info() {
  debug_ = std::make_unique<llvm::DIBuilder>(module_);
  auto* file = debug_->createFile(kernel_.module->name.empty() ? "ptx" : kernel_.module->name, ".");
  debug_->createCompileUnit(llvm::dwarf::DW_LANG_C, file, "kernelmill", true, "", 0, "",
                            llvm::DICompileUnit::LineTablesOnly);
  module_.addModuleFlag(llvm::Module::Warning, "Debug Info Version", llvm::DEBUG_METADATA_VERSION);
  module_.addModuleFlag(llvm::Module::Warning, "Dwarf Version", 4);
  auto* type = debug_->createSubroutineType(debug_->getOrCreateTypeArray({}));
  const unsigned line = std::max(1u, kernel_.function->location.line);
  subprogram_ =
      debug_->createFunction(file, kernel_.function->name, "", file, line, type, line,
                             llvm::DINode::FlagZero, llvm::DISubprogram::SPFlagDefinition);
}

void CodeBuilder::set_location(const ptx::Instruction* instruction) {
  unsigned line = 0, column = 0;
  if (instruction != nullptr) {
    line = instruction->location.line;
    column = std::min(instruction->location.column, 65535u);
  }
  b_.SetCurrentDebugLocation(llvm::DILocation::get(context_, line, column, subprogram_));
}

uint32_t CodeBuilder::current_line() const {
  const llvm::DebugLoc location = b_.getCurrentDebugLocation();
  return location ? location.getLine() : 0;
}

llvm::Function* CodeBuilder::helper(const std::string& name) const {
  const auto found = helpers_.find(name);
  return found == helpers_.end() ? nullptr : found->second;
}

llvm::BasicBlock* CodeBuilder::new_block(const char* name) {
  return llvm::BasicBlock::Create(context_, name, entry_);
}

llvm::AllocaInst* CodeBuilder::variable(llvm::Type* type, const char* name) {
  KM_ASSERT(alloca_point_ != nullptr, "variables are created after the entry function");
  llvm::IRBuilder<> builder(alloca_point_);
  auto* result = builder.CreateAlloca(type, nullptr, name);
  builder.CreateStore(llvm::Constant::getNullValue(type), result);
  return result;
}

llvm::AllocaInst* CodeBuilder::bytes(uint64_t size_bytes, const char* name) {
  llvm::IRBuilder<> builder(alloca_point_);
  auto* type = llvm::ArrayType::get(builder.getInt8Ty(), size_bytes);
  auto* result = builder.CreateAlloca(type, nullptr, name);
  result->setAlignment(llvm::Align(64));
  return result;
}

llvm::GlobalVariable* CodeBuilder::private_constant(llvm::Constant* content, const char* name) {
  llvm::GlobalVariable*& constant = private_constants_[content];
  if (constant != nullptr) return constant;
  const std::string own_name = name + std::string("_") + std::to_string(private_constants_.size());
  constant =
      llvm::cast<llvm::GlobalVariable>(module_.getOrInsertGlobal(own_name, content->getType()));
  constant->setInitializer(content);
  constant->setConstant(true);
  constant->setLinkage(llvm::GlobalValue::PrivateLinkage);
  return constant;
}

llvm::Value* CodeBuilder::load_field(Value* pointer, uint64_t offset, llvm::Type* type,
                                     bool invariant) {
  Value* address = b_.CreateConstGEP1_64(b_.getInt8Ty(), pointer, offset);
  auto* load = b_.CreateLoad(type, address);
  if (invariant) {
    load->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(context_, {}));
  }
  return load;
}

llvm::Function* CodeBuilder::new_helper(const std::string& name, llvm::Type* result,
                                        const std::vector<llvm::Type*>& parameters) {
  KM_ASSERT(helper(name) == nullptr, "a helper with this name does not exist yet");
  auto* type = llvm::FunctionType::get(result, parameters, false);
  auto* function =
      llvm::Function::Create(type, llvm::GlobalValue::InternalLinkage, "km_" + name, module_);
  function->setDoesNotThrow();
  function->addFnAttr(llvm::Attribute::NoInline);
  // The C calling convention passes vectors wider than a register in memory, so any vector type is
  // valid. Only code of this module calls helpers.
  function->setCallingConv(llvm::CallingConv::C);
  helpers_[name] = function;
  return function;
}

/// The alias scope of the engine's own memory; see in_context().
llvm::MDNode* CodeBuilder::context_scope() {
  if (context_scope_ == nullptr) {
    llvm::MDBuilder builder(context_);
    auto* domain = builder.createAnonymousAliasScopeDomain("memory");
    auto* scope = builder.createAnonymousAliasScope(domain, "context");
    context_scope_ = llvm::MDNode::get(context_, {scope});
  }
  return context_scope_;
}

llvm::Instruction* CodeBuilder::in_context(llvm::Instruction* access) {
  KM_ASSERT(access->getMetadata(llvm::LLVMContext::MD_noalias) == nullptr,
            "an access is to either the engine's memory or the kernel's");
  access->setMetadata(llvm::LLVMContext::MD_alias_scope, context_scope());
  return access;
}

llvm::Instruction* CodeBuilder::beside_context(llvm::Instruction* access) {
  access->setMetadata(llvm::LLVMContext::MD_noalias, context_scope());
  return access;
}

void CodeBuilder::forget_values() {
  values_.clear();
  vectors_.clear();
}

}  // namespace km::simt
