#include "goldens.h"

#include <cstdio>
#include <map>
#include <span>

#include "reference/conformance/kernel_text.h"
#include "reference/inputs.h"

namespace km::gpu {
namespace {

using reference::Variant;

constexpr size_t kVariantsPerKernel = 24;
constexpr unsigned kBlock = 128;

std::string difference(const Variant& variant, const std::vector<std::vector<uint64_t>>& columns,
                       uint64_t element, uint64_t got, uint64_t want) {
  char text[96];
  std::string line = variant.text + " of";
  for (size_t k = 0; k < variant.sources.size(); ++k) {
    const uint64_t value =
        variant.sources[k].constant ? variant.sources[k].value : columns[k][element];
    std::snprintf(text, sizeof text, " %llx", static_cast<unsigned long long>(value));
    line += text;
  }
  std::snprintf(text, sizeof text, ": got %llx, want %llx", static_cast<unsigned long long>(got),
                static_cast<unsigned long long>(want));
  return line + text;
}

/// Variants whose operands have the same types.
class Group {
 public:
  Group(const Driver& driver, const std::vector<ptx::Type>& types, uint64_t count, uint64_t seed,
        GoldenReport& report)
      : driver_(driver),
        count_(count),
        columns_(reference::input_columns(types, count, seed)),
        report_(report) {}

  void run(std::span<const Variant* const> variants) {
    size_t results = 0;
    for (const Variant* variant : variants) results += reference::result_columns(*variant);
    Result<void*> module = driver_.load(reference::module_text(variants));
    if (!module) return split(variants, module.error().message);
    for (const char* kernel : {"varying", "uniform"}) {
      const auto got = run_columns(driver_, *module, kernel, columns_, count_, results);
      if (!got) {
        report_.mismatches.push_back(variants[0]->text + ": " + got.error().message);
        break;
      }
      const uint64_t* column = got->data();
      for (const Variant* variant : variants) {
        compare(*variant, column);
        column += reference::result_columns(*variant) * count_;
      }
    }
    driver_.unload(*module);
  }

 private:
  /// One that does not load must not hide the others.
  void split(std::span<const Variant* const> variants, const std::string& reason) {
    if (variants.size() == 1) {
      report_.refused.push_back(variants[0]->text + ": " + reason);
      return;
    }
    const size_t half = variants.size() / 2;
    run(variants.first(half));
    run(variants.subspan(half));
  }

  void compare(const Variant& variant, const uint64_t* got) {
    for (uint64_t i = 0; i < count_; ++i) {
      const auto want = reference::expected(variant, columns_, i, (i & 1) != 0);
      for (size_t c = 0; c < want.size(); ++c) {
        ++report_.results;
        const uint64_t value = got[c * count_ + i];
        if (value == want[c]) continue;
        report_.mismatches.push_back(difference(variant, columns_, i, value, want[c]));
        return;
      }
    }
  }

  const Driver& driver_;
  uint64_t count_;
  std::vector<std::vector<uint64_t>> columns_;
  GoldenReport& report_;
};

}  // namespace

bool is_approximate(const Variant& variant) {
  const ptx::Instruction& in = variant.instruction();
  return in.has(ptx::Modifier::approx) || in.has(ptx::Modifier::full);
}

Result<std::vector<uint64_t>> run_columns(const Driver& driver, void* module, const char* kernel,
                                          const std::vector<std::vector<uint64_t>>& columns,
                                          uint64_t count, size_t results) {
  std::vector<uint64_t> all;
  for (const auto& column : columns) all.insert(all.end(), column.begin(), column.end());
  if (all.empty()) all.push_back(0);
  std::vector<uint64_t> got(results * count);
  KM_ASSIGN(const DeviceWords in, DeviceWords::create(driver, all));
  KM_ASSIGN(const DeviceWords out, DeviceWords::create(driver, got));
  const bool varying = kernel[0] == 'v';
  const auto n = static_cast<uint32_t>(count);
  KM_TRY(driver.run(module, kernel, varying ? (n + kBlock - 1) / kBlock : n, varying ? kBlock : 2,
                    in.address(), out.address(), n));
  KM_TRY(driver.download(out.address(), got));
  return got;
}

GoldenReport run_goldens(const Driver& driver, const std::vector<Variant>& variants,
                         uint64_t inputs, uint64_t seed) {
  std::map<std::vector<ptx::Type>, std::vector<const Variant*>> groups;
  GoldenReport report;
  for (const Variant& variant : variants) {
    if (is_approximate(variant)) continue;
    groups[reference::signature_of(variant)].push_back(&variant);
    ++report.variants;
  }
  for (const auto& [types, members] : groups) {
    Group group(driver, types, inputs, seed, report);
    const std::span<const Variant* const> all(members);
    for (size_t start = 0; start < all.size(); start += kVariantsPerKernel) {
      group.run(all.subspan(start, std::min(kVariantsPerKernel, all.size() - start)));
    }
  }
  return report;
}

}  // namespace km::gpu
