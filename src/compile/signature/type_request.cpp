#include "compile/signature/type_request.h"

#include <algorithm>
#include <string_view>

#include "base/cuda/parameter_names.h"
#include "base/text.h"
#include "compile/signature/signature.h"

namespace km {
namespace {

constexpr std::string_view kTemplate =
    "\ntemplate <class T> __device__ int km_signature;  // asks for the types of kernels\n";
constexpr std::string_view kVariable = "km_signature";
/// The part before the type in the name of an instance.
constexpr std::string_view kNameStart = "_Z12km_signatureI";

bool is_other_output(const std::string& option) {
  constexpr std::string_view kOptions[] = {
      "-G", "--device-debug", "-dlto", "--dlink-time-opt", "--optix-ir", "-optix-ir"};
  return std::any_of(std::begin(kOptions), std::end(kOptions),
                     [&](std::string_view each) { return option.starts_with(each); });
}

/// Removes the lines that declare the variables.
void remove_variables(std::string* ptx) {
  for (size_t at = ptx->find(kNameStart); at != std::string::npos; at = ptx->find(kNameStart, at)) {
    const size_t before = ptx->rfind('\n', at);
    const size_t begin = before == std::string::npos ? 0 : before + 1;
    const size_t end = std::min(ptx->find('\n', at), ptx->size() - 1);
    ptx->erase(begin, end + 1 - begin);
    at = begin;
  }
}

constexpr std::string_view kEntry = ".entry ";

size_t count_parameters(std::string_view list) {
  size_t count = 0;
  for (size_t at = list.find(".param "); at != std::string_view::npos;
       at = list.find(".param ", at + 1)) {
    ++count;
  }
  return count;
}

/// The parameter names of a kernel; null if there are none or two candidates differ.
const std::vector<std::string>* names_of(const std::string& kernel, size_t count,
                                         const std::vector<KernelParameters>& all) {
  const std::string name = source_name(kernel);
  const std::vector<std::string>* found = nullptr;
  for (const KernelParameters& one : all) {
    if (one.qualified != name.substr(0, name.find('<')) || one.names.size() != count) continue;
    if (found != nullptr && *found != one.names) return nullptr;
    found = &one.names;
  }
  return found == nullptr || found->empty() ? nullptr : found;
}

}  // namespace

std::vector<KernelName> kernels_to_ask_for(const CompileInput& input,
                                           const std::vector<std::string>& options) {
  if (std::any_of(options.begin(), options.end(), is_other_output)) return {};
  std::vector<KernelName> kernels = find_c_kernels(input.source);
  for (const CompileHeader& header : input.headers) {
    for (KernelName& kernel : find_c_kernels(header.source)) {
      if (std::find(kernels.begin(), kernels.end(), kernel) == kernels.end()) {
        kernels.push_back(std::move(kernel));
      }
    }
  }
  return kernels;
}

CompileInput with_type_requests(const CompileInput& input, const std::vector<KernelName>& kernels) {
  CompileInput asking = input;
  asking.source += kTemplate;
  for (const KernelName& kernel : kernels) {
    asking.name_expressions.push_back("&" + std::string(kVariable) + "<decltype(" +
                                      kernel.qualified + ")>");
  }
  return asking;
}

bool mentions_type_requests(const std::string& log) {
  // The file name that NVRTC gives to name expressions.
  constexpr std::string_view kNames = "__nv_name_map";
  return log.find(kVariable) != std::string::npos || log.find(kNames) != std::string::npos;
}

void take_type_answers(const std::vector<KernelName>& kernels, CompileOutput* output) {
  std::vector<std::pair<std::string, std::string>>& names = output->lowered_names;
  const size_t first = names.size() - kernels.size();
  SignatureLines lines;
  for (size_t i = 0; i < kernels.size(); ++i) {
    lines.emplace(kernels[i].plain, names[first + i].second);
  }
  names.resize(first);
  remove_variables(&output->ptx);
  output->ptx += write_signature_lines(lines);
}

void add_parameter_names(const CompileInput& input, CompileOutput* output) {
  std::vector<KernelParameters> kernels = find_kernel_parameters(input.source);
  for (const CompileHeader& header : input.headers) {
    for (KernelParameters& one : find_kernel_parameters(header.source)) {
      kernels.push_back(std::move(one));
    }
  }
  if (kernels.empty()) return;
  ParameterNames names;
  const std::string_view ptx = output->ptx;
  for (size_t at = ptx.find(kEntry); at != std::string_view::npos; at = ptx.find(kEntry, at)) {
    at += kEntry.size();
    const size_t open = ptx.find('(', at), close = ptx.find(')', at);
    if (open == std::string_view::npos || close < open) break;
    const std::string kernel(ptx.substr(at, open - at));
    const std::vector<std::string>* const found =
        names_of(kernel, count_parameters(ptx.substr(open, close - open)), kernels);
    if (found != nullptr) names.emplace(kernel, *found);
  }
  output->ptx += write_parameter_names(names);
}

std::vector<KernelName> confirmed_kernels(const std::vector<KernelName>& kernels,
                                          const std::string& ptx) {
  std::vector<KernelName> found;
  for (const KernelName& kernel : kernels) {
    if (ptx.find(".entry " + kernel.plain + "(") != std::string::npos) found.push_back(kernel);
  }
  return found;
}

}  // namespace km
