// Arguments of NVIDIA's functions, which follow every pointer: theirs are copies, or results that
// the program's memory gets after the call.
#pragma once

#include <string>
#include <type_traits>
#include <vector>

#include "dropin/library/host_memory.h"
#include "dropin/nvrtc/nvidia_library.h"
#include "dropin/nvrtc/programs.h"

/// The header's structure, whose members the table of names has not.
struct nvrtcBundledHeadersInfo {
  int available;
  size_t compressed_bytes, uncompressed_bytes;
  int cuda_major, cuda_minor;
  unsigned files;
};

namespace km::nvrtc {

/// Logs why an argument is invalid and returns the error.
inline constexpr frame::Failure<NVRTC_ERROR_INVALID_INPUT> invalid;

inline constexpr size_t kMostTextBytes = size_t{1} << 30;

/// Fails with NVRTC_ERROR_INVALID_PROGRAM unless the handle is a live program's.
inline nvrtcResult require_live(nvrtcProgram program) {
  if (Programs::instance().is_live(program)) return NVRTC_SUCCESS;
  return frame::fail(NVRTC_ERROR_INVALID_PROGRAM, "the handle is no live program");
}

/// A number, or a function of the program, which is passed as it is.
template <class T>
class Argument {
 public:
  explicit Argument(T given) : given_(given) {}
  nvrtcResult read() { return NVRTC_SUCCESS; }
  T get() { return given_; }
  nvrtcResult write() { return NVRTC_SUCCESS; }

 private:
  const T given_;
};

template <>
class Argument<nvrtcProgram> {
 public:
  explicit Argument(nvrtcProgram given) : given_(given) {}
  nvrtcResult read() { return require_live(given_); }
  nvrtcProgram get() { return given_; }
  nvrtcResult write() { return NVRTC_SUCCESS; }

 private:
  const nvrtcProgram given_;
};

/// A text. Null is passed on.
template <>
class Argument<const char*> {
 public:
  explicit Argument(const char* given) : given_(given) {}
  nvrtcResult read() {
    if (given_ == nullptr || library::read_host_text(given_, kMostTextBytes, &text_)) {
      return NVRTC_SUCCESS;
    }
    return invalid("no text can be read at %p", static_cast<const void*>(given_));
  }
  const char* get() { return given_ != nullptr ? text_.c_str() : nullptr; }
  nvrtcResult write() { return NVRTC_SUCCESS; }

 private:
  const char* const given_;
  std::string text_;
};

/// A list of texts, in which none may be null.
class TextList {
 public:
  nvrtcResult read(int count, const char* const* given) {
    if (count < 0) return invalid("a list has %d texts", count);
    const auto wanted = static_cast<size_t>(count);
    const size_t read = library::read_host_words(given, wanted, kMostTextBytes, &texts_);
    if (read != wanted) return invalid("text %zu of a list of %d cannot be read", read, count);
    for (const std::string& each : texts_) words_.push_back(each.c_str());
    return NVRTC_SUCCESS;
  }
  /// Null for an empty list.
  const char* const* data() const { return words_.empty() ? nullptr : words_.data(); }

 private:
  std::vector<std::string> texts_;
  std::vector<const char*> words_;
};

/// A value that the function writes. Null is passed on.
template <class T>
  requires(!std::is_function_v<T> && !std::is_void_v<T> && !std::is_const_v<T>)
class Argument<T*> {
 public:
  explicit Argument(T* given) : given_(given) {}
  nvrtcResult read() {
    if (given_ == nullptr || library::read_host(given_, &value_)) return NVRTC_SUCCESS;
    return invalid("no result can be written to %p", static_cast<void*>(given_));
  }
  T* get() { return given_ != nullptr ? &value_ : nullptr; }
  nvrtcResult write() {
    if (given_ == nullptr || library::write_host(given_, value_)) return NVRTC_SUCCESS;
    return invalid("no result can be written to %p", static_cast<void*>(given_));
  }

 private:
  T* const given_;
  T value_{};
};

}  // namespace km::nvrtc
