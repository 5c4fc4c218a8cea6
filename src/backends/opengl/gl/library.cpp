#include "backends/opengl/gl/library.h"

#include <cstring>
#include <optional>
#include <string_view>
#include <utility>

#include "base/env.h"
#include "base/log.h"
#include "base/process/dylib.h"

namespace km::opengl {
namespace {

constexpr const char* kLibrary = "libEGL.so.1";

enum EglNumber : int32_t {
  kEglExtensions = 0x3055,
  kEglNone = 0x3038,
  kContextMajor = 0x3098,
  kContextMinor = 0x30FB,
  kContextProfile = 0x30FD,
  kCoreProfile = 1,
  kOpenGlApi = 0x30A2,
  kSurfacelessPlatform = 0x31DD,
  kDevicePlatform = 0x313F,
};
constexpr int32_t kMostDevices = 16;

struct EglFunctions {
  void* (*GetProcAddress)(const char*) = nullptr;
  const char* (*QueryString)(void*, int32_t) = nullptr;
  uint32_t (*Initialize)(void*, int32_t*, int32_t*) = nullptr;
  uint32_t (*BindAPI)(uint32_t) = nullptr;
  void* (*CreateContext)(void*, void*, void*, const int32_t*) = nullptr;
  uint32_t (*DestroyContext)(void*, void*) = nullptr;
  uint32_t (*MakeCurrent)(void*, void*, void*, void*) = nullptr;
  int32_t (*GetError)() = nullptr;
  void* (*GetPlatformDisplay)(uint32_t, void*, const int32_t*) = nullptr;
  uint32_t (*QueryDevices)(int32_t, void**,
                           int32_t*) = nullptr;  // null: no EGL_EXT_platform_device
};

EglFunctions g_egl;

Error unavailable(const std::string& text) { return {KM_ERROR_BACKEND_UNAVAILABLE, text, 0}; }

template <class Function>
bool look_up(const Dylib& library, const char* name, Function* out_function) {
  *out_function = library.function<Function>(name);
  return *out_function != nullptr;
}

Status open_library() {
  static std::optional<Dylib> library;  // never closed: threads may use it until the end
  const std::optional<std::string> chosen = env(EnvVar::KM_EGL);
  Result<Dylib> opened = Dylib::open(chosen.value_or(kLibrary));
  if (!opened) {
    return unavailable("OpenGL's library EGL cannot be opened: " + opened.error().message + "; " +
                       (chosen ? "correct KM_EGL or unset it"
                               : "install it (libegl1 of Debian) and a driver (libgl1-mesa-dri)"));
  }
  library = std::move(*opened);
  const bool is_complete = look_up(*library, "eglGetProcAddress", &g_egl.GetProcAddress) &&
                           look_up(*library, "eglQueryString", &g_egl.QueryString) &&
                           look_up(*library, "eglInitialize", &g_egl.Initialize) &&
                           look_up(*library, "eglBindAPI", &g_egl.BindAPI) &&
                           look_up(*library, "eglCreateContext", &g_egl.CreateContext) &&
                           look_up(*library, "eglDestroyContext", &g_egl.DestroyContext) &&
                           look_up(*library, "eglMakeCurrent", &g_egl.MakeCurrent) &&
                           look_up(*library, "eglGetError", &g_egl.GetError) &&
                           look_up(*library, "eglGetPlatformDisplay", &g_egl.GetPlatformDisplay);
  if (!is_complete) {
    return unavailable(library->path() + " is no EGL 1.5: it lacks eglGetPlatformDisplay");
  }
  g_egl.QueryDevices =
      reinterpret_cast<decltype(g_egl.QueryDevices)>(g_egl.GetProcAddress("eglQueryDevicesEXT"));
  log(LogLevel::kInfo, "opengl", "EGL %s", library->path().c_str());
  return {};
}

bool has_word(const char* list, std::string_view word) {
  return list != nullptr &&
         (" " + std::string(list) + " ").find(" " + std::string(word) + " ") != std::string::npos;
}

void add_display(uint32_t platform, void* native, std::vector<Display>* displays) {
  const Display display = g_egl.GetPlatformDisplay(platform, native, nullptr);
  int32_t major = 0, minor = 0;
  if (display != nullptr && g_egl.Initialize(display, &major, &minor) != 0) {
    displays->push_back(display);
  }
}

/// The displays: Mesa's own one, or those of EGL's devices where another library is in its place.
std::vector<Display> find_displays() {
  std::vector<Display> displays;
  const char* const extensions = g_egl.QueryString(nullptr, kEglExtensions);
  if (has_word(extensions, "EGL_MESA_platform_surfaceless")) {
    add_display(kSurfacelessPlatform, nullptr, &displays);
  }
  if (!displays.empty() || g_egl.QueryDevices == nullptr) return displays;
  void* devices[kMostDevices] = {};
  int32_t count = 0;
  if (g_egl.QueryDevices(kMostDevices, devices, &count) == 0) return displays;
  for (int32_t i = 0; i < count; ++i) add_display(kDevicePlatform, devices[i], &displays);
  return displays;
}

}  // namespace

Result<std::vector<Display>> open_displays() {
  KM_TRY(open_library());
  std::vector<Display> displays = find_displays();
  if (!displays.empty()) return displays;
  return unavailable(
      "EGL has no display without a window (EGL_MESA_platform_surfaceless or "
      "EGL_EXT_platform_device): install a driver (libgl1-mesa-dri of Debian)");
}

Result<CurrentContext> CurrentContext::make(Display display) {
  constexpr int32_t kWanted[] = {kContextMajor, 4,       kContextMinor, 3, kContextProfile,
                                 kCoreProfile,  kEglNone};
  g_egl.BindAPI(kOpenGlApi);
  void* const made = g_egl.CreateContext(display, nullptr, nullptr, kWanted);
  if (made == nullptr) {
    return make_error(KM_ERROR_NO_DEVICE, "the driver has no OpenGL 4.3 (eglCreateContext: %#x)",
                      g_egl.GetError());
  }
  CurrentContext context(display, made);
  if (g_egl.MakeCurrent(display, nullptr, nullptr, made) == 0) {
    return make_error(KM_ERROR_NO_DEVICE,
                      "the driver has no contexts without a surface (eglMakeCurrent: %#x)",
                      g_egl.GetError());
  }
  KM_TRY(context.look_up());
  return context;
}

Status CurrentContext::look_up() {
#define KM_GL(name, result, ...)                                                          \
  gl_.name = reinterpret_cast<result (*)(__VA_ARGS__)>(g_egl.GetProcAddress("gl" #name)); \
  if (gl_.name == nullptr) {                                                              \
    return make_error(KM_ERROR_NO_DEVICE, "the driver of OpenGL lacks gl" #name);         \
  }
#include "backends/opengl/gl/functions.def"
#undef KM_GL
  return {};
}

CurrentContext::CurrentContext(CurrentContext&& other) noexcept
    : display_(other.display_), context_(std::exchange(other.context_, nullptr)), gl_(other.gl_) {}

CurrentContext::~CurrentContext() {
  if (context_ == nullptr) return;
  g_egl.MakeCurrent(display_, nullptr, nullptr, nullptr);
  g_egl.DestroyContext(display_, context_);
}

}  // namespace km::opengl
