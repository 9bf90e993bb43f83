// Data of the object itself: a table that is read by index, one of addresses, which the loader must relocate, memory that
// starts as zeros, and a function that is called.
constant uint primes[8] = {2, 3, 5, 7, 11, 13, 17, 19};
constant uint squares[8] = {0, 1, 4, 9, 16, 25, 36, 49};
constant uint* constant tables[2] = {primes, squares};
global uint calls[4] = {0, 0, 0, 0};

__attribute__((noinline)) uint look_up(uint table, uint index) {
  return tables[table & 1][index & 7];
}

kernel __attribute__((reqd_work_group_size(64, 1, 1))) void data(global const uint* which, global uint* out) {
  const uint id = __builtin_amdgcn_workitem_id_x();
  calls[id & 3] = id;
  out[id] = look_up(which[id], id) + calls[id & 3];
}

kernel __attribute__((reqd_work_group_size(64, 1, 1))) void primes_only(global uint* out) {
  const uint id = __builtin_amdgcn_workitem_id_x();
  out[id] = primes[id & 7];
}
