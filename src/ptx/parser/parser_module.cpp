// Items at module level: the header, variables, functions, files, sections.
#include <algorithm>
#include <charconv>

#include "ptx/names.h"
#include "ptx/parser/parser.h"
#include "ptx/target.h"

namespace km::ptx {
namespace {

// Before 1.4, kernels have no parameter lists, and modifiers that are left out mean something else.
constexpr uint32_t kOldest = 14;
constexpr uint32_t kFirstWithoutTex = 15, kFirstWithAbi = 30, kFirstWithAlias = 63;

std::optional<Space> variable_space(const Token& token) {
  if (token.kind != Token::Kind::dotted) return std::nullopt;
  if (token.text == "global") return Space::global;
  if (token.text == "const") return Space::constant;
  if (token.text == "shared") return Space::shared;
  if (token.text == "local") return Space::local;
  return std::nullopt;
}

bool read_number(std::string_view text, uint32_t& value) {
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

}  // namespace

Status Parser::parse_header() {
  if (!accept_dotted("version")) {
    return unexpected("'.version': a PTX module begins with it");
  }
  KM_TRY(parse_version());
  if (!accept_dotted("target")) return unexpected("'.target' after '.version'");
  KM_TRY(parse_target());
  if (accept_dotted("address_size")) {
    Token at = token_;
    KM_ASSIGN(uint64_t bits, take_number(32, 64, "the address size"));
    if (bits != 32 && bits != 64) return error_at(at, "the address size must be 32 or 64");
    if (bits == 32) {
      return error_at(at, "code with 32-bit addresses is not supported: compile for 64 bits");
    }
  }
  return {};
}

Status Parser::parse_version() {
  size_t dot = token_.text.find('.');
  bool good = token_.kind == Token::Kind::real && dot != std::string_view::npos &&
              read_number(token_.text.substr(0, dot), module_->version_major) &&
              read_number(token_.text.substr(dot + 1), module_->version_minor);
  if (!good) return unexpected("a version such as 8.5");
  constexpr uint32_t kUnitsOfMajor = 10;
  const uint32_t version = kUnitsOfMajor * module_->version_major + module_->version_minor;
  const bool known = module_->version_minor < kUnitsOfMajor && is_isa_version(version);
  if (!known || version < kOldest) {
    Error error = error_at(token_, "PTX ISA " + std::string(token_.text) +
                                       " is not supported, versions 1.4 to 9.5 are");
    error.status = KM_ERROR_UNSUPPORTED_PTX;
    return error;
  }
  advance();
  return {};
}

Status Parser::parse_target() {
  KM_ASSIGN(Token target, take_identifier("a target such as sm_90"));
  const auto found = find_target(target.text);
  if (!found) {
    return error_at(target, "unknown target " + quote(target.text) +
                                ", expected sm_ and the number of an architecture");
  }
  if (isa_version() < found->min_isa) {
    return error_at(target, "target " + quote(target.text) + " needs '.version " +
                                std::to_string(found->min_isa / 10) + "." +
                                std::to_string(found->min_isa % 10) + "' or later");
  }
  module_->target_sm = found->number;
  module_->target = target.text;
  while (accept(',')) KM_TRY(parse_target_option());
  return {};
}

Status Parser::parse_target_option() {
  KM_ASSIGN(Token option, take_identifier("a target option"));
  constexpr std::string_view kOptions[] = {"debug", "texmode_unified", "texmode_independent",
                                           "map_f64_to_f32"};
  bool known =
      std::find(std::begin(kOptions), std::end(kOptions), option.text) != std::end(kOptions);
  if (!known && !find_target(option.text)) {
    return error_at(option, "unknown target option " + quote(option.text) +
                                ", expected debug, texmode_unified or texmode_independent");
  }
  const std::vector<std::string>& given = module_->target_options;
  const bool texture_mode = option.text.starts_with("texmode_");
  for (const std::string& other : given) {
    if (texture_mode && other.starts_with("texmode_") && other != option.text) {
      return error_at(option, quote(option.text) + " contradicts " + quote(other));
    }
  }
  constexpr uint32_t kFirstWithDoubles = 13;
  if (option.text == "map_f64_to_f32" && module_->target_sm >= kFirstWithDoubles) {
    return error_at(option, "'map_f64_to_f32' is for targets below sm_13");
  }
  module_->target_options.emplace_back(option.text);
  return {};
}

Status Parser::parse_module_item() {
  if (token_.kind != Token::Kind::dotted) return unexpected("a directive");
  std::string_view word = token_.text;
  if (word == "file") return parse_file();
  if (word == "section") return parse_section();
  if (word == "loc") return parse_location();
  if (word == "pragma") return parse_pragma(module_->pragmas);
  if (word == "alias") return parse_alias();
  if (word == "version" || word == "target" || word == "address_size") {
    return error_at(token_, "a second '." + std::string(word) + "' in one module");
  }
  return parse_linked_item();
}

Result<Linkage> Parser::parse_linkage() {
  if (accept_dotted("extern")) return Linkage::external;
  if (accept_dotted("visible")) return Linkage::visible;
  if (accept_dotted("weak")) return Linkage::weak;
  if (accept_dotted("common")) return Linkage::common;
  return Linkage::internal;
}

Status Parser::parse_linked_item() {
  KM_ASSIGN(Linkage linkage, parse_linkage());
  Symbol attributes;
  while (token_.is_dotted("attribute")) KM_TRY(parse_attribute(attributes));
  if (linkage != Linkage::common) {
    if (accept_dotted("entry")) return parse_function(linkage, true);
    if (accept_dotted("func")) return parse_function(linkage, false);
  }
  const bool texture = token_.is_dotted("tex") && isa_version() < kFirstWithoutTex;
  if (variable_space(token_) || texture) {
    return parse_module_variable(linkage, attributes.managed);
  }
  if (token_.is_dotted("reg") || token_.is_dotted("param")) {
    return error_at(token_,
                    "'." + std::string(token_.text) + "' can be declared in functions only");
  }
  if (token_.kind == Token::Kind::dotted) {
    return error_at(token_,
                    "unknown directive " + describe(token_) + suggest_directive(token_.text));
  }
  return unexpected("'.entry', '.func' or a state space");
}

Status Parser::parse_module_variable(Linkage linkage, bool managed) {
  if (token_.is_dotted("local") && isa_version() >= kFirstWithAbi) {
    return error_at(token_, "a variable in .local is declared in a function, from PTX 3.0 on");
  }
  bool texture = token_.is_dotted("tex");  // the form before .texref
  Space space = texture ? Space::global : *variable_space(token_);
  advance();
  KM_ASSIGN(Specifiers specifiers, parse_specifiers(space));
  if (texture) specifiers.prototype.type = Type::texref;
  specifiers.prototype.linkage = linkage;
  specifiers.prototype.managed |= managed;
  if (specifiers.prototype.managed && space != Space::global) {
    return error_at(token_, "only variables in .global can be managed");
  }
  do {
    Token name = token_;
    KM_ASSIGN(Symbol symbol, parse_declarator(specifiers));
    auto id = static_cast<SymbolId>(module_->symbols.size());
    auto [known, fresh] = module_names_.try_emplace(name.text, id);
    if (!fresh) {
      const Symbol& old = module_->symbols[known->second];
      bool compatible = !old.is_function && old.linkage == Linkage::external &&
                        old.space == symbol.space && old.type == symbol.type;
      if (!compatible) {
        return error_at(name, "duplicate name " + quote(name.text) + ", first declared in line " +
                                  std::to_string(old.location.line));
      }
      id = known->second;
    }
    if (token_.is('=') && linkage == Linkage::external) {
      return error_at(token_, "an '.extern' variable cannot be initialised");
    }
    if (accept('=')) KM_TRY(parse_initialiser(symbol, kNone, id));
    if (symbol.unsized && !symbol.is_function && linkage != Linkage::external) {
      return error_at(name,
                      "array " + quote(name.text) + " needs a size, an initialiser or '.extern'");
    }
    if (fresh) {
      module_->symbols.push_back(std::move(symbol));
    } else {
      module_->symbols[id] = std::move(symbol);
    }
  } while (accept(','));
  return expect(';', "after the declaration");
}

Status Parser::parse_file() {
  advance();
  KM_ASSIGN(uint64_t index, take_number(0, UINT32_MAX, "the number of a file"));
  if (token_.kind != Token::Kind::string) return unexpected("the name of a file in quotes");
  module_->files[static_cast<uint32_t>(index)] = token_.text;
  advance();
  if (!accept(',')) return {};
  KM_TRY(take_number(0, UINT64_MAX, "the time stamp of a file"));
  KM_TRY(expect(',', "between the time stamp and the size of a file"));
  KM_TRY(take_number(0, UINT64_MAX, "the size of a file"));
  return {};
}

/// Debug information in DWARF: nothing here reads it.
Status Parser::parse_section() {
  advance();
  bool named = token_.kind == Token::Kind::dotted || token_.kind == Token::Kind::identifier;
  if (!named) return unexpected("the name of a section");
  advance();
  if (!token_.is('{')) return unexpected("'{' after the name of a section");
  Token open = token_;
  if (!lexer_.skip_block()) return error_at(open, "this section has no end");
  advance();
  return {};
}

Status Parser::parse_pragma(std::vector<std::string>& pragmas) {
  advance();
  do {
    if (token_.kind != Token::Kind::string) return unexpected("a string");
    pragmas.emplace_back(token_.text);
    advance();
  } while (accept(','));
  return expect(';', "after '.pragma'");
}

Status Parser::parse_alias() {
  if (isa_version() < kFirstWithAlias) {
    return error_at(token_, "'.alias' needs '.version 6.3' or later");
  }
  advance();
  KM_ASSIGN(Token alias, take_identifier("the name of a function"));
  KM_TRY(expect(',', "between the two names of '.alias'"));
  KM_ASSIGN(Token target, take_identifier("the name of a function"));
  uint32_t functions[2] = {};
  const Token* names[2] = {&alias, &target};
  for (int i = 0; i < 2; ++i) {
    auto known = module_names_.find(names[i]->text);
    bool function = known != module_names_.end() && module_->symbols[known->second].is_function;
    if (!function) return error_at(*names[i], quote(names[i]->text) + " is no function");
    functions[i] = module_->symbols[known->second].function;
  }
  if (!module_->functions[functions[0]].is_declaration) {
    return error_at(alias, quote(alias.text) + " has a body, an alias must be a declaration");
  }
  if (module_->functions[functions[1]].alias_of != kNone || functions[0] == functions[1]) {
    return error_at(target, quote(target.text) + " is an alias itself");
  }
  module_->functions[functions[0]].alias_of = functions[1];
  return expect(';', "after '.alias'");
}

}  // namespace km::ptx
