// The text about failures whose number alone helps nobody.
#pragma once

namespace km::cudart {

/// Writes a line to standard error if KM_LOG asks for that of messages of "info" and of "cuda".
[[gnu::format(printf, 1, 2)]] void report(const char* format, ...) noexcept;

}  // namespace km::cudart
