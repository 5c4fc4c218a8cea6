// Functions: signatures, directives, and the statements of a body that are no instructions.
#include <algorithm>

#include "ptx/names.h"
#include "ptx/parser/parser.h"

namespace km::ptx {
namespace {

constexpr size_t kDeepestScope = 64;

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

/// True if the token begins an item at module level.
bool begins_item(const Token& token) {
  constexpr std::string_view kWords[] = {"extern", "visible", "weak",  "common", "func",
                                         "entry",  "global",  "const", "shared", "local",
                                         "file",   "section", "alias", "tex"};
  return token.kind == Token::Kind::dotted &&
         std::find(std::begin(kWords), std::end(kWords), token.text) != std::end(kWords);
}

}  // namespace

Status Parser::parse_function(Linkage linkage, bool is_entry) {
  Function fresh;
  fresh.is_entry = is_entry;
  fresh.linkage = linkage;
  fresh.is_declaration = true;
  parameter_names_.clear();
  parameter_widths_.clear();
  while (token_.is_dotted("attribute")) {
    Symbol ignored;
    KM_TRY(parse_attribute(ignored));
  }
  KM_ASSIGN(Token name, parse_signature(fresh));
  KM_TRY(parse_function_directives(fresh));
  bool has_body = token_.is('{');
  // Compilers of CUDA 3 and 4 left out the semicolon of a declaration.
  const bool open_end = !is_entry && (token_.kind == Token::Kind::end || begins_item(token_));
  if (!has_body && !open_end && !token_.is(';')) {
    return unexpected("';', '{' or a directive of a function");
  }
  if (has_body && linkage == Linkage::external) {
    return error_at(token_, "an '.extern' function has no body");
  }
  fresh.is_declaration = !has_body;
  KM_ASSIGN(function_index_, register_function(std::move(fresh), name));
  if (!has_body) {
    if (!open_end) advance();
    return {};
  }
  scopes_ = std::make_unique<FunctionScopes>(function(), module_names_);
  pending_.clear();
  pending_starts_.clear();
  source_line_ = kNone;
  used_bytes_.reset();
  KM_TRY(declare_parameters());
  KM_TRY(parse_body());
  scopes_.reset();
  return {};
}

Result<Token> Parser::parse_signature(Function& function) {
  if (!function.is_entry && token_.is('(')) KM_TRY(parse_parameters(function, function.returns));
  KM_ASSIGN(Token name, take_identifier("the name of a function"));
  function.name = name.text;
  function.location = {name.line, name.column};
  if (token_.is('(')) KM_TRY(parse_parameters(function, function.params));
  return name;
}

Status Parser::parse_parameters(Function& function, std::vector<SymbolId>& list) {
  advance();
  if (accept(')')) return {};
  do {
    bool in_register = token_.is_dotted("reg");
    if (!in_register && !token_.is_dotted("param")) return unexpected("'.param' or '.reg'");
    if (in_register && function.is_entry) {
      return error_at(token_, "the parameters of an '.entry' are in .param");
    }
    advance();
    KM_ASSIGN(Specifiers specifiers, parse_specifiers(in_register ? Space::reg : Space::param));
    Token name = token_;
    KM_ASSIGN(Symbol symbol, parse_declarator(specifiers));
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
      parameter_names_.push_back(name);
      parameter_widths_.push_back(part == 0 ? parts : 0);
    }
  } while (accept(','));
  return expect(')', "after the parameters");
}

Status Parser::check_parameter(const Function& function, const Symbol& symbol,
                               const Token& name) const {
  const bool in_register = symbol.space == Space::reg;
  if (in_register && symbol.is_array) {
    return error_at(name, "a parameter in .reg is a register, not an array");
  }
  if (!in_register && symbol.vector_count > 1) {
    return error_at(name, "a parameter in .param is no vector: declare an array of bytes");
  }
  if (symbol.dimensions.size() > 1) {
    return error_at(name, "a parameter has one dimension at most");
  }
  if (symbol.is_param_pointer && !function.is_entry) {
    return error_at(name, "'.ptr' is for the parameters of an '.entry'");
  }
  if (symbol.type == Type::f16x2 && !in_register) {
    return error_at(name, "a variable in .param cannot have the type .f16x2: declare it .b32");
  }
  if (kind_of(symbol.type) == TypeKind::opaque && !function.is_entry) {
    return error_at(name, "a texture, sampler or surface is a parameter of an '.entry' only");
  }
  return {};
}

