#include "ptx/parser/function/function_directive_parser.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>

#include "ptx/names.h"

namespace km::ptx {

bool begins_module_item(const Token& token) {
  constexpr std::string_view kWords[] = {"extern", "visible", "weak",  "common", "func",
                                         "entry",  "global",  "const", "shared", "local",
                                         "file",   "section", "alias", "tex"};
  return token.kind == Token::Kind::dotted &&
         std::find(std::begin(kWords), std::end(kWords), token.text) != std::end(kWords);
}

Status FunctionDirectiveParser::parse(Function& function) {
  for (;;) {
    KM_ASSIGN(bool found, parse_directive(function));
    if (!found) return {};
  }
}

Result<bool> FunctionDirectiveParser::parse_directive(Function& function) {
  if (!tokens_.at(Token::Kind::dotted)) return false;
  if (!function.is_entry && begins_module_item(tokens_.current())) return false;
  const Token at = tokens_.current();
  const std::string_view word = at.text;
  if (word == "noreturn" || word == "abi_preserve" || word == "abi_preserve_control") {
    if (function.is_entry) return tokens_.error_at(at, describe(at) + " is for a '.func'");
    tokens_.advance();
    if (word == "noreturn") {
      function.noreturn = true;
    } else {
      KM_TRY(tokens_.take_integer(0, UINT32_MAX, "a number of registers"));
    }
    return true;
  }
  if (word == "pragma") {
    KM_TRY(directives_.parse_pragma(function.pragmas));
    return true;
  }
  KM_ASSIGN(const bool known, parse_entry_directive(function));
  if (!known) {
    return tokens_.error_at(
        at, "unknown directive " + describe(at) + " of a function" + suggest_directive(word));
  }
  if (!function.is_entry) return tokens_.error_at(at, describe(at) + " is for an '.entry'");
  KM_TRY(check(function, at));
  return true;
}

Result<bool> FunctionDirectiveParser::parse_entry_directive(Function& function) {
  const std::string_view word = tokens_.current().text;
  uint32_t unused = 0;
  const std::pair<std::string_view, std::array<uint32_t, 3>*> sizes[] = {
      {"reqntid", &function.reqntid},
      {"maxntid", &function.maxntid},
      {"reqnctapercluster", &function.reqnctapercluster}};
  for (const auto& [name, values] : sizes) {
    if (word != name) continue;
    tokens_.advance();
    KM_TRY(parse_dimensions(*values));
    return true;
  }
  const std::pair<std::string_view, uint32_t*> numbers[] = {
      {"minnctapersm", &function.minnctapersm},
      {"maxnctapersm", &unused},
      {"maxnreg", &function.maxnreg},
      {"maxclusterrank", &function.maxclusterrank}};
  for (const auto& [name, value] : numbers) {
    if (word != name) continue;
    tokens_.advance();
    KM_ASSIGN(const uint64_t read,
              tokens_.take_integer(1, UINT32_MAX, "'." + std::string(name) + "'"));
    *value = static_cast<uint32_t>(read);
    return true;
  }
  if (word != "explicitcluster" && word != "blocksareclusters") return false;
  if (word == "explicitcluster") function.explicitcluster = true;
  tokens_.advance();
  return true;
}

Status FunctionDirectiveParser::check(const Function& function, const Token& at) const {
  constexpr uint32_t kFirstWithClusters = 90, kFirstWithoutMaxnctapersm = 21;
  const bool clusters = at.text.find("cluster") != std::string_view::npos;
  if (clusters && module_.module().target_sm < kFirstWithClusters) {
    return tokens_.error_at(at, describe(at) + " needs '.target sm_90' or later");
  }
  if (at.text == "maxnctapersm" && module_.isa_version() >= kFirstWithoutMaxnctapersm) {
    return tokens_.error_at(at, "'.maxnctapersm' ended with PTX 2.0: write '.minnctapersm'");
  }
  if (function.reqntid[0] != 0 && function.maxntid[0] != 0) {
    return tokens_.error_at(at, "'.reqntid' and '.maxntid' contradict each other");
  }
  if (function.reqnctapercluster[0] != 0 && function.maxclusterrank != 0) {
    return tokens_.error_at(at, "'.reqnctapercluster' and '.maxclusterrank' contradict each other");
  }
  return {};
}

Status FunctionDirectiveParser::parse_dimensions(std::array<uint32_t, 3>& sizes) {
  sizes = {1, 1, 1};
  for (uint32_t& size : sizes) {
    KM_ASSIGN(uint64_t value, tokens_.take_integer(1, UINT32_MAX, "a number of threads"));
    size = static_cast<uint32_t>(value);
    if (!tokens_.accept(',')) return {};
  }
  return tokens_.unexpected("at most three sizes");
}

}  // namespace km::ptx
