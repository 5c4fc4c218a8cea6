#include "base/cuda/python_packages.h"

#include <link.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>

namespace km {
namespace {

struct PythonPackage {
  std::string_view file;  // beginning of a path below site-packages
  const char* advice;
  bool has_machine_code;  // generates or ships machine code of GPUs for the driver
};

// nvJitLink and ptxas of `exec` keep PTX in what they give.
constexpr char kLinkerAdvice[] =
    "run it by 'kernelmill exec', and without --no-replace nvJitLink, so that its PTX is kept";
constexpr char kJaxAdvice[] =
    "run it by 'kernelmill exec' with its nvJitLink and ptxas, which keep PTX, or set "
    "JAX_PLATFORMS=cpu";

// The order is that in which packages are blamed for machine code.
constexpr PythonPackage kPackages[] = {
    {"triton/",
     "run it by 'kernelmill exec', and let TRITON_PTXAS_PATH and TRITON_PTXAS_BLACKWELL_PATH name "
     "its ptxas, which keeps PTX",
     true},
    {"jaxlib/", kJaxAdvice, true},
    {"jax_plugins/", kJaxAdvice, true},
    {"nvidia/cu13/lib/libnvJitLink", kLinkerAdvice, true},
    {"nvidia/nvjitlink/", kLinkerAdvice, true},
    {"torch/",
     "its wheels hold no PTX: use PyTorch's device \"cpu\", or a build with PTX, as Debian's "
     "python3-torch-cuda is",
     true},
    {"cupy", "install CuPy from its sources with Kernelmill's runtime: no wheel of CuPy has it",
     false},
    {"warp/", "use Warp's device \"cpu\", or a Warp that is built with --use-dynamic-cuda", false},
    {"cuda/bindings/", "use cuda.bindings.driver and nvrtc, or cuda.core, in the runtime's place",
     false},
    {"xgboost/", "use XGBoost with device=\"cpu\"", false},
    {"tensorflow/", "use TensorFlow's device \"/CPU:0\"", false},
};

/// The part of a path below the folder of a Python's packages.
std::optional<std::string_view> below_packages(std::string_view path) {
  for (const std::string_view folder : {"/site-packages/", "/dist-packages/"}) {
    const size_t at = path.rfind(folder);
    if (at != std::string_view::npos) return path.substr(at + folder.size());
  }
  return std::nullopt;
}

const PythonPackage* find_package(std::string_view below) {
  const auto* const found =
      std::find_if(std::begin(kPackages), std::end(kPackages),
                   [&](const PythonPackage& each) { return below.starts_with(each.file); });
  return found == std::end(kPackages) ? nullptr : found;
}

/// Keeps the first package of the table, in its order, that has machine code and is loaded.
int keep_first(dl_phdr_info* object, size_t, void* kept) {
  const std::optional<std::string_view> below = below_packages(object->dlpi_name);
  const PythonPackage* const package = below ? find_package(*below) : nullptr;
  if (package == nullptr || !package->has_machine_code) return 0;
  auto*& first = *static_cast<const PythonPackage**>(kept);
  if (first == nullptr || package < first) first = package;
  return 0;
}

}  // namespace

std::string advice_for_python_file(std::string_view path) {
  const std::optional<std::string_view> below = below_packages(path);
  if (!below) return {};
  if (const PythonPackage* const known = find_package(*below)) return known->advice;
  const std::string name(below->substr(0, below->find('/')));
  return "use what the Python package " + name +
         " has for CPUs, or a build of it with -cudart shared";
}

std::string advice_for_python_machine_code() {
  const PythonPackage* first = nullptr;
  dl_iterate_phdr(keep_first, &first);
  return first == nullptr ? std::string() : first->advice;
}

bool xla_is_loaded() {
  const auto is_plugin = [](dl_phdr_info* object, size_t, void*) -> int {
    const std::optional<std::string_view> below = below_packages(object->dlpi_name);
    return below && below->starts_with("jax_plugins/");
  };
  return dl_iterate_phdr(is_plugin, nullptr) != 0;
}

}  // namespace km
