// The CUDA driver under test.
#include <unistd.h>

#include <cstdlib>

#include "caller.h"
#include "driver_malloc.h"
#include "driver_structures.h"
#include "driver_table.h"
#include "texts.h"

namespace km::fuzz {
namespace {

using namespace driver;  // NOLINT: its names are the point

#include "generated/driver_calls.inc"

struct Rare {
  const char* part;  // of the name
  unsigned one_in;
};
constexpr Rare kRare[] = {
    {"cuModuleLoad", 30},       {"cuLibraryLoad", 30},   {"cuLinkComplete", 30},
    {"cuLinkAdd", 10},          {"cuCtxCreate", 20},     {"cuCtxDestroy", 20},
    {"cuGLCtxCreate", 20},      {"cuCtxDetach", 20},     {"PrimaryCtxReset", 60},
    {"PrimaryCtxRelease", 60},  {"cuCtxSetLimit", 10},   {"cuCtxSetCurrent", 4},
    {"cuCtxPopCurrent", 6},     {"WaitValue", 10},       {"cuStreamBatchMemOp", 4},
    {"AddChildGraphNode", 4},   {"cuCtxSynchronize", 4}, {"cuLogsRegister", 20},
    {"cuMemAddressReserve", 4}, {"cuCoredump", 4},       {"cuInit", 4},
    {"cuThreadExchange", 4},
};
constexpr Maker kMakers[] = {
    {k_CUcontext, "cuCtxCreate_v2", 3},
    {k_CUstream, "cuStreamCreate", 2},
    {k_CUevent, "cuEventCreate", 2},
    {k_CUmodule, "cuModuleLoadData", 1},
    {k_CUfunction, "cuModuleGetFunction", 4},
    {k_CUlibrary, "cuLibraryLoadData", 1},
    {k_CUkernel, "cuLibraryGetKernel", 2},
    {k_CUgraph, "cuGraphCreate", 2},
    {k_CUgraphNode, "cuGraphAddKernelNode_v2", 2},
    {k_CUgraphExec, "cuGraphInstantiateWithFlags", 1},
    {k_CUmemoryPool, "cuMemPoolCreate", 1},
    {k_CUlinkState, "cuLinkCreate_v2", 1},
    {k_CUuserObject, "cuUserObjectCreate", 1},
    {k_CUmemGenericAllocationHandle, "cuMemCreate", 1},
    {k_CUgraphConditionalHandle, "cuGraphConditionalHandleCreate", 1},
    {kHostPointer, "cuMemAllocHost_v2", 1},
};
struct Ender {
  HandleType type;
  const char* function;
};
// In the order in which handles are ended.
constexpr Ender kEnders[] = {
    {k_CUgraphExec, "cuGraphExecDestroy"},
    {k_CUgraph, "cuGraphDestroy"},
    {k_CUuserObject, "cuUserObjectRelease"},
    {k_CUlinkState, "cuLinkDestroy"},
    {k_CUevent, "cuEventDestroy_v2"},
    {k_CUstream, "cuStreamDestroy_v2"},
    {k_CUmodule, "cuModuleUnload"},
    {k_CUlibrary, "cuLibraryUnload"},
    {k_CUmemoryPool, "cuMemPoolDestroy"},
    {k_CUmemGenericAllocationHandle, "cuMemRelease"},
    {k_CUlogsCallbackHandle, "cuLogsUnregisterCallback"},
    {k_CUasyncCallbackHandle, "cuDeviceUnregisterAsyncNotification"},
    {kHostPointer, "cuMemFreeHost"},
    {k_CUcontext, "cuCtxDestroy_v2"},
};
const Script kScripts[] = {
    {"cuStreamCreate", "cuStreamBeginCapture_v2", "cuLaunchKernel", "cuMemcpyHtoDAsync_v2",
     "cuLaunchHostFunc", "cuMemsetD32Async", "cuMemAllocAsync", "cuMemFreeAsync",
     "cuStreamGetCaptureInfo_v3", "cuStreamEndCapture", "cuGraphInstantiateWithFlags",
     "cuGraphLaunch", "cuGraphLaunch", "cuStreamSynchronize"},
    {"cuStreamCreate", "cuStreamBeginCapture_v2", "cuEventRecord", "cuMemcpyAsync",
     "cuStreamSynchronize", "cuLaunchKernelEx", "cuStreamEndCapture"},
    {"cuGraphCreate", "cuGraphAddKernelNode_v2", "cuGraphKernelNodeSetParams_v2",
     "cuGraphKernelNodeGetParams_v2", "cuGraphAddMemcpyNode", "cuGraphMemcpyNodeSetParams",
     "cuGraphAddMemsetNode", "cuGraphMemsetNodeSetParams", "cuGraphAddHostNode",
     "cuGraphHostNodeSetParams", "cuGraphInstantiateWithFlags", "cuGraphExecHostNodeSetParams",
     "cuGraphNodeSetEnabled", "cuGraphLaunch", "cuGraphExecUpdate_v2", "cuGraphLaunch"},
    {"cuGraphCreate", "cuGraphAddNode_v2", "cuGraphNodeSetParams", "cuGraphAddNode",
     "cuGraphAddMemAllocNode", "cuGraphAddMemFreeNode", "cuGraphAddBatchMemOpNode",
     "cuGraphAddEventRecordNode", "cuGraphAddEventWaitNode", "cuGraphClone",
     "cuGraphNodeFindInClone", "cuGraphInstantiateWithParams", "cuGraphUpload", "cuGraphLaunch"},
    {"cuGraphCreate", "cuGraphConditionalHandleCreate", "cuGraphAddNode_v2",
     "cuGraphAddChildGraphNode", "cuGraphGetNodes", "cuGraphGetEdges_v2",
     "cuGraphInstantiateWithFlags", "cuGraphLaunch"},
    {"cuMemCreate", "cuMemAddressReserve", "cuMemMap", "cuMemSetAccess", "cuMemsetD8_v2",
     "cuMemcpyDtoH_v2", "cuMemUnmap", "cuMemAddressFree", "cuMemRelease"},
    {"cuMemPoolCreate", "cuMemPoolSetAttribute", "cuMemAllocFromPoolAsync", "cuMemPoolTrimTo",
     "cuMemFreeAsync", "cuMemPoolDestroy"},
    {"cuLinkCreate_v2", "cuLinkAddData_v2", "cuLinkComplete", "cuLinkDestroy"},
    {"cuMemHostRegister_v2", "cuMemHostGetDevicePointer_v2", "cuMemcpyHtoD_v2", "cuMemHostGetFlags",
     "cuMemHostUnregister"},
    {"cuModuleLoadData", "cuModuleGetFunction", "cuFuncSetBlockShape", "cuParamSetSize",
     "cuParamSetv", "cuParamSeti", "cuLaunchGrid", "cuLaunch"},
    {"cuLibraryLoadData", "cuLibraryGetKernel", "cuKernelGetFunction", "cuLaunchKernel",
     "cuLibraryGetModule", "cuLibraryGetGlobal", "cuLibraryUnload"},
    {"cuUserObjectCreate", "cuGraphRetainUserObject", "cuUserObjectRetain", "cuGraphClone",
     "cuUserObjectRelease", "cuGraphReleaseUserObject"},
};

bool has_part(const Row& row, const char* part) { return std::strstr(row.name, part) != nullptr; }
bool begins(const Row& row, const char* part) {
  return std::strncmp(row.name, part, std::strlen(part)) == 0;
}

uint64_t choice_of(void* user_data) { return reinterpret_cast<uint64_t>(user_data); }  // NOLINT
void host_function(void* user_data) { call_in_callback(choice_of(user_data)); }
void stream_callback(CUstream, CUresult, void* user_data) {
  call_in_callback(choice_of(user_data));
}
size_t shared_bytes(int block_threads) { return static_cast<size_t>(block_threads) % 64; }
void log_callback(void* user_data, CUlogLevel, char*, size_t) {
  call_in_callback(choice_of(user_data));
}
void plain_callback() {}

template <class Function>
Word word_of(Function* function) {
  return reinterpret_cast<Word>(function);  // NOLINT: words hold anything
}

unsigned find_rarity(const Row& row) {
  for (const Rare& rare : kRare) {
    if (has_part(row, rare.part)) return rare.one_in;
  }
  return 1;
}

class DriverApi final : public Api {
 public:
  DriverApi()
      : Api({kRows, kEnumerations, kHandleTypeCount, kMakers, kScripts, k_CUgraph, k_CUgraphNode,
             find_rarity}) {}

