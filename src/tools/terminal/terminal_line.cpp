#include "tools/terminal/terminal_line.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <string>

#include "tools/terminal/colour.h"

namespace km::tools {
namespace {

constexpr std::string_view kErase = "\r\x1b[K";
constexpr std::array kSignals = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGABRT, SIGTSTP};

// The signal handler accesses the only TerminalLine by these.
std::atomic<int> g_terminal{-1}, g_reader{-1};
std::atomic<bool> g_takes_output{false};  // standard output is also the terminal
std::atomic<bool> g_is_drawn{false};

/// Async-signal-safe, like everything in this file that it calls.
void write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t size = write(descriptor, text.data(), text.size());
    if (size > 0) text.remove_prefix(static_cast<size_t>(size));
    if (size < 0 && errno == EAGAIN) {
      pollfd ready{descriptor, POLLOUT, 0};
      poll(&ready, 1, -1);
    } else if (size < 0 && errno != EINTR) {
      return;
    }
  }
}

void erase_line(int terminal) {
  if (g_is_drawn.exchange(false)) write_all(terminal, kErase);
}

/// Returns the last byte that it passed on, or `last` if there was none.
char pass_on(int reader, int terminal, char last) {
  char buffer[4096];
  for (;;) {
    const ssize_t size = read(reader, buffer, sizeof buffer);
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) return last;
    erase_line(terminal);
    write_all(terminal, {buffer, static_cast<size_t>(size)});
    last = buffer[size - 1];
  }
}

void lead_to(int descriptor) {
  dup2(descriptor, STDERR_FILENO);
  if (g_takes_output) dup2(descriptor, STDOUT_FILENO);
}

void on_signal(int number) {
  const int error_before = errno;
  const int terminal = g_terminal;
  if (terminal >= 0) {
    if (number != SIGTSTP) lead_to(terminal);
    pass_on(g_reader, terminal, '\n');
    erase_line(terminal);
  }
  if (number == SIGTSTP) {
    kill(getpid(), SIGSTOP);
  } else {
    signal(number, SIG_DFL);
    raise(number);
  }
  errno = error_before;
}

/// Handles the signals that would end or stop the process, except those that it ignores.
void take_signals() {
  struct sigaction ours{};
  ours.sa_handler = on_signal;
  ours.sa_flags = SA_RESTART;
  for (const int number : kSignals) {
    struct sigaction now{};
    const bool is_default = sigaction(number, nullptr, &now) == 0 &&
                            (now.sa_flags & SA_SIGINFO) == 0 && now.sa_handler == SIG_DFL;
    if (is_default) sigaction(number, &ours, nullptr);
  }
}

void give_back_signals() {
  for (const int number : kSignals) {
    struct sigaction now{};
    const bool is_ours = sigaction(number, nullptr, &now) == 0 &&
                         (now.sa_flags & SA_SIGINFO) == 0 && now.sa_handler == on_signal;
    if (is_ours) signal(number, SIG_DFL);
  }
}

bool is_same_file(int one, int other) {
  struct stat first{}, second{};
  return fstat(one, &first) == 0 && fstat(other, &second) == 0 && first.st_dev == second.st_dev &&
         first.st_ino == second.st_ino;
}

}  // namespace

std::unique_ptr<TerminalLine> TerminalLine::open() {
  if (isatty(STDERR_FILENO) == 0 || is_dumb_terminal()) return nullptr;
  const int terminal = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
  int ends[2];
  if (terminal < 0 || pipe2(ends, O_CLOEXEC) != 0) {
    if (terminal >= 0) close(terminal);
    return nullptr;
  }
  fcntl(ends[0], F_SETFL, O_NONBLOCK);
  std::fflush(stdout);
  g_takes_output = is_same_file(STDOUT_FILENO, STDERR_FILENO);
  // Through the pipe, standard output would be fully buffered instead of line-buffered.
  if (g_takes_output) std::setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);
  g_reader = ends[0];
  g_terminal = terminal;
  take_signals();
  lead_to(ends[1]);
  close(ends[1]);
  return std::unique_ptr<TerminalLine>(new TerminalLine(terminal, ends[0]));
}

TerminalLine::~TerminalLine() {
  lead_to(terminal_);
  forward();
  erase_line(terminal_);
  give_back_signals();
  g_terminal = -1;
  close(reader_);
  close(terminal_);
}

size_t TerminalLine::columns() const {
  constexpr size_t kUsual = 80;
  winsize size{};
  return ioctl(terminal_, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : kUsual;
}

void TerminalLine::forward() {
  is_within_text_ = pass_on(reader_, terminal_, is_within_text_ ? ' ' : '\n') != '\n';
}

void TerminalLine::draw(std::string_view text) {
  if (is_within_text_) return;
  // The cursor stays at the beginning of the line.
  const std::string line = "\r" + std::string(text) + "\x1b[K\r";
  g_is_drawn = true;
  write_all(terminal_, line);
}

}  // namespace km::tools
