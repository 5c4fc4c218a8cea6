// PTX text that grows line by line, with names that are used once.
#pragma once

#include <string>

namespace km::protocols {

class Text {
 public:
  std::string word() { return "%r" + std::to_string(words_++); }
  std::string wide() { return "%rd" + std::to_string(wides_++); }
  std::string predicate() { return "%p" + std::to_string(predicates_++); }
  std::string label() { return "L" + std::to_string(labels_++); }

  void add(const std::string& line) { lines_ += "  " + line + "\n"; }
  void mark(const std::string& label) { lines_ += label + ":\n"; }

  const std::string& lines() const { return lines_; }
  /// Declarations of all registers that were named.
  std::string registers() const {
    return "  .reg .b32 %r<" + std::to_string(words_ + 1) + ">;\n  .reg .b64 %rd<" +
           std::to_string(wides_ + 1) + ">;\n  .reg .pred %p<" + std::to_string(predicates_ + 1) +
           ">;\n";
  }

 private:
  std::string lines_;
  unsigned words_ = 0, wides_ = 0, predicates_ = 0, labels_ = 0;
};

}  // namespace km::protocols
