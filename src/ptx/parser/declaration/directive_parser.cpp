#include "ptx/parser/declaration/directive_parser.h"

#include <cstdint>

namespace km::ptx {

Status DirectiveParser::parse_file() {
  tokens_.advance();
  KM_ASSIGN(uint64_t index, expressions_.take_number(0, UINT32_MAX, "the number of a file"));
  if (!tokens_.at(Token::Kind::string)) return tokens_.unexpected("the name of a file in quotes");
  module_.module().files[static_cast<uint32_t>(index)] = tokens_.current().text;
  tokens_.advance();
  if (!tokens_.accept(',')) return {};
  KM_TRY(expressions_.take_number(0, UINT64_MAX, "the time stamp of a file"));
  KM_TRY(tokens_.expect(',', "between the time stamp and the size of a file"));
  KM_TRY(expressions_.take_number(0, UINT64_MAX, "the size of a file"));
  return {};
}

Status DirectiveParser::parse_section() {
  tokens_.advance();
  bool named = tokens_.at(Token::Kind::dotted) || tokens_.at(Token::Kind::identifier);
  if (!named) return tokens_.unexpected("the name of a section");
  tokens_.advance();
  if (!tokens_.at('{')) return tokens_.unexpected("'{' after the name of a section");
  return tokens_.skip_block("this section has no end");
}

Status DirectiveParser::parse_pragma(std::vector<std::string>& pragmas) {
  tokens_.advance();
  do {
    if (!tokens_.at(Token::Kind::string)) return tokens_.unexpected("a string");
    pragmas.emplace_back(tokens_.current().text);
    tokens_.advance();
  } while (tokens_.accept(','));
  return tokens_.expect(';', "after '.pragma'");
}

Result<SourceLine> DirectiveParser::parse_location() {
  tokens_.advance();
  SourceLine line;
  for (uint32_t* field : {&line.file, &line.line, &line.column}) {
    KM_ASSIGN(uint64_t value, expressions_.take_number(0, UINT32_MAX, "'.loc'"));
    *field = static_cast<uint32_t>(value);
  }
  while (tokens_.accept(',')) {
    KM_ASSIGN(Token word, tokens_.take_identifier("'function_name' or 'inlined_at'"));
    if (word.text == "function_name") {
      KM_TRY(tokens_.take_identifier("a label"));
      KM_TRY(expressions_.parse_offset());
    } else if (word.text == "inlined_at") {
      for (int i = 0; i < 3; ++i) KM_TRY(expressions_.take_number(0, UINT32_MAX, "'inlined_at'"));
    } else {
      return tokens_.error_at(
          word, "found " + describe(word) + ", expected 'function_name' or 'inlined_at'");
    }
  }
  return line;
}

}  // namespace km::ptx
