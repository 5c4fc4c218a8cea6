#include "ptx/parser/instruction/mnemonic_table.h"

#include <utility>

namespace km::ptx {

Result<const Mnemonic*> MnemonicTable::take(Token& token) {
  token = tokens_.take_mnemonic();
  if (!tokens_.at(Token::Kind::dotted)) return find(token, token.text);
  std::string joined(token.text);  // PTX allows blanks before a modifier
  constexpr size_t kLongest = 1024;
  while (tokens_.at(Token::Kind::dotted) && joined.size() < kLongest) {
    joined.append(".").append(tokens_.current().text);
    tokens_.advance();
  }
  return find_made(token, std::move(joined));
}

Result<const Mnemonic*> MnemonicTable::find(const Token& token, std::string_view text) {
  std::unique_ptr<Mnemonic>& known = mnemonics_[text];
  if (!known) {
    known = std::make_unique<Mnemonic>(read_mnemonic(text));
    known->text = text;
  }
  if (!known->error.empty()) {
    auto offset = static_cast<uint32_t>(known->error_offset);
    return tokens_.error_at(token.line, token.column + offset, known->error);
  }
  return static_cast<const Mnemonic*>(known.get());
}

Result<const Mnemonic*> MnemonicTable::find_made(const Token& token, std::string text) {
  made_texts_.push_back(std::make_unique<std::string>(std::move(text)));
  return find(token, *made_texts_.back());
}

}  // namespace km::ptx
