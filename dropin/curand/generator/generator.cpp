#include "dropin/curand/generator/generator.h"

#include <cstddef>
#include <memory>
#include <utility>

#include "dropin/curand/generator/kinds.h"
#include "dropin/curand/generator/poisson.h"
#include "dropin/library/kernels.h"

namespace km::curand {
namespace {

int kind_of(curandRngType_t type) {
  switch (type) {
    case CURAND_RNG_PSEUDO_DEFAULT:
    case CURAND_RNG_PSEUDO_XORWOW:
      return kXorwow;
    case CURAND_RNG_PSEUDO_MRG32K3A:
      return kMrg32k3a;
    case CURAND_RNG_PSEUDO_MTGP32:
      return kMtgp32;
    case CURAND_RNG_PSEUDO_MT19937:
      return kMt19937;
    case CURAND_RNG_PSEUDO_PHILOX4_32_10:
      return kPhilox;
    case CURAND_RNG_QUASI_DEFAULT:
    case CURAND_RNG_QUASI_SOBOL32:
      return kSobol32;
    case CURAND_RNG_QUASI_SCRAMBLED_SOBOL32:
      return kScrambledSobol32;
    case CURAND_RNG_QUASI_SOBOL64:
      return kSobol64;
    case CURAND_RNG_QUASI_SCRAMBLED_SOBOL64:
      return kScrambledSobol64;
    default:
      return 0;
  }
}

/// Checks the counts: the Box-Muller method makes normal numbers in pairs; other methods only need
/// a whole number of points.
curandStatus_t check(const Generator& g, const Request& r) {
  if (r.out == nullptr) return invalid("outputPtr is null");
  const bool is_normal = r.distribution >= kNormal && r.distribution <= kLogNormalDouble;
  if (is_normal && g.kind < kPhilox && r.count % 2 != 0) {
    return frame::fail(CURAND_STATUS_LENGTH_NOT_MULTIPLE,
                       "%zu normal numbers; their count must be even", r.count);
  }
  if (r.count % g.dimensions != 0) {
    return frame::fail(CURAND_STATUS_LENGTH_NOT_MULTIPLE,
                       "%zu numbers are not a whole number of points of %u dimensions", r.count,
                       g.dimensions);
  }
  if (r.distribution == kBits && g.is_wide() != (r.element_bytes == sizeof(uint64_t))) {
    return frame::fail(CURAND_STATUS_TYPE_ERROR,
                       "numbers of %zu bytes from a generator of other sizes", r.element_bytes);
  }
  return CURAND_STATUS_SUCCESS;
}

/// Checks that numbers for the device are inside one allocation.
curandStatus_t check_place(const Generator& g, const Request& r) {
  if (r.count > SIZE_MAX / r.element_bytes) {
    return frame::fail(g.is_on_host ? CURAND_STATUS_ALLOCATION_FAILED : CURAND_STATUS_OUT_OF_RANGE,
                       "%zu numbers of %zu bytes are more than any memory holds", r.count,
                       r.element_bytes);
  }
  if (g.is_on_host || g.driver->table == nullptr) return CURAND_STATUS_SUCCESS;
  const uint64_t bytes = r.count * r.element_bytes;
  const library::BlasArray array{
      "outputPtr", reinterpret_cast<uint64_t>(r.out), 1, bytes, bytes, 1, 0, true, false};
  const cu::CUresult checked = g.driver->table->check_arrays(g.stream, &array, 1);
  return checked == cu::CUDA_ERROR_INVALID_VALUE ? CURAND_STATUS_OUT_OF_RANGE : status_of(checked);
}

/// Switches the generator to another stream, which is not captured, while it lives.
class OtherStream {
 public:
  explicit OtherStream(Generator& g) : g_(g), own_(g.stream), other_(*g.driver) {
    if (result() == cu::CUDA_SUCCESS) g.stream = other_.get();
  }
  ~OtherStream() { g_.stream = own_; }
  OtherStream(const OtherStream&) = delete;
  OtherStream& operator=(const OtherStream&) = delete;
  cu::CUresult result() const { return other_.result(); }

