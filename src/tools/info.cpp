// kernelmill info: lists the devices and backends of this machine, with reasons for missing ones.
#include <cstdio>
#include <nlohmann/json.hpp>

#include "base/env.h"
#include "base/printable.h"
#include "base/text.h"
#include "tools/commands.h"
#include "tools/error.h"
#include "tools/library.h"
#include "tools/nvrtc.h"
#include "tools/terminal/colour.h"

namespace km::tools {
namespace {

using Json = nlohmann::ordered_json;

Json version_json() {
  km_build_info build{};
  build.struct_size = sizeof build;
  km_build_info_get(&build);
  return {{"version", version_text()}, {"build_id", build.build_id}, {"compiler", build.compiler}};
}

Json backends_json() {
  Json list = Json::array();
  uint32_t count = 0;
  km_backend_count(&count);
  for (uint32_t i = 0; i < count; ++i) {
    km_backend_info info{};
    info.struct_size = sizeof info;
    if (km_backend_info_get(i, &info) != KM_SUCCESS) continue;
    const char* status = "";
    km_status_name(info.status, &status);
    list.push_back({{"name", info.name},
                    {"usable", info.status == KM_SUCCESS},
                    {"status", status},
                    {"reason", info.reason},
                    {"device_count", info.device_count}});
  }
  return list;
}

Json device_json(const km_device_info& info) {
  return {{"uri", info.uri},
          {"backend", info.backend},
          {"name", info.name},
          {"isa", info.isa},
          {"threads", info.threads},
          {"total_memory_bytes", info.total_memory_bytes},
          {"compute_capability", std::to_string(info.compute_capability_major) + "." +
                                     std::to_string(info.compute_capability_minor)},
          {"multiprocessor_count", info.multiprocessor_count},
          {"warp_size", info.warp_size},
          {"max_threads_per_block", info.max_threads_per_block},
          {"max_block_dim", info.max_block_dim},
          {"max_grid_dim", info.max_grid_dim},
          {"shared_bytes_per_block", info.shared_bytes_per_block},
          {"shared_bytes_per_block_max", info.shared_bytes_per_block_max},
          {"clock_rate_khz", info.clock_rate_khz},
          {"memory_clock_rate_khz", info.memory_clock_rate_khz},
          {"memory_bus_width_bits", info.memory_bus_width_bits}};
}

/// A device that cannot be opened is listed with the reason, so that `info` itself never fails.
Json devices_json(const Json& backends) {
  Json list = Json::array();
  for (const Json& backend : backends) {
    for (uint32_t i = 0; i < backend["device_count"].get<uint32_t>(); ++i) {
      const std::string uri = backend["name"].get<std::string>() + ":" + std::to_string(i);
      Device device;
      const Status opened = check(km_device_open(uri.c_str(), device.out()));
      const Result<km_device_info> info =
          opened ? device_info(device.get()) : Result<km_device_info>(opened.error());
      list.push_back(info ? device_json(*info)
                          : Json{{"uri", uri}, {"reason", info.error().message}});
    }
  }
  return list;
}

/// The device that "auto" opens, and the reasons against the other candidates.
Json auto_json() {
  constexpr const char* kOutcomes[] = {"", "chosen", "refused", "not tried"};
  Json list = Json::array();
  uint32_t count = 0;
  km_auto_candidate_count(&count);
  for (uint32_t i = 0; i < count; ++i) {
    km_auto_candidate candidate{};
    candidate.struct_size = sizeof candidate;
    if (km_auto_candidate_get(i, &candidate) != KM_SUCCESS) continue;
    list.push_back({{"uri", candidate.uri},
                    {"outcome", kOutcomes[candidate.outcome]},
                    {"reason", candidate.reason}});
  }
  return list;
}

Json nvrtc_json() {
  const Result<NvrtcFound> found = find_nvrtc();
  if (!found) {
    const char* status = "";
    km_status_name(found.error().status, &status);
    return {{"usable", false}, {"status", status}, {"reason", found.error().message}};
  }
  return {{"usable", true}, {"release", found->release}, {"path", found->path}};
}

Json environment_json() {
  Json list = Json::array();
  for (const EnvEntry& variable : env_table()) {
    const auto value = foreign_env(variable.name);
    list.push_back({{"name", variable.name},
                    {"value", value ? Json(*value) : Json()},
                    {"default", variable.default_value},
                    {"values", variable.values},
                    {"text", variable.text}});
  }
  return list;
}

/// Values of variables may contain any bytes, so invalid UTF-8 is replaced.
void print_json(const Json& json) {
  std::printf("%s\n", json.dump(2, ' ', false, Json::error_handler_t::replace).c_str());
}

std::string text_of(const Json& json, const char* key) {
  return printable(json[key].get<std::string>());
}

void print_heading(const char* text) {
  std::printf("\n%s\n", painted(Colour::bold, text, stdout).c_str());
}

std::string not_usable() { return painted(Colour::yellow, "not usable:", stdout); }

/// The first line or sentence of a reason; the rest is advice.
std::string first_sentence(const std::string& reason) {
  return reason.substr(0, std::min(reason.find('\n'), reason.find("; ")));
}

/// One line about a missing compiler; the long form lists all searched places.
std::string nvrtc_advice(const Json& nvrtc) {
  if (text_of(nvrtc, "status") != "KM_ERROR_NVRTC_UNAVAILABLE") {
    return not_usable() + " " + first_sentence(text_of(nvrtc, "reason"));
  }
  const bool is_named = env(EnvVar::KM_NVRTC).has_value();
  return painted(Colour::yellow, is_named ? "not where KM_NVRTC says:" : "not installed:", stdout) +
         (is_named ? " correct or unset it" : " 'kernelmill setup' brings it") +
         "; CUDA C++ needs it, PTX does not";
}

std::string device_line(const Json& device) {
  std::string text = text_of(device, "name");
  const std::string isa = text_of(device, "isa");
  if (!isa.empty()) text += ", " + isa;
  if (const auto threads = device["threads"].get<uint32_t>()) {
    text += ", " + counted(threads, "thread");
  }
  char memory[100];
  const bool is_half = text_of(device, "backend") == "cpu" && !foreign_env("KM_CPU_MEMORY_MIB");
  std::snprintf(memory, sizeof memory, ", %.1f GiB%s",
                device["total_memory_bytes"].get<double>() / (1 << 30),
                is_half ? " (half of the machine's; KM_CPU_MEMORY_MIB)" : "");
  return text + memory + ", compute capability " + text_of(device, "compute_capability");
}

/// One line for each device and each backend without a device, for the compiler, and for set
/// variables.
void print_short(const Json& all, const Json& environment) {
  std::string chosen;
  for (const Json& candidate : all["auto"]) {
    if (text_of(candidate, "outcome") == "chosen") chosen = text_of(candidate, "uri");
  }
  std::printf("%s\n",
              painted(Colour::bold, "kernelmill " + text_of(all, "version"), stdout).c_str());
  for (const Json& device : all["devices"]) {
    const std::string uri = text_of(device, "uri");
    const std::string line = device.contains("reason")
                                 ? not_usable() + " " + first_sentence(text_of(device, "reason"))
                                 : device_line(device);
    const std::string mark = uri == chosen ? painted(Colour::green, " (auto)", stdout) : "";
    std::printf("  %-7s %s%s\n", uri.c_str(), line.c_str(), mark.c_str());
  }
  for (const Json& backend : all["backends"]) {
    if (backend["usable"].get<bool>()) continue;
    std::printf("  %-7s %s %s\n", text_of(backend, "name").c_str(), not_usable().c_str(),
                first_sentence(text_of(backend, "reason")).c_str());
  }
  const Json& nvrtc = all["nvrtc"];
  if (nvrtc["usable"].get<bool>()) {
    std::printf("  %-7s %s, %s\n", "NVRTC", text_of(nvrtc, "release").c_str(),
                text_of(nvrtc, "path").c_str());
  } else {
    std::printf("  %-7s %s\n", "NVRTC", nvrtc_advice(nvrtc).c_str());
  }
  for (const Json& variable : environment) {
    if (variable["value"].is_null()) continue;
    std::printf("  %-7s %s=%s\n", "set", text_of(variable, "name").c_str(),
                text_of(variable, "value").c_str());
  }
  std::printf("%s\n",
              painted(Colour::dim, "'kernelmill info --verbose' says more.", stdout).c_str());
}

void print_devices(const Json& devices) {
  print_heading("Devices");
  if (devices.empty()) std::printf("  none\n");
  for (const Json& device : devices) {
    if (device.contains("reason")) {
      std::printf("  %-7s %s %s\n", text_of(device, "uri").c_str(), not_usable().c_str(),
                  text_of(device, "reason").c_str());
      continue;
    }
    std::printf("  %-7s %s\n", text_of(device, "uri").c_str(), device_line(device).c_str());
  }
}

void print_backends(const Json& backends) {
  print_heading("Backends");
  for (const Json& backend : backends) {
    if (backend["usable"].get<bool>()) {
      std::printf("  %-7s %s\n", text_of(backend, "name").c_str(),
                  counted(backend["device_count"].get<uint32_t>(), "device").c_str());
    } else {
      std::printf("  %-7s %s %s\n", text_of(backend, "name").c_str(), not_usable().c_str(),
                  text_of(backend, "reason").c_str());
    }
  }
}

void print_auto(const Json& candidates) {
  print_heading("Device 'auto'");
  for (const Json& candidate : candidates) {
    std::printf("  %-7s %s: %s\n", text_of(candidate, "uri").c_str(),
                text_of(candidate, "outcome").c_str(), text_of(candidate, "reason").c_str());
  }
}

void print_nvrtc(const Json& nvrtc) {
  print_heading("CUDA C++ compiler");
  if (nvrtc["usable"].get<bool>()) {
    std::printf("  NVRTC   %s\n          %s\n", text_of(nvrtc, "release").c_str(),
                text_of(nvrtc, "path").c_str());
  } else {
    std::printf("  NVRTC   %s %s\n", not_usable().c_str(), text_of(nvrtc, "reason").c_str());
  }
}

void print_variables_set(const Json& environment) {
  print_heading("Environment ('kernelmill info --env' lists every variable)");
  bool is_any_set = false;
  for (const Json& variable : environment) {
    if (variable["value"].is_null()) continue;
    std::printf("  %s=%s\n", text_of(variable, "name").c_str(), text_of(variable, "value").c_str());
    is_any_set = true;
  }
  if (!is_any_set) std::printf("  nothing is set\n");
}

void print_variables(const Json& environment) {
  for (const Json& variable : environment) {
    std::printf("%s=%s\n    %s\n", text_of(variable, "name").c_str(),
                text_of(variable, "values").c_str(), text_of(variable, "text").c_str());
    const std::string fallback = text_of(variable, "default");
    if (!fallback.empty()) std::printf("    Default: %s\n", fallback.c_str());
    if (!variable["value"].is_null()) {
      std::printf("    Set to: %s\n", text_of(variable, "value").c_str());
    }
  }
}

class InfoCommand : public Command {
 public:
  explicit InfoCommand(CLI::App& app)
      : Command(app.add_subcommand("info", "Say what this machine can run, and why not")) {
    parser_->add_flag("--json", json_, "Print everything as JSON");
    parser_->add_flag("-v,--verbose", verbose_,
                      "Say also what was tried, and why a device is not taken");
    parser_->add_flag("--env", environment_, "Print the environment variables only");
  }
  int run() override;

