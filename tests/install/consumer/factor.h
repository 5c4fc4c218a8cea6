// Included by saxpy.cu.
#pragma once
#define FACTOR 2
