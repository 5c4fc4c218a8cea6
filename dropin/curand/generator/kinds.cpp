#include "dropin/curand/generator/kinds.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <memory>
#include <utility>

#include "dropin/curand/generator/mt19937.h"
#include "dropin/curand/generator/mtgp32.h"
#include "dropin/curand/generator/poisson.h"
#include "dropin/curand/generator/sequences.h"
#include "dropin/curand/generator/sobol.h"
#include "dropin/library/kernels.h"
#include "dropin/library/work.h"

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
constexpr char kTwisterPtx[] =
#include "dropin/curand/generated/mt19937.ptx.inc"
    ;
library::KernelModule sequence_kernels(kSequencesPtx);
library::KernelModule sobol_kernels(kSobolPtx);
library::KernelModule mtgp_kernels(kMtgpPtx);
library::KernelModule twister_kernels(kTwisterPtx);

cu::CUresult allocate(const Generator& g, cu::CUdeviceptr* memory, size_t size_bytes) {
  return *memory != 0 ? cu::CUDA_SUCCESS : g.driver->cuMemAlloc_v2(memory, size_bytes);
}

/// Bytes of the host that live as long as the copy to the device, which the stream makes in its
/// order. Tables that exist until the process ends have no owner.
struct HostBytes {
  template <class Word>
  explicit HostBytes(std::vector<Word>&& words) : size_bytes(words.size() * sizeof(Word)) {
    const auto kept = std::make_shared<std::vector<Word>>(std::move(words));
    from = kept->data();
    owner = kept;
  }
  HostBytes(const void* table, size_t table_bytes) : from(table), size_bytes(table_bytes) {}

  const void* from = nullptr;
  size_t size_bytes;
  std::shared_ptr<const void> owner;
};

/// Queues the copy. Another driver than Kernelmill's makes it at once.
cu::CUresult copy(const Generator& g, cu::CUdeviceptr to, const HostBytes& bytes) {
  constexpr uint64_t kBytesOfNanosecond = 4;
  if (bytes.size_bytes == 0) return cu::CUDA_SUCCESS;
  if (g.driver->table == nullptr) {
    const cu::CUresult copied =
        g.driver->cuMemcpyHtoDAsync_v2(to, bytes.from, bytes.size_bytes, g.stream);
    return copied != cu::CUDA_SUCCESS ? copied : g.driver->cuStreamSynchronize(g.stream);
  }
  auto* const place = reinterpret_cast<void*>(to);
  const library::BlasArray array =
      library::whole_array("generator's memory", place, bytes.size_bytes, true);
  auto work = library::make_work("curand states", 1, bytes.size_bytes / kBytesOfNanosecond,
                                 [place, bytes](uint64_t) {
                                   std::memcpy(place, bytes.from, bytes.size_bytes);
                                   return cu::CUDA_SUCCESS;
                                 });
  return library::submit(g.stream, std::move(work), {&array, 1});
}

/// Copies to device memory, which is allocated if `to` is 0.
cu::CUresult upload(const Generator& g, cu::CUdeviceptr* to, const HostBytes& bytes) {
  const cu::CUresult got = allocate(g, to, bytes.size_bytes);
  return got != cu::CUDA_SUCCESS ? got : copy(g, *to, bytes);
}

template <class Word>
cu::CUresult upload_states(Generator& g, std::vector<Word>&& states) {
  return upload(g, &g.states, HostBytes(std::move(states)));
}

/// Notes that the stream's work up to here makes the generator's memory.
cu::CUresult note_uploaded(Generator& g) {
  constexpr unsigned kDisableTiming = 2;  // CU_EVENT_DISABLE_TIMING
  if (g.uploaded == nullptr) {
    const cu::CUresult made = g.driver->cuEventCreate(&g.uploaded, kDisableTiming);
    if (made != cu::CUDA_SUCCESS) return made;
  }
  const cu::CUresult noted = g.driver->cuEventRecord(g.uploaded, g.stream);
  g.may_be_uploading = noted == cu::CUDA_SUCCESS;
  return noted;
}

