#include "ptx/index/index_reader.h"

#include "ptx/parser/function/function_directive_parser.h"

namespace km::ptx {

IndexReader::IndexReader(std::string_view text, ModuleIndex* index)
    : text_(text), index_(*index), lexer_(text) {
  advance();
}

bool IndexReader::run() {
  if (!read_header()) return false;
  while (token_.kind != Token::Kind::end) {
    if (!read_item()) return false;
  }
  return true;
}

void IndexReader::advance() {
  last_end_ = lexer_.position();
  token_ = lexer_.next();
}

size_t IndexReader::begin_of(const Token& token) const {
  const auto begin = static_cast<size_t>(token.text.data() - text_.data());
  const bool has_mark = token.kind == Token::Kind::dotted || token.kind == Token::Kind::string;
  return has_mark ? begin - 1 : begin;
}

TextRange IndexReader::range_here() const {
  return {begin_of(token_), begin_of(token_), token_.line, token_.column};
}

uint32_t IndexReader::add(TextRange range) {
  range.end = last_end_;
  index_.items_.push_back(range);
  return static_cast<uint32_t>(index_.items_.size() - 1);
}

void IndexReader::skip_to_directive() {
  while (token_.kind != Token::Kind::dotted && token_.kind != Token::Kind::end &&
         token_.kind != Token::Kind::bad) {
    advance();
  }
}

bool IndexReader::skip_to(char symbol) {
  while (!token_.is(symbol)) {
    if (token_.kind == Token::Kind::end || token_.kind == Token::Kind::bad) return false;
    advance();
  }
  advance();
  return true;
}

bool IndexReader::skip_list() {
  size_t depth = 0;
  do {
    if (token_.kind == Token::Kind::end || token_.kind == Token::Kind::bad) return false;
    if (token_.is('(') || token_.is('[')) ++depth;
    if (token_.is(')') || token_.is(']')) --depth;
    advance();
  } while (depth > 0);
  return true;
}

bool IndexReader::read_header() {
  const TextRange range = range_here();
  for (const std::string_view word : {"version", "target", "address_size"}) {
    if (!token_.is_dotted(word)) return word == "address_size" && !index_.items_.empty();
    advance();
    skip_to_directive();
    if (word == "version") continue;
    index_.items_.clear();
    index_.directives_.assign(1, add(range));
  }
  return true;
}

bool IndexReader::read_item() {
  if (token_.kind != Token::Kind::dotted) return false;
  const TextRange range = range_here();
  if (token_.text == "section") return read_section();
  if (token_.text == "file" || token_.text == "loc") {
    const bool is_file = token_.text == "file";
    advance();
    skip_to_directive();
    if (is_file) index_.directives_.push_back(add(range));
    return true;
  }
  if (token_.text == "pragma") {
    if (!skip_to(';')) return false;
    index_.directives_.push_back(add(range));
    return true;
  }
  if (token_.text == "alias") {
    advance();
    const Token name = token_;
    if (name.kind != Token::Kind::identifier || !skip_to(';')) return false;
    index_.items_by_name_.emplace(name.text, add(range));
    return true;
  }
  return read_linked_item();
}

/// Debug information, which no kernel refers to.
bool IndexReader::read_section() {
  advance();
  advance();
  if (!token_.is('{') || !lexer_.skip_body()) return false;
  advance();
  return true;
}

bool IndexReader::read_linked_item() {
  const TextRange range = range_here();
  for (const std::string_view linkage : {"extern", "visible", "weak", "common"}) {
    if (!token_.is_dotted(linkage)) continue;
    advance();
    break;
  }
  while (token_.is_dotted("attribute")) {
    advance();
    if (!token_.is('(') || !skip_list()) return false;
  }
  if (token_.kind != Token::Kind::dotted) return false;
  const std::string_view word = token_.text;
  const bool is_function = word == "entry" || word == "func";
  const bool is_variable = word == "global" || word == "const" || word == "shared";
  if (!is_function && !is_variable) return false;
  advance();
  return is_function ? read_function(word == "entry", range) : read_variables(range);
}

bool IndexReader::read_function(bool is_entry, const TextRange& range) {
  std::string_view name;
  for (;;) {
    if (token_.is('{')) {
      if (!lexer_.skip_body()) return false;
      advance();
      return add_function(name, is_entry, true, range);
    }
    if (token_.is(';')) {
      advance();
      return add_function(name, is_entry, false, range);
    }
    const bool is_over = token_.kind == Token::Kind::end || begins_module_item(token_);
    if (is_over) return !is_entry && add_function(name, is_entry, false, range);
    if (token_.is('(')) {
      if (!skip_list()) return false;
    } else if (token_.is_dotted("pragma")) {
      if (!skip_to(';')) return false;
    } else if (token_.kind == Token::Kind::bad) {
      return false;
    } else {
      if (token_.kind == Token::Kind::identifier && name.empty()) name = token_.text;
      advance();
    }
  }
}

bool IndexReader::add_function(std::string_view name, bool is_entry, bool has_body,
                               TextRange range) {
  if (name.empty() || name.starts_with('%')) return false;
  index_.items_by_name_.emplace(name, add(range));
  ModuleIndex::FunctionState& state = index_.functions_[name];
  if (has_body && state.has_body) return false;
  state.has_body = state.has_body || has_body;
  if (is_entry && has_body) index_.entries_.push_back(name);
  return true;
}

bool IndexReader::skip_value() {
  while (!token_.is(',') && !token_.is(';')) {
    if (token_.kind == Token::Kind::end || token_.kind == Token::Kind::bad) return false;
    if (token_.is('(')) {
      if (!skip_list()) return false;
      continue;
    }
    if (token_.is('{') && !lexer_.skip_body()) return false;
    advance();
  }
  return true;
}

bool IndexReader::read_variables(const TextRange& range) {
  std::vector<std::string_view> names;
  bool has_name = false;
  while (!token_.is(';')) {
    if (token_.kind == Token::Kind::end || token_.kind == Token::Kind::bad) return false;
    if (token_.is('(') || token_.is('[')) {
      if (!skip_list()) return false;
      continue;
    }
    if (token_.is('=')) {
      if (!skip_value()) return false;
      continue;
    }
    if (token_.kind == Token::Kind::identifier && !has_name) {
      names.push_back(token_.text);
      has_name = true;
    }
    if (token_.is(',')) has_name = false;
    advance();
  }
  advance();
  const uint32_t item = add(range);
  for (const std::string_view name : names) {
    if (name.starts_with('%')) return false;
    index_.items_by_name_.emplace(name, item);
    index_.variables_.push_back(name);
  }
  return !names.empty();
}

}  // namespace km::ptx
