#include "dropin/audit/image/needed_names.h"

#include <string_view>

namespace km::audit {
namespace {

/// Writes the library's own name over the object's, which is longer by the hash.
void rename(const Image& object, const char* needed, Replacements& replacements) {
  const std::string_view name(needed);
  if (name.find('/') != std::string_view::npos) return;
  const Replacement* const found = replacements.find(name);
  if (found == nullptr || name.size() <= found->name.size()) return;
  if (!object.set_writable(needed, name.size(), true)) return;
  char* const out = const_cast<char*>(needed);
  for (size_t i = 0; i < found->name.size(); ++i) out[i] = found->name[i];
  out[found->name.size()] = '\0';
  static_cast<void>(object.set_writable(needed, name.size(), false));
}

}  // namespace

void use_own_names(const Image& object, Replacements& replacements) noexcept {
  const auto* const names = static_cast<const char*>(object.table(DT_STRTAB));
  if (names == nullptr || object.base() == 0) return;
  for (const ElfW(Dyn)* entry = object.dynamic(); entry->d_tag != DT_NULL; ++entry) {
    if (entry->d_tag == DT_NEEDED) rename(object, names + entry->d_un.d_val, replacements);
  }
  const auto* at = static_cast<const char*>(object.table(DT_VERNEED));
  while (at != nullptr) {
    const auto* const version = reinterpret_cast<const ElfW(Verneed)*>(at);
    rename(object, names + version->vn_file, replacements);
    at = version->vn_next == 0 ? nullptr : at + version->vn_next;
  }
}

}  // namespace km::audit