/// Makes the stream wait for memory that another one may still be making.
cu::CUresult wait_for_uploads(Generator& g) {
  if (!g.may_be_uploading) return cu::CUDA_SUCCESS;
  if (g.driver->cuEventQuery(g.uploaded) != cu::CUDA_SUCCESS) {
    return g.driver->cuStreamWaitEvent(g.stream, g.uploaded, 0);
  }
  g.may_be_uploading = false;
  return cu::CUDA_SUCCESS;
}

/// The number of sequences of XORWOW, MRG32k3a and Philox. Memory has room for any ordering.
uint32_t sequences_of(const Generator& g) {
  if (g.kind == kPhilox) return kPhiloxSequences;
  if (g.kind == kMrg32k3a && g.ordering != CURAND_ORDERING_PSEUDO_LEGACY) return kMrgSequences;
  return kSequences;
}

cu::CUresult prepare_sequences(Generator& g) {
  const uint32_t sequences = sequences_of(g);
  constexpr size_t kStateBytes = kStateWords * sizeof(uint32_t);
  const size_t most = g.kind == kMrg32k3a ? kMrgSequences : sequences;
  if (const cu::CUresult got = allocate(g, &g.states, most * kStateBytes); got != 0) return got;
  switch (g.kind) {
    case kPhilox:
      return upload_states(g, philox_states(g.offset));
    case kMrg32k3a:
      return upload_states(g, mrg32k3a_states(g.seed, g.offset, sequences));
    default:
      return upload_states(g, g.ordering == CURAND_ORDERING_PSEUDO_SEEDED
                                  ? seeded_xorwow_states(g.seed, g.offset)
                                  : xorwow_states(g.seed, g.offset));
  }
}

uint32_t mtgp_sequences(const Generator& g) {
  return g.ordering == CURAND_ORDERING_PSEUDO_LEGACY ? kMtgpLegacySequences : kMtgpSequences;
}

cu::CUresult prepare_mtgp(Generator& g) {
  const cu::CUresult sets =
      upload(g, &g.constants, {mtgp32_sets(), size_t{kMtgpSequences} * sizeof(MtgpSet)});
  if (sets != cu::CUDA_SUCCESS) return sets;
  return upload_states(g, mtgp32_states(g.seed));
}

/// Creates the state of sequence 0 only; the other states are created when they are needed.
cu::CUresult prepare_twister(Generator& g) {
  const TwisterJumps& jumps = twister_jumps();
  const size_t bounds_bytes = jumps.bounds.size() * sizeof(uint32_t);
  const size_t terms_bytes = jumps.terms.size() * sizeof(uint16_t);
  if (g.constants == 0) {
    cu::CUresult done = allocate(g, &g.constants, bounds_bytes + terms_bytes);
    if (done == 0) done = copy(g, g.constants, {jumps.bounds.data(), bounds_bytes});
    if (done == 0) done = copy(g, g.constants + bounds_bytes, {jumps.terms.data(), terms_bytes});
    if (done != 0) return done;
  }
  constexpr size_t kBytes = size_t{kTwisterSequences} * kTwisterWords * sizeof(uint32_t);
  if (const cu::CUresult got = allocate(g, &g.states, kBytes); got != 0) return got;
  g.known_sequences = 1;
  return upload_states(g, twister_state(g.seed));
}

