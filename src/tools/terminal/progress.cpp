#include "tools/terminal/progress.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <mutex>
#include <thread>
#include <utility>

#include "base/printable.h"
#include "tools/clock.h"
#include "tools/terminal/terminal_line.h"

namespace km::tools {
namespace {

constexpr double kQuietMs = 2000;
constexpr int kTurnMs = 200;

/// `text`, UTF-8, or its beginning and "..." if it has more than `room` characters.
std::string shortened(const std::string& text, size_t room) {
  constexpr size_t kDots = 3;
  const auto begins_character = [](char c) { return (static_cast<unsigned char>(c) >> 6) != 2; };
  const size_t kept = room > kDots ? room - kDots : 0;
  size_t count = 0, end = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (!begins_character(text[i])) continue;
    if (count++ == kept) end = i;
  }
  return count <= room ? text : text.substr(0, end) + "...";
}

}  // namespace

/// Draws on its own thread, since the work may be one long call of the library.
class Progress::Line {
 public:
  Line(const std::string& what, std::unique_ptr<TerminalLine> line, int end)
      : what_(printable_name(what)),
        line_(std::move(line)),
        end_(end),
        thread_([this] { run(); }) {}
  ~Line() {
    std::fflush(stdout);  // flushed now, because the thread stops reading the pipe below
    constexpr uint64_t kOver = 1;
    if (write(end_, &kOver, sizeof kOver) == sizeof kOver) thread_.join();
    close(end_);
  }
  Line(const Line&) = delete;
  Line& operator=(const Line&) = delete;

  void set(size_t done, size_t all) {
    const std::lock_guard lock(mutex_);
    done_ = done;
    all_ = all;
  }

 private:
  void run();
  std::string text();

  const std::string what_;
  const Stopwatch watch_;
  const std::unique_ptr<TerminalLine> line_;
  const int end_;     // an eventfd, signalled when the work is over
  std::mutex mutex_;  // guards the members below
  size_t done_ = 0, all_ = 0;
  std::thread thread_;  // the last member, because it uses the others
};

void Progress::Line::run() {
  double next_ms = kQuietMs;
  for (;;) {
    const double now_ms = watch_.elapsed_ms();
    if (now_ms >= next_ms) {
      line_->draw(text());
      next_ms = now_ms + kTurnMs;
    }
    pollfd ready[] = {{line_->reader(), POLLIN, 0}, {end_, POLLIN, 0}};
    poll(ready, 2, kTurnMs);
    line_->forward();
    if (ready[1].revents != 0) return;
  }
}

/// The text is no wider than the terminal: a second line could not be erased.
std::string Progress::Line::text() {
  constexpr size_t kBarWidth = 30, kLeastColumns = 60;
  const size_t columns = line_->columns();
  const std::lock_guard lock(mutex_);
  char numbers[64], rest[128];
  std::snprintf(numbers, sizeof numbers, " %zu of %zu", done_, all_);
  const std::string bar(all_ == 0 ? 0 : kBarWidth * std::min(done_, all_) / all_, '#');
  char drawn[64] = "";
  if (columns >= kLeastColumns) std::snprintf(drawn, sizeof drawn, " [%-30s]", bar.c_str());
  std::snprintf(rest, sizeof rest, "%s%s, %.0f s", all_ == 0 ? "" : drawn, all_ == 0 ? "" : numbers,
                watch_.elapsed_ms() / 1000);
  const size_t width = std::char_traits<char>::length(rest) + 1;
  return shortened(what_, columns - std::min(columns, width)) + rest;
}

Progress::Progress(const std::string& what) {
  std::unique_ptr<TerminalLine> line = TerminalLine::open();
  const int end = line ? eventfd(0, EFD_CLOEXEC) : -1;
  if (end >= 0) line_ = std::make_unique<Line>(what, std::move(line), end);
}
Progress::~Progress() = default;

void Progress::set(size_t done, size_t all) {
  if (line_) line_->set(done, all);
}

}  // namespace km::tools