 private:
  Generator& g_;
  const cu::CUstream own_;
  const OwnStream other_;
};

cu::CUresult ask_captured(const Generator& g, bool* is_captured) {
  cu::CUstreamCaptureStatus status = cu::CU_STREAM_CAPTURE_STATUS_NONE;
  const cu::CUresult asked = g.driver->cuStreamIsCapturing(g.stream, &status);
  *is_captured = status != cu::CU_STREAM_CAPTURE_STATUS_NONE;
  return asked;
}

/// Fails if the context that held the generator's states has ended: the sequence cannot continue,
/// and starts again after the next setting.
curandStatus_t require_memory(Generator& g) {
  if (!g.context.is_noted() || g.context.goes_on(*g.driver)) return CURAND_STATUS_SUCCESS;
  if (g.is_ready) {
    return frame::fail(CURAND_STATUS_PREEXISTING_FAILURE,
                       "the generator's states were lost with their context; set its seed or "
                       "offset to start again");
  }
  g.forget_memory();
  return CURAND_STATUS_SUCCESS;
}

/// Creates the states for the sequence's beginning if there are none.
cu::CUresult make_ready(Generator& g) {
  if (g.is_ready) return cu::CUDA_SUCCESS;
  g.generated = 0;
  if (!g.context.is_noted()) {
    const cu::CUresult noted = g.context.note_current(*g.driver);
    if (noted != cu::CUDA_SUCCESS) return noted;
  }
  const cu::CUresult prepared = prepare_states(g);
  g.is_ready = prepared == cu::CUDA_SUCCESS;
  return prepared;
}

}  // namespace

const char* RandLibrary::name_of(curandStatus_t status) noexcept {
  switch (status) {
#define KM_STATUS(name) \
  case name:            \
    return #name
    KM_STATUS(CURAND_STATUS_SUCCESS);
    KM_STATUS(CURAND_STATUS_NOT_INITIALIZED);
    KM_STATUS(CURAND_STATUS_ALLOCATION_FAILED);
    KM_STATUS(CURAND_STATUS_TYPE_ERROR);
    KM_STATUS(CURAND_STATUS_OUT_OF_RANGE);
    KM_STATUS(CURAND_STATUS_LENGTH_NOT_MULTIPLE);
    KM_STATUS(CURAND_STATUS_LAUNCH_FAILURE);
    KM_STATUS(CURAND_STATUS_PREEXISTING_FAILURE);
    KM_STATUS(CURAND_STATUS_INITIALIZATION_FAILED);
    KM_STATUS(CURAND_STATUS_INTERNAL_ERROR);
    default:
      return nullptr;
#undef KM_STATUS
  }
}

Generator::~Generator() {
  if (uploaded != nullptr) driver->cuEventDestroy_v2(uploaded);
  set_aside();
  if (aside.empty()) return;
  if (left == nullptr) left = std::make_shared<LeftMemory>();
  left->context = context;
  left->addresses = std::move(aside);
}

void Generator::forget_memory() {
  set_aside();
  aside.clear();
  left = nullptr;
  last_captured = {};
  uploaded = nullptr;
  may_be_uploading = false;
  context.forget();
}

void Generator::set_aside(cu::CUdeviceptr& memory) {
  if (memory != 0) aside.push_back(std::exchange(memory, 0));
}

void Generator::set_aside() {
  for (cu::CUdeviceptr* memory : {&states, &constants, &table, &counter}) set_aside(*memory);
  uploaded_dimensions = known_sequences = 0;
  table_mean = 0;
  is_ready = is_table_captured = false;
}

curandStatus_t create(curandGenerator_t* out, curandRngType_t type, bool is_on_host) {
  const int kind = kind_of(type);
  if (kind == 0) {
    return frame::fail(CURAND_STATUS_TYPE_ERROR, "there are no generators of type %d", type);
  }
  const Driver* const driver = library::driver();
  if (driver == nullptr || library::enter_context(*driver) != cu::CUDA_SUCCESS) {
    return CURAND_STATUS_INITIALIZATION_FAILED;
  }
  free_left_memory(*driver);
  auto generator = std::make_shared<Generator>();
  generator->driver = driver;
  generator->kind = kind;
  generator->is_on_host = is_on_host;
  auto& handles = library::handle_map<Generator>();
  const uint64_t tag = library::handle_tag(library::HandleKind::kCurand, 0);
  const uint64_t id = handles.add(std::move(generator), tag);
  const curandStatus_t given = give(out, reinterpret_cast<curandGenerator_t>(id));
  if (given != CURAND_STATUS_SUCCESS) handles.remove(id);
  return given;
}

curandStatus_t destroy(curandGenerator_t handle) {
  auto removed = library::handle_map<Generator>().remove(reinterpret_cast<uint64_t>(handle));
  if (removed == nullptr) {
    return frame::fail(CURAND_STATUS_NOT_INITIALIZED, "the generator is not live");
  }
  const Driver& driver = *removed->driver;
  removed = nullptr;
  free_left_memory(driver);
  return CURAND_STATUS_SUCCESS;
}

curandStatus_t prepare(Generator& g, const Request* request, bool* is_captured) {
  const RelaxedCapture relaxed(*g.driver);
  if (library::enter_context(*g.driver) != cu::CUDA_SUCCESS)
    return CURAND_STATUS_INITIALIZATION_FAILED;
  LIB_TRY(require_memory(g));
  LIB_CHECK(ask_captured(g, is_captured));
  if (!*is_captured) return status_of(make_ready(g));
  LIB_CHECK(wait_for_last_captured(g));
  const OtherStream other(g);
  LIB_CHECK(other.result());
  // Kernels queued before the capture may still use the old memory.
  if (!g.is_ready) g.set_aside();
  const cu::CUresult ready = make_ready(g);
  return status_of(ready != cu::CUDA_SUCCESS ? ready : prepare_for_capture(g, request));
}

namespace {

/// Generates numbers for host memory. A captured call's numbers arrive there when the graph has
/// run.
curandStatus_t generate_for_host(Generator& g, const Request& r, bool is_captured) {
  library::StreamMemory memory(*g.driver, g.stream);
  const size_t bytes = r.count * r.element_bytes;
  LIB_CHECK(memory.allocate(bytes));
  LIB_CHECK(launch(g, memory.address(), r));
  const cu::CUresult copied =
      g.driver->cuMemcpyDtoHAsync_v2(r.out, memory.address(), bytes, g.stream);
  if (copied != cu::CUDA_SUCCESS || is_captured) return status_of(copied);
  return status_of(g.driver->cuStreamSynchronize(g.stream));
}

}  // namespace

curandStatus_t generate(Generator& g, const Request& asked) {
  Request r = asked;
  if (r.count == 0) return CURAND_STATUS_SUCCESS;
  LIB_TRY(check(g, r));
  if (r.distribution == kPoissonTable) r.distribution = poisson_method(g.kind, r.mean);
  const RelaxedCapture relaxed(*g.driver);  // tables of Poisson numbers need memory too
  bool is_captured = false;
  LIB_TRY(prepare(g, &r, &is_captured));
  LIB_TRY(check_place(g, r));
  const curandStatus_t done = g.is_on_host
                                  ? generate_for_host(g, r, is_captured)
                                  : status_of(launch(g, reinterpret_cast<uint64_t>(r.out), r));
  return done == CURAND_STATUS_SUCCESS && is_captured ? status_of(note_captured(g)) : done;
}

}  // namespace km::curand