/// Uploads the direction numbers for the generator's dimensions.
template <class Word>
cu::CUresult prepare_sobol(Generator& g, const Word* directions, const Word* scrambles) {
  if (g.uploaded_dimensions >= g.dimensions) return cu::CUDA_SUCCESS;
  for (cu::CUdeviceptr* memory : {&g.states, &g.constants}) {
    // Work of the stream may still use it.
    if (*memory != 0) g.driver->cuMemFreeAsync(*memory, g.stream);
    *memory = 0;
  }
  constexpr size_t kRowBytes = sizeof(Word) * sizeof(Word) * 8;
  cu::CUresult uploaded = upload(g, &g.states, {directions, g.dimensions * kRowBytes});
  if (uploaded == cu::CUDA_SUCCESS) {
    const HostBytes constants = g.is_scrambled() ? HostBytes(scrambles, g.dimensions * sizeof(Word))
                                                 : HostBytes(std::vector<Word>(g.dimensions));
    uploaded = upload(g, &g.constants, constants);
  }
  g.uploaded_dimensions = uploaded == cu::CUDA_SUCCESS ? g.dimensions : 0;
  return uploaded;
}

/// Creates the table for the mean, replacing a table for another mean.
cu::CUresult prepare_table(Generator& g, double mean) {
  if (g.table_mean == mean) return cu::CUDA_SUCCESS;
  constexpr size_t kBoundsBytes = kMostTableEntries * sizeof(double);
  constexpr size_t kBytes = kBoundsBytes + kMostTableEntries * sizeof(uint32_t);
  Histogram table = poisson_histogram(mean);
  g.table_mean = 0;
  if (g.is_table_captured) g.set_aside(g.table);
  g.is_table_captured = false;
  cu::CUresult done = allocate(g, &g.table, kBytes);
  if (done == 0) done = copy(g, g.table, HostBytes(std::move(table.bounds)));
  if (done == 0) done = copy(g, g.table + kBoundsBytes, HostBytes(std::move(table.indices)));
  if (done == 0) done = note_uploaded(g);
  if (done != 0) return done;
  g.table_arrays = {g.table, g.table + kBoundsBytes, table.length, table.shift};
  g.table_mean = mean;
  return cu::CUDA_SUCCESS;
}

/// Advances the generator's position: in stream order if graphs advance it, too.
cu::CUresult count_given(Generator& g, cu::CUresult launched, uint64_t count) {
  if (launched != cu::CUDA_SUCCESS) return launched;
  if (g.counter == 0) {
    g.generated += count;
    return cu::CUDA_SUCCESS;
  }
  const CountParameters p{g.counter, count};
  return sequence_kernels.launch(*g.driver, g.stream, "count_given", {1, 1, 1}, 1, p);
}

constexpr bool is_log(int distribution) {
  return distribution == kLogNormal || distribution == kLogNormalDouble;
}

/// Kernel names by generator kind and distribution; log-normal numbers use the normal kernels.
const char* sequence_kernel(int kind, int distribution) {
#define KM_NAMES(prefix)                                                       \
  {prefix "_kBits",         prefix "_kUniform",      prefix "_kUniformDouble", \
   prefix "_kNormal",       prefix "_kNormalDouble", prefix "_kNormal",        \
   prefix "_kNormalDouble", prefix "_kPoissonTable", "",                       \
   prefix "_kPoissonNormal"}
  static constexpr const char* kNames[][kPoissonNormal + 1] = {
      KM_NAMES("xorwow"), KM_NAMES("mrg32k3a"), KM_NAMES("philox")};
#undef KM_NAMES
  return kNames[kind - kXorwow][distribution];
}

