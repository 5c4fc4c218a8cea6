// Devices and their attributes.
#include <algorithm>
#include <cstdio>
#include <cstring>

#include "dropin/cuda/device/device_attributes.h"
#include "dropin/cuda/device/driver_state.h"
#include "dropin/cuda/device/visible_devices.h"

namespace km::cu {

using namespace km::dropin;  // NOLINT

extern "C" {

CUresult cuDeviceGetCount(int* count) {
  return guard(__func__, [&]() -> CUresult {
    CU_REQUIRE(count);
    *count = Driver::instance().device_count();
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceGet(CUdevice* device, int ordinal) {
  return guard(__func__, [&]() -> CUresult {
    CU_REQUIRE(device);
    CU_DEVICE(state, ordinal);
    *device = state->ordinal;
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceGetName(char* name, int size, CUdevice device) {
  return guard(__func__, [&]() -> CUresult {
    CU_REQUIRE(name);
    CU_DEVICE(state, device);
    if (size <= 0) return fail(CUDA_ERROR_INVALID_VALUE, "the buffer has %d bytes", size);
    std::snprintf(name, static_cast<size_t>(size), "%s", state->device->info().name);
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceTotalMem_v2(size_t* bytes, CUdevice device) {
  return guard(__func__, [&]() -> CUresult {
    CU_REQUIRE(bytes);
    CU_DEVICE(state, device);
    *bytes = state->device->info().total_memory_bytes;
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceTotalMem(unsigned* bytes, CUdevice device) {
  return guard(__func__, [&]() -> CUresult {
    CU_REQUIRE(bytes);
    CU_DEVICE(state, device);
    const uint64_t total = state->device->info().total_memory_bytes;
    *bytes = static_cast<unsigned>(std::min<uint64_t>(total, UINT32_MAX));
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceComputeCapability(int* major, int* minor, CUdevice device) {
  return guard(__func__, [&]() -> CUresult {
    CU_REQUIRE(major);
    CU_REQUIRE(minor);
    CU_DEVICE(state, device);
    *major = static_cast<int>(state->device->info().compute_capability_major);
    *minor = static_cast<int>(state->device->info().compute_capability_minor);
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice device) {
  return guard(__func__, [&]() -> CUresult {
    CU_REQUIRE(value);
    CU_DEVICE(state, device);
    return device_attribute(*state, attribute, value);
  });
}

CUresult cuDeviceGetProperties(CUdevprop* properties, CUdevice device) {
  return guard(__func__, [&]() -> CUresult {
    CU_REQUIRE(properties);
    CU_DEVICE(state, device);
    CUdevprop made{};
    const auto get = [&](CUdevice_attribute attribute, int* value) {
      return device_attribute(*state, attribute, value);
    };
    CU_TRY(get(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, &made.maxThreadsPerBlock));
    for (int axis = 0; axis < 3; ++axis) {
      CU_TRY(get(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X + axis, &made.maxThreadsDim[axis]));
      CU_TRY(get(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X + axis, &made.maxGridSize[axis]));
    }
    CU_TRY(get(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK, &made.sharedMemPerBlock));
    CU_TRY(get(CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY, &made.totalConstantMemory));
    CU_TRY(get(CU_DEVICE_ATTRIBUTE_WARP_SIZE, &made.SIMDWidth));
    CU_TRY(get(CU_DEVICE_ATTRIBUTE_MAX_PITCH, &made.memPitch));
    CU_TRY(get(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK, &made.regsPerBlock));
    CU_TRY(get(CU_DEVICE_ATTRIBUTE_CLOCK_RATE, &made.clockRate));
    CU_TRY(get(CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT, &made.textureAlign));
    *properties = made;
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceGetUuid_v2(CUuuid* uuid, CUdevice device) {
  return guard(__func__, [&]() -> CUresult {
    CU_REQUIRE(uuid);
    CU_DEVICE(state, device);
    std::memcpy(uuid->bytes, uuid_of(state->index).data(), sizeof uuid->bytes);
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceGetUuid(CUuuid* uuid, CUdevice device) { return cuDeviceGetUuid_v2(uuid, device); }

CUresult cuDeviceGetPCIBusId(char* id, int size, CUdevice device) {
  return guard(__func__, [&]() -> CUresult {
    CU_REQUIRE(id);
    CU_DEVICE(state, device);
    char text[32];
    const int length = std::snprintf(text, sizeof text, "0000:%02X:00.0", state->index);
    if (size <= length) return fail(CUDA_ERROR_INVALID_VALUE, "the buffer has %d bytes", size);
    std::memcpy(id, text, static_cast<size_t>(length) + 1);
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceGetByPCIBusId(CUdevice* device, const char* id) {
  return guard(__func__, [&]() -> CUresult {
    CU_REQUIRE(device);
    CU_REQUIRE(id);
    unsigned domain = 0, bus = 0, slot = 0, function = 0;
    int end = 0;
    const bool is_long =
        std::sscanf(id, "%x:%x:%x.%x%n", &domain, &bus, &slot, &function, &end) == 4;
    if (!is_long && std::sscanf(id, "%x:%x.%x%n", &bus, &slot, &function, &end) != 3) {
      return fail(CUDA_ERROR_INVALID_VALUE, "'%.32s' is not a PCI bus id", id);
    }
    if (domain != 0 || slot != 0 || function != 0) {
      return fail(CUDA_ERROR_INVALID_DEVICE, "there is no device at '%.32s'", id);
    }
    const DeviceState* state = Driver::instance().device_at(bus);
    if (state == nullptr) {
      return fail(CUDA_ERROR_INVALID_DEVICE, "there is no device at '%.32s'", id);
    }
    *device = state->ordinal;
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceGetLuid(char*, unsigned int*, CUdevice device) {
  return guard(__func__, [&]() -> CUresult {
    CU_DEVICE(state, device);
    return fail(CUDA_ERROR_NOT_SUPPORTED, "device %d has no LUID: that is Windows' own",
                state->ordinal);
  });
}

CUresult cuDeviceCanAccessPeer(int* can_access, CUdevice device, CUdevice peer) {
  return guard(__func__, [&]() -> CUresult {
    CU_REQUIRE(can_access);
    CU_DEVICE(state, device);
    CU_DEVICE(other, peer);
    CU_ASSIGN(const bool can, state->device->can_access(*other->device));
    *can_access = can ? 1 : 0;
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceGetP2PAttribute(int* value, CUdevice_P2PAttribute attribute, CUdevice source,
                                 CUdevice destination) {
  return guard(__func__, [&]() -> CUresult {
    CU_REQUIRE(value);
    CU_DEVICE(from, source);
    CU_DEVICE(to, destination);
    if (from == to)
      return fail(CUDA_ERROR_INVALID_DEVICE, "device %d is not a peer of itself", source);
    CU_ASSIGN(const bool can, from->device->can_access(*to->device));
    switch (attribute) {
      case CU_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK:
        *value = 0;
        return CUDA_SUCCESS;
      case CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED:
      case CU_DEVICE_P2P_ATTRIBUTE_NATIVE_ATOMIC_SUPPORTED:
        *value = can ? 1 : 0;
        return CUDA_SUCCESS;
      case CU_DEVICE_P2P_ATTRIBUTE_CUDA_ARRAY_ACCESS_SUPPORTED:
      case CU_DEVICE_P2P_ATTRIBUTE_ONLY_PARTIAL_NATIVE_ATOMIC_SUPPORTED:
        *value = 0;
        return CUDA_SUCCESS;
      default:
        return fail(CUDA_ERROR_INVALID_VALUE, "there is no peer attribute %d", attribute);
    }
  });
}

CUresult cuDeviceGetExecAffinitySupport(int* value, CUexecAffinityType, CUdevice device) {
  return guard(__func__, [&]() -> CUresult {
    CU_REQUIRE(value);
    CU_DEVICE(state, device);
    static_cast<void>(state);
    *value = 0;
    return CUDA_SUCCESS;
  });
}

}  // extern "C"

}  // namespace km::cu
