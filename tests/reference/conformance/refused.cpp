#include "refused.h"

#include <fstream>

namespace km::reference {

std::set<std::string> read_list(const std::string& path) {
  std::ifstream file(path);
  std::set<std::string> lines;
  for (std::string line; std::getline(file, line);) {
    if (!line.empty() && line[0] != '#') lines.insert(line);
  }
  return lines;
}

RefusedList::RefusedList(const std::vector<Variant>& tried,
                         const std::vector<const Variant*>& refused)
    : tried_(tried), refused_(refused.begin(), refused.end()) {}

void RefusedList::write(const std::string& path) const {
  std::set<std::string> some_load, lines;
  for (const Variant& variant : tried_) {
    if (!refused_.count(&variant)) some_load.insert(variant.form);
  }
  for (const Variant* variant : refused_) {
    lines.insert(some_load.count(variant->form) ? variant->mnemonic : variant->form);
  }
  std::ofstream file(path);
  file << "# What the engine does not load of what the reference can compute; must match exactly.\n"
          "# km_conformance --write-refused writes it.\n";
  for (const std::string& line : lines) file << line << "\n";
}

std::vector<std::string> RefusedList::differences(const std::string& path) const {
  const std::set<std::string> listed = read_list(path);
  std::vector<std::string> lines;
  for (const Variant& variant : tried_) {
    const bool expected = listed.count(variant.form) || listed.count(variant.mnemonic);
    if (expected == (refused_.count(&variant) != 0)) continue;
    lines.push_back((expected ? "in refused.txt, but it loads: " : "refused, but not listed: ") +
                    variant.text);
  }
  return lines;
}

}  // namespace km::reference
