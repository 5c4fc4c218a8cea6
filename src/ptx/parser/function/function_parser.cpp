#include "ptx/parser/function/function_parser.h"

#include <string>
#include <utility>

#include "ptx/parser/function/body_parser.h"
#include "ptx/parser/function/function_context.h"
#include "ptx/parser/function/local_declaration_parser.h"
#include "ptx/parser/instruction/instruction_parser.h"

namespace km::ptx {
namespace {

bool same_parameters(const Function& a, const std::vector<SymbolId>& a_list, const Function& b,
                     const std::vector<SymbolId>& b_list) {
  if (a_list.size() != b_list.size()) return false;
  for (size_t i = 0; i < a_list.size(); ++i) {
    const Symbol& x = a.symbols[a_list[i]];
    const Symbol& y = b.symbols[b_list[i]];
    bool open = x.unsized || y.unsized;
    if (x.space != y.space || (!open && x.size_bytes != y.size_bytes)) return false;
  }
  return true;
}

}  // namespace

FunctionParser::FunctionParser(TokenStream& tokens, ExpressionParser& expressions,
                               DeclarationParser& declarations, DirectiveParser& directives,
                               ModuleBuilder& module)
    : tokens_(tokens),
      expressions_(expressions),
      declarations_(declarations),
      directives_(directives),
      module_(module),
      signatures_(tokens, declarations),
      function_directives_(tokens, directives, module),
      mnemonics_(tokens) {}

Status FunctionParser::parse(Linkage linkage, bool is_entry) {
  Function fresh;
  fresh.is_entry = is_entry;
  fresh.linkage = linkage;
  fresh.is_declaration = true;
  while (tokens_.at_dotted("attribute")) {
    Symbol ignored;
    KM_TRY(declarations_.parse_attribute(ignored));
  }
  std::vector<WrittenParameter> parameters;
  KM_ASSIGN(Token name, signatures_.parse(fresh, parameters));
  KM_TRY(function_directives_.parse(fresh));
  bool has_body = tokens_.at('{');
  // CUDA 3 and 4 generated declarations without a semicolon.
  const bool open_end =
      !is_entry && (tokens_.at(Token::Kind::end) || begins_module_item(tokens_.current()));
  if (!has_body && !open_end && !tokens_.at(';')) {
    return tokens_.unexpected("';', '{' or a directive of a function");
  }
  if (has_body && linkage == Linkage::external) {
    return tokens_.error_here("an '.extern' function has no body");
  }
  fresh.is_declaration = !has_body;
  KM_ASSIGN(const uint32_t index, add(std::move(fresh), name));
  if (has_body) return parse_body(index, parameters);
  if (!open_end) tokens_.advance();
  return {};
}

Status FunctionParser::parse_body(uint32_t index, const std::vector<WrittenParameter>& parameters) {
  FunctionContext context(tokens_, module_, index);
  LocalDeclarationParser declarations(tokens_, expressions_, declarations_, module_, context);
  InstructionParser instructions(tokens_, expressions_, mnemonics_, context);
  const FunctionParsers parsers{directives_, signatures_, function_directives_};
  KM_TRY(declarations.declare_parameters(parameters));
  return BodyParser(tokens_, module_, parsers, declarations, instructions, context).parse();
}

Status FunctionParser::check_redeclaration(const Function& old, const Function& fresh,
                                           const Token& name) const {
  std::string where = ", first seen in line " + std::to_string(old.location.line);
  if (!old.is_declaration && !fresh.is_declaration) {
    return tokens_.error_at(name, "function " + quote(name.text) + " has a second body" + where);
  }
  bool same = old.is_entry == fresh.is_entry &&
              same_parameters(old, old.params, fresh, fresh.params) &&
              same_parameters(old, old.returns, fresh, fresh.returns);
  if (same) return {};
  return tokens_.error_at(name,
                          "function " + quote(name.text) + " differs from its declaration" + where);
}

Result<uint32_t> FunctionParser::add(Function&& fresh, const Token& name) {
  const auto known = module_.find(name.text);
  if (!known) return module_.add_function(std::move(fresh), name.text);
  Symbol& symbol = module_.symbol(*known);
  if (!symbol.is_function) {
    return tokens_.error_at(name, "duplicate name " + quote(name.text) +
                                      ", first declared in line " +
                                      std::to_string(symbol.location.line));
  }
  Function& old = module_.module().functions[symbol.function];
  KM_TRY(check_redeclaration(old, fresh, name));
  if (fresh.is_declaration) return symbol.function;
  if (fresh.linkage == Linkage::internal && old.linkage != Linkage::external) {
    fresh.linkage = old.linkage;
  }
  fresh.noreturn |= old.noreturn;
  old = std::move(fresh);
  symbol.linkage = old.linkage;
  return symbol.function;
}

}  // namespace km::ptx
