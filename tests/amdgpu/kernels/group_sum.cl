// A tree in workgroup memory between barriers: sums[g] is the sum of the 256 values of group g.
kernel __attribute__((reqd_work_group_size(256, 1, 1))) void group_sum(global const int* values, global int* sums) {
  local int partial[256];
  const uint id = __builtin_amdgcn_workitem_id_x();
  const uint group = __builtin_amdgcn_workgroup_id_x();
  partial[id] = values[group * 256 + id];
  for (uint step = 128; step > 0; step /= 2) {
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
    __builtin_amdgcn_s_barrier();
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
    if (id < step) partial[id] += partial[id + step];
  }
  if (id == 0) sums[group] = partial[0];
}
