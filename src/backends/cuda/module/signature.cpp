// Reads kernels' signatures from PTX, because the driver reports neither order, alignments nor
// types.
#include <algorithm>

#include "backends/cuda/module/module.h"
#include "base/integers.h"
#include "ptx/ptx.h"

namespace km::cuda {
namespace {

km_param_kind kind_of(const ptx::Symbol& symbol) {
  if (symbol.is_param_pointer) return KM_PARAM_KIND_POINTER;
  const bool may_be_address = symbol.size_bytes == sizeof(uint64_t) && !symbol.is_array &&
                              symbol.vector_count == 1 && ptx::is_integer(symbol.type);
  return may_be_address ? KM_PARAM_KIND_UNKNOWN : KM_PARAM_KIND_VALUE;
}

Signature signature_of(const ptx::Function& function) {
  Signature signature;
  signature.name = function.name;
  for (const ptx::SymbolId id : function.params) {
    const ptx::Symbol& symbol = function.symbols[id];
    const uint64_t align = std::max<uint64_t>(symbol.align_bytes, 1);
    const uint64_t offset = round_up(signature.param_bytes, align);
    signature.params.push_back({kind_of(symbol), static_cast<uint32_t>(align), symbol.size_bytes,
                                offset, ptx::param_type(symbol), 0});
    signature.param_bytes = offset + symbol.size_bytes;
  }
  return signature;
}

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

}  // namespace

Result<std::vector<Signature>> signatures_in(std::string_view ptx, std::string_view name) {
  KM_ASSIGN(const std::shared_ptr<const ptx::Module> module, ptx::parse(ptx, name));
  std::vector<Signature> found;
  for (const ptx::Function& function : module->functions) {
    if (function.is_entry && !function.is_declaration) found.push_back(signature_of(function));
  }
  return found;
}

VariableForm variable_in(std::string_view text, std::string_view name) {
  VariableForm form;
  const Result<std::shared_ptr<const ptx::Module>> module = ptx::parse(text, "");
  const ptx::Symbol* symbol = module ? (*module)->find_symbol(name) : nullptr;
  if (symbol == nullptr || symbol->is_function) return form;
  form.element_size_bytes = std::max(ptx::size_bytes(symbol->type), 1u) * symbol->vector_count;
  form.is_constant = symbol->space == ptx::Space::constant;
  return form;
}

std::string version_in(std::string_view ptx) {
  constexpr std::string_view kDirective = ".version";
  size_t at = ptx.find(kDirective);
  if (at == std::string_view::npos) return {};
  at += kDirective.size();
  while (at < ptx.size() && is_blank(ptx[at])) ++at;
  size_t end = at;
  while (end < ptx.size() && (ptx[end] == '.' || (ptx[end] >= '0' && ptx[end] <= '9'))) ++end;
  return std::string(ptx.substr(at, end - at));
}

std::string newest_ptx(int cuda_version) {
  const int major = cuda_version / 1000, minor = cuda_version % 1000 / 10;
  // According to the release notes, PTX and CUDA versions rise together except from 12.6 to 12.9.
  const bool is_late_12 = major == 12 && minor >= 6;
  return std::to_string(major - 4) + "." + std::to_string(is_late_12 ? minor - 1 : minor);
}

}  // namespace km::cuda
