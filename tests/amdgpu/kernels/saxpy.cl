// One line of arithmetic for each work-item, of a one-dimensional grid whose last group may be partial.
kernel __attribute__((reqd_work_group_size(64, 1, 1))) void saxpy(float a, global const float* restrict x, global float* y,
                                                                  uint count) {
  const uint i = __builtin_amdgcn_workgroup_id_x() * 64 + __builtin_amdgcn_workitem_id_x();
  if (i < count) y[i] = a * x[i] + y[i];
}
