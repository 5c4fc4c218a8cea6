// InitialiserParser: the initial value of a variable, numbers, nested lists and addresses.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/result.h"
#include "ptx/ir.h"
#include "ptx/parser/expression_parser.h"
#include "ptx/parser/module_builder.h"
#include "ptx/parser/token_stream.h"

namespace km::ptx {

/// InitialiserParser reads the initial value of one variable.
class InitialiserParser {
 public:
  /// The value goes to `symbol`. `itself` is the id of a variable at module level, whose own
  /// address it cannot hold; kNone stands for a variable in a function.
  InitialiserParser(TokenStream& tokens, ExpressionParser& expressions, const ModuleBuilder& module,
                    Symbol& symbol, SymbolId itself)
      : tokens_(tokens),
        expressions_(expressions),
        module_(module),
        symbol_(symbol),
        itself_(itself) {}

  /// parse() reads the value; an array without a size gets one.
  Status parse();

 private:
  /// check_symbol() refuses variables that cannot have an initial value.
  Status check_symbol() const;

  /// set_extents() computes extents_ from the dimensions of the variable.
  void set_extents();

  /// parse_list() reads `{...}` of one dimension, whose first element is number `begin`: values, or
  /// the braces of the next dimension. Elements left out at the end are zero, but for components of
  /// a vector.
  Status parse_list(size_t level, uint64_t begin);

  /// parse_value() reads the value of one element.
  Status parse_value(uint64_t element);

  /// parse_address() reads `symbol`, `symbol+8` or `generic(symbol)+8`, of which `mask` selects the
  /// bytes.
  Status parse_address(uint64_t offset, uint64_t mask);

  /// find_addressable() finds the variable or function whose address an initialiser holds; its
  /// declaration must precede the use.
  Result<SymbolId> find_addressable(const Token& name, bool generic) const;

  /// store_bits() stores the bits of an element of the variable's type.
  Status store_bits(const Token& token, uint64_t offset, uint64_t bits);

  /// reserve_data() extends the data of the variable to `end` bytes.
  Status reserve_data(const Token& token, uint64_t end);

  TokenStream& tokens_;
  ExpressionParser& expressions_;
  const ModuleBuilder& module_;
  Symbol& symbol_;
  SymbolId itself_;
  std::vector<uint64_t> extents_;  // elements of one entry at each level; [0] is all of it
  uint64_t written_end_ = 0;       // elements reached so far
};

}  // namespace km::ptx