  Grouping grouping(size_t type) const override {
    if (type == k_CUcontext) return Grouping::kBegins;
    const bool is_free = type == k_CUlibrary || type == k_CUkernel || type == k_CUmemoryPool ||
                         type == k_CUuserObject || type == k_CUmemGenericAllocationHandle ||
                         type == k_CUlogsCallbackHandle || type == k_CUlinkState;
    return is_free ? Grouping::kNone : Grouping::kInherits;
  }
  size_t most_handles(size_t type) const override {
    if (type == k_CUcontext) return 4;
    if (type == k_CUlogsCallbackHandle) return 2;
    return grouping(type) == Grouping::kNone ? 6 : 32;
  }
  std::vector<std::string> environment(uint64_t round) const override;

  uint32_t current_group(Shared& shared) const override;
  void enter_group(uint32_t group, Shared& shared) override;
  uint64_t size_of_new(const Row& row, const Word* words) const override;
  void note_new(size_t, const PoolEntry&, Values&) override {}

  void fill(const Row& row, const Parameter& parameter, Values& values, void* memory,
            size_t count) override;
  std::optional<Word> pointer_instead(const Row& row, const Parameter& parameter,
                                      Values& values) override;
  Word callback(int16_t type, Values& values) override;
  void call_in_child() override { cuCtxSynchronize(); }
  void adjust(const Row& row, Values& values, Word* words) override;

