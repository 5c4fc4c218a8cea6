#include "dropin/cufft/xt/jit_callback.h"

#include <cctype>
#include <optional>

#include "base/process/dylib.h"
#include "dropin/cufft/version/version.h"
#include "dropin/library/callback_arguments.h"

namespace km::cufft {
namespace {

constexpr char kPointer[] = "__kernelmill_jit_callback";
constexpr int kSuccess = 0;

/// A C++ type for each cufftXtCallbackType from CUFFT_CB_LD_COMPLEX on; those of stores repeat it.
constexpr const char* kNumbers[] = {"float2", "double2", "float", "double"};

/// CUDA C++ with a variable that holds the function's address, without which a linker would leave
/// the function out.
std::string anchor_source(const std::string& function, cufftXtCallbackType type) {
  const bool is_store = type >= CUFFT_CB_ST_COMPLEX;
  const std::string number = kNumbers[type % std::size(kNumbers)];
  const std::string result = is_store ? "void" : number;
  const std::string parameters = is_store
                                     ? "(void*, unsigned long long, " + number + ", void*, void*)"
                                     : "(void*, unsigned long long, void*, void*)";
  return "extern \"C\" __device__ " + result + " " + function + parameters + ";\nextern \"C\" " +
         "__device__ " + result + " (*" + kPointer + ")" + parameters + " = " + function + ";\n";
}

/// A library of NVIDIA's interface by the name that `kernelmill exec` gives ours.
cufftResult open(const char* name, std::optional<Dylib>* out) {
  const std::string file = std::string(name) + ".so." + std::to_string(kVersion / 1000 + 1);
  Result<Dylib> library = Dylib::open(file);
  if (!library) {
    return unsupported("a callback in LTO-IR wants %s: %s", file.c_str(),
                       library.error().message.c_str());
  }
  out->emplace(std::move(*library));
  return CUFFT_SUCCESS;
}

/// The functions of one library that compile or link.
class Functions {
 public:
  explicit Functions(const Dylib& library) : library_(library) {}
  template <class... Arguments>
  int call(const char* name, Arguments... arguments) const {
    const auto function = library_.function<int (*)(Arguments...)>(name);
    return function != nullptr ? function(arguments...) : -1;
  }
  /// A text that one function measures and another one gives; `Handle` comes first in both.
  template <class Handle>
  std::string text(const char* size_name, const char* text_name, Handle handle) const {
    size_t size = 0;
    if (call(size_name, handle, &size) != kSuccess || size == 0) return {};
    std::string made(size + 1, '\0');
    if (call(text_name, handle, made.data()) != kSuccess) return {};
    made.resize(size);
    return made;
  }

