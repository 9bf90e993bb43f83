// Serves this folder to a browser of this machine: the page, and the package that it imports.
//   node serve.js [PORT]
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { createServer } from 'node:http';
import { extname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('.', import.meta.url));
const TYPES = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json',
  '.wasm': 'application/wasm',
};

async function answer(request, response) {
  const path = decodeURIComponent(new URL(request.url, 'http://127.0.0.1').pathname);
  if (path === '/') return response.writeHead(302, { location: '/page/' }).end();
  // Nothing above the folder, and none of what starts with a dot.
  const relative = normalize(path.endsWith('/') ? `${path}index.html` : path);
  const file = join(ROOT, relative);
  const found = !relative.includes('/.') && file.startsWith(ROOT) && (await stat(file).catch(() => undefined));
  if (!found?.isFile()) return response.writeHead(404, { 'content-type': 'text/plain' }).end('There is no such file.\n');
  response.writeHead(200, { 'content-type': TYPES[extname(file)] ?? 'application/octet-stream', 'cache-control': 'no-cache' });
  return createReadStream(file).pipe(response);
}

/** Resolves to the server and its address. Port 0 is any that is free. */
export function serve(port = 0) {
  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.writeHead(400).end());
  });
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', () => resolve({ server, url: `http://127.0.0.1:${server.address().port}/` }));
  });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { url } = await serve(Number(process.argv[2] ?? 8080)).catch((error) => {
    console.error(`Cannot serve: ${error.message}`);
    process.exit(1);
  });
  console.log(`Open ${url} in a browser with WebGPU; Ctrl+C ends this.`);
}
