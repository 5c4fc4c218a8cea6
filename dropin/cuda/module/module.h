// Modules with their functions; libraries with their kernels, which are independent of contexts.
#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/module/module.h"
#include "dropin/cuda/context/context.h"
#include "dropin/cuda/module/image.h"

namespace km::dropin {

/// The maximum size of a kernel's arguments (PTX ISA, "Kernel Function Parameters").
inline constexpr uint64_t kMaxParameterBytes = 32764;

/// Launch settings of a function by the calls of CUDA 1 to 3 (api/launch).
struct LegacyLaunch {
  std::mutex mutex;                 // guards the members below
  std::array<uint32_t, 3> block{};  // all 0: never set
  unsigned shared_bytes = 0;
  uint64_t size_bytes = 0;  // size of the arguments, by cuParamSetSize
  std::vector<std::byte> arguments;
};

class Function final : public Handled {
 public:
  Function(Context& context, Ref<km::Module> module, const km::Kernel& kernel, uint64_t module_id)
      : context_(Ref<Context>::share(context)),
        core_(make_ref<km::Function>(std::move(module), kernel)),
        module_id_(module_id) {}

  Context& context() const { return *context_; }
  km::Function& core() const { return *core_; }
  const kmb_function_info& info() const { return core_->info(); }
  CUmodule module() const { return reinterpret_cast<CUmodule>(module_id_); }

  CUresult attribute(CUfunction_attribute attribute, int* out) const;
  CUresult set_attribute(CUfunction_attribute attribute, int value);
  LegacyLaunch& legacy_launch() { return legacy_launch_; }

 private:
  const Ref<Context> context_;
  const Ref<km::Function> core_;
  const uint64_t module_id_;
  std::atomic<int> carveout_{-1};
  LegacyLaunch legacy_launch_;
};

class Module final : public Handled {
 public:
  static constexpr bool kEndWaits = true;

  /// Loads a module and creates its handle. Error texts go to `logs` too.
  static CUresult load(Context& context, const std::string& ptx, const JitLogs& logs,
                       Ref<Module>* out);
  Module(Context& context, Ref<km::Module> core, std::set<std::string, std::less<>> managed)
      : context_(Ref<Context>::share(context)),
        core_(std::move(core)),
        managed_(std::move(managed)) {}
  ~Module() override;

  Context& context() const { return *context_; }
  km::Module& core() const { return *core_; }
  /// The function of a name. Each name has one object, with a handle.
  CUresult function(const std::string& name, Ref<Function>* out);
  /// The names of kernels, without those that are known not to run on this device.
  std::vector<std::string> function_names() const;
  CUresult global(const std::string& name, CUdeviceptr* out_address, size_t* out_bytes);

 private:
  /// Records a variable as an allocation, so that calls find its address.
  void tell_driver(const std::string& name, Ref<km::Memory> variable) const;

  const Ref<Context> context_;
  const Ref<km::Module> core_;
  const std::set<std::string, std::less<>> managed_;  // names of the module's managed variables
  std::mutex mutex_;                                  // guards the members below
  std::map<std::string, Ref<Function>> functions_;
  std::map<std::string, Ref<km::Memory>> globals_;
};

class Library final : public Handled {
 public:
  static constexpr bool kEndWaits = true;

  explicit Library(std::string ptx) : ptx_(std::move(ptx)) {}
  ~Library() override;

  /// The library's module in a context, loaded on first use.
  CUresult module_in(Context& context, const JitLogs& logs, Ref<Module>* out);
  /// A module in any context, for queries about the code.
  CUresult any_module(Ref<Module>* out);
  CUresult kernel(const std::string& name, Ref<Kernel>* out);
  /// True if the library defines a managed variable of that name.
  bool is_managed(const std::string& name) const;
  void forget(const Context& context);
  /// Ends the handles of its kernels and modules at once, even while other threads hold references
  /// to the library.
  void unload(const MayBlock& may_block);
  void handle_gone() override;

 private:
  const std::string ptx_;
  std::mutex mutex_;                                   // guards the members below
  std::unordered_map<uint64_t, Ref<Module>> modules_;  // by context
  std::map<std::string, Ref<Kernel>> kernels_;
  Ref<Context> own_context_;  // retained if no context was current
  bool is_unloaded_ = false;
};

class Kernel final : public Handled {
 public:
  Kernel(Library& library, std::string name)
      : library_(Ref<Library>::share(library)), name_(std::move(name)) {}
  Library& library() const { return *library_; }
  const std::string& name() const { return name_; }
  CUresult function_in(Context& context, Ref<Function>* out);

 private:
  const Ref<Library> library_;
  const std::string name_;
};

/// Finds a handle's function. For a CUkernel it is the kernel's function in the current context.
CUresult find_function(CUfunction handle, Ref<Function>* out);

/// A function that stays alive until the call returns.
class FunctionUse {
 public:
  CUresult get(CUfunction handle);
  Function* operator->() const { return function_; }
  Function& operator*() const { return *function_; }

 private:
  Pin<Function> pin_;
  Ref<Function> shared_;
  Function* function_ = nullptr;
};

}  // namespace km::dropin
