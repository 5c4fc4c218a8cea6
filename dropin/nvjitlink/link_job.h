// One link of nvJitLink: its inputs, its result and its logs.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "dropin/nvjitlink/link_options.h"
#include "dropin/nvjitlink/nvidia_linker.h"
#include "dropin/toolchain/linker.h"

namespace km::nvjitlink {

class LinkJob {
 public:
  /// `status` receives what was wrong with the options; the job then has logs alone.
  LinkJob(const std::vector<std::string>& options, nvJitLinkResult* status);

  nvJitLinkResult add(nvJitLinkInputType type, std::string_view bytes, const std::string& name);
  nvJitLinkResult complete();
  /// Appends a line to the error log.
  void note_error(const std::string& line);

  bool has_cubin() const { return !cubin_.empty(); }
  bool has_ptx() const { return options_.gives_ptx && !ptx_.empty(); }
  const std::string& cubin() const { return cubin_; }
  /// The linked PTX with its terminating zero.
  std::string_view ptx() const { return {ptx_.c_str(), ptx_.size() + 1}; }
  std::string error_log() const { return linker_ ? linker_->errors() : errors_; }
  std::string info_log() const { return infos_ + (linker_ ? linker_->infos() : std::string()); }
  std::mutex& mutex() { return mutex_; }

 private:
  nvJitLinkResult compile_link_time();

  std::mutex mutex_;  // guards the members below; each function's caller holds it
  LinkOptions options_;
  std::unique_ptr<toolchain::Linker> linker_;  // null: the options are wrong
  std::vector<LinkTimeInput> link_time_inputs_;
  std::string cubin_, ptx_;
  std::string errors_;  // of the options
  std::string infos_;   // of NVIDIA's library
};

}  // namespace km::nvjitlink
