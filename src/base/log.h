// Log lines for people, on standard error or in KM_LOG_FILE; KM_LOG selects levels and areas.
#pragma once

#include <cstdint>

namespace km {

enum class LogLevel : int32_t { kError = 1, kWarn = 2, kInfo = 3, kDebug = 4 };

/// Receives finished lines. A plugin's copy of this layer passes them to the library that loaded
/// it.
using LogSink = void (*)(int32_t level, const char* area, const char* text);
/// Replaces standard error and KM_LOG_FILE as the destination; null restores them.
void set_log_sink(LogSink sink);

/// True if a line would be shown. Callers check it before they build costly lines.
bool log_enabled(LogLevel level, const char* area);

/// Writes one line; `format` has no line end. It never fails: a line that cannot be written is
/// dropped.
[[gnu::format(printf, 3, 4)]] void log(LogLevel level, const char* area, const char* format, ...);
/// Like log(), for text that is already formatted; it has the signature of kmb_host.log.
void log_text(int32_t level, const char* area, const char* text);

}  // namespace km
