// Command lines of NVIDIA's tools: --name=value, --name value, -short=value, -short value.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace km::toolchain {

enum class OptionKind : uint8_t {
  kFlag,
  kBoolean,  // its value is true or false
  kValue,
  kList,    // values between commas; may be given several times
  kGlued,   // the value of the short form follows at once, or there is none: -O3
  kEither,  // the value of the short form follows at once or is the next word: -m64, -m 64
};

struct Option {
  std::string_view name;        // without dashes
  std::string_view short_name;  // without the dash; empty: none
  OptionKind kind = OptionKind::kFlag;
};

/// The words of a command line, read by a table of options. The names that its functions take are
/// the long ones.
class CommandLine {
 public:
  /// The message of an error is that of NVIDIA's tools: "Unknown option 'x'".
  static Result<CommandLine> parse(std::span<const Option> options,
                                   std::span<const std::string> words);

  bool has(std::string_view name) const;
  /// The last value given; empty if there is none.
  std::string value(std::string_view name) const;
  std::vector<std::string> values(std::string_view name) const;
  /// Words that are no options, in order.
  const std::vector<std::string>& inputs() const { return inputs_; }

 private:
  Status read(std::span<const Option> options, std::span<const std::string> words, int depth);
  Status read_file(std::span<const Option> options, const std::string& path, int depth);
  Status add(const Option& option, const std::string& value);

  std::vector<std::pair<std::string_view, std::string>> given_;
  std::vector<std::string> inputs_;
};

/// Splits a file of options at blanks, except between quotes.
std::vector<std::string> split_words(std::string_view text);

}  // namespace km::toolchain
