import { Objects } from './objects.js';

// The page's half of src/device/webgpu/browser.cpp: each function below is an import of the wasm of the same name.

const ERROR_FILTERS = ['validation', 'out-of-memory', 'internal'];
const BINDING_TYPES = ['storage', 'read-only-storage', 'uniform'];
const FEATURES = ['timestamp-query', 'shader-f16', 'subgroups'];
const STAGE_COMPUTE = 4;
const MAP_READ = 1;

/** In the order of DeviceNumber in browser.cpp. */
const LIMITS = [
  'maxComputeWorkgroupsPerDimension', 'maxComputeWorkgroupSizeX', 'maxComputeWorkgroupSizeY',
  'maxComputeWorkgroupSizeZ', 'maxComputeInvocationsPerWorkgroup', 'maxComputeWorkgroupStorageSize',
  'maxStorageBuffersPerShaderStage', 'minStorageBufferOffsetAlignment', 'minUniformBufferOffsetAlignment',
  'maxStorageBufferBindingSize', 'maxUniformBufferBindingSize', 'maxBufferSize',
];

/** The browser's name and version, for what is measured on it; nothing where it hides them. */
function engine() {
  const text = globalThis.navigator?.userAgent ?? '';
  return /(Firefox|Edg|Chrome|HeadlessChrome|Version|Node\.js|Deno|Bun)\/[\d.]+/.exec(text)?.[0] ?? '';
}

/** The name, driver and nature of an adapter, as far as the browser tells. */
export function describe(device) {
  const info = device.adapterInfo ?? {};
  const parts = [info.vendor, info.architecture].filter(Boolean).join(' ');
  const name = info.description || info.device || parts;
  return {
    name,
    driver: [parts, engine()].filter(Boolean).join(', '),
    isCpu: Boolean(info.isFallbackAdapter) || /swiftshader|llvmpipe|software|basic render/i.test(`${name} ${parts}`),
    subgroups: device.features.has('subgroups'),
    subgroupMinSize: info.subgroupMinSize ?? 4,
    subgroupMaxSize: info.subgroupMaxSize ?? 128,
  };
}

/** A device with all that the best adapter has. Throws where there is none. */
export async function requestDevice(gpu) {
  const adapter = await gpu.requestAdapter({ powerPreference: 'high-performance' });
  if (!adapter) throw new Error('WebGPU is there, but the browser offers no adapter: the GPU or its driver is not supported');
  const requiredLimits = {};
  for (const limit of LIMITS) {
    if (adapter.limits[limit] !== undefined) requiredLimits[limit] = adapter.limits[limit];
  }
  const requiredFeatures = FEATURES.filter((feature) => adapter.features.has(feature));
  return adapter.requestDevice({ requiredLimits, requiredFeatures });
}

/**
 * The imports of module "gpu". `memory` is asked anew each time, since a wasm memory that grows gets another buffer.
 *
 * @param {object} host
 * @param {() => GPU | undefined} host.gpu where devices come from
 * @param {() => ArrayBuffer} host.memory
 * @param {(id: number) => (status: number, text?: string) => void} host.caller what tells C++ that something has ended:
 *   taken at once, since what ends belongs to whatever goes on now
 */
