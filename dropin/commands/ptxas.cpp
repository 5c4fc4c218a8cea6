// ptxas: verifies PTX and writes a cubin that holds it, for programs that call NVIDIA's assembler.
#include "base/file/file.h"
#include "base/file/file_writer.h"
#include "dropin/commands/command.h"
#include "dropin/toolchain/assembler.h"
#include "dropin/toolchain/linker.h"

namespace {

using namespace km;  // NOLINT: a command of this project

constexpr int kFailure = 255;  // of NVIDIA's assembler
constexpr const char* kCommand = "ptxas";
constexpr uint32_t kUnitsOfMajor = 10;

std::string version_list() {
  std::string text;
  for (const uint32_t each : toolchain::isa_versions(toolchain::command_release().isa_version())) {
    text +=
        std::to_string(each / kUnitsOfMajor) + "." + std::to_string(each % kUnitsOfMajor) + "\n";
  }
  return text;
}

std::string architecture_list() {
  std::string text;
  for (const uint32_t each : toolchain::architectures()) text += std::to_string(each) + "\n";
  return text;
}

int aborted(const std::string& text) {
  commands::fatal(kCommand, text, kFailure);
  return commands::fatal(kCommand, "Ptx assembly aborted due to errors", kFailure);
}

/// One text of the command line.
struct Input {
  std::string name, text;
};

Result<std::vector<Input>> read_inputs(const toolchain::CommandLine& line) {
  std::vector<Input> inputs;
  for (const std::string& text : line.values("input-as-string"))
    inputs.push_back({"<string>", text});
  for (const std::string& path : line.inputs()) {
    Result<std::string> text = read_file(path, kMaxTextBytes);
    if (!text) {
      return make_error(KM_ERROR_NOT_FOUND, "Input file '%s' could not be opened", path.c_str());
    }
    inputs.push_back({path, std::move(*text)});
  }
  return inputs;
}

/// Assembles the inputs; several become one module.
toolchain::Assembly assemble(const std::vector<Input>& inputs,
                             const toolchain::AssemblerOptions& options) {
  if (inputs.size() == 1) return toolchain::assemble(inputs[0].text, inputs[0].name, options);
  toolchain::AssemblerOptions each_options = options;
  each_options.is_relocatable = true;
  std::vector<toolchain::PtxInput> texts;
  for (const Input& input : inputs) {
    toolchain::Assembly made = toolchain::assemble(input.text, input.name, each_options);
    if (made.status != toolchain::AssemblyStatus::kDone) return made;
    texts.push_back({input.name, input.text});
  }
  const auto linked = toolchain::link_ptx(texts);
  toolchain::Assembly made;
  if (linked) return toolchain::assemble(*linked, inputs[0].name, options);
  made.errors = "ptxas fatal   : " + linked.error().message + "\n";
  return made;
}

int run(const toolchain::CommandLine& line) {
  auto options = toolchain::AssemblerOptions::from(line);
  if (!options) return commands::fatal(kCommand, options.error().message, kFailure);
  options->release = toolchain::command_release();
  const auto inputs = read_inputs(line);
  if (!inputs) return aborted(inputs.error().message);
  const toolchain::Assembly made = assemble(*inputs, *options);
  commands::print_error(made.info);
  commands::print_error(made.errors);
  if (made.status == toolchain::AssemblyStatus::kParsedOnly) return 0;
  if (made.status != toolchain::AssemblyStatus::kDone) return kFailure;
  const std::string path = line.has("output-file") ? line.value("output-file") : "elf.o";
  if (const Status written = write_file(path, made.image); written) return 0;
  return commands::fatal(kCommand, "Output file '" + path + "' could not be opened", kFailure);
}

}  // namespace

int main(int count, char** words) {
  const auto line = toolchain::CommandLine::parse(toolchain::assembler_options(),
                                                  commands::words_of(count, words));
  if (!line) return commands::fatal(kCommand, line.error().message, kFailure);
  const bool has_input = !line->inputs().empty() || line->has("input-as-string");
  if (line->has("version")) {
    commands::print(toolchain::version_text(kCommand, "Ptx optimizing assembler"));
  } else if (line->has("list-version")) {
    commands::print(version_list());
  } else if (line->has("list-arch")) {
    commands::print(architecture_list());
  } else if (line->has("help") || !has_input) {
    commands::print(
        commands::help_text("ptxas [options] <ptx file>,...", toolchain::assembler_options()));
  } else {
    return run(*line);
  }
  return 0;
}
