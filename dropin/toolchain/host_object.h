// Fat binaries inside objects, libraries and programs of the host.
#pragma once

#include <string_view>
#include <vector>

namespace km::toolchain {

bool is_archive(std::string_view bytes);
/// True for an ELF file of the host: those of CUDA's machine are cubins.
bool is_host_object(std::string_view bytes);

/// The fat binaries in the sections that nvcc makes for them, of a host object or of all members of
/// an archive. Each is a part of the bytes; damaged sections count as empty.
std::vector<std::string_view> find_fatbins(std::string_view bytes);

}  // namespace km::toolchain
