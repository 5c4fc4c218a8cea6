#include "base/cuda/nvidia_libraries.h"

#include <algorithm>
#include <iterator>

namespace km {
namespace {

constexpr NvidiaLibrary kKnown[] = {
    {"libcublasLt", "cuBLASLt", "have it load ours, of CUDA 12 or 13"},
    {"libcublas", "cuBLAS", "have it load ours, of CUDA 12 or 13"},
    {"libcurand", "cuRAND", "have it load ours, of CUDA 12 or 13"},
    {"libcufft", "cuFFT", "have it load ours, of CUDA 12 or 13"},
    {"libcudnn", "cuDNN", "have it load ours, of version 9"},
    {"libcudss", "cuDSS", "build it with another solver of sparse systems in its place"},
    {"libcusparseLt", "cuSPARSELt", "build it with dense products of cuBLAS in its place"},
    {"libcusparse", "cuSPARSE", "have it load ours, of CUDA 12 or 13"},
    {"libcusolver", "cuSOLVER", "have it load ours, of CUDA 12 or 13"},
    {"libcutensor", "cuTENSOR", "build it with products of cuBLAS in its place"},
    {"libnccl", "NCCL", "have it load ours, of NCCL 2"},
    {"libnpp", "NPP", "build it with OpenCV in its place"},
    {"libnvjpeg", "nvJPEG", "build it with libjpeg in its place"},
    {"libcupti", "CUPTI", "have it load ours, of CUDA 12 or 13"},
    {"libnvJitLink", "nvJitLink", "link its modules by cuLink*"},
    {"libcufile", "cuFile", "build it with plain reads in its place"},
};

}  // namespace

const NvidiaLibrary* find_nvidia_library(std::string_view file_name) {
  const auto* const found =
      std::find_if(std::begin(kKnown), std::end(kKnown),
                   [&](const NvidiaLibrary& each) { return file_name.starts_with(each.begin); });
  return found == std::end(kKnown) ? nullptr : found;
}

}  // namespace km
