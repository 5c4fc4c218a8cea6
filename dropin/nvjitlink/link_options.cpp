#include "dropin/nvjitlink/link_options.h"

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "ptx/target.h"

namespace km::nvjitlink {
namespace {

constexpr std::string_view kFlags[] = {"-time",
                                       "-verbose",
                                       "-lto",
                                       "-dlto",
                                       "-ptx",
                                       "-g",
                                       "-lineinfo",
                                       "-no-cache",
                                       "-r",
                                       "-nvvm-latest",
                                       "-optimize-unused-variables",
                                       "-device-stack-protector"};
constexpr std::string_view kWithValue[] = {"-arch",
                                           "-maxrregcount",
                                           "-Ofc",
                                           "-ftz",
                                           "-prec-div",
                                           "-prec-sqrt",
                                           "-fma",
                                           "-kernels-used",
                                           "-Xptxas",
                                           "-Xnvvm",
                                           "-split-compile",
                                           "-variables-used",
                                           "-split-compile-extended",
                                           "-jump-table-density"};

/// One option, taken apart at its equals sign.
struct Given {
  std::string_view name, value;
  bool has_value = false;
};

Given take_apart(std::string_view word) {
  const size_t equals = word.find('=');
  if (equals == word.npos) return {word, {}, false};
  return {word.substr(0, equals), word.substr(equals + 1), true};
}

template <size_t kCount>
bool contains(const std::string_view (&names)[kCount], std::string_view name) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

nvJitLinkResult read_arch(const std::string& arch, std::string* errors) {
  const std::string_view kReal = "sm_", kVirtual = "compute_";
  if (!arch.starts_with(kReal) && !arch.starts_with(kVirtual)) {
    *errors +=
        "ERROR NVJITLINK_ERROR_UNRECOGNIZED_OPTION: missing option value (-arch=" + arch + ")\n";
    return NVJITLINK_ERROR_UNRECOGNIZED_OPTION;
  }
  if (ptx::find_target(arch)) return NVJITLINK_SUCCESS;
  *errors += "ERROR NVJITLINK_ERROR_UNRECOGNIZED_ARCH: unrecognized architecture (compute_" +
             arch.substr(arch.find('_') + 1) + ")\n";
  return NVJITLINK_ERROR_UNRECOGNIZED_ARCH;
}

/// Reads one word. False: there is no such option.
bool read_word(const std::string& word, LinkOptions* options,
               std::vector<std::string>* for_assembler) {
  const Given given = take_apart(word);
  const bool is_known =
      given.has_value ? contains(kWithValue, given.name) : contains(kFlags, given.name);
  if (!is_known) return false;
  if (given.name == "-arch") options->arch = given.value;
  if (given.name == "-lto" || given.name == "-dlto") options->is_lto = true;
  if (given.name == "-ptx") options->gives_ptx = true;
  if (given.name == "-r") for_assembler->push_back("-c");
  if (given.name == "-verbose") for_assembler->push_back("-v");
  if (given.name == "-maxrregcount") for_assembler->push_back(word);
  if (given.name == "-Xptxas") for_assembler->emplace_back(given.value);
  return true;
}

}  // namespace

nvJitLinkResult read_options(const std::vector<std::string>& words, LinkOptions* options,
                             std::string* errors) {
  std::vector<std::string> for_assembler;
  options->given = words;
  for (const std::string& word : words) {
    if (word.starts_with("-O") && !word.starts_with("-Ofc")) {
      if (word == "-O0" || word == "-O3") continue;
      *errors += "unsupported value of -O: " + word.substr(2) + ". Only 0 and 3 are supported.\n";
      return NVJITLINK_ERROR_UNRECOGNIZED_OPTION;
    }
    if (read_word(word, options, &for_assembler)) continue;
    *errors += "unrecognized option: " + word + "\n";
    return NVJITLINK_ERROR_UNRECOGNIZED_OPTION;
  }
  if (options->arch.empty()) return NVJITLINK_ERROR_MISSING_ARCH;
  LIB_TRY(read_arch(options->arch, errors));
  if (options->gives_ptx && !options->is_lto) {
    *errors += "ERROR: -ptx requires -lto\n";
    return NVJITLINK_ERROR_INCOMPATIBLE_OPTIONS;
  }
  if (options->arch.starts_with("compute_") && !options->gives_ptx) {
    *errors += "ERROR: virtual arch requires -ptx\n";
    return NVJITLINK_ERROR_INCOMPATIBLE_OPTIONS;
  }
  for_assembler.push_back("-arch=sm_" + options->arch.substr(options->arch.find('_') + 1));
  const auto line = toolchain::CommandLine::parse(toolchain::assembler_options(), for_assembler);
  auto assembler = line ? toolchain::AssemblerOptions::from(*line)
                        : Result<toolchain::AssemblerOptions>(line.error());
  if (!assembler) {
    *errors += "ptxas fatal   : " + assembler.error().message + "\n";
    return NVJITLINK_ERROR_UNRECOGNIZED_OPTION;
  }
  options->assembler = std::move(*assembler);
  return NVJITLINK_SUCCESS;
}

}  // namespace km::nvjitlink
