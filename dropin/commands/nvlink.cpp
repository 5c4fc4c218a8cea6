// nvlink: links cubins that hold PTX, PTX, and objects and libraries with either in them.
#include <algorithm>
#include <filesystem>

#include "base/file/file.h"
#include "base/file/file_writer.h"
#include "dropin/commands/command.h"
#include "dropin/toolchain/fat_binary.h"
#include "dropin/toolchain/linker.h"
#include "ptx/target.h"

namespace {

using namespace km;  // NOLINT: a command of this project
using toolchain::InputStatus;
using toolchain::Option;
using toolchain::OptionKind;

constexpr int kFailure = 1;  // of NVIDIA's linker, before it links
constexpr int kLinkFailure = 255;
constexpr const char* kCommand = "nvlink";

constexpr Option kOptions[] = {
    {"Ofast-compile", "Ofc", OptionKind::kValue},
    {"Xnvvm", "Xnvvm", OptionKind::kList},
    {"Xptxas", "Xptxas", OptionKind::kList},
    {"arch", "arch", OptionKind::kValue},
    {"cpu-arch", "cpu-arch", OptionKind::kValue},
    {"debug", "g", OptionKind::kFlag},
    {"device-stack-protector", "device-stack-protector", OptionKind::kFlag},
    {"disable-infos", "disable-infos", OptionKind::kFlag},
    {"disable-warnings", "w", OptionKind::kFlag},
    {"dlto", "dlto", OptionKind::kFlag},
    {"dump-callgraph", "dump-callgraph", OptionKind::kFlag},
    {"dump-callgraph-no-demangle", "dump-callgraph-no-demangle", OptionKind::kFlag},
    {"emit-ptx", "emit-ptx", OptionKind::kFlag},
    {"extra-warnings", "extrawarn", OptionKind::kFlag},
    {"gen-host-linker-script", "ghls", OptionKind::kValue},
    {"help", "h", OptionKind::kFlag},
    {"host-ccbin", "host-ccbin", OptionKind::kValue},  // of nvcc, in no list
    {"ignore-host-info", "ignore-host-info", OptionKind::kFlag},
    {"keep-system-libraries", "keep-system-libraries", OptionKind::kFlag},
    {"kernels-used", "kernels-used", OptionKind::kList},
    {"library", "l", OptionKind::kEither},
    {"library-path", "L", OptionKind::kEither},
    {"link-as-tools-patch", "astoolspatch", OptionKind::kFlag},
    {"link-time-opt", "lto", OptionKind::kFlag},
    {"machine", "m", OptionKind::kEither},
    {"maxrregcount", "maxrregcount", OptionKind::kValue},
    {"nvvm-latest", "nvvm-latest", OptionKind::kFlag},
    {"nvvmpath", "nvvmpath", OptionKind::kValue},
    {"options-file", "optf", OptionKind::kValue},
    {"output-file", "o", OptionKind::kValue},
    {"preserve-relocs", "preserve-relocs", OptionKind::kFlag},
    {"register-link-binaries", "register-link-binaries", OptionKind::kValue},
    {"relocatable-link", "r", OptionKind::kFlag},
    {"report-arch", "report-arch", OptionKind::kFlag},
    {"split-compile", "split-compile", OptionKind::kValue},
    {"split-compile-extended", "split-compile-extended", OptionKind::kValue},
    {"suppress-arch-warning", "suppress-arch-warning", OptionKind::kFlag},
    {"suppress-debug-info", "suppress-debug-info", OptionKind::kFlag},
    {"suppress-stack-size-warning", "suppress-stack-size-warning", OptionKind::kFlag},
    {"time", "time", OptionKind::kValue},
    {"uidx-file", "uidx", OptionKind::kValue},
    {"use-host-info", "use-host-info", OptionKind::kFlag},
    {"variables-used", "variables-used", OptionKind::kList},
    {"verbose", "v", OptionKind::kFlag},
    {"verbose2", "v2", OptionKind::kFlag},
    {"version", "V", OptionKind::kFlag},
    {"warning-as-error", "Werror", OptionKind::kFlag},
};

/// Prints the linker's lines, which begin with their kind, as those of the command.
void print_lines(const std::string& text) {
  size_t begin = 0;
  while (begin < text.size()) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    const std::string line = text.substr(begin, end - begin);
    const bool has_command = line.starts_with("ptxas ") || line.starts_with(" ");
    const bool has_kind = line.starts_with("error   : ");
    const std::string prefix = has_command ? "" : has_kind ? "nvlink " : "nvlink error   : ";
    commands::print_error(prefix + line + "\n");
    begin = end + 1;
  }
}

