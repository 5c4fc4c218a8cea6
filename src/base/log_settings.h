// KM_LOG, which says what the log shows.
#pragma once

#include <string>

namespace km {

/// The sentence about words in KM_LOG that are neither levels nor areas, for the one who set them;
/// empty when there are none.
std::string unknown_log_words();

}  // namespace km