  bool bounds_host_memory(const Row& row) const override { return begins(row, "cuMemcpy"); }
  bool has_failed(int64_t result) const override {
    return result != CUDA_SUCCESS && result != CUDA_ERROR_NOT_READY;
  }
  bool leaves_outputs(int64_t) const override { return false; }  // nobody promises it
  std::string defect(const Row& row, int64_t result) const override;
  bool ends_handle(const Row& row) const override {
    return has_part(row, "Destroy") || has_part(row, "Unload") || begins(row, "cuMemRelease") ||
           begins(row, "cuCtxDetach") || begins(row, "cuUserObjectRelease") ||
           has_part(row, "Unregister");
  }
  bool ends_address(const Row& row) const override {
    return begins(row, "cuMemFree") || begins(row, "cuMemAddressFree");
  }
  bool takes_host_addresses(const Row& row) const override { return begins(row, "cuMemcpy"); }
  bool ends_group(const Row& row) const override { return begins(row, "cuCtxDestroy"); }
  std::vector<uint32_t> repair(Values& values) override;
  void release(size_t type, Word handle) override;
  void release_address(const PoolEntry& entry) override;
  void release_all(Shared& shared) override;

  uint64_t allocated() const override { return 0; }  // it has malloc's
  void begin_thread(Values& values) override;
  std::vector<uint32_t> rescue(Shared& shared) override;
  void fail_allocation(uint64_t after) override { fail_malloc(after); }
};

std::vector<std::string> DriverApi::environment(uint64_t round) const {
  constexpr const char* kIsas[] = {KM_FUZZ_ISAS};
  constexpr const char* kModes[] = {"a", "a", "b", "c"};
  return {std::string("KM_LOG=") + (round % 8 == 7 ? "debug" : "off"),
          "KM_LOG_FILE=/dev/null",
          "KM_CPU_DEVICES=2",
          "KM_CPU_THREADS=" + std::to_string(2 + round % 3),
          "KM_CPU_MEMORY=checked",
          "KM_CPU_MEMORY_MIB=512",
          "KM_KERNEL_TIMEOUT_MS=400",
          std::string("KM_CPU_MODE=") + kModes[round % 4],
          std::string("KM_CPU_ISA=") + kIsas[round % 2]};
}

std::string DriverApi::defect(const Row&, int64_t result) const {
  if (result == CUDA_ERROR_UNKNOWN) return "CUDA_ERROR_UNKNOWN says nothing";
  const Enumeration& results = kEnumerations[kEnum_CUresult];
  for (size_t i = 0; i < results.count; ++i) {
    if (results.values[i] == result) return "";
  }
  return "no result of CUDA";
}

uint32_t DriverApi::current_group(Shared& shared) const {
  CUcontext context = nullptr;
  if (cuCtxGetCurrent(&context) != CUDA_SUCCESS) return 0;
  return shared.handles[k_CUcontext].group_of(word_of(context));
}

void DriverApi::enter_group(uint32_t group, Shared& shared) {
  for (const Word word : shared.handles[k_CUcontext].all()) {
    if (shared.handles[k_CUcontext].group_of(word) == group) {
      cuCtxSetCurrent(from_word<CUcontext>(word));
    }
  }
}

uint64_t DriverApi::size_of_new(const Row& row, const Word* words) const {
  for (size_t i = 0; i < row.parameter_count; ++i) {
    const bool is_size =
        row.parameters[i].kind == Kind::kNumber && row.parameters[i].detail == kSize;
    if (is_size) return words[i];
  }
  return 256;
}

void DriverApi::fill(const Row&, const Parameter& parameter, Values& values, void* memory,
                     size_t count) {
  fill_structures(static_cast<InputType>(parameter.detail), values, {word_of(host_function)},
                  memory, count, parameter.size_bytes);
}

std::optional<Word> DriverApi::pointer_instead(const Row& row, const Parameter& parameter,
                                               Values& values) {
  const bool is_input = parameter.kind == Kind::kInput;
  if (is_input && parameter.detail == kLaunchExtra && !values.random.one_in(12)) return 0;
  const bool is_host = parameter.kind == Kind::kPages && !has_part(row, "HostRegister");
  if (is_host && values.random.one_in(2)) return values.handle(kHostPointer, values.is_wrong());
  return std::nullopt;
}

Word DriverApi::callback(int16_t type, Values&) {
  switch (type) {
    case k_CUhostFn:
      return word_of(host_function);
    case k_CUstreamCallback:
      return word_of(stream_callback);
    case k_CUoccupancyB2DSize:
      return word_of(shared_bytes);
    case k_CUlogsCallback:
      return word_of(log_callback);
    default:
      return word_of(plain_callback);
  }
}

void DriverApi::adjust(const Row& row, Values& values, Word* words) {
  allow_link_outputs(!begins(row, "cuLinkCreate"));
  constexpr Word kDefaultStreams = 3;  // none, legacy, per thread
  for (size_t i = 0; i < row.parameter_count; ++i) {
    const Parameter& parameter = row.parameters[i];
    const bool is_stream = parameter.kind == Kind::kHandle && parameter.detail == k_CUstream;
    if (is_stream && !has_part(row, "Capture") && !has_part(row, "Destroy") &&
        values.random.one_in(5)) {
      words[i] = values.random.below(kDefaultStreams);
    }
  }
  // What nobody could end is no error of the library.
  if (begins(row, "cuStreamWaitValue")) {
    words[1] = wait_address(values);
    words[2] = values.random.one_in(8) ? values.random.between(1, 3) : 0;
    words[3] = values.random.below(2);
  }
  if (begins(row, "cuMemAlloc") && !values.is_wrong()) {
    for (size_t i = 0; i < row.parameter_count; ++i) {
      const bool is_size =
          row.parameters[i].kind == Kind::kNumber && row.parameters[i].detail == kSize;
      if (is_size) words[i] = values.random.between(4096, 65536);
    }
  }
  const bool is_virtual = begins(row, "cuMemCreate") || begins(row, "cuMemAddressReserve") ||
                          begins(row, "cuMemMap") || begins(row, "cuMemSetAccess") ||
                          begins(row, "cuMemUnmap");
  for (size_t i = 0; is_virtual && i < row.parameter_count; ++i) {
    const Parameter& parameter = row.parameters[i];
    if (parameter.kind != Kind::kNumber || values.is_wrong()) continue;
    words[i] = parameter.detail == kSize ? 2ull << 20 : 0;
  }
}

/// Whether a context works no more until it is made again.
bool is_sticky(CUresult result) {
  return result == CUDA_ERROR_ILLEGAL_ADDRESS || result == CUDA_ERROR_LAUNCH_TIMEOUT ||
         (result >= CUDA_ERROR_ASSERT && result <= CUDA_ERROR_LAUNCH_FAILED);
}

std::vector<uint32_t> DriverApi::repair(Values& values) {
  std::vector<uint32_t> ended;
  Pool& contexts = values.shared().handles[k_CUcontext];
  for (const Word word : contexts.all()) {
    const auto context = from_word<CUcontext>(word);
    unsigned version = 0;
    const bool lives = cuCtxGetApiVersion(context, &version) == CUDA_SUCCESS;
    if (lives) {
      cuCtxSetCurrent(context);
      if (!is_sticky(cuStreamQuery(nullptr)) || !values.random.one_in(3)) continue;
      CUdevice device = 0;
      const bool is_own = cuCtxDestroy_v2(context) == CUDA_SUCCESS;
      if (!is_own && cuCtxGetDevice(&device) == CUDA_SUCCESS) cuDevicePrimaryCtxReset_v2(device);
    }
    ended.push_back(contexts.group_of(word));
    contexts.end(word);
  }
  const std::vector<Word> all = contexts.all();
  if (!all.empty()) {
    cuCtxSetCurrent(from_word<CUcontext>(all[values.random.below(all.size())]));
  }
  begin_thread(values);
  return ended;
}

void DriverApi::begin_thread(Values& values) {
  cuInit(0);
  constexpr unsigned kFlags = CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP;
  cuMemHostRegister_v2(values.shared().host.words(), kPageBytes, kFlags);
}

void DriverApi::release(size_t type, Word handle) {
  for (const Ender& ender : kEnders) {
    const Word words[kMostParameters] = {handle, 1};
    if (ender.type == static_cast<HandleType>(type)) {
      kRows[row_of(*this, ender.function)].call(words);
    }
  }
}

void DriverApi::release_address(const PoolEntry& entry) {
  if (cuMemFree_v2(entry.value) == CUDA_SUCCESS) return;
  cuMemUnmap(entry.value, entry.size_bytes);
  cuMemAddressFree(entry.value, entry.size_bytes);
}

void DriverApi::release_all(Shared& shared) {
  rescue(shared);
  for (const PoolEntry& entry : shared.addresses.take_all()) release_address(entry);
  for (const Ender& ender : kEnders) {
    for (Pool* const pool : {&shared.handles[ender.type], &shared.lost[ender.type]}) {
      for (const PoolEntry& entry : pool->take_all()) release(ender.type, entry.value);
    }
  }
  for (Pool& pool : shared.handles) pool.take_all();
  int count = 0;
  cuDeviceGetCount(&count);
  for (CUdevice device = 0; device < count; ++device) cuDevicePrimaryCtxReset_v2(device);
  cuCtxSetCurrent(nullptr);
}

std::vector<uint32_t> DriverApi::rescue(Shared& shared) {
  // All numbers that waits of ours wait for, in turn.
  constexpr uint64_t kNumbers[] = {3, 2, 1, 0};
  constexpr unsigned kPauseUs = 20'000;
  for (const uint64_t number : kNumbers) {
    for (size_t i = 0; i < kPageBytes / sizeof number; ++i) {
      __atomic_store_n(shared.host.words() + i, number, __ATOMIC_RELEASE);
    }
    usleep(kPauseUs);
  }
  return {};
}

}  // namespace

std::unique_ptr<Api> make_api() { return std::make_unique<DriverApi>(); }

}  // namespace km::fuzz
