// A cache of the mnemonics of a module, which are read once each.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "ptx/mnemonic.h"
#include "ptx/parser/token_stream.h"

namespace km::ptx {

/// Owns mnemonics for its lifetime.
class MnemonicTable {
 public:
  /// Mnemonics and the positions of errors come from `tokens`.
  explicit MnemonicTable(TokenStream& tokens) : tokens_(tokens) {}

  /// Consumes a mnemonic with all its modifiers; `token` is set to its position.
  Result<const Mnemonic*> take(Token& token);

  /// The mnemonic for a text that outlives the table; errors refer to `token`.
  Result<const Mnemonic*> find(const Token& token, std::string_view text);

  /// Like find(), for a text that the parser has composed.
  Result<const Mnemonic*> find_made(const Token& token, std::string text);

 private:
  TokenStream& tokens_;
  std::unordered_map<std::string_view, std::unique_ptr<Mnemonic>> mnemonics_;
  std::vector<std::unique_ptr<std::string>> made_texts_;
};

}  // namespace km::ptx
