#include "dropin/audit/device_files/stand_in.h"

#include "dropin/audit/text.h"

namespace km::audit {
namespace {

constexpr std::string_view kDevices = "/dev/";
constexpr std::string_view kDevice = "nvidia";
constexpr std::string_view kDriver = "/proc/driver/nvidia";

bool give(std::string_view first, std::string_view second, StandIn* out) {
  if (first.size() + second.size() >= StandIn::kMostBytes) return false;
  char* to = out->path;
  for (const std::string_view part : {first, second}) {
    for (const char each : part) *to++ = each;
  }
  *to = '\0';
  return true;
}

}  // namespace

void DriverFiles::set(std::string_view folder, unsigned devices) noexcept {
  folder_ = folder;
  devices_ = devices;
}

bool DriverFiles::is_device(std::string_view name) const noexcept {
  for (const std::string_view each : kControlNames) {
    if (name == each) return true;
  }
  if (!name.starts_with(kDevice)) return false;
  name.remove_prefix(kDevice.size());
  const bool is_number = !name.empty() && name.size() <= 2 && (name[0] != '0' || name.size() == 1);
  unsigned number = 0;
  for (const char each : name) {
    if (each < '0' || each > '9') return false;
    number = number * 10 + static_cast<unsigned>(each - '0');
  }
  return is_number && number < devices_;
}

bool DriverFiles::find(std::string_view path, StandIn* out) const noexcept {
  if (!are_there()) return false;
  // A character device that can be opened by anybody, as those of GPUs can.
  if (path.starts_with(kDevices) && is_device(part_of(path, kDevices.size()))) {
    return give("/dev/null", "", out);
  }
  if (!path.starts_with(kDriver)) return false;
  const std::string_view rest = part_of(path, kDriver.size());
  if (!rest.empty() && rest[0] != '/') return false;
  return folder_.size() + kDriver.size() + rest.size() < StandIn::kMostBytes &&
         give(folder_, "driver", out) && give(std::string_view(out->path), rest, out);
}

}  // namespace km::audit
