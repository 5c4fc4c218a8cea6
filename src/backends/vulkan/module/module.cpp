// Entries for modules and kernels.
#include "backends/vulkan/driver/entries.h"

namespace km::vulkan {
namespace {

km_status no_kernels(kmb_error* error) {
  return report(make_error(KM_ERROR_NOT_SUPPORTED, "Vulkan devices run no kernels yet"), error);
}

}  // namespace

km_status module_load(kmb_context*, const char*, uint64_t, const char*, kmb_module**,
                      kmb_error* error) {
  return no_kernels(error);
}

void module_unload(kmb_module*, const kmb_use*, uint64_t) {}

km_status module_function_count(kmb_module*, uint32_t*, kmb_error* error) {
  return no_kernels(error);
}

km_status module_function_at(kmb_module*, uint32_t, kmb_function**, kmb_error* error) {
  return no_kernels(error);
}

km_status module_global(kmb_module*, const char*, kmb_global_info*, kmb_error* error) {
  return no_kernels(error);
}

km_status function_info(kmb_function*, kmb_function_info*, kmb_error* error) {
  return no_kernels(error);
}

km_status function_attribute_get(kmb_function*, km_function_attribute, int64_t*, kmb_error* error) {
  return no_kernels(error);
}

km_status function_attribute_set(kmb_function*, km_function_attribute, int64_t, kmb_error* error) {
  return no_kernels(error);
}

km_status function_prepare(kmb_function*, const uint32_t*, kmb_error* error) {
  return no_kernels(error);
}

km_status launch(kmb_stream*, kmb_function*, const kmb_launch*, uint64_t*, kmb_error* error) {
  return no_kernels(error);
}

}  // namespace km::vulkan
