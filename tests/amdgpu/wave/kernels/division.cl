// What compilers make of a quotient and of a root: v_rcp or v_rsq, which are approximate, and steps towards the exact.
#pragma OPENCL EXTENSION cl_khr_fp64 : enable

#define ID (__builtin_amdgcn_workgroup_id_x() * 256 + __builtin_amdgcn_workitem_id_x())

kernel void divide_f32(global const float *a, global const float *b, global float *out) { out[ID] = a[ID] / b[ID]; }
kernel void divide_f64(global const double *a, global const double *b, global double *out) { out[ID] = a[ID] / b[ID]; }
kernel void root_f32(global const float *a, global const float *b, global float *out) { out[ID] = __builtin_sqrtf(a[ID]); }
kernel void root_f64(global const double *a, global const double *b, global double *out) { out[ID] = __builtin_sqrt(a[ID]); }
