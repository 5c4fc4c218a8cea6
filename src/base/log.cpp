#include "base/log.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/env.h"
#include "base/file/file.h"
#include "base/log_settings.h"
#include "base/printable.h"
#include "base/thread/cancellation.h"

namespace km {
namespace {

std::atomic<LogSink> g_sink{nullptr};

constexpr std::string_view kLevels[] = {"off", "error", "warn", "info", "debug"};
constexpr std::string_view kAreas[] = {"blas",  "cache",  "callback", "compile", "cpu",
                                       "cuda",  "device", "env",      "loader",  "memory",
                                       "trace", "tune",   "vulkan"};

struct LogSettings {
  int32_t level = static_cast<int32_t>(LogLevel::kWarn);
  std::string areas;    // ",loader,cpu,"; empty: all areas
  std::string unknown;  // "'x', 'y'": unknown words in KM_LOG
};

std::optional<int32_t> parse_level(std::string_view word) {
  for (int32_t level = 0; level < 5; ++level) {
    if (word == kLevels[level]) return level;
  }
  return std::nullopt;
}

std::string list_of(std::span<const std::string_view> words) {
  std::string text;
  for (const std::string_view word : words) {
    if (!text.empty()) text += ", ";
    text += word;
  }
  return text;
}

const char* level_name(int32_t level) {
  constexpr const char* kNames[] = {"error", "warning", "info", "debug"};
  return level >= 1 && level <= 4 ? kNames[level - 1] : "debug";
}

void write_line(int descriptor, int32_t level, const char* area, const char* text) {
  char line[2048];
  const int begin =
      std::snprintf(line, sizeof line, "kernelmill: %s: %s: ", level_name(level), area);
  if (begin < 0) return;
  size_t length = std::min(static_cast<size_t>(begin), sizeof line - 1);
  PrintablePieces pieces(text);
  for (std::string_view piece = pieces.next(); !piece.empty(); piece = pieces.next()) {
    const size_t size = std::min(piece.size(), sizeof line - 1 - length);
    std::memcpy(line + length, piece.data(), size);
    length += size;
    if (size < piece.size()) break;
  }
  line[length++] = '\n';
  // Each line is one write, so that lines of several threads do not mix.
  const NoCancellation postponed;
  const WriteSignalGuard guard;
  if (write(descriptor, line, length) < 0) return;
}

LogSettings read_settings() {
  const NoCancellation postponed;
  LogSettings settings;
  if (const std::optional<std::string> value = env(EnvVar::KM_LOG)) {
    std::string_view rest = *value;
    while (!rest.empty()) {
      const std::string_view word = rest.substr(0, rest.find(','));
      rest.remove_prefix(std::min(rest.size(), word.size() + 1));
      if (const std::optional<int32_t> level = parse_level(word)) {
        settings.level = *level;
      } else if (std::find(std::begin(kAreas), std::end(kAreas), word) == std::end(kAreas)) {
        if (word.empty()) continue;
        settings.unknown += (settings.unknown.empty() ? "'" : ", '") + std::string(word) + "'";
      } else {
        if (settings.areas.empty()) settings.areas = ",";
        settings.areas += std::string(word) + ",";
      }
    }
  }
  return settings;
}

const LogSettings& settings() {
  // The object is leaked because threads may still log while the process exits.
  static const LogSettings& instance = *new LogSettings(read_settings());
  return instance;
}

int open_log() {
  const NoCancellation postponed;
  const std::optional<std::string> path = env(EnvVar::KM_LOG_FILE);
  if (!path) return STDERR_FILENO;
  Result<File> file = open_to_append(*path);
  if (file) return file->release();
  const std::string text = "KM_LOG_FILE: " + file.error().message;
  write_line(STDERR_FILENO, static_cast<int32_t>(LogLevel::kWarn), "log", text.c_str());
  return STDERR_FILENO;
}

/// The file is opened with the first line that goes there: a plugin's copy of this layer has a sink
/// and never opens it.
int log_descriptor() {
  static const int descriptor = open_log();
  return descriptor;
}

}  // namespace

std::string unknown_log_words() {
  const std::string& unknown = settings().unknown;
  if (unknown.empty()) return {};
  return "KM_LOG has " + unknown + ", which means nothing: it takes a level (" + list_of(kLevels) +
         ") and areas (" + list_of(kAreas) + "), for example \"debug,loader,cpu\"";
}

void set_log_sink(LogSink sink) { g_sink.store(sink, std::memory_order_release); }

bool log_enabled(LogLevel level, const char* area) {
  const LogSettings& now = settings();
  if (static_cast<int32_t>(level) > now.level) return false;
  if (now.areas.empty() || level == LogLevel::kError) return true;
  return now.areas.find("," + std::string(area) + ",") != std::string::npos;
}

void log_text(int32_t level, const char* area, const char* text) {
  if (!log_enabled(static_cast<LogLevel>(level), area)) return;
  if (const LogSink sink = g_sink.load(std::memory_order_acquire)) {
    sink(level, area, text);
  } else {
    write_line(log_descriptor(), level, area, text);
  }
}

void log(LogLevel level, const char* area, const char* format, ...) {
  if (!log_enabled(level, area)) return;
  char text[1800];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  log_text(static_cast<int32_t>(level), area, text);
}

}  // namespace km
