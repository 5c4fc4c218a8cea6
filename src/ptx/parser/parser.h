// The parser: text to Module. One class, its parts in parser_*.cpp by what they read.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "ptx/ir.h"
#include "ptx/mnemonic.h"
#include "ptx/parser/lexer.h"
#include "ptx/parser/literal.h"
#include "ptx/parser/scope.h"

namespace km::ptx {

class Parser {
 public:
  Parser(std::string_view text, std::string_view name);

  Result<std::shared_ptr<Module>> run();

 private:
  /// A name used before its declaration can be known: patched when its scope closes.
  struct PendingName {
    enum class Use : uint8_t { branch, table, call_target_list };
    Use use = Use::branch;
    Token token;
    uint32_t index = 0;    // instruction, or target list
    uint32_t element = 0;  // operand, or element of the list
  };
  /// `.param .align 4 .b8` ...: what precedes the names of a declaration.
  struct Specifiers {
    Symbol prototype;
    bool vector_given = false;
  };
  /// The position of an initialiser in its array.
  struct Initialiser {
    Symbol* symbol = nullptr;
    uint32_t function = kNone;
    SymbolId symbol_id = kNone;
    std::vector<uint64_t> extents;  // elements of one entry at each level; [0] is all of it
    uint64_t written_end = 0;       // elements reached so far
  };
  /// The written form of an operand, beyond the typed one.
  struct OperandNote {
    bool is_sum = false;           // %r+1: no place for a result
    bool is_element = false;       // name[index]: an address without brackets
    Space space = Space::generic;  // of an element whose address is in a register
  };

  // parser.cpp: tokens and errors.
  void advance() { token_ = lexer_.next(); }
  bool accept(char symbol);
  bool accept_dotted(std::string_view word);
  Status expect(char symbol, std::string_view where);
  Error error_at(const Token& token, const std::string& message) const;
  Error error_at(uint32_t line, uint32_t column, const std::string& message) const;
  Error unexpected(std::string_view expected) const;
  Result<Token> take_identifier(std::string_view what);
  Result<uint64_t> take_integer(uint64_t least, uint64_t most, std::string_view what);
  Result<uint64_t> take_number(uint64_t least, uint64_t most, std::string_view what);

  // parser_expression.cpp: constant expressions.
  Result<Constant> parse_constant();
  Result<Constant> parse_binary(int least_precedence);
  Result<Constant> parse_unary();
  Result<Constant> parse_primary();
  Result<int64_t> parse_offset();

  // parser_module.cpp: what stands at module level.
  Status parse_header();
  Status parse_version();
  Status parse_target();
  Status parse_target_option();
  Status parse_module_item();
  Status parse_linked_item();
  Status parse_file();
  Status parse_section();
  Status parse_pragma(std::vector<std::string>& pragmas);
  Status parse_alias();
  Status parse_module_variable(Linkage linkage, bool managed);
  Result<Linkage> parse_linkage();

  // parser_declaration.cpp: specifiers, names, sizes.
  Result<Specifiers> parse_specifiers(Space space);
  Status parse_specifier(Specifiers& specifiers);
  Status check_variable_type(const Symbol& symbol, const Token& at) const;
  Status parse_pointer_attributes(Symbol& symbol);
  Status parse_attribute(Symbol& symbol);
  Status parse_dimensions(Symbol& symbol);
  Status set_size(Symbol& symbol, const Token& name);
  Result<Symbol> parse_declarator(const Specifiers& specifiers);
  Status parse_local_variables(Space space);
  Status parse_registers();
  Status declare_register(const Specifiers& specifiers);

  // parser_initialiser.cpp
  Status parse_initialiser(Symbol& symbol, uint32_t function, SymbolId id);
  Status parse_initialiser_list(Initialiser& state, size_t level, uint64_t begin);
  Status parse_initialiser_value(Initialiser& state, uint64_t element);
  Status parse_address_value(Initialiser& state, uint64_t offset, uint64_t mask);
  Status store_bits(Initialiser& state, const Token& token, uint64_t offset, uint64_t bits);
  Result<SymbolId> find_addressable(const Token& name, const Initialiser& state,
                                    bool generic) const;
  Status reserve_data(Initialiser& state, const Token& token, uint64_t end);
  Status skip_opaque_initialiser();

  // parser_function.cpp: .entry, .func and their bodies.
  Status parse_function(Linkage linkage, bool is_entry);
  Status parse_function_header(Function& function, Linkage linkage, bool is_entry);
  Result<Token> parse_signature(Function& function);
  Status parse_parameters(Function& function, std::vector<SymbolId>& list);
  Status parse_function_directives(Function& function);
  Result<bool> parse_function_directive(Function& function);
  Result<bool> parse_entry_directive(Function& function);
  Status check_directives(const Function& function, const Token& at) const;
  Status check_parameter(const Function& function, const Symbol& symbol, const Token& name) const;
  Status parse_dimension_list(std::array<uint32_t, 3>& sizes);
  Result<uint32_t> register_function(Function&& function, const Token& name);
  Status check_redeclaration(const Function& old, const Function& fresh, const Token& name) const;
  Status declare_parameters();
  Status parse_body();
  Status parse_statement();
  Status parse_statement_directive();
  Status parse_body_pragma();
  Status parse_label();
  Status parse_location();
  Status parse_targets(const Token& label, bool calls);
  Status parse_prototype(const Token& label);
  Result<std::vector<Symbol>> parse_prototype_parameters();
  Status close_scope();
  Status resolve(const PendingName& pending, const Entity& entity);