cu::CUresult launch_sequences(Generator& g, uint64_t out, const Request& r) {
  constexpr unsigned kThreads = 128;
  const uint32_t sequences = sequences_of(g);
  const uint64_t position = g.offset + g.generated;
  const bool is_pair = r.distribution >= kNormal && r.distribution <= kLogNormalDouble;
  GenerateParameters p{.states = g.states,
                       .out = out,
                       .count = r.count,
                       .draws = is_pair ? r.count / 2 : r.count,
                       .seed = g.seed,
                       .mean = r.mean,
                       .deviation = r.deviation,
                       .table = g.table_arrays,
                       .counter = g.counter,
                       .sequences = sequences,
                       .turn = static_cast<uint32_t>(position % sequences),
                       .lead = 0,
                       .is_log = is_log(r.distribution)};
  if (g.kind == kPhilox) {
    p.lead = static_cast<uint32_t>(position % 4);
    p.turn = static_cast<uint32_t>(position / 4 % sequences);
    p.draws = ((g.counter == 0 ? p.lead : 3) + r.count + 3) / 4;
  }
  const uint64_t threads = std::min<uint64_t>(p.draws, sequences);
  const auto blocks = static_cast<unsigned>((threads + kThreads - 1) / kThreads);
  const cu::CUresult launched = sequence_kernels.launch(
      *g.driver, g.stream, sequence_kernel(g.kind, r.distribution), {blocks, 1, 1}, kThreads, p);
  return count_given(g, launched, g.kind == kPhilox ? r.count : p.draws);
}

cu::CUresult launch_mtgp(Generator& g, uint64_t out, const Request& r) {
  MtgpParameters p{g.states,  g.constants, out,         r.count,        g.generated,
                   g.counter, r.mean,      r.deviation, g.table_arrays, r.distribution};
  const cu::CUresult launched = mtgp_kernels.launch(*g.driver, g.stream, "generate_mtgp32",
                                                    {mtgp_sequences(g), 1, 1}, kMtgpStep, p);
  return count_given(g, launched, r.count);
}

/// The number of blocks for a call; the maximum if the call's position is not known yet.
unsigned twister_blocks(const Generator& g, uint64_t count) {
  constexpr uint64_t kTurn = uint64_t{kTwisterGroup} * kTwisterLanes;
  constexpr uint64_t kGroups = kTwisterSequences / kTwisterGroup;
  constexpr uint64_t kCycle = uint64_t{kTwisterSequences} * kTwisterWords;
  const uint64_t first = g.generated, last = first + count - 1;
  const uint64_t cycle = first == 0 ? 0 : (first - 1) / kCycle;
  // The states of all sequences move to the next cycle together.
  if (g.counter != 0 || last / kCycle != cycle) return kGroups;
  return static_cast<unsigned>(std::min(last / kTurn - first / kTurn + 1, kGroups));
}

/// Doubles the number of sequences that have states until there are enough.
cu::CUresult extend_twister(Generator& g, uint32_t sequences) {
  const uint64_t terms = g.constants + twister_jumps().bounds.size() * sizeof(uint32_t);
  while (g.known_sequences < sequences) {
    const auto jump = static_cast<uint64_t>(std::countr_zero(g.known_sequences));
    const JumpParameters p{g.states, terms,
                           g.constants + jump * (kTwisterParts + 1) * sizeof(uint32_t),
                           g.known_sequences};
    const cu::CUresult launched = twister_kernels.launch(
        *g.driver, g.stream, "jump_mt19937", {g.known_sequences, 1, 1}, kTwisterThreads, p);
    if (launched != cu::CUDA_SUCCESS) return launched;
    g.known_sequences *= 2;
  }
  return cu::CUDA_SUCCESS;
}

cu::CUresult launch_twister(Generator& g, uint64_t out, const Request& r) {
  constexpr uint64_t kTurn = uint64_t{kTwisterGroup} * kTwisterLanes;
  constexpr uint64_t kGroups = kTwisterSequences / kTwisterGroup;
  const uint64_t groups_end = (g.generated + r.count + kTurn - 1) / kTurn;
  const uint64_t needed = std::min(groups_end, kGroups) * kTwisterGroup;
  const cu::CUresult extended = extend_twister(g, static_cast<uint32_t>(needed));
  if (extended != cu::CUDA_SUCCESS) return extended;
  const TwisterParameters p{g.states, out,         r.count,        g.generated,   g.counter,
                            r.mean,   r.deviation, g.table_arrays, r.distribution};
  const cu::CUresult launched =
      twister_kernels.launch(*g.driver, g.stream, "generate_mt19937",
                             {twister_blocks(g, r.count), 1, 1}, kTwisterThreads, p);
  return count_given(g, launched, r.count);
}

