// What every kernel test stands on: a device opened through the public C API, modules made from the
// .cu and .ptx files beside the tests, typed buffers, and launches.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <kernelmill/c_api.h>

#include "harness/prepared.h"

namespace km::kernels {

struct Dim {
  uint32_t x = 1, y = 1, z = 1;
};

struct Shape {
  Dim grid, block;
  uint64_t shared_bytes = 0;
  Dim cluster{0, 0, 0};  // as the kernel says
  bool is_cooperative = false;
};

/// One thread per element, in blocks of `block` threads.
inline Shape cover(uint64_t elements, uint32_t block = 128) {
  return {{static_cast<uint32_t>((elements + block - 1) / block)}, {block}};
}

/// A failed call of the library; ends the test.
class Failure : public std::runtime_error {
 public:
  Failure(const std::string& call, km_status failed);
  km_status status;
};

/// Throws Failure with the library's own message unless `status` is KM_SUCCESS.
void require(km_status status, const char* call);
std::string last_error_message();

class Session;

/// Buffers that are made from now on end where their allocations do, so that contexts that are
/// checked find each access behind them.
void leave_out_canaries();

/// Device memory of any element type; canaries behind the end catch stores of inactive lanes.
class RawBuffer {
 public:
  RawBuffer(Session& session, uint64_t size_bytes, const void* content);
  ~RawBuffer();
  RawBuffer(const RawBuffer&) = delete;
  RawBuffer& operator=(const RawBuffer&) = delete;

  void upload(const void* content);
  void download(void* destination) const;
  km_slice slice() const { return slice_; }
  uint64_t address() const;

 private:
  Session& session_;
  uint64_t size_bytes_;
  km_slice slice_{};
};

template <class T>
class Buffer : public RawBuffer {
 public:
  /// Unwritten elements read as 0xCD bytes.
  Buffer(Session& session, uint64_t count)
      : RawBuffer(session, count * sizeof(T), nullptr), count_(count) {}
  Buffer(Session& session, const std::vector<T>& content)
      : RawBuffer(session, content.size() * sizeof(T), content.data()), count_(content.size()) {}

  std::vector<T> read() const {
    std::vector<T> content(count_);
    download(content.data());
    return content;
  }
  uint64_t count() const { return count_; }

 private:
  uint64_t count_;
};

class Module {
 public:
  Module(Session& session, km_module module, std::string ptx)
      : session_(session), module_(module), ptx_(std::move(ptx)) {}
  ~Module();
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;

  /// Launches and waits; throws Failure when either fails.
  template <class... Args>
  void run(const char* kernel, const Shape& shape, const Args&... args) {
    require(try_run(kernel, shape, args...), kernel);
  }
  /// The status of the wait, for kernels that are meant to fault.
  template <class... Args>
  km_status try_run(const char* kernel, const Shape& shape, const Args&... args) {
    Launch launch(*this, kernel, shape);
    (launch.add(args), ...);
    return launch.submit_and_wait();
  }

  void set_dynamic_shared_limit(const char* kernel, uint64_t bytes);
  int64_t attribute(const char* kernel, km_function_attribute attribute);
  void set_attribute(const char* kernel, km_function_attribute attribute, int64_t value);
  void read_global(const char* name, void* destination, uint64_t size_bytes);
  void write_global(const char* name, const void* source, uint64_t size_bytes);
  std::vector<std::string> kernel_names();

 private:
  class Launch {
   public:
    Launch(Module& module, const char* kernel, const Shape& shape);
    ~Launch();
    void add(const RawBuffer& buffer);
    template <class T>
      requires(!std::is_base_of_v<RawBuffer, T>)
    void add(const T& value) {
      static_assert(std::is_trivially_copyable_v<T>);
      add_scalar(&value, sizeof(T));
    }
    km_status submit_and_wait();

   private:
    void add_scalar(const void* value, uint64_t size_bytes);
    Module& module_;
    km_launch launch_{};
  };

  km_function function(const char* kernel);

  Session& session_;
  km_module module_;
  std::string ptx_;
  std::map<std::string, km_function> functions_;
  std::set<BlockSize> blocks_;  // of launches
};

/// Tests compare bits with host code, so contraction is off unless a test asks for it.
std::vector<std::string> exact_options();

class Session {
 public:
  Session();
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  /// The module of a .cu file, "topic/name.cu" in tests/kernels, compiled once per session.
  Module& cuda(const std::string& file, const std::vector<std::string>& options = exact_options());
  /// The module of a .ptx file in tests/kernels/ptx.
  Module& ptx_file(const std::string& file);
  /// A module from PTX text; throws Failure when it does not load.
  std::unique_ptr<Module> ptx_text(const std::string& text, const std::string& name);

  km_context context() const { return context_; }
  km_stream stream() const { return stream_; }
  void synchronize();
  /// False after a fault of a kernel.
  bool is_usable() const;
  /// The device gives what kernels print to the program. GPUs do not.
  bool has_output() const { return has_output_; }
  /// What device printf wrote since the last call.
  std::string take_output();

 private:
  static void on_output(void* user_data, const char* text, uint64_t size_bytes);

  km_device device_{};
  km_context context_{};
  km_stream stream_{};
  bool has_output_ = true;
  std::string output_;
  std::map<std::string, std::unique_ptr<Module>> modules_;
};

/// Called before each launch with the PTX of its module; may be empty.
inline std::function<void(const std::string& ptx, const char* kernel)> on_kernel_run;

/// Gives variables that the environment lacks the values that tests count on. The library reads
/// them when the first device is opened.
void set_default_variables();

/// The session that tests share; tests that make a kernel fault open one of their own.
Session& session();

/// CUDA C++ to PTX, as Session::cuda does it.
std::string compile_to_ptx(const std::string& file, const std::vector<std::string>& options);
std::string read_text_file(const std::string& path);
/// The folder of the topics' folders with .cu files.
std::string kernel_folder();
/// The device under test, KM_TEST_DEVICE or "cpu".
std::string device_uri();
/// A fault of a kernel leaves other contexts alone. On a GPU it is the end of CUDA in the process.
bool survives_faults();

/// Skips a test in which a kernel faults where the tests after it could not run any more.
#define KM_NEEDS_FAULTS()                                                  \
  if (!::km::kernels::survives_faults()) {                                 \
    GTEST_SKIP() << "a fault is the end of CUDA in this process on a GPU"; \
  }
/// Skips a test of what kernels print where the program does not get it.
#define KM_NEEDS_OUTPUT()                                                  \
  if (!::km::kernels::session().has_output()) {                            \
    GTEST_SKIP() << "a GPU's driver writes to the standard output itself"; \
  }

}  // namespace km::kernels
