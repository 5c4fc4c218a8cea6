#include "harness/session.h"

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

namespace km::kernels {
namespace {

constexpr uint64_t kCanaryBytes = 256;
constexpr uint8_t kCanary = 0xA5;
constexpr uint8_t kUnwritten = 0xCD;

std::string name_of(km_status status) {
  const char* name = nullptr;
  return km_status_name(status, &name) == KM_SUCCESS ? name : std::to_string(status);
}

/// Copy-out text calls: ask for the size, then for the text.
template <class Call>
std::string copy_text(const Call& call) {
  uint64_t size = 0;
  if (call(nullptr, 0, &size) != KM_SUCCESS || size == 0) return {};
  std::string text(size, '\0');
  if (call(text.data(), size, &size) != KM_SUCCESS) return {};
  text.resize(size - 1);
  return text;
}

/// Messages name a file without its topic's folder.
const char* name_in(const std::string& path) { return path.c_str() + path.rfind('/') + 1; }

struct Program {
  km_program handle{};
  ~Program() { km_program_destroy(handle); }
};

}  // namespace

std::string last_error_message() {
  return copy_text([](char* buffer, uint64_t capacity, uint64_t* size) {
    return km_last_error_message(buffer, capacity, size);
  });
}

Failure::Failure(const std::string& call, km_status failed)
    : std::runtime_error(call + ": " + name_of(failed) + ": " + last_error_message()),
      status(failed) {}

void require(km_status status, const char* call) {
  if (status != KM_SUCCESS) throw Failure(call, status);
}

std::vector<std::string> exact_options() { return {"--fmad=false", "-std=c++17"}; }

std::string kernel_folder() { return KM_KERNEL_FOLDER; }

std::string device_uri() {
  const char* uri = std::getenv("KM_TEST_DEVICE");
  return uri != nullptr && *uri != '\0' ? uri : "cpu";
}

bool survives_faults() { return device_uri().rfind("cuda", 0) != 0; }

std::string read_text_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot read " + path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

namespace {

std::string compile_source(const std::string& file, const std::string& source,
                           const std::vector<std::string>& options) {
  Program program;
  require(km_program_create(source.data(), source.size(), name_in(file), &program.handle),
          "km_program_create");
  for (const std::string& option : options) {
    require(km_program_add_option(program.handle, option.c_str()), "km_program_add_option");
  }
  if (const km_status status = km_program_compile(program.handle); status != KM_SUCCESS) {
    const Failure failure("km_program_compile", status);
    const std::string log = copy_text([&](char* buffer, uint64_t capacity, uint64_t* size) {
      return km_program_log(program.handle, buffer, capacity, size);
    });
    throw std::runtime_error(std::string(failure.what()) + "\n" + log);
  }
  return copy_text([&](char* buffer, uint64_t capacity, uint64_t* size) {
    return km_program_ptx(program.handle, buffer, capacity, size);
  });
}

}  // namespace

std::string compile_to_ptx(const std::string& file, const std::vector<std::string>& options) {
  const std::string source = read_text_file(kernel_folder() + "/" + file);
  return prepared_ptx(source, options, [&] { return compile_source(file, source, options); });
}

namespace {

bool has_canaries = true;

uint64_t canary_bytes() { return has_canaries ? kCanaryBytes : 0; }

}  // namespace

void leave_out_canaries() { has_canaries = false; }

RawBuffer::RawBuffer(Session& session, uint64_t size_bytes, const void* content)
    : session_(session), size_bytes_(size_bytes) {
  std::vector<uint8_t> image(size_bytes + canary_bytes(), kCanary);
  if (content != nullptr) {
    std::memcpy(image.data(), content, size_bytes);
  } else {
    std::memset(image.data(), kUnwritten, size_bytes);
  }
  require(km_slice_create(session.context(), image.size(), 1, KM_SLICE_DEFAULT, &slice_),
          "km_slice_create");
  require(km_slice_upload(session.stream(), slice_, 0, image.data(), image.size()),
          "km_slice_upload");
}

RawBuffer::~RawBuffer() { km_slice_destroy(slice_); }

uint64_t RawBuffer::address() const {
  uint64_t address = 0;
  require(km_slice_address(slice_, &address), "km_slice_address");
  return address;
}

void RawBuffer::upload(const void* content) {
  require(km_slice_upload(session_.stream(), slice_, 0, content, size_bytes_), "km_slice_upload");
}

void RawBuffer::download(void* destination) const {
  std::vector<uint8_t> image(size_bytes_ + canary_bytes());
  require(km_slice_download(session_.stream(), slice_, 0, image.data(), image.size()),
          "km_slice_download");
  session_.synchronize();
  std::memcpy(destination, image.data(), size_bytes_);
  for (uint64_t i = size_bytes_; i < image.size(); ++i) {
    ASSERT_EQ(image[i], kCanary) << "a store " << i - size_bytes_ << " bytes behind the buffer";
  }
}

Module::~Module() {
  prepare_object(module_, ptx_, blocks_);
  for (auto& entry : functions_) km_function_destroy(entry.second);
  km_module_destroy(module_);
}

km_function Module::function(const char* kernel) {
  const auto found = functions_.find(kernel);
  if (found != functions_.end()) return found->second;
  km_function function{};
  require(km_module_function(module_, kernel, &function), kernel);
  functions_[kernel] = function;
  return function;
}

void Module::set_dynamic_shared_limit(const char* kernel, uint64_t bytes) {
  require(
      km_function_attribute_set(function(kernel), KM_FUNCTION_ATTRIBUTE_MAX_DYNAMIC_SHARED_BYTES,
                                static_cast<int64_t>(bytes)),
      "km_function_attribute_set");
}

void Module::set_attribute(const char* kernel, km_function_attribute attribute, int64_t value) {
  require(km_function_attribute_set(function(kernel), attribute, value), kernel);
}

int64_t Module::attribute(const char* kernel, km_function_attribute attribute) {
  int64_t value = 0;
  require(km_function_attribute_get(function(kernel), attribute, &value),
          "km_function_attribute_get");
  return value;
}

void Module::read_global(const char* name, void* destination, uint64_t size_bytes) {
  km_slice slice{};
  require(km_module_global(module_, name, &slice), name);
  require(km_slice_download(session_.stream(), slice, 0, destination, size_bytes), name);
  session_.synchronize();
  km_slice_destroy(slice);
}

void Module::write_global(const char* name, const void* source, uint64_t size_bytes) {
  km_slice slice{};
  require(km_module_global(module_, name, &slice), name);
  require(km_slice_upload(session_.stream(), slice, 0, source, size_bytes), name);
  km_slice_destroy(slice);
}

std::vector<std::string> Module::kernel_names() {
  uint32_t count = 0;
  require(km_module_function_count(module_, &count), "km_module_function_count");
  std::vector<std::string> names;
  for (uint32_t i = 0; i < count; ++i) {
    names.push_back(copy_text([&](char* buffer, uint64_t capacity, uint64_t* size) {
      return km_module_function_name(module_, i, buffer, capacity, size);
    }));
  }
  return names;
}

Module::Launch::Launch(Module& module, const char* kernel, const Shape& shape) : module_(module) {
  if (on_kernel_run) on_kernel_run(module.ptx_, kernel);
  require(km_launch_create(module.session_.stream(), module.function(kernel), &launch_), kernel);
  require(km_launch_set_grid(launch_, shape.grid.x, shape.grid.y, shape.grid.z), kernel);
  require(km_launch_set_block(launch_, shape.block.x, shape.block.y, shape.block.z), kernel);
  require(km_launch_set_shared_bytes(launch_, shape.shared_bytes), kernel);
  module.blocks_.insert({shape.block.x, shape.block.y, shape.block.z});
  const Dim& cluster = shape.cluster;
  require(km_launch_set_cluster(launch_, cluster.x, cluster.y, cluster.z), kernel);
  require(km_launch_set_cooperative(launch_, shape.is_cooperative ? 1 : 0), kernel);
}

Module::Launch::~Launch() { km_launch_destroy(launch_); }

void Module::Launch::add(const RawBuffer& buffer) {
  require(km_launch_arg_slice(launch_, buffer.slice(), 0), "km_launch_arg_slice");
}

void Module::Launch::add_scalar(const void* value, uint64_t size_bytes) {
  require(km_launch_arg_scalar(launch_, value, size_bytes), "km_launch_arg_scalar");
}

km_status Module::Launch::submit_and_wait() {
  if (const km_status status = km_launch_submit(launch_); status != KM_SUCCESS) return status;
  return km_stream_synchronize(module_.session_.stream());
}

void set_default_variables() {
  // Tests have texts for the newest device; KM_CPU_CC=8.9 has the rules of the default one.
  setenv("KM_CPU_CC", "9.0", 0);
  setenv("KM_CACHE_DIR", "off", 0);  // what is tested is made anew
}

Session::Session() {
  set_default_variables();
  require(km_device_open(device_uri().c_str(), &device_), "km_device_open");
  const bool is_checked = std::getenv("KM_TEST_CHECKED") != nullptr;
  const auto flags = is_checked ? KM_CONTEXT_CHECKED : KM_CONTEXT_DEFAULT;
  require(km_context_create_with_flags(device_, flags, &context_), "km_context_create");
  require(km_context_default_stream(context_, &stream_), "km_context_default_stream");
  const km_status given = km_context_set_output(context_, &Session::on_output, this);
  has_output_ = given != KM_ERROR_NOT_SUPPORTED;
  if (has_output_) require(given, "km_context_set_output");
}

Session::~Session() {
  modules_.clear();
  km_stream_destroy(stream_);
  km_context_destroy(context_);
  km_device_destroy(device_);
}

void Session::on_output(void* user_data, const char* text, uint64_t size_bytes) {
  static_cast<Session*>(user_data)->output_.append(text, size_bytes);
}

void Session::synchronize() { require(km_stream_synchronize(stream_), "km_stream_synchronize"); }

bool Session::is_usable() const {
  km_status error = KM_SUCCESS;
  km_context_take_error(context_, &error);  // forgets what is not sticky
  return km_context_error(context_, &error) == KM_SUCCESS && error == KM_SUCCESS;
}

std::string Session::take_output() {
  std::string text;
  text.swap(output_);
  return text;
}

std::unique_ptr<Module> Session::ptx_text(const std::string& text, const std::string& name) {
  km_module module{};
  if (const std::string object = prepared_object(text); !object.empty()) {
    require(km_module_from_object(context_, object.data(), object.size(), name.c_str(), &module),
            name.c_str());
  } else {
    require(km_module_load_ptx(context_, text.data(), text.size(), name.c_str(), &module),
            name.c_str());
  }
  return std::make_unique<Module>(*this, module, text);
}

Module& Session::cuda(const std::string& file, const std::vector<std::string>& options) {
  std::string key = file;
  for (const std::string& option : options) key += " " + option;
  std::unique_ptr<Module>& module = modules_[key];
  if (module == nullptr) module = ptx_text(compile_to_ptx(file, options), name_in(file));
  return *module;
}

Module& Session::ptx_file(const std::string& file) {
  std::unique_ptr<Module>& module = modules_[file];
  if (module == nullptr) {
    module = ptx_text(read_text_file(kernel_folder() + "/ptx/" + file), file);
  }
  return *module;
}

Session& session() {
  // A fault sticks to its context: the tests after it get a new one. Buffers of the failed test may
  // still refer to the old one.
  static std::vector<std::unique_ptr<Session>> sessions;
  if (sessions.empty() || !sessions.back()->is_usable()) {
    sessions.push_back(std::make_unique<Session>());
  }
  return *sessions.back();
}

}  // namespace km::kernels