 private:
  void print_all(const Json& all, const Json& environment) const;

  bool json_ = false;
  bool verbose_ = false;
  bool environment_ = false;
};

void InfoCommand::print_all(const Json& all, const Json& environment) const {
  if (!verbose_) {
    print_short(all, environment);
    return;
  }
  std::printf("kernelmill %s (build %s, %s)\n", text_of(all, "version").c_str(),
              text_of(all, "build_id").c_str(), text_of(all, "compiler").c_str());
  print_devices(all["devices"]);
  print_backends(all["backends"]);
  print_auto(all["auto"]);
  print_nvrtc(all["nvrtc"]);
  print_variables_set(environment);
}

int InfoCommand::run() {
  const Json environment = environment_json();
  if (environment_) {
    if (json_) {
      print_json(environment);
    } else {
      print_variables(environment);
    }
    return kExitOk;
  }
  Json all = version_json();
  all["backends"] = backends_json();
  all["devices"] = devices_json(all["backends"]);
  all["auto"] = auto_json();
  all["nvrtc"] = nvrtc_json();
  if (json_) {
    all["environment"] = environment;
    print_json(all);
    return kExitOk;
  }
  print_all(all, environment);
  return kExitOk;
}

}  // namespace

std::unique_ptr<Command> make_info(CLI::App& app) { return std::make_unique<InfoCommand>(app); }

}  // namespace km::tools
