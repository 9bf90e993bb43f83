// The package and the page in Chromium, on SwiftShader: headless, clicked through, with no error on the console.
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { chromium } from 'playwright-core';
import { serve } from '../serve.js';
import { expectations, given } from './expectations.js';
import { root, solveNatively, textOf } from './native.js';

const CHROMIUM = process.env.WAVEGATE_CHROMIUM ?? '/usr/bin/chromium';
const SCREENSHOTS = join(root, 'build/web');
/** A software GPU on a busy machine takes its time. */
const TIMEOUT = 240_000;

const profile = mkdtempSync(join(tmpdir(), 'wavegate-chromium-'));
let served;
let browser;
const messages = [];

before(async () => {
  if (!existsSync(CHROMIUM)) throw new Error(`${CHROMIUM} is not there; tools/install_web.sh installs it`);
  mkdirSync(SCREENSHOTS, { recursive: true });
  served = await serve();
  browser = await chromium.launchPersistentContext(profile, {
    executablePath: CHROMIUM,
    // SwiftShader for everything: a canvas shows WebGPU's textures only where both are of one Vulkan.
    args: ['--no-sandbox', '--enable-unsafe-webgpu', '--enable-features=Vulkan', '--use-vulkan=swiftshader', '--use-angle=vulkan'],
    viewport: { width: 1180, height: 900 },
  });
});

after(async () => {
  await browser?.close();
  served?.server.close();
  served?.server.closeAllConnections();
  rmSync(profile, { recursive: true, force: true });
});

/** Opens a page whose errors are kept. */
async function open(path, options = {}) {
  const page = await browser.newPage();
  page.setDefaultTimeout(TIMEOUT);
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) messages.push(message.text());
  });
  page.on('pageerror', (error) => messages.push(String(error)));
  if (options.viewport) await page.setViewportSize(options.viewport);
  if (options.init) await page.addInitScript(options.init);
  await page.goto(served.url + path);
  return page;
}

const state = (page) => page.evaluate(() => document.body.dataset.state);
const status = (page) => page.textContent('#status');
const figure = (page, name) => page.evaluate((wanted) => [...document.querySelectorAll('#figures dt')]
  .find((term) => term.textContent === wanted)?.nextSibling.textContent, name);

/** Waits until so many runs have ended. */
async function ended(page, runs) {
  await page.waitForFunction((count) => Number(document.body.dataset.runs ?? 0) >= count, runs);
}

/** How many colours the canvas shows, in a coarse grid of its pixels. */
async function colours(page) {
  const shot = (await page.locator('#canvas').screenshot()).toString('base64');
  return page.evaluate(async (base64) => {
    const image = new Image();
    image.src = `data:image/png;base64,${base64}`;
    await image.decode();
    const canvas = new OffscreenCanvas(64, 64);
    const context = canvas.getContext('2d');
    context.drawImage(image, 0, 0, 64, 64);
    const { data } = context.getImageData(0, 0, 64, 64);
    const seen = new Set();
    for (let i = 0; i < data.length; i += 4) seen.add(`${data[i] >> 4},${data[i + 1] >> 4},${data[i + 2] >> 4}`);
    return seen.size;
  }, shot);
}

let blank;
for (const [name, examine] of Object.entries(expectations)) {
  test(`in Chromium: ${name}`, { timeout: TIMEOUT }, async () => {
    blank ??= await open('test/blank.html');
    examine(await blank.evaluate(async ([wanted, values]) => {
      const wavegate = await import('/lib/wavegate.js');
      const cases = await import('/test/cases.js');
      globalThis.device ??= await wavegate.openDevice();
      return cases[wanted]({ wavegate, device: globalThis.device, gpu: navigator.gpu, given: values });
    }, [name, given]));
  });
}

