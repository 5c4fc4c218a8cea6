// Lines on standard error.
#pragma once

#include <initializer_list>
#include <string_view>

namespace km::audit {

/// Writes "kernelmill: ", the parts and a newline, in one write.
void say(std::initializer_list<std::string_view> parts) noexcept;

}  // namespace km::audit
