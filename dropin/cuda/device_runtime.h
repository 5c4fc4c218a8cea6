// NVIDIA's device runtime (libcudadevrt.a), which programs link to have grids meet: its machine
// code runs nowhere here, so what cooperative groups need of it is given as PTX.
#pragma once

#include <string_view>

namespace km::dropin {

bool is_device_runtime(std::string_view archive);
std::string_view device_runtime_ptx();

}  // namespace km::dropin
