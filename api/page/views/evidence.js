/** One entry, opened: what it says, when, who, what changed, the document. */

import { ENTRY_DETAIL } from '../ask/ofentry.js';
import { html } from '../html.js';
import { readInstant } from '../time/instant.js';
import { dayAndClock, exactClock } from '../time/clock.js';
import { authorName } from '../words/author.js';
import { entryMarkdown } from '../words/markdown.js';
import { objectName, prose, valueText } from '../words/plain.js';
import { Trouble, Waiting } from './states.js';

/**
 * What is copied of the panel.
 * @param {import('../page.js').Page} page
 */
export const markdownOf = ({ answers, place }) =>
  entryMarkdown(answers.of('entry').data.entry, place.zone);

/**
 * What the panel requests.
 * @param {import('../needs.js').Ready} state
 */
export const needsOf = ({ place }) => [
  { slot: 'entry', query: ENTRY_DETAIL, variables: { name: place.entry } },
];

/** A document beyond this is shown on request; the browser would stall. */
const RAW_SHOWN = 200_000;

/** @param {{page: import('../page.js').Page}} given */
export function Evidence({ page }) {
  const { place } = page;
  if (place.entry === '') return null;
  const answer = page.answers.of('entry');
  const detail = answer.data?.entry ?? null;
  return html`
    <aside class="evidence" aria-labelledby="evidence-title">
      <header>
        <h2 id="evidence-title">Entry <span class="code">${place.entry}</span></h2>
        <button type="button" onClick=${() => page.copyText(place.entry)}>
          Copy name</button>
        <button type="button" class="close" aria-label="Close the entry"
          onClick=${() => page.go({ entry: '' })}>✕</button>
      </header>
      <${Trouble} answer=${answer} zone=${place.zone}
        onRetry=${() => page.answers.retry()} />
      ${detail === null
        ? answer.error === '' && html`<${Waiting} lines=${5}
            says="Opening the entry" />`
        : html`<${Opened} page=${page} detail=${detail}
            isOld=${answer.key !== answer.dataKey} />`}
    </aside>
  `;
}

/** @param {{page: import('../page.js').Page, detail: any,
 *   isOld: boolean}} given */
function Opened({ page, detail, isOld }) {
  const { entry, facts } = detail;
  const says = facts.length > 0
    ? facts.map((/** @type {any} */ fact) => fact.says)
    : [entry.says || prose(entry.operation)];
  return html`
    <div class=${isOld ? 'old' : ''}>
      ${says.map((/** @type {string} */ line) => html`<p class="says">${line}</p>`)}
      ${entry.object && html`<p>
        <a href=${page.objectLink(entry.object)}>${objectName(entry.object)}</a>
        ${' '}<span class="kind">${prose(entry.operation)}</span></p>`}
      <${Clocks} page=${page} entry=${entry} />
      <${Who} detail=${detail} />
      <${Changes} changed=${detail.changed} previous=${detail.previous}
        page=${page} />
      <${Raw} detail=${detail} />
    </div>
  `;
}

/** @param {{page: import('../page.js').Page, entry: any}} given */
function Clocks({ page, entry }) {
  const { zone } = page.place;
  const clocks = [
    ['occurred', entry.occurredAt, 'cluster clock'],
    ['observed', entry.observedAt, 'recorder clock, on receipt'],
    ['recorded', entry.recordedAt, 'database clock, on commit'],
  ];
  return html`
    <h3>Timestamps</h3>
    <dl class="clocks">
      ${clocks.map(([name, text, means]) => {
        const at = readInstant(text ?? '');
        return html`
          <dt title=${means}>${name}</dt>
          <dd title=${text ?? ''}>${at === null
            ? html`<span class="quiet">no source reports it</span>`
            : html`<time datetime=${text}>${dayAndClock(at, zone)
                .replace(/\d\d:\d\d:\d\d/, exactClock(at, zone))}</time>`}</dd>
        `;
      })}
      <dt>entry</dt><dd class="code">${entry.name}, ${entry.source
        .toLowerCase()} ${entry.resource ?? ''}
        ${entry.resourceVersion ? `, version ${entry.resourceVersion}` : ''}</dd>
    </dl>
  `;
}

/** @param {{detail: any}} given */
function Who({ detail }) {
  const { entry, writers, facts, author } = detail;
  const asked = facts.find((/** @type {any} */ fact) => fact.kind === 'REQUESTED');
  const known = [
    ...(author?.knownBy === 'AUDIT'
      ? [[authorName(author), `audit entry ${author.entry}`]] : []),
    ...(asked?.actor ? [[asked.actor, 'from the audit log']] : []),
    ...(entry.actor ? [[entry.actor, 'reported the Event']] : []),
    ...writers.map((/** @type {any} */ writer) => [
      writer.name,
      `field manager${writer.subresource ? ` of ${writer.subresource}` : ''}`,
    ]),
  ];
  return html`
    <h3>Actor</h3>
    ${known.length === 0
      ? html`<p class="quiet">This entry does not identify an actor.</p>`
      : html`<ul>${known.map(([name, how]) => html`
          <li><b>${name}</b> <span class="quiet">${how}</span></li>`)}</ul>`}
  `;
}

/**
 * What differs between two versions, changed lines only.
 * @param {{changed: any[], previous: any,
 *   page: import('../page.js').Page}} given
 */
export function Changes({ changed, previous, page }) {
  const before = previous && html`since
    ${' '}<a class="code" href=${page.keep({ entry: previous.name })}
      >${previous.name}</a>`;
  return html`
    <h3>Changes ${before}</h3>
    ${changed.length === 0
      ? html`<p class="quiet">${previous
          ? 'No significant changes.'
          : 'The log has no earlier version.'}</p>`
      : html`<ul class="changes">${changed.map((change) => html`
          <li>
            <code class="path">${change.path}</code>
            ${change.old !== null && html`
              <del><span class="hidden">before: </span
                >${valueText(change.old)}</del>`}
            ${change.new !== null && html`
              <ins><span class="hidden">after: </span
                >${valueText(change.new)}</ins>`}
          </li>`)}</ul>`}
  `;
}

/** @param {{detail: any}} given */
function Raw({ detail }) {
  const { document, raw } = detail;
  const text = document === null ? raw : JSON.stringify(document, null, 2);
  const shown = text.slice(0, RAW_SHOWN);
  return html`
    <details class="raw">
      <summary>Recorded document</summary>
      <pre tabindex="0">${shown}</pre>
      ${text.length > shown.length && html`<p class="note">The first
        ${RAW_SHOWN.toLocaleString('en')} characters of
        ${text.length.toLocaleString('en')}.</p>`}
    </details>
  `;
}
