// nvidia-smi: the queries by which programs and people look at devices, on our NVML.
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "dropin/nvidia_smi/reports.h"

namespace km::smi {
namespace {

constexpr int kUsage = 2, kNoDevice = 6, kNoDriver = 9;  // exit codes of nvidia-smi

constexpr const char* kHelp =
    "nvidia-smi of Kernelmill: the devices of `kernelmill exec`\n"
    "  nvidia-smi [-i ID]                          a table\n"
    "  nvidia-smi -L                               one line for each device\n"
    "  nvidia-smi -q                               details\n"
    "  nvidia-smi --query-gpu=FIELD[,FIELD...] --format=csv[,noheader][,nounits]\n"
    "  nvidia-smi --query-compute-apps=FIELD[,FIELD...] --format=csv[,noheader][,nounits]\n"
    "ID is a number, a UUID or a bus id; several are separated by commas.";

struct Request {
  enum class Kind { kTable, kList, kDetails, kFields, kProcesses, kHelp, kVersion };
  Kind kind = Kind::kTable;
  std::vector<std::string> fields, ids;
  CsvFormat format;
  bool has_format = false;
};

std::vector<std::string> split(std::string_view list) {
  std::vector<std::string> parts;
  while (true) {
    const size_t comma = list.find(',');
    std::string_view part = list.substr(0, comma);
    while (part.starts_with(' ')) part.remove_prefix(1);
    while (part.ends_with(' ')) part.remove_suffix(1);
    if (!part.empty()) parts.emplace_back(part);
    if (comma == std::string_view::npos) return parts;
    list.remove_prefix(comma + 1);
  }
}

bool read_format(const std::string& value, Request* request) {
  for (const std::string& each : split(value)) {
    if (each == "csv") {
      request->has_format = true;
    } else if (each == "noheader") {
      request->format.has_header = false;
    } else if (each == "nounits") {
      request->format.has_units = false;
    } else {
      return false;
    }
  }
  return request->has_format;
}

/// Reads an option that has a value; false if it is none of these.
bool read_value(std::string_view name, const std::string& value, Request* request) {
  if (name == "-i" || name == "--id") {
    request->ids = split(value);
    return true;
  }
  if (name == "--format") return read_format(value, request);
  if (name == "--query-gpu") request->kind = Request::Kind::kFields;
  if (name == "--query-compute-apps") request->kind = Request::Kind::kProcesses;
  if (name != "--query-gpu" && name != "--query-compute-apps") return false;
  request->fields = split(value);
  return !request->fields.empty();
}

bool read_flag(std::string_view name, Request* request) {
  static constexpr struct {
    std::string_view name;
    Request::Kind kind;
  } kFlags[] = {
      {"-L", Request::Kind::kList},           {"--list-gpus", Request::Kind::kList},
      {"-q", Request::Kind::kDetails},        {"--query", Request::Kind::kDetails},
      {"-h", Request::Kind::kHelp},           {"--help", Request::Kind::kHelp},
      {"--version", Request::Kind::kVersion},
  };
  for (const auto& each : kFlags) {
    if (each.name != name) continue;
    request->kind = each.kind;
    return true;
  }
  return false;
}

/// Reads the command line; returns the word that is wrong, or an empty text.
std::string read_words(const std::vector<std::string>& words, Request* request) {
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    const size_t equals = word.find('=');
    if (equals != std::string::npos) {
      const std::string_view name = std::string_view(word).substr(0, equals);
      if (!read_value(name, word.substr(equals + 1), request)) return word;
    } else if (!read_flag(word, request)) {
      if (i + 1 == words.size() || !read_value(word, words[i + 1], request)) return word;
      ++i;
    }
  }
  return {};
}

bool is_called(const Device& device, const std::string& id) {
  const Device::Number index = device.index();
  return (index && std::to_string(*index) == id) || device.uuid() == id || device.bus_id() == id;
}

/// The devices that were asked for; an unknown one's name is in `unknown`.
std::vector<Device> chosen(const Request& request, std::string* unknown) {
  const std::vector<Device> all = all_devices();
  if (request.ids.empty()) return all;
  std::vector<Device> found;
  for (const std::string& id : request.ids) {
    const size_t before = found.size();
    for (const Device& each : all) {
      if (is_called(each, id)) found.push_back(each);
    }
    if (found.size() == before) *unknown = id;
  }
  return found;
}

int print_processes(const Request& request) {
  std::string header;
  for (const std::string& each : request.fields) {
    header += (header.empty() ? "" : ", ") + each;
    if (each == "used_memory" || each == "used_gpu_memory") header += " [MiB]";
  }
  if (request.format.has_header) std::puts(header.c_str());
  return 0;  // no process but this one is known, and this one computes nothing
}

int run_request(const Request& request) {
  std::string unknown;
  const std::vector<Device> devices = chosen(request, &unknown);
  if (!unknown.empty()) {
    std::printf("No devices were found: there is no %s\n", unknown.c_str());
    return kNoDevice;
  }
  switch (request.kind) {
    case Request::Kind::kList:
      print_list(devices);
      return 0;
    case Request::Kind::kDetails:
      print_details(devices);
      return 0;
    case Request::Kind::kFields:
      print_fields(devices, request.fields, request.format);
      return 0;
    case Request::Kind::kProcesses:
      return print_processes(request);
    case Request::Kind::kVersion:
      std::printf("NVIDIA-SMI version  : %s\nDRIVER version      : %s\nCUDA Version        : %s\n",
                  driver_version().c_str(), driver_version().c_str(), cuda_version().c_str());
      return 0;
    default:
      print_table(devices);
      return 0;
  }
}

int run(const std::vector<std::string>& words) {
  Request request;
  if (const std::string wrong = read_words(words, &request); !wrong.empty()) {
    std::printf("Option %s is not recognized. Please run 'nvidia-smi -h'.\n", wrong.c_str());
    return kUsage;
  }
  const bool has_fields = !request.fields.empty();
  if (has_fields && !request.has_format) {
    std::puts("\"--format=\" is missing; give --format=csv");
    return kUsage;
  }
  for (const std::string& each : request.fields) {
    if (request.kind != Request::Kind::kFields || find_field(each) != nullptr) continue;
    std::printf("Field \"%s\" is not a valid field to query.\n", each.c_str());
    return kUsage;
  }
  if (request.kind == Request::Kind::kHelp) {
    std::puts(kHelp);
    return 0;
  }
  if (nvmlInit_v2() != NVML_SUCCESS) {
    std::puts(
        "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver: run it by "
        "`kernelmill exec`.");
    return kNoDriver;
  }
  const int code = run_request(request);
  nvmlShutdown();
  return code;
}

}  // namespace
}  // namespace km::smi

int main(int count, char** words) {
  return km::smi::run(std::vector<std::string>(words + 1, words + count));
}
