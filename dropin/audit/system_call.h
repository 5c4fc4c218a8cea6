// Calls of the system without a C library, which the auditing library does not have: the loader
// runs it before any other library works.
#pragma once

/// Returns what the system returns: a negative error number for a failure.
extern "C" long km_audit_system_call(long number, long first, long second, long third,
                                     long fourth = 0) noexcept;
