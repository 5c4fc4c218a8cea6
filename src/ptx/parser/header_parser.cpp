#include "ptx/parser/header_parser.h"

#include <algorithm>
#include <charconv>
#include <string>
#include <vector>

#include "ptx/names.h"
#include "ptx/target.h"

namespace km::ptx {
namespace {

// Versions before 1.4 are refused: their kernels have no parameter lists, and omitted modifiers
// have other defaults.
constexpr uint32_t kOldest = 14;

bool read_number(std::string_view text, uint32_t& value) {
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

}  // namespace

Status HeaderParser::parse() {
  if (!tokens_.accept_dotted("version")) {
    return tokens_.unexpected("'.version': a PTX module begins with it");
  }
  KM_TRY(parse_version());
  if (!tokens_.accept_dotted("target")) return tokens_.unexpected("'.target' after '.version'");
  KM_TRY(parse_target());
  return tokens_.accept_dotted("address_size") ? parse_address_size() : Status();
}

Status HeaderParser::parse_version() {
  Module& module = module_.module();
  const std::string_view text = tokens_.current().text;
  size_t dot = text.find('.');
  bool good = tokens_.at(Token::Kind::real) && dot != std::string_view::npos &&
              read_number(text.substr(0, dot), module.version_major) &&
              read_number(text.substr(dot + 1), module.version_minor);
  if (!good) return tokens_.unexpected("a version such as 8.5");
  constexpr uint32_t kUnitsOfMajor = 10;
  const uint32_t version = module_.isa_version();
  const bool known = module.version_minor < kUnitsOfMajor && is_isa_version(version);
  if (!known || version < kOldest) {
    Error error = tokens_.error_here("PTX ISA " + std::string(text) +
                                     " is not supported, versions 1.4 to 9.5 are");
    error.status = KM_ERROR_UNSUPPORTED_PTX;
    return error;
  }
  tokens_.advance();
  return {};
}

Status HeaderParser::parse_target() {
  KM_ASSIGN(Token target, tokens_.take_identifier("a target such as sm_90"));
  const auto found = find_target(target.text);
  if (!found) {
    return tokens_.error_at(target, "unknown target " + quote(target.text) +
                                        ", expected sm_ and the number of an architecture");
  }
  if (module_.isa_version() < found->min_isa) {
    return tokens_.error_at(target, "target " + quote(target.text) + " needs '.version " +
                                        std::to_string(found->min_isa / 10) + "." +
                                        std::to_string(found->min_isa % 10) + "' or later");
  }
  Module& module = module_.module();
  module.target_sm = found->number;
  module.target = target.text;
  while (tokens_.accept(',')) KM_TRY(parse_target_option());
  return {};
}

Status HeaderParser::parse_target_option() {
  KM_ASSIGN(Token option, tokens_.take_identifier("a target option"));
  constexpr std::string_view kOptions[] = {"debug", "texmode_unified", "texmode_independent",
                                           "map_f64_to_f32"};
  bool known =
      std::find(std::begin(kOptions), std::end(kOptions), option.text) != std::end(kOptions);
  if (!known && !find_target(option.text)) {
    return tokens_.error_at(option, "unknown target option " + quote(option.text) +
                                        ", expected debug, texmode_unified or texmode_independent");
  }
  const std::vector<std::string>& given = module_.module().target_options;
  const bool texture_mode = option.text.starts_with("texmode_");
  for (const std::string& other : given) {
    if (texture_mode && other.starts_with("texmode_") && other != option.text) {
      return tokens_.error_at(option, quote(option.text) + " contradicts " + quote(other));
    }
  }
  constexpr uint32_t kFirstWithDoubles = 13;
  if (option.text == "map_f64_to_f32" && module_.module().target_sm >= kFirstWithDoubles) {
    return tokens_.error_at(option, "'map_f64_to_f32' is for targets below sm_13");
  }
  module_.module().target_options.emplace_back(option.text);
  return {};
}

Status HeaderParser::parse_address_size() {
  Token at = tokens_.current();
  KM_ASSIGN(uint64_t bits, expressions_.take_number(32, 64, "the address size"));
  if (bits != 32 && bits != 64) return tokens_.error_at(at, "the address size must be 32 or 64");
  if (bits == 32) {
    return tokens_.error_at(at, "code with 32-bit addresses is not supported: compile for 64 bits");
  }
  return {};
}

}  // namespace km::ptx
