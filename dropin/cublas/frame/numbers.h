// Numbers of cuBLAS's types on the host.
#pragma once

namespace km::cublas {

/// The parts of a number of a cudaDataType; false: scalars have no such type.
bool read_number(int cuda_type, const void* number, double (&out)[2]);

}  // namespace km::cublas
