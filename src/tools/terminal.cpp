#include "tools/terminal.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <string_view>
#include <thread>
#include <utility>

#include "tools/clock.h"

namespace km::tools {
namespace {

constexpr double kQuietMs = 2000;
constexpr std::chrono::milliseconds kTurn{200};

bool is_set(const char* name) {
  const char* const value = std::getenv(name);
  return value != nullptr && *value != '\0';
}

bool is_dumb() {
  const char* const name = std::getenv("TERM");
  return name == nullptr || std::string_view(name) == "dumb";
}

}  // namespace

bool has_colours(FILE* stream) {
  return isatty(fileno(stream)) != 0 && !is_set("NO_COLOR") && !is_dumb();
}

std::string painted(Colour colour, const std::string& text, FILE* stream) {
  constexpr const char* kCodes[] = {"1", "1;31", "32", "33", "2"};
  if (!has_colours(stream)) return text;
  return std::string("\x1b[") + kCodes[static_cast<size_t>(colour)] + "m" + text + "\x1b[0m";
}

/// Draws from a thread of its own, since the work may be one call of the library.
class Progress::Line {
 public:
  explicit Line(std::string what) : what_(std::move(what)), thread_([this] { run(); }) {}
  ~Line() {
    {
      const std::lock_guard lock(mutex_);
      is_over_ = true;
    }
    changed_.notify_one();
    thread_.join();
  }
  Line(const Line&) = delete;
  Line& operator=(const Line&) = delete;

  void set(size_t done, size_t all) {
    const std::lock_guard lock(mutex_);
    done_ = done;
    all_ = all;
  }

  void print(std::string_view text) {
    if (text.empty()) return;
    const std::lock_guard lock(mutex_);
    erase();
    std::fwrite(text.data(), 1, text.size(), stdout);
    std::fflush(stdout);
    is_within_text_ = text.back() != '\n';
  }

 private:
  void run();
  void draw();
  void erase();

  const std::string what_;
  const Stopwatch watch_;
  std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  bool is_over_ = false;
  bool is_drawn_ = false;
  bool is_within_text_ = false;  // a line of printed text has not ended: the bar would hide it
  size_t done_ = 0, all_ = 0;
  std::thread thread_;  // the last member: it uses the others
};

void Progress::Line::run() {
  std::unique_lock lock(mutex_);
  while (!changed_.wait_for(lock, kTurn, [this] { return is_over_; })) {
    if (watch_.elapsed_ms() >= kQuietMs && !is_within_text_) draw();
  }
  erase();
}

/// With the lock. The cursor is left at the line's beginning, for whoever writes next.
void Progress::Line::draw() {
  constexpr size_t kWidth = 30;
  const double seconds = watch_.elapsed_ms() / 1000;
  is_drawn_ = true;
  if (all_ == 0) {
    std::fprintf(stderr, "\r%s, %.0f s\x1b[K\r", what_.c_str(), seconds);
    return;
  }
  const std::string bar(kWidth * std::min(done_, all_) / all_, '#');
  std::fprintf(stderr, "\r%s [%-30s] %zu of %zu, %.0f s\x1b[K\r", what_.c_str(), bar.c_str(), done_,
               all_, seconds);
}

/// With the lock.
void Progress::Line::erase() {
  if (std::exchange(is_drawn_, false)) std::fputs("\r\x1b[K", stderr);
}

Progress::Progress(std::string what) {
  if (isatty(STDERR_FILENO) != 0 && !is_dumb()) line_ = std::make_unique<Line>(std::move(what));
}
Progress::~Progress() = default;

void Progress::set(size_t done, size_t all) {
  if (line_) line_->set(done, all);
}

void Progress::print(std::string_view text) {
  if (line_) line_->print(text);
}

}  // namespace km::tools
