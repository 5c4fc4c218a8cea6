#include "tools/kernels/device_output.h"

namespace km::tools {
namespace {

void print(void* progress, const char* text, uint64_t size_bytes) {
  static_cast<Progress*>(progress)->print({text, size_bytes});
}

}  // namespace

DeviceOutput::DeviceOutput(km_context context, Progress& progress)
    : context_(progress.is_visible() &&
                       km_context_set_output(context, print, &progress) == KM_SUCCESS
                   ? context
                   : nullptr) {}

DeviceOutput::~DeviceOutput() {
  if (context_ != nullptr) km_context_set_output(context_, nullptr, nullptr);
}

}  // namespace km::tools
