#include "compared.h"

#include <algorithm>
#include <fstream>
#include <iterator>

#include "ptx/forms.h"
#include "refused.h"

namespace km::reference {

std::set<std::string> compared_forms(const std::vector<Variant>& all,
                                     const std::string& refused_path) {
  const std::set<std::string> refused = read_list(refused_path);
  std::set<std::string> forms;
  for (const Variant& variant : all) {
    if (refused.count(variant.form) || refused.count(variant.mnemonic)) continue;
    forms.insert(ptx::form_key(ptx::all_forms()[variant.instruction().form]));
  }
  return forms;
}

void write_compared_forms(const std::set<std::string>& forms, const std::string& path) {
  std::ofstream file(path);
  file << "# Rows of the PTX table that the engine and the reference agree on.\n"
          "# km_conformance --write-compared writes it.\n";
  for (const ptx::Form& form : ptx::all_forms()) {
    const std::string key = ptx::form_key(form);
    if (forms.count(key)) file << key << "\n";
  }
}

std::vector<std::string> compared_differences(const std::set<std::string>& forms,
                                              const std::string& path) {
  const std::set<std::string> listed = read_list(path);
  std::vector<std::string> lines, differences;
  std::set_symmetric_difference(forms.begin(), forms.end(), listed.begin(), listed.end(),
                                std::back_inserter(differences));
  for (const std::string& form : differences) {
    lines.push_back((listed.count(form) ? "listed, but not compared: " : "not in the list: ") +
                    form);
  }
  return lines;
}

}  // namespace km::reference