Status Parser::parse_function_directives(Function& function) {
  for (;;) {
    KM_ASSIGN(bool found, parse_function_directive(function));
    if (!found) return {};
  }
}

Result<bool> Parser::parse_function_directive(Function& function) {
  if (token_.kind != Token::Kind::dotted) return false;
  if (!function.is_entry && begins_item(token_)) return false;
  const Token at = token_;
  const std::string_view word = at.text;
  if (word == "noreturn" || word == "abi_preserve" || word == "abi_preserve_control") {
    if (function.is_entry) return error_at(at, describe(at) + " is for a '.func'");
    advance();
    if (word == "noreturn") {
      function.noreturn = true;
    } else {
      KM_TRY(take_integer(0, UINT32_MAX, "a number of registers"));
    }
    return true;
  }
  if (word == "pragma") {
    KM_TRY(parse_pragma(function.pragmas));
    return true;
  }
  KM_ASSIGN(const bool known, parse_entry_directive(function));
  if (!known) {
    return error_at(
        at, "unknown directive " + describe(at) + " of a function" + suggest_directive(word));
  }
  if (!function.is_entry) return error_at(at, describe(at) + " is for an '.entry'");
  KM_TRY(check_directives(function, at));
  return true;
}

Result<bool> Parser::parse_entry_directive(Function& function) {
  const std::string_view word = token_.text;
  uint32_t unused = 0;
  const std::pair<std::string_view, std::array<uint32_t, 3>*> sizes[] = {
      {"reqntid", &function.reqntid},
      {"maxntid", &function.maxntid},
      {"reqnctapercluster", &function.reqnctapercluster}};
  for (const auto& [name, values] : sizes) {
    if (word != name) continue;
    advance();
    KM_TRY(parse_dimension_list(*values));
    return true;
  }
  const std::pair<std::string_view, uint32_t*> numbers[] = {
      {"minnctapersm", &function.minnctapersm},
      {"maxnctapersm", &unused},
      {"maxnreg", &function.maxnreg},
      {"maxclusterrank", &function.maxclusterrank}};
  for (const auto& [name, value] : numbers) {
    if (word != name) continue;
    advance();
    KM_ASSIGN(const uint64_t read, take_integer(1, UINT32_MAX, "'." + std::string(name) + "'"));
    *value = static_cast<uint32_t>(read);
    return true;
  }
  if (word != "explicitcluster" && word != "blocksareclusters") return false;
  if (word == "explicitcluster") function.explicitcluster = true;
  advance();
  return true;
}

/// Directives that the version or the target does not know, or that contradict each other.
Status Parser::check_directives(const Function& function, const Token& at) const {
  constexpr uint32_t kFirstWithClusters = 90, kFirstWithoutMaxnctapersm = 21;
  const bool clusters = at.text.find("cluster") != std::string_view::npos;
  if (clusters && module_->target_sm < kFirstWithClusters) {
    return error_at(at, describe(at) + " needs '.target sm_90' or later");
  }
  if (at.text == "maxnctapersm" && isa_version() >= kFirstWithoutMaxnctapersm) {
    return error_at(at, "'.maxnctapersm' ended with PTX 2.0: write '.minnctapersm'");
  }
  if (function.reqntid[0] != 0 && function.maxntid[0] != 0) {
    return error_at(at, "'.reqntid' and '.maxntid' contradict each other");
  }
  if (function.reqnctapercluster[0] != 0 && function.maxclusterrank != 0) {
    return error_at(at, "'.reqnctapercluster' and '.maxclusterrank' contradict each other");
  }
  return {};
}

Status Parser::parse_dimension_list(std::array<uint32_t, 3>& sizes) {
  sizes = {1, 1, 1};
  for (uint32_t& size : sizes) {
    KM_ASSIGN(uint64_t value, take_integer(1, UINT32_MAX, "a number of threads"));
    size = static_cast<uint32_t>(value);
    if (!accept(',')) return {};
  }
  return unexpected("at most three sizes");
}

