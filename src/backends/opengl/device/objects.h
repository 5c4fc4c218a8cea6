// The objects behind the handles of Vulkan that the backend uses, made of OpenGL's.
#pragma once

#define VK_NO_PROTOTYPES
#include <vulkan/vulkan_core.h>

#include <array>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "backends/opengl/device/arena.h"
#include "backends/opengl/gl/worker.h"
#include "base/result.h"
#include "spirv/spirv.h"

namespace km::opengl {

/// A Renderer has the facts that a driver tells of one display's device.
struct Renderer {
  Display display = nullptr;
  std::string name, version, refusal;  // refusal: why no context can be made; empty: one can
  bool has_int64 = false, has_float64 = false, is_llvmpipe = false;
  uint64_t arena_bytes = 0;
  uint32_t shared_bytes = 0, most_threads = 0;
  std::array<uint32_t, 3> most_blocks{}, most_block{};
};

/// The renderers of all displays, found once for the process.
Result<std::vector<Renderer>> find_renderers();

/// A value that only grows: a timeline semaphore.
struct Timeline {
  std::mutex mutex;  // guards the members below
  std::condition_variable changed;
  uint64_t value = 0;
  VkResult failure = VK_SUCCESS;

  void signal(uint64_t reached, VkResult result);
  VkResult wait(uint64_t wanted);
};

/// A part of the arena: a VkDeviceMemory. A VkBuffer lies in one.
struct Memory {
  uint64_t offset_bytes = 0;
};
struct Buffer {
  uint64_t size_bytes = 0, offset_bytes = 0;
};

/// The words of a VkShaderModule, which become text when its constants are known.
struct Shader {
  std::vector<uint32_t> words;
};
struct Pipeline {
  uint32_t program = 0;
};
struct Queries {
  std::vector<uint64_t> times_ns;
};

/// One recorded command.
struct Command {
  enum class Kind : uint8_t { barrier, copy, fill, push, dispatch, time } kind;
  uint64_t to = 0, from = 0, size_bytes = 0;  // of copies and fills, in the arena
  uint32_t word = 0;                          // of fills; the query of times
  std::array<uint32_t, 3> count{};
  const Pipeline* pipeline = nullptr;
  Queries* queries = nullptr;
  spirv::PushConstants constants{};
};
struct CommandBuffer {
  std::vector<Command> commands;
  const Pipeline* bound = nullptr;
};

/// A VkDevice: a context on a thread of its own, with its arena.
class Device {
 public:
  static Result<std::unique_ptr<Device>> make(const Renderer& renderer);
  ~Device();

  Worker& worker() { return *worker_; }
  Ranges& ranges() { return ranges_; }
  uint8_t* mapped() const { return mapped_; }
  /// Runs the commands on the device's thread, now; the result of the last thing that failed.
  VkResult execute(const GlFunctions& gl, const CommandBuffer& commands);

 private:
  Device(std::unique_ptr<Worker> worker, uint64_t arena_bytes)
      : worker_(std::move(worker)), ranges_(arena_bytes), arena_bytes_(arena_bytes) {}
  bool create_buffers(const GlFunctions& gl);
  void run(const GlFunctions& gl, const Command& command);

  const std::unique_ptr<Worker> worker_;
  Ranges ranges_;
  const uint64_t arena_bytes_;
  uint32_t arena_ = 0, uniforms_ = 0;
  uint8_t* mapped_ = nullptr;
};

/// The program of a text; 0 if the driver refuses it, with its words in the log.
uint32_t link_program(const GlFunctions& gl, const std::string& text);

}  // namespace km::opengl
