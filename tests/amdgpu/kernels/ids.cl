// Every id of a work-item in a grid of three dimensions, and sizes from the dispatch packet and the implicit arguments.
kernel void ids(global uint* out, uint width, uint height) {
  const uint x = __builtin_amdgcn_workgroup_id_x() * __builtin_amdgcn_workgroup_size_x() + __builtin_amdgcn_workitem_id_x();
  const uint y = __builtin_amdgcn_workgroup_id_y() * __builtin_amdgcn_workgroup_size_y() + __builtin_amdgcn_workitem_id_y();
  const uint z = __builtin_amdgcn_workgroup_id_z() * __builtin_amdgcn_workgroup_size_z() + __builtin_amdgcn_workitem_id_z();
  const constant uint* packet = (const constant uint*)__builtin_amdgcn_dispatch_ptr();
  global uint* row = out + ((z * height + y) * width + x) * 4;
  row[0] = x;
  row[1] = y;
  row[2] = z;
  row[3] = packet[3];  // the grid's size in x, in work-items
}
