// Failures of the command. Its text is complete: what, with which values, and what to do.
#pragma once

#include <string>

#include "base/printable.h"
#include "base/result.h"

namespace km::tools {

/// Exit codes, as people expect them.
enum ExitCode : int { kExitOk = 0, kExitFailure = 1, kExitUsage = 2 };

inline Error error(km_status status, std::string message) {
  return Error{status, std::move(message), 0};
}
/// The command line makes no sense. Its exit code travels as the native code.
inline Error usage_error(std::string message) {
  return Error{KM_ERROR_INVALID_ARGUMENT, std::move(message), kExitUsage};
}
/// A name for a message, on one line whatever it holds.
inline std::string in_quotes(const std::string& name) { return "'" + printable_name(name) + "'"; }
/// A file that cannot be used.
inline Error file_error(const std::string& path, const std::string& reason) {
  return error(KM_ERROR_IO, in_quotes(path) + ": " + reason);
}

/// The failure with its subject in front.
inline Error about(const std::string& what, Error failure) {
  failure.message = what + ": " + failure.message;
  return failure;
}

/// Prints "kernelmill: <message>" on standard error; the exit code.
int report(const Error& failure);
/// Has failures printed on standard output as well, as JSON: {"error": {"status", "message",
/// "exit_code"}}. Programs that ask for JSON read a command's result there.
void report_json();
/// Prints a failure on standard output if report_json() was called.
void print_failure_json(km_status status, const std::string& message, int exit_code);

/// Prints "kernelmill: " and a line for people on standard error; names in it may hold anything.
[[gnu::format(printf, 1, 2)]] void note(const char* format, ...);

}  // namespace km::tools
