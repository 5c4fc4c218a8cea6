// Modules, their functions, and the declarations in their PTX.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "backends/cuda/stream/stream.h"

namespace km::cuda {

/// A kernel's declaration.
struct Signature {
  std::string name;
  std::vector<kmb_param> params;
  uint64_t param_bytes = 0;
};

/// A variable's declaration.
struct VariableForm {
  uint32_t element_size_bytes = 1;
  bool is_constant = false;
};

/// The kernels of a PTX text in order. Fails if the parser does not understand the text, although
/// the driver may.
Result<std::vector<Signature>> signatures_in(std::string_view ptx, std::string_view name);
/// The declaration of a variable; if the text has none, its elements are bytes.
VariableForm variable_in(std::string_view ptx, std::string_view name);
/// The version in the text, "8.4" for `.version 8.4`; empty if there is none.
std::string version_in(std::string_view ptx);
/// The newest PTX version that a driver of this CUDA version accepts.
std::string newest_ptx(int cuda_version);

class Function {
 public:
  Function(Epoch& epoch, cu::CUfunction handle, Signature signature);
  cu::CUfunction handle() const { return handle_; }
  Epoch& epoch() const { return epoch_; }
  const kmb_function_info& info() const { return info_; }

 private:
  Epoch& epoch_;  // the module's epoch
  const cu::CUfunction handle_;
  const Signature signature_;
  kmb_function_info info_{};
};

class Module {
 public:
  Module(std::shared_ptr<Epoch> epoch, std::string name)
      : epoch_(std::move(epoch)), name_(std::move(name)) {}
  ~Module();

  Status load_ptx(std::string_view ptx);
  Status load_object(std::string_view data);
  Result<std::string> make_cubin() const;
  Result<kmb_global_info> global(const char* name) const;

  Epoch& epoch() const { return *epoch_; }
  const std::string& name() const { return name_; }
  const std::vector<std::unique_ptr<Function>>& functions() const { return functions_; }

 private:
  Status load(const void* image);
  Status find_functions();
  Status find_listed(std::vector<Signature> signatures);
  Error explain(Called called, const char* log) const;

  const std::shared_ptr<Epoch> epoch_;
  const std::string name_;
  std::string ptx_;  // empty if the module was loaded from an object
  cu::CUmodule handle_ = nullptr;
  std::vector<std::unique_ptr<Function>> functions_;
};

}  // namespace km::cuda
