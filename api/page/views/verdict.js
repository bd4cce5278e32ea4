/** A verdict: the sentence first, then the steps that led to it, as cards. */

import { html } from '../html.js';
import { light } from '../lighting.js';
import { readInstant } from '../time/instant.js';
import { clock, day, zoneName } from '../time/clock.js';
import { actorName } from '../words/author.js';
import { lasts } from '../words/incident.js';
import { counted, objectName, prose, term } from '../words/plain.js';

/** Steps that have a key of their own. */
const STEPS_WITH_KEYS = 9;

/**
 * The verdict that is shown: its sentence, its details, its path.
 * @param {{page: import('../page.js').Page, verdict: any, jobs: any[]}} given
 *   `jobs` are those that it hit
 */
export function VerdictCard({ page, verdict, jobs }) {
  const at = readInstant(verdict.at) ?? 0;
  return html`
    <article class="verdict open" id="verdict-${verdict.id}">
      <header>
        <p class="sentence">${verdict.sentence}</p>
        <${Sure} verdict=${verdict} />
      </header>
      <${About} rows=${[
        ...aboutOf(verdict),
        ...(jobs.length === 0 ? [] : [['Jobs hit', html`<${JobsHit}
          page=${page} hits=${jobs} />`]]),
        timesRow(at, page.place.zone),
      ]} />
      <${Path} page=${page} verdict=${verdict} />
    </article>
  `;
}

/** Named on the first screen; all are in the table of affected jobs. */
const JOBS_NAMED = 3;

/** @param {{page: import('../page.js').Page, hits: any[]}} given */
function JobsHit({ page, hits }) {
  const left = hits.length - JOBS_NAMED;
  return html`${hits.slice(0, JOBS_NAMED).map((hit, place) => html`
    ${place > 0 && ', '}<a key="${hit.workload.uid} ${hit.hitAt}"
      href=${page.workloadLink(hit.workload)} title=${hit.says}
      >${objectName(hit.workload)}</a> ${prose(hit.outcome)}`)}${left > 0
    && html` <a href="#jobs">and ${left} more</a>`}`;
}

/**
 * Details in a row, each with its name.
 * @param {{rows: [string, any][]}} given
 */
export const About = ({ rows }) => html`
  <dl class="about">
    ${rows.map(([name, says]) => html`
      <div key=${name}><dt>${name}</dt><dd>${says}</dd></div>`)}
  </dl>
`;

/**
 * The day and zone of the times of a card.
 * @param {number} at
 * @param {'utc' | 'local'} zone
 * @returns {[string, string]}
 */
export const timesRow = (at, zone) =>
  ['Times', `${day(at, zone)}, ${zoneName(zone, at)}`];

/**
 * The other verdicts or endings, one line each, newest first.
 * @param {{page: import('../page.js').Page, verdicts: any[], title: string,
 *   noun: string}} given
 */
export function OtherVerdicts({ page, verdicts, title, noun }) {
  if (verdicts.length === 0) return null;
  return html`
    <section class="others" aria-labelledby="others-title">
      <h2 id="others-title">${title}
        ${' '}<small>${counted(verdicts.length, noun)}</small></h2>
      ${verdicts.map((verdict) => html`
        <article class="verdict" key=${verdict.id}>
          <a href=${page.keep({ verdict: verdict.id, entry: '' })}>
            <span class="sentence">${verdict.sentence}</span>
            <${Sure} verdict=${verdict} /></a>
        </article>`)}
    </section>
  `;
}

/** @param {{verdict: any}} given a verdict, or an ending */
export function Sure({ verdict }) {
  const sure = prose(verdict.confidence);
  return html`<span class="sure ${sure}" title=${SURE[sure]}>${sure}</span>`;
}

/** @type {Record<string, string>} */
const SURE = {
  proven: 'the evidence rules out other causes',
  likely: 'other causes are less likely',
  possible: 'other causes are not ruled out',
  unknown: 'nothing recorded explains it',
};

/** @type {Record<string, string>} */
const MODE = {
  PLANNED: 'planned, by a decision before it',
  ABRUPT: 'abrupt, without a decision',
  UNKNOWN: 'not recorded whether planned',
};

/** @param {any} verdict @returns {[string, string][]} */
function aboutOf(verdict) {
  const { mode, cause, decision, bootIdAfter } = verdict;
  return [
    ['Mode', MODE[mode]],
    ['Cause', term(cause)],
    ...downRows(verdict),
    ...awayRows(verdict),
    ...(decision === null ? [] : [['Decided by', deciderWords(decision)]]),
    ...(bootIdAfter === null ? [] : [['Boot ID', bootWords(verdict)]]),
  ];
}

// The durations of a verdict come from the server alone, so that a list, a card
// and a sentence show the same.
/** @param {any} verdict @returns {[string, string][]} */
const downRows = ({ downSeconds }) =>
  downSeconds === null ? [] : [['Down', lasts(downSeconds, true)]];

/** @param {any} verdict @returns {[string, string][]} */
function awayRows({ happened, backInServiceAt, awaySeconds, duration }) {
  if (happened === 'JOINED') return [];
  if (happened === 'DEGRADED') {
    return [['Degraded', duration === null ? 'not known to be over'
      : lasts(duration.seconds, duration.atMost)]];
  }
  const away = awaySeconds === null ? 'never'
    : lasts(awaySeconds, duration?.kind === 'AWAY' && duration.atMost);
  return [['Out of service',
    backInServiceAt === null ? 'not back in service' : away]];
}

