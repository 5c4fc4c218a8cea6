// The CUDA libraries of this installation, which `kernelmill exec` gives to programs in place of
// NVIDIA's.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace km::tools {

class OwnLibraries {
 public:
  /// Lists the libraries in the folder of libcuda.so.1, and below it in those of single CUDA
  /// versions, the newest first.
  static OwnLibraries find();

  const std::string& folder() const { return folder_; }
  /// Takes a library out, by a name such as "cublas", "libcublas" or "libcublas.so.12". An error
  /// if there is none.
  Status leave_alone(const std::string& name);
  /// True if libcuda.so.1 is among them.
  bool have_driver() const;

  /// The value of LD_LIBRARY_PATH in which the dynamic linker finds them, and NVRTC.
  std::string library_path() const;
  /// The value of KERNELMILL_EXEC_LIBRARIES, by which dropin/audit knows them.
  std::string setting() const;
  /// The library that the dynamic linker asks for the others (LD_AUDIT).
  std::string auditing_library() const { return folder_ + "/libkernelmill-audit.so"; }
  /// The folder of commands that take the place of NVIDIA's, such as nvidia-smi.
  std::string command_folder() const { return folder_ + "/bin"; }

 private:
  std::string names() const;

  std::string folder_;
  std::vector<std::string> files_;  // below the folder
};

}  // namespace km::tools
