#include <algorithm>
#include <cctype>
#include <cstdio>
#include <map>

#include "base/printable.h"
#include "base/text.h"
#include "tools/corpus/corpus.h"
#include "tools/terminal/colour.h"

namespace km::tools {

namespace {

constexpr size_t kReasonsShown = 20;

/// Removes positions, names and numbers from a reason, so that equal reasons compare equal.
std::string general(const std::string& reason) {
  std::string text;
  bool in_quotes = false, in_number = false;
  const size_t place = reason.find(": ");
  const bool has_place =
      place != std::string::npos && reason.substr(0, place).find(':') != std::string::npos;
  for (const char c : has_place ? reason.substr(place + 2) : reason) {
    const bool digit = std::isdigit(static_cast<unsigned char>(c)) != 0;
    if (c == '\n') break;
    if (c == '\'') in_quotes = !in_quotes;
    if (!digit || in_quotes) text += c;
    if (digit && !in_quotes && !in_number) text += 'N';
    in_number = digit;
  }
  return text;
}

double quantile(const std::vector<double>& sorted, double share) {
  if (sorted.empty()) return 0;
  const auto index = static_cast<size_t>(share * static_cast<double>(sorted.size()));
  return sorted[std::min(index, sorted.size() - 1)];
}

Json quantiles(std::vector<double> times) {
  std::sort(times.begin(), times.end());
  return {{"p50", quantile(times, 0.5)},
          {"p90", quantile(times, 0.9)},
          {"p99", quantile(times, 0.99)},
          {"max", times.empty() ? 0 : times.back()}};
}

Json by_count(const std::map<std::string, uint64_t>& counts) {
  std::vector<std::pair<std::string, uint64_t>> list(counts.begin(), counts.end());
  std::stable_sort(list.begin(), list.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  Json result = Json::object();
  for (const auto& [name, count] : list) result[name] = count;
  return result;
}

struct Totals {
  uint64_t files = 0, compiled = 0, loaded = 0, kernels = 0, made = 0;
  std::map<std::string, uint64_t> sources, reasons, forms, modes;
  std::vector<double> times_ms, processor_ms;

  void add(const Json& file) {
    ++files;
    compiled += file["compiled"].get<bool>();
    loaded += file["loaded"].get<bool>();
    if (file.contains("reason")) {
      auto& where = file["compiled"].get<bool>() ? reasons : sources;
      ++where[general(file["reason"].get<std::string>())];
    }
    for (const Json& form : file["forms"]) ++forms[form.get<std::string>()];
    for (const Json& kernel : file["kernels"]) {
      ++kernels;
      made += kernel["made"].get<bool>();
      times_ms.push_back(kernel["ms"].get<double>());
      processor_ms.push_back(kernel["cpu_ms"].get<double>());
      if (kernel.contains("reason")) ++reasons[general(kernel["reason"].get<std::string>())];
      const int64_t mode = kernel.value("mode", int64_t{0});
      if (mode >= 1 && mode <= 3) ++modes[std::string(1, static_cast<char>('a' + mode - 1))];
    }
  }
};

/// Maps the reason of a failure to the affected files and kernels.
using Failures = std::map<std::string, std::vector<std::string>>;

Failures failures_of(const std::vector<Json>& files) {
  Failures failures;
  for (const Json& file : files) {
    const auto name = file["file"].get<std::string>();
    if (file.contains("reason")) {
      const auto reason = file["reason"].get<std::string>();
      // Failures in PTX start with their position, which includes the file.
      failures[general(reason)].push_back(reason.starts_with(name) ? reason : name + ": " + reason);
    }
    for (const Json& kernel : file["kernels"]) {
      if (!kernel.contains("reason")) continue;
      const auto reason = kernel["reason"].get<std::string>();
      failures[general(reason)].push_back(
          name + ", kernel " + source_name(kernel["name"].get<std::string>()) + ": " + reason);
    }
  }
  return failures;
}

void print_reasons(const char* title, const Json& reasons, const Failures& failures,
                   bool names_all) {
  if (reasons.empty()) return;
  std::printf("%s:\n", painted(Colour::bold, title, stdout).c_str());
  size_t shown = 0;
  for (const auto& [reason, count] : reasons.items()) {
    if (++shown > kReasonsShown) break;
    std::printf("  %5llu  %s\n", static_cast<unsigned long long>(count.get<uint64_t>()),
                printable_name(reason).c_str());
    const auto found = failures.find(reason);
    if (found == failures.end()) continue;
    const size_t named = names_all ? found->second.size() : 1;
    for (size_t i = 0; i < named; ++i) {
      const std::string& line = found->second[i];
      std::printf("         %s\n",
                  painted(Colour::dim, line.substr(0, line.find('\n')), stdout).c_str());
    }
  }
  if (reasons.size() > kReasonsShown) {
    std::printf("         and %zu more reasons; --json lists all\n",
                reasons.size() - kReasonsShown);
  }
}

}  // namespace

Json sum_up(const std::vector<Json>& files) {
  Totals totals;
  for (const Json& file : files) totals.add(file);
  return {{"files", totals.files},
          {"files_compiled", totals.compiled},
          {"files_loaded", totals.loaded},
          {"kernels", totals.kernels},
          {"kernels_made", totals.made},
          {"modes", by_count(totals.modes)},
          {"opcode_forms", by_count(totals.forms)},
          {"kernel_ms", quantiles(std::move(totals.times_ms))},
          {"kernel_cpu_ms", quantiles(std::move(totals.processor_ms))},
          {"failures", by_count(totals.reasons)},
          {"sources_refused", by_count(totals.sources)}};
}

void print_summary(const Json& summary, const std::vector<Json>& files, bool names_all) {
  auto count = [&](const char* name) {
    return static_cast<unsigned long long>(summary[name].get<uint64_t>());
  };
  const Json& times = summary["kernel_ms"];
  std::printf("files            %llu, %llu compiled to PTX, %llu loaded\n", count("files"),
              count("files_compiled"), count("files_loaded"));
  std::printf("kernels          %llu, machine code made for %llu\n", count("kernels"),
              count("kernels_made"));
  std::printf("modes           ");
  for (const auto& [mode, kernels] : summary["modes"].items()) {
    std::printf(" %s: %llu ", mode.c_str(),
                static_cast<unsigned long long>(kernels.get<uint64_t>()));
  }
  std::printf("\nopcode forms     %zu\n", summary["opcode_forms"].size());
  std::printf("ms per kernel    p50 %.1f, p90 %.1f, p99 %.1f, max %.1f\n",
              times["p50"].get<double>(), times["p90"].get<double>(), times["p99"].get<double>(),
              times["max"].get<double>());
  const Failures failures = failures_of(files);
  print_reasons("failures", summary["failures"], failures, names_all);
  print_reasons("sources that do not compile", summary["sources_refused"], failures, names_all);
}

}  // namespace km::tools
