#include "dropin/curand/generator.h"

#include <cstddef>
#include <memory>

#include "dropin/curand/kinds.h"
#include "dropin/curand/poisson.h"
#include "dropin/library/kernels.h"

namespace km::curand {
namespace {

curandStatus_t status_of(cu::CUresult result) {
  switch (result) {
    case cu::CUDA_SUCCESS:
      return kSuccess;
    case cu::CUDA_ERROR_OUT_OF_MEMORY:
      return kAllocationFailed;
    default:
      return kLaunchFailure;
  }
}

int kind_of(int type) {
  switch (type) {
    case 100:  // the default
    case 101:
      return kXorwow;
    case 121:
      return kMrg32k3a;
    case 141:
      return kMtgp32;
    case 142:
      return kMt19937;
    case 161:
      return kPhilox;
    case 200:  // the default
    case 201:
      return kSobol32;
    case 202:
      return kScrambledSobol32;
    case 203:
      return kSobol64;
    case 204:
      return kScrambledSobol64;
    default:
      return 0;
  }
}

/// Box and Muller's normal numbers come in pairs; others need no more than whole points.
curandStatus_t check(const Generator& g, const Request& r) {
  if (r.out == nullptr) return kOutOfRange;
  const bool is_normal = r.distribution >= kNormal && r.distribution <= kLogNormalDouble;
  if (is_normal && g.kind < kPhilox && r.count % 2 != 0) {
    log(LogLevel::kInfo, "cuda", "cuRAND: %zu normal numbers; their count must be even", r.count);
    return kLengthNotMultiple;
  }
  if (r.count % g.dimensions != 0) {
    log(LogLevel::kInfo, "cuda", "cuRAND: %zu numbers are no whole points of %u dimensions",
        r.count, g.dimensions);
    return kLengthNotMultiple;
  }
  if (r.distribution == kBits && g.is_wide() != (r.element_bytes == sizeof(uint64_t))) {
    log(LogLevel::kInfo, "cuda", "cuRAND: numbers of %zu bytes from a generator of others",
        r.element_bytes);
    return kTypeError;
  }
  return kSuccess;
}

}  // namespace

Generator::~Generator() {
  for (const cu::CUdeviceptr memory : {states, constants, table}) {
    if (memory != 0) driver->cuMemFree_v2(memory);
  }
}

curandStatus_t create(void** out, int type, bool is_on_host) {
  if (out == nullptr) return kOutOfRange;
  const int kind = kind_of(type);
  if (kind == 0) {
    log(LogLevel::kInfo, "cuda", "cuRAND: there are no generators of type %d", type);
    return kTypeError;
  }
  const Driver* const driver = library::driver();
  if (driver == nullptr || library::enter_context(*driver) != cu::CUDA_SUCCESS) {
    return kInitializationFailed;
  }
  auto generator = std::make_shared<Generator>();
  generator->driver = driver;
  generator->kind = kind;
  generator->is_on_host = is_on_host;
  constexpr uint64_t kTag = 7;
  *out = reinterpret_cast<void*>(library::handle_map<Generator>().add(std::move(generator), kTag));
  return kSuccess;
}

curandStatus_t prepare(Generator& g) {
  if (g.is_ready) return kSuccess;
  g.generated = 0;
  const cu::CUresult prepared = prepare_states(g);
  g.is_ready = prepared == cu::CUDA_SUCCESS;
  return status_of(prepared);
}

curandStatus_t generate(Generator& g, const Request& asked) {
  Request r = asked;
  if (r.count == 0) return kSuccess;
  if (const curandStatus_t checked = check(g, r); checked != kSuccess) return checked;
  if (r.distribution == kPoissonTable) r.distribution = poisson_method(g.kind, r.mean);
  if (library::enter_context(*g.driver) != cu::CUDA_SUCCESS) return kInitializationFailed;
  if (const curandStatus_t ready = prepare(g); ready != kSuccess) return ready;
  if (!g.is_on_host) return status_of(launch(g, reinterpret_cast<uint64_t>(r.out), r));
  library::StreamMemory memory(*g.driver, g.stream);
  if (r.count > SIZE_MAX / r.element_bytes) return kAllocationFailed;
  const size_t bytes = r.count * r.element_bytes;
  if (const cu::CUresult got = memory.allocate(bytes); got != 0) return status_of(got);
  if (const cu::CUresult launched = launch(g, memory.address(), r); launched != cu::CUDA_SUCCESS) {
    return status_of(launched);
  }
  const cu::CUresult copied =
      g.driver->cuMemcpyDtoHAsync_v2(r.out, memory.address(), bytes, g.stream);
  return status_of(copied != 0 ? copied : g.driver->cuStreamSynchronize(g.stream));
}

}  // namespace km::curand