Status Parser::check_redeclaration(const Function& old, const Function& fresh,
                                   const Token& name) const {
  std::string where = ", first seen in line " + std::to_string(old.location.line);
  if (!old.is_declaration && !fresh.is_declaration) {
    return error_at(name, "function " + quote(name.text) + " has a second body" + where);
  }
  bool same = old.is_entry == fresh.is_entry &&
              same_parameters(old, old.params, fresh, fresh.params) &&
              same_parameters(old, old.returns, fresh, fresh.returns);
  if (same) return {};
  return error_at(name, "function " + quote(name.text) + " differs from its declaration" + where);
}

Result<uint32_t> Parser::register_function(Function&& fresh, const Token& name) {
  auto known = module_names_.find(name.text);
  if (known != module_names_.end()) {
    const Symbol& symbol = module_->symbols[known->second];
    if (!symbol.is_function) {
      return error_at(name, "duplicate name " + quote(name.text) + ", first declared in line " +
                                std::to_string(symbol.location.line));
    }
    Function& old = module_->functions[symbol.function];
    KM_TRY(check_redeclaration(old, fresh, name));
    if (!fresh.is_declaration) {
      if (fresh.linkage == Linkage::internal && old.linkage != Linkage::external) {
        fresh.linkage = old.linkage;
      }
      fresh.noreturn |= old.noreturn;
      old = std::move(fresh);
      module_->symbols[known->second].linkage = old.linkage;
    }
    return symbol.function;
  }
  Symbol symbol;
  symbol.name = fresh.name;
  symbol.is_function = true;
  symbol.function = static_cast<uint32_t>(module_->functions.size());
  symbol.linkage = fresh.linkage;
  symbol.location = fresh.location;
  uint32_t index = symbol.function;
  module_names_.emplace(name.text, static_cast<SymbolId>(module_->symbols.size()));
  module_->symbols.push_back(std::move(symbol));
  module_->functions.push_back(std::move(fresh));
  return index;
}

/// Parameters are the outermost names of a body; those in .reg become registers.
Status Parser::declare_parameters() {
  for (SymbolId id = 0; id < function().symbols.size(); ++id) {
    const Token& name = parameter_names_[id];
    Symbol& symbol = function().symbols[id];
    if (name.text == "_") return error_at(name, "'_' cannot be the name of a parameter");
    if (parameter_widths_[id] == 0) {
      symbol.reg = static_cast<uint32_t>(function().registers.size());
      symbol.name = scopes_->unique(symbol.name);
      function().registers.push_back({symbol.name, symbol.type});
      continue;
    }
    Entity entity;
    entity.kind = Entity::Kind::local_symbol;
    entity.id = id;
    if (symbol.space == Space::reg) {
      const bool vector = parameter_widths_[id] > 1;
      entity.kind = vector ? Entity::Kind::vector_register : Entity::Kind::reg;
      entity.id = static_cast<uint32_t>(function().registers.size());
      entity.count = parameter_widths_[id];
    }
    if (!scopes_->declare(name.text, entity)) {
      return error_at(name, "duplicate name " + quote(name.text));
    }
    symbol.name = scopes_->unique(symbol.name);
    if (symbol.space != Space::reg) continue;
    symbol.reg = entity.id;
    function().registers.push_back({symbol.name, symbol.type});
  }
  return {};
}

Status Parser::parse_body() {
  Token open = token_;
  size_t depth = 0;
  do {
    if (token_.kind == Token::Kind::end) return error_at(open, "this '{' is never closed");
    if (token_.is('{')) {
      if (++depth > kDeepestScope) return error_at(token_, "scopes are nested too deeply");
      scopes_->open();
      pending_starts_.push_back(pending_.size());
      advance();
    } else if (token_.is('}')) {
      KM_TRY(close_scope());
      --depth;
      advance();
    } else {
      KM_TRY(parse_statement());
    }
  } while (depth > 0);
  return {};
}

