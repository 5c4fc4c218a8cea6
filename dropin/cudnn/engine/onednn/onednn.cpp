#include "dropin/cudnn/engine/onednn/onednn.h"

#include <string>

#include "base/env.h"
#include "base/log.h"
#include "base/process/dylib.h"

namespace km::cudnn::onednn {
namespace {

/// The start of dnnl_version_t.
struct Version {
  int major, minor, patch;
};
constexpr int kCpu = 1;
constexpr unsigned kInOrder = 1;

template <class Function>
bool find(const Dylib& library, const char* name, Function* out) {
  *out = library.function<Function>(name);
  return *out != nullptr;
}

bool find_all(const Dylib& library, Functions* out) {
#define KM_ONEDNN(name) find(library, "dnnl_" #name, &out->name)
  return KM_ONEDNN(engine_create) && KM_ONEDNN(stream_create) && KM_ONEDNN(stream_wait) &&
         KM_ONEDNN(memory_desc_create_with_strides) && KM_ONEDNN(memory_desc_create_with_tag) &&
         KM_ONEDNN(memory_desc_destroy) && KM_ONEDNN(memory_desc_equal) &&
         KM_ONEDNN(memory_create) && KM_ONEDNN(memory_set_data_handle) &&
         KM_ONEDNN(memory_destroy) && KM_ONEDNN(convolution_forward_primitive_desc_create) &&
         KM_ONEDNN(convolution_backward_data_primitive_desc_create) &&
         KM_ONEDNN(convolution_backward_weights_primitive_desc_create) &&
         KM_ONEDNN(reorder_primitive_desc_create) && KM_ONEDNN(primitive_desc_query_md) &&
         KM_ONEDNN(primitive_desc_destroy) && KM_ONEDNN(primitive_create) &&
         KM_ONEDNN(primitive_destroy) && KM_ONEDNN(primitive_execute) &&
         KM_ONEDNN(primitive_attr_create) && KM_ONEDNN(primitive_attr_destroy) &&
         KM_ONEDNN(primitive_attr_set_post_ops) && KM_ONEDNN(post_ops_create) &&
         KM_ONEDNN(post_ops_destroy) && KM_ONEDNN(post_ops_append_eltwise) &&
         KM_ONEDNN(post_ops_append_sum);
#undef KM_ONEDNN
}

}  // namespace

Result<Library> Library::load(const std::string& path) {
  Result<Dylib> library = Dylib::open(path);
  if (!library) return library.error();
  const auto version = library->function<const Version* (*)()>("dnnl_version");
  if (version == nullptr || version()->major != 3) {
    return make_error(KM_ERROR_NOT_SUPPORTED, "%s is not oneDNN 3", path.c_str());
  }
  Library found;
  if (!find_all(*library, &found.functions_)) {
    return make_error(KM_ERROR_NOT_SUPPORTED, "%s lacks functions of oneDNN", path.c_str());
  }
  if (found.functions_.engine_create(&found.engine_, kCpu, 0) != 0 ||
      found.functions_.stream_create(&found.stream_, found.engine_, kInOrder) != 0) {
    return make_error(KM_ERROR_NOT_SUPPORTED, "%s has no engine for CPUs", path.c_str());
  }
  found.set_threads_ = library->function<void (*)(int)>("omp_set_num_threads");
  log(LogLevel::kInfo, "cuda", "oneDNN %d.%d at %s", version()->major, version()->minor,
      library->path().c_str());
  return found;
}

const Library* Library::instance() {
  static const Result<Library> loaded = [] {
    const std::string named = env(EnvVar::KM_ONEDNN).value_or("");
    if (named == "none")
      return Result<Library>(make_error(KM_ERROR_NOT_SUPPORTED, "it is turned off"));
    return load(named.empty() ? "libdnnl.so.3" : named);
  }();
  static const bool is_told = [] {
    if (!loaded) {
      log(LogLevel::kInfo, "cuda", "convolutions run without oneDNN: %s",
          loaded.error().message.c_str());
    }
    return true;
  }();
  static_cast<void>(is_told);
  return loaded ? &*loaded : nullptr;
}

}  // namespace km::cudnn::onednn
