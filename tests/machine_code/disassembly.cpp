#include "disassembly.h"

#include <llvm-c/Disassembler.h>
#include <llvm/ADT/StringRef.h>
#include <llvm/Object/ELFObjectFile.h>
#include <llvm/Support/MemoryBufferRef.h>

#include <algorithm>
#include <array>
#include <memory>

#include "simt/machine/llvm_target.h"

// These functions are declared here, because llvm-c/Target.h refers to every target that LLVM was
// built with.
extern "C" {
void LLVMInitializeAArch64Disassembler();
void LLVMInitializeX86Disassembler();
}

namespace km::machine_code {
namespace {

using Context = std::unique_ptr<void, void (*)(LLVMDisasmContextRef)>;

Context make_context(const simt::Machine& machine) {
  static const bool initialised = [] {
    simt::initialise_llvm_targets();
    LLVMInitializeAArch64Disassembler();
    LLVMInitializeX86Disassembler();
    return true;
  }();
  (void)initialised;
  const std::string processor(machine.llvm_processor()), features(machine.llvm_features());
  return {LLVMCreateDisasmCPUFeatures(machine.architecture().llvm_triple, processor.c_str(),
                                      features.c_str(), nullptr, 0, nullptr, nullptr),
          LLVMDisasmDispose};
}

/// The text of an instruction is "\tldar\tw8, [x9]", or "\tlock\t\tcmpxchgw\t%cx, (%rax)".
Instruction parse(llvm::StringRef text) {
  auto [name, operands] = text.trim().split('\t');
  operands = operands.trim();
  if (!operands.contains('\t')) return {name.str(), operands.str()};
  const auto [own_name, own_operands] = operands.split('\t');
  return {(name + " " + own_name).str(), own_operands.trim().str()};
}

/// Alignment of loops is no work: the processor passes by most of it.
bool pads(const Instruction& instruction) {
  return llvm::StringRef(instruction.name).starts_with("nop") ||
         (instruction.name == "xchgw" && instruction.operands == "%ax, %ax");
}

/// LLVM's disassembler gives some prefixes of x86-64 as instructions of their own.
bool is_prefix(const Instruction& instruction) {
  return instruction.name == "lock" && instruction.operands.empty();
}

Status add_section(llvm::StringRef bytes, LLVMDisasmContextRef context,
                   std::vector<Instruction>* out) {
  std::array<char, 256> text;
  auto* const code = reinterpret_cast<uint8_t*>(const_cast<char*>(bytes.data()));
  for (uint64_t at = 0; at < bytes.size();) {
    const size_t size =
        LLVMDisasmInstruction(context, code + at, bytes.size() - at, at, text.data(), text.size());
    if (size == 0) {
      return make_error(KM_ERROR_INTERNAL, "no instruction at byte %llu of %zu",
                        static_cast<unsigned long long>(at), bytes.size());
    }
    at += size;
    Instruction instruction = parse(text.data());
    if (pads(instruction)) continue;
    if (!out->empty() && is_prefix(out->back())) {
      instruction.name = out->back().name + " " + instruction.name;
      out->pop_back();
    }
    out->push_back(std::move(instruction));
  }
  return {};
}

}  // namespace

Result<std::vector<Instruction>> disassemble(const simt::Object& object,
                                             const simt::Machine& machine) {
  const Context context = make_context(machine);
  if (!context) return make_error(KM_ERROR_INTERNAL, "LLVM has no disassembler");
  const llvm::StringRef bytes(reinterpret_cast<const char*>(object.data()), object.size());
  auto file = llvm::object::ObjectFile::createELFObjectFile(llvm::MemoryBufferRef(bytes, ""));
  if (!file) {
    return make_error(KM_ERROR_INTERNAL, "%s", llvm::toString(file.takeError()).c_str());
  }
  std::vector<Instruction> instructions;
  for (const llvm::object::SectionRef& section : (*file)->sections()) {
    if (!section.isText()) continue;
    auto contents = section.getContents();
    if (!contents) {
      return make_error(KM_ERROR_INTERNAL, "%s", llvm::toString(contents.takeError()).c_str());
    }
    KM_TRY(add_section(*contents, context.get(), &instructions));
  }
  return instructions;
}

}  // namespace km::machine_code
