// The package as npm packs it, and its types as an application's compiler reads them.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const folder = fileURLToPath(new URL('..', import.meta.url));

function run(program, words, where = folder) {
  try {
    return execFileSync(program, words, { cwd: where, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
  } catch (error) {
    throw new Error(`${program} ${words.join(' ')}: ${error.stdout}${error.stderr}`);
  }
}

test('an application installs what npm packs, and runs a program', { timeout: 120_000 }, () => {
  const scratch = mkdtempSync(join(tmpdir(), 'wavegate-package-'));
  try {
    const [{ filename, files }] = JSON.parse(run('npm', ['pack', '--json', '--pack-destination', scratch]));
    const paths = files.map(({ path }) => path);
    for (const wanted of ['lib/wavegate.js', 'lib/wavegate.d.ts', 'lib/wavegate.wasm', 'README.md', 'LICENSE']) {
      assert.ok(paths.includes(wanted), `${wanted} is not among ${paths.join(', ')}`);
    }
    assert.ok(paths.every((path) => !/^(test|page|node_modules)\//.test(path)), paths.join(', '));

    const application = join(scratch, 'application');
    mkdirSync(application);
    writeFileSync(join(application, 'package.json'), '{"private": true, "type": "module"}');
    run('npm', ['install', '--offline', '--no-audit', '--no-fund', join(scratch, filename)], application);
    writeFileSync(join(application, 'main.js'), `
      import { run } from 'wavegate';
      const program = {
        wavegate: 1, name: 'count', scalars: { n: { type: 'uint32', initial: 0 } },
        run: [{ while: ['<', 'n', 5], max: 9, label: 'up', body: [{ assign: 'n', value: ['+', 'n', 1] }] }],
      };
      const { scalars, loops } = await run(program, { device: 'reference' });
      console.log(scalars.n, loops[0].trips, loops[0].exitReason);
    `);
    assert.equal(run('node', ['main.js'], application), '5 5 converged\n');
  } finally {
    rmSync(scratch, { recursive: true });
  }
});

test('the types accept what is right and refuse what is wrong', { timeout: 120_000 }, () => {
  run('node_modules/.bin/tsc', ['--project', 'test/tsconfig.json']);
});

test('every export of the package is declared, and every declared one is exported', async () => {
  const declared = [...readFileSync(join(folder, 'lib/wavegate.d.ts'), 'utf8')
    .matchAll(/^export (?:declare )?(?:function|class) (\w+)/gm)].map(([, name]) => name).sort();
  assert.deepEqual(Object.keys(await import('wavegate')).sort(), [...new Set(declared)]);
});
