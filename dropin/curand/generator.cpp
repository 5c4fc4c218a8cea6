#include "dropin/curand/generator.h"

#include <cstddef>
#include <memory>

#include "dropin/curand/mtgp32.h"
#include "dropin/curand/sequences.h"
#include "dropin/curand/sobol.h"
#include "dropin/library/kernels.h"

namespace km::curand {
namespace {

constexpr char kSequencesPtx[] =
#include "dropin/curand/generated/generators.ptx.inc"
    ;
constexpr char kSobolPtx[] =
#include "dropin/curand/generated/sobol.ptx.inc"
    ;
constexpr char kMtgpPtx[] =
#include "dropin/curand/generated/mtgp32.ptx.inc"
    ;
library::KernelModule sequence_kernels(kSequencesPtx);
library::KernelModule sobol_kernels(kSobolPtx);
library::KernelModule mtgp_kernels(kMtgpPtx);

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

/// Copies to memory that is allocated when there is none yet.
cu::CUresult upload(const Generator& g, cu::CUdeviceptr* to, const void* from, size_t size_bytes) {
  if (*to == 0) {
    const cu::CUresult got = g.driver->cuMemAlloc_v2(to, size_bytes);
    if (got != cu::CUDA_SUCCESS) return got;
  }
  const cu::CUresult copied = g.driver->cuMemcpyHtoDAsync_v2(*to, from, size_bytes, g.stream);
  return copied != cu::CUDA_SUCCESS ? copied : g.driver->cuStreamSynchronize(g.stream);
}

cu::CUresult upload_states(Generator& g, const std::vector<uint32_t>& states) {
  return upload(g, &g.states, states.data(), states.size() * sizeof(uint32_t));
}

uint32_t mtgp_sequences(const Generator& g) {
  return g.is_legacy ? kMtgpLegacySequences : kMtgpSequences;
}

cu::CUresult prepare_mtgp(Generator& g) {
  const cu::CUresult sets =
      upload(g, &g.constants, mtgp32_sets(), size_t{kMtgpSequences} * sizeof(MtgpSet));
  if (sets != cu::CUDA_SUCCESS) return sets;
  return upload_states(g, mtgp32_states(g.seed));
}

/// All dimensions' direction numbers: another number of dimensions needs nothing else.
template <class Word>
cu::CUresult prepare_sobol(Generator& g, const Word* directions, const Word* scrambles,
                           bool is_scrambled) {
  constexpr size_t kRowBytes = sizeof(Word) * sizeof(Word) * 8;
  const std::vector<Word> zeros(is_scrambled ? 0 : kMostDimensions);
  const cu::CUresult uploaded =
      upload(g, &g.states, directions, size_t{kMostDimensions} * kRowBytes);
  if (uploaded != cu::CUDA_SUCCESS) return uploaded;
  return upload(g, &g.constants, is_scrambled ? scrambles : zeros.data(),
                size_t{kMostDimensions} * sizeof(Word));
}

cu::CUresult prepare_states(Generator& g) {
  switch (g.kind) {
    case kXorwow:
      return upload_states(g, xorwow_states(g.seed, g.offset));
    case kMrg32k3a:
      return upload_states(g, mrg32k3a_states(g.seed, g.offset));
    case kMtgp32:
      return prepare_mtgp(g);
    case kPhilox:
      return cu::CUDA_SUCCESS;
    default:
      break;
  }
  if (g.states != 0) return cu::CUDA_SUCCESS;  // they do not change
  const bool is_scrambled = g.kind == kScrambledSobol32 || g.kind == kScrambledSobol64;
  if (g.is_wide())
    return prepare_sobol(g, sobol_directions64(is_scrambled), sobol_scrambles64(), is_scrambled);
  return prepare_sobol(g, sobol_directions32(is_scrambled), sobol_scrambles32(), is_scrambled);
}

cu::CUresult launch_sequences(const Generator& g, uint64_t out, const Request& r) {
  GenerateParameters p{g.states, out,         r.count, g.offset + g.generated, g.seed,
                       r.mean,   r.deviation, g.kind,  r.distribution};
  constexpr const char* kNames[] = {"", "generate_xorwow", "generate_mrg32k3a", "generate_philox"};
  constexpr unsigned kThreads = 128;
  return sequence_kernels.launch(*g.driver, g.stream, kNames[g.kind], {kSequences / kThreads, 1, 1},
                                 kThreads, p);
}

cu::CUresult launch_mtgp(const Generator& g, uint64_t out, const Request& r) {
  MtgpParameters p{g.states,    g.constants, out,         r.count,
                   g.generated, r.mean,      r.deviation, r.distribution};
  return mtgp_kernels.launch(*g.driver, g.stream, "generate_mtgp32", {mtgp_sequences(g), 1, 1},
                             kMtgpStep, p);
}

cu::CUresult launch_sobol(const Generator& g, uint64_t out, const Request& r) {
  constexpr unsigned kThreads = 128;
  constexpr int kLeastBits = 7, kMostBits = 14;
  constexpr uint64_t kPointsOfThread = 16;
  const uint64_t count = r.count / g.dimensions;
  int bits = kLeastBits;
  while (bits < kMostBits && count >> bits > kPointsOfThread) ++bits;
  SobolParameters p{g.states,    g.constants,    out, count, g.offset + g.generated, r.mean,
                    r.deviation, r.distribution, bits};
  return sobol_kernels.launch(*g.driver, g.stream,
                              g.is_wide() ? "generate_sobol64" : "generate_sobol32",
                              {(1U << bits) / kThreads, g.dimensions, 1}, kThreads, p);
}

curandStatus_t launch(Generator& g, uint64_t out, const Request& r) {
  const cu::CUresult launched = g.is_quasi()        ? launch_sobol(g, out, r)
                                : g.kind == kMtgp32 ? launch_mtgp(g, out, r)
                                                    : launch_sequences(g, out, r);
  if (launched == cu::CUDA_SUCCESS) g.generated += r.count / g.dimensions;
  return status_of(launched);
}

/// Box and Muller's normal numbers come in pairs; others need no more than whole points.
curandStatus_t check(const Generator& g, const Request& r) {
  if (r.out == nullptr) return kOutOfRange;
  const bool is_normal = r.distribution >= kNormal && r.distribution <= kLogNormalDouble;
  if (is_normal && g.kind <= kPhilox && r.count % 2 != 0) {
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
  if (states != 0) driver->cuMemFree_v2(states);
  if (constants != 0) driver->cuMemFree_v2(constants);
}

curandStatus_t create(void** out, int type, bool is_on_host) {
  if (out == nullptr) return kOutOfRange;
  const int kind = kind_of(type);
  if (kind == 0) {
    log(LogLevel::kInfo, "cuda", "cuRAND: there are no generators of type %d here%s", type,
        type == 142 ? " (MT19937)" : "");
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

curandStatus_t generate(Generator& g, const Request& r) {
  if (r.count == 0) return kSuccess;
  if (const curandStatus_t checked = check(g, r); checked != kSuccess) return checked;
  if (library::enter_context(*g.driver) != cu::CUDA_SUCCESS) return kInitializationFailed;
  if (const curandStatus_t ready = prepare(g); ready != kSuccess) return ready;
  if (!g.is_on_host) return launch(g, reinterpret_cast<uint64_t>(r.out), r);
  library::StreamMemory memory(*g.driver, g.stream);
  const size_t bytes = r.count * r.element_bytes;
  if (const cu::CUresult got = memory.allocate(bytes); got != 0) return status_of(got);
  const curandStatus_t launched = launch(g, memory.address(), r);
  if (launched != kSuccess) return launched;
  const cu::CUresult copied =
      g.driver->cuMemcpyDtoHAsync_v2(r.out, memory.address(), bytes, g.stream);
  return status_of(copied != 0 ? copied : g.driver->cuStreamSynchronize(g.stream));
}

}  // namespace km::curand
