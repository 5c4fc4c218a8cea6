// Streams.
#include <algorithm>
#include <memory>

#include "core/graph/graph_capture.h"
#include "dropin/cuda/graph/graph_params.h"
#include "dropin/cuda/stream/context_streams.h"

namespace km::cu {

using namespace km::dropin;  // NOLINT

namespace {

struct HostFunction {
  CUhostFn function;
  void* user_data;
  static void run(void* box, km_status status) {
    const std::unique_ptr<HostFunction> own(static_cast<HostFunction*>(box));
    if (status == KM_SUCCESS) call_contained([&] { own->function(own->user_data); });
  }
};

struct StreamCallback {
  CUstreamCallback function;
  CUstream stream;
  void* user_data;
  static void run(void* box, km_status status) {
    const std::unique_ptr<StreamCallback> own(static_cast<StreamCallback*>(box));
    const CUresult result = status == KM_SUCCESS ? CUDA_SUCCESS : result_of({status, "", 0});
    call_contained([&] { own->function(own->stream, result, own->user_data); });
  }
};

CUresult create_stream(CUstream* out, unsigned flags, int priority) {
  CU_REQUIRE(out);
  CU_CURRENT(context);
  if ((flags & ~static_cast<unsigned>(CU_STREAM_NON_BLOCKING)) != 0) {
    return fail(CUDA_ERROR_INVALID_VALUE, "flags 0x%x has unknown bits", flags);
  }
  CU_TRY(clamp_priority(*context, &priority));
  Ref<dropin::Stream> stream;
  CU_TRY(
      dropin::Stream::create(*context, flags, priority, dropin::Stream::Kind::kCreated, &stream));
  return publish_in(*context, std::move(stream), out);
}

}  // namespace

extern "C" {

CUresult cuStreamCreate(CUstream* out, unsigned int flags) {
  return guard(__func__, [&] { return create_stream(out, flags, 0); });
}

CUresult cuStreamCreateWithPriority(CUstream* out, unsigned int flags, int priority) {
  return guard(__func__, [&] { return create_stream(out, flags, priority); });
}

CUresult cuStreamDestroy_v2(CUstream handle) {
  return guard(__func__, [&]() -> CUresult {
    if (const Pin<dropin::Stream> stream(handle); stream) {
      ContextStreams::of(stream->context()).note_ending(stream->core());
    }
    if (!retire<dropin::Stream>(handle)) {
      return fail(CUDA_ERROR_INVALID_HANDLE, "the stream is not a live handle");
    }
    return CUDA_SUCCESS;
  });
}

CUresult cuStreamDestroy(CUstream handle) { return cuStreamDestroy_v2(handle); }

CUresult cuStreamSynchronize(CUstream handle) {
  return guard_light(__func__, [&]() -> CUresult {
    StreamUse stream;
    CU_TRY(stream.get(handle));
    if (stream->kind() == dropin::Stream::Kind::kLegacy) CU_TRY(stream.order());
    return stream->synchronize();
  });
}

CUresult cuStreamSynchronize_ptsz(CUstream handle) {
  return cuStreamSynchronize(per_thread(handle));
}

CUresult cuStreamQuery(CUstream handle) {
  return guard_light(__func__, [&]() -> CUresult {
    StreamUse stream;
    CU_TRY(stream.get(handle));
    if (stream->kind() == dropin::Stream::Kind::kLegacy) CU_TRY(stream.order());
    return stream->query();
  });
}

CUresult cuStreamQuery_ptsz(CUstream handle) { return cuStreamQuery(per_thread(handle)); }

CUresult cuStreamWaitEvent(CUstream handle, CUevent event_handle, unsigned int flags) {
  return guard_light(__func__, [&]() -> CUresult {
    if ((flags & ~1U) != 0) return fail(CUDA_ERROR_INVALID_VALUE, "flags is %u", flags);
    CU_GET(Event, event, event_handle);
    CU_STREAM_FOR_WORK(stream, handle);
    if ((flags & CU_EVENT_WAIT_EXTERNAL) != 0) {
      if (!stream.core().is_capturing()) {
        return fail(CUDA_ERROR_INVALID_VALUE, "an external wait needs a stream that is captured");
      }
      return capture_event(*stream, CU_GRAPH_NODE_TYPE_WAIT_EVENT, event_handle);
    }
    return event->wait_in(*stream);
  });
}

CUresult cuStreamWaitEvent_ptsz(CUstream handle, CUevent event, unsigned int flags) {
  return cuStreamWaitEvent(per_thread(handle), event, flags);
}

CUresult cuLaunchHostFunc(CUstream handle, CUhostFn function, void* user_data) {
  return guard(__func__, [&]() -> CUresult {
    if (function == nullptr) return fail(CUDA_ERROR_INVALID_VALUE, "fn is null");
    CU_STREAM_FOR_WORK(stream, handle);
    if (stream.core().is_capturing()) {
      SharedWork work;
      CU_TRY(host_work_of(stream->context(), {function, user_data}, &work));
      CU_CHECK(capture_work(stream.core(), work));
      return CUDA_SUCCESS;
    }
    auto box = std::make_unique<HostFunction>(HostFunction{function, user_data});
    CU_CHECK(stream.core().queue_callback(&HostFunction::run, box.get()));
    static_cast<void>(box.release());  // run once
    return CUDA_SUCCESS;
  });
}

CUresult cuLaunchHostFunc_ptsz(CUstream handle, CUhostFn function, void* user_data) {
  return cuLaunchHostFunc(per_thread(handle), function, user_data);
}

CUresult cuLaunchHostFunc_v2(CUstream stream, CUhostFn function, void* user_data,
                             unsigned int sync_mode) {
  return guard(__func__, [&]() -> CUresult {
    if (sync_mode > CU_HOST_TASK_SPINWAIT) {
      return fail(CUDA_ERROR_INVALID_VALUE, "there is no mode %u of waiting", sync_mode);
    }
    return cuLaunchHostFunc(stream, function, user_data);
  });
}

CUresult cuLaunchHostFunc_v2_ptsz(CUstream stream, CUhostFn function, void* user_data,
                                  unsigned int sync_mode) {
  return cuLaunchHostFunc_v2(per_thread(stream), function, user_data, sync_mode);
}

CUresult cuStreamAddCallback(CUstream handle, CUstreamCallback function, void* user_data,
                             unsigned int flags) {
  return guard(__func__, [&]() -> CUresult {
    if (function == nullptr || flags != 0) {
      return fail(CUDA_ERROR_INVALID_VALUE, "callback is null, or flags is not 0 but %u", flags);
    }
    CU_STREAM_FOR_WORK(stream, handle);
    if (stream.core().is_capturing()) {
      return fail(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
                  "a captured stream takes no callbacks; cuLaunchHostFunc does the same");
    }
    auto box = std::make_unique<StreamCallback>(StreamCallback{function, handle, user_data});
    CU_CHECK(stream.core().queue_callback(&StreamCallback::run, box.get()));
    static_cast<void>(box.release());  // run once
    return CUDA_SUCCESS;
  });
}

CUresult cuStreamAddCallback_ptsz(CUstream handle, CUstreamCallback function, void* user_data,
                                  unsigned int flags) {
  return cuStreamAddCallback(per_thread(handle), function, user_data, flags);
}

CUresult cuStreamGetPriority(CUstream handle, int* priority) {
  return guard(__func__, [&]() -> CUresult {
    CU_REQUIRE(priority);
    StreamUse stream;
    CU_TRY(stream.get(handle));
    *priority = stream.core().priority();
    return CUDA_SUCCESS;
  });
}

CUresult cuStreamGetPriority_ptsz(CUstream handle, int* priority) {
  return cuStreamGetPriority(per_thread(handle), priority);
}

CUresult cuStreamGetFlags(CUstream handle, unsigned int* flags) {
  return guard(__func__, [&]() -> CUresult {
    CU_REQUIRE(flags);
    StreamUse stream;
    CU_TRY(stream.get(handle));
    *flags = stream->flags();
    return CUDA_SUCCESS;
  });
}

CUresult cuStreamGetFlags_ptsz(CUstream handle, unsigned int* flags) {
  return cuStreamGetFlags(per_thread(handle), flags);
}

CUresult cuStreamGetId(CUstream handle, unsigned long long* id) {
  return guard(__func__, [&]() -> CUresult {
    CU_REQUIRE(id);
    StreamUse stream;
    CU_TRY(stream.get(handle));
    *id = stream->number();
    return CUDA_SUCCESS;
  });
}

CUresult cuStreamGetId_ptsz(CUstream handle, unsigned long long* id) {
  return cuStreamGetId(per_thread(handle), id);
}

CUresult cuStreamGetCtx(CUstream handle, CUcontext* out) {
  return guard(__func__, [&]() -> CUresult {
    CU_REQUIRE(out);
    StreamUse stream;
    CU_TRY(stream.get(handle));
    *out = handle_of(stream->context());
    return CUDA_SUCCESS;
  });
}

CUresult cuStreamGetCtx_ptsz(CUstream handle, CUcontext* out) {
  return cuStreamGetCtx(per_thread(handle), out);
}

CUresult cuStreamGetCtx_v2(CUstream handle, CUcontext* out, CUgreenCtx* green) {
  if (green != nullptr && handle != nullptr) {
    const CUresult found = cuStreamGetGreenCtx(handle, green);
    if (found != CUDA_SUCCESS) return found;
  } else if (green != nullptr) {
    *green = nullptr;
  }
  return cuStreamGetCtx(handle, out);
}

CUresult cuStreamGetCtx_v2_ptsz(CUstream handle, CUcontext* out, CUgreenCtx* green) {
  return cuStreamGetCtx_v2(per_thread(handle), out, green);
}

CUresult cuStreamGetDevice(CUstream handle, CUdevice* out) {
  return guard(__func__, [&]() -> CUresult {
    CU_REQUIRE(out);
    StreamUse stream;
    CU_TRY(stream.get(handle));
    *out = stream->context().device().ordinal;
    return CUDA_SUCCESS;
  });
}

CUresult cuStreamGetDevice_ptsz(CUstream handle, CUdevice* out) {
  return cuStreamGetDevice(per_thread(handle), out);
}

CUresult cuStreamAttachMemAsync(CUstream handle, CUdeviceptr address, size_t, unsigned int flags) {
  return guard(__func__, [&]() -> CUresult {
    StreamUse stream;
    CU_TRY(stream.get(handle));
    if (flags != CU_MEM_ATTACH_GLOBAL && flags != CU_MEM_ATTACH_HOST &&
        flags != CU_MEM_ATTACH_SINGLE) {
      return fail(CUDA_ERROR_INVALID_VALUE, "flags is %u", flags);
    }
    uint64_t begin = 0;
    Allocation found;
    if (!Driver::instance().find(address, &begin, &found)) {
      return fail(CUDA_ERROR_INVALID_VALUE, "0x%llx lies in no allocation", address);
    }
    return CUDA_SUCCESS;  // all memory is always visible to the host
  });
}

CUresult cuStreamAttachMemAsync_ptsz(CUstream handle, CUdeviceptr address, size_t length,
                                     unsigned int flags) {
  return cuStreamAttachMemAsync(per_thread(handle), address, length, flags);
}

}  // extern "C"

}  // namespace km::cu
