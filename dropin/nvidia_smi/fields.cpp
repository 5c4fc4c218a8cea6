#include "dropin/nvidia_smi/fields.h"

#include <ctime>
#include <iterator>

namespace km::smi {
namespace {

constexpr unsigned long long kMiB = 1ULL << 20;

Device::Text text_of(const Device::Number& number) {
  return number ? Device::Text(std::to_string(*number)) : std::nullopt;
}

Device::Text unknown(const Device&) { return std::nullopt; }

template <auto kMember>
Device::Text memory(const Device& device) {
  const std::optional<nvmlMemory_t> found = device.memory();
  return found ? Device::Text(std::to_string((*found).*kMember / kMiB)) : std::nullopt;
}

template <auto kMember>
Device::Text utilization(const Device& device) {
  const std::optional<nvmlUtilization_t> found = device.utilization();
  return found ? Device::Text(std::to_string((*found).*kMember)) : std::nullopt;
}

template <auto kMember>
Device::Text pci(const Device& device) {
  const std::optional<nvmlPciInfo_t> found = device.pci();
  if (!found) return std::nullopt;
  char text[16];
  std::snprintf(text, sizeof text, "0x%02X", (*found).*kMember);
  return text;
}

template <auto kFunction>
Device::Text number(const Device& device) {
  return text_of(device.number(kFunction));
}

template <nvmlClockType_t kType>
Device::Text clock(const Device& device) {
  return text_of(device.clock_mhz(kType));
}

template <nvmlClockType_t kType>
Device::Text max_clock(const Device& device) {
  return text_of(device.max_clock_mhz(kType));
}

template <auto kMethod>
Device::Text ask(const Device& device) {
  return (device.*kMethod)();
}

Device::Text index(const Device& device) { return text_of(device.index()); }
Device::Text count(const Device&) { return std::to_string(all_devices().size()); }
Device::Text driver(const Device&) { return driver_version(); }
Device::Text now(const Device&) { return timestamp(); }

constexpr Field kFields[] = {
    {"timestamp", nullptr, "", now},
    {"driver_version", nullptr, "", driver},
    {"count", nullptr, "", count},
    {"name", "gpu_name", "", ask<&Device::name>},
    {"serial", "gpu_serial", "", ask<&Device::serial>},
    {"uuid", "gpu_uuid", "", ask<&Device::uuid>},
    {"index", nullptr, "", index},
    {"vbios_version", nullptr, "", ask<&Device::vbios>},
    {"compute_cap", nullptr, "", ask<&Device::compute_capability>},
    {"compute_mode", nullptr, "", ask<&Device::compute_mode>},
    {"persistence_mode", nullptr, "", ask<&Device::persistence_mode>},
    {"display_mode", nullptr, "", ask<&Device::display_mode>},
    {"display_active", nullptr, "", ask<&Device::display_active>},
    {"pstate", nullptr, "", ask<&Device::performance_state>},
    {"pci.bus_id", "gpu_bus_id", "", ask<&Device::bus_id>},
    {"pci.domain", nullptr, "", pci<&nvmlPciInfo_t::domain>},
    {"pci.bus", nullptr, "", pci<&nvmlPciInfo_t::bus>},
    {"pci.device", nullptr, "", pci<&nvmlPciInfo_t::device>},
    {"pcie.link.gen.current", "pcie.link.gen.gpucurrent", "",
     number<&nvmlDeviceGetCurrPcieLinkGeneration>},
    {"pcie.link.gen.max", "pcie.link.gen.gpumax", "", number<&nvmlDeviceGetMaxPcieLinkGeneration>},
    {"pcie.link.width.current", nullptr, "", number<&nvmlDeviceGetCurrPcieLinkWidth>},
    {"pcie.link.width.max", nullptr, "", number<&nvmlDeviceGetMaxPcieLinkWidth>},
    {"memory.total", nullptr, "MiB", memory<&nvmlMemory_t::total>},
    {"memory.used", nullptr, "MiB", memory<&nvmlMemory_t::used>},
    {"memory.free", nullptr, "MiB", memory<&nvmlMemory_t::free>},
    {"memory.reserved", nullptr, "MiB", unknown},
    {"utilization.gpu", nullptr, "%", utilization<&nvmlUtilization_t::gpu>},
    {"utilization.memory", nullptr, "%", utilization<&nvmlUtilization_t::memory>},
    {"temperature.gpu", nullptr, "", unknown},
    {"temperature.memory", nullptr, "", unknown},
    {"fan.speed", nullptr, "%", unknown},
    {"power.draw", "power.draw.instant", "W", unknown},
    {"power.limit", "enforced.power.limit", "W", unknown},
    {"power.default_limit", "power.max_limit", "W", unknown},
    {"clocks.current.graphics", "clocks.gr", "MHz", clock<NVML_CLOCK_GRAPHICS>},
    {"clocks.current.sm", "clocks.sm", "MHz", clock<NVML_CLOCK_SM>},
    {"clocks.current.memory", "clocks.mem", "MHz", clock<NVML_CLOCK_MEM>},
    {"clocks.current.video", "clocks.video", "MHz", clock<NVML_CLOCK_VIDEO>},
    {"clocks.max.graphics", "clocks.max.gr", "MHz", max_clock<NVML_CLOCK_GRAPHICS>},
    {"clocks.max.sm", nullptr, "MHz", max_clock<NVML_CLOCK_SM>},
    {"clocks.max.memory", "clocks.max.mem", "MHz", max_clock<NVML_CLOCK_MEM>},
    {"ecc.mode.current", "ecc.mode.pending", "", unknown},
    {"mig.mode.current", "mig.mode.pending", "", unknown},
    {"ecc.errors.corrected.volatile.total", "ecc.errors.uncorrected.volatile.total", "", unknown},
};

}  // namespace

const Field* find_field(std::string_view name) {
  for (const Field& each : kFields) {
    const bool is_other = each.other_name != nullptr && name == each.other_name;
    if (name == each.name || is_other) return &each;
  }
  return nullptr;
}

std::string timestamp() {
  const std::time_t time = std::time(nullptr);
  std::tm parts{};
  localtime_r(&time, &parts);
  char text[64];
  std::strftime(text, sizeof text, "%Y/%m/%d %H:%M:%S.000", &parts);
  return text;
}

}  // namespace km::smi
