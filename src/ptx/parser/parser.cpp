#include "ptx/parser/parser.h"

#include "ptx/checks/verifier.h"
#include "ptx/names.h"
#include "ptx/place.h"
#include "ptx/ptx.h"

namespace km::ptx {

Parser::Parser(std::string_view text, std::string_view name)
    : text_(text), name_(name), lexer_(text), module_(std::make_shared<Module>()) {
  module_->name = name_;
}

Result<std::shared_ptr<Module>> Parser::run() {
  advance();
  KM_TRY(parse_header());
  while (token_.kind != Token::Kind::end) KM_TRY(parse_module_item());
  return module_;
}

bool Parser::accept(char symbol) {
  if (!token_.is(symbol)) return false;
  advance();
  return true;
}

bool Parser::accept_dotted(std::string_view word) {
  if (!token_.is_dotted(word)) return false;
  advance();
  return true;
}

Status Parser::expect(char symbol, std::string_view where) {
  if (accept(symbol)) return {};
  return unexpected(std::string("'") + symbol + "' " + std::string(where));
}

Error Parser::error_at(uint32_t line, uint32_t column, const std::string& message) const {
  return {KM_ERROR_INVALID_PTX, text_place(name_, {line, column}) + ": " + message};
}

Error Parser::error_at(const Token& token, const std::string& message) const {
  return error_at(token.line, token.column, message);
}

Error Parser::unexpected(std::string_view expected) const {
  if (token_.kind == Token::Kind::bad) {
    return error_at(token_, describe(token_) + ": " + std::string(lexer_.problem()));
  }
  return error_at(token_, "found " + describe(token_) + ", expected " + std::string(expected));
}

Result<Token> Parser::take_identifier(std::string_view what) {
  if (token_.kind != Token::Kind::identifier) return unexpected(what);
  Token taken = token_;
  advance();
  return taken;
}

Result<uint64_t> Parser::take_number(uint64_t least, uint64_t most, std::string_view what) {
  Token at = token_;
  KM_ASSIGN(Constant value, parse_constant());
  bool negative = value.kind == Constant::Kind::s64 && static_cast<int64_t>(value.bits) < 0;
  if (value.is_float() || negative || value.bits < least || value.bits > most) {
    return error_at(at, std::string(what) + " must be an integer from " + std::to_string(least) +
                            " to " + std::to_string(most) + ", found " + describe(at));
  }
  return value.bits;
}

/// A number as it is written, where PTX takes no expression.
Result<uint64_t> Parser::take_integer(uint64_t least, uint64_t most, std::string_view what) {
  const auto value = token_.kind == Token::Kind::integer ? read_integer(token_.text) : std::nullopt;
  if (!value || value->bits < least || value->bits > most) {
    return error_at(token_, std::string(what) + " must be an integer from " +
                                std::to_string(least) + " to " + std::to_string(most) + ", found " +
                                describe(token_));
  }
  advance();
  return value->bits;
}

Result<std::shared_ptr<const Module>> parse(std::string_view text, std::string_view name) {
  while (text.ends_with('\0')) text.remove_suffix(1);
  constexpr size_t kLongestText = size_t{1} << 31;
  if (text.size() > kLongestText) {
    return make_error(KM_ERROR_INVALID_PTX, "%s: the text is longer than 2 GiB",
                      std::string(name).c_str());
  }
  Parser parser(text, name);
  KM_ASSIGN(std::shared_ptr<Module> module, parser.run());
  KM_TRY(verify_structure(*module));
  return std::shared_ptr<const Module>(std::move(module));
}

const Function* Module::find_function(std::string_view wanted) const {
  for (const Function& function : functions) {
    if (function.name == wanted) return &function;
  }
  return nullptr;
}

const Symbol* Module::find_symbol(std::string_view wanted) const {
  for (const Symbol& symbol : symbols) {
    if (symbol.name == wanted) return &symbol;
  }
  return nullptr;
}

}  // namespace km::ptx
