#include "ptx/parser/module_parser.h"

#include <string>
#include <utility>

#include "ptx/checks/verifier.h"
#include "ptx/names.h"
#include "ptx/parser/declaration/initialiser_parser.h"
#include "ptx/parser/header_parser.h"
#include "ptx/ptx.h"

namespace km::ptx {
namespace {

constexpr uint32_t kFirstWithoutTex = 15, kFirstWithAbi = 30, kFirstWithAlias = 63;

std::optional<Space> variable_space(const Token& token) {
  if (token.kind != Token::Kind::dotted) return std::nullopt;
  if (token.text == "global") return Space::global;
  if (token.text == "const") return Space::constant;
  if (token.text == "shared") return Space::shared;
  if (token.text == "local") return Space::local;
  return std::nullopt;
}

}  // namespace

ModuleParser::ModuleParser(std::string_view text, std::span<const TextRange> ranges,
                           std::string_view name)
    : tokens_(text, ranges, name),
      module_(name),
      expressions_(tokens_),
      directives_(tokens_, expressions_, module_),
      declarations_(tokens_, expressions_, module_),
      functions_(tokens_, expressions_, declarations_, directives_, module_) {}

Result<std::shared_ptr<Module>> ModuleParser::run() {
  KM_TRY(HeaderParser(tokens_, expressions_, module_).parse());
  while (!tokens_.at(Token::Kind::end)) KM_TRY(parse_item());
  return module_.share();
}

Status ModuleParser::parse_item() {
  if (!tokens_.at(Token::Kind::dotted)) return tokens_.unexpected("a directive");
  std::string_view word = tokens_.current().text;
  if (word == "file") return directives_.parse_file();
  if (word == "section") return directives_.parse_section();
  if (word == "loc") {
    KM_TRY(directives_.parse_location());
    return {};
  }
  if (word == "pragma") return directives_.parse_pragma(module_.module().pragmas);
  if (word == "alias") return parse_alias();
  if (word == "version" || word == "target" || word == "address_size") {
    return tokens_.error_here("a second '." + std::string(word) + "' in one module");
  }
  return parse_linked_item();
}

Linkage ModuleParser::parse_linkage() {
  if (tokens_.accept_dotted("extern")) return Linkage::external;
  if (tokens_.accept_dotted("visible")) return Linkage::visible;
  if (tokens_.accept_dotted("weak")) return Linkage::weak;
  if (tokens_.accept_dotted("common")) return Linkage::common;
  return Linkage::internal;
}

Status ModuleParser::parse_linked_item() {
  const Linkage linkage = parse_linkage();
  Symbol attributes;
  while (tokens_.at_dotted("attribute")) KM_TRY(declarations_.parse_attribute(attributes));
  if (linkage != Linkage::common) {
    if (tokens_.accept_dotted("entry")) return functions_.parse(linkage, true);
    if (tokens_.accept_dotted("func")) return functions_.parse(linkage, false);
  }
  const bool texture = tokens_.at_dotted("tex") && module_.isa_version() < kFirstWithoutTex;
  if (variable_space(tokens_.current()) || texture) {
    return parse_variables(linkage, attributes.managed);
  }
  if (tokens_.at_dotted("reg") || tokens_.at_dotted("param")) {
    return tokens_.error_here("'." + std::string(tokens_.current().text) +
                              "' can be declared in functions only");
  }
  if (tokens_.at(Token::Kind::dotted)) {
    return tokens_.error_here("unknown directive " + describe(tokens_.current()) +
                              suggest_directive(tokens_.current().text));
  }
  return tokens_.unexpected("'.entry', '.func' or a state space");
}

Status ModuleParser::parse_variables(Linkage linkage, bool managed) {
  if (tokens_.at_dotted("local") && module_.isa_version() >= kFirstWithAbi) {
    return tokens_.error_here("a variable in .local is declared in a function, from PTX 3.0 on");
  }
  bool texture = tokens_.at_dotted("tex");  // `.tex`, the older spelling of .texref
  Space space = texture ? Space::global : *variable_space(tokens_.current());
  tokens_.advance();
  KM_ASSIGN(Symbol specifiers, declarations_.parse_specifiers(space));
  if (texture) specifiers.type = Type::texref;
  specifiers.linkage = linkage;
  specifiers.managed |= managed;
  if (specifiers.managed && space != Space::global) {
    return tokens_.error_here("only variables in .global can be managed");
  }
  do {
    KM_TRY(parse_variable(specifiers));
  } while (tokens_.accept(','));
  return tokens_.expect(';', "after the declaration");
}

Status ModuleParser::parse_variable(const Symbol& specifiers) {
  Token name = tokens_.current();
  KM_ASSIGN(Symbol symbol, declarations_.parse_declarator(specifiers));
  KM_ASSIGN(const std::optional<SymbolId> declared, find_declared(symbol, name));
  const SymbolId id = declared ? *declared : module_.reserve(name.text);
  const bool external = symbol.linkage == Linkage::external;
  if (tokens_.at('=') && external) {
    return tokens_.error_here("an '.extern' variable cannot be initialised");
  }
  if (tokens_.accept('=')) {
    KM_TRY(InitialiserParser(tokens_, expressions_, module_, symbol, id).parse());
  }
  if (symbol.unsized && !external) {
    return tokens_.error_at(
        name, "array " + quote(name.text) + " needs a size, an initialiser or '.extern'");
  }
  if (declared) {
    module_.symbol(id) = std::move(symbol);
  } else {
    module_.module().symbols.push_back(std::move(symbol));
  }
  return {};
}

Result<std::optional<SymbolId>> ModuleParser::find_declared(const Symbol& symbol,
                                                            const Token& name) const {
  const auto known = module_.find(name.text);
  if (!known) return known;
  const Symbol& old = module_.symbol(*known);
  bool compatible = !old.is_function && old.linkage == Linkage::external &&
                    old.space == symbol.space && old.type == symbol.type;
  if (compatible) return known;
  return tokens_.error_at(name, "duplicate name " + quote(name.text) + ", first declared in line " +
                                    std::to_string(old.location.line));
}

Status ModuleParser::parse_alias() {
  if (module_.isa_version() < kFirstWithAlias) {
    return tokens_.error_here("'.alias' needs '.version 6.3' or later");
  }
  tokens_.advance();
  KM_ASSIGN(Token alias, tokens_.take_identifier("the name of a function"));
  KM_TRY(tokens_.expect(',', "between the two names of '.alias'"));
  KM_ASSIGN(Token target, tokens_.take_identifier("the name of a function"));
  uint32_t functions[2] = {};
  const Token* names[2] = {&alias, &target};
  for (int i = 0; i < 2; ++i) {
    const auto known = module_.find_function(names[i]->text);
    if (!known) return tokens_.error_at(*names[i], quote(names[i]->text) + " is not a function");
    functions[i] = module_.symbol(*known).function;
  }
  Function& declared = module_.module().functions[functions[0]];
  const Function& meant = module_.module().functions[functions[1]];
  if (!declared.is_declaration) {
    return tokens_.error_at(alias,
                            quote(alias.text) + " has a body, an alias must be a declaration");
  }
  if (meant.alias_of != kNone || functions[0] == functions[1]) {
    return tokens_.error_at(target, quote(target.text) + " is an alias itself");
  }
  declared.alias_of = functions[1];
  return tokens_.expect(';', "after '.alias'");
}

Result<std::shared_ptr<const Module>> parse(std::string_view text, std::string_view name) {
  while (text.ends_with('\0')) text.remove_suffix(1);
  constexpr size_t kLongestText = size_t{1} << 31;
  if (text.size() > kLongestText) {
    return make_error(KM_ERROR_INVALID_PTX, "%s: the text is longer than 2 GiB",
                      std::string(name).c_str());
  }
  const TextRange whole{0, text.size(), 1, 1};
  return parse_ranges(text, {&whole, 1}, name);
}

Result<std::shared_ptr<const Module>> parse_ranges(std::string_view text,
                                                   std::span<const TextRange> ranges,
                                                   std::string_view name) {
  ModuleParser parser(text, ranges, name);
  KM_ASSIGN(std::shared_ptr<Module> module, parser.run());
  KM_TRY(verify_structure(*module));
  return std::shared_ptr<const Module>(std::move(module));
}

}  // namespace km::ptx
