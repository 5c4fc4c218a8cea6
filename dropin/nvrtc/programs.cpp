#include "dropin/nvrtc/programs.h"

#include <pthread.h>

namespace km::nvrtc {

Programs& Programs::instance() {
  static Programs* const programs = [] {
    static auto* const made = new Programs;
    // NVRTC also works in forked children, so the lock must be free there: a fork takes it first
    // and releases it in both processes.
    pthread_atfork([] { made->mutex_.lock(); }, [] { made->mutex_.unlock(); },
                   [] { made->mutex_.unlock(); });
    return made;
  }();
  return *programs;
}

void Programs::add(nvrtcProgram program) {
  const std::lock_guard lock(mutex_);
  asked_for_machine_code_[program] = false;
}

void Programs::remove(nvrtcProgram program) {
  const std::lock_guard lock(mutex_);
  asked_for_machine_code_.erase(program);
}

bool Programs::is_live(nvrtcProgram program) {
  const std::lock_guard lock(mutex_);
  return asked_for_machine_code_.contains(program);
}

void Programs::set_machine_code(nvrtcProgram program, bool is_machine_code) {
  const std::lock_guard lock(mutex_);
  const auto found = asked_for_machine_code_.find(program);
  if (found != asked_for_machine_code_.end()) found->second = is_machine_code;
}

bool Programs::is_machine_code(nvrtcProgram program) {
  const std::lock_guard lock(mutex_);
  const auto found = asked_for_machine_code_.find(program);
  return found != asked_for_machine_code_.end() && found->second;
}

}  // namespace km::nvrtc