export function gpuImports(host) {
  const objects = new Objects();
  const decoder = new TextDecoder();
  const get = (number) => objects.get(number);
  /** The device that was asked for last. */
  let requested;
  // Addresses come signed, and are not.
  const bytesAt = (pointer, length) => new Uint8Array(host.memory(), pointer >>> 0, length >>> 0);
  const textAt = (pointer, length) => decoder.decode(bytesAt(pointer, length));
  const message = (error) => String(error?.message ?? error);

  /** Fills in an entry with its device, and tells `tellLost` when that is gone unless it was released before. */
  function arrived(entry, device, tellLost) {
    entry.device = device;
    entry.description = describe(device);
    device.lost.then((info) => {
      if (!entry.released) tellLost(1, info.message || info.reason || 'the browser does not say why');
    });
  }

  const imports = {
    available: () => (host.gpu() ? 1 : 0),

    request_device(done, lost) {
      const entry = { owned: true, released: false };
      const number = objects.add(entry);
      requested = entry;
      const tell = host.caller(done);
      const tellLost = host.caller(lost);
      requestDevice(host.gpu()).then(
        (device) => {
          if (entry.released) return device.destroy();
          arrived(entry, device, tellLost);
          return tell(number);
        },
        (error) => tell(0, message(error)),
      );
      return number;
    },
    adopt_device(device, lost) {
      const entry = { owned: false, released: false };
      arrived(entry, get(device), host.caller(lost));
      return objects.add(entry);
    },
    device_number(number, which) {
      const { device, description } = get(number);
      if (which < LIMITS.length) return device.limits[LIMITS[which]] ?? 0;
      const { subgroups } = description;
      return [
        ...FEATURES.map((feature) => Number(device.features.has(feature))),
        subgroups ? description.subgroupMinSize : 1,
        subgroups ? description.subgroupMaxSize : 1,
        Number(description.isCpu),
      ][which - LIMITS.length];
    },
    device_text(number, which, into, room) {
      const { description } = get(number);
      return new TextEncoder().encodeInto([description.name, description.driver][which], bytesAt(into, room)).written;
    },
    release_device(number) {
      const entry = get(number);
      entry.released = true;
      if (entry.owned) entry.device?.destroy();
      objects.remove(number);
    },
    // Firefox looks for ended work when something is submitted.
    nudge: (device) => get(device).device.queue.submit([]),

    push_error_scope: (device, filter) => get(device).device.pushErrorScope(ERROR_FILTERS[filter]),
    pop_error_scope(device, done) {
      const tell = host.caller(done);
      get(device).device.popErrorScope().then(
        (error) => (error ? tell(1 + filterOf(error), error.message) : tell(0)),
        (error) => tell(1 + ERROR_FILTERS.indexOf('internal'), message(error)),
      );
    },

    create_buffer: (device, label, labelBytes, size, usage) =>
      objects.add(get(device).device.createBuffer({ label: textAt(label, labelBytes), size, usage })),
    adopt_object: (number) => objects.add(get(number)),
    buffer_size: (buffer) => get(buffer).size,
    buffer_usage: (buffer) => get(buffer).usage,
    destroy_buffer(number) {
      mapped.delete(get(number));
      get(number).destroy();
    },
    release_object: (number) => objects.remove(number),
    write_buffer: (device, buffer, offset, data, bytes) =>
      get(device).device.queue.writeBuffer(get(buffer), offset, host.memory(), data >>> 0, bytes >>> 0),
    map_buffer(number, bytes, done) {
      const buffer = get(number);
      const tell = host.caller(done);
      buffer.mapAsync(MAP_READ, 0, bytes).then(
        () => {
          // A range can be had only once, and is read in parts.
          mapped.set(buffer, new Uint8Array(buffer.getMappedRange(0, bytes)));
          tell(0);
        },
        (error) => tell(1, message(error)),
      );
    },
    read_mapped(buffer, offset, into, bytes) {
      // What was mapped is detached, and so empty, when the device is gone.
      const range = mapped.get(get(buffer))?.subarray(offset, offset + bytes);
      if (range?.length !== bytes) return 0;
      bytesAt(into, bytes).set(range);
      return 1;
    },
    unmap_buffer(number) {
      mapped.delete(get(number));
      get(number).unmap();
    },

    create_shader_module: (device, label, labelBytes, wgsl, wgslBytes) =>
      objects.add(get(device).device.createShaderModule({
        label: textAt(label, labelBytes),
        code: textAt(wgsl, wgslBytes),
      })),
    create_bind_group_layout(device, kinds, count) {
      const entries = [...bytesAt(kinds, count)].map((kind, binding) => ({
        binding,
        visibility: STAGE_COMPUTE,
        buffer: { type: BINDING_TYPES[kind], hasDynamicOffset: BINDING_TYPES[kind] === 'uniform' },
      }));
      return objects.add(get(device).device.createBindGroupLayout({ entries }));
    },
    create_pipeline(number, label, labelBytes, module, entry, entryBytes, groups, count) {
      const { device } = get(number);
      const bindGroupLayouts = [...new Uint32Array(host.memory(), groups >>> 0, count)].map(get);
      return objects.add(device.createComputePipeline({
        label: textAt(label, labelBytes),
        layout: device.createPipelineLayout({ bindGroupLayouts }),
        compute: { module: get(module), entryPoint: textAt(entry, entryBytes) },
      }));
    },
    create_bind_group(device, layout, bindings, count) {
      const numbers = new Float64Array(host.memory(), bindings >>> 0, count * 3);
      const entries = Array.from({ length: count }, (_, binding) => ({
        binding,
        resource: {
          buffer: get(numbers[binding * 3]),
          offset: numbers[binding * 3 + 1],
          size: numbers[binding * 3 + 2],
        },
      }));
      return objects.add(get(device).device.createBindGroup({ layout: get(layout), entries }));
    },
    create_timestamps: (device, count) =>
      objects.add(get(device).device.createQuerySet({ type: 'timestamp', count })),

    create_encoder: (device, label, labelBytes) =>
      objects.add(get(device).device.createCommandEncoder({ label: textAt(label, labelBytes) })),
    begin_pass(encoder, queries, begin, end) {
      const times = queries === 0 ? undefined : { querySet: get(queries) };
      if (times && begin >= 0) times.beginningOfPassWriteIndex = begin;
      if (times && end >= 0) times.endOfPassWriteIndex = end;
      return objects.add(get(encoder).beginComputePass(times ? { timestampWrites: times } : {}));
    },
    end_pass(pass) {
      get(pass).end();
      objects.remove(pass);
    },
    set_pipeline: (pass, pipeline) => get(pass).setPipeline(get(pipeline)),
    set_bind_group: (pass, index, group, dynamicOffset) =>
      (dynamicOffset < 0 ? get(pass).setBindGroup(index, get(group))
        : get(pass).setBindGroup(index, get(group), [dynamicOffset])),
    dispatch: (pass, x, y, z) => get(pass).dispatchWorkgroups(x >>> 0, y >>> 0, z >>> 0),
    dispatch_indirect: (pass, buffer, offset) => get(pass).dispatchWorkgroupsIndirect(get(buffer), offset),
    copy_buffer: (encoder, source, sourceOffset, destination, destinationOffset, bytes) =>
      get(encoder).copyBufferToBuffer(get(source), sourceOffset, get(destination), destinationOffset, bytes),
    clear_buffer: (encoder, buffer, offset, bytes) => get(encoder).clearBuffer(get(buffer), offset, bytes),
    resolve_timestamps: (encoder, queries, count, destination) =>
      get(encoder).resolveQuerySet(get(queries), 0, count, get(destination), 0),
    submit(device, encoder) {
      get(device).device.queue.submit([get(encoder).finish()]);
      objects.remove(encoder);
    },
    when_submitted_work_done(device, done) {
      // The loss of the device is told elsewhere.
      const tell = host.caller(done);
      const ended = () => tell(0);
      get(device).device.queue.onSubmittedWorkDone().then(ended, ended);
    },
  };

  /** The bytes of the buffers that are mapped. */
  const mapped = new Map();

  /** WebGPU's errors are told apart by their classes, whose names every engine has. */
  function filterOf(error) {
    const name = error.constructor?.name ?? '';
    return name === 'GPUOutOfMemoryError' ? 1 : name === 'GPUValidationError' ? 0 : 2;
  }

  return { imports, objects, requested: () => requested };
}
