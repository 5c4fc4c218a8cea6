// Diagnostics about the value of KM_LOG.
#pragma once

#include <string>

namespace km {

/// A sentence about the words in KM_LOG that are neither levels nor areas; empty if there are none.
std::string unknown_log_words();

}  // namespace km
