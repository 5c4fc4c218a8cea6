// NVIDIA's device runtime (libcudadevrt.a), which programs link for grid synchronisation: its
// machine code cannot run here, so the functions that cooperative groups need are supplied as PTX.
#pragma once

#include <string_view>

namespace km::toolchain {

bool is_device_runtime(std::string_view archive);
/// True if a PTX text is that library's code, which linked programs carry in a fat binary.
bool is_device_runtime_text(std::string_view ptx);
std::string_view device_runtime_ptx();
/// True for the name of a function of that library, which the engine gives each module that uses
/// it.
bool is_device_runtime_function(std::string_view name);

}  // namespace km::toolchain
