// docs/reference/ptx-coverage.md, generated from the table of instructions and lists of tested
// forms.
#include "coverage.h"

#include <fstream>
#include <map>

#include "ptx/forms.h"

namespace km::gen {
namespace {

using ptx::Form;

const std::string kIntroduction =
    "# PTX instructions\n\n"
    "Every form that the parser and the verifier know, a row each; what public programs make of "
    "them\nstands in [corpus.md](../reports/corpus.md).\n\n"
    "- *parsed*, *verified*: `unit.ptx.Table.EveryFormIsReadAndPrinted` holds it so. Instructions "
    "of which only the\n  first word is known are named in the error that refuses them.\n"
    "- *run*: the cpu backend makes code of it. `later`: an error that names the instruction; "
    "`kernels.Forms`\n  holds it so.\n"
    "- *tested*: `compared`: every way to write it, on a grid of special and random operands, with "
    "the\n  reference interpreter, bit by bit (`reference.conformance`). Else a kernel test that "
    "runs an instruction of\n  this row and checks what it does; each group of tests fails when it "
    "no longer does.\n\n";

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
  return form.targets.least == 0 ? "" : text_of(form.targets);
}

/// Escapes bars with a backslash, which a cell needs even in code.
std::string cell(std::string_view text) {
  std::string out = "`";
  for (char c : text) {
    if (c == '|') out += '\\';
    out += c;
  }
  return text.empty() ? "" : out + "`";
}

/// Maps a form to its test, from lines "form" and "form | test".
using Tests = std::map<std::string, std::string>;

void read_list(const std::string& path, Tests& tests) {
  constexpr std::string_view kSeparator = " | ";
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    const size_t at = line.rfind(kSeparator);
    const bool named = at != line.npos;
    tests[line.substr(0, at)] =
        named ? cell(line.substr(at + kSeparator.size())) : std::string("compared");
  }
}

std::string state(const Form& form, const Tests& tests) {
  if (form.any_modifiers) return " | named in the error | | | |\n";
  const auto found = tests.find(ptx::form_key(form));
  const bool tested = found != tests.end();
  return " | yes | yes | " + (tested ? "yes | " + found->second : std::string("later | ")) + " |\n";
}

}  // namespace

std::string coverage(const std::vector<std::string>& lists) {
  Tests tests;
  for (const std::string& path : lists) read_list(path, tests);
  std::string text =
      kIntroduction +
      "| instruction | operands | ISA | target | parsed | verified | run | tested |\n"
      "|---|---|---|---|---|---|---|---|\n";
  for (const Form& form : ptx::all_forms()) {
    text += "| " + cell(ptx::form_text(form)) + " | " + cell(form.operand_text) + " | " +
            since(form) + " | " + target(form) + state(form, tests);
  }
  return text + std::string(kLegend);
}

}  // namespace km::gen
