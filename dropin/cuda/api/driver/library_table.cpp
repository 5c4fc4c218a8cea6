#include "dropin/cuda/api/driver/library_table.h"

#include <cstring>
#include <mutex>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/assert.h"
#include "core/blas/blas.h"
#include "core/profiler/activity.h"
#include "core/profiler/profiler.h"
#include "core/queue/host_task.h"
#include "core/queue/submit_blas.h"
#include "dropin/cuda/callback/listener.h"
#include "dropin/cuda/context/context.h"
#include "dropin/cuda/frame/host_place.h"
#include "dropin/cuda/memory/place.h"
#include "dropin/cuda/module/callback_kernels.h"
#include "dropin/cuda/stream/stream.h"
#include "dropin/library/table.h"

namespace km::dropin {
namespace {

using library::BlasArray;
using library::BlasRequest;

CUresult find_operand(Context& context, const BlasArray& array, Place* place, BlasOperand* out) {
  out->name = array.name;
  out->is_written = array.is_written;
  out->is_scalar = array.is_scalar;
  out->region = {array.address,     array.lines,       array.line_bytes,
                 array.pitch_bytes, array.batch_count, array.stride_bytes};
  uint64_t size_bytes = 0;
  if (!out->region.extent(&size_bytes)) {
    return fail(CUDA_ERROR_INVALID_VALUE, "%s would have more than 2^64 bytes", array.name);
  }
  if (size_bytes != 0) {
    CU_TRY(place->find(context, array.address, size_bytes, array.name));
    out->memory = place->place().memory;
  }
  return CUDA_SUCCESS;
}

CUresult add_operand(Context& context, const BlasArray& array, Place* place, BlasWork* work) {
  KM_ASSERT(work->operand_count < std::size(work->operands),
            "a call has no more operands than the request holds");
  CU_TRY(find_operand(context, array, place, &work->operands[work->operand_count]));
  ++work->operand_count;
  return CUDA_SUCCESS;
}

/// True if the call overwrites some of its scalars.
bool has_overwritten_scalars(const BlasWork& work) {
  for (uint32_t i = 0; i < work.operand_count; ++i) {
    if (!work.operands[i].is_scalar) continue;
    for (uint32_t k = 0; k < work.operand_count; ++k) {
      const BlasOperand& other = work.operands[k];
      if (other.is_written && regions_overlap(other.region, work.operands[i].region)) return true;
    }
  }
  return false;
}

CUresult submit(CUstream handle, const BlasRequest* request) {
  return guard("cublas", [&]() -> CUresult {
    CU_REQUIRE(request);
    CU_STREAM_FOR_WORK(stream, handle);
    std::array<Place, library::kMostBlasArrays> places;
    BlasWork work;
    work.call = request->call;
    work.call.layout = KM_BLAS_LAYOUT_COLUMNS;
    for (uint32_t i = 0; i < request->array_count; ++i) {
      CU_TRY(add_operand(stream->context(), request->arrays[i], &places[i], &work));
    }
    work.call.device_scalars.is_overwritten = has_overwritten_scalars(work) ? 1 : 0;
    CU_ASSIGN(const Ref<Blas> blas, Blas::create(stream.core(), KM_BLAS_LAYOUT_COLUMNS));
    CU_CHECK(submit_blas(*blas, work));
    return CUDA_SUCCESS;
  });
}

CUresult submit_task(CUstream handle, const kmb_task* task, const BlasArray* arrays,
                     uint32_t count) {
  return guard(task->name, [&]() -> CUresult {
    CU_STREAM_FOR_WORK(stream, handle);
    std::vector<Place> places(count);
    std::vector<MemoryUse> uses(count);
    for (uint32_t i = 0; i < count; ++i) {
      BlasOperand operand;
      CU_TRY(find_operand(stream->context(), arrays[i], &places[i], &operand));
      uses[i] = operand.use();
    }
    CU_CHECK(km::submit_task(stream.core(), *task, uses));
    return CUDA_SUCCESS;
  });
}

/// The listener of operations, which the core's calls are passed to.
std::atomic<library::OperationListener> operation_listener{nullptr};

void pass_operation(const ActivityOrigin& origin, const kmb_profile_record& record) {
  const library::OperationListener listener = operation_listener.load(std::memory_order_acquire);
  if (listener != nullptr) listener(origin.context_number, origin.device_ordinal, record);
}

CUresult set_operation_listener(library::OperationListener listener) {
  return guard("set_operation_listener", [&]() -> CUresult {
    operation_listener.store(listener, std::memory_order_release);
    set_activity_listener(listener != nullptr ? &pass_operation : nullptr);
    for (const Ref<Context>& each : live_contexts()) {
      const Ref<km::Context> core = each->core();
      if (core) CU_CHECK(core->follow_activity(listener != nullptr));
    }
    return CUDA_SUCCESS;
  });
}

uint64_t stream_key(CUstream handle) {
  uint64_t key = 0;
  guard_light("stream_key", [&]() -> CUresult {
    StreamUse stream;
    CU_TRY(stream.get(handle));
    key = reinterpret_cast<uint64_t>(stream.core().native());
    return CUDA_SUCCESS;
  });
  return key;
}

uint64_t context_number(CUcontext handle) {
  uint64_t number = 0;
  guard_light("context_number", [&]() -> CUresult {
    const Pin<Context> context(handle);
    if (!context) return CUDA_ERROR_INVALID_CONTEXT;
    const Ref<km::Context> core = context->core();
    if (core) number = core->number();
    return CUDA_SUCCESS;
  });
  return number;
}

CUresult callback_kernel(CUstream handle, uint64_t function, int type, CUfunction* out) {
  return guard("callback_kernel", [&]() -> CUresult {
    CU_REQUIRE(out);
    StreamUse stream;
    CU_TRY(stream.get(handle));
    Ref<Function> found;
    CU_TRY(find_callback_kernel(stream->context(), function, type, &found));
    *out = handle_of(*found);
    return CUDA_SUCCESS;
  });
}

CUresult check_arrays(CUstream handle, const BlasArray* arrays, uint32_t count) {
  return guard_light("the call of a library", [&]() -> CUresult {
    CU_REQUIRE(arrays);
    StreamUse stream;
    CU_TRY(stream.get(handle));
    for (uint32_t i = 0; i < count; ++i) {
      BlasOperand operand;
      Place place;
      CU_TRY(find_operand(stream->context(), arrays[i], &place, &operand));
    }
    return CUDA_SUCCESS;
  });
}

/// Open ranges, with the contexts whose traces contain them.
class OpenRanges {
 public:
  uint64_t start(Ref<km::Context> context, const char* name) {
    const uint64_t range = context->profiler().start_range(name);
    const std::lock_guard lock(mutex_);
    [[maybe_unused]] const bool is_new =
        open_.emplace(++last_id_, Open{std::move(context), range}).second;
    KM_ASSERT(is_new, "the number of a range is unique");
    return last_id_;
  }
  void end(uint64_t id) {
    const std::lock_guard lock(mutex_);
    const auto found = open_.find(id);
    if (found == open_.end()) return;
    found->second.context->profiler().end_range(found->second.range);
    open_.erase(found);
  }

