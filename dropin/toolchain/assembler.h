// Does with PTX what NVIDIA's assembler does, up to the machine code: it verifies the text and
// gives a container of it, or messages in the assembler's words.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "dropin/toolchain/options.h"
#include "dropin/toolchain/release.h"
#include "ptx/ir.h"

namespace km::toolchain {

/// The options of ptxas that have a meaning here. All others of its options are accepted, too: they
/// steer machine code.
struct AssemblerOptions {
  std::string gpu_name = "sm_75";
  Release release = {12, 9};
  bool is_relocatable = false;  // other modules may define what this one declares
  bool is_verbose = false;
  bool warns_of_local_memory = false;
  bool has_warnings = true, warnings_are_errors = false;
  unsigned max_registers = 0;        // 0: no limit
  std::vector<std::string> entries;  // kernels that must be there

  /// KM_ERROR_INVALID_ARGUMENT with ptxas's message for a value that is none.
  static Result<AssemblerOptions> from(const CommandLine& line);
};

/// The table of ptxas's options.
std::span<const Option> assembler_options();

enum class AssemblyStatus : uint8_t { kDone, kParsedOnly, kFailed, kUnsupportedVersion };

struct Assembly {
  AssemblyStatus status = AssemblyStatus::kFailed;
  std::string image;                          // the container
  std::shared_ptr<const ptx::Module> module;  // null unless code was made
  std::string info, errors;
};

/// Assembles one text. `name` is that of the file, for messages.
Assembly assemble(std::string_view text, const std::string& name, const AssemblerOptions& options);

/// The name that NVIDIA's libraries give to a text that comes from memory.
inline constexpr const char* kApplicationInput = "application ptx input";

/// True if bytes are code for link-time optimisation, which only NVIDIA's libraries compile.
bool is_link_time_code(std::string_view bytes);

}  // namespace km::toolchain
