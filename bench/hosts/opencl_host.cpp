#include "hosts/opencl_host.h"

#include <vector>

namespace km::bench {
namespace {

/// The first CPU device of the platform that KM_BENCH_OPENCL names.
cl_device_id find_device() {
  cl_uint count = 0;
  require_cl(clGetPlatformIDs(0, nullptr, &count), "clGetPlatformIDs");
  std::vector<cl_platform_id> platforms(count);
  require_cl(clGetPlatformIDs(count, platforms.data(), nullptr), "clGetPlatformIDs");
  for (cl_platform_id platform : platforms) {
    char name[256] = "";
    clGetPlatformInfo(platform, CL_PLATFORM_NAME, sizeof name, name, nullptr);
    if (std::string(name).find(KM_BENCH_OPENCL) == std::string::npos) continue;
    cl_device_id device = nullptr;
    if (clGetDeviceIDs(platform, CL_DEVICE_TYPE_CPU, 1, &device, nullptr) == CL_SUCCESS) {
      return device;
    }
  }
  fail("no OpenCL platform named " KM_BENCH_OPENCL);
}

}  // namespace

void require_cl(cl_int status, const char* call) {
  if (status != CL_SUCCESS) fail(std::string(call) + " gives " + std::to_string(status));
}

OpenclHost::OpenclHost() : device_(find_device()) {
  cl_int status = CL_SUCCESS;
  context_ = clCreateContext(nullptr, 1, &device_, nullptr, nullptr, &status);
  require_cl(status, "clCreateContext");
  queue_ = clCreateCommandQueue(context_, device_, 0, &status);
  require_cl(status, "clCreateCommandQueue");
}

OpenclKernel OpenclHost::kernel(const std::string& benchmark, const char* name) {
  const std::string path = std::string(KM_BENCH_FOLDER) + "/kernels/" + benchmark + "/kernel.cl";
  const std::string source = read_text_file(path);
  const char* text = source.c_str();
  cl_int status = CL_SUCCESS;
  cl_program program = clCreateProgramWithSource(context_, 1, &text, nullptr, &status);
  require_cl(status, "clCreateProgramWithSource");
  // Correctly rounded division and square root, as CUDA has them by default.
  const char* options = "-cl-std=CL1.2 -cl-fp32-correctly-rounded-divide-sqrt";
  require_cl(clBuildProgram(program, 1, &device_, options, nullptr, nullptr), "clBuildProgram");
  cl_kernel kernel = clCreateKernel(program, name, &status);
  require_cl(status, "clCreateKernel");
  return OpenclKernel(queue_, kernel);
}

cl_mem OpenclHost::allocate(size_t size_bytes, const void* content) {
  cl_int status = CL_SUCCESS;
  cl_mem buffer = clCreateBuffer(context_, CL_MEM_READ_WRITE, size_bytes, nullptr, &status);
  require_cl(status, "clCreateBuffer");
  if (content != nullptr) {
    require_cl(
        clEnqueueWriteBuffer(queue_, buffer, CL_TRUE, 0, size_bytes, content, 0, nullptr, nullptr),
        "clEnqueueWriteBuffer");
  }
  return buffer;
}

void OpenclHost::download(cl_mem buffer, void* destination, size_t size_bytes) {
  require_cl(
      clEnqueueReadBuffer(queue_, buffer, CL_TRUE, 0, size_bytes, destination, 0, nullptr, nullptr),
      "clEnqueueReadBuffer");
}

}  // namespace km::bench
