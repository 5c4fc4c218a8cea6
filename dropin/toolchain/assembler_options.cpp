#include <charconv>

#include "dropin/toolchain/assembler.h"

namespace km::toolchain {
namespace {

constexpr OptionKind kFlag = OptionKind::kFlag, kBoolean = OptionKind::kBoolean,
                     kValue = OptionKind::kValue, kList = OptionKind::kList,
                     kGlued = OptionKind::kGlued, kEither = OptionKind::kEither;

constexpr Option kOptions[] = {
    {"Ofast-compile", "Ofc", kValue},
    {"allow-expensive-optimizations", "allow-expensive-optimizations", kBoolean},
    {"apply-controls", "apply-controls", kValue},
    {"compile-as-tools-patch", "astoolspatch", kFlag},
    {"compile-only", "c", kFlag},
    {"compiler-annotations", "annotate", kFlag},
    {"def-load-cache", "dlcm", kValue},
    {"def-store-cache", "dscm", kValue},
    {"device-debug", "g", kFlag},
    {"device-function-maxrregcount", "func-maxrregcount", kValue},
    {"device-stack-protector", "device-stack-protector", kBoolean},
    {"disable-optimizer-constants", "disable-optimizer-consts", kFlag},
    {"disable-warnings", "w", kFlag},
    {"dont-merge-basicblocks", "no-bb-merge", kFlag},
    {"enable-func-clone-sc", "enable-func-clone-sc", kBoolean},
    {"entry", "e", kList},
    {"extensible-whole-program", "ewp", kFlag},
    {"fmad", "fmad", kBoolean},
    {"force-load-cache", "flcm", kValue},
    {"force-store-cache", "fscm", kValue},
    {"g-tensor-memory-access-check", "g-tmem-access-check", kFlag},
    {"generate-line-info", "lineinfo", kFlag},
    {"gno-fabric-access-check", "gno-fabric-access-check", kFlag},
    {"gno-tensor-memory-access-check", "gno-tmem-access-check", kFlag},
    {"gpu-name", "arch", kValue},
    {"help", "h", kFlag},
    {"input-as-string", "ias", kValue},
    {"jobserver", "jobserver", kFlag},
    {"legacy-bar-warp-wide-behavior", "legacy-bar-warp-wide-behavior", kFlag},
    {"list-arch", "arch-ls", kFlag},
    {"list-version", "version-ls", kFlag},
    {"machine", "m", kEither},
    {"make-errors-visible-at-exit", "make-errors-visible-at-exit", kFlag},
    {"maxntid", "maxntid", kList},
    {"maxrregcount", "maxrregcount", kValue},
    {"minnctapersm", "minnctapersm", kValue},
    {"opt-level", "O", kGlued},
    {"optimize-float-atomics", "opt-fp-atomics", kFlag},
    {"options-file", "optf", kValue},
    {"output-file", "o", kValue},
    {"override-directive-values", "override-directive-values", kFlag},
    {"position-independent-code", "pic", kBoolean},
    {"preserve-relocs", "preserve-relocs", kFlag},
    {"register-usage-level", "regUsageLevel", kValue},
    {"return-at-end", "ret-end", kFlag},
    {"sanitize", "sanitize", kValue},
    {"sp-bounds-check", "sp-bounds-check", kFlag},
    {"split-compile", "split-compile", kValue},
    {"suppress-async-bulk-multicast-advisory-warning",
     "suppress-async-bulk-multicast-advisory-warning", kFlag},
    {"suppress-debug-info", "suppress-debug-info", kFlag},
    {"suppress-double-demote-warning", "suppress-double-demote-warning", kFlag},
    {"suppress-position-independent-code-warning", "suppress-position-independent-code-warning",
     kFlag},
    {"suppress-sparse-mma-advisory-info", "suppress-sparse-mma-advisory-info", kFlag},
    {"suppress-stack-size-warning", "suppress-stack-size-warning", kFlag},
    {"verbose", "v", kFlag},
    {"verbose2", "v2", kFlag},
    {"version", "V", kFlag},
    {"warn-on-double-precision-use", "warn-double-usage", kFlag},
    {"warn-on-local-memory-usage", "warn-lmem-usage", kFlag},
    {"warn-on-spills", "warn-spills", kFlag},
    {"warning-as-error", "Werror", kFlag},
    // Options that NVIDIA's assembler takes but does not list. Triton gives the first one.
    {"regAllocOptLevel", "regAllocOptLevel", kValue},
    {"abi-compile", "abi-compile", kValue},
    {"cloning", "cloning", kValue},
    {"cuda-api-version", "cuda-api-version", kValue},
    {"fast-compile", "fast-compile", kFlag},
    {"fdevice-time-trace", "fdevice-time-trace", kValue},
    {"link-info", "link-info", kFlag},
    {"no-fastreg", "no-fastreg", kFlag},
    {"no-membermask-overlap", "no-membermask-overlap", kBoolean},
    {"okey", "okey", kValue},
    {"opt-pointers", "opt-pointers", kFlag},
    {"tool-name", "tool-name", kValue},
    {"uumn", "uumn", kFlag},
    {"verbose-tkinfo", "verbose-tkinfo", kBoolean},
};

Result<unsigned> register_limit(const std::string& text) {
  // Limits by these names are the GPU's own bounds, which no kernel exceeds here.
  if (text.empty() || text == "archmax" || text == "archmin") return 0u;
  unsigned value = 0;
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, value);
  if (read.ec == std::errc() && read.ptr == end) return value;
  return make_error(KM_ERROR_INVALID_ARGUMENT, "Invalid value '%s' for option 'maxrregcount'",
                    text.c_str());
}

}  // namespace

std::span<const Option> assembler_options() { return kOptions; }

Result<AssemblerOptions> AssemblerOptions::from(const CommandLine& line) {
  AssemblerOptions options;
  if (line.has("gpu-name")) options.gpu_name = line.value("gpu-name");
  if (line.has("machine") && line.value("machine") != "64") {
    return make_error(KM_ERROR_INVALID_ARGUMENT, "Value '%s' is not defined for option 'machine'",
                      line.value("machine").c_str());
  }
  options.is_relocatable = line.has("compile-only") || line.has("extensible-whole-program");
  options.is_verbose = line.has("verbose") || line.has("verbose2");
  options.warns_of_local_memory = line.has("warn-on-local-memory-usage");
  options.has_warnings = !line.has("disable-warnings");
  options.warnings_are_errors = line.has("warning-as-error");
  options.entries = line.values("entry");
  KM_ASSIGN(options.max_registers, register_limit(line.value("maxrregcount")));
  return options;
}

}  // namespace km::toolchain