cu::CUresult launch_sobol(Generator& g, uint64_t out, const Request& r) {
  constexpr unsigned kThreads = 128;
  constexpr int kLeastBits = 7, kMostBits = 14;
  constexpr uint64_t kPointsOfThread = 16;
  const uint64_t count = r.count / g.dimensions;
  int bits = kLeastBits;
  while (bits < kMostBits && count >> bits > kPointsOfThread) ++bits;
  SobolParameters p{g.states,  g.constants, out,         count,          g.offset + g.generated,
                    g.counter, r.mean,      r.deviation, g.table_arrays, r.distribution,
                    bits};
  const cu::CUresult launched = sobol_kernels.launch(
      *g.driver, g.stream, g.is_wide() ? "generate_sobol64" : "generate_sobol32",
      {(1U << bits) / kThreads, g.dimensions, 1}, kThreads, p);
  return count_given(g, launched, count);
}

}  // namespace

namespace {

cu::CUresult upload_all(Generator& g) {
  switch (g.kind) {
    case kMtgp32:
      return prepare_mtgp(g);
    case kMt19937:
      return prepare_twister(g);
    case kSobol32:
    case kScrambledSobol32:
      return prepare_sobol(g, sobol_directions32(g.is_scrambled()), sobol_scrambles32());
    case kSobol64:
    case kScrambledSobol64:
      return prepare_sobol(g, sobol_directions64(g.is_scrambled()), sobol_scrambles64());
    default:
      return prepare_sequences(g);
  }
}

}  // namespace

cu::CUresult prepare_states(Generator& g) {
  const cu::CUresult uploaded = upload_all(g);
  return uploaded == cu::CUDA_SUCCESS ? note_uploaded(g) : uploaded;
}

cu::CUresult prepare_for_capture(Generator& g, const Request* r) {
  if (const cu::CUresult waits = wait_for_uploads(g); waits != cu::CUDA_SUCCESS) return waits;
  if (g.kind == kMt19937 && g.known_sequences < kTwisterSequences) {
    g.known_sequences = 1;  // the stream may still be creating the others
    const cu::CUresult extended = extend_twister(g, kTwisterSequences);
    if (extended != cu::CUDA_SUCCESS) return extended;
  }
  if (r != nullptr && r->distribution == kPoissonTable) {
    // Queued calls may use the old table, and this stream does not wait for them.
    if (g.table_mean != r->mean) g.set_aside(g.table);
    if (const cu::CUresult made = prepare_table(g, r->mean); made != cu::CUDA_SUCCESS) return made;
    g.is_table_captured = true;
  }
  if (g.counter == 0) {
    const uint64_t given = g.offset + g.generated;
    cu::CUdeviceptr counter = 0;
    cu::CUresult done = upload(g, &counter, HostBytes(std::vector<uint64_t>{given}));
    if (done != cu::CUDA_SUCCESS) {
      if (counter != 0) g.driver->cuMemFree_v2(counter);
      return done;
    }
    g.counter = counter;
  }
  const cu::CUresult made = g.driver->cuStreamSynchronize(g.stream);
  if (made == cu::CUDA_SUCCESS) g.may_be_uploading = false;
  return made;
}

cu::CUresult launch(Generator& g, uint64_t out, const Request& r) {
  if (const cu::CUresult waits = wait_for_uploads(g); waits != cu::CUDA_SUCCESS) return waits;
  if (r.distribution == kPoissonTable) {
    if (const cu::CUresult made = prepare_table(g, r.mean); made != cu::CUDA_SUCCESS) return made;
  }
  if (g.is_quasi()) return launch_sobol(g, out, r);
  if (g.kind == kMtgp32) return launch_mtgp(g, out, r);
  if (g.kind == kMt19937) return launch_twister(g, out, r);
  return launch_sequences(g, out, r);
}

}  // namespace km::curand
