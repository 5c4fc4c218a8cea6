// OpenCL on the CPU device of the one platform that the loader finds: run.py shows it no other.
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include "common/benchmark.h"
#include "hosts/device.h"

namespace km::bench {
namespace {

void require(cl_int status, const char* call) {
  if (status != CL_SUCCESS) fail(std::string(call) + " gives " + std::to_string(status));
}

cl_mem memory_of(Buffer buffer) { return reinterpret_cast<cl_mem>(buffer.id); }

class OpenclLaunch : public Launch {
 public:
  OpenclLaunch(cl_command_queue queue, cl_kernel kernel, Extent grid, Extent block)
      : queue_(queue),
        kernel_(kernel),
        global_{size_t{grid.x} * block.x, size_t{grid.y} * block.y, size_t{grid.z} * block.z},
        local_{block.x, block.y, block.z} {
    dimensions_ = global_[2] > 1 ? 3 : global_[1] > 1 ? 2 : 1;
  }
  void submit() override {
    require(clEnqueueNDRangeKernel(queue_, kernel_, dimensions_, nullptr, global_, local_, 0,
                                   nullptr, nullptr),
            "clEnqueueNDRangeKernel");
  }

 private:
  cl_command_queue queue_;
  cl_kernel kernel_;
  cl_uint dimensions_ = 1;
  size_t global_[3];
  size_t local_[3];
};

cl_device_id find_device() {
  cl_platform_id platform = nullptr;
  cl_device_id device = nullptr;
  require(clGetPlatformIDs(1, &platform, nullptr), "clGetPlatformIDs");
  require(clGetDeviceIDs(platform, CL_DEVICE_TYPE_CPU, 1, &device, nullptr), "clGetDeviceIDs");
  return device;
}

std::string log_of(cl_program program, cl_device_id device) {
  char text[4096] = "";
  clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, sizeof text, text, nullptr);
  return text;
}

cl_program build(cl_context context, cl_device_id device, const std::string& benchmark) {
  const std::string source =
      read_text_file(std::string(KM_BENCH_FOLDER) + "/kernels/" + benchmark + "/kernel.cl");
  const char* text = source.c_str();
  cl_int status = CL_SUCCESS;
  cl_program program = clCreateProgramWithSource(context, 1, &text, nullptr, &status);
  require(status, "clCreateProgramWithSource");
  // Correctly rounded division and square root, as CUDA has them by default.
  const char* options = "-cl-std=CL1.2 -cl-fp32-correctly-rounded-divide-sqrt";
  if (clBuildProgram(program, 1, &device, options, nullptr, nullptr) != CL_SUCCESS) {
    fail("clBuildProgram: " + log_of(program, device));
  }
  return program;
}

}  // namespace

struct Device::Implementation {
  cl_device_id device = nullptr;
  cl_context context = nullptr;
  cl_command_queue queue = nullptr;
  std::map<std::string, cl_program> programs;
  double build_seconds = 0;

  cl_program program(const std::string& benchmark) {
    cl_program& found = programs[benchmark];
    if (found != nullptr) return found;
    const double start = now_seconds();
    found = build(context, device, benchmark);
    build_seconds += now_seconds() - start;
    return found;
  }
};

Device::Device() : own_(std::make_unique<Implementation>()) {
  own_->device = find_device();
  cl_int status = CL_SUCCESS;
  own_->context = clCreateContext(nullptr, 1, &own_->device, nullptr, nullptr, &status);
  require(status, "clCreateContext");
  own_->queue = clCreateCommandQueue(own_->context, own_->device, 0, &status);
  require(status, "clCreateCommandQueue");
}

Device::~Device() = default;

Buffer Device::allocate(uint64_t size_bytes, const void* content) {
  cl_int status = CL_SUCCESS;
  cl_mem memory = clCreateBuffer(own_->context, CL_MEM_READ_WRITE, size_bytes, nullptr, &status);
  require(status, "clCreateBuffer");
  if (content != nullptr) {
    require(clEnqueueWriteBuffer(own_->queue, memory, CL_TRUE, 0, size_bytes, content, 0, nullptr,
                                 nullptr),
            "clEnqueueWriteBuffer");
  }
  return {reinterpret_cast<uint64_t>(memory)};
}

void Device::download(Buffer source, void* destination, uint64_t size_bytes) {
  require(clEnqueueReadBuffer(own_->queue, memory_of(source), CL_TRUE, 0, size_bytes, destination,
                              0, nullptr, nullptr),
          "clEnqueueReadBuffer");
}

void Device::copy(Buffer destination, Buffer source, uint64_t size_bytes) {
  require(clEnqueueCopyBuffer(own_->queue, memory_of(source), memory_of(destination), 0, 0,
                              size_bytes, 0, nullptr, nullptr),
          "clEnqueueCopyBuffer");
}

void Device::fill(Buffer destination, uint8_t value, uint64_t size_bytes) {
  require(clEnqueueFillBuffer(own_->queue, memory_of(destination), &value, 1, 0, size_bytes, 0,
                              nullptr, nullptr),
          "clEnqueueFillBuffer");
}

std::unique_ptr<Launch> Device::launch(const std::string& benchmark, const char* kernel,
                                       Extent grid, Extent block,
                                       const std::vector<Argument>& arguments) {
  cl_int status = CL_SUCCESS;
  cl_kernel object = clCreateKernel(own_->program(benchmark), kernel, &status);
  require(status, "clCreateKernel");
  cl_uint index = 0;
  for (const Argument& argument : arguments) {
    require(clSetKernelArg(object, index++, argument.size_bytes, argument.value), "clSetKernelArg");
  }
  return std::make_unique<OpenclLaunch>(own_->queue, object, grid, block);
}

void Device::synchronize() { require(clFinish(own_->queue), "clFinish"); }

double Device::build_seconds() const { return own_->build_seconds; }

}  // namespace km::bench
