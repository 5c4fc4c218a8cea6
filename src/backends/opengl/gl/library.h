// libEGL and OpenGL, opened at run time: displays without a window, contexts of threads, functions.
// Their numbers are those of Khronos's registry, which never change, so that no header is needed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace km::opengl {

enum GlNumber : uint32_t {
  kRenderer = 0x1F01,
  kVersion = 0x1F02,
  kExtensions = 0x1F03,
  kExtensionCount = 0x821D,
  kStorageBuffer = 0x90D2,
  kUniformBuffer = 0x8A11,
  kDynamicDraw = 0x88E8,
  kMapRead = 0x1,
  kMapWrite = 0x2,
  kMapPersistent = 0x40,
  kMapCoherent = 0x80,
  kComputeShader = 0x91B9,
  kCompileStatus = 0x8B81,
  kLinkStatus = 0x8B82,
  kInfoLogLength = 0x8B84,
  kAllBarriers = 0xFFFFFFFF,
  kMaxStorageBlockSize = 0x90DE,
  kMaxSharedMemorySize = 0x8262,
  kMaxWorkGroupInvocations = 0x90EB,
  kMaxWorkGroupCount = 0x91BE,
  kMaxWorkGroupSize = 0x91BF,
};

/// The functions of OpenGL, which are the same for all contexts of a display.
struct GlFunctions {
#define KM_GL(name, result, ...) result (*name)(__VA_ARGS__) = nullptr;
#include "backends/opengl/gl/functions.def"
#undef KM_GL
};

/// An EGLDisplay, initialised once for the process.
using Display = void*;

/// Opens libEGL, once for the process, and lists its displays that need no window; the error says
/// what is missing and what to install.
Result<std::vector<Display>> open_displays();

/// A context of OpenGL 4.3 or newer that is current on the thread that has made it, which is the
/// only one that may use and destroy it.
class CurrentContext {
 public:
  static Result<CurrentContext> make(Display display);
  ~CurrentContext();
  CurrentContext(CurrentContext&& other) noexcept;
  CurrentContext& operator=(CurrentContext&&) = delete;

  const GlFunctions& gl() const { return gl_; }

 private:
  CurrentContext(Display display, void* context) : display_(display), context_(context) {}
  Status look_up();

  Display display_;
  void* context_;
  GlFunctions gl_;
};

}  // namespace km::opengl
