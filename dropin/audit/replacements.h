// The libraries that take the place of NVIDIA's, by the names that programs ask for.
#pragma once

#include <cstddef>
#include <string_view>

namespace km::audit {

/// One library of ours.
struct Replacement {
  std::string_view name;  // of its file, such as "libcublas.so.13"
  const char* path = nullptr;
  bool is_said = false;  // the log has a line on it

  /// True if `requested`, a file name without folders, means this library: by its name, with a
  /// longer version, without one, or with the hash that wheels put into names of libraries they
  /// hold.
  bool is_called(std::string_view requested) const noexcept;
};

/// All libraries of ours. There is one object, which no constructor has to make.
class Replacements {
 public:
  /// Takes over "FOLDER:FILE:FILE...", with files below the folder; those in
  /// its folder "bin" are commands. A text that is too long leaves
  /// the table empty; the result is false.
  bool read(std::string_view setting) noexcept;
  /// The library that stands for a name or path; null if it is none of ours.
  Replacement* find(std::string_view requested) noexcept;
  /// True for a file in our folder or below it.
  bool is_own_file(std::string_view path) const noexcept;
  std::string_view folder() const noexcept { return folder_; }
  bool is_empty() const noexcept { return count_ == 0; }

 private:
  static constexpr size_t kMostLibraries = 64;
  static constexpr size_t kMostTextBytes = 24576;

  bool add(std::string_view file) noexcept;
  const char* keep(std::string_view first, std::string_view second) noexcept;
  Replacement* find_name(std::string_view name) noexcept;

  Replacement libraries_[kMostLibraries] = {};
  size_t count_ = 0;
  std::string_view folder_;  // ends in '/'
  char text_[kMostTextBytes] = {};
  size_t text_bytes_ = 0;
};

}  // namespace km::audit
