#include "ptx/parser/declaration/declaration_parser.h"

#include <algorithm>
#include <bit>
#include <string>

#include "ptx/names.h"

namespace km::ptx {
namespace {

constexpr uint64_t kLargestVariable = uint64_t{1} << 40;
constexpr uint64_t kLargestAlignment = 1u << 20;
constexpr size_t kMostDimensions = 32;

}  // namespace

Status set_size(Symbol& symbol, const Token& name, const TokenStream& tokens) {
  uint64_t element = uint64_t{size_bytes(symbol.type)} * symbol.vector_count;
  uint64_t elements = 1;
  for (size_t i = symbol.unsized ? 1 : 0; i < symbol.dimensions.size(); ++i) {
    uint64_t extent = symbol.dimensions[i];
    bool fits = extent == 0 || elements <= kLargestVariable / extent;
    if (!fits || elements * extent * element > kLargestVariable) {
      return tokens.error_at(name, quote(name.text) + " is larger than 1 TiB");
    }
    elements *= extent;
  }
  if (symbol.unsized) elements = 0;
  symbol.element_count = elements;
  symbol.size_bytes = elements * element;
  return {};
}

Result<Symbol> DeclarationParser::parse_specifiers(Space space) {
  Symbol symbol;
  symbol.space = space;
  symbol.align_bytes = 0;
  while (tokens_.at(Token::Kind::dotted) && symbol.type == Type::none) {
    KM_TRY(parse_specifier(symbol));
  }
  if (symbol.type == Type::none) return tokens_.unexpected("a type such as .b32");
  if (tokens_.at_dotted("ptr") && space == Space::param) {
    tokens_.advance();
    KM_TRY(parse_pointer_attributes(symbol));
  }
  if (tokens_.at(Token::Kind::dotted)) {
    return tokens_.unexpected("a name: '.align' and '.v2' stand before the type");
  }
  constexpr uint32_t kWidestVectorBits = 128;
  if (symbol.vector_count > 1 && size_bits(symbol.type) * symbol.vector_count > kWidestVectorBits) {
    return tokens_.error_here("a vector has 128 bits at most");
  }
  uint32_t natural = size_bytes(symbol.type) * symbol.vector_count;
  if (symbol.align_bytes == 0) symbol.align_bytes = std::max(natural, 1u);
  return symbol;
}

Status DeclarationParser::parse_specifier(Symbol& symbol) {
  Token at = tokens_.current();
  if (at.text == "attribute") return parse_attribute(symbol);
  tokens_.advance();
  if (at.text == "v2" || at.text == "v4") {
    symbol.vector_count = static_cast<uint8_t>(at.text[1] - '0');
    return {};
  }
  if (at.text == "align") return parse_alignment(symbol);
  auto type = find_type(at.text);
  if (!type) {
    return tokens_.error_at(at, "found " + describe(at) +
                                    ", expected a type such as .b32, '.align', "
                                    "'.v2' or '.v4'");
  }
  symbol.type = *type;
  return check_variable_type(symbol, at);
}

Status DeclarationParser::parse_alignment(Symbol& symbol) {
  Token number = tokens_.current();
  KM_ASSIGN(uint64_t bytes, tokens_.take_integer(1, kLargestAlignment, "an alignment"));
  if (!std::has_single_bit(bytes)) {
    return tokens_.error_at(number, "an alignment must be a power of two");
  }
  symbol.align_bytes = static_cast<uint32_t>(bytes);
  return {};
}

Status DeclarationParser::check_variable_type(const Symbol& symbol, const Token& at) const {
  const Type type = symbol.type;
  const TypeKind kind = kind_of(type);
  const bool half = type == Type::f16 || type == Type::f16x2;
  const bool plain = size_bits(type) >= 8 && !is_packed_integer(type) &&
                     (kind == TypeKind::bits || kind == TypeKind::unsigned_int ||
                      kind == TypeKind::signed_int || type == Type::f32 || type == Type::f64);
  const bool predicate = type == Type::pred && symbol.space == Space::reg;
  const bool opaque =
      kind == TypeKind::opaque && (symbol.space == Space::global || symbol.space == Space::param);
  if (!half && !plain && !predicate && !opaque) {
    return tokens_.error_at(at, "a variable in ." + std::string(text_of(symbol.space)) +
                                    " cannot have the type ." + std::string(at.text));
  }
  if (predicate && symbol.vector_count > 1)
    return tokens_.error_at(at, "there are no vectors of .pred");
  constexpr uint32_t kFirstWithB128 = 83, kFirstTargetWithB128 = 70;
  const bool known =
      module_.isa_version() >= kFirstWithB128 && module_.module().target_sm >= kFirstTargetWithB128;
  if (type == Type::b128 && !known) {
    return tokens_.error_at(at, "type .b128 needs '.version 8.3' and '.target sm_70' or later");
  }
  return {};
}

Status DeclarationParser::parse_pointer_attributes(Symbol& symbol) {
  symbol.is_param_pointer = true;
  symbol.pointer_align_bytes = 4;
  constexpr Space kSpaces[] = {Space::global, Space::constant, Space::shared, Space::local};
  for (Space space : kSpaces) {
    if (!tokens_.at_dotted(text_of(space))) continue;
    symbol.pointer_space = space;
    tokens_.advance();
    break;
  }
  if (!tokens_.accept_dotted("align")) return {};
  Token number = tokens_.current();
  KM_ASSIGN(uint64_t bytes, expressions_.take_number(1, kLargestAlignment, "an alignment"));
  if (!std::has_single_bit(bytes))
    return tokens_.error_at(number, "an alignment must be a power of two");
  symbol.pointer_align_bytes = static_cast<uint32_t>(bytes);
  return {};
}

Status DeclarationParser::parse_attribute(Symbol& symbol) {
  tokens_.advance();
  KM_TRY(tokens_.expect('(', "after '.attribute'"));
  do {
    if (tokens_.accept_dotted("managed")) {
      symbol.managed = true;
    } else if (tokens_.accept_dotted("unified")) {
      KM_TRY(tokens_.expect('(', "after '.unified'"));
      KM_TRY(expressions_.take_number(0, UINT64_MAX, "an identifier"));
      KM_TRY(tokens_.expect(',', "between two identifiers"));
      KM_TRY(expressions_.take_number(0, UINT64_MAX, "an identifier"));
      KM_TRY(tokens_.expect(')', "after '.unified(a, b'"));
    } else {
      return tokens_.unexpected("'.managed' or '.unified'");
    }
  } while (tokens_.accept(','));
  return tokens_.expect(')', "after the attributes");
}

Status DeclarationParser::parse_dimensions(Symbol& symbol) {
  while (tokens_.at('[')) {
    Token open = tokens_.current();
    tokens_.advance();
    symbol.is_array = true;
    if (symbol.dimensions.size() == kMostDimensions) {
      return tokens_.error_at(open, "more than 32 dimensions");
    }
    if (tokens_.at(']')) {
      if (!symbol.dimensions.empty()) {
        return tokens_.error_at(open, "only the first dimension may be left open");
      }
      symbol.unsized = true;
      symbol.dimensions.push_back(0);
    } else {
      KM_ASSIGN(uint64_t extent, tokens_.take_integer(1, kLargestVariable, "the size of an array"));
      symbol.dimensions.push_back(extent);
    }
    KM_TRY(tokens_.expect(']', "after the size of an array"));
  }
  return {};
}

Result<Symbol> DeclarationParser::parse_declarator(const Symbol& specifiers) {
  Symbol symbol = specifiers;
  KM_ASSIGN(Token name, tokens_.take_identifier("a name"));
  if (name.text == "_" && symbol.space != Space::param && symbol.space != Space::reg) {
    return tokens_.error_at(name, "'_' cannot be the name of a variable");
  }
  symbol.name = name.text;
  symbol.location = {name.line, name.column};
  KM_TRY(parse_dimensions(symbol));
  KM_TRY(set_size(symbol, name, tokens_));
  return symbol;
}

}  // namespace km::ptx
