let made;
export default ({ in_time_clock, in_time_instant, in_words_plain }) => made ??= (() => {
const in_words_markdown = (() => {
const { readInstant } = in_time_instant;
const { dayAndClock } = in_time_clock;
const { objectName, prose, valueText } = in_words_plain;
const SIGNS = /[\\`*_{}[\]<>#|~]/g;
const quoted = (text) => text.replaceAll(SIGNS, '\\$&').replaceAll('\n', ' ');
function entryMarkdown(detail, zone) {
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
function clocksOf(entry) {
return [
['occurred', readInstant(entry.occurredAt ?? '')],
['observed', readInstant(entry.observedAt)],
['recorded', readInstant(entry.recordedAt)],
];
}
function diffLines(changed) {
return changed.flatMap(({ path, old, new: now }) => [
...(old === null ? [] : [`- ${path}: ${valueText(old)}`]),
...(now === null ? [] : [`+ ${path}: ${valueText(now)}`]),
]);
}
function incidentsMarkdown(incidents, zone) {
const lines = incidents.map((incident) => {
const at = dayAndClock(readInstant(incident.from) ?? 0, zone);
const sure = prose(incident.confidence);
return `* ${at}: ${quoted(incident.sentence)} (${sure}, ${incident.id})`;
});
return `${lines.join('\n')}\n`;
}
function jobsMarkdown(jobs, zone) {
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
return { entryMarkdown, incidentsMarkdown, jobsMarkdown };
})();
return { in_words_markdown };
})();
