// Lets a WGSL compiler judge all modules of a folder: node judge.mjs PACKAGES dawn|naga FOLDER
// PACKAGES is a folder of npm packages. Prints what is said against each module, then how many were judged; fails if
// anything is. Dawn must refuse a module whose name ends with ".wrong.wgsl"; naga, which knows neither uniformity nor
// subgroups, leaves out such modules and those of subgroups.

import { readFileSync, readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const [packages, judge, folder] = process.argv.slice(2);
const require = createRequire(resolve(packages, 'package.json'));

async function dawn() {
  const { create } = await import(pathToFileURL(require.resolve('webgpu')));
  globalThis.gpu = create(['backend=null']);  // keeps it referenced
  const adapter = await globalThis.gpu.requestAdapter();
  const wanted = ['shader-f16', 'subgroups'].filter((feature) => adapter.features.has(feature));
  const limits = ['maxStorageBuffersPerShaderStage', 'maxComputeWorkgroupSizeX', 'maxComputeWorkgroupSizeY',
    'maxComputeInvocationsPerWorkgroup', 'maxComputeWorkgroupStorageSize'];
  const device = await adapter.requestDevice({
    requiredFeatures: wanted,
    requiredLimits: Object.fromEntries(limits.map((limit) => [limit, adapter.limits[limit]])),
  });
  return async (code) => {
    device.pushErrorScope('validation');
    const module = device.createShaderModule({ code });
    const said = (await module.getCompilationInfo()).messages.filter((message) => message.type === 'error')
      .map((message) => `${message.lineNum}:${message.linePos}: ${message.message}`);
    if (said.length === 0) device.createComputePipeline({ layout: 'auto', compute: { module, entryPoint: 'main' } });
    const error = await device.popErrorScope();
    if (said.length === 0 && error) said.push(error.message);
    return said.join('\n');
  };
}

async function naga() {
  // The package's entry for Node; require.resolve knows its files only through its export conditions.
  const { parseWgsl, validate } = await import(pathToFileURL(join(resolve(packages), 'node_modules/naga-wasm/dist/node.js')));
  return async (code, name) => {
    if (code.includes('enable subgroups;') || name.endsWith('.wrong.wgsl')) return undefined;
    try {
      validate(parseWgsl(code));
      return '';
    } catch (error) {
      return error.formatted ?? String(error);
    }
  };
}

const check = await { dawn, naga }[judge]();
let faults = 0;
let judged = 0;
const names = readdirSync(folder).filter((name) => name.endsWith('.wgsl')).sort();
for (const name of names) {
  const said = await check(readFileSync(join(folder, name), 'utf8'), name);
  if (said === undefined) continue;
  ++judged;
  const must_be_refused = name.endsWith('.wrong.wgsl');
  if ((said !== '') === must_be_refused) continue;
  ++faults;
  console.log(`${name}: ${must_be_refused ? 'accepted' : said}`);
}
console.log(`${judge} judged ${judged} of ${names.length} modules, ${faults} otherwise than expected`);
process.exit(faults === 0 && judged > 0 ? 0 : 1);
