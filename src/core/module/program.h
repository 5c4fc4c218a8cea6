// CUDA C++ source with its options, compiled to PTX.
#pragma once

#include <mutex>
#include <string>
#include <string_view>

#include "compile/compile.h"
#include "core/context/context.h"
#include "core/module/module.h"

namespace km {

class Program final : public Object {
 public:
  Program(std::string_view source, std::string_view name);

  void add_option(const std::string& option);
  Status add_header(const std::string& name, std::string_view source);
  void add_name_expression(const std::string& expression);

  /// Compiles with the options and headers added so far; may be called again.
  Status compile();
  /// The compiler's messages of the last compile(); empty before the first.
  std::string log() const;
  /// Fails with KM_ERROR_NOT_FOUND until a compile() has succeeded.
  Result<std::string> ptx() const;
  Result<std::string> lowered_name(const std::string& expression) const;
  Result<Ref<Module>> load(Context& context) const;

 private:
  Status require_compiled() const;

  mutable std::mutex mutex_;
  CompileInput input_;
  CompileOutput output_;
  bool is_compiled_ = false;
};

}  // namespace km