  // parser_instruction.cpp, parser_rewrite.cpp
  Status parse_instruction();
  Status parse_guard(Instruction& instruction);
  Result<const Mnemonic*> take_mnemonic();
  Result<const Mnemonic*> look_up_mnemonic(const Token& at, std::string_view text);
  Status parse_operands(Instruction& instruction);
  Status parse_branch(Instruction& instruction);
  Status parse_indexed_branch(Instruction& instruction);
  Status parse_call(Instruction& instruction);
  Status parse_call_list(Instruction& instruction);
  Status parse_callee(Instruction& instruction);
  Status parse_call_targets(Instruction& instruction);
  Status add_operand(Instruction& instruction, const Operand& operand, const Token& at);
  Status choose_form(Instruction& instruction, const Mnemonic& mnemonic);
  Status emit_helper(std::string_view mnemonic, std::initializer_list<Operand> operands);
  Operand temporary(Type type);
  static Operand immediate(const Constant& constant);
  Status finish_operands(Instruction& instruction, const Mnemonic& mnemonic);
  void unwrap(Operand& operand);
  bool is_plain_move(const Instruction& instruction, unsigned index) const;
  bool is_predicate(const Operand& operand) const;
  Status widen_base(Operand& address);
  Status name_space(Instruction& instruction, const Mnemonic*& mnemonic);
  Status make_generic(Operand& address);
  Status split_load(const Instruction& instruction, const Mnemonic& mnemonic, uint64_t used_bytes);
  Status split_vector_move(const Instruction& instruction, const Mnemonic& mnemonic);
  Result<const Mnemonic*> joined_mnemonic(std::string text);
  Error no_form_error(const Instruction& instruction, const Mnemonic& mnemonic) const;
  Status check_and_convert(Instruction& instruction, const Assignment& assignment);
  Status convert_immediate(Operand& operand, Type type, const Token& at);
  Status convert_call_list(const Instruction& instruction, unsigned index);
  void apply_candidate(Instruction& instruction, const Mnemonic::Candidate& candidate) const;

  // parser_operand.cpp
  Result<Operand> parse_operand();
  Result<Operand> parse_simple_operand();
  Result<Operand> parse_named_operand();
  Result<Operand> parse_register_operand(const Entity& entity);
  Result<Operand> parse_special_register(const Token& name);
  Result<Operand> parse_symbol_operand(const Entity& entity);
  Result<Operand> parse_immediate_operand();
  Result<Operand> parse_negated_operand();
  Result<Operand> parse_vector_operand();
  Result<Operand> parse_sum(const Operand& base);
  Result<Operand> parse_element(Operand array);
  Result<Operand> element_address(const Operand& array, Space space, const Operand& index,
                                  uint64_t element_bytes, const Token& at);
  Result<Operand> parse_address_operand();
  Result<Operand> parse_tuple_rest(Operand first);
  Result<Operand> parse_pair_rest(Operand first);
  Result<uint16_t> parse_selector();
  Operand whole_vector(const Entity& entity);
  Operand pooled(Operand::Kind kind, const std::vector<Operand>& elements);
  std::optional<Entity> find_name(std::string_view name);
  Error undefined(const Token& name) const;
  Result<Token> take_operator_free_identifier();

  uint32_t isa_version() const { return 10 * module_->version_major + module_->version_minor; }
  Function& function() { return module_->functions[function_index_]; }
  const Function& function() const { return module_->functions[function_index_]; }
  const Symbol& symbol_of(const Operand& operand) const;

  std::string_view text_;
  std::string name_;
  Lexer lexer_;
  Token token_;
  std::shared_ptr<Module> module_;
  FunctionScopes::ModuleNames module_names_;
  std::unordered_map<std::string_view, std::unique_ptr<Mnemonic>> mnemonics_;
  std::vector<std::unique_ptr<std::string>> joined_mnemonics_;
  uint32_t expression_depth_ = 0;

  // The function being read.
  uint32_t function_index_ = kNone;
  std::unique_ptr<FunctionScopes> scopes_;
  std::vector<Token> parameter_names_;
  std::vector<uint8_t> parameter_widths_;  // of a vector's first part; 0: a later part of one
  std::vector<PendingName> pending_;
  std::vector<size_t> pending_starts_;
  uint32_t source_line_ = kNone;
  Token mnemonic_token_;
  const Mnemonic* mnemonic_ = nullptr;
  std::array<Token, kMaxOperands> operand_tokens_;
  std::array<OperandNote, kMaxOperands> notes_;
  unsigned current_operand_ = 0;
  bool after_component_ = false;  // the operand just read is a component of a vector register
  bool unified_address_ = false;
  std::optional<uint64_t> used_bytes_;  // .pragma "used_bytes_mask", for the next load
};

}  // namespace km::ptx
