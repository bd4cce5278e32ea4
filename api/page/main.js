/** Puts the page together with the browser: address, keys, clock, network. */

import { App, titleOf } from './app.js';
import { Answers } from './ask/answers.js';
import { post } from './ask/post.js';
import { takeToken } from './ask/token.js';
import { DoingPage } from './doing.js';
import { copyText, saveText } from './handing.js';
import { html, render } from './html.js';
import { following } from './live.js';
import { nameOf } from './needs.js';
import { isLoadingPart } from './parts.js';
import { actionOf } from './route/keys.js';
import { readPlace } from './route/place.js';
import { windowAround } from './reading.js';

takeToken();

const root = /** @type {HTMLElement} */ (document.getElementById('page'));
let isDue = false;

/** Render the page, once for all changes. */
function changed() {
  if (isDue) return;
  isDue = true;
  queueMicrotask(() => {
    isDue = false;
    show();
  });
}

const answers = new Answers({
  post,
  changed,
  now: () => Date.now(),
  later: (does, wait) => setTimeout(does, wait),
  forget: (timer) => clearTimeout(timer),
});

const here = () => location.pathname + location.search;

const page = new DoingPage(readPlace(here()), answers, {
  changed,
  now: () => Date.now(),
  post: (query, variables) => post(query, variables, new AbortController().signal),
  copy: copyText,
  save: saveText,
  visit: (address, { replace }) => {
    if (address === here()) return;
    if (replace) history.replaceState(null, '', address);
    else history.pushState(null, '', address);
  },
  follow: (address) => leave(address),
});

/** Go to another address of the page. @param {string} address */
function leave(address) {
  const before = page.place;
  history.pushState(null, '', address);
  page.arrive(readPlace(here()));
  const { view, name } = page.place;
  if (view === before.view && name === before.name) return;
  scrollTo(0, 0);
  document.getElementById('main')?.focus({ preventScroll: true });
}

const follow = following(page);

function show() {
  chooseWindow();
  chooseWorkload();
  follow();
  answers.want(page.needs);
  render(html`<${App} page=${page} />`, root);
  document.title = titleOf(page);
  document.body.dataset.state = stateOf();
  document.querySelector('.chosen')?.scrollIntoView({ block: 'nearest' });
}

/** A node without a window is shown when something happened to it last. */
function chooseWindow() {
  const { place } = page;
  const latest = answers.of('latest');
  const isAsked = latest.dataKey !== '' && latest.key === latest.dataKey;
  if (!['node', 'compare'].includes(place.view) || place.from !== null) return;
  if (!isAsked || page.known === null) return;
  if (JSON.parse(latest.dataKey)[1].node !== place.name) return;
  const verdict = latest.data.why?.verdicts.at(-1);
  const window = verdict
    ? windowAround(verdict, page.known.began)
    : page.nodeWindow;
  page.go(window, { replace: true });
}

/** What belongs to a larger workload is shown as that. */
function chooseWorkload() {
  const { place } = page;
  const { data, key, dataKey } = answers.of('endings');
  const why = data?.whyWorkload;
  if (place.view !== 'workload' || !why || why.pod || key !== dataKey) return;
  const { kind, namespace, name } = why.workload;
  const [asked] = place.kind.split('.');
  const isIt = kind.toLowerCase() === asked.toLowerCase() && name === place.name;
  if (isIt || JSON.parse(dataKey)[1].name !== nameOf(place)) return;
  page.go({ kind: kind.toLowerCase(), namespace, name }, { replace: true });
  page.set({ said: why.note ?? '' });
}

/** Whether all answers are loaded, as an attribute of the page. */
function stateOf() {
  const found = page.needs
    .map(({ slot, isAside }) => ({ ...answers.of(slot), isAside }))
    .filter(({ isAside, isFinal }) => !(isAside && isFinal));
  if (found.some(({ error }) => error !== '')) return 'failed';
  const isReady = found.every(({ key, dataKey }) => key !== '' && key === dataKey);
  return isReady && !isLoadingPart() ? 'ready' : 'asking';
}

addEventListener('popstate', () => page.arrive(readPlace(here())));
addEventListener('keydown', (event) => {
  const within = /** @type {Element} */ (event.target).tagName;
  if (page.ui.shown !== '' && event.key !== 'Escape') return;
  const asked = actionOf(event, within);
  if (asked === null) return;
  event.preventDefault();
  page.act(asked);
});
document.addEventListener('click', (event) => {
  if (event.button !== 0 || event.defaultPrevented) return;
  if (event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
  const link = /** @type {Element} */ (event.target).closest('a');
  if (link === null || link.origin !== location.origin || link.download) return;
  if (link.getAttribute('href')?.startsWith('#')) return;
  event.preventDefault();
  leave(link.pathname + link.search);
});
addEventListener('online', () => answers.retry());

changed();
