// A private array with indices that differ between lanes, too large for registers, so that it lies in scratch.
kernel __attribute__((reqd_work_group_size(64, 1, 1))) void scratch(global const uint* order, global uint* out) {
  uint kept[256];
  const uint id = __builtin_amdgcn_workitem_id_x();
  for (uint i = 0; i < 256; ++i) kept[i] = id * 1000 + i;
  for (uint i = 0; i < 64; ++i) kept[order[i * 64 + id] & 255] += i;
  uint sum = 0;
  for (uint i = 0; i < 256; ++i) sum = sum * 3 + kept[i];
  out[id] = sum;
}
