#include "dropin/curand/generator/poisson.h"

#include <math.h>  // lgamma_r

#include <cstddef>
#include <cstring>
#include <map>
#include <mutex>

namespace km::curand {
namespace {

double probability(uint32_t count, double mean) {
  int sign = 0;
  return ::exp(-mean + count * ::log(mean) - lgamma_r(count + 1.0, &sign));
}

/// The nonzero probabilities, for the counts from `first` on.
std::vector<double> probabilities(double mean, uint32_t* first) {
  const auto middle = static_cast<uint32_t>(mean);
  *first = middle;
  while (*first > 0 && probability(*first - 1, mean) > 0) --*first;
  std::vector<double> all;
  for (uint32_t count = *first; count <= middle || probability(count, mean) > 0; ++count) {
    all.push_back(probability(count, mean));
  }
  return all;
}

/// Completes entries that have less than their share, in ascending order, with the excess of the
/// last entry that has more, until nothing changes.
void share(std::vector<double>& left, Histogram& table) {
  const double part = 1.0 / table.length;
  std::vector<uint32_t> givers;
  std::vector<bool> is_full(table.length);
  for (uint32_t i = 0; i < table.length; ++i) {
    if (left[i] >= part) givers.push_back(i);
  }
  for (bool has_changed = true; has_changed;) {
    has_changed = false;
    for (uint32_t i = 0; i < table.length; ++i) {
      if (is_full[i] || left[i] >= part) continue;
      while (!givers.empty() && left[givers.back()] < part) givers.pop_back();
      if (givers.empty()) return;
      table.indices[i] = givers.back();
      table.bounds[i] = i * part + left[i];
      left[givers.back()] -= part - left[i];
      is_full[i] = has_changed = true;
    }
  }
}

/// curandDiscreteDistribution_st of the device API's headers, and the structures that it points to.
struct DistributionImage {
  uint64_t self_host_ptr, table, host_table;
  double deviation, mean;
  int32_t method;
  uint32_t host_gen;
};
struct ShiftImage {
  uint64_t histogram, host_histogram;
  uint32_t shift, length, host_gen, padding;
};
struct HistogramImage {
  uint64_t bounds, host_bounds, indices, host_indices;
  uint32_t host_gen, padding;
};

constexpr int32_t kMethodTable = 5;   // CURAND_M2
constexpr int32_t kMethodNormal = 7;  // CURAND_DISCRETE_GAUSS

/// The content of one block of device memory: the three structures and the two arrays.
std::vector<unsigned char> image_of(const Histogram& table, double mean, uint64_t address) {
  constexpr size_t kShiftAt = sizeof(DistributionImage),
                   kHistogramAt = kShiftAt + sizeof(ShiftImage);
  constexpr size_t kBoundsAt = kHistogramAt + sizeof(HistogramImage);
  const size_t bounds_bytes = table.bounds.size() * sizeof(double);
  const size_t indices_bytes = table.indices.size() * sizeof(uint32_t);
  const bool is_table = table.length != 0;
  const DistributionImage head = {address, is_table ? address + kShiftAt : 0,       0, sqrt(mean),
                                  mean,    is_table ? kMethodTable : kMethodNormal, 0};
  const ShiftImage shift = {address + kHistogramAt, 0, table.shift, table.length, 0, 0};
  const HistogramImage histogram = {
      address + kBoundsAt, 0, address + kBoundsAt + bounds_bytes, 0, 0, 0};
  std::vector<unsigned char> image(kBoundsAt + bounds_bytes + indices_bytes);
  memcpy(image.data(), &head, sizeof head);
  memcpy(image.data() + kShiftAt, &shift, sizeof shift);
  memcpy(image.data() + kHistogramAt, &histogram, sizeof histogram);
  if (is_table) {
    memcpy(image.data() + kBoundsAt, table.bounds.data(), bounds_bytes);
    memcpy(image.data() + kBoundsAt + bounds_bytes, table.indices.data(), indices_bytes);
  }
  return image;
}

/// Copies in a private stream, because the default stream may have to wait for a capture.
cu::CUresult upload(const Driver& driver, uint64_t to, const std::vector<unsigned char>& image) {
  const OwnStream stream(driver);
  if (stream.result() != cu::CUDA_SUCCESS) return stream.result();
  const cu::CUresult copied =
      driver.cuMemcpyHtoDAsync_v2(to, image.data(), image.size(), stream.get());
  return copied != cu::CUDA_SUCCESS ? copied : driver.cuStreamSynchronize(stream.get());
}

std::mutex distributions_mutex;  // guards the set that live_distributions() returns
std::map<uint64_t, library::ContextLife>& live_distributions() {
  static auto& live = *new std::map<uint64_t, library::ContextLife>;
  return live;
}

}  // namespace

Histogram poisson_histogram(double mean) {
  Histogram table;
  std::vector<double> left = probabilities(mean, &table.shift);
  table.length = static_cast<uint32_t>(left.size());
  for (uint32_t i = 0; i < table.length; ++i) {
    table.indices.push_back(i);
    table.bounds.push_back((i + 1) / static_cast<double>(table.length));
  }
  share(left, table);
  table.indices.push_back(table.indices.front());
  table.bounds.push_back(0);
  return table;
}

Distribution poisson_method(int kind, double mean) {
  const auto choose = [&](double table_end, double inverse_end) {
    return mean < table_end ? kPoissonTable : mean < inverse_end ? kPoissonInverse : kPoissonNormal;
  };
  switch (kind) {
    case kMtgp32:
      return choose(32, 8000);
    case kSobol32:
    case kScrambledSobol32:
      return choose(10, 8000);
    case kSobol64:
    case kScrambledSobol64:
      return choose(0, 2000);
    default:
      return choose(kMostTableMean, 0);
  }
}

curandStatus_t create_poisson(curandDiscreteDistribution_t* out, double mean) {
  if (out == nullptr) return CURAND_STATUS_NOT_INITIALIZED;
  if (!(mean > 0 && mean <= kMostPoissonMean)) return CURAND_STATUS_OUT_OF_RANGE;
  const Driver* const driver = library::driver();
  if (driver == nullptr || library::enter_context(*driver) != cu::CUDA_SUCCESS) {
    return CURAND_STATUS_INITIALIZATION_FAILED;
  }
  library::ContextLife context;
  if (context.note_current(*driver) != cu::CUDA_SUCCESS) return CURAND_STATUS_INITIALIZATION_FAILED;
  const RelaxedCapture relaxed(*driver);
  const Histogram table = mean < kMostTableMean ? poisson_histogram(mean) : Histogram{};
  const size_t size_bytes = image_of(table, mean, 0).size();
  cu::CUdeviceptr address = 0;
  if (driver->cuMemAlloc_v2(&address, size_bytes) != cu::CUDA_SUCCESS)
    return CURAND_STATUS_ALLOCATION_FAILED;
  const std::vector<unsigned char> image = image_of(table, mean, address);
  if (upload(*driver, address, image) != cu::CUDA_SUCCESS) {
    driver->cuMemFree_v2(address);
    return CURAND_STATUS_LAUNCH_FAILURE;
  }
  if (const curandStatus_t given =
          give(out, reinterpret_cast<curandDiscreteDistribution_t>(address));
      given != CURAND_STATUS_SUCCESS) {
    driver->cuMemFree_v2(address);
    return given;
  }
  const std::lock_guard lock(distributions_mutex);
  live_distributions()[address] = context;
  return CURAND_STATUS_SUCCESS;
}

curandStatus_t destroy_distribution(curandDiscreteDistribution_t distribution) {
  const auto address = reinterpret_cast<uint64_t>(distribution);
  library::ContextLife context;
  {
    const std::lock_guard lock(distributions_mutex);
    const auto found = live_distributions().find(address);
    if (found == live_distributions().end()) return CURAND_STATUS_NOT_INITIALIZED;
    context = found->second;
    live_distributions().erase(found);
  }
  const Driver* const driver = library::driver();
  if (driver == nullptr || library::enter_context(*driver) != cu::CUDA_SUCCESS) {
    return CURAND_STATUS_INITIALIZATION_FAILED;
  }
  if (!context.goes_on(*driver)) return CURAND_STATUS_SUCCESS;  // it went with its context
  const RelaxedCapture relaxed(*driver);
  // The driver refuses to free live memory only if the context has failed; the memory is then freed
  // with the context.
  return driver->cuMemFree_v2(address) == cu::CUDA_SUCCESS ? CURAND_STATUS_SUCCESS
                                                           : CURAND_STATUS_PREEXISTING_FAILURE;
}

}  // namespace km::curand
