// A private array with an index that nobody knows before the run, so that it lies in scratch.
kernel __attribute__((reqd_work_group_size(64, 1, 1))) void scratch(global const uint* order, global uint* out) {
  uint kept[16];
  const uint id = __builtin_amdgcn_workitem_id_x();
  for (uint i = 0; i < 16; ++i) kept[order[i] & 15] = id * 100 + i;
  uint sum = 0;
  for (uint i = 0; i < 16; ++i) sum = sum * 3 + kept[order[15 - i] & 15];
  out[id] = sum;
}