Status Parser::parse_statement() {
  if (token_.kind == Token::Kind::dotted) return parse_statement_directive();
  if (token_.kind == Token::Kind::identifier && lexer_.at_label_colon()) return parse_label();
  if (token_.kind == Token::Kind::identifier || token_.is('@')) return parse_instruction();
  return unexpected("an instruction, a directive, a label or '}'");
}

Status Parser::parse_statement_directive() {
  std::string_view word = token_.text;
  if (word == "reg") return parse_registers();
  if (word == "param") return parse_local_variables(Space::param);
  if (word == "local") return parse_local_variables(Space::local);
  if (word == "shared") return parse_local_variables(Space::shared);
  if (word == "global") return parse_local_variables(Space::global);
  if (word == "const") return parse_local_variables(Space::constant);
  if (word == "loc") return parse_location();
  if (word == "file") return parse_file();
  if (word == "section") return parse_section();
  if (word == "pragma") return parse_body_pragma();
  bool labelled = word == "branchtargets" || word == "calltargets" || word == "callprototype";
  if (labelled) {
    return error_at(token_, "'." + std::string(word) + "' needs a label before it");
  }
  return error_at(
      token_, "unknown directive " + describe(token_) + " in a function" + suggest_directive(word));
}

/// `.pragma "used_bytes_mask 0xF0F";` says which bytes of what the next load reads are used.
Status Parser::parse_body_pragma() {
  std::vector<std::string>& pragmas = function().pragmas;
  const size_t before = pragmas.size();
  const Token at = token_;
  constexpr uint32_t kFirstWithUsedBytes = 83;
  KM_TRY(parse_pragma(pragmas));
  constexpr std::string_view kUsedBytes = "used_bytes_mask ";
  for (size_t i = pragmas.size(); i-- > before;) {
    std::string_view text = pragmas[i];
    if (!text.starts_with(kUsedBytes)) continue;
    text.remove_prefix(kUsedBytes.size());
    if (isa_version() < kFirstWithUsedBytes) {
      return error_at(at, "'used_bytes_mask' needs '.version 8.3' or later");
    }
    if (const auto mask = read_integer(text)) used_bytes_ = mask->bits;
    pragmas.erase(pragmas.begin() + static_cast<std::ptrdiff_t>(i));
  }
  return {};
}

Status Parser::parse_label() {
  Token name = token_;
  advance();  // the name
  advance();  // the colon
  if (accept_dotted("branchtargets")) return parse_targets(name, false);
  if (accept_dotted("calltargets")) return parse_targets(name, true);
  if (accept_dotted("callprototype")) return parse_prototype(name);
  Entity entity;
  entity.kind = Entity::Kind::label;
  entity.id = static_cast<uint32_t>(function().labels.size());
  if (!scopes_->declare(name.text, entity)) {
    return error_at(name, "duplicate label " + quote(name.text));
  }
  auto instruction = static_cast<uint32_t>(function().code.size());
  function().labels.push_back({scopes_->unique(name.text), instruction});
  return {};
}

/// .loc file line column[, function_name label[+offset], inlined_at file line column]
Status Parser::parse_location() {
  advance();
  SourceLine line;
  for (uint32_t* field : {&line.file, &line.line, &line.column}) {
    KM_ASSIGN(uint64_t value, take_number(0, UINT32_MAX, "'.loc'"));
    *field = static_cast<uint32_t>(value);
  }
  while (accept(',')) {
    KM_ASSIGN(Token word, take_identifier("'function_name' or 'inlined_at'"));
    if (word.text == "function_name") {
      KM_TRY(take_identifier("a label"));
      KM_TRY(parse_offset());
    } else if (word.text == "inlined_at") {
      for (int i = 0; i < 3; ++i) KM_TRY(take_number(0, UINT32_MAX, "'inlined_at'"));
    } else {
      return error_at(word,
                      "found " + describe(word) + ", expected 'function_name' or 'inlined_at'");
    }
  }
  if (!scopes_) return {};
  source_line_ = static_cast<uint32_t>(function().source_lines.size());
  function().source_lines.push_back(line);
  return {};
}

