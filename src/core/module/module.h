// Modules: compiled PTX and its kernels.
#pragma once

#include <array>
#include <atomic>
#include <deque>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/cuda/parameter_names.h"
#include "core/kernel/kernel_types.h"
#include "core/memory/memory.h"
#include "core/stream/use_list.h"

namespace km {

/// The largest total size of a kernel's parameters: PTX ISA 8.1, from sm_70 on.
constexpr uint64_t kMaxParamBytes = 32764;

/// A kernel of a module, which owns it.
struct Kernel {
  kmb_function* native = nullptr;
  std::string_view name;
  // The members below are known once Module::kernel() has given the kernel.
  std::mutex mutex;  // held while they are found
  std::atomic<bool> is_refused{false};
  kmb_function_info info{};
  std::unique_ptr<KernelTypes> types;
};

class Module final : public ContextChild {
 public:
  static Result<Ref<Module>> load_ptx(Context& context, std::string_view ptx,
                                      const std::string& name);
  /// Compiles CUDA C++ for the context's device.
  static Result<Ref<Module>> load_source(Context& context, std::string_view source,
                                         const std::string& name);
  /// Loads an object file that save_object() wrote.
  static Result<Ref<Module>> load_object(Context& context, std::string_view data,
                                         const std::string& name);
  /// Loads PTX, CUDA C++ or compiled code; the file's extension decides, or its content if the
  /// extension is unknown.
  static Result<Ref<Module>> load_file(Context& context, const std::string& path);

  const std::string& name() const { return name_; }
  const std::deque<Kernel>& kernels() const { return kernels_; }
  /// Finds a kernel by its name in the PTX, or by a name expression of its CUDA C++ program.
  Result<const Kernel*> kernel(const std::string& name) const;
  void add_aliases(const std::vector<std::pair<std::string, std::string>>& lowered_names);
  Result<Ref<Memory>> global(const std::string& name);

  /// Writes code compiled for these block sizes, and for any block size, to a file.
  Status save_object(const std::string& path, std::span<const std::array<uint32_t, 3>> blocks);

  /// The text with a kernel's parameter types for signature_of_instance(); empty if unknown.
  std::string_view instance_name(std::string_view kernel) const;
  /// The names of a kernel's parameters; empty if unknown.
  const std::vector<std::string>& parameter_names(std::string_view kernel) const;

  UseList& uses() { return uses_; }
  /// The access list that orders launches of its kernels with other uses of its variables; null
  /// until a variable is looked up, because only kernels use them before.
  AccessList* variables() const { return variables_.load(std::memory_order_acquire); }
  /// Creates that list, with the launches so far in it.
  AccessList& order_variables();
  /// Records a launch of a kernel that was queued while variables() was `known`.
  void note_launch(Stream& stream, uint64_t ticket, const AccessList* known) noexcept {
    uses_.record(stream, ticket);
    if (variables() != known) [[unlikely]]
      note_late_launch(stream, ticket);
  }
  std::mutex& globals_mutex() { return globals_mutex_; }

 private:
  Module(Context& context, std::string name) : ContextChild(context), name_(std::move(name)) {}
  ~Module() override;
  /// `text` is the PTX, or an object file that contains it.
  Status read_kernels(std::string_view text);
  Status describe(Kernel& kernel) const;
  void note_late_launch(Stream& stream, uint64_t ticket) noexcept;
  Error no_such_kernel(const std::string& name) const;

  const std::string name_;
  kmb_module* native_ = nullptr;
  mutable std::deque<Kernel> kernels_;
  std::unordered_map<std::string, size_t> index_by_name_;
  SignatureLines signature_lines_;
  ParameterNames parameter_names_;
  UseList uses_;
  std::mutex globals_mutex_;
  bool variables_are_known_ = false;  // guarded by globals_mutex_
  AccessList own_variables_;
  std::atomic<AccessList*> variables_{nullptr};
};

class Function final : public ContextChild {
 public:
  Function(Ref<Module> module, const Kernel& kernel)
      : ContextChild(PartOf{*module}), module_(std::move(module)), kernel_(kernel) {}

  Module& module() const { return *module_; }
  kmb_function* native() const { return kernel_.native; }
  const kmb_function_info& info() const { return kernel_.info; }
  /// The types of its parameters, found at the first request.
  const KernelTypes& types() const { return *kernel_.types; }
  Result<int64_t> attribute(km_function_attribute attribute) const;
  Status set_attribute(km_function_attribute attribute, int64_t value);
  Status prepare(const std::array<uint32_t, 3>& block);

 private:
  const Ref<Module> module_;
  const Kernel& kernel_;
};

}  // namespace km
