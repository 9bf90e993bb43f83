import { openDevice, WavegateError } from 'wavegate';
import { HeatView } from './heat_view.js';
import { MeshView } from './mesh_view.js';
import { Picture } from './picture.js';
import { ProgramView } from './program_view.js';

const byId = (id) => document.getElementById(id);

/** Longer than anything that the page offers needs, and an end to a program that has none. */
const TIME_LIMIT = 120;

/** Takes one of "loading", "unavailable", "ready", "running", "converged", "bound", "error", and a sentence. */
function setState(state, text) {
  document.body.dataset.state = state;
  byId('status').textContent = text;
  for (const button of document.querySelectorAll('button.primary')) button.disabled = !device || state === 'running' || !views[selected].ready;
}

function showFigures(figures) {
  byId('figures').replaceChildren(...Object.entries(figures).flatMap(([name, value]) => {
    const term = document.createElement('dt');
    const description = document.createElement('dd');
    term.textContent = name;
    description.textContent = value;
    return [term, description];
  }));
}

function showRegions(regions) {
  const list = document.createElement('ul');
  for (const { depth, label, strategy, reason } of regions) {
    const item = document.createElement('li');
    item.style.paddingLeft = `${depth * 16}px`;
    const name = document.createElement('b');
    name.textContent = strategy;
    const why = document.createElement('small');
    why.textContent = reason;
    item.append(`${label}: `, name, why);
    list.append(item);
  }
  byId('regions').replaceChildren(list);
  byId('regions').hidden = regions.length === 0;
}

function showLegend(legend) {
  byId('legend').hidden = !legend;
  byId('low').textContent = legend?.low ?? '';
  byId('high').textContent = legend?.high ?? '';
}

export function seconds(value) {
  return value < 1 ? `${(value * 1000).toFixed(1)} ms` : `${value.toFixed(2)} s`;
}

function message(error) {
  return error instanceof WavegateError ? error.message : `An error of this page: ${error?.message ?? error}`;
}

let picture;
let device;
let selected = 'heat';
let runs = 0;
const views = {
  heat: new HeatView(byId, () => run()),
  mesh: new MeshView(byId, () => run()),
  program: new ProgramView(byId, () => run()),
};

/**
 * Draws frame by frame what the GPU is computing, until it is told to stop. Where the CPU stands in for a GPU, drawing
 * takes from the computing, so that there are few frames.
 */
function animate() {
  const pause = device.isCpu ? 400 : 0;
  let wanted = true;
  let last = 0;
  const frame = (now) => {
    if (!wanted) return;
    if (now - last >= pause) {
      picture.draw();
      last = now;
    }
    requestAnimationFrame(frame);
  };
  requestAnimationFrame(frame);
  return () => {
    wanted = false;
    picture.draw();
  };
}

/** Runs what the selected view wants to run. */
async function run() {
  const view = views[selected];
  if (!device || !view.ready || document.body.dataset.state === 'running') return;
  const number = ++runs;
  setState('running', 'Compiling…');
  showFigures({});
  byId('notice').textContent = '';
  try {
    const executable = await view.compile(device);
    view.show(picture);
    showRegions(executable.regions);
    showLegend(view.legend);
    setState('running', 'Running on the GPU…');
    const stop = animate();
    let report;
    try {
      report = await executable.run({ ...view.runOptions, timeLimit: TIME_LIMIT });
    } finally {
      stop();
    }
    const { converged, sentence, figures } = view.explain(report);
    view.show(picture);
    showLegend(view.legend);
    picture.draw();
    showFigures({
      ...figures,
      Time: seconds(report.seconds),
      ...(report.deviceSeconds === null ? {} : { 'On the GPU': seconds(report.deviceSeconds) }),
      Submissions: report.counters.submissions,
      'Host waits': report.counters.hostWaits,
      Observations: report.counters.observations,
      Readbacks: report.counters.readbacks === 1 ? '1, of the scalars' : report.counters.readbacks,
    });
    setState(converged ? 'converged' : 'bound', sentence);
  } catch (error) {
    setState('error', message(error));
    if (!(error instanceof WavegateError)) console.error(error);
  }
  document.body.dataset.runs = String(number);
}

function select(name) {
  selected = name;
  document.body.dataset.view = name;
  for (const tab of document.querySelectorAll('[role="tab"]')) {
    const isSelected = tab.id === `tab-${name}`;
    tab.setAttribute('aria-selected', String(isSelected));
    tab.tabIndex = isSelected ? 0 : -1;
    byId(`panel-${tab.id.slice(4)}`).hidden = !isSelected;
  }
}

/** Shows another view as it was left; one that was never run runs if it can. */
function change(name) {
  if (name === selected || document.body.dataset.state === 'running') return;
  select(name);
  if (!device) return;
  picture.clear();
  showFigures({});
  showRegions([]);
  showLegend();
  byId('notice').textContent = views[name].ready ? '' : views[name].invitation;
  setState('ready', views[name].ready ? 'Ready.' : views[name].invitation);
  if (views[name].ready) run();
}

function listenToTabs() {
  const tabs = [...document.querySelectorAll('[role="tab"]')];
  for (const tab of tabs) tab.addEventListener('click', () => change(tab.id.slice(4)));
  byId('tab-heat').parentElement.addEventListener('keydown', (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    const next = tabs[(tabs.indexOf(document.activeElement) + step + tabs.length) % tabs.length];
    next.focus();
    change(next.id.slice(4));
  });
}

async function start() {
  select('heat');
  listenToTabs();
  showLegend();
  try {
    device = await openDevice('webgpu');
  } catch (error) {
    const isMissing = !navigator.gpu;
    byId('device').textContent = 'No GPU';
    byId('notice').textContent = isMissing ? 'This browser has no WebGPU.' : 'The GPU cannot be used.';
    setState('unavailable', isMissing
      ? 'This browser has no WebGPU, or does not offer it to this page. Current versions of Chrome, Edge, Safari and Firefox have it, on pages that come over https or from this machine.'
      : message(error));
    return;
  }
  const subgroups = device.subgroupSize > 1 ? `, subgroups of ${device.subgroupSize}` : '';
  byId('device').textContent = `${device.name || 'WebGPU'}${device.isCpu ? ' (software)' : ''}${subgroups}`;
  device.lost.then((reason) => {
    device = undefined;
    setState('error', `The browser took the GPU away: ${reason}. Reload the page.`);
  });
  picture = new Picture(byId('canvas'), device.gpuDevice);
  if (device.isCpu) views.heat.askForLess();
  byId('notice').textContent = '';
  setState('ready', 'Ready.');
  addEventListener('resize', () => picture.draw());
  run();
}

start();
