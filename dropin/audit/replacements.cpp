#include "dropin/audit/replacements.h"

#include <fcntl.h>
#include <sys/syscall.h>

#include "dropin/audit/commands/commands.h"
#include "dropin/audit/system_call.h"
#include "dropin/audit/text.h"

namespace km::audit {
namespace {

constexpr std::string_view kSuffix = ".so";

bool is_digit(char each) { return each >= '0' && each <= '9'; }

/// Wheels rename the libraries that they hold: libcudart-9335f6a2.so.12.
std::string_view without_hash(std::string_view rest) {
  constexpr size_t kHashBytes = 8;
  if (rest.size() <= kHashBytes || rest[0] != '-') return rest;
  for (const char each : part_of(rest, 1, kHashBytes)) {
    if (!is_digit(each) && (each < 'a' || each > 'f')) return rest;
  }
  return part_of(rest, 1 + kHashBytes);
}

/// The driver's own libraries have the driver's version in the names of their files:
/// libcuda.so.580.65.06 is version 1 of the interface.
bool is_driver_version(std::string_view version) {
  return version.size() > 3 && is_digit(version[0]) && is_digit(version[1]) &&
         is_digit(version[2]) && version[3] == '.';
}

/// The name that a link leads to, within `buffer`; empty if the path is no link.
template <size_t kBytes>
std::string_view target_of(std::string_view path, char (&buffer)[kBytes]) {
  char zero_terminated[kBytes];
  if (path.size() >= sizeof zero_terminated) return {};
  for (size_t i = 0; i < path.size(); ++i) zero_terminated[i] = path[i];
  zero_terminated[path.size()] = '\0';
  const long length =
      km_audit_system_call(SYS_readlinkat, AT_FDCWD, reinterpret_cast<long>(zero_terminated),
                           reinterpret_cast<long>(buffer), static_cast<long>(sizeof buffer));
  return length > 0 ? std::string_view(buffer, static_cast<size_t>(length)) : std::string_view();
}

}  // namespace

bool Replacement::is_called(std::string_view requested) const noexcept {
  const size_t dot = name.find(kSuffix);
  const std::string_view stem = part_of(name, 0, dot);
  const std::string_view version = part_of(name, dot + kSuffix.size() + 1);
  if (!requested.starts_with(stem)) return false;
  std::string_view rest = without_hash(part_of(requested, stem.size()));
  if (!rest.starts_with(kSuffix)) return false;
  rest.remove_prefix(kSuffix.size());
  if (rest.empty()) return true;
  if (rest[0] != '.') return false;
  rest.remove_prefix(1);
  if (version == "1" && is_driver_version(rest)) return true;
  if (!rest.starts_with(version)) return false;
  return rest.size() == version.size() || rest[version.size()] == '.';
}

const char* Replacements::keep(std::string_view first, std::string_view second) noexcept {
  char* const begin = text_ + text_bytes_;
  if (first.size() + second.size() >= sizeof text_ - text_bytes_) return nullptr;
  for (const std::string_view part : {first, second}) {
    for (const char each : part) text_[text_bytes_++] = each;
  }
  text_[text_bytes_++] = '\0';
  return begin;
}

bool Replacements::add(std::string_view file) noexcept {
  if (file.starts_with("bin/")) {
    const char* const command = keep(folder_, file);
    return command != nullptr && add_command(command);
  }
  if (file.find(".so.") == std::string_view::npos) return true;
  if (count_ == kMostLibraries) return false;
  Replacement& next = libraries_[count_];
  next.path = keep(folder_, file);
  if (next.path == nullptr) return false;
  next.name = file_name(std::string_view(next.path));
  ++count_;
  return true;
}

bool Replacements::read(std::string_view setting) noexcept {
  const size_t end = setting.find(':');
  if (end == 0 || end == std::string_view::npos) return false;
  const char* const folder = keep(part_of(setting, 0, end), "/");
  if (folder == nullptr) return false;
  folder_ = folder;
  std::string_view rest = part_of(setting, end + 1);
  while (!rest.empty()) {
    const size_t colon = rest.find(':');
    const size_t length = colon == std::string_view::npos ? rest.size() : colon;
    if (!add(part_of(rest, 0, length))) {
      count_ = 0;
      return false;
    }
    rest.remove_prefix(colon == std::string_view::npos ? length : length + 1);
  }
  return true;
}

Replacement* Replacements::find_name(std::string_view name) noexcept {
  for (size_t i = 0; i < count_; ++i) {
    if (libraries_[i].is_called(name)) return &libraries_[i];
  }
  return nullptr;
}

Replacement* Replacements::find(std::string_view requested) noexcept {
  const std::string_view name = file_name(requested);
  Replacement* const found = find_name(name);
  const bool has_version = found == nullptr || !name.ends_with(kSuffix);
  if (has_version || name.size() == requested.size()) return found;
  // The path is that of a toolkit or wheel, whose link says which version it is.
  char buffer[1024];
  const std::string_view target = target_of(requested, buffer);
  return target.empty() ? found : find_name(file_name(target));
}

bool Replacements::is_own_file(std::string_view path) const noexcept {
  return !folder_.empty() && path.starts_with(folder_);
}

}  // namespace km::audit
