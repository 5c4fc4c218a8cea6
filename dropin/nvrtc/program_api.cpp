// Programs compiled to machine code: they are compiled to PTX instead, which is returned as their
// cubin, since drivers load it like one.
#include <pthread.h>

#include <mutex>
#include <string>
#include <unordered_set>
#include <vector>

#include "dropin/nvrtc/nvidia_library.h"
#include "dropin/nvrtc/options.h"

namespace {

using namespace km::nvrtc;  // NOLINT: its functions are what these call

/// The programs whose options asked for machine code. Never destroyed, because other threads may
/// compile during exit.
class MachineCodePrograms {
 public:
  void set(void* program, bool is_machine_code) {
    const std::lock_guard lock(mutex_);
    if (is_machine_code) {
      programs_.insert(program);
    } else {
      programs_.erase(program);
    }
  }
  bool contains(void* program) {
    const std::lock_guard lock(mutex_);
    return programs_.contains(program);
  }
  void lock() { mutex_.lock(); }
  void unlock() { mutex_.unlock(); }

 private:
  std::mutex mutex_;
  std::unordered_set<void*> programs_;
};

MachineCodePrograms& machine_code_programs() {
  static MachineCodePrograms* const programs = [] {
    static auto* const made = new MachineCodePrograms;
    // NVRTC also works in forked children, so the lock must be free there: a fork takes it first
    // and releases it in both processes.
    pthread_atfork([] { made->lock(); }, [] { made->unlock(); }, [] { made->unlock(); });
    return made;
  }();
  return *programs;
}

/// NVIDIA's function for the program's PTX if that replaces machine code, or otherwise the function
/// `name`.
template <class Out>
nvrtcResult call_for_image(const char* name, const char* ptx_name, nvrtcProgram program, Out* out) {
  const auto get = [&] {
    return forward(machine_code_programs().contains(program) ? ptx_name : name, program, out);
  };
  return call(get, name);
}

}  // namespace

extern "C" {

const char* nvrtcGetErrorString(nvrtcResult result) { return NvrtcLibrary::name_of(result); }

nvrtcResult nvrtcCompileProgram(nvrtcProgram program, int option_count,
                                const char* const* options) {
  return call([&] {
    if (option_count < 0 || (option_count > 0 && options == nullptr))
      return NVRTC_ERROR_INVALID_INPUT;
    const VirtualOptions given({options, static_cast<size_t>(option_count)});
    machine_code_programs().set(program, given.replaces_machine_code());
    return forward("nvrtcCompileProgram", program, option_count, given.data());
  });
}

nvrtcResult nvrtcDestroyProgram(nvrtcProgram* program) {
  return call([&] {
    if (program != nullptr) machine_code_programs().set(*program, false);
    return forward("nvrtcDestroyProgram", program);
  });
}

nvrtcResult nvrtcGetCUBINSize(nvrtcProgram program, size_t* size) {
  return call_for_image("nvrtcGetCUBINSize", "nvrtcGetPTXSize", program, size);
}

nvrtcResult nvrtcGetCUBIN(nvrtcProgram program, char* image) {
  return call_for_image("nvrtcGetCUBIN", "nvrtcGetPTX", program, image);
}

}  // extern "C"
