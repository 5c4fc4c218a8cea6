#include "dropin/nvidia_smi/reports.h"

#include <cstdio>
#include <ctime>

namespace km::smi {
namespace {

constexpr unsigned long long kMiB = 1ULL << 20;

std::string or_none(const Device::Text& text) { return text.value_or("N/A"); }
std::string or_none(const Device::Number& number) {
  return number ? std::to_string(*number) : "N/A";
}

std::string with_unit(const Device::Number& number, const char* unit) {
  return number ? std::to_string(*number) + " " + unit : "N/A";
}

std::string memory_usage(const Device& device) {
  const std::optional<nvmlMemory_t> memory = device.memory();
  if (!memory) return "N/A";
  return std::to_string(memory->used / kMiB) + "MiB / " + std::to_string(memory->total / kMiB) +
         "MiB";
}

std::string mib(const Device& device, unsigned long long nvmlMemory_t::* member) {
  const std::optional<nvmlMemory_t> memory = device.memory();
  return memory ? std::to_string((*memory).*member / kMiB) + " MiB" : "N/A";
}

std::string date() {
  const std::time_t time = std::time(nullptr);
  std::tm parts{};
  localtime_r(&time, &parts);
  char text[64];
  std::strftime(text, sizeof text, "%a %b %e %H:%M:%S %Y", &parts);
  return text;
}

void print_rule() {
  std::puts(
      "+-----------------------------------------+------------------------+----------------------"
      "+");
}

void print_wide_rule() {
  std::puts(
      "+-----------------------------------------------------------------------------------------"
      "+");
}

void print_row(const Device& device) {
  const std::optional<nvmlUtilization_t> rates = device.utilization();
  const std::string used = rates ? std::to_string(rates->gpu) + "%" : "N/A";
  const bool is_persistent = device.persistence_mode() == "Enabled";
  const bool is_shown = device.display_active() == "Enabled";
  std::printf("| %3s  %-27.27s %6s | %18s %3s | %20s |\n", or_none(device.index()).c_str(),
              or_none(device.name()).c_str(), is_persistent ? "On" : "Off",
              or_none(device.bus_id()).c_str(), is_shown ? "On" : "Off", "N/A");
  std::printf("| N/A   N/A  %4s %15s / %5s | %22s | %8s %11s |\n",
              or_none(device.performance_state()).c_str(), "N/A", "N/A",
              memory_usage(device).c_str(), used.c_str(), or_none(device.compute_mode()).c_str());
  std::printf("| %39s | %22s | %20s |\n", "", "", "N/A");
}

void print_line(const char* name, const std::string& value) {
  std::printf("    %-38s: %s\n", name, value.c_str());
}
void print_inner_line(const char* name, const std::string& value) {
  std::printf("        %-34s: %s\n", name, value.c_str());
}

void print_links(const Device& device) {
  std::puts("    PCI");
  print_inner_line("Bus Id", or_none(device.bus_id()));
  std::puts("        GPU Link Info");
  std::puts("            PCIe Generation");
  const auto link = [](const char* name, const std::string& value) {
    std::printf("                %-26s: %s\n", name, value.c_str());
  };
  link("Max", or_none(device.number(nvmlDeviceGetMaxPcieLinkGeneration)));
  link("Current", or_none(device.number(nvmlDeviceGetCurrPcieLinkGeneration)));
  std::puts("            Link Width");
  link("Max", or_none(device.number(nvmlDeviceGetMaxPcieLinkWidth)) + "x");
  link("Current", or_none(device.number(nvmlDeviceGetCurrPcieLinkWidth)) + "x");
}

void print_clocks(const char* title, const Device& device,
                  Device::Number (Device::*clock)(nvmlClockType_t) const) {
  std::printf("    %s\n", title);
  print_inner_line("Graphics", with_unit((device.*clock)(NVML_CLOCK_GRAPHICS), "MHz"));
  print_inner_line("SM", with_unit((device.*clock)(NVML_CLOCK_SM), "MHz"));
  print_inner_line("Memory", with_unit((device.*clock)(NVML_CLOCK_MEM), "MHz"));
}

void print_device(const Device& device) {
  std::printf("\nGPU %s\n", or_none(device.bus_id()).c_str());
  print_line("Product Name", or_none(device.name()));
  print_line("Display Mode", or_none(device.display_mode()));
  print_line("Display Active", or_none(device.display_active()));
  print_line("Persistence Mode", or_none(device.persistence_mode()));
  print_line("Serial Number", or_none(device.serial()));
  print_line("GPU UUID", or_none(device.uuid()));
  print_line("Minor Number", or_none(device.index()));
  print_line("VBIOS Version", or_none(device.vbios()));
  print_links(device);
  print_line("Fan Speed", "N/A");
  print_line("Performance State", or_none(device.performance_state()));
  std::puts("    FB Memory Usage");
  print_inner_line("Total", mib(device, &nvmlMemory_t::total));
  print_inner_line("Used", mib(device, &nvmlMemory_t::used));
  print_inner_line("Free", mib(device, &nvmlMemory_t::free));
  print_line("Compute Mode", or_none(device.compute_mode()));
  const std::optional<nvmlUtilization_t> rates = device.utilization();
  std::puts("    Utilization");
  print_inner_line("GPU", rates ? std::to_string(rates->gpu) + " %" : "N/A");
  print_inner_line("Memory", rates ? std::to_string(rates->memory) + " %" : "N/A");
  print_clocks("Clocks", device, &Device::clock_mhz);
  print_clocks("Max Clocks", device, &Device::max_clock_mhz);
  print_line("Processes", "None");
}

}  // namespace

void print_list(const std::vector<Device>& devices) {
  for (const Device& each : devices) {
    std::printf("GPU %s: %s (UUID: %s)\n", or_none(each.index()).c_str(),
                or_none(each.name()).c_str(), or_none(each.uuid()).c_str());
  }
}

void print_table(const std::vector<Device>& devices) {
  const std::string driver = driver_version(), cuda = cuda_version();
  std::printf("%s\n", date().c_str());
  print_wide_rule();
  std::printf("| NVIDIA-SMI %-23sDriver Version: %-15sCUDA Version: %-9s|\n", driver.c_str(),
              driver.c_str(), cuda.c_str());
  print_rule();
  std::puts(
      "| GPU  Name                 Persistence-M | Bus-Id          Disp.A | Volatile Uncorr. ECC "
      "|\n"
      "| Fan  Temp   Perf          Pwr:Usage/Cap |           Memory-Usage | GPU-Util  Compute M. "
      "|\n"
      "|                                         |                        |               MIG M. "
      "|\n"
      "|=========================================+========================+======================"
      "|");
  for (const Device& each : devices) {
    print_row(each);
    print_rule();
  }
  std::puts("");
  print_wide_rule();
  std::puts(
      "| Processes:                                                                              "
      "|\n"
      "|  GPU   GI   CI              PID   Type   Process name                        GPU Memory "
      "|\n"
      "|        ID   ID                                                               Usage      "
      "|\n"
      "|========================================================================================="
      "|\n"
      "|  No running processes found                                                             "
      "|");
  print_wide_rule();
}

void print_details(const std::vector<Device>& devices) {
  std::printf("\n==============NVSMI LOG==============\n\n");
  std::printf("%-42s: %s\n", "Timestamp", date().c_str());
  std::printf("%-42s: %s\n", "Driver Version", driver_version().c_str());
  std::printf("%-42s: %s\n\n", "CUDA Version", cuda_version().c_str());
  std::printf("%-42s: %zu\n", "Attached GPUs", devices.size());
  for (const Device& each : devices) print_device(each);
  std::puts("");
}

void print_fields(const std::vector<Device>& devices, const std::vector<std::string>& names,
                  const CsvFormat& format) {
  std::string header;
  for (const std::string& name : names) {
    const std::string unit = find_field(name)->unit;
    header += (header.empty() ? "" : ", ") + name;
    if (format.has_units && !unit.empty()) header += " [" + unit + "]";
  }
  if (format.has_header) std::puts(header.c_str());
  for (const Device& device : devices) {
    std::string row;
    for (const std::string& name : names) {
      const Field& field = *find_field(name);
      const Device::Text value = field.value(device);
      row += (&name == &names.front() ? "" : ", ") + value.value_or("[N/A]");
      const bool has_unit = format.has_units && *field.unit != '\0';
      if (value && has_unit) row += std::string(" ") + field.unit;
    }
    std::puts(row.c_str());
  }
}

}  // namespace km::smi
