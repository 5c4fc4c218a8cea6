#include "harness/coverage.h"

#include <algorithm>
#include <fstream>

#include "ptx/forms.h"
#include "ptx/ptx.h"

namespace km::kernels {
namespace {

constexpr const char* kSeparator = " | ";

std::set<std::string> forms_of(const ptx::Function& function) {
  std::set<std::string> forms;
  for (const ptx::Instruction& instruction : function.code) {
    forms.insert(ptx::form_key(ptx::all_forms()[instruction.form]));
  }
  return forms;
}

bool has_call(const ptx::Function& function) {
  return std::any_of(function.code.begin(), function.code.end(), [](const auto& instruction) {
    return instruction.opcode == ptx::Opcode::call;
  });
}

std::map<std::string, std::set<std::string>> forms_by_kernel(const ptx::Module& module) {
  std::map<std::string, std::set<std::string>> kernels;
  std::set<std::string> callable;
  for (const ptx::Function& function : module.functions) {
    if (function.is_entry) continue;
    callable.merge(forms_of(function));
  }
  for (const ptx::Function& function : module.functions) {
    if (!function.is_entry) continue;
    kernels[function.name] = forms_of(function);
    if (has_call(function)) kernels[function.name].insert(callable.begin(), callable.end());
  }
  return kernels;
}

}  // namespace

std::vector<std::pair<std::string, std::string>> read_form_list(const std::string& path) {
  std::vector<std::pair<std::string, std::string>> rows;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    const size_t at = line.rfind(kSeparator);
    if (at == line.npos) {
      rows.push_back({line, ""});
    } else {
      rows.push_back({line.substr(0, at), line.substr(at + 3)});
    }
  }
  return rows;
}

void Coverage::note(const std::string& ptx, const std::string& kernel) {
  const auto [entry, is_new] = modules_.try_emplace(ptx);
  if (is_new) {
    const auto module = ptx::parse(ptx, "coverage");
    if (module) entry->second = forms_by_kernel(**module);
  }
  const auto found = entry->second.find(kernel);
  if (found != entry->second.end()) current_.insert(found->second.begin(), found->second.end());
}

void Coverage::OnTestEnd(const testing::TestInfo& test) {
  const testing::TestResult& result = *test.result();
  const std::string name = std::string(test.test_suite_name()) + "." + test.name();
  if (result.Passed() && !result.Skipped()) {
    tests_[name] = current_;
  } else {
    left_out_.insert(name);
  }
  current_.clear();
}

std::vector<std::string> Coverage::differences(const std::string& path) const {
  std::vector<std::string> lines;
  for (const auto& [form, test] : read_form_list(path)) {
    const auto found = tests_.find(test);
    if (found == tests_.end() || found->second.count(form)) continue;
    lines.push_back(test + " runs no kernel with '" + form + "'");
  }
  return lines;
}

void Coverage::write(const std::string& path, const std::string& others) const {
  std::set<std::string> known;
  for (const auto& row : read_form_list(others)) known.insert(row.first);
  std::map<std::string, std::string> kept;  // rows of tests that other devices run
  for (const auto& [form, test] : read_form_list(path)) {
    if (left_out_.count(test)) kept[form] = test;
  }
  std::ofstream file(path);
  file << "# Rows of the PTX table whose results a kernel test checks; those of tests/reference\n"
          "# are left out. km_kernel_tests --write-forms writes it.\n";
  for (const ptx::Form& form : ptx::all_forms()) {
    const std::string key = ptx::form_key(form);
    if (known.count(key)) continue;
    if (const auto row = kept.find(key); row != kept.end()) {
      file << key << kSeparator << row->second << "\n";
      continue;
    }
    for (const auto& [test, forms] : tests_) {
      if (!forms.count(key)) continue;
      file << key << kSeparator << test << "\n";
      break;
    }
  }
}

}  // namespace km::kernels
