// cuRAND's host API: generators, their settings, their numbers.
#include <cmath>
#include <memory>
#include <mutex>

#include "base/log.h"
#include "dropin/curand/sequences.h"
#include "dropin/library/handles.h"
#include "dropin/library/kernels.h"

namespace km::curand {

namespace {

using library::Driver;

enum curandStatus_t : int32_t {
  kSuccess = 0,
  kNotInitialized = 101,
  kAllocationFailed = 102,
  kTypeError = 103,
  kOutOfRange = 104,
  kLengthNotMultiple = 105,
  kLaunchFailure = 201,
  kInitializationFailed = 203,
  kInternalError = 999
};

constexpr char kPtx[] =
#include "dropin/curand/generated/generators.ptx.inc"
    ;

library::KernelModule& kernels() {
  static library::KernelModule module(kPtx);
  return module;
}

/// One generator; a call at a time changes it.
struct Generator {
  ~Generator() {
    if (states != 0) driver->cuMemFree_v2(states);
  }
  const Driver* driver = nullptr;
  int kind = kXorwow;
  bool is_on_host = false;
  std::mutex mutex;  // guards what follows
  cu::CUstream stream = nullptr;
  uint64_t seed = 0, offset = 0, generated = 0;
  cu::CUdeviceptr states = 0;
  bool is_seeded = false;
};

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

/// Runs the body of an exported function: what it throws becomes its status.
template <class Body>
curandStatus_t frame(Body&& body) noexcept {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    return kAllocationFailed;
  } catch (...) {
    return kInternalError;
  }
}

template <class Body>
curandStatus_t call(void* handle, Body&& body) noexcept {
  return frame([&]() -> curandStatus_t {
    const auto found = library::handle_map<Generator>().find(reinterpret_cast<uint64_t>(handle));
    if (found == nullptr) {
      log(LogLevel::kInfo, "cuda", "cuRAND: the generator is no live one");
      return kNotInitialized;
    }
    const std::lock_guard lock(found->mutex);
    return body(*found);
  });
}

int kind_of(int type) {
  switch (type) {
    case 100:  // the default
    case 101:
      return kXorwow;
    case 121:
      return kMrg32k3a;
    case 161:
      return kPhilox;
    default:
      return 0;
  }
}

curandStatus_t create(void** out, int type, bool is_on_host) {
  if (out == nullptr) return kOutOfRange;
  const int kind = kind_of(type);
  if (kind == 0) {
    log(LogLevel::kInfo, "cuda",
        "cuRAND: generators of type %d are not implemented (MTGP32, MT19937, Sobol)", type);
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

/// Puts the first states of all sequences into device memory, in the order of the stream.
curandStatus_t prepare(Generator& g) {
  if (g.is_seeded) return kSuccess;
  g.generated = 0;
  if (g.kind != kPhilox) {
    const std::vector<uint32_t> states =
        g.kind == kXorwow ? xorwow_states(g.seed, g.offset) : mrg32k3a_states(g.seed, g.offset);
    const size_t bytes = states.size() * sizeof(uint32_t);
    if (g.states == 0) {
      if (const cu::CUresult got = g.driver->cuMemAlloc_v2(&g.states, bytes); got != 0) {
        return status_of(got);
      }
    }
    const cu::CUresult copied =
        g.driver->cuMemcpyHtoDAsync_v2(g.states, states.data(), bytes, g.stream);
    if (copied != cu::CUDA_SUCCESS) return status_of(copied);
    if (const cu::CUresult done = g.driver->cuStreamSynchronize(g.stream); done != 0) {
      return status_of(done);
    }
  }
  g.is_seeded = true;
  return kSuccess;
}

curandStatus_t launch(Generator& g, uint64_t out, uint64_t count, int distribution, double mean,
                      double deviation) {
  GenerateParameters p{g.states,  out,    count,       g.offset + g.generated, g.seed, mean,
                       deviation, g.kind, distribution};
  constexpr const char* kNames[] = {"", "generate_xorwow", "generate_mrg32k3a", "generate_philox"};
  constexpr unsigned kThreads = 128;
  const cu::CUresult launched = kernels().launch(*g.driver, g.stream, kNames[g.kind],
                                                 {kSequences / kThreads, 1, 1}, kThreads, p);
  if (launched == cu::CUDA_SUCCESS) g.generated += count;
  return status_of(launched);
}

struct Request {
  void* out;
  size_t count;
  int distribution;
  double mean, deviation;
  size_t element_bytes;
};

curandStatus_t generate(void* handle, const Request& r) {
  return call(handle, [&](Generator& g) -> curandStatus_t {
    if (r.count == 0) return kSuccess;
    if (r.out == nullptr) return kOutOfRange;
    const bool is_normal = r.distribution >= kNormal && r.distribution <= kLogNormalDouble;
    if (is_normal && r.count % 2 != 0) {
      log(LogLevel::kInfo, "cuda", "cuRAND: %zu normal numbers; their count must be even", r.count);
      return kLengthNotMultiple;
    }
    if (library::enter_context(*g.driver) != cu::CUDA_SUCCESS) return kInitializationFailed;
    if (const curandStatus_t ready = prepare(g); ready != kSuccess) return ready;
    if (!g.is_on_host) {
      return launch(g, reinterpret_cast<uint64_t>(r.out), r.count, r.distribution, r.mean,
                    r.deviation);
    }
    library::StreamMemory memory(*g.driver, g.stream);
    const size_t bytes = r.count * r.element_bytes;
    if (const cu::CUresult got = memory.allocate(bytes); got != 0) return status_of(got);
    const curandStatus_t launched =
        launch(g, memory.address(), r.count, r.distribution, r.mean, r.deviation);
    if (launched != kSuccess) return launched;
    const cu::CUresult copied =
        g.driver->cuMemcpyDtoHAsync_v2(r.out, memory.address(), bytes, g.stream);
    return status_of(copied != 0 ? copied : g.driver->cuStreamSynchronize(g.stream));
  });
}

}  // namespace

extern "C" {

int32_t curandCreateGenerator(void** generator, int type) {
  return frame([&] { return create(generator, type, false); });
}
int32_t curandCreateGeneratorHost(void** generator, int type) {
  return frame([&] { return create(generator, type, true); });
}

int32_t curandDestroyGenerator(void* generator) {
  return frame([&] {
    const auto removed =
        library::handle_map<Generator>().remove(reinterpret_cast<uint64_t>(generator));
    if (removed == nullptr) return kNotInitialized;
    removed->driver->cuStreamSynchronize(removed->stream);  // its states are in use
    return kSuccess;
  });
}

int32_t curandGetVersion(int* version) {
  if (version == nullptr) return kOutOfRange;
  *version = 10400;
  return kSuccess;
}

int32_t curandGetProperty(int type, int* value) {
  constexpr int kParts[] = {10, 4, 0};
  if (value == nullptr || type < 0 || type > 2) return kOutOfRange;
  *value = kParts[type];
  return kSuccess;
}

int32_t curandSetStream(void* generator, void* stream) {
  return call(generator, [&](Generator& g) {
    g.stream = static_cast<cu::CUstream>(stream);
    return kSuccess;
  });
}

int32_t curandSetPseudoRandomGeneratorSeed(void* generator, unsigned long long seed) {
  return call(generator, [&](Generator& g) {
    g.seed = seed;
    g.generated = 0;
    g.is_seeded = false;
    return kSuccess;
  });
}

int32_t curandSetGeneratorOffset(void* generator, unsigned long long offset) {
  return call(generator, [&](Generator& g) {
    g.offset = offset;
    g.generated = 0;
    g.is_seeded = false;
    return kSuccess;
  });
}

int32_t curandSetGeneratorOrdering(void* generator, int ordering) {
  return call(generator, [&](Generator&) -> curandStatus_t {
    // Best, default and legacy are one order; others are not there.
    const bool is_known = ordering == 100 || ordering == 101 || ordering == 103;
    if (!is_known)
      log(LogLevel::kInfo, "cuda", "cuRAND: the ordering %d is not implemented", ordering);
    return is_known ? kSuccess : kOutOfRange;
  });
}

int32_t curandGenerateSeeds(void* generator) {
  return call(generator, [&](Generator& g) { return prepare(g); });
}

int32_t curandGenerate(void* generator, unsigned* out, size_t n) {
  return generate(generator, {out, n, kBits, 0, 0, 4});
}
int32_t curandGenerateUniform(void* generator, float* out, size_t n) {
  return generate(generator, {out, n, kUniform, 0, 0, 4});
}
int32_t curandGenerateUniformDouble(void* generator, double* out, size_t n) {
  return generate(generator, {out, n, kUniformDouble, 0, 0, 8});
}
int32_t curandGenerateNormal(void* generator, float* out, size_t n, float mean, float deviation) {
  return generate(generator, {out, n, kNormal, mean, deviation, 4});
}
int32_t curandGenerateNormalDouble(void* generator, double* out, size_t n, double mean,
                                   double deviation) {
  return generate(generator, {out, n, kNormalDouble, mean, deviation, 8});
}
int32_t curandGenerateLogNormal(void* generator, float* out, size_t n, float mean,
                                float deviation) {
  return generate(generator, {out, n, kLogNormal, mean, deviation, 4});
}
int32_t curandGenerateLogNormalDouble(void* generator, double* out, size_t n, double mean,
                                      double deviation) {
  return generate(generator, {out, n, kLogNormalDouble, mean, deviation, 8});
}
int32_t curandGeneratePoisson(void* generator, unsigned* out, size_t n, double mean) {
  constexpr double kMostMean = 400000;
  if (!(mean > 0 && mean <= kMostMean)) return kOutOfRange;
  return generate(generator, {out, n, kPoisson, mean, 0, 4});
}
int32_t curandGeneratePoissonMethod(void* generator, unsigned* out, size_t n, double mean, int) {
  return curandGeneratePoisson(generator, out, n, mean);
}

/// Numbers of 64 bits are those of Sobol's sequences only.
int32_t curandGenerateLongLong(void* generator, unsigned long long*, size_t) {
  return call(generator, [](Generator&) { return kTypeError; });
}
int32_t curandSetQuasiRandomGeneratorDimensions(void* generator, unsigned) {
  return call(generator, [](Generator&) { return kTypeError; });
}

/// Functions for Sobol sequences and for distributions of the device API are not there.
#define KM_NOT_THERE(symbol)                                        \
  int32_t symbol() {                                                \
    log(LogLevel::kInfo, "cuda", "%s is not implemented", #symbol); \
    return kTypeError;                                              \
  }
KM_NOT_THERE(curandCreatePoissonDistribution)
KM_NOT_THERE(curandDestroyDistribution)
KM_NOT_THERE(curandGetDirectionVectors32)
KM_NOT_THERE(curandGetDirectionVectors64)
KM_NOT_THERE(curandGetScrambleConstants32)
KM_NOT_THERE(curandGetScrambleConstants64)

}  // extern "C"

}  // namespace km::curand
