// Device resources, and green contexts that own a part of them.
#include "dropin/cuda/context/green_context.h"

#include <algorithm>

#include "core/object/callback.h"
#include "core/stream/stream_capture.h"
#include "dropin/cuda/frame/host_place.h"
#include "dropin/cuda/stream/context_streams.h"

namespace km::cu {

using namespace km::dropin;  // NOLINT

namespace {

constexpr unsigned kSplitFlags = CU_DEV_SM_RESOURCE_SPLIT_IGNORE_SM_COSCHEDULING |
                                 CU_DEV_SM_RESOURCE_SPLIT_MAX_POTENTIAL_CLUSTER_SIZE;
std::atomic<uint64_t> last_split{0};

CUresult require_sm(CUdevResourceType type) {
  if (type == CU_DEV_RESOURCE_TYPE_SM) return CUDA_SUCCESS;
  return fail(CUDA_ERROR_INVALID_RESOURCE_TYPE, "resource type %d: only multiprocessors (%d)", type,
              CU_DEV_RESOURCE_TYPE_SM);
}

CUresult give_all_of(DeviceState& device, CUdevResource* out, CUdevResourceType type) {
  CU_REQUIRE(out);
  CU_TRY(require_sm(type));
  SmSet sms;
  CU_TRY(SmSet::all_of(device, &sms));
  return write_place("resource", out, sms.resource());
}

/// Reads a set that may be split. A part of an earlier split may not be; a green context made from
/// it may.
CUresult read_undivided(const CUdevResource* given, SmSet* out) {
  CUdevResource resource;
  CU_TRY(read_place("input", given, &resource));
  CU_TRY(SmSet::read(resource, out));
  if (out->split == 0) return CUDA_SUCCESS;
  return fail(CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION,
              "the resource is the result of a split: make a green context of it, and divide that");
}

CUresult split_by_count(CUdevResource* out, unsigned* groups, const CUdevResource* input,
                        CUdevResource* rest, unsigned flags, unsigned least) {
  unsigned room = 0;
  SmSet sms;
  CU_TRY(read_place("nbGroups", groups, &room));
  CU_TRY(read_undivided(input, &sms));
  if ((flags & ~kSplitFlags) != 0) {
    return fail(CUDA_ERROR_INVALID_VALUE, "flags 0x%x has unknown bits", flags);
  }
  if (least > sms.count) {
    return fail(CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION,
                "%u multiprocessors for each group, but the resource has %u", least, sms.count);
  }
  const unsigned each = std::max(least, 1u);
  const unsigned most = sms.count / each;
  const unsigned made = out == nullptr ? most : std::min(room, most);
  const uint64_t split = ++last_split;
  for (unsigned i = 0; out != nullptr && i < made; ++i) {
    CU_TRY(write_place("result", &out[i], SmSet{sms.device, each, split, i}.resource()));
  }
  CU_TRY(write_place("nbGroups", groups, made));
  if (rest == nullptr) return CUDA_SUCCESS;
  return write_place("remaining", rest,
                     SmSet{sms.device, sms.count - made * each, split, made}.resource());
}

/// The number of multiprocessors for a group, out of those left; 0 if too few are left.
unsigned group_size(const CU_DEV_SM_RESOURCE_GROUP_PARAMS& group, unsigned left) {
  if (group.smCount != 0) return group.smCount <= left ? group.smCount : 0;
  const unsigned unit = std::max(group.coscheduledSmCount, 1u);
  const bool fills_up = (group.flags & CU_DEV_SM_RESOURCE_GROUP_BACKFILL) != 0 && left >= unit;
  return fills_up ? left : left / unit * unit;
}

CUresult check_group(const CU_DEV_SM_RESOURCE_GROUP_PARAMS& group) {
  if ((group.flags & ~static_cast<unsigned>(CU_DEV_SM_RESOURCE_GROUP_BACKFILL)) != 0) {
    return fail(CUDA_ERROR_INVALID_VALUE, "flags 0x%x of a group: there are no locality domains",
                group.flags);
  }
  const bool is_multiple =
      group.coscheduledSmCount == 0 || group.smCount % group.coscheduledSmCount == 0;
  if (is_multiple || (group.flags & CU_DEV_SM_RESOURCE_GROUP_BACKFILL) != 0) return CUDA_SUCCESS;
  return fail(CUDA_ERROR_INVALID_VALUE, "%u multiprocessors are not a multiple of the %u together",
              group.smCount, group.coscheduledSmCount);
}

CUresult split_by_groups(CUdevResource* out, unsigned groups, const CUdevResource* input,
                         CUdevResource* rest, unsigned flags,
                         CU_DEV_SM_RESOURCE_GROUP_PARAMS* given) {
  CU_REQUIRE(given);
  SmSet sms;
  CU_TRY(read_undivided(input, &sms));
  if (flags != 0 || groups == 0) {
    return fail(CUDA_ERROR_INVALID_VALUE, "flags 0x%x, %u groups: no flags, and at least one group",
                flags, groups);
  }
  if (groups > sms.count) {
    return fail(CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION,
                "%u groups, but the resource has %u multiprocessors", groups, sms.count);
  }
  const uint64_t split = ++last_split;
  std::vector<CU_DEV_SM_RESOURCE_GROUP_PARAMS> params(groups);
  CU_TRY(read_places("groupParams", given, groups, params.data()));
  unsigned left = sms.count;
  for (unsigned i = 0; i < groups; ++i) {
    CU_TRY(check_group(params[i]));
    const unsigned size = group_size(params[i], left);
    if (size == 0 && (out != nullptr || params[i].smCount != 0)) {
      return fail(CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION,
                  "group %u asks for %u multiprocessors, and %u are left", i, params[i].smCount,
                  left);
    }
    params[i].smCount = size;
    left -= size;
  }
  for (unsigned i = 0; i < groups; ++i) {
    CU_TRY(write_place("groupParams", &given[i], params[i]));
    if (out == nullptr) continue;
    const SmSet part{sms.device, params[i].smCount, split, i};
    CU_TRY(write_place("result", &out[i], part.resource()));
  }
  if (rest == nullptr) return CUDA_SUCCESS;
  return write_place("remainder", rest, SmSet{sms.device, left, split, groups}.resource());
}

/// Combines resources: a single one, or several parts of one split.
CUresult join(const CUdevResource* resources, unsigned count, SmSet* out) {
  std::vector<unsigned> parts;
  for (unsigned i = 0; i < count; ++i) {
    CUdevResource resource;
    SmSet sms;
    CU_TRY(read_place("resources", &resources[i], &resource));
    CU_TRY(SmSet::read(resource, &sms));
    if (i == 0) *out = {sms.device, 0, sms.split, 0};
    const bool is_new = std::find(parts.begin(), parts.end(), sms.part) == parts.end();
    if (sms.device != out->device || sms.split != out->split || !is_new) {
      return fail(CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION,
                  "resource %u is not another part of the same split", i);
    }
    parts.push_back(sms.part);
    out->count += sms.count;
  }
  return CUDA_SUCCESS;
}

/// The live streams that were created in the green context.
std::vector<Ref<dropin::Stream>> all_streams_of(GreenContext& green) {
  std::vector<Ref<dropin::Stream>> own;
  ContextStreams::of(green.context()).all(&own);
  std::erase_if(own, [&](const Ref<dropin::Stream>& each) { return each->green() != &green; });
  return own;
}

/// Invalidates captures of its streams, detaches the streams and releases the primary context.
CUresult destroy(GreenContext& green, const MayBlock& may_block) {
  if (!green.mark_destroyed()) return CUDA_SUCCESS;
  for (const Ref<dropin::Stream>& stream : all_streams_of(green)) {
    if (!stream->core().is_capturing()) continue;
    static_cast<void>(refuse_capture(stream->core(), "the end of the green context of"));
  }
  return green.release(may_block);
}

/// The green context's streams; fails if one of them is being captured.
CUresult streams_of(GreenContext& green, std::vector<Ref<dropin::Stream>>* out) {
  *out = all_streams_of(green);
  for (const Ref<dropin::Stream>& stream : *out) {
    if (!stream->core().is_capturing()) continue;
    static_cast<void>(refuse_capture(stream->core(), "events of the green context of"));
    return fail(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "a stream of the context is captured");
  }
  return CUDA_SUCCESS;
}

CUresult create_stream(CUstream* out, GreenContext& green, unsigned flags, int priority) {
  if (flags != CU_STREAM_NON_BLOCKING) {
    return fail(CUDA_ERROR_INVALID_VALUE, "flags 0x%x: such streams are CU_STREAM_NON_BLOCKING",
                flags);
  }
  dropin::Context& context = green.context();
  CU_TRY(clamp_priority(context, &priority));
  Ref<dropin::Stream> stream;
  CU_TRY(dropin::Stream::create(context, flags, priority, dropin::Stream::Kind::kCreated, &stream));
  stream->set_green(Ref<GreenContext>::share(green));
  return publish_in(context, std::move(stream), out);
}

CUresult stream_resource(CUstream handle, CUdevResource* out, CUdevResourceType type) {
  CU_REQUIRE(out);
  CU_TRY(require_sm(type));
  StreamUse stream;
  CU_TRY(stream.get(handle));
  if (stream->green() == nullptr) return give_all_of(stream->context().device(), out, type);
  return write_place("resource", out, stream->green()->sms().resource());
}

}  // namespace

extern "C" {

CUresult cuDeviceGetDevResource(CUdevice ordinal, CUdevResource* out, CUdevResourceType type) {
  return guard(__func__, [&]() -> CUresult {
    CU_DEVICE(device, ordinal);
    return give_all_of(*device, out, type);
  });
}

CUresult cuCtxGetDevResource(CUcontext handle, CUdevResource* out, CUdevResourceType type) {
  return guard(__func__, [&]() -> CUresult {
    const Pin<dropin::Context> context(handle);
    if (!context || context->is_destroyed()) {
      return fail(CUDA_ERROR_INVALID_CONTEXT, "the context is not a live handle");
    }
    return give_all_of(context->device(), out, type);
  });
}

CUresult cuStreamGetDevResource(CUstream stream, CUdevResource* out, CUdevResourceType type) {
  return guard(__func__, [&] { return stream_resource(stream, out, type); });
}

CUresult cuStreamGetDevResource_ptsz(CUstream stream, CUdevResource* out, CUdevResourceType type) {
  return cuStreamGetDevResource(per_thread(stream), out, type);
}

CUresult cuDevSmResourceSplitByCount(CUdevResource* out, unsigned int* groups,
                                     const CUdevResource* input, CUdevResource* rest,
                                     unsigned int flags, unsigned int least) {
  return guard(__func__, [&] { return split_by_count(out, groups, input, rest, flags, least); });
}

CUresult cuDevSmResourceSplit(CUdevResource* out, unsigned int groups, const CUdevResource* input,
                              CUdevResource* rest, unsigned int flags,
                              CU_DEV_SM_RESOURCE_GROUP_PARAMS* params) {
  return guard(__func__, [&] { return split_by_groups(out, groups, input, rest, flags, params); });
}

CUresult cuDevResourceGenerateDesc(CUdevResourceDesc* out, CUdevResource* resources,
                                   unsigned int count) {
  return guard(__func__, [&]() -> CUresult {
    CU_REQUIRE(out);
    CU_REQUIRE(resources);
    if (count == 0) return fail(CUDA_ERROR_INVALID_VALUE, "no resources");
    SmSet sms;
    CU_TRY(join(resources, count, &sms));
    sms.split = 0;                         // a green context's set may be split again
    CU_TRY(require_place("phDesc", out));  // such handles never end
    return write_place("phDesc", out, publish(Ref<ResourceSet>::adopt(new ResourceSet(sms))));
  });
}

CUresult cuGreenCtxCreate(CUgreenCtx* out, CUdevResourceDesc handle, CUdevice ordinal,
                          unsigned int flags) {
  return guard(__func__, [&]() -> CUresult {
    CU_TRY(require_place("phCtx", out));
    CU_GET(ResourceSet, resources, handle);
    CU_DEVICE(device, ordinal);
    if ((flags & ~static_cast<unsigned>(CU_GREEN_CTX_DEFAULT_STREAM)) != 0) {
      return fail(CUDA_ERROR_INVALID_VALUE, "flags 0x%x has unknown bits", flags);
    }
    if (resources->sms().device != ordinal) {
      return fail(CUDA_ERROR_INVALID_VALUE, "the resources are of device %d, not of %d",
                  resources->sms().device, ordinal);
    }
    Ref<GreenContext> green;
    CU_TRY(GreenContext::create(*device, resources->sms(), &green));
    return write_place("phCtx", out, publish(std::move(green)));
  });
}

CUresult cuGreenCtxDestroy(CUgreenCtx handle) {
  return guard(__func__, [&]() -> CUresult {
    CU_GET(GreenContext, green, handle);
    CU_ASSIGN(const MayBlock may_block, require_may_block());
    if (!retire<GreenContext>(handle)) {
      return fail(CUDA_ERROR_INVALID_CONTEXT, "the green context is not a live handle");
    }
    return destroy(*green, may_block);
  });
}

CUresult cuCtxFromGreenCtx(CUcontext* out, CUgreenCtx handle) {
  return guard(__func__, [&]() -> CUresult {
    CU_REQUIRE(out);
    CU_GET(GreenContext, green, handle);
    return write_place("pContext", out, handle_of(green->context()));
  });
}

CUresult cuGreenCtxGetDevResource(CUgreenCtx handle, CUdevResource* out, CUdevResourceType type) {
  return guard(__func__, [&]() -> CUresult {
    CU_REQUIRE(out);
    CU_TRY(require_sm(type));
    CU_GET(GreenContext, green, handle);
    return write_place("resource", out, green->sms().resource());
  });
}

CUresult cuGreenCtxGetId(CUgreenCtx handle, unsigned long long* out) {
  return guard(__func__, [&]() -> CUresult {
    CU_REQUIRE(out);
    CU_GET(GreenContext, green, handle);
    return write_place("greenCtxId", out, static_cast<unsigned long long>(green->id()));
  });
}

CUresult cuGreenCtxStreamCreate(CUstream* out, CUgreenCtx handle, unsigned int flags,
                                int priority) {
  return guard(__func__, [&]() -> CUresult {
    CU_TRY(require_place("phStream", out));
    CU_GET(GreenContext, green, handle);
    return create_stream(out, *green, flags, priority);
  });
}

CUresult cuGreenCtxRecordEvent(CUgreenCtx handle, CUevent event_handle) {
  return guard(__func__, [&]() -> CUresult {
    CU_GET(GreenContext, green, handle);
    CU_GET(Event, event, event_handle);
    std::vector<Ref<dropin::Stream>> streams;
    CU_TRY(streams_of(*green, &streams));
    return record_after(green->context(), streams, *event);
  });
}

CUresult cuGreenCtxWaitEvent(CUgreenCtx handle, CUevent event_handle) {
  return guard(__func__, [&]() -> CUresult {
    CU_GET(GreenContext, green, handle);
    CU_GET(Event, event, event_handle);
    std::vector<Ref<dropin::Stream>> streams;
    CU_TRY(streams_of(*green, &streams));
    return make_wait(streams, *event);
  });
}

CUresult cuStreamGetGreenCtx(CUstream handle, CUgreenCtx* out) {
  return guard(__func__, [&]() -> CUresult {
    CU_REQUIRE(out);
    StreamUse stream;
    CU_TRY(stream.get(handle));
    const CUgreenCtx green = stream->green() == nullptr ? nullptr : handle_of(*stream->green());
    return write_place("phCtx", out, green);
  });
}

}  // extern "C"

}  // namespace km::cu
