#include "runner.h"

#include <algorithm>
#include <map>
#include <set>
#include <span>

#include "harness/session.h"
#include "kernel_text.h"
#include "reference/inputs.h"

namespace km::reference {
namespace {

using kernels::Buffer;
using kernels::session;

constexpr size_t kVariantsPerKernel = 24;
constexpr unsigned kBlock = 64;

class Group {
 public:
  Group(const std::vector<Type>& types, uint64_t count, uint64_t seed, Report& report)
      : count_(count),
        columns_(input_columns(types, count, seed)),
        report_(report),
        in_(session(), flat()) {}

  void run(std::span<const Variant* const> variants) {
    std::unique_ptr<kernels::Module> module;
    try {
      module = session().ptx_text(module_text(variants), "conformance.ptx");
      launch(*module, variants, "varying");
      launch(*module, variants, "uniform");
    } catch (const kernels::Failure& failure) {
      if (variants.size() == 1) return refuse(*variants[0], failure, report_);
      const size_t half = variants.size() / 2;  // one that does not load must not hide the others
      run(variants.first(half));
      run(variants.subspan(half));
    }
  }

 private:
  std::vector<uint64_t> flat() const {
    std::vector<uint64_t> all;
    for (const auto& column : columns_) all.insert(all.end(), column.begin(), column.end());
    if (all.empty()) all.push_back(0);
    return all;
  }

  void launch(kernels::Module& module, std::span<const Variant* const> variants,
              const char* kernel) {
    size_t results = 0;
    for (const Variant* variant : variants) results += result_columns(*variant);
    Buffer<uint64_t> out(session(), std::vector<uint64_t>(results * count_));
    const bool varying = kernel[0] == 'v';
    const auto n = static_cast<uint32_t>(count_);
    const kernels::Shape shape = varying ? kernels::cover(n, kBlock) : kernels::Shape{{n}, {2}};
    module.run(kernel, shape, in_, out, n);
    const std::vector<uint64_t> got = out.read();
    size_t column = 0;
    for (const Variant* variant : variants) {
      compare(*variant, &got[column * count_], kernel);
      column += result_columns(*variant);
    }
  }

  void compare(const Variant& variant, const uint64_t* got, const char* kernel) {
    for (uint64_t i = 0; i < count_; ++i) {
      const std::vector<uint64_t> want = expected(variant, columns_, i, (i & 1) != 0);
      for (size_t c = 0; c < want.size(); ++c) {
        ++report_.results;
        if (got[c * count_ + i] == want[c]) continue;
        return mismatch(variant, kernel, i, got[c * count_ + i], want[c], c);
      }
    }
  }

  void mismatch(const Variant& variant, const char* kernel, uint64_t i, uint64_t got, uint64_t want,
                size_t column) {
    char text[128];
    std::string line = std::string(kernel) + " " + variant.text;
    for (size_t k = 0; k < variant.sources.size(); ++k) {
      const Source& source = variant.sources[k];
      std::snprintf(
          text, sizeof text, " %llx",
          static_cast<unsigned long long>(source.constant ? source.value : columns_[k][i]));
      line += text;
    }
    std::snprintf(text, sizeof text, ": got %llx, want %llx (result %zu, element %llu)",
                  static_cast<unsigned long long>(got), static_cast<unsigned long long>(want),
                  column, static_cast<unsigned long long>(i));
    report_.mismatches.push_back(line + text);
  }

  uint64_t count_;
  std::vector<std::vector<uint64_t>> columns_;
  Report& report_;
  Buffer<uint64_t> in_;
};

}  // namespace

void refuse(const Variant& variant, const kernels::Failure& failure, Report& report) {
  if (failure.status == KM_ERROR_UNSUPPORTED_PTX) {
    report.refused.push_back(&variant);
  } else {
    report.mismatches.push_back(variant.text + ": " + failure.what());
  }
}

Report run_variants(const std::vector<Variant>& variants, uint64_t inputs, uint64_t seed) {
  std::map<std::vector<Type>, std::vector<const Variant*>> groups;
  for (const Variant& variant : variants) groups[signature_of(variant)].push_back(&variant);
  Report report;
  report.variants = variants.size();
  for (const auto& [types, members] : groups) {
    Group group(types, inputs, seed, report);
    const std::span<const Variant* const> all(members);
    for (size_t start = 0; start < all.size(); start += kVariantsPerKernel) {
      group.run(all.subspan(start, std::min(kVariantsPerKernel, all.size() - start)));
    }
  }
  return report;
}

}  // namespace km::reference
