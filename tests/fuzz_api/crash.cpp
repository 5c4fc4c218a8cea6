#include "crash.h"

#include <dirent.h>
#include <execinfo.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#include <string>

namespace km::fuzz {
namespace {

constexpr int kMostFrames = 64;
constexpr int kAskingSignal = SIGUSR2;
int g_file = 2;

void write_stack(int signal_number, siginfo_t* info) {
  void* frames[kMostFrames];
  char text[96];
  const int length = std::snprintf(text, sizeof text, "signal %d, address %p, code %d\n",
                                   signal_number, info->si_addr, info->si_code);
  if (write(g_file, text, static_cast<size_t>(length)) > 0) {
    backtrace_symbols_fd(frames, backtrace(frames, kMostFrames), g_file);
  }
}

void write_and_die(int signal_number, siginfo_t* info, void*) {
  write_stack(signal_number, info);
  std::signal(signal_number, SIG_DFL);
  sigset_t own;
  sigemptyset(&own);
  sigaddset(&own, signal_number);
  pthread_sigmask(SIG_UNBLOCK, &own, nullptr);
  raise(signal_number);
}

void write_and_return(int signal_number, siginfo_t* info, void*) {
  write_stack(signal_number, info);
}

}  // namespace

void report_crashes() {
  void* frames[1];
  backtrace(frames, 1);  // loads what it needs
  g_file = open(kStackFile, O_CREAT | O_WRONLY | O_APPEND | O_CLOEXEC, 0600);
  struct sigaction action{};
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
  action.sa_sigaction = write_and_die;
  for (const int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) {
    sigaction(number, &action, nullptr);
  }
  action.sa_sigaction = write_and_return;
  sigaction(kAskingSignal, &action, nullptr);
}

void ask_for_stacks(int process) {
  constexpr useconds_t kPauseUs = 100'000;
  DIR* const threads = opendir(("/proc/" + std::to_string(process) + "/task").c_str());
  if (threads == nullptr) return;
  while (const dirent* const entry = readdir(threads)) {
    const int thread = std::atoi(entry->d_name);
    if (thread == 0) continue;
    syscall(SYS_tgkill, process, thread, kAskingSignal);
    usleep(kPauseUs);
  }
  closedir(threads);
}

}  // namespace km::fuzz