 private:
  const Dylib& library_;
};

/// Compiles CUDA C++ to LTO-IR.
cufftResult compile(const std::string& source, const std::string& target, std::string* out) {
  std::optional<Dylib> library;
  LIB_TRY(open("libnvrtc", &library));
  const Functions nvrtc(*library);
  const std::string arch = "-arch=compute_" + target;
  const char* const options[] = {arch.c_str(), "-dlto"};
  void* program = nullptr;
  int made = nvrtc.call("nvrtcCreateProgram", &program, source.c_str(), "cufft_callback.cu", 0,
                        static_cast<const char* const*>(nullptr),
                        static_cast<const char* const*>(nullptr));
  if (made == kSuccess) {
    made = nvrtc.call("nvrtcCompileProgram", program, 2, static_cast<const char* const*>(options));
  }
  if (made == kSuccess) *out = nvrtc.text("nvrtcGetLTOIRSize", "nvrtcGetLTOIR", program);
  const std::string log =
      program != nullptr ? nvrtc.text("nvrtcGetProgramLogSize", "nvrtcGetProgramLog", program) : "";
  if (program != nullptr) nvrtc.call("nvrtcDestroyProgram", &program);
  if (made == kSuccess && !out->empty()) return CUFFT_SUCCESS;
  return unsupported("a callback in LTO-IR wants NVIDIA's NVRTC, which gives error %d: %s", made,
                     log.c_str());
}

/// Links LTO-IR to PTX.
cufftResult link(const std::string& anchor, const std::string& code, const std::string& target,
                 std::string* ptx) {
  constexpr int kLinkTimeCode = 3, kAny = 10;  // nvJitLinkInputType
  std::optional<Dylib> library;
  LIB_TRY(open("libnvJitLink", &library));
  const Functions linker(*library);
  const std::string arch = "-arch=sm_" + target;
  const char* options[] = {arch.c_str(), "-lto", "-ptx"};
  void* handle = nullptr;
  int made =
      linker.call("nvJitLinkCreate", &handle, uint32_t{3}, static_cast<const char**>(options));
  const auto add = [&](int type, const std::string& data, const char* name) {
    if (made != kSuccess) return;
    made = linker.call("nvJitLinkAddData", handle, type, static_cast<const void*>(data.data()),
                       data.size(), name);
  };
  add(kLinkTimeCode, anchor, "cufft");
  add(kAny, code, "callback");
  if (made == kSuccess) made = linker.call("nvJitLinkComplete", handle);
  if (made == kSuccess) {
    *ptx = linker.text("nvJitLinkGetLinkedPtxSize", "nvJitLinkGetLinkedPtx", handle);
  }
  const std::string log =
      handle != nullptr ? linker.text("nvJitLinkGetErrorLogSize", "nvJitLinkGetErrorLog", handle)
                        : "";
  if (handle != nullptr) linker.call("nvJitLinkDestroy", &handle);
  if (made == kSuccess && !ptx->empty()) return CUFFT_SUCCESS;
  return unsupported("the callback cannot be linked, error %d: %s", made, log.c_str());
}

cufftResult find_target(const Driver& driver, std::string* out) {
  cu::CUdevice device = 0;
  int major = 0, minor = 0;
  LIB_CHECK(driver.cuCtxGetDevice(&device));
  LIB_CHECK(driver.cuDeviceGetAttribute(&major, cu::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR,
                                        device));
  LIB_CHECK(driver.cuDeviceGetAttribute(&minor, cu::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR,
                                        device));
  *out = std::to_string(10 * major + minor);
  return CUFFT_SUCCESS;
}

bool is_ptx(const std::string& code) {
  const size_t at = code.find_first_not_of(" \t\r\n");
  return at != code.npos &&
         (code.compare(at, 8, ".version") == 0 || code.compare(at, 2, "//") == 0);
}

cufftResult make_ptx(const Driver& driver, const std::string& function, const std::string& code,
                     cufftXtCallbackType type, std::string* ptx) {
  if (is_ptx(code)) {
    *ptx = code.substr(0, code.find('\0')) + "\n.visible .global .align 8 .u64 " + kPointer +
           " = " + function + ";\n";
    return CUFFT_SUCCESS;
  }
  std::string target, anchor;
  LIB_TRY(find_target(driver, &target));
  LIB_TRY(compile(anchor_source(function, type), target, &anchor));
  return link(anchor, code, target, ptx);
}

bool is_identifier(const std::string& name) {
  for (const char c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '_' && c != '$') return false;
  }
  return !name.empty() && std::isdigit(static_cast<unsigned char>(name.front())) == 0;
}

}  // namespace

cufftResult load_jit_callback(const Driver& driver, const std::string& function,
                              const std::string& code, cufftXtCallbackType type, Callback* out) {
  if (!is_identifier(function)) return invalid("'%s' is no name of a function", function.c_str());
  LIB_CHECK(library::enter_context(driver));
  std::string ptx;
  LIB_TRY(make_ptx(driver, function, code, type, &ptx));
  cu::CUlibrary loaded = nullptr;
  const cu::CUresult result =
      driver.cuLibraryLoadData(&loaded, ptx.c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0);
  if (result != cu::CUDA_SUCCESS) {
    return invalid("the code of the callback '%s' cannot be loaded: error %d", function.c_str(),
                   static_cast<int>(result));
  }
  const auto unload = driver.cuLibraryUnload;
  out->module = std::shared_ptr<void>(
      loaded, [unload](void* library) { unload(static_cast<cu::CUlibrary>(library)); });
  cu::CUdeviceptr place = 0;
  size_t size = 0;
  LIB_CHECK(driver.cuLibraryGetGlobal(&place, &size, loaded, kPointer));
  LIB_CHECK(driver.cuMemcpyDtoH_v2(&out->function, place, sizeof out->function));
  cu::CUkernel kernel = nullptr;
  const std::string name = library::kCallbackKernelPrefix + std::to_string(type);
  LIB_CHECK(driver.cuLibraryGetKernel(&kernel, loaded, name.c_str()));
  out->kernel = reinterpret_cast<cu::CUfunction>(kernel);
  return CUFFT_SUCCESS;
}

}  // namespace km::cufft