/** @param {any} decision */
function deciderWords({ actor, carriedOutBy, class: what }) {
  const by = carriedOutBy?.name ? `, carried out by ${carriedOutBy.name}` : '';
  return `${actorName(actor)} (${term(what)})${by}`;
}

/** @param {any} verdict */
function bootWords({ bootIdBefore, bootIdAfter }) {
  return `${shortId(bootIdBefore)} → ${shortId(bootIdAfter)}`;
}

/** @param {string | null} id */
const shortId = (id) => (id === null ? 'unknown' : id.slice(0, 8));

/**
 * The steps as cards, in the order of the log.
 * @param {{page: import('../page.js').Page,
 *   verdict: {steps: any[], evidence: any[]}}} given
 */
export function Path({ page, verdict }) {
  const { zone, entry: open } = page.place;
  return html`
    <ol class="chain" aria-label="Steps, in order">
      ${verdict.steps.map((/** @type {any} */ step, /** @type {number} */ n) => {
        const [entry] = step.entries;
        return html`
          <li key=${n} data-entries=${step.entries.join(' ')}
            class="${step.role.toLowerCase()} ${
              step.entries.includes(open) ? 'chosen' : ''}"
            onMouseEnter=${() => light(entry)}
            onMouseLeave=${() => light(null)}>
            <a href=${page.keep({ entry })} title=${step.says}
              aria-keyshortcuts=${n < STEPS_WITH_KEYS ? String(n + 1) : null}>
              <span class="step">${n + 1}</span>
              <span class="role">${prose(step.role)}</span>
              <time>${clock(readInstant(step.at) ?? 0, zone)}</time>
              <span class="says">${step.says}${byWords(step.actor)}</span>
              <span class="code">${entry}</span>
            </a>
            <${Records} page=${page} signs=${signsOf(verdict, step.entries)} />
          </li>
        `;
      })}
    </ol>
  `;
}

/** @param {any} actor */
function byWords(actor) {
  if (actor === null || !(actor.name || actor.tool)) return '';
  return `, by ${actorName({ ...actor, tool: actor.name ? null : actor.tool })}`;
}

/**
 * The records of a step besides the one that the step itself opens.
 * @param {any} verdict
 * @param {string[]} entries
 */
function signsOf(verdict, [first, ...others]) {
  return once(verdict.evidence.filter((/** @type {any} */ { entry }) =>
    entry !== first && others.includes(entry)));
}

/** @param {any} verdict */
function signsBeside({ steps, evidence }) {
  const shown = new Set(steps.flatMap((/** @type {any} */ one) => one.entries));
  return once(evidence.filter((/** @type {any} */ sign) => !shown.has(sign.entry)));
}

/** Each record once, with all that it says. @param {any[]} signs @returns {any[]} */
function once(signs) {
  const records = new Map();
  for (const sign of signs) {
    const says = records.get(sign.entry)?.says;
    records.set(sign.entry, says ? { ...sign, says: `${says}; ${sign.says}` } : sign);
  }
  return [...records.values()];
}

/**
 * More records, opened on demand.
 * @param {{page: import('../page.js').Page, signs: any[]}} given
 */
function Records({ page, signs }) {
  if (signs.length === 0) return null;
  const { zone } = page.place;
  return html`
    <details class="records">
      <summary>${counted(signs.length, 'more record')}</summary>
      <ul>
        ${signs.map((/** @type {any} */ sign, /** @type {number} */ n) => html`
          <li key="${sign.entry} ${n}">
            <a href=${page.keep({ entry: sign.entry })}>
              <time>${clock(readInstant(sign.at) ?? 0, zone)}</time>
              <span class="says">${sign.says}</span>
              <span class="code">${sign.entry}</span>
            </a>
          </li>
        `)}
      </ul>
    </details>
  `;
}

/**
 * How sure it is, and what else was recorded: the detail of a verdict.
 * @param {{page: import('../page.js').Page, verdict: any}} given
 */
export function Doubts({ page, verdict }) {
  const { rivals, missing, contradictions, gaps, evidenceLeftOut } = verdict;
  return html`
    <${Records} page=${page} signs=${signsBeside(verdict)} />
    <div class="doubts">
      <${Part} title="Other causes considered" items=${rivals.map(
        (/** @type {any} */ rival) => html`
          <span class="tag">${rival.excluded ? 'excluded' : 'possible'}</span>${' '}
          <b>${rival.cause}</b>: ${rival.because}`,
      )} />
      <${Part} title="Sources not recorded" items=${missing.map(
        (/** @type {any} */ one) => html`
          <b>${one.evidence}</b> would show
          ${' '}${one.wouldTell}`,
      )} />
      <${Part} title="Gaps that affect this verdict" items=${gaps.map(
        (/** @type {string} */ gap) => html`
          <a href=${page.keep({ entry: gap })}>${gap}</a>`,
      )} />
      <${Part} title="Evidence not shown" items=${evidenceLeftOut > 0
        ? [html`${evidenceLeftOut} more records`] : []} />
      <${Part} title="Conflicting records" items=${contradictions.map(
        (/** @type {any} */ one) => html`
          ${one.says}, but ${one.but}
          ${' '}<a href=${page.keep({ entry: one.entry })}>${one.entry}</a>`,
      )} />
    </div>
  `;
}

/** @param {{title: string, items: any[]}} given */
function Part({ title, items }) {
  if (items.length === 0) return null;
  return html`
    <section>
      <h3>${title}</h3>
      <ul>${items.map((item) => html`<li>${item}</li>`)}</ul>
    </section>
  `;
}
