// docs/ptx-coverage.md from the table.
#include "ptx/forms.h"
#include "ptx/ptx.h"

namespace km::ptx {
namespace {

constexpr std::string_view kLegend =
    "\nSyntax: `.word` or `.{one,of,these}`, a `?` after it where it may be left out; types keep "
    "their order, other\nmodifiers may come in any. A `*` in a word stands for digits. Operands: "
    "`tN` has the N-th type of the\ninstruction, `wN` is twice as wide, for `xN` the register may "
    "be wider, `vN` is a vector if the instruction has\n`.v2` or `.v4`, `sN` is a vector that adds "
    "up to type N, `imm` is a constant; `*K` is a vector of K, `&` allows\nthe address of a "
    "variable, `?` marks what may be left out, `@m` what is there exactly when modifier `m` is,\n"
    "`!` and `-` what may be negated, `x.` what may have a part select, `d:T|p` a second "
    "destination.\n";

std::string since(const Form& form) {
  if (form.min_isa == 0) return "";
  return std::to_string(form.min_isa / 10) + "." + std::to_string(form.min_isa % 10);
}

std::string target(const Form& form) {
  if (form.min_sm == 0) return "";
  return "sm_" + std::to_string(form.min_sm) + (form.arch_specific ? "a" : "");
}

/// A bar inside a cell needs a backslash, even in code.
std::string cell(std::string_view text) {
  std::string out = "`";
  for (char c : text) {
    if (c == '|') out += '\\';
    out += c;
  }
  return text.empty() ? "" : out + "`";
}

}  // namespace

std::string coverage_table() {
  std::string text = "| instruction | operands | ISA | target | read |\n|---|---|---|---|---|\n";
  for (const Form& form : all_forms()) {
    text += "| " + cell(form_text(form)) + " | " + cell(form.operand_text) + " | " + since(form) +
            " | " + target(form) + " | " +
            (form.min_sm > kNewestSm ? "named in the error" : "yes") + " |\n";
  }
  return text + std::string(kLegend);
}

}  // namespace km::ptx
