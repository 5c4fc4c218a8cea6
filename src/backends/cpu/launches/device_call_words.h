// The words of calls of the device runtime, by name: DeviceCall lists them.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

namespace km::cpu {

/// A size in three dimensions.
struct SizeWords {
  uint64_t xy;  // x in the low half, y in the high one
  uint64_t z;
  void copy_to(uint32_t sizes[3]) const {
    sizes[0] = static_cast<uint32_t>(xy);
    sizes[1] = static_cast<uint32_t>(xy >> 32);
    sizes[2] = static_cast<uint32_t>(z);
  }
};
struct ShapeWords {
  SizeWords grid, block;
  uint64_t shared_bytes;
};

struct BufferWords {
  uint64_t align_bytes, size_bytes;
};
struct KernelBufferWords {
  uint64_t kernel;
  ShapeWords shape;
};
struct LaunchWords {
  uint64_t kernel, buffer;
  ShapeWords shape;
  uint64_t stream;
};
struct BufferLaunchWords {
  uint64_t buffer, stream;
};
struct GraphLaunchWords {
  uint64_t handle, stream;
};
/// The meaning of `value`, `offset_bytes` and `size_bytes` depends on the field: a size, a flag, or
/// arguments.
struct NodeUpdateWords {
  uint64_t node, field, value, offset_bytes, size_bytes;
  SizeWords grid() const { return {value, offset_bytes}; }
};

struct CopyWords {
  uint64_t destination, source, size_bytes, kind, stream;
};
struct CopyRowsWords {
  uint64_t destination, destination_pitch, source, source_pitch;
  uint64_t width_bytes, height, kind, stream;
};
struct CopyLayersWords {
  uint64_t destination, destination_pitch, destination_rows;
  uint64_t source, source_pitch, source_rows;
  uint64_t width_bytes, height, depth, stream;
};
struct FillWords {
  uint64_t destination, value, size_bytes, stream;
};
struct FillRowsWords {
  uint64_t destination, pitch, value, width_bytes, height, stream;
};
struct FillLayersWords {
  uint64_t destination, pitch, rows, value, width_bytes, height, depth, stream;
};

struct StreamWaitWords {
  uint64_t stream, event;
};
struct EventRecordWords {
  uint64_t event, stream;
};
struct DeviceAttributeWords {
  uint64_t number, device;
};
struct FunctionAttributeWords {
  uint64_t kernel, attribute;
};
struct OccupancyWords {
  uint64_t kernel, threads, shared_bytes, flags;
};

/// Gives a call's words their names.
template <class Words>
Words words_as(const uint64_t* words) {
  static_assert(std::is_trivially_copyable_v<Words> && sizeof(Words) % sizeof(uint64_t) == 0);
  Words named;
  std::memcpy(&named, words, sizeof named);
  return named;
}

}  // namespace km::cpu
