#include "simt/object/target.h"

#include <algorithm>

#include <llvm/ADT/SmallVector.h>
#include <llvm/Analysis/TargetLibraryInfo.h>
#include <llvm/CodeGen/MachineModuleInfo.h>
#include <llvm/CodeGen/Passes.h>
#include <llvm/CodeGen/TargetPassConfig.h>
#include <llvm/IR/DiagnosticHandler.h>
#include <llvm/IR/DiagnosticInfo.h>
#include <llvm/IR/DiagnosticPrinter.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Verifier.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Object/ELFObjectFile.h>
#include <llvm/Support/CommandLine.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Transforms/Utils/Cloning.h>

#include "simt/machine/llvm_target.h"
#include "simt/passes/codegen_passes.h"
#include "simt/passes/cut/cut_function.h"
#include "simt/passes/pipeline.h"
#include "simt/stage_dump.h"

namespace km::simt {
namespace {

/// The scheduler compares the memory accesses of a block with each other, which takes the third
/// power of their number: beyond so many, the older half is done before the younger one.
constexpr const char* kAccessesOption = "dag-maps-huge-region";
constexpr unsigned kAccessesCompared = 100;

bool limit_scheduler() {
  auto& options = llvm::cl::getRegisteredOptions();
  const auto found = options.find(kAccessesOption);
  if (found == options.end()) return false;
  static_cast<llvm::cl::opt<unsigned>*>(found->second)->setValue(kAccessesCompared);
  return true;
}

Status initialise_llvm() {
  static const bool done = [] {
    initialise_llvm_targets();
    return limit_scheduler();
  }();
  if (!done) return make_error(KM_ERROR_COMPILER, "LLVM has no option '%s'", kAccessesOption);
  return {};
}

/// Collects what LLVM complains of; the default handler prints and ends the process.
class Complaints : public llvm::DiagnosticHandler {
 public:
  explicit Complaints(std::string* text) : text_(text) {}

  bool handleDiagnostics(const llvm::DiagnosticInfo& info) override {
    if (info.getSeverity() != llvm::DS_Error) return true;
    llvm::raw_string_ostream out(*text_);
    if (!text_->empty()) out << "; ";
    llvm::DiagnosticPrinterRawOStream printer(out);
    info.print(printer);
    return true;
  }

 private:
  std::string* text_;
};

/// Installs Complaints in a context for its lifetime.
class ComplaintScope {
 public:
  explicit ComplaintScope(llvm::LLVMContext& context)
      : context_(context), old_(context.getDiagnosticHandler()) {
    context.setDiagnosticHandler(std::make_unique<Complaints>(&text_));
  }
  ~ComplaintScope() { context_.setDiagnosticHandler(std::move(old_)); }
  ComplaintScope(const ComplaintScope&) = delete;
  ComplaintScope& operator=(const ComplaintScope&) = delete;

  const std::string& text() const { return text_; }

