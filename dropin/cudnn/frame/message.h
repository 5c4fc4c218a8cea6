// The reason of a thread's last failure, for cudnnGetLastErrorString.
#pragma once

namespace km::cudnn {

/// The text, or an empty one.
const char* kept_message() noexcept;
void forget_message() noexcept;

}  // namespace km::cudnn
