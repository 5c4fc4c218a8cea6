#include "dropin/cuda/frame/error_text.h"

#include <cctype>
#include <map>
#include <string>
#include <string_view>

#include "base/cuda/cuda_results.h"

namespace km::dropin {

using namespace km::cu;  // NOLINT

namespace {

struct Known {
  CUresult result;
  const char* text;
};

// NVIDIA's wording, which programs and their tests compare.
constexpr Known kTexts[] = {
    {CUDA_SUCCESS, "no error"},
    {CUDA_ERROR_INVALID_VALUE, "invalid argument"},
    {CUDA_ERROR_OUT_OF_MEMORY, "out of memory"},
    {CUDA_ERROR_NOT_INITIALIZED, "initialization error"},
    {CUDA_ERROR_DEINITIALIZED, "driver shutting down"},
    {CUDA_ERROR_STUB_LIBRARY, "CUDA driver is a stub library"},
    {CUDA_ERROR_NO_DEVICE, "no CUDA-capable device is detected"},
    {CUDA_ERROR_INVALID_DEVICE, "invalid device ordinal"},
    {CUDA_ERROR_INVALID_IMAGE, "device kernel image is invalid"},
    {CUDA_ERROR_INVALID_CONTEXT, "invalid device context"},
    {CUDA_ERROR_NO_BINARY_FOR_GPU, "no kernel image is available for execution on the device"},
    {CUDA_ERROR_UNSUPPORTED_LIMIT, "limit is not supported on this architecture"},
    {CUDA_ERROR_PEER_ACCESS_UNSUPPORTED, "peer access is not supported between these two devices"},
    {CUDA_ERROR_INVALID_PTX, "a PTX JIT compilation failed"},
    {CUDA_ERROR_UNSUPPORTED_PTX_VERSION,
     "the provided PTX was compiled with an unsupported toolchain."},
    {CUDA_ERROR_INVALID_SOURCE, "device kernel image is invalid"},
    {CUDA_ERROR_FILE_NOT_FOUND, "file not found"},
    {CUDA_ERROR_OPERATING_SYSTEM, "OS call failed or operation not supported on this OS"},
    {CUDA_ERROR_INVALID_HANDLE, "invalid resource handle"},
    {CUDA_ERROR_NOT_FOUND, "named symbol not found"},
    {CUDA_ERROR_NOT_READY, "device not ready"},
    {CUDA_ERROR_ILLEGAL_ADDRESS, "an illegal memory access was encountered"},
    {CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, "too many resources requested for launch"},
    {CUDA_ERROR_LAUNCH_TIMEOUT, "the launch timed out and was terminated"},
    {CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED, "peer access is already enabled"},
    {CUDA_ERROR_PEER_ACCESS_NOT_ENABLED, "peer access has not been enabled"},
    {CUDA_ERROR_PRIMARY_CONTEXT_ACTIVE, "cannot set while device is active in this process"},
    {CUDA_ERROR_CONTEXT_IS_DESTROYED, "context is destroyed"},
    {CUDA_ERROR_ASSERT, "device-side assert triggered"},
    {CUDA_ERROR_ILLEGAL_INSTRUCTION, "an illegal instruction was encountered"},
    {CUDA_ERROR_MISALIGNED_ADDRESS, "misaligned address"},
    {CUDA_ERROR_LAUNCH_FAILED, "unspecified launch failure"},
    {CUDA_ERROR_NOT_PERMITTED, "operation not permitted"},
    {CUDA_ERROR_NOT_SUPPORTED, "operation not supported"},
    {CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "operation not permitted when stream is capturing"},
    {CUDA_ERROR_STREAM_CAPTURE_INVALIDATED,
     "operation failed due to a previous error during capture"},
    {CUDA_ERROR_UNKNOWN, "unknown error"},
};

/// Derives a text from a result's name: CUDA_ERROR_MAP_FAILED gives "map failed".
std::string text_from_name(std::string_view name) {
  name.remove_prefix(std::string_view("CUDA_ERROR_").size());
  std::string text;
  for (const char letter : name) {
    text += letter == '_' ? ' ' : static_cast<char>(std::tolower(letter));
  }
  return text;
}

std::map<CUresult, std::string> make_texts() {
  std::map<CUresult, std::string> made;
  for (const Known& known : kTexts) made.emplace(known.result, known.text);
  for (CUresult result = CUDA_SUCCESS + 1; result <= CUDA_ERROR_UNKNOWN; ++result) {
    const char* name = cuda_result_name(result);
    if (name != nullptr) made.emplace(result, text_from_name(name));
  }
  return made;
}

const std::map<CUresult, std::string>& texts() {
  static const auto& all = *new std::map<CUresult, std::string>(make_texts());
  return all;
}

}  // namespace

const char* error_text(CUresult result) {
  const auto found = texts().find(result);
  return found != texts().end() ? found->second.c_str() : nullptr;
}

}  // namespace km::dropin
