#include "dump.h"

#include <zstd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <thread>

#include "goldens.h"
#include "reference/conformance/kernel_text.h"
#include "reference/values.h"

namespace km::gpu {
namespace {

using reference::Variant;

constexpr int kCompression = 19;
constexpr unsigned kF32Bits = 23;

/// `count` encodings from `first` on, `step` apart.
struct Range {
  uint64_t first = 0, step = 1, count = 0;
};

/// The binades of f32 where an instruction is worth knowing: others repeat them.
std::vector<int> exponents_of(ptx::Opcode opcode) {
  switch (opcode) {
    case ptx::Opcode::rcp:
      return {0};
    case ptx::Opcode::sqrt:
    case ptx::Opcode::rsqrt:
      return {0, 1};
    case ptx::Opcode::lg2:
      return {-1, 0, 5};
    case ptx::Opcode::sin:
    case ptx::Opcode::cos:
      return {-4, -3, -2, -1, 0, 1, 2, 6};
    default:
      return {-4, -3, -2, -1, 0, 1, 2};  // ex2, tanh
  }
}

bool has_negative_side(ptx::Opcode opcode) {
  return opcode == ptx::Opcode::ex2 || opcode == ptx::Opcode::tanh;
}

std::vector<Range> ranges_of(const Variant& variant, unsigned bits) {
  const ptx::Instruction& in = variant.instruction();
  const unsigned width = ptx::size_bits(variant.sources[0].type);
  if (width == 16) return {{0, 1, 0x10000}};
  std::vector<Range> ranges;
  const uint64_t count = uint64_t{1} << bits;
  for (const int exponent : exponents_of(in.opcode)) {
    if (width == 64) {
      // Only the upper word counts, or nearly so.
      ranges.push_back(
          {static_cast<uint64_t>(exponent + 1023) << 52, uint64_t{1} << (52 - bits), count});
      continue;
    }
    const Range range{static_cast<uint64_t>(exponent + 127) << 23, uint64_t{1} << (kF32Bits - bits),
                      count};
    ranges.push_back(range);
    if (has_negative_side(in.opcode)) {
      ranges.push_back({range.first | 0x80000000, range.step, range.count});
    }
  }
  return ranges;
}

/// The result minus the shared definition's, as words of `width` bits that wrap around.
std::vector<uint8_t> deltas(const Variant& variant,
                            const std::vector<std::vector<uint64_t>>& columns,
                            const std::vector<uint64_t>& got, unsigned width, uint64_t& largest) {
  const unsigned bytes = width / 8, threads = std::max(std::thread::hardware_concurrency(), 1u);
  std::vector<uint8_t> packed(got.size() * bytes);
  std::vector<uint64_t> worst(threads);
  auto work = [&](unsigned part) {
    for (uint64_t i = part; i < got.size(); i += threads) {
      const uint64_t want = reference::expected(variant, columns, i, false)[0];
      const uint64_t delta = got[i] - want;
      const auto wide = static_cast<int64_t>(delta << (64 - width)) >> (64 - width);
      worst[part] = std::max(worst[part], static_cast<uint64_t>(std::llabs(wide)));
      for (unsigned b = 0; b < bytes; ++b) {
        packed[i * bytes + b] = static_cast<uint8_t>(delta >> (8 * b));
      }
    }
  };
  std::vector<std::thread> running;
  for (unsigned part = 0; part < threads; ++part) running.emplace_back(work, part);
  for (std::thread& thread : running) thread.join();
  largest = *std::max_element(worst.begin(), worst.end());
  return packed;
}

Status write_compressed(const std::string& path, const std::vector<uint8_t>& bytes) {
  std::vector<char> packed(ZSTD_compressBound(bytes.size()));
  const size_t size =
      ZSTD_compress(packed.data(), packed.size(), bytes.data(), bytes.size(), kCompression);
  std::ofstream file(path, std::ios::binary);
  file.write(packed.data(), static_cast<std::streamsize>(size));
  if (ZSTD_isError(size) == 0 && file.flush()) return {};
  return make_error(KM_ERROR_IO, "cannot write %s", path.c_str());
}

Result<nlohmann::ordered_json> dump_range(const Driver& driver, void* module,
                                          const Variant& variant, const Range& range,
                                          const std::string& folder) {
  std::vector<std::vector<uint64_t>> columns(1);
  for (uint64_t i = 0; i < range.count; ++i) columns[0].push_back(range.first + i * range.step);
  KM_ASSIGN(const std::vector<uint64_t> got,
            run_columns(driver, module, "varying", columns, range.count, 1));
  const unsigned width = reference::register_bits(variant.result);
  uint64_t largest = 0;
  const std::vector<uint8_t> packed = deltas(variant, columns, got, width, largest);
  char first[32];
  std::snprintf(first, sizeof first, "%llx", static_cast<unsigned long long>(range.first));
  const std::string name = variant.mnemonic + "." + first + ".zst";
  KM_TRY(write_compressed(folder + "/" + name, packed));
  const auto differing = static_cast<uint64_t>(
      std::count_if(got.begin(), got.end(), [&, i = uint64_t{0}](uint64_t) mutable {
        const uint8_t* delta = &packed[i++ * width / 8];
        return std::any_of(delta, delta + width / 8, [](uint8_t byte) { return byte != 0; });
      }));
  return nlohmann::ordered_json{{"file", name},           {"instruction", variant.mnemonic},
                                {"first_input", first},   {"step", range.step},
                                {"count", range.count},   {"bits", width},
                                {"differing", differing}, {"largest_difference", largest}};
}

}  // namespace

Result<nlohmann::ordered_json> dump_approximate(const Driver& driver,
                                                const std::vector<Variant>& variants,
                                                const std::string& folder, unsigned bits) {
  auto list = nlohmann::ordered_json::array();
  for (const Variant& variant : variants) {
    const bool one = variant.sources.size() == 1 && !variant.sources[0].constant;
    const bool packed = reference::is_packed(variant.instruction().type());
    if (!is_approximate(variant) || !one || packed) continue;
    const Variant* const alone[] = {&variant};
    Result<void*> module = driver.load(reference::module_text(alone));
    if (!module) {
      list.push_back({{"instruction", variant.mnemonic}, {"refused", module.error().message}});
      continue;
    }
    for (const Range& range : ranges_of(variant, bits)) {
      KM_ASSIGN(nlohmann::ordered_json entry, dump_range(driver, *module, variant, range, folder));
      list.push_back(std::move(entry));
    }
    driver.unload(*module);
  }
  return list;
}

}  // namespace km::gpu
