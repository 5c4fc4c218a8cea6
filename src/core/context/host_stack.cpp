#include "core/context/host_stack.h"

#include <dlfcn.h>
#include <execinfo.h>

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <string_view>

#include "base/text.h"

namespace km {
namespace {

constexpr uint32_t kMostOwnFrames = 8;
constexpr uint32_t kMostCallers = 4;

/// A frame's function and file. `name` is null if nothing is exported there.
struct Frame {
  const char *file = "?", *name = nullptr;
  uint64_t address = 0, in_file = 0, in_function = 0;

  explicit Frame(const void* at) : address(reinterpret_cast<uint64_t>(at)) {
    Dl_info found = {};
    if (dladdr(at, &found) == 0 || found.dli_fname == nullptr) return;
    file = found.dli_fname;
    in_file = address - reinterpret_cast<uint64_t>(found.dli_fbase);
    if (found.dli_sname == nullptr) return;
    name = found.dli_sname;
    in_function = address - reinterpret_cast<uint64_t>(found.dli_saddr);
  }

  std::string_view file_name() const {
    const std::string_view path = file;
    return path.substr(path.rfind('/') + 1);
  }
  bool is_api() const {
    if (name == nullptr) return false;
    const std::string_view text = name;
    return text.starts_with("cu") || text.starts_with("km_");
  }
};

/// The file of this library's own code.
const char* own_file() {
  static const Frame own(reinterpret_cast<const void*>(&own_file));
  return own.file;
}

}  // namespace

HostStack HostStack::take(uint32_t own_frames) {
  void* all[KM_ALLOCATION_FRAMES + kMostOwnFrames];
  const uint32_t skipped = std::min(own_frames, kMostOwnFrames) + 1;
  const auto wanted = static_cast<int>(KM_ALLOCATION_FRAMES + std::min(skipped, kMostOwnFrames));
  const auto found = static_cast<uint32_t>(backtrace(all, wanted));
  HostStack stack;
  for (uint32_t i = skipped; i < found && stack.count < stack.frames.size(); ++i) {
    stack.frames[stack.count++] = all[i];
  }
  return stack;
}

std::string HostStack::lines() const {
  std::string text;
  for (uint32_t i = 0; i < count; ++i) {
    const Frame frame(frames[i]);
    char line[512];
    if (frame.name != nullptr) {
      std::snprintf(line, sizeof line, "%s in %.200s (+0x%" PRIx64 ")\n", frame.name, frame.file,
                    frame.in_function);
    } else {
      std::snprintf(line, sizeof line, "0x%" PRIx64 " in %.200s (+0x%" PRIx64 ")\n", frame.address,
                    frame.file, frame.in_file);
    }
    text += line;
  }
  return text;
}

/// Skips this library's own frames and the API's functions, of which the outermost is the program's
/// call.
uint32_t HostStack::first_caller(std::string* out_call) const {
  uint32_t i = 0;
  for (; i < count; ++i) {
    const Frame frame(frames[i]);
    if (frame.is_api()) {
      *out_call = frame.name;
    } else if (frame.name != nullptr || (std::string_view(frame.file) != own_file() &&
                                         !frame.file_name().starts_with("libcuda"))) {
      break;
    }
  }
  return i;
}

std::string HostStack::call() const {
  std::string call;
  first_caller(&call);
  return call;
}

std::string HostStack::callers() const {
  std::string call, text;
  const uint32_t first = first_caller(&call);
  for (uint32_t i = first; i < count && i < first + kMostCallers; ++i) {
    const Frame frame(frames[i]);
    if (!text.empty()) text += " < ";
    if (frame.name != nullptr) text += std::string(frame.name) + " in ";
    text += std::string(frame.file_name()) + "+" + hex(frame.in_file);
    if (frame.name != nullptr && std::string_view(frame.name) == "main") break;
  }
  return text;
}

}  // namespace km
