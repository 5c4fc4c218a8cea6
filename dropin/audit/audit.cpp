// The functions that the dynamic linker calls (rtld-audit(7)).
#include <link.h>

#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "dropin/audit/commands/commands.h"
#include "dropin/audit/device_files/device_files.h"
#include "dropin/audit/image/image.h"
#include "dropin/audit/image/needed_names.h"
#include "dropin/audit/message.h"
#include "dropin/audit/replacements.h"
#include "dropin/audit/text.h"

namespace km::audit {
namespace {

constinit Replacements replacements;
bool is_logged = false;

/// The cookies of objects: those of Kernelmill find NVIDIA's libraries by path.
constexpr uintptr_t kOfOthers = 0, kOfKernelmill = 1;
/// The hash of the path that a library of ours has asked for, when it is an image in memory.
size_t image_of_ours = 0;

size_t hash_of(std::string_view text) {
  size_t hash = 5381;
  for (const char each : text) hash = hash * 33 + static_cast<unsigned char>(each);
  return hash;
}

/// The value of the environment's entry if it is `name`'s; null otherwise.
const char* value_of(const char* entry, std::string_view name) {
  const std::string_view text(entry);
  return text.starts_with(name) && text[name.size()] == '=' ? entry + name.size() + 1 : nullptr;
}

/// True if the file is one of this installation, or the library that programs link.
bool is_of_kernelmill(std::string_view path) {
  return replacements.is_own_file(path) || file_name(path).starts_with("libkernelmill");
}

/// Puts our functions before those of the C library, to which nothing is bound yet.
void stand_before(const SymbolTable& c_library) {
  if (!c_library.is_readable()) return;
  answer_for_device_files(c_library);
  answer_for_commands(c_library);
}

/// Says once for each library what it takes the place of.
void log_replacement(Replacement& found, std::string_view requested) {
  if (!is_logged || found.is_said) return;
  found.is_said = true;
  say({requested, " is replaced by ", found.path});
}

/// The dynamic linker passes the program's arguments and environment, as it does to all
/// constructors; there is no C library that would know them.
[[gnu::constructor]] void read_environment(int, char**, char** environment) {
  unsigned devices = 1;
  for (char** each = environment; *each != nullptr; ++each) {
    if (const char* const libraries = value_of(*each, "KERNELMILL_EXEC_LIBRARIES")) {
      if (!replacements.read(libraries)) say({"KERNELMILL_EXEC_LIBRARIES is unusable"});
    } else if (const char* const log = value_of(*each, "KM_LOG")) {
      is_logged = std::string_view(log).starts_with("debug");
    } else if (const char* const count = value_of(*each, "KM_CPU_DEVICES")) {
      devices = 0;
      for (const char* digit = count; *digit >= '0' && *digit <= '9' && devices < 100; ++digit) {
        devices = devices * 10 + static_cast<unsigned>(*digit - '0');
      }
    }
  }
  if (replacements.find("libcuda.so.1") != nullptr) {
    set_device_files(replacements.folder(), devices);
  }
}

}  // namespace

extern "C" {

/// Versions of the interface differ in nothing that is used here.
unsigned la_version(unsigned version) { return version; }

char* la_objsearch(const char* name, uintptr_t* cookie, unsigned how) {
  const std::string_view requested(name);
  char* const unchanged = const_cast<char*>(name);
  const bool is_path = requested.find('/') != std::string_view::npos;
  if (*cookie == kOfKernelmill && is_path) {
    if (requested.starts_with("/proc/")) image_of_ours = hash_of(requested);
    return unchanged;
  }
  if (how != LA_SER_ORIG) {  // a place of the search for a name that was not replaced
    const bool is_left_alone =
        replacements.is_own_file(requested) && replacements.find(requested) == nullptr;
    return is_left_alone ? nullptr : unchanged;
  }
  Replacement* const found = replacements.find(requested);
  if (found == nullptr || requested == found->path) return unchanged;
  log_replacement(*found, requested);
  return const_cast<char*>(found->path);
}

/// Returns 0: bindings of symbols are not audited, which would make every one of them slower.
unsigned la_objopen(link_map* object, Lmid_t space, uintptr_t* cookie) {
  const std::string_view path(object->l_name);
  const bool is_image = image_of_ours != 0 && hash_of(path) == image_of_ours;
  *cookie = is_image || is_of_kernelmill(path) ? kOfKernelmill : kOfOthers;
  const Image image(*object);
  if (*cookie == kOfOthers) use_own_names(image, replacements);
  if (space == LM_ID_BASE && path.ends_with("/libc.so.6")) stand_before(SymbolTable(image));
  return 0;
}

}  // extern "C"

}  // namespace km::audit