std::string find_library(const toolchain::CommandLine& line, const std::string& name) {
  for (const std::string& folder : line.values("library-path")) {
    std::error_code ignored;
    const std::string path = folder + "/lib" + name + ".a";
    if (std::filesystem::exists(path, ignored)) return path;
  }
  return {};
}

/// Adds one file. Its exit code; 0 if it was added.
int add_file(toolchain::Linker& linker, const std::string& path) {
  const Result<std::string> content = read_file(path, toolchain::kMaxImageBytes);
  if (!content)
    return commands::fatal(kCommand, "Could not open input file '" + path + "'", kFailure);
  switch (linker.add(toolchain::InputKind::kAny, *content, path)) {
    case InputStatus::kAdded:
      return 0;
    case InputStatus::kUnknownKind:
      return commands::fatal(kCommand,
                             "elfLink internal error: input file '" + path +
                                 "' is no cubin, PTX, fat binary, object or library",
                             kFailure);
    default:
      print_lines(linker.errors());
      return kFailure;
  }
}

int run(const toolchain::CommandLine& line) {
  const std::string arch = line.value("arch");
  if (arch.empty()) return commands::fatal(kCommand, "Unknown arch name '(null)'", kFailure);
  const auto target = ptx::find_target(arch);
  if (!target) {
    return commands::fatal(kCommand, "Value '" + arch + "' is not defined for option 'arch'",
                           kFailure);
  }
  const std::string path = line.value("output-file");
  if (path.empty()) {
    return commands::fatal(kCommand, "Must specify output file with -o option", kFailure);
  }
  if (line.has("link-time-opt") || line.has("dlto")) {
    return commands::fatal(kCommand,
                           "link-time optimisation (-lto) is not supported: only NVIDIA's "
                           "libraries compile LTO-IR. Compile without -dlto",
                           kFailure);
  }
  if (line.has("register-link-binaries")) {
    return commands::fatal(kCommand,
                           "--register-link-binaries, by which nvcc links programs, is not "
                           "supported: have it link by NVIDIA's nvlink",
                           kFailure);
  }
  toolchain::AssemblerOptions options;
  options.gpu_name = "sm_" + arch.substr(arch.find('_') + 1);
  options.is_verbose = line.has("verbose") || line.has("verbose2");
  options.is_relocatable = line.has("relocatable-link");
  options.release = toolchain::command_release();
  toolchain::Linker linker(options);
  std::vector<std::string> paths = line.inputs();
  for (const std::string& name : line.values("library")) {
    const std::string library = find_library(line, name);
    if (library.empty()) {
      return commands::fatal(kCommand, "Could not find library '" + name + "'", kFailure);
    }
    paths.push_back(library);
  }
  for (const std::string& each : paths) {
    if (const int code = add_file(linker, each); code != 0) return code;
  }
  const std::string image = linker.link();
  commands::print_error(linker.infos());
  print_lines(linker.errors());
  if (image.empty()) return kLinkFailure;
  if (const Status written = write_file(path, image); written) return 0;
  return commands::fatal(kCommand, "Could not open output file '" + path + "'", kFailure);
}

}  // namespace

int main(int count, char** words) {
  const auto line = toolchain::CommandLine::parse(kOptions, commands::words_of(count, words));
  if (!line) return commands::fatal(kCommand, line.error().message, kFailure);
  if (line->has("version")) {
    commands::print(toolchain::version_text(kCommand, "Cuda linker"));
    return 0;
  }
  if (line->has("help")) {
    commands::print(commands::help_text("nvlink [options] <objects>", kOptions));
    return 0;
  }
  return run(*line);
}
