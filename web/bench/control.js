// What control flow costs in a browser, headless Chromium: a table, or with --json the rows.
//   node bench/control.js [--quick] [--json]
// WAVEGATE_CHROMIUM names another browser, WAVEGATE_CHROMIUM_FLAGS its flags in place of those for the software GPU.
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { serve } from '../serve.js';

const CHROMIUM = process.env.WAVEGATE_CHROMIUM ?? '/usr/bin/chromium';
const SOFTWARE = ['--enable-features=Vulkan', '--use-vulkan=swiftshader', '--use-angle=vulkan'];

const { values: flags } = parseArgs({ options: { quick: { type: 'boolean' }, json: { type: 'boolean' } } });

/** In the page: opens and calibrates the best device, and measures. */
async function inPage(quick) {
  const wavegate = await import('/lib/wavegate.js');
  const { measure } = await import('/bench/chain.js');
  const device = await wavegate.openDevice();
  await device.calibrate();
  const rows = await measure({ wavegate, device, quick, report: (text) => console.info(text) });
  return { device: device.name, costs: device.costs, rows };
}

async function inChromium(quick) {
  if (!existsSync(CHROMIUM)) throw new Error(`${CHROMIUM} is not there; tools/install_web.sh installs it`);
  const { chromium } = await import('playwright-core');
  const profile = mkdtempSync(join(tmpdir(), 'wavegate-chromium-'));
  const served = await serve();
  const browser = await chromium.launchPersistentContext(profile, {
    executablePath: CHROMIUM,
    args: ['--no-sandbox', '--enable-unsafe-webgpu', ...(process.env.WAVEGATE_CHROMIUM_FLAGS?.split(' ') ?? SOFTWARE)],
  });
  try {
    const page = await browser.newPage();
    page.setDefaultTimeout(0);
    page.on('console', (message) => {
      if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${message.text()}\r`);
    });
    await page.goto(`${served.url}test/blank.html`);
    return await page.evaluate(inPage, quick);
  } finally {
    await browser.close();
    served.server.close();
    served.server.closeAllConnections();
    rmSync(profile, { recursive: true, force: true });
  }
}

/** What is aimed at, as ratios in one run. */
function targetsOf(rows) {
  const find = (wanted) => rows.find((row) => !row.own && Object.entries(wanted).every(([key, value]) => row[key] === value));
  const targets = [];
  const add = (measure, over, under, bound, atLeast = false) => {
    if (over?.microsecondsPerIteration === undefined || under?.microsecondsPerIteration === undefined) return;
    const value = over.microsecondsPerIteration / under.microsecondsPerIteration;
    targets.push({ measure, value, [atLeast ? 'atLeast' : 'atMost']: bound, reached: atLeast ? value >= bound : value <= bound });
  };
  const full = rows[0].needed;
  for (const workgroups of [1, 256]) {
    const wide = `${workgroups} workgroup${workgroups > 1 ? 's' : ''}`;
    const at = (strategy, kernels) => find({ strategy, kernels, workgroups, needed: full, bound: full });
    for (const kernels of [4, 8])
      add(`default / direct, ${kernels} kernels, ${wide}`, at('default', kernels), at('direct', kernels), 1.10);
    for (const kernels of [1, 4, 8])
      add(`host-polled / default, ${kernels} kernels, ${wide}`, at('host-polled', kernels), at('default', kernels), 1, true);
    for (const [needed, bound] of [[200, 1.25], [1000, 1.25], [20000, 1.05]]) {
      const near = find({ strategy: 'default', workgroups, needed, bound: needed + 1 });
      for (const [name, far] of [['bound 100 x needed', needed * 100], ['no bound', null]])
        add(`${name} / bound = needed, ${needed} needed, ${wide}`, find({ strategy: 'default', workgroups, needed, bound: far }), near, bound);
    }
  }
  return targets;
}

function print({ device, rows }, targets) {
  console.log(`${device}\n\n| strategy | kernels | workgroups | bound | needed | us an iteration | / first |\n|---|---|---|---|---|---|---|`);
  for (const row of rows) {
    const name = row.strategy + (row.strategy === 'default' ? ` (${row.chosen})` : '') + (row.own ? ', own shader' : '');
    const figures = row.refused ? 'does not apply |' : `${row.microsecondsPerIteration.toFixed(2)} | ${row.ratio.toFixed(2)}`;
    console.log(`| ${name} | ${row.kernels} | ${row.workgroups} | ${row.bound ?? 'none'} | ${row.needed} | ${figures} |`);
  }
  console.log('\n| measure | value | target | |\n|---|---|---|---|');
  for (const { measure, value, atLeast, atMost, reached } of targets)
    console.log(`| ${measure} | ${value.toFixed(2)} | ${atLeast === undefined ? `<= ${atMost}` : `>= ${atLeast}`} | ${reached ? 'reached' : '**missed**'} |`);
}

const measured = await inChromium(flags.quick ?? false);
const targets = targetsOf(measured.rows);
if (flags.json) console.log(JSON.stringify({ ...measured, targets }, null, 2));
else print(measured, targets);
