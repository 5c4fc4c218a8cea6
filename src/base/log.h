// Log lines for people, on standard error or in KM_LOG_FILE; KM_LOG says which.
#pragma once

#include <cstdint>

namespace km {

enum class LogLevel : int32_t { kError = 1, kWarn = 2, kInfo = 3, kDebug = 4 };

/// Receives finished lines; a plugin's copy of this layer hands them to its host.
using LogSink = void (*)(int32_t level, const char* area, const char* text);
/// Replaces standard error and KM_LOG_FILE; null brings them back.
void set_log_sink(LogSink sink);

/// True if a line would be shown; for lines that are costly to build.
bool log_enabled(LogLevel level, const char* area);

/// One line, without a line end. Never fails: what cannot be written is dropped.
[[gnu::format(printf, 3, 4)]] void log(LogLevel level, const char* area, const char* format, ...);
/// log() for text that is ready; has the form of kmb_host.log.
void log_text(int32_t level, const char* area, const char* text);

}  // namespace km
