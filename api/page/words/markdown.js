/** What is copied: Markdown that a ticket or a chat shows as it is meant. */

import { readInstant } from '../time/instant.js';
import { dayAndClock } from '../time/clock.js';
import { objectName, prose, valueText } from './plain.js';

/** Signs that Markdown would read. */
const SIGNS = /[\\`*_{}[\]<>#|~]/g;

/** @param {string} text */
const quoted = (text) => text.replaceAll(SIGNS, '\\$&').replaceAll('\n', ' ');

/**
 * An entry that was opened.
 * @param {any} detail the answer of the query for it
 * @param {'utc' | 'local'} zone
 * @returns {string}
 */
export function entryMarkdown(detail, zone) {
  const { entry, facts, changed, writers } = detail;
  const about = entry.object ? ` ${objectName(entry.object)}` : '';
  const lines = [`**${entry.name}** ${prose(entry.operation)}${quoted(about)}`, ''];
  for (const fact of facts) lines.push(`* ${quoted(fact.says)}`);
  for (const [name, at] of clocksOf(entry)) {
    if (at !== null) lines.push(`* ${name} ${dayAndClock(at, zone)}`);
  }
  for (const writer of writers) lines.push(`* written by ${quoted(writer.name)}`);
  if (changed.length > 0) lines.push('', '```diff', ...diffLines(changed), '```');
  return `${lines.join('\n')}\n`;
}

/** @param {any} entry @returns {[string, number | null][]} */
function clocksOf(entry) {
  return [
    ['occurred', readInstant(entry.occurredAt ?? '')],
    ['observed', readInstant(entry.observedAt)],
    ['recorded', readInstant(entry.recordedAt)],
  ];
}

/** @param {any[]} changed */
function diffLines(changed) {
  return changed.flatMap(({ path, old, new: now }) => [
    ...(old === null ? [] : [`- ${path}: ${valueText(old)}`]),
    ...(now === null ? [] : [`+ ${path}: ${valueText(now)}`]),
  ]);
}

/**
 * The incidents of a list.
 * @param {any[]} incidents
 * @param {'utc' | 'local'} zone
 * @returns {string}
 */
export function incidentsMarkdown(incidents, zone) {
  const lines = incidents.map((incident) => {
    const at = dayAndClock(readInstant(incident.from) ?? 0, zone);
    const sure = prose(incident.confidence);
    return `* ${at}: ${quoted(incident.sentence)} (${sure}, ${incident.id})`;
  });
  return `${lines.join('\n')}\n`;
}

/**
 * The jobs of a list.
 * @param {any[]} jobs
 * @param {'utc' | 'local'} zone
 * @returns {string}
 */
export function jobsMarkdown(jobs, zone) {
  const lines = jobs.map((job) => {
    const { lastEnding: ending } = job;
    const about = `* ${quoted(objectName(job))} (${prose(job.state)})`;
    if (!ending) return about;
    const at = dayAndClock(readInstant(ending.at) ?? 0, zone);
    const sure = prose(ending.confidence);
    return `${about}: ${at}: ${quoted(ending.sentence)} (${sure}, ${ending.id})`;
  });
  return `${lines.join('\n')}\n`;
}
