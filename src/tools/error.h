// Failures of the command. Their texts are complete: the fault, the wrong values and the remedy.
#pragma once

#include <string>

#include "base/printable.h"
#include "base/result.h"

namespace km::tools {

/// Exit codes by the usual convention.
enum ExitCode : int { kExitOk = 0, kExitFailure = 1, kExitUsage = 2 };

inline Error error(km_status status, std::string message) {
  return Error{status, std::move(message), 0};
}
/// An error in the command line. Its exit code is stored as the native code.
inline Error usage_error(std::string message) {
  return Error{KM_ERROR_INVALID_ARGUMENT, std::move(message), kExitUsage};
}
/// A name in quotes for a message, on one line whatever characters it has.
inline std::string in_quotes(const std::string& name) { return "'" + printable_name(name) + "'"; }
/// A file that cannot be used.
inline Error file_error(const std::string& path, const std::string& reason) {
  return error(KM_ERROR_IO, in_quotes(path) + ": " + reason);
}

/// Puts the subject of a failure in front of its message.
inline Error about(const std::string& what, Error failure) {
  failure.message = what + ": " + failure.message;
  return failure;
}

/// Prints "kernelmill: <message>" on standard error; returns the exit code.
int report(const Error& failure);
/// Makes failures appear on standard output as well, as JSON: {"error": {"status", "message",
/// "exit_code"}}. Programs that ask for JSON read a command's result there.
void report_json();
/// Prints a failure on standard output if report_json() was called.
void print_failure_json(km_status status, const std::string& message, int exit_code);

/// Prints "kernelmill: " and a line on standard error; arguments are made printable.
[[gnu::format(printf, 1, 2)]] void note(const char* format, ...);

}  // namespace km::tools