 private:
  struct Open {
    Ref<km::Context> context;
    uint64_t range;
  };
  std::mutex mutex_;  // guards the members below
  std::unordered_map<uint64_t, Open> open_;
  uint64_t last_id_ = 0;
};

/// Live ids of one library that other libraries also accept.
class LiveHandles {
 public:
  void note(uint64_t id, bool is_live) {
    const std::lock_guard lock(mutex_);
    if (is_live) {
      ids_.insert(id);
    } else {
      ids_.erase(id);
    }
  }
  bool has(uint64_t id) {
    const std::lock_guard lock(mutex_);
    return ids_.contains(id);
  }

 private:
  std::mutex mutex_;  // guards the members below
  std::unordered_set<uint64_t> ids_;
};

/// An object that is never destroyed, because other threads may make calls during exit.
template <class T>
T& forever() {
  union Forever {
    T object;
    Forever() : object() {}
    ~Forever() {}
  };
  static Forever made;
  return made.object;
}

OpenRanges& open_ranges() { return forever<OpenRanges>(); }

uint64_t start_range(const char* name) {
  uint64_t id = 0;
  guard("start_range", [&]() -> CUresult {
    CU_REQUIRE(name);
    Context* const current = current_context_or_null();
    if (current == nullptr) return CUDA_SUCCESS;
    Ref<km::Context> core = current->core();
    if (core && core->profiler().is_on()) id = open_ranges().start(std::move(core), name);
    return CUDA_SUCCESS;
  });
  return id;
}

void end_range(uint64_t id) {
  guard("end_range", [&]() -> CUresult {
    if (id != 0) open_ranges().end(id);
    return CUDA_SUCCESS;
  });
}

void note_handle(uint64_t id, bool is_live) {
  guard_light("note_handle", [&]() -> CUresult {
    forever<LiveHandles>().note(id, is_live);
    return CUDA_SUCCESS;
  });
}

bool is_live_handle(uint64_t id) { return forever<LiveHandles>().has(id); }

const library::LibraryTable& table() {
  static const library::LibraryTable made = {sizeof made,
                                             submit,
                                             start_range,
                                             end_range,
                                             check_arrays,
                                             host_copy_function(),
                                             note_handle,
                                             is_live_handle,
                                             in_callback,
                                             submit_task,
                                             set_operation_listener,
                                             stream_key,
                                             context_number,
                                             callback_kernel};
  return made;
}

}  // namespace

const void* find_library_table(const CUuuid* id) {
  if (id == nullptr) return nullptr;
  const auto is = [id](const CUuuid& known) { return std::memcmp(id, &known, sizeof known) == 0; };
  if (is(frame::kApiListenerId)) return &api_listener;
  return is(library::kLibraryTableId) ? &table() : nullptr;
}

}  // namespace km::dropin
