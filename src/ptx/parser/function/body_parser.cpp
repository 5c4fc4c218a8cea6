#include "ptx/parser/function/body_parser.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ptx/names.h"
#include "ptx/parser/literal.h"

namespace km::ptx {
namespace {

constexpr size_t kDeepestScope = 64;

}  // namespace

Status BodyParser::parse() {
  Token open = tokens_.current();
  size_t depth = 0;
  do {
    if (tokens_.at(Token::Kind::end)) return tokens_.error_at(open, "this '{' is never closed");
    if (tokens_.at('{')) {
      if (++depth > kDeepestScope) return tokens_.error_here("scopes are nested too deeply");
      context_.references().open_scope();
      tokens_.advance();
    } else if (tokens_.at('}')) {
      KM_TRY(context_.references().close_scope());
      --depth;
      tokens_.advance();
    } else {
      KM_TRY(parse_statement());
    }
  } while (depth > 0);
  return {};
}

Status BodyParser::parse_statement() {
  if (tokens_.at(Token::Kind::dotted)) return parse_directive();
  if (tokens_.at(Token::Kind::identifier) && tokens_.at_label()) return parse_label();
  if (tokens_.at(Token::Kind::identifier) || tokens_.at('@')) return instructions_.parse();
  return tokens_.unexpected("an instruction, a directive, a label or '}'");
}

Status BodyParser::parse_directive() {
  std::string_view word = tokens_.current().text;
  if (word == "reg") return declarations_.parse_registers();
  if (word == "param") return declarations_.parse_variables(Space::param);
  if (word == "local") return declarations_.parse_variables(Space::local);
  if (word == "shared") return declarations_.parse_variables(Space::shared);
  if (word == "global") return declarations_.parse_variables(Space::global);
  if (word == "const") return declarations_.parse_variables(Space::constant);
  if (word == "loc") {
    KM_ASSIGN(const SourceLine line, parsers_.directives.parse_location());
    context_.add_source_line(line);
    return {};
  }
  if (word == "file") return parsers_.directives.parse_file();
  if (word == "section") return parsers_.directives.parse_section();
  if (word == "pragma") return parse_pragma();
  bool labelled = word == "branchtargets" || word == "calltargets" || word == "callprototype";
  if (labelled) {
    return tokens_.error_here("'." + std::string(word) + "' needs a label before it");
  }
  return tokens_.error_here("unknown directive " + describe(tokens_.current()) + " in a function" +
                            suggest_directive(word));
}

Status BodyParser::parse_pragma() {
  std::vector<std::string>& pragmas = context_.function().pragmas;
  const size_t before = pragmas.size();
  const Token at = tokens_.current();
  constexpr uint32_t kFirstWithUsedBytes = 83;
  KM_TRY(parsers_.directives.parse_pragma(pragmas));
  constexpr std::string_view kUsedBytes = "used_bytes_mask ";
  for (size_t i = pragmas.size(); i-- > before;) {
    std::string_view text = pragmas[i];
    if (!text.starts_with(kUsedBytes)) continue;
    text.remove_prefix(kUsedBytes.size());
    if (module_.isa_version() < kFirstWithUsedBytes) {
      return tokens_.error_at(at, "'used_bytes_mask' needs '.version 8.3' or later");
    }
    if (const auto mask = read_integer(text)) instructions_.note_used_bytes(mask->bits);
    pragmas.erase(pragmas.begin() + static_cast<std::ptrdiff_t>(i));
  }
  return {};
}

Status BodyParser::parse_label() {
  Token name = tokens_.current();
  tokens_.advance();  // the name
  tokens_.advance();  // the colon
  if (tokens_.accept_dotted("branchtargets")) return parse_targets(name, false);
  if (tokens_.accept_dotted("calltargets")) return parse_targets(name, true);
  if (tokens_.accept_dotted("callprototype")) return parse_prototype(name);
  const auto id = static_cast<uint32_t>(context_.function().labels.size());
  KM_TRY(context_.declare_label(name, Entity::Kind::label, id));
  context_.function().labels.push_back(
      {context_.scopes().unique(name.text), context_.next_instruction()});
  return {};
}

Status BodyParser::parse_targets(const Token& label, bool calls) {
  const auto id = static_cast<uint32_t>(context_.function().target_lists.size());
  KM_TRY(context_.declare_label(label, Entity::Kind::target_list, id));
  TargetList list;
  list.name = context_.scopes().unique(label.text);
  do {
    KM_TRY(parse_target(list, id, calls));
  } while (tokens_.accept(','));
  context_.function().target_lists.push_back(std::move(list));
  return tokens_.expect(';', "after the targets");
}

Status BodyParser::parse_target(TargetList& list, uint32_t index, bool calls) {
  KM_ASSIGN(Token name, tokens_.take_identifier(calls ? "the name of a function" : "a label"));
  if (!calls) {
    auto element = static_cast<uint32_t>(list.labels.size());
    context_.references().add(ForwardReferences::Use::table, name, index, element);
    list.labels.push_back(kNone);
    return {};
  }
  const auto known = module_.find_function(name.text);
  if (!known) {
    return tokens_.error_at(name, quote(name.text) + " is not a function declared before");
  }
  list.functions.push_back(*known);
  return {};
}

Status BodyParser::parse_prototype(const Token& label) {
  const auto id = static_cast<uint32_t>(context_.function().prototypes.size());
  KM_TRY(context_.declare_label(label, Entity::Kind::prototype, id));
  Prototype prototype;
  prototype.name = context_.scopes().unique(label.text);
  if (tokens_.at('(')) {
    KM_ASSIGN(prototype.returns, parsers_.signatures.parse_unnamed());
  }
  KM_TRY(tokens_.take_identifier("'_'"));
  if (tokens_.at('(')) {
    KM_ASSIGN(prototype.params, parsers_.signatures.parse_unnamed());
  }
  Function directives;
  KM_TRY(parsers_.function_directives.parse(directives));
  prototype.noreturn = directives.noreturn;
  context_.function().prototypes.push_back(std::move(prototype));
  return tokens_.expect(';', "after the prototype");
}

}  // namespace km::ptx
