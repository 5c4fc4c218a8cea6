#include "ptx/place.h"

#include "base/printable.h"

namespace km::ptx {

std::string text_place(const std::string& module_name, Location location) {
  const std::string line = std::to_string(location.line), column = std::to_string(location.column);
  const std::string name = printable_name(module_name);
  if (!module_name.ends_with(".cu")) return name + ":" + line + ":" + column;
  return "PTX line " + line + ", column " + column + " of " + name;
}

std::optional<std::string> source_file(const Module& module, const SourceLine& line) {
  const auto file = module.files.find(line.file);
  if (file == module.files.end()) return std::nullopt;
  return printable_name(file->second);
}

std::string source_place(const Module& module, const Function& function,
                         const Instruction& instruction) {
  if (instruction.source_line >= function.source_lines.size()) return {};
  const SourceLine& source = function.source_lines[instruction.source_line];
  const std::optional<std::string> file = source_file(module, source);
  return file ? *file + ":" + std::to_string(source.line) : std::string();
}

std::string source_place_of_line(const Module& module, uint32_t line) {
  for (const Function& function : module.functions) {
    for (const Instruction& instruction : function.code) {
      if (instruction.location.line == line) return source_place(module, function, instruction);
    }
  }
  return {};
}

std::string place_of_line(const std::string& module_name, uint32_t line,
                          const std::string& source) {
  const std::string number = std::to_string(line);
  // A module that was compiled from CUDA C++ is named after its source, to which the PTX line does
  // not belong.
  if (module_name.ends_with(".ptx")) {
    return module_name + ":" + number + (source.empty() ? "" : " (" + source + ")");
  }
  return source.empty() ? "PTX line " + number + " of " + module_name
                        : source + " (PTX line " + number + ")";
}

}  // namespace km::ptx
