// What the fake driver knows: its objects, the contexts of each thread, and the script of failures.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "cuda/driver.h"
#include "fake_cuda/control.h"

namespace km::cu {

constexpr int kLimits = 3;  // stack, printf, heap
struct Context {
  int device = 0;
  int retained = 0;
  bool is_active = false;
  CUresult sticky = CUDA_SUCCESS;
  CUresult lost = CUDA_SUCCESS;  // what every retention gives, from a fault on (KM_FAKE_CUDA=lost)
  size_t limits[kLimits] = {1024, 1 << 20, 8 << 20};
};
constexpr int kMaxDevices = 8;
constexpr uint64_t kTotalBytes = uint64_t{4} << 30;

struct Kernel;
struct Module;

struct Object {
  const char* kind;
  int device;
  uint64_t size_bytes = 0;
  std::shared_ptr<void> data;
  CUmemoryPool pool = nullptr;  // that memory came from
  bool is_managed = false;
};

/// The lock of everything; taken by each call once.
std::recursive_mutex& state_mutex();

/// Begins a call: locks, and gives the result that the script, the context or the thread asks for.
class Call {
 public:
  enum class Needs : uint8_t { nothing, context };
  Call(const char* name, Needs needs);
  ~Call();
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;
  CUresult result() const { return result_; }
  Context& context() const { return *context_; }
  /// Before waiting.
  void unlock() const { lock_.unlock(); }

  /// Lets go of the lock of the call that this thread is in, if there is one that has it.
  class Unlocked {
   public:
    Unlocked();
    ~Unlocked();
    Unlocked(const Unlocked&) = delete;
    Unlocked& operator=(const Unlocked&) = delete;

   private:
    const Call* call_;
  };

 private:
  mutable std::unique_lock<std::recursive_mutex> lock_;
  const Call* const outer_;
  CUresult result_ = CUDA_SUCCESS;
  Context* context_ = nullptr;
};

/// Declares `call` and returns what it asks for.
#define KM_FAKE_CALL(needs)                                \
  const ::km::cu::Call call(__func__, Call::Needs::needs); \
  if (call.result() != CUDA_SUCCESS) return call.result()

/// KM_FAKE_CUDA is this word.
bool script_says(const char* word);
int device_count();
Context& context_of(int device);
Context* context_from(CUcontext handle);
CUcontext handle_of(Context& context);
Context* current_context();
void push_context(Context* context);
Context* pop_context();

/// New objects, by numbers that are never used again.
void* add_object(const char* kind, int device, std::shared_ptr<void> data = nullptr);
void add_object_at(uint64_t handle, Object object);
/// Null and a misuse where there is none of that kind.
Object* find_object(const char* kind, const void* handle);
Object* find_quietly(const char* kind, uint64_t handle);
bool remove_object(const char* kind, const void* handle);
void drop_objects_of(int device);
uint64_t used_bytes(int device);
/// The object of a kind that holds an address.
Object* find_range(const char* kind, uint64_t address, uint64_t size_bytes);

CUresult misuse(CUresult result, const char* text);
/// A kernel failed: every later call says so.
void set_sticky(Context& context, CUresult result);
bool is_fatal(CUresult result);

/// Everything of a kind on a device.
std::vector<std::shared_ptr<void>> data_of(const char* kind, int device);

/// Runs a host function; the driver's own functions are not permitted meanwhile.
void run_host_function(CUhostFn function, void* user_data);

/// A loaded module.
std::shared_ptr<Module> load_module(const std::string& ptx, std::string* out_log);
struct Launch {
  CUfunction function = nullptr;
  std::vector<char> arguments;
};
/// Takes a launch's arguments from `extra`.
CUresult read_launch(CUfunction function, void** extra, Launch* out_launch);
CUresult run_launch(Context& context, const Launch& launch);
struct Work;
Work work_of(const Launch& launch);
/// A kernel that is not loaded yet is, when nothing runs on the device any more.
void load_before_launch(const Call& call, CUfunction function);
/// Memory that streams cannot write to or wait for by themselves, as NVIDIA's driver has it.
bool is_beyond_memory_ops(uint64_t address);

CUresult check_device_range(uint64_t address, uint64_t size_bytes);
CUresult copy_rows(const CUDA_MEMCPY3D& copy);

}  // namespace km::cu