/// label: .branchtargets a, b;   label: .calltargets f, g;
Status Parser::parse_targets(const Token& label, bool calls) {
  Entity entity;
  entity.kind = Entity::Kind::target_list;
  entity.id = static_cast<uint32_t>(function().target_lists.size());
  if (!scopes_->declare(label.text, entity)) {
    return error_at(label, "duplicate label " + quote(label.text));
  }
  TargetList list;
  list.name = scopes_->unique(label.text);
  do {
    KM_ASSIGN(Token name, take_identifier(calls ? "the name of a function" : "a label"));
    if (!calls) {
      auto element = static_cast<uint32_t>(list.labels.size());
      pending_.push_back({PendingName::Use::table, name, entity.id, element});
      list.labels.push_back(kNone);
      continue;
    }
    auto known = module_names_.find(name.text);
    bool good = known != module_names_.end() && module_->symbols[known->second].is_function;
    if (!good) return error_at(name, quote(name.text) + " is no function declared before");
    list.functions.push_back(known->second);
  } while (accept(','));
  function().target_lists.push_back(std::move(list));
  return expect(';', "after the targets");
}

/// label: .callprototype (.param .b32 _) _ (.param .b64 _) .noreturn;
Status Parser::parse_prototype(const Token& label) {
  Entity entity;
  entity.kind = Entity::Kind::prototype;
  entity.id = static_cast<uint32_t>(function().prototypes.size());
  if (!scopes_->declare(label.text, entity)) {
    return error_at(label, "duplicate label " + quote(label.text));
  }
  Prototype prototype;
  prototype.name = scopes_->unique(label.text);
  if (token_.is('(')) {
    KM_ASSIGN(prototype.returns, parse_prototype_parameters());
  }
  KM_TRY(take_identifier("'_'"));
  if (token_.is('(')) {
    KM_ASSIGN(prototype.params, parse_prototype_parameters());
  }
  Function directives;
  KM_TRY(parse_function_directives(directives));
  prototype.noreturn = directives.noreturn;
  function().prototypes.push_back(std::move(prototype));
  return expect(';', "after the prototype");
}

Result<std::vector<Symbol>> Parser::parse_prototype_parameters() {
  Function holder;
  std::vector<SymbolId> order;
  KM_TRY(parse_parameters(holder, order));
  return std::move(holder.symbols);
}

/// Names that this scope has now declared get their meaning; the rest waits for the outer one.
Status Parser::close_scope() {
  size_t start = pending_starts_.back();
  pending_starts_.pop_back();
  bool outermost = pending_starts_.empty();
  size_t kept = start;
  for (size_t i = start; i < pending_.size(); ++i) {
    const Entity* entity = scopes_->find_innermost(pending_[i].token.text);
    if (entity) {
      KM_TRY(resolve(pending_[i], *entity));
    } else if (outermost) {
      return error_at(pending_[i].token, "undefined label " + quote(pending_[i].token.text));
    } else {
      pending_[kept++] = pending_[i];
    }
  }
  pending_.resize(kept);
  scopes_->close();
  return {};
}

Status Parser::resolve(const PendingName& pending, const Entity& entity) {
  bool list = entity.kind == Entity::Kind::target_list;
  bool prototype = entity.kind == Entity::Kind::prototype;
  std::string name = quote(pending.token.text);
  if (pending.use == PendingName::Use::table) {
    if (entity.kind != Entity::Kind::label) return error_at(pending.token, name + " is no label");
    function().target_lists[pending.index].labels[pending.element] = entity.id;
    return {};
  }
  Operand& operand = function().code[pending.index].operands[pending.element];
  operand.label = entity.id;
  bool indexed = function().code[pending.index].opcode == Opcode::brx;
  if (pending.use == PendingName::Use::call_target_list) {
    if (!list && !(prototype && !indexed)) {
      return error_at(pending.token, name + (indexed ? " is no list of branch targets"
                                                     : " is no prototype or list of functions"));
    }
    operand.kind = list ? Operand::Kind::target_list : Operand::Kind::prototype;
    return {};
  }
  if (entity.kind != Entity::Kind::label) return error_at(pending.token, name + " is no label");
  return {};
}

}  // namespace km::ptx
