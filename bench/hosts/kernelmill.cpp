#include "hosts/kernelmill.h"

#include <cstdlib>
#include <cstring>
#include <fstream>

#include "common/benchmark.h"
#include "hosts/device.h"
#include "scale/block_times.h"

namespace km::bench {
namespace {

std::string last_error() {
  char text[4096] = "";
  uint64_t size = 0;
  km_last_error_message(text, sizeof text, &size);
  return text;
}

/// The file that gets a line of times of blocks for each launch; null: none is asked for.
const char* block_times_file() { return std::getenv("KM_TEST_BLOCKS"); }

/// Appends the times of the blocks of a module's last launch: the kernel's name, then numbers.
void write_block_times(km_stream stream, km_module module, const char* kernel, uint64_t blocks) {
  km_slice noted{};
  require(km_module_global(module, kBlockBegins, &noted), "km_module_global");
  std::vector<uint64_t> begins(std::min<uint64_t>(blocks, kMostBlocks));
  require(km_slice_download(stream, noted, 0, begins.data(), begins.size() * 8),
          "km_slice_download");
  require(km_stream_synchronize(stream), "km_stream_synchronize");
  std::ofstream file(block_times_file(), std::ios::app);
  file << kernel;
  for (const uint64_t time : times_of(begins)) file << ' ' << time;
  file << '\n';
}

class KernelmillLaunch : public Launch {
 public:
  KernelmillLaunch(km_stream stream, km_module module, const char* kernel, Extent grid,
                   Extent block)
      : stream_(stream),
        module_(module),
        kernel_(kernel),
        config_{{grid.x, grid.y, grid.z}, {block.x, block.y, block.z}, 0} {
    require(km_module_function(module, kernel, &function_), "km_module_function");
  }
  void pack(uint32_t index, const Argument& argument) {
    km_param_info info{};
    info.struct_size = sizeof info;
    require(km_function_param(function_, index, &info), "km_function_param");
    const uint64_t end = info.offset_bytes + info.size_bytes;
    if (info.size_bytes != argument.size_bytes) {
      fail("argument " + std::to_string(index) + " has another size");
    }
    if (arguments_.size() < end) arguments_.resize(end);
    std::memcpy(arguments_.data() + info.offset_bytes, argument.value, argument.size_bytes);
  }
  void submit() override {
    require(km_launch_kernel(stream_, function_, &config_, arguments_.data(), arguments_.size(),
                             nullptr, 0),
            "km_launch_kernel");
    if (block_times_file() == nullptr) return;
    const uint32_t* const grid = config_.grid;
    require(km_stream_synchronize(stream_), "km_stream_synchronize");
    write_block_times(stream_, module_, kernel_.c_str(), uint64_t{grid[0]} * grid[1] * grid[2]);
  }

 private:
  km_stream stream_;
  km_module module_;
  std::string kernel_;
  km_function function_{};
  km_launch_config config_;
  std::vector<uint8_t> arguments_;
};

}  // namespace

void require(km_status status, const char* call) {
  if (status == KM_SUCCESS) return;
  const char* name = "?";
  km_status_name(status, &name);
  fail(std::string(call) + ": " + name + ": " + last_error());
}

std::string compile_to_ptx(const std::string& path) {
  const std::string source = read_text_file(path);
  km_program program{};
  require(km_program_create(source.data(), source.size(), path.c_str(), &program),
          "km_program_create");
  require(km_program_compile(program), path.c_str());
  uint64_t size = 0;
  require(km_program_ptx(program, nullptr, 0, &size), "km_program_ptx");
  std::string ptx(size, '\0');
  require(km_program_ptx(program, ptx.data(), size, &size), "km_program_ptx");
  require(km_program_destroy(program), "km_program_destroy");
  ptx.resize(size - 1);
  return ptx;
}

struct Device::Implementation {
  km_device device{};
  km_context context{};
  km_stream stream{};
  std::map<std::string, km_module> modules;
  double build_seconds = 0;

  km_module module(const std::string& benchmark) {
    km_module& found = modules[benchmark];
    if (found) return found;
    const std::string path = std::string(KM_BENCH_FOLDER) + "/kernels/" + benchmark + "/kernel.cu";
    std::string ptx = compile_to_ptx(path);
    if (block_times_file() != nullptr) ptx = note_block_begins(ptx);
    const double start = now_seconds();
    require(km_module_load_ptx(context, ptx.data(), ptx.size(), path.c_str(), &found),
            "km_module_load_ptx");
    build_seconds += now_seconds() - start;
    return found;
  }
};

Device::Device() : own_(std::make_unique<Implementation>()) {
  const char* device = std::getenv("KM_TEST_BENCH_DEVICE");
  require(km_device_open(device != nullptr ? device : "cpu", &own_->device), "km_device_open");
  require(km_context_create(own_->device, &own_->context), "km_context_create");
  require(km_context_default_stream(own_->context, &own_->stream), "km_context_default_stream");
}

Device::~Device() = default;

Buffer Device::allocate(uint64_t size_bytes, const void* content) {
  km_slice slice{};
  require(km_slice_create(own_->context, size_bytes, 1, KM_SLICE_DEFAULT, &slice),
          "km_slice_create");
  if (content != nullptr) {
    require(km_slice_upload(own_->stream, slice, 0, content, size_bytes), "km_slice_upload");
  }
  uint64_t address = 0;
  require(km_slice_address(slice, &address), "km_slice_address");
  return {address};
}

void Device::download(Buffer source, void* destination, uint64_t size_bytes) {
  require(km_memory_download(own_->stream, source.id, destination, size_bytes),
          "km_memory_download");
  synchronize();
}

void Device::copy(Buffer destination, Buffer source, uint64_t size_bytes) {
  require(km_memory_copy(own_->stream, destination.id, source.id, size_bytes), "km_memory_copy");
}

void Device::fill(Buffer destination, uint8_t value, uint64_t size_bytes) {
  require(km_memory_fill_u8(own_->stream, destination.id, value, size_bytes), "km_memory_fill_u8");
}

std::unique_ptr<Launch> Device::launch(const std::string& benchmark, const char* kernel,
                                       Extent grid, Extent block,
                                       const std::vector<Argument>& arguments) {
  auto launch = std::make_unique<KernelmillLaunch>(own_->stream, own_->module(benchmark), kernel,
                                                   grid, block);
  uint32_t index = 0;
  for (const Argument& argument : arguments) launch->pack(index++, argument);
  return launch;
}

void Device::synchronize() {
  require(km_stream_synchronize(own_->stream), "km_stream_synchronize");
}

double Device::build_seconds() const { return own_->build_seconds; }

}  // namespace km::bench
