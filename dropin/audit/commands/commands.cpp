#include "dropin/audit/commands/commands.h"

#include <iterator>

#include "dropin/audit/text.h"

namespace km::audit {
namespace {

constexpr size_t kMostCommands = 16;
const char* commands[kMostCommands];
size_t command_count = 0;

constexpr std::string_view kPackageFolders[] = {"/site-packages/", "/dist-packages/"};

bool is_in_package(std::string_view path) {
  for (const std::string_view each : kPackageFolders) {
    if (path.find(each) != std::string_view::npos) return true;
  }
  return false;
}

using Arguments = char* const*;

/// The C library's own functions.
struct {
  int (*execve)(const char* path, Arguments arguments, Arguments environment);
  int (*execv)(const char* path, Arguments arguments);
  int (*execvp)(const char* path, Arguments arguments);
  int (*execvpe)(const char* path, Arguments arguments, Arguments environment);
  int (*posix_spawn)(int* process, const char* path, const void* actions, const void* attributes,
                     Arguments arguments, Arguments environment);
  int (*posix_spawnp)(int* process, const char* path, const void* actions, const void* attributes,
                      Arguments arguments, Arguments environment);
} own;

const char* replaced(const char* path) {
  const char* const found = path != nullptr ? find_command(path) : nullptr;
  return found != nullptr ? found : path;
}

}  // namespace

bool add_command(const char* path) noexcept {
  if (command_count == kMostCommands) return false;
  commands[command_count++] = path;
  return true;
}

const char* find_command(std::string_view path) noexcept {
  const std::string_view name = file_name(path);
  for (size_t i = 0; i < command_count; ++i) {
    if (name != file_name(commands[i]) || path == commands[i]) continue;
    return is_in_package(path) ? commands[i] : nullptr;
  }
  return nullptr;
}

extern "C" {

static int km_audit_execve(const char* path, Arguments arguments, Arguments environment) {
  return own.execve(replaced(path), arguments, environment);
}
static int km_audit_execv(const char* path, Arguments arguments) {
  return own.execv(replaced(path), arguments);
}
static int km_audit_execvp(const char* path, Arguments arguments) {
  return own.execvp(replaced(path), arguments);
}
static int km_audit_execvpe(const char* path, Arguments arguments, Arguments environment) {
  return own.execvpe(replaced(path), arguments, environment);
}
static int km_audit_posix_spawn(int* process, const char* path, const void* actions,
                                const void* attributes, Arguments arguments,
                                Arguments environment) {
  return own.posix_spawn(process, replaced(path), actions, attributes, arguments, environment);
}
static int km_audit_posix_spawnp(int* process, const char* path, const void* actions,
                                 const void* attributes, Arguments arguments,
                                 Arguments environment) {
  return own.posix_spawnp(process, replaced(path), actions, attributes, arguments, environment);
}

}  // extern "C"

void answer_for_commands(const SymbolTable& c_library) noexcept {
  if (command_count == 0) return;
  const Override all[] = {
#define KM_STARTS(name) \
  {#name, reinterpret_cast<void*>(&km_audit_##name), reinterpret_cast<void**>(&own.name)}
      KM_STARTS(execve),  KM_STARTS(execv),       KM_STARTS(execvp),
      KM_STARTS(execvpe), KM_STARTS(posix_spawn), KM_STARTS(posix_spawnp),
#undef KM_STARTS
  };
  c_library.put_before({all, std::size(all)});
}

}  // namespace km::audit