 private:
  llvm::LLVMContext& context_;
  std::unique_ptr<llvm::DiagnosticHandler> old_;
  std::string text_;
};

void set_attributes(llvm::Function& function, const Machine& machine) {
  // Nothing unwinds through generated code, and without tables it is smaller.
  function.addFnAttr(llvm::Attribute::NoUnwind);
  // Large frames are probed page by page, so that an overflow hits the guard page.
  function.addFnAttr("probe-stack", "inline-asm");
  function.addFnAttr("frame-pointer", "none");
  add_machine_attributes(function, machine);
}

/// Everything is defined here and reached relative to the program counter: no GOT, no PLT.
Status make_closed(llvm::Module& module, const llvm::TargetMachine& target) {
  const Machine machine = machine_of(target);
  for (llvm::Function& function : module) {
    if (function.isIntrinsic()) continue;
    if (function.isDeclaration()) {
      if (function.use_empty()) continue;
      return make_error(KM_ERROR_COMPILER, "generated code calls '%s', which nothing defines",
                        function.getName().str().c_str());
    }
    function.setDSOLocal(true);
    set_attributes(function, machine);
  }
  for (llvm::GlobalVariable& variable : module.globals()) variable.setDSOLocal(true);
  return {};
}

Status check_module(const llvm::Module& module) {
  std::string text;
  llvm::raw_string_ostream out(text);
  if (!llvm::verifyModule(module, &out)) return {};
  return make_error(KM_ERROR_COMPILER, "invalid LLVM module for %s: %s",
                    module.getName().str().c_str(), out.str().c_str());
}

/// Removes LLVM passes that cost more time than they gain. Reassociation for instruction-level
/// parallelism finds nothing in code that computes four registers per value, and nobody debugs
/// variables.
void drop_passes(llvm::TargetPassConfig& config) {
  config.disablePass(&llvm::MachineCombinerID);
  config.disablePass(&llvm::LiveDebugValuesID);
}

/// LLVM's register allocator considers the whole function for every value, which takes a
/// millisecond per instruction if thousands of values are live. Above this number of instructions,
/// registers are allocated per block, and values that live longer are in memory.
constexpr unsigned kAllocatedTogether = 16'000;
/// Above this number of instructions, instruction combining is disabled too.
constexpr unsigned kCombined = 60'000;

/// The size of the largest function. The parts of a function that was split count together if they
/// exceed kCombined, since the compile time is that of their sum.
unsigned largest_function(const llvm::Module& module) {
  unsigned largest = 0, parts = 0;
  for (const llvm::Function& function : module) {
    const unsigned size = function.getInstructionCount();
    if (is_part(function)) parts += size;
    largest = std::max(largest, size);
  }
  return parts > kCombined ? parts : largest;
}

/// Does the work of addPassesToEmitFile(), but can change the passes.
Status run_codegen(llvm::Module& module, llvm::TargetMachine& machine, llvm::CodeGenFileType type,
                   llvm::raw_pwrite_stream& out, const Interruption* interruption) {
  auto& code_generator = static_cast<llvm::LLVMTargetMachine&>(machine);
  llvm::legacy::PassManager passes;
  llvm::TargetLibraryInfoImpl library(llvm::Triple(module.getTargetTriple()));
  library.disableAllFunctions();
  passes.add(new llvm::TargetLibraryInfoWrapperPass(library));
  const llvm::CodeGenOptLevel level = machine.getOptLevel();
  llvm::TargetPassConfig* const config = code_generator.createPassConfig(passes);
  config->setDisableVerify(true);
  drop_passes(*config);
  add_codegen_passes(*config, interruption);
  passes.add(config);
  auto functions = std::make_unique<llvm::MachineModuleInfoWrapperPass>(&code_generator);
  llvm::MCContext& symbols = functions->getMMI().getContext();
  passes.add(functions.release());
  const unsigned size = largest_function(module);
  if (size > kCombined) machine.setOptLevel(llvm::CodeGenOptLevel::None);
  bool failed = config->addISelPasses();
  if (!failed) {
    if (size > kAllocatedTogether) machine.setOptLevel(llvm::CodeGenOptLevel::None);
    config->addMachinePasses();
    config->setInitialized();
    failed = code_generator.addAsmPrinter(passes, out, nullptr, type, symbols);
  }
  machine.setOptLevel(level);
  if (failed) return make_error(KM_ERROR_COMPILER, "LLVM cannot emit objects for this target");
  passes.add(llvm::createFreeMachineFunctionPass());
  passes.run(module);
  return {};
}

std::string print(const llvm::Module& module) {
  std::string text;
  llvm::raw_string_ostream out(text);
  module.print(out, nullptr);
  return out.str();
}

Status dump_assembly(const llvm::Module& module, llvm::TargetMachine& machine,
                     const Interruption* interruption) {
  const std::unique_ptr<llvm::Module> copy = llvm::CloneModule(module);
  llvm::SmallString<0> text;
  llvm::raw_svector_ostream out(text);
  KM_TRY(run_codegen(*copy, machine, llvm::CodeGenFileType::AssemblyFile, out, interruption));
  dump_stage("asm", module.getName(), text.str());
  return {};
}

/// Checks for undefined symbols, because instruction selection may introduce library calls (memcpy,
/// fmaf ...).
Status check_no_undefined(llvm::StringRef bytes) {
  auto object = llvm::object::ObjectFile::createELFObjectFile(llvm::MemoryBufferRef(bytes, ""));
  if (!object) {
    return make_error(KM_ERROR_COMPILER, "unreadable object: %s",
                      llvm::toString(object.takeError()).c_str());
  }
  for (const llvm::object::SymbolRef& symbol : (*object)->symbols()) {
    llvm::Expected<uint32_t> flags = symbol.getFlags();
    llvm::Expected<llvm::StringRef> name = symbol.getName();
    if (!flags || !name) {
      if (!flags) llvm::consumeError(flags.takeError());
      if (!name) llvm::consumeError(name.takeError());
      return make_error(KM_ERROR_COMPILER, "object with an unreadable symbol table");
    }
    if ((*flags & llvm::object::SymbolRef::SF_Undefined) && !name->empty()) {
      return make_error(KM_ERROR_COMPILER, "generated code needs the library function '%s'",
                        name->str().c_str());
    }
  }
  return {};
}

}  // namespace

Result<std::unique_ptr<llvm::TargetMachine>> make_target_machine(const Machine& machine) {
  KM_TRY(initialise_llvm());
  std::string message;
  const char* const triple = machine.architecture().llvm_triple;
  const llvm::Target* target = llvm::TargetRegistry::lookupTarget(triple, message);
  if (!target) return make_error(KM_ERROR_COMPILER, "LLVM lacks %s: %s", triple, message.c_str());
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Strict;
  options.TrapUnreachable = true;
  options.EmitStackSizeSection = true;
  const std::string processor(machine.llvm_processor()), features(machine.llvm_features());
  std::unique_ptr<llvm::TargetMachine> made(
      target->createTargetMachine(triple, processor, features, options, llvm::Reloc::PIC_,
                                  llvm::CodeModel::Small, llvm::CodeGenOptLevel::Default));
  if (made) return made;
  return make_error(KM_ERROR_COMPILER, "LLVM made no target machine for %s", processor.c_str());
}

void prepare_module(llvm::Module& module, llvm::TargetMachine& machine) {
  module.setTargetTriple(machine.getTargetTriple().str());
  module.setDataLayout(machine.createDataLayout());
  module.setPICLevel(llvm::PICLevel::BigPIC);
}

Result<Object> emit_object(llvm::Module& module, llvm::TargetMachine& machine,
                           const Interruption* interruption) {
  ComplaintScope complaints(module.getContext());
  KM_TRY(make_closed(module, machine));
  if (dump_enabled("llvm")) dump_stage("llvm, as built,", module.getName(), print(module));
  KM_TRY(check_module(module));
  run_passes(module, machine, interruption);
  KM_TRY(check(interruption));
  if (dump_enabled("llvm")) dump_stage("llvm", module.getName(), print(module));
  if (dump_enabled("asm")) KM_TRY(dump_assembly(module, machine, interruption));
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream out(bytes);
  KM_TRY(run_codegen(module, machine, llvm::CodeGenFileType::ObjectFile, out, interruption));
  KM_TRY(check(interruption));
  if (!complaints.text().empty()) {
    return make_error(KM_ERROR_COMPILER, "LLVM: %s", complaints.text().c_str());
  }
  KM_TRY(check_no_undefined(out.str()));
  return Object(bytes.begin(), bytes.end());
}

}  // namespace km::simt
