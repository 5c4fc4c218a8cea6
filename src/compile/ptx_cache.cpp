#include "compile/ptx_cache.h"

#include <sys/stat.h>

#include <algorithm>
#include <charconv>
#include <string_view>

#include "base/file/disk_cache.h"
#include "base/hash.h"
#include "compile/device_headers.h"
#include "compile/includes.h"
#include "compile/options.h"

namespace km {
namespace {

/// Appends a part with its size before it, so that different lists of parts give different texts.
void append(std::string_view part, std::string* text) {
  *text += std::to_string(part.size());
  *text += ':';
  *text += part;
}

bool take(std::string_view* text, std::string* part) {
  size_t size = 0;
  const auto [stop, code] = std::from_chars(text->data(), text->data() + text->size(), size);
  const auto head = static_cast<size_t>(stop - text->data()) + 1;
  if (code != std::errc() || head > text->size() || *stop != ':' || size > text->size() - head) {
    return false;
  }
  part->assign(text->substr(head, size));
  text->remove_prefix(head + size);
  return true;
}

/// Options that read or write files themselves, or depend on the time of day.
bool is_beyond_the_key(const std::string& option) {
  constexpr std::string_view kParts[] = {"pre-include", "-include", "pch",      "time",
                                         "@",           "__DATE__", "__TIME__", "__TIMESTAMP__"};
  return !option.starts_with("--include-path") && !option.starts_with("-I") &&
         std::any_of(std::begin(kParts), std::end(kParts),
                     [&](std::string_view part) { return option.find(part) != std::string::npos; });
}

/// The library's version alone does not distinguish builds.
std::optional<std::string> identity_of(const NvrtcInfo& info) {
  struct stat status{};
  if (stat(info.path.c_str(), &status) != 0) return std::nullopt;
  return info.path + ' ' + std::to_string(info.major) + '.' + std::to_string(info.minor) + ' ' +
         std::to_string(status.st_size) + ' ' + std::to_string(status.st_mtim.tv_sec) + '.' +
         std::to_string(status.st_mtim.tv_nsec);
}

}  // namespace

std::optional<std::string> ptx_key(const CompileInput& input,
                                   const std::vector<std::string>& options, const NvrtcInfo& info) {
  if (std::any_of(options.begin(), options.end(), is_beyond_the_key)) return std::nullopt;
  const std::optional<std::string> compiler = identity_of(info);
  const std::optional<std::string> includes = describe_includes(input, include_folders(options));
  if (!compiler || !includes) return std::nullopt;
  std::string all;
  append(*compiler, &all);
  append(*includes, &all);
  append(device_headers_hash(), &all);
  append(input.source, &all);
  append(input.name, &all);
  append(std::to_string(options.size()), &all);
  for (const std::string& option : options) append(option, &all);
  append(std::to_string(input.headers.size()), &all);
  for (const CompileHeader& header : input.headers) {
    append(header.name, &all);
    append(header.source, &all);
  }
  for (const std::string& expression : input.name_expressions) append(expression, &all);
  // The prefix separates these entries from those of older versions, which have no types.
  return "ptx with types\n" + hash128(all).text();
}

std::optional<CompileOutput> find_ptx(const std::string& key) {
  DiskCache* const cache = DiskCache::instance();
  if (cache == nullptr) return std::nullopt;
  const std::optional<std::vector<uint8_t>> kept = cache->find(key);
  if (!kept) return std::nullopt;
  std::string_view rest(reinterpret_cast<const char*>(kept->data()), kept->size());
  CompileOutput output;
  if (!take(&rest, &output.ptx) || !take(&rest, &output.log)) return std::nullopt;
  while (!rest.empty()) {
    std::string expression, name;
    if (!take(&rest, &expression) || !take(&rest, &name)) return std::nullopt;
    output.lowered_names.emplace_back(std::move(expression), std::move(name));
  }
  return output;
}

void keep_ptx(const std::string& key, const CompileOutput& output) {
  DiskCache* const cache = DiskCache::instance();
  if (cache == nullptr) return;
  std::string text;
  append(output.ptx, &text);
  append(output.log, &text);
  for (const auto& [expression, name] : output.lowered_names) {
    append(expression, &text);
    append(name, &text);
  }
  cache->keep(key, {reinterpret_cast<const uint8_t*>(text.data()), text.size()});
}

}  // namespace km
