// The driver's calls that write structures or read lists of the host: tensor maps, resources and
// green contexts, shared pools, launches by configurations.
#include <algorithm>

#include "cuda/driver.h"
#include "cuda/tensor_types.h"
#include "hostile.h"

namespace km::hostile {
namespace {

using namespace cu;  // NOLINT: its names are the point

constexpr char kPtx[] =
    ".version 7.8\n.target sm_90\n.address_size 64\n.visible .entry k() { ret; }\n";

/// Objects of the driver that the calls use.
struct Objects {
  CUdevice device = 0;
  CUcontext context = nullptr;
  CUstream stream = nullptr;
  CUfunction function = nullptr;
  CUmemoryPool pool = nullptr;
  CUdeviceptr shared = 0;
  CUdevResource resource{};
  CUdevResourceDesc resources = nullptr;
  CUgreenCtx green = nullptr;
};

Objects make_objects() {
  Objects made;
  CUmodule module = nullptr;
  EXPECT_EQ(cuInit(0), 0);
  EXPECT_EQ(cuDeviceGet(&made.device, 0), 0);
  EXPECT_EQ(cuDevicePrimaryCtxRetain(&made.context, made.device), 0);
  EXPECT_EQ(cuCtxSetCurrent(made.context), 0);
  EXPECT_EQ(cuStreamCreate(&made.stream, 0), 0);
  EXPECT_EQ(cuModuleLoadData(&module, kPtx), 0);
  EXPECT_EQ(cuModuleGetFunction(&made.function, module, "k"), 0);
  CUmemPoolProps properties{};
  properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.handleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  EXPECT_EQ(cuMemPoolCreate(&made.pool, &properties), 0);
  EXPECT_EQ(cuMemAllocFromPoolAsync(&made.shared, 4096, made.pool, made.stream), 0);
  EXPECT_EQ(cuStreamSynchronize(made.stream), 0);
  EXPECT_EQ(cuDeviceGetDevResource(made.device, &made.resource, CU_DEV_RESOURCE_TYPE_SM), 0);
  EXPECT_EQ(cuDevResourceGenerateDesc(&made.resources, &made.resource, 1), 0);
  EXPECT_EQ(cuGreenCtxCreate(&made.green, made.resources, made.device, CU_GREEN_CTX_DEFAULT_STREAM),
            0);
  return made;
}
const Objects& objects() {
  static const Objects made = make_objects();
  return made;
}

/// A call that is right but for one pointer, which is each of the wild ones in turn.
template <class Call>
void expect_refused(const char* name, bool writes, Call&& call) {
  const auto& readable = wild_pointers().readable();
  for (const uint64_t each : wild_pointers().all()) {
    const bool can_be_read = std::find(readable.begin(), readable.end(), each) != readable.end();
    if (!writes && can_be_read) continue;
    note_call(name);
    EXPECT_EQ(call(each), CUDA_ERROR_INVALID_VALUE)
        << name << " with " << reinterpret_cast<void*>(each);
  }
  note_call(name);
  EXPECT_EQ(call(0), CUDA_ERROR_INVALID_VALUE) << name << " with null";
}
#define KM_REFUSED(name, writes, type, place, ...)     \
  expect_refused(#name, writes, [&](uint64_t wild) {   \
    auto* const place = reinterpret_cast<type*>(wild); \
    return name(__VA_ARGS__);                          \
  })

constexpr cuuint64_t kSizes[] = {64, 8, 4}, kStrides[] = {256, 2048};
constexpr cuuint32_t kBox[] = {16, 4, 2}, kSteps[] = {1, 1, 1};
constexpr int kLower[] = {0}, kUpper[] = {0};

CUresult encode(CUtensorMap* map, const cuuint64_t* sizes, const cuuint64_t* strides,
                const cuuint32_t* box, const cuuint32_t* steps) {
  return cuTensorMapEncodeTiled(map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 3,
                                reinterpret_cast<void*>(0x10000), sizes, strides, box, steps,
                                CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE,
                                CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
}
CUresult encode_pixels(CUtensorMap* map, const cuuint64_t* sizes, const cuuint64_t* strides,
                       const int* lower, const int* upper, const cuuint32_t* steps) {
  return cuTensorMapEncodeIm2col(
      map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 3, reinterpret_cast<void*>(0x10000), sizes, strides,
      lower, upper, 16, 4, steps, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE,
      CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
}

TEST(Hostile, TensorMaps) {
  CUtensorMap map;
  ASSERT_EQ(encode(&map, kSizes, kStrides, kBox, kSteps), 0);
  ASSERT_EQ(encode_pixels(&map, kSizes, kStrides, kLower, kUpper, kSteps), 0);
  KM_REFUSED(encode, true, CUtensorMap, out, out, kSizes, kStrides, kBox, kSteps);
  KM_REFUSED(encode, false, cuuint64_t, sizes, &map, sizes, kStrides, kBox, kSteps);
  KM_REFUSED(encode, false, cuuint64_t, strides, &map, kSizes, strides, kBox, kSteps);
  KM_REFUSED(encode, false, cuuint32_t, box, &map, kSizes, kStrides, box, kSteps);
  KM_REFUSED(encode, false, cuuint32_t, steps, &map, kSizes, kStrides, kBox, steps);
  KM_REFUSED(encode_pixels, true, CUtensorMap, out, out, kSizes, kStrides, kLower, kUpper, kSteps);
  KM_REFUSED(encode_pixels, false, cuuint64_t, sizes, &map, sizes, kStrides, kLower, kUpper,
             kSteps);
  KM_REFUSED(encode_pixels, false, cuuint64_t, strides, &map, kSizes, strides, kLower, kUpper,
             kSteps);
  KM_REFUSED(encode_pixels, false, int, lower, &map, kSizes, kStrides, lower, kUpper, kSteps);
  KM_REFUSED(encode_pixels, false, int, upper, &map, kSizes, kStrides, kLower, upper, kSteps);
  KM_REFUSED(encode_pixels, false, cuuint32_t, steps, &map, kSizes, kStrides, kLower, kUpper,
             steps);
  KM_REFUSED(cuTensorMapReplaceAddress, true, CUtensorMap, out, out,
             reinterpret_cast<void*>(0x20000));
}

/// Parameters of all values: the call gives a map that can be given another address, or a status.
TEST(Hostile, TensorMapsOfAnyNumbers) {
  Choice choice;
  choice.random.seed(7);
  const auto small = [&](uint64_t end) {
    return choice.below(16) == 0 ? choice.edge() : choice.below(end);
  };
  int made = 0;
  for (int round = 0; round < 20000; ++round) {
    CUtensorMap map;
    cuuint64_t sizes[5], strides[5];
    cuuint32_t box[5], steps[5];
    int lower[3], upper[3];
    for (int i = 0; i < 5; ++i) {
      sizes[i] = 1 + small(64);
      strides[i] = 16 * small(64);
      box[i] = static_cast<cuuint32_t>(4 * small(9));
      steps[i] = static_cast<cuuint32_t>(1 + small(2));
      if (i < 3) lower[i] = static_cast<int>(small(4)), upper[i] = static_cast<int>(small(4));
    }
    const auto type = static_cast<CUtensorMapDataType>(small(13));
    const auto rank = static_cast<cuuint32_t>(small(6));
    auto* const address = reinterpret_cast<void*>(16 * small(1024));
    const auto interleave = static_cast<CUtensorMapInterleave>(small(3));
    const auto swizzle = static_cast<CUtensorMapSwizzle>(small(4));
    const auto promotion = static_cast<CUtensorMapL2promotion>(small(4));
    const auto fill = static_cast<CUtensorMapFloatOOBfill>(small(2));
    const auto channels = static_cast<cuuint32_t>(4 * small(8));
    const auto pixels = static_cast<cuuint32_t>(small(64));
    const CUresult result =
        round % 2 == 0 ? cuTensorMapEncodeTiled(&map, type, rank, address, sizes, strides, box,
                                                steps, interleave, swizzle, promotion, fill)
                       : cuTensorMapEncodeIm2col(&map, type, rank, address, sizes, strides, lower,
                                                 upper, channels, pixels, steps, interleave,
                                                 swizzle, promotion, fill);
    if (result == CUDA_SUCCESS) {
      ++made;
      EXPECT_EQ(cuTensorMapReplaceAddress(&map, reinterpret_cast<void*>(0x40000)), 0);
    } else {
      EXPECT_TRUE(result == CUDA_ERROR_INVALID_VALUE || result == CUDA_ERROR_NOT_SUPPORTED)
          << result;
    }
  }
  EXPECT_GT(made, 100);
}

TEST(Hostile, GreenContexts) {
  const Objects& o = objects();
  unsigned groups = 1;
  CUdevResource parts[4];
  CU_DEV_SM_RESOURCE_GROUP_PARAMS params{};
  params.smCount = 1;
  KM_REFUSED(cuDeviceGetDevResource, true, CUdevResource, out, o.device, out,
             CU_DEV_RESOURCE_TYPE_SM);
  KM_REFUSED(cuCtxGetDevResource, true, CUdevResource, out, o.context, out,
             CU_DEV_RESOURCE_TYPE_SM);
  KM_REFUSED(cuStreamGetDevResource, true, CUdevResource, out, o.stream, out,
             CU_DEV_RESOURCE_TYPE_SM);
  KM_REFUSED(cuGreenCtxGetDevResource, true, CUdevResource, out, o.green, out,
             CU_DEV_RESOURCE_TYPE_SM);
  KM_REFUSED(cuDevSmResourceSplitByCount, true, unsigned, out, parts, out, &o.resource, nullptr, 0,
             1);
  KM_REFUSED(cuDevSmResourceSplitByCount, false, CUdevResource, in, parts, &groups, in, nullptr, 0,
             1);
  KM_REFUSED(cuDevSmResourceSplit, true, CU_DEV_SM_RESOURCE_GROUP_PARAMS, in, parts, 1, &o.resource,
             nullptr, 0, in);
  KM_REFUSED(cuDevSmResourceSplit, false, CUdevResource, in, parts, 1, in, nullptr, 0, &params);
  CUdevResource whole = o.resource;
  CUdevResourceDesc made = nullptr;
  KM_REFUSED(cuDevResourceGenerateDesc, true, CUdevResourceDesc, out, out, &whole, 1);
  KM_REFUSED(cuDevResourceGenerateDesc, false, CUdevResource, in, &made, in, 1);
  KM_REFUSED(cuGreenCtxCreate, true, CUgreenCtx, out, out, o.resources, o.device,
             CU_GREEN_CTX_DEFAULT_STREAM);
  KM_REFUSED(cuCtxFromGreenCtx, true, CUcontext, out, out, o.green);
  KM_REFUSED(cuGreenCtxGetId, true, unsigned long long, out, o.green, out);
  KM_REFUSED(cuGreenCtxStreamCreate, true, CUstream, out, out, o.green, CU_STREAM_NON_BLOCKING, 0);
  KM_REFUSED(cuStreamGetGreenCtx, true, CUgreenCtx, out, o.stream, out);
}

/// Resources of any bytes: none has more multiprocessors than its device.
TEST(Hostile, ResourcesOfAnyBytes) {
  const Objects& o = objects();
  Choice choice;
  choice.random.seed(11);
  for (int round = 0; round < 20000; ++round) {
    CUdevResource given = o.resource, parts[8];
    CUdevResourceDesc made = nullptr;
    unsigned groups = static_cast<unsigned>(choice.below(9));
    auto* const bytes = reinterpret_cast<unsigned char*>(&given);
    for (uint64_t i = choice.below(4); i > 0; --i) {
      bytes[choice.below(sizeof given)] = static_cast<unsigned char>(choice.random());
    }
    if (choice.below(4) == 0) given.sm.smCount = static_cast<unsigned>(choice.edge());
    cuDevSmResourceSplitByCount(parts, &groups, &given, nullptr, 0,
                                static_cast<unsigned>(choice.below(4)));
    EXPECT_LE(groups, 1u << 20);
    CU_DEV_SM_RESOURCE_GROUP_PARAMS params[8] = {};
    for (auto& each : params) each.smCount = static_cast<unsigned>(choice.below(3));
    cuDevSmResourceSplit(parts, static_cast<unsigned>(choice.below(9)), &given, nullptr, 0, params);
    if (round % 64 == 0 && cuDevResourceGenerateDesc(&made, &given, 1) == CUDA_SUCCESS) {
      EXPECT_LE(given.sm.smCount, o.resource.sm.smCount);
    }
  }
}

TEST(Hostile, SharedPools) {
  const Objects& o = objects();
  int descriptor = -1;
  alignas(8) unsigned char bytes_of_data[64];
  auto* const data = reinterpret_cast<CUmemPoolPtrExportData*>(bytes_of_data);
  CUdeviceptr address = 0;
  constexpr auto kDescriptor = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  ASSERT_EQ(cuMemPoolExportToShareableHandle(&descriptor, o.pool, kDescriptor, 0), 0);
  ASSERT_EQ(cuMemPoolExportPointer(data, o.shared), 0);
  auto* const handle = reinterpret_cast<void*>(static_cast<intptr_t>(descriptor));
  KM_REFUSED(cuMemPoolExportToShareableHandle, true, void, out, out, o.pool, kDescriptor, 0);
  KM_REFUSED(cuMemPoolImportFromShareableHandle, true, CUmemoryPool, out, out, handle, kDescriptor,
             0);
  KM_REFUSED(cuMemPoolExportPointer, true, CUmemPoolPtrExportData, out, out, o.shared);
  KM_REFUSED(cuMemPoolImportPointer, true, CUdeviceptr, out, out, o.pool, data);
  KM_REFUSED(cuMemPoolImportPointer, false, CUmemPoolPtrExportData, in, &address, o.pool, in);
  Choice choice;
  choice.random.seed(13);
  for (int round = 0; round < 2000; ++round) {
    alignas(8) unsigned char changed[sizeof bytes_of_data];
    std::memcpy(changed, bytes_of_data, sizeof changed);
    for (uint64_t i = 1 + choice.below(8); i > 0; --i) {
      changed[choice.below(sizeof changed)] = static_cast<unsigned char>(choice.random());
    }
    // The pool is this process's own, which imports none.
    EXPECT_NE(cuMemPoolImportPointer(&address, o.pool,
                                     reinterpret_cast<CUmemPoolPtrExportData*>(changed)),
              0);
    CUmemoryPool imported = nullptr;
    auto* const any = reinterpret_cast<void*>(choice.below(2) == 0 ? choice.edge() : 0);
    if (any != handle) {
      EXPECT_NE(cuMemPoolImportFromShareableHandle(&imported, any, kDescriptor, 0), 0);
    }
  }
}

CUlaunchConfig config_of(CUlaunchAttribute* attributes, unsigned count) {
  return {1, 1, 1, 1, 1, 1, 0, objects().stream, attributes, count};
}

TEST(Hostile, LaunchConfigurations) {
  const Objects& o = objects();
  int count = 0;
  CUlaunchAttribute attributes[2] = {};
  const CUlaunchConfig config = config_of(attributes, 0);
  ASSERT_EQ(cuLaunchKernelEx(&config, o.function, nullptr, nullptr), 0);
  KM_REFUSED(cuLaunchKernelEx, false, CUlaunchConfig, in, in, o.function, nullptr, nullptr);
  KM_REFUSED(cuOccupancyMaxPotentialClusterSize, false, CUlaunchConfig, in, &count, o.function, in);
  KM_REFUSED(cuOccupancyMaxPotentialClusterSize, true, int, out, out, o.function, &config);
  KM_REFUSED(cuOccupancyMaxActiveClusters, false, CUlaunchConfig, in, &count, o.function, in);
  KM_REFUSED(cuOccupancyMaxActiveClusters, true, int, out, out, o.function, &config);
  expect_refused("attributes", false, [&](uint64_t wild) {
    const CUlaunchConfig wrong = config_of(reinterpret_cast<CUlaunchAttribute*>(wild), 1);
    return cuLaunchKernelEx(&wrong, o.function, nullptr, nullptr);
  });
}

/// Attributes of all numbers, with any words as values: clusters, events, nodes.
TEST(Hostile, LaunchAttributesOfAnyNumbers) {
  const Objects& o = objects();
  Choice choice;
  choice.random.seed(17);
  int launched = 0;
  for (int round = 0; round < 20000; ++round) {
    CUlaunchAttribute attributes[4] = {};
    for (CUlaunchAttribute& each : attributes) {
      each.id = static_cast<CUlaunchAttributeID>(choice.below(20));
      if (choice.below(64) == 0) each.id = static_cast<CUlaunchAttributeID>(choice.edge());
      for (size_t at = 0; at < sizeof each.value; at += 4) {
        const auto word =
            static_cast<uint32_t>(choice.below(3) == 0 ? choice.edge() : choice.below(5));
        std::memcpy(each.value.pad + at, &word, sizeof word);
      }
    }
    CUlaunchConfig config = config_of(attributes, static_cast<unsigned>(choice.below(5)));
    unsigned* const sizes[] = {&config.gridDimX,  &config.gridDimY,  &config.gridDimZ,
                               &config.blockDimX, &config.blockDimY, &config.blockDimZ};
    for (unsigned* const size : sizes) {
      *size = static_cast<unsigned>(choice.below(16) == 0 ? choice.edge() : 1 + choice.below(4));
    }
    if (config.gridDimX > 4096 || config.gridDimY > 64 || config.gridDimZ > 64) config.gridDimX = 0;
    int clusters = 0;
    cuOccupancyMaxActiveClusters(&clusters, o.function, &config);
    if (cuLaunchKernelEx(&config, o.function, nullptr, nullptr) == CUDA_SUCCESS) ++launched;
  }
  EXPECT_GT(launched, 100);
  EXPECT_EQ(cuStreamSynchronize(o.stream), 0);
}

}  // namespace
}  // namespace km::hostile
