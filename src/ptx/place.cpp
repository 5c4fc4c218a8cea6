#include "ptx/place.h"

#include "base/printable.h"

namespace km::ptx {

std::string text_place(const std::string& module_name, Location location) {
  const std::string line = std::to_string(location.line), column = std::to_string(location.column);
  const std::string name = printable_name(module_name);
  if (!module_name.ends_with(".cu")) return name + ":" + line + ":" + column;
  return "PTX line " + line + ", column " + column + " of " + name;
}

std::string source_place(const Module& module, const Function& function,
                         const Instruction& instruction) {
  if (instruction.source_line >= function.source_lines.size()) return {};
  const SourceLine& source = function.source_lines[instruction.source_line];
  const auto file = module.files.find(source.file);
  if (file == module.files.end()) return {};
  return printable_name(file->second) + ":" + std::to_string(source.line);
}

}  // namespace km::ptx
