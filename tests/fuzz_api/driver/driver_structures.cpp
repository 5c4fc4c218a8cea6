#include "driver_structures.h"

#include "driver_table.h"

namespace km::fuzz::driver {
namespace {

unsigned narrow(Word word) { return static_cast<unsigned>(word); }

template <class Handle>
Handle draw_handle(Values& values, HandleType type) {
  return from_word<Handle>(values.handle(static_cast<size_t>(type), values.is_wrong()));
}
CUstream draw_stream(Values& values) {
  if (values.random.one_in(4)) return from_word<CUstream>(values.random.below(3));
  return draw_handle<CUstream>(values, k_CUstream);
}
CUcontext draw_context(Values& values) {
  return values.random.one_in(2) ? nullptr : draw_handle<CUcontext>(values, k_CUcontext);
}
template <class Number>
Number draw_number(Values& values, NumberClass kind) {
  return static_cast<Number>(values.number(kind, values.is_wrong()));
}
unsigned draw_dimension(Values& values) { return draw_number<unsigned>(values, kDimension); }

template <class Structure>
Structure* in_call(Values& values, size_t count, const Structure& first) {
  auto* const memory = static_cast<Structure*>(values.memory().take(count * sizeof first));
  for (size_t i = 0; memory != nullptr && i < count; ++i) memory[i] = first;
  return memory;
}

CUmemLocation draw_location(Values& values) {
  CUmemLocation location{CU_MEM_LOCATION_TYPE_DEVICE, 0};
  location.id = draw_number<int>(values, kDevice);
  if (values.is_wrong()) location.type = draw_number<int>(values, kIndex);
  return location;
}

// One side of a copy. The host's memory has a megabyte, and what is copied has less.
template <class Structure, class Address>
void draw_source(Values& values, Structure& copy, bool host_type) {
  copy.srcMemoryType = CU_MEMORYTYPE_DEVICE;
  if (values.random.one_in(3)) copy.srcMemoryType = CU_MEMORYTYPE_HOST;
  if (host_type && values.random.one_in(6)) copy.srcMemoryType = CU_MEMORYTYPE_UNIFIED;
  if (values.is_wrong()) copy.srcMemoryType = draw_number<int>(values, kIndex);
  copy.srcHost = values.shared().host.data(HostMemory::kDataBytes);
  copy.srcDevice = static_cast<Address>(values.address(values.is_wrong()));
  copy.srcXInBytes = values.random.below(16);
  copy.srcY = values.random.below(3);
  copy.srcPitch = values.random.one_in(3) ? 0 : 80 + values.random.below(64);
}
template <class Structure, class Address>
void draw_destination(Values& values, Structure& copy, bool host_type) {
  copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  if (values.random.one_in(3)) copy.dstMemoryType = CU_MEMORYTYPE_HOST;
  if (host_type && values.random.one_in(6)) copy.dstMemoryType = CU_MEMORYTYPE_UNIFIED;
  if (values.is_wrong()) copy.dstMemoryType = draw_number<int>(values, kIndex);
  copy.dstHost = values.shared().host.data(HostMemory::kDataBytes);
  copy.dstDevice = static_cast<Address>(values.address(values.is_wrong()));
  copy.dstXInBytes = values.random.below(16);
  copy.dstY = values.random.below(3);
  copy.dstPitch = values.random.one_in(3) ? 0 : 80 + values.random.below(64);
}
template <class Structure>
void break_device_sides(Values& values, Structure& copy) {
  const auto bent = [&] { return draw_number<decltype(copy.srcPitch)>(values, kSize); };
  if (copy.srcMemoryType == CU_MEMORYTYPE_DEVICE && values.is_wrong()) copy.srcPitch = bent();
  if (copy.dstMemoryType == CU_MEMORYTYPE_DEVICE && values.is_wrong()) copy.dstPitch = bent();
  if (copy.srcMemoryType == CU_MEMORYTYPE_DEVICE && values.is_wrong()) {
    copy.srcXInBytes = static_cast<decltype(copy.srcXInBytes)>(values.edge());
  }
  if (copy.dstMemoryType == CU_MEMORYTYPE_DEVICE && values.is_wrong()) {
    copy.dstY = static_cast<decltype(copy.dstY)>(values.edge());
  }
}

template <class Structure, class Address>
Structure draw_copy_2d(Values& values) {
  Structure copy{};
  draw_source<Structure, Address>(values, copy, true);
  draw_destination<Structure, Address>(values, copy, true);
  copy.WidthInBytes = values.random.below(64);
  copy.Height = values.random.below(8);
  break_device_sides(values, copy);
  return copy;
}
template <class Structure, class Address>
Structure draw_copy_3d(Values& values) {
  auto copy = draw_copy_2d<Structure, Address>(values);
  copy.srcHeight = values.random.one_in(2) ? 0 : 12 + values.random.below(4);
  copy.dstHeight = values.random.one_in(2) ? 0 : 12 + values.random.below(4);
  copy.srcZ = values.random.below(2);
  copy.dstZ = values.random.below(2);
  copy.Depth = values.random.between(1, 3);
  if (values.is_wrong()) copy.srcLOD = 1;
  return copy;
}
CUDA_MEMCPY3D_PEER draw_copy_peer(Values& values) {
  auto copy = draw_copy_3d<CUDA_MEMCPY3D_PEER, CUdeviceptr>(values);
  copy.srcContext = draw_context(values);
  copy.dstContext = draw_context(values);
  return copy;
}

template <class Structure>
Structure draw_kernel(Values& values) {
  Structure kernel{};
  kernel.func = draw_handle<CUfunction>(values, k_CUfunction);
  kernel.gridDimX = draw_dimension(values);
  kernel.gridDimY = draw_dimension(values);
  kernel.gridDimZ = 1;
  kernel.blockDimX = draw_dimension(values);
  kernel.blockDimY = draw_dimension(values);
  kernel.blockDimZ = 1;
  kernel.sharedMemBytes = draw_number<unsigned>(values, kSharedSize);
  kernel.kernelParams = values.is_wrong() ? nullptr : kernel_arguments(values);
  return kernel;
}
CUDA_KERNEL_NODE_PARAMS draw_kernel_v2(Values& values) {
  auto kernel = draw_kernel<CUDA_KERNEL_NODE_PARAMS>(values);
  if (values.random.one_in(4)) {
    kernel.func = nullptr;
    kernel.kern = draw_handle<CUkernel>(values, k_CUkernel);
  }
  kernel.ctx = draw_context(values);
  return kernel;
}
CUDA_LAUNCH_PARAMS draw_launch(Values& values) {
  const auto kernel = draw_kernel<CUDA_KERNEL_NODE_PARAMS_v1>(values);
  return {kernel.func,         kernel.gridDimX,    kernel.gridDimY,  kernel.gridDimZ,
          kernel.blockDimX,    kernel.blockDimY,   kernel.blockDimZ, kernel.sharedMemBytes,
          draw_stream(values), kernel.kernelParams};
}

template <class Structure>
Structure draw_memset(Values& values) {
  Structure memset{};
  memset.dst = values.address(values.is_wrong());
  memset.pitch = draw_number<size_t>(values, kSize);
  memset.value = narrow(values.any());
  memset.elementSize = draw_number<unsigned>(values, kElementSize);
  memset.width = draw_number<size_t>(values, kCount);
  memset.height = values.random.one_in(2) ? 1 : draw_number<size_t>(values, kCount);
  return memset;
}
CUDA_MEMSET_NODE_PARAMS_v2 draw_memset_v2(Values& values) {
  auto memset = draw_memset<CUDA_MEMSET_NODE_PARAMS_v2>(values);
  memset.ctx = draw_context(values);
  return memset;
}

CUlaunchAttributeValue draw_attribute_value(Values& values) {
  CUlaunchAttributeValue value{};
  switch (values.random.below(4)) {
    case 0:
      value.cooperative = draw_number<int>(values, kFlagBits);
      break;
    case 1:
      value.clusterDim = {draw_dimension(values), draw_dimension(values), 1};
      break;
    case 2:
      value.launchCompletionEvent = {draw_handle<CUevent>(values, k_CUevent),
                                     draw_number<int>(values, kFlagBits)};
      break;
    default:
      value.priority = draw_number<int>(values, kPriority);
  }
  return value;
}
CUlaunchAttribute draw_attribute(Values& values) {
  CUlaunchAttribute attribute{};
  attribute.id = static_cast<int>(
      values.enumerator(kEnumerations[kEnum_CUlaunchAttributeID], values.is_wrong()));
  attribute.value = draw_attribute_value(values);
  return attribute;
}
CUlaunchConfig draw_config(Values& values) {
  CUlaunchConfig config{};
  config.gridDimX = draw_dimension(values);
  config.gridDimY = draw_dimension(values);
  config.gridDimZ = 1;
  config.blockDimX = draw_dimension(values);
  config.blockDimY = draw_dimension(values);
  config.blockDimZ = 1;
  config.sharedMemBytes = draw_number<unsigned>(values, kSharedSize);
  config.hStream = draw_stream(values);
  config.numAttrs = values.random.one_in(2) ? 0 : narrow(values.random.below(4));
  if (config.numAttrs != 0) {
    config.attrs = in_call(values, config.numAttrs, draw_attribute(values));
    if (config.attrs == nullptr) config.numAttrs = 0;
  }
  return config;
}

CUstreamBatchMemOpParams draw_memory_op(Values& values) {
  CUstreamBatchMemOpParams op{};
  constexpr int kKinds[] = {CU_STREAM_MEM_OP_WAIT_VALUE_32,
                            CU_STREAM_MEM_OP_WRITE_VALUE_32,
                            CU_STREAM_MEM_OP_WAIT_VALUE_64,
                            CU_STREAM_MEM_OP_WRITE_VALUE_64,
                            CU_STREAM_MEM_OP_BARRIER,
                            CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES,
                            77};
  op.operation = values.random.pick(kKinds);
  const bool is_wait = op.operation == CU_STREAM_MEM_OP_WAIT_VALUE_32 ||
                       op.operation == CU_STREAM_MEM_OP_WAIT_VALUE_64;
  op.memory.address = is_wait ? wait_address(values) : values.address(values.is_wrong());
  op.memory.value = is_wait ? values.random.below(3) : values.any() >> values.random.below(64);
  op.memory.flags =
      is_wait ? narrow(values.random.below(2)) : draw_number<unsigned>(values, kFlagBits);
  return op;
}
CUDA_BATCH_MEM_OP_NODE_PARAMS draw_memory_ops(Values& values) {
  CUDA_BATCH_MEM_OP_NODE_PARAMS batch{};
  batch.ctx = draw_context(values);
  batch.count = narrow(values.random.below(4));
  batch.paramArray = in_call(values, batch.count, draw_memory_op(values));
  if (batch.paramArray == nullptr) batch.count = 0;
  batch.flags = draw_number<unsigned>(values, kFlagBits);
  return batch;
}

CUmemPoolProps draw_pool(Values& values) {
  CUmemPoolProps pool{};
  pool.allocType = values.is_wrong() ? 0 : CU_MEM_ALLOCATION_TYPE_PINNED;
  pool.handleTypes = values.is_wrong() ? 1 : 0;
  pool.location = draw_location(values);
  pool.maxSize = values.random.one_in(2) ? 0 : draw_number<size_t>(values, kSize) * 4096;
  return pool;
}
CUmemAllocationProp draw_allocation(Values& values) {
  CUmemAllocationProp allocation{};
  allocation.type = values.is_wrong() ? 0 : CU_MEM_ALLOCATION_TYPE_PINNED;
  allocation.requestedHandleTypes = values.is_wrong() ? 1 : 0;
  allocation.location = draw_location(values);
  return allocation;
}
CUmemAccessDesc draw_access(Values& values) {
  return {draw_location(values), values.is_wrong() ? 2 : CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
}
CUDA_MEM_ALLOC_NODE_PARAMS draw_alloc_node(Values& values) {
  CUDA_MEM_ALLOC_NODE_PARAMS node{};
  node.poolProps = draw_pool(values);
  node.accessDescCount = values.random.below(2);
  if (node.accessDescCount != 0) node.accessDescs = in_call(values, 1, draw_access(values));
  node.bytesize = draw_number<size_t>(values, kSize);
  return node;
}
CUDA_HOST_NODE_PARAMS draw_host(Values& values, const Callbacks& callbacks) {
  const Word function = values.is_wrong() ? 0 : callbacks.host_function;
  return {from_word<CUhostFn>(function), from_word<void*>(values.any())};
}

CUDA_GRAPH_INSTANTIATE_PARAMS draw_instantiation(Values& values) {
  CUDA_GRAPH_INSTANTIATE_PARAMS parameters{};
  parameters.flags = draw_number<uint64_t>(values, kFlagBits);
  parameters.hUploadStream = draw_stream(values);
  return parameters;
}

CUmemcpyAttributes draw_copy_attributes(Values& values) {
  CUmemcpyAttributes attributes{};
  attributes.srcAccessOrder = draw_number<int>(values, kIndex);
  attributes.srcLocHint = draw_location(values);
  attributes.dstLocHint = draw_location(values);
  attributes.flags = draw_number<unsigned>(values, kFlagBits);
  return attributes;
}
CUmemcpy3DOperand draw_operand(Values& values) {
  CUmemcpy3DOperand operand{};
  operand.type =
      values.is_wrong() ? draw_number<int>(values, kIndex) : CU_MEMCPY_OPERAND_TYPE_POINTER;
  operand.op.ptr.ptr = values.address(values.is_wrong());
  operand.op.ptr.rowLength = values.random.one_in(2) ? 0 : 64 + values.random.below(32);
  operand.op.ptr.layerHeight = values.random.one_in(2) ? 0 : 8 + values.random.below(8);
  operand.op.ptr.locHint = draw_location(values);
  return operand;
}
CUDA_MEMCPY3D_BATCH_OP draw_batch_copy(Values& values) {
  CUDA_MEMCPY3D_BATCH_OP op{};
  op.src = draw_operand(values);
  op.dst = draw_operand(values);
  op.extent = {values.random.below(64), values.random.below(8), values.random.below(3)};
  op.srcAccessOrder = draw_number<int>(values, kIndex);
  op.flags = draw_number<unsigned>(values, kFlagBits);
  return op;
}

CUDA_CONDITIONAL_NODE_PARAMS draw_conditional(Values& values) {
  CUDA_CONDITIONAL_NODE_PARAMS node{};
  node.handle = values.handle(k_CUgraphConditionalHandle, values.is_wrong());
  // Bodies that nobody ends go round for ever: only what runs once.
  node.type = CU_GRAPH_COND_TYPE_IF;
  node.size = draw_number<unsigned>(values, kIndex);
  node.ctx = draw_context(values);
  return node;
}

CUgraphNodeParams draw_node(Values& values, const Callbacks& callbacks) {
  CUgraphNodeParams node{};
  node.type =
      static_cast<int>(values.enumerator(kEnumerations[kEnum_CUgraphNodeType], values.is_wrong()));
  switch (node.type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
      node.kernel = draw_kernel_v2(values);
      break;
    case CU_GRAPH_NODE_TYPE_MEMCPY:
      node.memcpy.copyParams = draw_copy_3d<CUDA_MEMCPY3D, CUdeviceptr>(values);
      node.memcpy.copyCtx = draw_context(values);
      break;
    case CU_GRAPH_NODE_TYPE_MEMSET:
      node.memset = draw_memset_v2(values);
      break;
    case CU_GRAPH_NODE_TYPE_HOST: {
      const CUDA_HOST_NODE_PARAMS host = draw_host(values, callbacks);
      node.host = {host.fn, host.userData, draw_number<unsigned>(values, kFlagBits),
                   draw_context(values)};
      break;
    }
    case CU_GRAPH_NODE_TYPE_GRAPH:
      node.graph = {draw_handle<CUgraph>(values, k_CUgraph), draw_number<int>(values, kFlagBits)};
      break;
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
      node.eventWait = {draw_handle<CUevent>(values, k_CUevent)};
      break;
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
      node.eventRecord = {draw_handle<CUevent>(values, k_CUevent), draw_context(values)};
      break;
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC:
      node.alloc = draw_alloc_node(values);
      break;
    case CU_GRAPH_NODE_TYPE_MEM_FREE:
      node.free = {values.address(values.is_wrong())};
      break;
    case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP:
      node.memOp = draw_memory_ops(values);
      break;
    case CU_GRAPH_NODE_TYPE_CONDITIONAL:
      node.conditional = draw_conditional(values);
      break;
    default:
      break;
  }
  return node;
}

thread_local int t_options[512];
// The options of a link are written as long as it lives, which is longer than a call's memory.
thread_local bool t_outputs_allowed = true;

void fill_options(Values& values, int* memory, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    memory[i] = static_cast<int>(values.random.below(CU_JIT_NUM_OPTIONS + 2));
    const bool is_output =
        memory[i] == CU_JIT_WALL_TIME ||
        (memory[i] >= CU_JIT_INFO_LOG_BUFFER && memory[i] <= CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES);
    if (is_output && !t_outputs_allowed) memory[i] = CU_JIT_OPTIMIZATION_LEVEL;
    t_options[i % 512] = memory[i];
  }
}
/// Values for the options that were drawn last: buffers are as long as the option beside says.
void fill_option_values(Values& values, Word* memory, size_t count) {
  constexpr Word kBufferBytes = 4096;
  for (size_t i = 0; i < count; ++i) {
    switch (t_options[i % 512]) {
      case CU_JIT_INFO_LOG_BUFFER:
      case CU_JIT_ERROR_LOG_BUFFER:
        memory[i] = reinterpret_cast<Word>(values.shared().host.data(kBufferBytes));
        break;
      case CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES:
      case CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES:
        memory[i] = values.random.below(kBufferBytes + 1);
        break;
      case CU_JIT_GLOBAL_SYMBOL_NAMES:
      case CU_JIT_GLOBAL_SYMBOL_ADDRESSES:
      case CU_JIT_GLOBAL_SYMBOL_COUNT:
      case CU_JIT_REFERENCED_KERNEL_NAMES:
      case CU_JIT_REFERENCED_KERNEL_COUNT:
      case CU_JIT_REFERENCED_VARIABLE_NAMES:
      case CU_JIT_REFERENCED_VARIABLE_COUNT:
        memory[i] = 0;
        break;
      default:
        memory[i] = values.number(kAnyNumber, false);
    }
  }
}

/// The older form of passing arguments: a buffer and its size.
void fill_extra(Values& values, void** memory) {
  const size_t size_bytes = values.random.one_in(4) ? values.random.below(64) : 20;
  auto* const buffer = static_cast<uint8_t*>(values.memory().take(size_bytes));
  for (size_t at = 0; at + 8 <= size_bytes; at += 8) {
    const Word word = at == 16 ? values.random.below(64) : values.address(values.is_wrong());
    std::memcpy(buffer + at, &word, sizeof word);
  }
  memory[0] = from_word<void*>(CU_LAUNCH_PARAM_BUFFER_POINTER);
  memory[1] = buffer;
  memory[2] = from_word<void*>(CU_LAUNCH_PARAM_BUFFER_SIZE);
  memory[3] = in_call(values, 1, size_bytes);
  memory[4] = from_word<void*>(CU_LAUNCH_PARAM_END);
}

/// What structures without a builder of their own get: numbers that are no addresses.
void fill_numbers(Values& values, uint8_t* memory, size_t size_bytes) {
  std::memset(memory, 0, size_bytes);
  for (size_t at = 0; at + 4 <= size_bytes; at += 4) {
    if (!values.random.one_in(4)) continue;
    const uint32_t small = narrow(values.random.below(9));
    std::memcpy(memory + at, &small, sizeof small);
  }
}

template <class Draw>
void fill_each(void* memory, size_t count, Draw&& draw) {
  for (size_t i = 0; i < count; ++i) {
    const auto structure = draw();
    std::memcpy(static_cast<uint8_t*>(memory) + i * sizeof structure, &structure, sizeof structure);
  }
}

bool fill_array(InputType type, Values& values, void* memory, size_t count) {
  switch (type) {
    case kSizes:
      fill_each(memory, count, [&] {
        return values.random.one_in(2) ? values.random.below(3) : values.random.below(256);
      });
      return true;
    case kJitOptions:
      fill_options(values, static_cast<int*>(memory), count);
      return true;
    case kLibraryOptions:
      fill_each(memory, count, [&] { return static_cast<int>(values.random.between(1, 3)); });
      return true;
    case kJitValues:
      fill_option_values(values, static_cast<Word*>(memory), count);
      return true;
    case kKernelParams:
      std::memcpy(memory, kernel_arguments(values), 64);
      return true;
    case kLaunchExtra:
      fill_extra(values, static_cast<void**>(memory));
      return true;
    case kPointers:
      fill_each(memory, count, [&] { return values.memory().take(1024); });
      return true;
    default:
      return false;
  }
}

}  // namespace

void allow_link_outputs(bool allowed) { t_outputs_allowed = allowed; }

Word wait_address(Values& values) {
  uint64_t* const word = values.shared().host.words() + values.random.below(kPageBytes / 8);
  if (!values.is_wrong()) return reinterpret_cast<Word>(word);
  return values.random.one_in(2) ? reinterpret_cast<Word>(word) + values.random.between(1, 3) : 0;
}

void** kernel_arguments(Values& values) {
  constexpr size_t kCount = 8;
  auto* const words = static_cast<Word*>(values.memory().take(kCount * sizeof(Word)));
  auto** const pointers = static_cast<void**>(values.memory().take(kCount * sizeof(void*)));
  if (words == nullptr || pointers == nullptr) return nullptr;
  for (size_t i = 0; i < kCount; ++i) {
    words[i] = i < 2 ? values.address(values.is_wrong()) : values.random.below(64);
    pointers[i] = words + i;
  }
  return pointers;
}

void fill_structures(InputType type, Values& values, const Callbacks& callbacks, void* memory,
                     size_t count, size_t size_bytes) {
  if (fill_array(type, values, memory, count)) return;
  const auto fill = [&](auto&& draw) { fill_each(memory, count, [&] { return draw(values); }); };
  switch (type) {
    case k_CUDA_MEMCPY2D:
      return fill(draw_copy_2d<CUDA_MEMCPY2D, CUdeviceptr>);
    case k_CUDA_MEMCPY2D_v1:
      return fill(draw_copy_2d<CUDA_MEMCPY2D_v1, CUdeviceptr_v1>);
    case k_CUDA_MEMCPY3D:
      return fill(draw_copy_3d<CUDA_MEMCPY3D, CUdeviceptr>);
    case k_CUDA_MEMCPY3D_v1:
      return fill(draw_copy_3d<CUDA_MEMCPY3D_v1, CUdeviceptr_v1>);
    case k_CUDA_MEMCPY3D_PEER:
      return fill(draw_copy_peer);
    case k_CUDA_KERNEL_NODE_PARAMS_v1:
      return fill(draw_kernel<CUDA_KERNEL_NODE_PARAMS_v1>);
    case k_CUDA_KERNEL_NODE_PARAMS:
      return fill(draw_kernel_v2);
    case k_CUDA_LAUNCH_PARAMS:
      return fill(draw_launch);
    case k_CUDA_MEMSET_NODE_PARAMS:
      return fill(draw_memset<CUDA_MEMSET_NODE_PARAMS>);
    case k_CUDA_HOST_NODE_PARAMS:
      return fill([&](Values& each) { return draw_host(each, callbacks); });
    case k_CUDA_BATCH_MEM_OP_NODE_PARAMS:
      return fill(draw_memory_ops);
    case k_CUstreamBatchMemOpParams:
      return fill(draw_memory_op);
    case k_CUDA_MEM_ALLOC_NODE_PARAMS:
      return fill(draw_alloc_node);
    case k_CUDA_GRAPH_INSTANTIATE_PARAMS:
      return fill(draw_instantiation);
    case k_CUgraphNodeParams:
      return fill([&](Values& each) { return draw_node(each, callbacks); });
    case k_CUlaunchConfig:
      return fill(draw_config);
    case k_CUlaunchAttribute:
      return fill(draw_attribute);
    case k_CUlaunchAttributeValue:
    case k_CUkernelNodeAttrValue:
    case k_CUstreamAttrValue:
      return fill(draw_attribute_value);
    case k_CUmemPoolProps:
      return fill(draw_pool);
    case k_CUmemAllocationProp:
      return fill(draw_allocation);
    case k_CUmemAccessDesc:
      return fill(draw_access);
    case k_CUmemLocation:
      return fill(draw_location);
    case k_CUmemcpyAttributes:
      return fill(draw_copy_attributes);
    case k_CUDA_MEMCPY3D_BATCH_OP:
      return fill(draw_batch_copy);
    case k_CUctxCreateParams:
      return fill([](Values&) { return CUctxCreateParams{}; });
    default:
      fill_numbers(values, static_cast<uint8_t*>(memory), count * size_bytes);
  }
}

}  // namespace km::fuzz::driver
