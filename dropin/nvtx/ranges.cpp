#include "dropin/nvtx/ranges.h"

#include <unordered_map>
#include <vector>

#include "dropin/library/driver.h"
#include "dropin/library/handles.h"
#include "dropin/library/host_memory.h"

namespace km::nvtx {
namespace {

struct Domain {
  std::string name;
};
struct RegisteredString {
  std::string text;
};
constexpr uint64_t kDomainTag = 5, kStringTag = 6;

/// A thread's open ranges, by domain.
std::unordered_map<uint64_t, std::vector<uint64_t>>& open_ranges() {
  static thread_local std::unordered_map<uint64_t, std::vector<uint64_t>> ranges;
  return ranges;
}

/// Annotated programs may never use a device, so the driver is not initialised for annotations.
const library::LibraryTable* table() {
  const library::Driver* const driver = library::loaded_driver();
  return driver != nullptr ? driver->table : nullptr;
}

}  // namespace

uint64_t start(uint64_t domain, const std::string& name) {
  const library::LibraryTable* const services = table();
  if (services == nullptr) return 0;
  const auto found = library::handle_map<Domain>().find(domain);
  const std::string whole = found != nullptr ? found->name + ": " + name : name;
  return services->start_range(whole.c_str());
}

void end(uint64_t range) {
  if (range != 0 && table() != nullptr) table()->end_range(range);
}

int push(uint64_t domain, const std::string& name) {
  std::vector<uint64_t>& open = open_ranges()[domain];
  open.push_back(start(domain, name));
  return static_cast<int>(open.size()) - 1;
}

int pop(uint64_t domain) {
  const auto found = open_ranges().find(domain);
  if (found == open_ranges().end() || found->second.empty()) return kNoTracking;
  end(found->second.back());
  found->second.pop_back();
  return static_cast<int>(found->second.size());
}

void mark(uint64_t domain, const std::string& name) { end(start(domain, name)); }

uint64_t create_domain(std::string name) {
  return library::handle_map<Domain>().add(std::make_shared<Domain>(Domain{std::move(name)}),
                                           kDomainTag);
}

void destroy_domain(uint64_t domain) { library::handle_map<Domain>().remove(domain); }

uint64_t register_string(std::string text) {
  return library::handle_map<RegisteredString>().add(
      std::make_shared<RegisteredString>(RegisteredString{std::move(text)}), kStringTag);
}

std::string registered_string(uint64_t id) {
  const auto found = library::handle_map<RegisteredString>().find(id);
  return found != nullptr ? found->text : std::string();
}

std::string narrow(const wchar_t* text, size_t most_bytes) {
  std::string result;
  for (;; ++text) {
    wchar_t read = 0;
    if (result.size() > most_bytes || !library::read_host(text, &read)) return "";
    if (read == L'\0') return result;
    const auto code = static_cast<uint32_t>(read);
    const auto add = [&](uint32_t byte) { result.push_back(static_cast<char>(byte)); };
    if (code < 0x80) {
      add(code);
    } else if (code < 0x800) {
      add(0xc0 | code >> 6), add(0x80 | (code & 63));
    } else if (code < 0x10000) {
      add(0xe0 | code >> 12), add(0x80 | (code >> 6 & 63)), add(0x80 | (code & 63));
    } else {
      add(0xf0 | (code >> 18 & 7)), add(0x80 | (code >> 12 & 63));
      add(0x80 | (code >> 6 & 63)), add(0x80 | (code & 63));
    }
  }
}

}  // namespace km::nvtx
