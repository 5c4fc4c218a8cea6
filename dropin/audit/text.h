// Parts of texts, without the exceptions of std::string_view::substr.
#pragma once

#include <cstddef>
#include <string_view>

namespace km::audit {

/// The part from `begin` on, of at most `most` characters.
constexpr std::string_view part_of(std::string_view text, size_t begin,
                                   size_t most = std::string_view::npos) noexcept {
  if (begin > text.size()) return {};
  const size_t rest = text.size() - begin;
  return {text.data() + begin, most < rest ? most : rest};
}

/// A path without its folders.
constexpr std::string_view file_name(std::string_view path) noexcept {
  const size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : part_of(path, slash + 1);
}

}  // namespace km::audit
