#include "sweep.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <span>
#include <thread>

#include "harness/session.h"
#include "kernel_text.h"
#include "reference/conversions.h"

namespace km::reference {
namespace {

using kernels::session;

constexpr uint64_t kBatch = uint64_t{1} << 15;  // what the processor's caches hold
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
    kernels::Buffer<uint64_t> in(session(), kBatch);
    // Zero, since narrow results leave the rest of their 8 bytes alone.
    const kernels::Buffer<uint64_t> out(session(),
                                        std::vector<uint64_t>(kBatch * variants_.size()));
    got_.resize(out.count());
    inputs_.resize(kBatch);
    for (uint64_t first = 0; first < end; first += kBatch * step) {
      for (uint64_t i = 0; i < kBatch; ++i) inputs_[i] = std::min(first + i * step, end - 1);
      in.upload(inputs_.data());
      compare_batch(*module, in, out);
      const uint64_t left = (end - first + step - 1) / step;
      report_.results += std::min(kBatch, left) * variants_.size();
    }
    for (const Variant* variant : variants_) std::printf("%s\n", variant->mnemonic.c_str());
    std::fflush(stdout);
  }

 private:
  void run_each(uint64_t step) {  // one that does not load must not hide the others
    for (const Variant*& variant : variants_) Sweep({&variant, 1}, report_).run(step);
  }

  void compare_batch(kernels::Module& module, const kernels::Buffer<uint64_t>& in,
                     const kernels::Buffer<uint64_t>& out) {
    module.run("varying", kernels::cover(kBatch, 256), in, out, static_cast<uint32_t>(kBatch));
    out.download(got_.data());
    const uint64_t workers = std::max(1u, std::thread::hardware_concurrency());
    std::vector<std::vector<std::string>> wrong(workers);
    {
      std::vector<std::jthread> threads;
      for (uint64_t w = 0; w < workers; ++w) {
        threads.emplace_back(
            [&, w] { wrong[w] = compare_part(kBatch * w / workers, kBatch * (w + 1) / workers); });
      }
    }
    for (const auto& lines : wrong) {
      report_.mismatches.insert(report_.mismatches.end(), lines.begin(), lines.end());
    }
  }

  /// The first mismatch of each variant.
  std::vector<std::string> compare_part(uint64_t first, uint64_t last) const {
    std::vector<std::string> wrong;
    const auto inputs = std::span(inputs_).subspan(first, last - first);
    std::vector<uint64_t> want(inputs.size());
    for (size_t v = 0; v < variants_.size(); ++v) {
      expect(*variants_[v], inputs, want);
      const uint64_t* const got = &got_[v * kBatch + first];
      const auto at = std::mismatch(want.begin(), want.end(), got);
      if (at.first == want.end()) continue;
      char text[96];
      std::snprintf(text, sizeof text, " %llx: got %llx, want %llx",
                    static_cast<unsigned long long>(inputs[at.first - want.begin()]),
                    static_cast<unsigned long long>(*at.second),
                    static_cast<unsigned long long>(*at.first));
      wrong.push_back(variants_[v]->text + text);
    }
    return wrong;
  }

  static void expect(const Variant& variant, std::span<const uint64_t> inputs,
                     std::span<uint64_t> want) {
    const unsigned bits = register_bits(variant.result);
    if (convert_all(variant.instruction(), bits, inputs, want)) return;
    unary_results(variant, inputs, want);
  }

  std::vector<const Variant*> variants_;
  Report& report_;
  std::vector<uint64_t> inputs_, got_;
};

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
