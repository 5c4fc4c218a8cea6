// docs/ptx-coverage.md from the table.
#include "ptx/forms.h"
#include "ptx/ptx.h"

namespace km::ptx {
namespace {

std::string since(const Form& form) {
  if (form.min_isa == 0) return "";
  return std::to_string(form.min_isa / 10) + "." + std::to_string(form.min_isa % 10);
}

std::string target(const Form& form) {
  if (form.min_sm == 0) return "";
  return "sm_" + std::to_string(form.min_sm) + (form.arch_specific ? "a" : "");
}

}  // namespace

std::string coverage_table() {
  std::string text = "| instruction | operands | ISA | target | read |\n|---|---|---|---|---|\n";
  for (const Form& form : all_forms()) {
    text += "| `" + form_text(form) + "` | `" + std::string(form.operand_text) + "` | " +
            since(form) + " | " + target(form) + " | " +
            (form.min_sm > kNewestSm ? "named in the error" : "yes") + " |\n";
  }
  return text;
}

}  // namespace km::ptx
