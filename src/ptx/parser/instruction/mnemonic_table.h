// MnemonicTable: the mnemonics of a module, each of which is read once.
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

/// MnemonicTable owns mnemonics; they live as long as it does.
class MnemonicTable {
 public:
  /// The mnemonics and the places of errors are those of `tokens`.
  explicit MnemonicTable(TokenStream& tokens) : tokens_(tokens) {}

  /// take() takes a mnemonic with all its modifiers; `token` becomes its place.
  Result<const Mnemonic*> take(Token& token);

  /// find() is the mnemonic of a text that outlives the table; errors stand at `token`.
  Result<const Mnemonic*> find(const Token& token, std::string_view text);

  /// find_made() is the mnemonic of a text that the parser has put together.
  Result<const Mnemonic*> find_made(const Token& token, std::string text);

 private:
  TokenStream& tokens_;
  std::unordered_map<std::string_view, std::unique_ptr<Mnemonic>> mnemonics_;
  std::vector<std::unique_ptr<std::string>> made_texts_;
};

}  // namespace km::ptx
