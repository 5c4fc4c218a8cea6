#include "shaders/spirv_cross.h"

#include <optional>

#include "base/env.h"
#include "base/log.h"
#include "base/process/dylib.h"

namespace km::shaders {
namespace {

constexpr const char* kLibrary = "libspirv-cross-c-shared.so.0";

// The part of spirv_cross_c.h that is used. Its numbers and prototypes are stable: the library's
// authors promise it for its C interface, so that no header is needed to build.
struct SpvcContext;
struct SpvcIr;
struct SpvcCompiler;
struct SpvcOptions;

enum Backend : int32_t { kBackendGlsl = 1, kBackendHlsl = 2, kBackendMsl = 3 };
enum CaptureMode : int32_t { kTakeOwnership = 1 };

constexpr int32_t kForGlsl = 0x2000000, kForHlsl = 0x4000000, kForMsl = 0x8000000;
enum Option : int32_t {
  kGlslVersion = 8 | kForGlsl,
  kGlslEs = 9 | kForGlsl,
  kGlslVulkanSemantics = 10 | kForGlsl,
  kHlslShaderModel = 13 | kForHlsl,
  kMslVersion = 17 | kForMsl,
  kGlslPushConstantAsUniformBuffer = 33 | kForGlsl,
};

struct Functions {
#define KM_SPVC(name, result, ...) result (*name)(__VA_ARGS__) = nullptr;
#include "shaders/spirv_cross.def"
#undef KM_SPVC
};

Error unavailable(const std::string& text) { return {KM_ERROR_BACKEND_UNAVAILABLE, text, 0}; }

Result<Functions> look_up(const Dylib& library) {
  Functions found;
#define KM_SPVC(name, result, ...)                                                   \
  found.name = library.function<result (*)(__VA_ARGS__)>("spvc_" #name);             \
  if (found.name == nullptr) {                                                       \
    return unavailable(library.path() + " is no SPIRV-Cross: it lacks spvc_" #name); \
  }
#include "shaders/spirv_cross.def"
#undef KM_SPVC
  return found;
}

Result<Functions> open_library() {
  const std::optional<std::string> chosen = env(EnvVar::KM_SPIRV_CROSS);
  Result<Dylib> opened = Dylib::open(chosen.value_or(kLibrary));
  if (!opened) {
    return unavailable("SPIRV-Cross, which writes shaders as text, cannot be opened: " +
                       opened.error().message + "; " +
                       (chosen ? "correct KM_SPIRV_CROSS or unset it"
                               : "install it (libspirv-cross-c-shared0 of Debian)"));
  }
  log(LogLevel::kInfo, "shaders", "SPIRV-Cross %s", opened->path().c_str());
  return look_up(*opened);
}

const Result<Functions>& functions() {
  static const auto& found = *new Result<Functions>(open_library());  // threads use it to the end
  return found;
}

struct Setting {
  Option option;
  uint32_t value;
};

/// A Target is a language in the words of SPIRV-Cross.
struct Target {
  Backend backend;
  Setting settings[4];
  uint32_t count;
};

Target target_of(Language language, uint32_t version) {
  const auto or_else = [version](uint32_t newest) { return version != 0 ? version : newest; };
  switch (language) {
    case Language::glsl_of_vulkan:
      return {kBackendGlsl, {{kGlslVersion, or_else(460)}, {kGlslVulkanSemantics, 1}}, 2};
    case Language::glsl:
      return {
          kBackendGlsl, {{kGlslVersion, or_else(450)}, {kGlslPushConstantAsUniformBuffer, 1}}, 2};
    case Language::glsl_es:
      return {kBackendGlsl,
              {{kGlslVersion, or_else(310)}, {kGlslEs, 1}, {kGlslPushConstantAsUniformBuffer, 1}},
              3};
    case Language::msl:
      return {kBackendMsl, {{kMslVersion, or_else(20400)}}, 1};
    case Language::hlsl:
      return {kBackendHlsl, {{kHlslShaderModel, or_else(60)}}, 1};
  }
  return {};
}

/// A SpvcContext with everything that one translation makes in it.
class Translation {
 public:
  explicit Translation(const Functions& functions) : f_(functions) {}
  ~Translation() {
    if (context_ != nullptr) f_.context_destroy(context_);
  }
  Translation(const Translation&) = delete;
  Translation& operator=(const Translation&) = delete;

  Result<std::string> run(std::span<const uint32_t> spirv, const Target& target) {
    if (f_.context_create(&context_) != 0) {
      return make_error(KM_ERROR_OUT_OF_HOST_MEMORY, "SPIRV-Cross has no memory");
    }
    SpvcIr* ir = nullptr;
    SpvcCompiler* compiler = nullptr;
    SpvcOptions* options = nullptr;
    KM_TRY(check(f_.context_parse_spirv(context_, spirv.data(), spirv.size(), &ir)));
    KM_TRY(
        check(f_.context_create_compiler(context_, target.backend, ir, kTakeOwnership, &compiler)));
    KM_TRY(check(f_.compiler_create_compiler_options(compiler, &options)));
    for (uint32_t i = 0; i < target.count; ++i) {
      KM_TRY(check(f_.compiler_options_set_uint(options, target.settings[i].option,
                                                target.settings[i].value)));
    }
    KM_TRY(check(f_.compiler_install_compiler_options(compiler, options)));
    const char* text = nullptr;
    KM_TRY(check(f_.compiler_compile(compiler, &text)));
    return std::string(text);
  }

 private:
  Status check(int32_t result) const {
    if (result == 0) return {};
    return make_error(KM_ERROR_NOT_SUPPORTED, "SPIRV-Cross refuses the shader: %s",
                      f_.context_get_last_error_string(context_));
  }

  const Functions& f_;
  SpvcContext* context_ = nullptr;
};

}  // namespace

Status load_spirv_cross() {
  if (!functions()) return functions().error();
  return {};
}

Result<std::string> text_of(std::span<const uint32_t> spirv, Language language, uint32_t version) {
  KM_TRY(load_spirv_cross());
  return Translation(*functions()).run(spirv, target_of(language, version));
}

}  // namespace km::shaders
