__kernel void empty(__global int* unused) {}

__kernel void increment(__global float* data) { data[get_global_id(0)] += 1.0f; }
