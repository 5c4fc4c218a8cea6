#include "ptx/parser/function/local_declaration_parser.h"

#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "ptx/names.h"
#include "ptx/parser/declaration/initialiser_parser.h"

namespace km::ptx {

Status LocalDeclarationParser::declare_parameters(const std::vector<WrittenParameter>& written) {
  for (SymbolId id = 0; id < context_.function().symbols.size(); ++id) {
    KM_TRY(declare_parameter(id, written[id]));
  }
  return {};
}

Status LocalDeclarationParser::declare_parameter(SymbolId id, const WrittenParameter& written) {
  Function& function = context_.function();
  const Token& name = written.name;
  Symbol& symbol = function.symbols[id];
  if (name.text == "_") return tokens_.error_at(name, "'_' cannot be the name of a parameter");
  const auto next_register = static_cast<uint32_t>(function.registers.size());
  const bool in_register = symbol.space == Space::reg;
  if (written.components != 0) {
    Entity entity;
    entity.kind = Entity::Kind::local_symbol;
    entity.id = id;
    if (in_register) {
      const bool vector = written.components > 1;
      entity.kind = vector ? Entity::Kind::vector_register : Entity::Kind::reg;
      entity.id = next_register;
      entity.count = written.components;
    }
    KM_TRY(context_.declare(name, entity, "name"));
  }
  symbol.name = context_.scopes().unique(symbol.name);
  if (!in_register) return {};
  symbol.reg = next_register;
  function.registers.push_back({symbol.name, symbol.type});
  return {};
}

Status LocalDeclarationParser::parse_variables(Space space) {
  tokens_.advance();
  KM_ASSIGN(Symbol specifiers, declarations_.parse_specifiers(space));
  do {
    KM_TRY(parse_variable(specifiers));
  } while (tokens_.accept(','));
  return tokens_.expect(';', "after the declaration");
}

Status LocalDeclarationParser::parse_variable(const Symbol& specifiers) {
  const Space space = specifiers.space;
  Token name = tokens_.current();
  KM_ASSIGN(Symbol symbol, declarations_.parse_declarator(specifiers));
  if (tokens_.accept('=')) {
    if (space != Space::global && space != Space::constant) {
      return tokens_.error_at(
          name, "a variable in ." + std::string(text_of(space)) + " cannot be initialised");
    }
    KM_TRY(InitialiserParser(tokens_, expressions_, module_, symbol, kNone).parse());
  }
  if (symbol.unsized && space != Space::param) {
    return tokens_.error_at(name, "array " + quote(name.text) + " needs a size");
  }
  Entity entity;
  entity.kind = Entity::Kind::local_symbol;
  entity.id = static_cast<uint32_t>(context_.function().symbols.size());
  KM_TRY(context_.declare(name, entity, "name"));
  symbol.name = context_.scopes().unique(name.text);
  context_.function().symbols.push_back(std::move(symbol));
  return {};
}

Status LocalDeclarationParser::parse_registers() {
  tokens_.advance();
  KM_ASSIGN(Symbol specifiers, declarations_.parse_specifiers(Space::reg));
  do {
    KM_TRY(parse_register(specifiers));
  } while (tokens_.accept(','));
  return tokens_.expect(';', "after the declaration of registers");
}

Status LocalDeclarationParser::parse_register(const Symbol& specifiers) {
  KM_ASSIGN(Token name, tokens_.take_identifier("the name of a register"));
  Type type = specifiers.type;
  uint8_t width = specifiers.vector_count;
  bool declared = false;
  constexpr std::string_view kComponents[] = {".x", ".y", ".z", ".w"};
  if (width > std::size(kComponents)) {
    return tokens_.error_at(name, "a vector register has 2 or 4 components");
  }
  if (name.text == "_") return tokens_.error_at(name, "'_' cannot be the name of a register");
  if (tokens_.accept('<')) {
    // The count is not parsed as an expression, because '>' would be taken as an operator.
    auto count =
        tokens_.at(Token::Kind::integer) ? read_integer(tokens_.current().text) : std::nullopt;
    if (!count || count->bits > UINT32_MAX) return tokens_.unexpected("the number of registers");
    tokens_.advance();
    KM_TRY(tokens_.expect('>', "after the number of registers"));
    declared =
        context_.scopes().declare_range(name.text, type, width, static_cast<uint32_t>(count->bits));
  } else {
    Entity entity;
    entity.kind = width > 1 ? Entity::Kind::vector_register : Entity::Kind::reg;
    entity.id = static_cast<uint32_t>(context_.function().registers.size());
    entity.count = width;
    declared = context_.scopes().declare(name.text, entity);
    if (declared && width > 1) context_.scopes().add_vector(name.text, type, width);
    if (declared && width == 1) context_.scopes().add_register(name.text, type);
  }
  if (!declared) return tokens_.error_at(name, "duplicate name " + quote(name.text));
  return {};
}

}  // namespace km::ptx
