// NVIDIA's device runtime (libcudadevrt.a), which programs link to have grids meet: its machine
// code runs nowhere here, so what cooperative groups need of it is given as PTX.
#pragma once

#include <string_view>

namespace km::dropin {

bool is_device_runtime(std::string_view archive);
/// True when a text is that library's code, as linked programs carry it in a fat binary.
bool is_device_runtime_text(std::string_view ptx);
std::string_view device_runtime_ptx();

}  // namespace km::dropin
