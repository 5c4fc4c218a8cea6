#include "tools/exec/exec_program.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "base/cuda/compute_capability.h"
#include "base/file/file_writer.h"
#include "tools/error.h"
#include "tools/exec/missing_libraries.h"
#include "tools/kernels/program.h"

namespace km::tools {
namespace {

constexpr int kMostDevices = 64;
constexpr uint64_t kMiB = uint64_t{1} << 20, kLeastMemoryBytes = 16 * kMiB;
constexpr uint64_t kMostMemoryBytes = uint64_t{1} << 60;

/// Refuses negative sizes, because the parser of unsigned numbers would turn -1 into the largest
/// value.
std::string refuse_minus(const std::string& text) {
  return text.starts_with('-') ? in_quotes(text) + " is not a size; give one such as 8G"
                               : std::string();
}

bool is_set(const char* name) {
  const char* const value = std::getenv(name);
  return value != nullptr && *value != '\0';
}

/// Sets a variable to a file's path, if the file exists and the user has not set the variable.
Status suggest_file(const char* name, const std::string& path) {
  if (std::getenv(name) != nullptr || access(path.c_str(), F_OK) != 0) return {};
  return set_variable(name, path);
}

/// Adds a flag to a list that is separated by spaces, unless the user has given it a value there.
Status suggest_flag(const char* name, const std::string& flag, const char* value) {
  const std::string list = is_set(name) ? std::string(std::getenv(name)) + " " : "";
  if (list.find(flag) != std::string::npos) return {};
  return set_variable(name, list + flag + "=" + value);
}

/// The file of this command.
std::string own_path() {
  std::error_code failed;
  return std::filesystem::read_symlink("/proc/self/exe", failed).string();
}

/// Adds `item` to a list that is separated by colons, unless it is there.
Status add_to_list(const char* name, const std::string& item, bool at_front) {
  if (!is_set(name)) return set_variable(name, item);
  const std::string list = std::getenv(name);
  if ((":" + list + ":").find(":" + item + ":") != std::string::npos) return {};
  return set_variable(name, at_front ? item + ":" + list : list + ":" + item);
}

}  // namespace

Status set_variable(const char* name, const std::string& value) {
  if (setenv(name, value.c_str(), 1) == 0) return {};
  return error(KM_ERROR_OUT_OF_HOST_MEMORY, "out of memory");
}

void ExecProgram::add_options(CLI::App& parser) {
  parser_ = &parser;
  parser_->add_option("--devices", devices_, "How many devices the program sees (default 1)");
  parser_->add_option("--cc", capability_, "Their compute capability (default 8.9)");
  parser_->add_option("--memory", memory_bytes_, "Their memory together, such as 8G (default all)")
      ->transform(CLI::AsSizeValue(false))
      ->transform(CLI::Validator(refuse_minus, ""));  // runs before the conversion
  parser_
      ->add_option("--no-replace", left_alone_,
                   "Leave this library of NVIDIA's in place, such as nvrtc (repeatable)")
      ->allow_extra_args(false);
  parser_->add_flag("--log", log_,
                    "Show every call of the CUDA driver, and which libraries are replaced");
  parser_->add_option("--trace", trace_, "Write what the devices do to this file");
  parser_->add_flag("--counters", counts_, "Count what warps do, and print it at the end");
  parser_->add_option("PROGRAM", words_, "The program and its arguments, behind '--'")
      ->type_name("PROGRAM [ARGUMENTS]")
      ->required();
}

void ExecProgram::add_unchecked(CLI::App& parser) {
  parser.add_flag("--unchecked", unchecked_,
                  "Kernels run at full speed; their wild stores may then destroy other memory");
}

/// Checks early the options that the devices would refuse later, with messages that name their
/// variables.
Status ExecProgram::check_options() const {
  if (parser_->count("--devices") != 0 && (devices_ < 1 || devices_ > kMostDevices)) {
    return usage_error("--devices is " + std::to_string(devices_) + "; give 1 to " +
                       std::to_string(kMostDevices));
  }
  if (parser_->count("--cc") != 0 && !parse_device_capability(capability_)) {
    return usage_error("--cc is '" + capability_ +
                       "'; give a compute capability from 5.0 to 12.9, for example 8.9");
  }
  if (!trace_.empty()) KM_TRY(check_writable(trace_));
  if (memory_bytes_ && (*memory_bytes_ < kLeastMemoryBytes || *memory_bytes_ > kMostMemoryBytes)) {
    return usage_error("--memory is " + std::to_string(*memory_bytes_) +
                       " bytes; give at least 16M and at most 1024P, for example 8G");
  }
  return {};
}

Status ExecProgram::set_options() const {
  KM_TRY(set_variable("KM_CPU_MEMORY", unchecked_ ? "plain" : "checked"));
  if (devices_ != 0) KM_TRY(set_variable("KM_CPU_DEVICES", std::to_string(devices_)));
  if (!capability_.empty()) KM_TRY(set_variable("KM_CPU_CC", capability_));
  if (memory_bytes_)
    KM_TRY(set_variable("KM_CPU_MEMORY_MIB", std::to_string(*memory_bytes_ / kMiB)));
  if (log_) KM_TRY(set_variable("KM_LOG", "debug,cuda"));
  if (!trace_.empty()) KM_TRY(set_variable("KM_TRACE", trace_));
  if (counts_) KM_TRY(set_variable("KM_COUNTERS", "1"));
  return {};
}

/// The libraries that the program gets, without those that the user wants left alone.
Result<OwnLibraries> ExecProgram::libraries() const {
  OwnLibraries own = OwnLibraries::find();
  for (const std::string& file : {own.folder() + "/libcuda.so.1", own.auditing_library()}) {
    if (access(file.c_str(), F_OK) == 0) continue;
    return error(KM_ERROR_NOT_FOUND,
                 "the CUDA driver library is not installed: there is no " + file);
  }
  for (const std::string& name : left_alone_) KM_TRY(own.leave_alone(name));
  return own;
}

Status ExecProgram::prepare(const OwnLibraries& own, const ExecReportOwner& shared) const {
  KM_TRY(set_variable("LD_LIBRARY_PATH", own.library_path()));
  KM_TRY(set_variable("KERNELMILL_EXEC_LIBRARIES", own.setting()));
  KM_TRY(add_to_list("LD_AUDIT", own.auditing_library(), false));
  KM_TRY(add_to_list("PATH", own.command_folder(), true));
  KM_TRY(set_variable("KM_EXEC_REPORT", shared.name()));
  // compute-sanitizer's stand-in on PATH runs the program by this command.
  KM_TRY(set_variable("KERNELMILL_EXEC_COMMAND", own_path()));
  // NVTX's header-only annotations load the library in this variable.
  KM_TRY(suggest_file("NVTX_INJECTION64_PATH", own.folder() + "/libnvToolsExt.so.1"));
  for (const char* const variable : {"TRITON_PTXAS_PATH", "TRITON_PTXAS_BLACKWELL_PATH"}) {
    KM_TRY(suggest_file(variable, own.command_folder() + "/ptxas"));
  }
  // XLA would compile each product in dozens of ways to find the fastest for a GPU.
  KM_TRY(suggest_flag("XLA_FLAGS", "--xla_gpu_autotune_level", "0"));
  // XLA changes nodes within loops of graphs, which the driver library refuses.
  KM_TRY(suggest_flag("XLA_FLAGS", "--xla_gpu_enable_command_buffer", ""));
  return set_options();
}

/// Names the libraries that the dynamic linker did not find, in which case the program ended with
/// 127.
bool ExecProgram::tell_missing_libraries(int code) const {
  constexpr int kNotStarted = 127;
  if (code != kNotStarted) return false;
  const char* const path = std::getenv("LD_LIBRARY_PATH");
  const std::string text = missing_libraries(words_[0], path != nullptr ? path : "");
  if (!text.empty()) note("%s", text.c_str());
  return !text.empty();
}

Result<int> ExecProgram::run() {
  KM_TRY(check_options());
  ExecReport* const outer = find_exec_report();  // the report of an enclosing exec
  const ExecReportOwner shared;
  KM_ASSIGN(const OwnLibraries own, libraries());
  KM_TRY(prepare(own, shared));
  KM_ASSIGN(const int code, run_program(words_));
  if (outer != nullptr && !shared.is_unopened()) outer->opened.store(1);
  if (shared.is_unopened() && !tell_missing_libraries(code) && own.have_driver()) {
    note("%s has not loaded this CUDA driver (libcuda.so.1): it uses none", words_[0].c_str());
  }
  return code;
}

}  // namespace km::tools
