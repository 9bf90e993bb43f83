#pragma once

// What lanes hold of matrices.
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#define VECTOR(type, count) typedef type type##count##v __attribute__((ext_vector_type(count)))
VECTOR(float, 2);
VECTOR(float, 4);
VECTOR(float, 8);
VECTOR(float, 16);
VECTOR(float, 32);
VECTOR(half, 4);
VECTOR(half, 8);
VECTOR(half, 16);
VECTOR(short, 2);
VECTOR(short, 4);
VECTOR(short, 8);
VECTOR(short, 16);
VECTOR(int, 2);
VECTOR(int, 4);
VECTOR(int, 8);
VECTOR(int, 16);
VECTOR(int, 32);
VECTOR(double, 4);
#define LANE __builtin_amdgcn_workitem_id_x()
