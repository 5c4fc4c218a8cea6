// OpenCL on PoCL's CPU device, as much as benchmarks need of it.
#pragma once

#include <string>

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include "common/benchmark.h"

namespace km::bench {

void require_cl(cl_int status, const char* call);

class OpenclKernel {
 public:
  OpenclKernel(cl_command_queue queue, cl_kernel kernel) : queue_(queue), kernel_(kernel) {}

  void set_shape(size_t global_x, size_t local_x, size_t global_y = 1, size_t local_y = 1) {
    global_[0] = global_x;
    global_[1] = global_y;
    local_[0] = local_x;
    local_[1] = local_y;
  }
  template <class... Args>
  void set_arguments(const Args&... args) {
    cl_uint index = 0;
    (require_cl(clSetKernelArg(kernel_, index++, sizeof args, &args), "clSetKernelArg"), ...);
  }
  void run() {
    const cl_uint dimensions = global_[1] == 1 ? 1 : 2;
    require_cl(clEnqueueNDRangeKernel(queue_, kernel_, dimensions, nullptr, global_, local_, 0,
                                      nullptr, nullptr),
               "clEnqueueNDRangeKernel");
    require_cl(clFinish(queue_), "clFinish");
  }

 private:
  cl_command_queue queue_;
  cl_kernel kernel_;
  size_t global_[2] = {1, 1};
  size_t local_[2] = {1, 1};
};

class OpenclHost {
 public:
  OpenclHost();
  /// A kernel of kernels/<benchmark>/kernel.cl.
  OpenclKernel kernel(const std::string& benchmark, const char* name);
  cl_mem allocate(size_t size_bytes, const void* content = nullptr);
  void download(cl_mem buffer, void* destination, size_t size_bytes);

 private:
  cl_device_id device_ = nullptr;
  cl_context context_ = nullptr;
  cl_command_queue queue_ = nullptr;
};

}  // namespace km::bench
