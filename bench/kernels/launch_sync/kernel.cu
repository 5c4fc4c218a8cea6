extern "C" __global__ void empty(int* unused) {}
