// The initial values of variables: numbers, nested lists and addresses.
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

/// Parses the initial value of one variable.
class InitialiserParser {
 public:
  /// The value is stored in `symbol`. `itself` is the id of a module-level variable, whose own
  /// address cannot be its value; kNone for a variable in a function.
  InitialiserParser(TokenStream& tokens, ExpressionParser& expressions, const ModuleBuilder& module,
                    Symbol& symbol, SymbolId itself)
      : tokens_(tokens),
        expressions_(expressions),
        module_(module),
        symbol_(symbol),
        itself_(itself) {}

  /// Parses the value; an array without a size gets its size from it.
  Status parse();

 private:
  /// Refuses variables that cannot have an initial value.
  Status check_symbol() const;

  /// Computes extents_ from the variable's dimensions.
  void set_extents();

  /// Parses `{...}` of one dimension, whose first element is number `begin`: values, or the lists
  /// of the next dimension. Missing elements at the end are zero, but the components of a vector
  /// must be complete.
  Status parse_list(size_t level, uint64_t begin);

  /// Parses the value of element number `element`.
  Status parse_value(uint64_t element);

  /// Parses `symbol`, `symbol+8` or `generic(symbol)+8`; `mask` selects the bytes of the address.
  Status parse_address(uint64_t offset, uint64_t mask);

  /// Finds the variable or function whose address is used; its declaration must precede the use.
  Result<SymbolId> find_addressable(const Token& name, bool generic) const;

  Status store_bits(const Token& token, uint64_t offset, uint64_t bits);

  /// Extends the variable's data to `end` bytes, within the limit for the text's size.
  Status reserve_data(const Token& token, uint64_t end);

  TokenStream& tokens_;
  ExpressionParser& expressions_;
  const ModuleBuilder& module_;
  Symbol& symbol_;
  SymbolId itself_;
  // Number of elements per entry at each level; [0] is the whole variable.
  std::vector<uint64_t> extents_;
  uint64_t written_end_ = 0;  // end of the elements that have a value so far
};

}  // namespace km::ptx
