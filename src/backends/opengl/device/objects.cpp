#include "backends/opengl/device/objects.h"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "base/log.h"
#include "base/thread/clock.h"

namespace km::opengl {
namespace {

// More than one buffer can have costs memory that few programs use.
constexpr uint64_t kMostArenaBytes = uint64_t{1} << 30;
constexpr uint64_t kUniformBytes = 32;  // std140 rounds PushConstants up

std::string text_of(const GlFunctions& gl, uint32_t number) {
  const unsigned char* const text = gl.GetString(number);
  return text == nullptr ? std::string() : reinterpret_cast<const char*>(text);
}

bool has_extension(const GlFunctions& gl, std::string_view name) {
  int32_t count = 0;
  gl.GetIntegerv(kExtensionCount, &count);
  for (int32_t i = 0; i < count; ++i) {
    const unsigned char* const found = gl.GetStringi(kExtensions, static_cast<uint32_t>(i));
    if (found != nullptr && name == reinterpret_cast<const char*>(found)) return true;
  }
  return false;
}

uint32_t number_of(const GlFunctions& gl, uint32_t name) {
  int32_t value = 0;
  gl.GetIntegerv(name, &value);
  return static_cast<uint32_t>(std::max(value, 0));
}

void read_limits(const GlFunctions& gl, Renderer* renderer) {
  int64_t most_bytes = 0;
  gl.GetInteger64v(kMaxStorageBlockSize, &most_bytes);
  const auto bytes = static_cast<uint64_t>(std::max<int64_t>(most_bytes, 0));
  renderer->arena_bytes = std::min(bytes, kMostArenaBytes) / 4096 * 4096;
  renderer->shared_bytes = number_of(gl, kMaxSharedMemorySize);
  renderer->most_threads = number_of(gl, kMaxWorkGroupInvocations);
  for (uint32_t axis = 0; axis < 3; ++axis) {
    int32_t count = 0, size = 0;
    gl.GetIntegeri_v(kMaxWorkGroupCount, axis, &count);
    gl.GetIntegeri_v(kMaxWorkGroupSize, axis, &size);
    renderer->most_blocks[axis] = static_cast<uint32_t>(std::max(count, 1));
    renderer->most_block[axis] = static_cast<uint32_t>(std::max(size, 1));
  }
}

void read_renderer(const GlFunctions& gl, Renderer* renderer) {
  renderer->name = text_of(gl, kRenderer);
  renderer->version = text_of(gl, kVersion);
  renderer->is_llvmpipe = renderer->name.starts_with("llvmpipe");
  renderer->has_int64 = has_extension(gl, "GL_ARB_gpu_shader_int64");
  renderer->has_float64 = has_extension(gl, "GL_ARB_gpu_shader_fp64");
  read_limits(gl, renderer);
  if (!has_extension(gl, "GL_ARB_buffer_storage")) {
    renderer->refusal = "its driver lacks GL_ARB_buffer_storage (memory that stays mapped)";
  } else if (!renderer->has_int64) {
    renderer->refusal = "its driver lacks GL_ARB_gpu_shader_int64 (64-bit integers in kernels)";
  }
}

}  // namespace

Result<std::vector<Renderer>> find_renderers() {
  KM_ASSIGN(const std::vector<Display> displays, open_displays());
  std::vector<Renderer> renderers;
  for (const Display display : displays) {
    Renderer renderer;
    renderer.display = display;
    const Result<std::unique_ptr<Worker>> worker = Worker::start(display);
    if (worker) {
      (*worker)->run([&](const GlFunctions& gl) { read_renderer(gl, &renderer); });
    } else {
      renderer.name = "a display without OpenGL 4.3";
      renderer.refusal = worker.error().message;
    }
    renderers.push_back(std::move(renderer));
  }
  return renderers;
}

void Timeline::signal(uint64_t reached, VkResult result) {
  const std::lock_guard lock(mutex);
  value = std::max(value, reached);
  if (failure == VK_SUCCESS) failure = result;
  changed.notify_all();
}

VkResult Timeline::wait(uint64_t wanted) {
  std::unique_lock lock(mutex);
  changed.wait(lock, [&] { return value >= wanted; });
  return failure;
}

Result<std::unique_ptr<Device>> Device::make(const Renderer& renderer) {
  KM_ASSIGN(std::unique_ptr<Worker> worker, Worker::start(renderer.display));
  std::unique_ptr<Device> device(new Device(std::move(worker), renderer.arena_bytes));
  bool is_made = false;
  device->worker().run([&](const GlFunctions& gl) { is_made = device->create_buffers(gl); });
  if (is_made) return device;
  return make_error(KM_ERROR_OUT_OF_DEVICE_MEMORY, "%s has no %llu MiB for a context's memory",
                    renderer.name.c_str(),
                    static_cast<unsigned long long>(renderer.arena_bytes >> 20));
}

bool Device::create_buffers(const GlFunctions& gl) {
  constexpr uint32_t kMapping = kMapRead | kMapWrite | kMapPersistent | kMapCoherent;
  gl.GenBuffers(1, &arena_);
  gl.BindBuffer(kStorageBuffer, arena_);
  gl.BufferStorage(kStorageBuffer, static_cast<intptr_t>(arena_bytes_), nullptr, kMapping);
  mapped_ = static_cast<uint8_t*>(
      gl.MapBufferRange(kStorageBuffer, 0, static_cast<intptr_t>(arena_bytes_), kMapping));
  gl.BindBufferBase(kStorageBuffer, spirv::kArenaBinding, arena_);
  gl.GenBuffers(1, &uniforms_);
  gl.BindBuffer(kUniformBuffer, uniforms_);
  gl.BufferData(kUniformBuffer, kUniformBytes, nullptr, kDynamicDraw);
  gl.BindBufferBase(kUniformBuffer, spirv::kUniformBinding, uniforms_);
  return gl.GetError() == 0 && mapped_ != nullptr;
}

Device::~Device() {
  worker_->run([&](const GlFunctions& gl) {
    const uint32_t buffers[] = {arena_, uniforms_};
    gl.DeleteBuffers(2, buffers);
  });
}

/// Copies and fills are the host's, on the mapped arena, when the commands before them are over.
void Device::run(const GlFunctions& gl, const Command& command) {
  using Kind = Command::Kind;
  switch (command.kind) {
    case Kind::barrier:
      gl.MemoryBarrier(kAllBarriers);
      return;
    case Kind::copy:
      gl.Finish();
      std::memmove(mapped_ + command.to, mapped_ + command.from, command.size_bytes);
      return;
    case Kind::fill:
      gl.Finish();
      std::fill_n(reinterpret_cast<uint32_t*>(mapped_ + command.to), command.size_bytes / 4,
                  command.word);
      return;
    case Kind::push:
      gl.BufferSubData(kUniformBuffer, 0, sizeof command.constants, &command.constants);
      return;
    case Kind::dispatch:
      gl.UseProgram(command.pipeline->program);
      gl.DispatchCompute(command.count[0], command.count[1], command.count[2]);
      return;
    case Kind::time:
      gl.Finish();
      command.queries->times_ns[command.word] = now_ns();
      return;
  }
}

VkResult Device::execute(const GlFunctions& gl, const CommandBuffer& commands) {
  for (const Command& command : commands.commands) run(gl, command);
  gl.MemoryBarrier(kAllBarriers);
  gl.Finish();
  const uint32_t error = gl.GetError();
  if (error == 0) return VK_SUCCESS;
  log(LogLevel::kWarn, "opengl", "the driver reports the error %#x", error);
  return VK_ERROR_DEVICE_LOST;
}

uint32_t link_program(const GlFunctions& gl, const std::string& text) {
  const auto log_words = [](const char* what, int32_t length, const auto& read) {
    std::string words(static_cast<size_t>(std::max(length, 1)), '\0');
    read(static_cast<int32_t>(words.size()), words.data());
    log(LogLevel::kWarn, "opengl", "the driver's %s refuses a shader: %s", what, words.c_str());
  };
  const uint32_t shader = gl.CreateShader(kComputeShader);
  const char* const source = text.c_str();
  gl.ShaderSource(shader, 1, &source, nullptr);
  gl.CompileShader(shader);
  int32_t is_good = 0, length = 0;
  gl.GetShaderiv(shader, kCompileStatus, &is_good);
  if (is_good == 0) {
    gl.GetShaderiv(shader, kInfoLogLength, &length);
    log_words("compiler", length, [&](int32_t size, char* words) {
      gl.GetShaderInfoLog(shader, size, nullptr, words);
    });
    gl.DeleteShader(shader);
    return 0;
  }
  const uint32_t program = gl.CreateProgram();
  gl.AttachShader(program, shader);
  gl.LinkProgram(program);
  gl.DeleteShader(shader);
  gl.GetProgramiv(program, kLinkStatus, &is_good);
  if (is_good != 0) return program;
  gl.GetProgramiv(program, kInfoLogLength, &length);
  log_words("linker", length, [&](int32_t size, char* words) {
    gl.GetProgramInfoLog(program, size, nullptr, words);
  });
  gl.DeleteProgram(program);
  return 0;
}

}  // namespace km::opengl
