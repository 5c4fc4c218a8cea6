#include "ptx/parser/function/signature_parser.h"

#include <string>
#include <utility>

namespace km::ptx {

Result<Token> SignatureParser::parse(Function& function, std::vector<WrittenParameter>& written) {
  if (!function.is_entry && tokens_.at('('))
    KM_TRY(parse_parameters(function, function.returns, written));
  KM_ASSIGN(Token name, tokens_.take_identifier("the name of a function"));
  function.name = name.text;
  function.location = {name.line, name.column};
  if (tokens_.at('(')) KM_TRY(parse_parameters(function, function.params, written));
  return name;
}

Status SignatureParser::parse_parameters(Function& function, std::vector<SymbolId>& list,
                                         std::vector<WrittenParameter>& written) {
  tokens_.advance();
  if (tokens_.accept(')')) return {};
  do {
    KM_TRY(parse_parameter(function, list, written));
  } while (tokens_.accept(','));
  return tokens_.expect(')', "after the parameters");
}

Status SignatureParser::parse_parameter(Function& function, std::vector<SymbolId>& list,
                                        std::vector<WrittenParameter>& written) {
  bool in_register = tokens_.at_dotted("reg");
  if (!in_register && !tokens_.at_dotted("param")) {
    return tokens_.unexpected("'.param' or '.reg'");
  }
  if (in_register && function.is_entry) {
    return tokens_.error_here("the parameters of an '.entry' are in .param");
  }
  tokens_.advance();
  KM_ASSIGN(Symbol specifiers,
            declarations_.parse_specifiers(in_register ? Space::reg : Space::param));
  Token name = tokens_.current();
  KM_ASSIGN(Symbol symbol, declarations_.parse_declarator(specifiers));
  KM_TRY(check_parameter(function, symbol, name));
  const uint8_t parts = in_register ? symbol.vector_count : 1;
  for (uint8_t part = 0; part < parts; ++part) {
    Symbol scalar = symbol;
    if (parts > 1) {
      scalar.name += std::string("$") + "xyzw"[part];
      scalar.vector_count = 1;
      scalar.size_bytes = scalar.align_bytes = size_bytes(symbol.type);
    }
    list.push_back(static_cast<SymbolId>(function.symbols.size()));
    function.symbols.push_back(std::move(scalar));
    written.push_back({name, static_cast<uint8_t>(part == 0 ? parts : 0)});
  }
  return {};
}

Status SignatureParser::check_parameter(const Function& function, const Symbol& symbol,
                                        const Token& name) const {
  const bool in_register = symbol.space == Space::reg;
  if (in_register && symbol.is_array) {
    return tokens_.error_at(name, "a parameter in .reg is a register, not an array");
  }
  if (!in_register && symbol.vector_count > 1) {
    return tokens_.error_at(name,
                            "a parameter in .param cannot be a vector: declare an array of bytes");
  }
  if (symbol.dimensions.size() > 1) {
    return tokens_.error_at(name, "a parameter has one dimension at most");
  }
  if (symbol.is_param_pointer && !function.is_entry) {
    return tokens_.error_at(name, "'.ptr' is for the parameters of an '.entry'");
  }
  if (symbol.type == Type::f16x2 && !in_register) {
    return tokens_.error_at(name,
                            "a variable in .param cannot have the type .f16x2: declare it .b32");
  }
  if (kind_of(symbol.type) == TypeKind::opaque && !function.is_entry) {
    return tokens_.error_at(name,
                            "a texture, sampler or surface is a parameter of an '.entry' only");
  }
  return {};
}

Result<std::vector<Symbol>> SignatureParser::parse_unnamed() {
  Function holder;
  std::vector<SymbolId> order;
  std::vector<WrittenParameter> written;
  KM_TRY(parse_parameters(holder, order, written));
  return std::move(holder.symbols);
}

}  // namespace km::ptx
