#include "dropin/audit/message.h"

#include <sys/syscall.h>

#include <cstddef>

#include "dropin/audit/system_call.h"

namespace km::audit {
namespace {

constexpr size_t kMostBytes = 2048;

}  // namespace

void say(std::initializer_list<std::string_view> parts) noexcept {
  constexpr long kStandardError = 2;
  constexpr std::string_view kBegin = "kernelmill: ";
  char line[kMostBytes];
  size_t length = 0;
  const auto add = [&](std::string_view text) {
    for (const char each : text) {
      if (length + 1 < sizeof line) line[length++] = each;
    }
  };
  add(kBegin);
  for (const std::string_view part : parts) add(part);
  line[length++] = '\n';
  km_audit_system_call(SYS_write, kStandardError, reinterpret_cast<long>(line),
                       static_cast<long>(length));
}

}  // namespace km::audit
