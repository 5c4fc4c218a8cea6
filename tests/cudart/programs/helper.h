#pragma once
extern __device__ float offset;
__device__ float twice(float value);
