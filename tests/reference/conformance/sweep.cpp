#include "sweep.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <span>
#include <thread>

#include "harness/session.h"
#include "kernel_text.h"
#include "reference/evaluate.h"

namespace km::reference {
namespace {

using kernels::session;

constexpr uint64_t kBatch = uint64_t{1} << 18;
constexpr size_t kVariantsPerKernel = 8;

/// Some variants with the same type of operand, compiled together.
class Sweep {
 public:
  Sweep(std::span<const Variant* const> variants, Report& report)
      : variants_(variants.begin(), variants.end()), report_(report) {}

  void run(uint64_t step) {
    std::unique_ptr<kernels::Module> module;
    try {
      module = session().ptx_text(module_text(variants_), "sweep.ptx");
    } catch (const kernels::Failure& failure) {
      if (variants_.size() > 1) return run_each(step);
      return refuse(*variants_[0], failure, report_);
    }
    const uint64_t end = uint64_t{1} << ptx::size_bits(variants_[0]->sources[0].type);
    if (end <= uint64_t{1} << 16) step = 1;
    for (uint64_t first = 0; first < end; first += kBatch * step) {
      inputs_.clear();
      for (uint64_t value = first; value < end && inputs_.size() < kBatch; value += step) {
        inputs_.push_back(value);
      }
      compare_batch(*module);
    }
    for (const Variant* variant : variants_) std::printf("%s\n", variant->mnemonic.c_str());
    std::fflush(stdout);
  }

 private:
  void run_each(uint64_t step) {  // one that does not load must not hide the others
    for (const Variant*& variant : variants_) Sweep({&variant, 1}, report_).run(step);
  }

  void compare_batch(kernels::Module& module) {
    const auto n = static_cast<uint32_t>(inputs_.size());
    const kernels::Buffer<uint64_t> in(session(), inputs_);
    const kernels::Buffer<uint64_t> out(session(), std::vector<uint64_t>(n * variants_.size()));
    module.run("varying", kernels::cover(n, 256), in, out, n);
    got_ = out.read();
    const uint64_t workers = std::max(1u, std::thread::hardware_concurrency());
    std::vector<std::vector<std::string>> wrong(workers);
    {
      std::vector<std::jthread> threads;
      for (uint64_t w = 0; w < workers; ++w) {
        threads.emplace_back(
            [&, w] { wrong[w] = compare_part(n * w / workers, n * (w + 1) / workers); });
      }
    }
    for (const auto& lines : wrong) {
      report_.mismatches.insert(report_.mismatches.end(), lines.begin(), lines.end());
    }
    report_.results += n * variants_.size();
  }

  /// The first mismatch of each variant.
  std::vector<std::string> compare_part(uint64_t first, uint64_t last) const {
    std::vector<std::string> wrong;
    for (size_t v = 0; v < variants_.size(); ++v) {
      const Variant& variant = *variants_[v];
      const Instruction& in = variant.instruction();
      const Handler handler = find_handler(in);
      const unsigned bits = register_bits(variant.result);
      const uint64_t* const got = &got_[v * inputs_.size()];
      for (uint64_t i = first; i < last; ++i) {
        const std::array<Bits, 1> source{inputs_[i]};
        const Bits want = fill_register(handler({in, source}).d, variant.result, bits);
        if (got[i] == static_cast<uint64_t>(want)) continue;
        char text[96];
        std::snprintf(text, sizeof text, " %llx: got %llx, want %llx",
                      static_cast<unsigned long long>(inputs_[i]),
                      static_cast<unsigned long long>(got[i]),
                      static_cast<unsigned long long>(want));
        wrong.push_back(variant.text + text);
        break;
      }
    }
    return wrong;
  }

  std::vector<const Variant*> variants_;
  Report& report_;
  std::vector<uint64_t> inputs_, got_;
};

/// One operand of at most 32 bits, one result, and nothing else.
bool is_unary(const Variant& variant) {
  return variant.sources.size() == 1 && !variant.sources[0].constant &&
         ptx::size_bits(variant.sources[0].type) <= 32 && !variant.second_result &&
         !variant.reads_carry && !variant.writes_carry;
}

}  // namespace

Report sweep_variants(const std::vector<Variant>& variants, uint64_t step) {
  std::map<Type, std::vector<const Variant*>> by_type;
  Report report;
  for (const Variant& variant : variants) {
    if (!is_unary(variant)) continue;
    by_type[variant.sources[0].type].push_back(&variant);
    ++report.variants;
  }
  for (const auto& [type, members] : by_type) {
    const std::span<const Variant* const> all(members);
    for (size_t start = 0; start < all.size(); start += kVariantsPerKernel) {
      Sweep(all.subspan(start, std::min(kVariantsPerKernel, all.size() - start)), report).run(step);
    }
  }
  return report;
}

}  // namespace km::reference