test('the page: heat flows until it is steady', { timeout: TIMEOUT }, async () => {
  const page = await open('');
  await ended(page, 1);
  assert.equal(await state(page), 'converged', await status(page));
  assert.match(await status(page), /^Steady after [\d,]+ steps\.$/);
  assert.equal(await figure(page, 'Exit reason'), 'converged');
  assert.equal(await figure(page, 'Readbacks'), '1, of the scalars');
  assert.match(await page.textContent('#regions'), /until steady": (chunked|resident)/);
  assert.ok(await colours(page) > 12);
  await page.screenshot({ path: join(SCREENSHOTS, 'heat.png') });

  // Draw: hold a line hot, and let it run again.
  const steady = await page.textContent('#status');
  const box = await page.locator('#canvas').boundingBox();
  await page.mouse.move(box.x + box.width * 0.2, box.y + box.height * 0.8);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.8, box.y + box.height * 0.85, { steps: 8 });
  await page.mouse.up();
  await ended(page, 2);
  assert.equal(await state(page), 'converged');
  assert.notEqual(await status(page), steady);
  await page.screenshot({ path: join(SCREENSHOTS, 'heat_drawn.png') });
  await page.close();
});

test('the page: a mesh that is dropped is solved', { timeout: TIMEOUT }, async () => {
  const page = await open('');
  await ended(page, 1);
  await page.click('#tab-mesh');
  await ended(page, 2);
  assert.equal(await state(page), 'converged', await status(page));
  assert.ok(await colours(page) > 8);
  await page.screenshot({ path: join(SCREENSHOTS, 'mesh.png') });
  await page.setInputFiles('#mesh-file', { name: 'maze.graph', mimeType: 'text/plain', buffer: Buffer.from(textOf('examples/maze.graph')) });
  await ended(page, 3);
  assert.equal(await state(page), 'converged', await status(page));
  assert.equal(await figure(page, 'Rows'), '340');
  assert.equal(await figure(page, 'Iterations'), String(solveNatively('examples/maze.graph', 1e-6).iterations));
  await page.close();
});

test('the page: a program that is dropped runs, and one that is wrong says what is', { timeout: TIMEOUT }, async () => {
  const page = await open('');
  await ended(page, 1);
  await page.focus('#tab-heat');
  await page.keyboard.press('ArrowLeft');
  const file = (name, text) => ({ name, mimeType: 'text/plain', buffer: Buffer.from(text) });
  await page.setInputFiles('#program-files', [file('heat.json', given.heat)]);
  await ended(page, 2);
  assert.equal(await state(page), 'error');
  assert.match(await status(page), /^heat\.json: .*heat\.kir.*not among the files/);
  await page.setInputFiles('#program-files', [file('heat.json', given.heat), file('heat.kir', given.heatKernel)]);
  await ended(page, 3);
  assert.equal(await state(page), 'converged', await status(page));
  assert.match(await figure(page, 'Loop flow'), /^\d+, converged$/);
  await page.screenshot({ path: join(SCREENSHOTS, 'program.png') });
  await page.setInputFiles('#program-files', [
    file('bfs.json', given.search), file('bfs.kir', given.searchKernel), file('maze.graph', given.maze),
  ]);
  await ended(page, 4);
  assert.equal(await state(page), 'converged', await status(page));
  assert.equal(await page.inputValue('#output'), 'distance');
  assert.ok(await colours(page) > 8);
  await page.screenshot({ path: join(SCREENSHOTS, 'search.png') });
  await page.close();
});

test('the page fits a telephone, in the dark', { timeout: TIMEOUT }, async () => {
  const page = await open('', { viewport: { width: 360, height: 780 } });
  await page.emulateMedia({ colorScheme: 'dark' });
  await ended(page, 1);
  assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 360);
  await page.screenshot({ path: join(SCREENSHOTS, 'narrow.png'), fullPage: true });
  await page.close();
});

test('the page says so where there is no WebGPU', { timeout: TIMEOUT }, async () => {
  const page = await open('', { init: () => Object.defineProperty(Navigator.prototype, 'gpu', { get: () => undefined }) });
  await page.waitForFunction(() => document.body.dataset.state === 'unavailable');
  assert.match(await page.textContent('#notice'), /no WebGPU/);
  assert.match(await status(page), /Chrome, Edge, Safari and Firefox/);
  await page.screenshot({ path: join(SCREENSHOTS, 'unavailable.png') });
  await page.close();
});

test('nothing was on the console', () => assert.deepEqual(messages, []));
