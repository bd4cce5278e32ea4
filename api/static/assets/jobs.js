let made;
export default ({ in_ask_fragments, in_html, in_jobs_filter, in_needs, in_needs_span, in_ordering, in_time_clock, in_time_instant, in_views_facets, in_views_headings, in_views_leftout, in_views_states, in_words_counts, in_words_ending, in_words_markdown, in_words_plain, in_words_workload }) => made ??= (() => {
const in_ask_ofjobs = (() => {
const { ACTOR, COVERAGE, LOG, OF_LOG, SLURM } = in_ask_fragments;
const JOBS = `query Jobs(${LOG}, $since: DateTime, $until: DateTime,
$namespaces: [String!], $kinds: [String!], $states: [WorkloadState!],
$endedBy: [String!], $node: String, $rack: String, $text: String,
$queues: [String], $priorities: [String], $users: [String],
$orderBy: WorkloadOrder, $last: Int, $before: String) {
workloads(${OF_LOG}, since: $since, until: $until, namespaces: $namespaces,
kinds: $kinds, states: $states, endedBy: $endedBy, node: $node, rack: $rack,
queues: $queues, priorities: $priorities, users: $users,
text: $text, orderBy: $orderBy, last: $last, before: $before) {
nodes { kind namespace name uid ${SLURM} gangSize gpus state beganAt waitingSince
endedAt restarts endings gpuHoursLost gpuHoursSinceCheckpoint
hoursWanted hoursInFull
lastEnding { id endedBy at confidence sentence actor { ${ACTOR} }
preemptor { kind namespace name actor { ${ACTOR} } }
verdict { cause fault { class }
decision { class actor { ${ACTOR} } } } } }
facets { facet words { word count } }
totals { workloads endings gpuHoursLost }
pageInfo { hasPreviousPage startCursor }
${COVERAGE}
}
}`;
const JOBS_UP = JOBS
.replace('last: $last, before: $before', 'first: $last, after: $before')
.replace('hasPreviousPage startCursor',
'hasPreviousPage: hasNextPage startCursor: endCursor');
return { JOBS, JOBS_UP };
})();
const in_jobs_jobs = (() => {
const { jobsSlot } = in_needs;
const { sorted } = in_ordering;
const { readInstant } = in_time_instant;
const { facetsOf } = in_words_counts;
const { endedBy, endedByWhom } = in_words_ending;
const { objectName, term } = in_words_plain;
const { readJobFilter } = in_jobs_filter;
const { slurmNames } = in_words_workload;
const JOB_FACETS = [
{ facet: 'ended_by', title: 'Ended by', prefix: '' },
{ facet: 'state', title: 'State', prefix: '' },
{ facet: 'kind', title: 'Kind', prefix: 'kind:' },
{ facet: 'namespace', title: 'Namespace', prefix: 'namespace:' },
{ facet: 'queue', title: 'Queue', prefix: 'queue:' },
{ facet: 'priority', title: 'Priority', prefix: 'priority:' },
{ facet: 'user', title: 'User', prefix: 'user:' },
];
const time = (text) => readInstant(text ?? '') ?? 0;
const inFull = ({ hoursWanted, hoursInFull }) =>
hoursWanted > 0 ? Math.min(hoursInFull / hoursWanted, 1) : null;
const JOB_COLUMNS = [
{ id: 'at', title: 'Last ended', order: 'LAST_ENDING',
by: ({ lastEnding }) => time(lastEnding?.at) },
{ id: 'job', title: 'Job', isWord: true, order: 'NAME',
by: ({ namespace, name }) => `${namespace}/${name}` },
{ id: 'state', title: 'State', isWord: true, by: ({ state }) => state },
{ id: 'by', title: 'Ended by', isWord: true,
by: ({ lastEnding }) => lastEnding ? endedBy(lastEnding) : '~' },
{ id: 'gpus', title: 'GPUs', order: 'GPUS', by: ({ gpus }) => gpus },
{ id: 'began', title: 'Began', order: 'BEGAN',
by: ({ beganAt }) => time(beganAt) },
{ id: 'restarts', title: 'Restarts', by: ({ restarts }) => restarts },
{ id: 'lost', title: 'GPU-hours lost', order: 'GPU_HOURS_LOST',
by: ({ gpuHoursLost }) => gpuHoursLost },
{ id: 'full', title: 'In full', by: (job) => inFull(job) ?? 2 },
{ id: 'sure', title: 'Confidence', by: ({ lastEnding }) =>
['UNKNOWN', 'POSSIBLE', 'LIKELY', 'PROVEN'].indexOf(lastEnding?.confidence) },
];
function recorderOrder(sort) {
const id = sort.replace(/^-/, '');
const order = JOB_COLUMNS.find((one) => one.id === id)?.order ?? null;
return { orderBy: order, isDown: !order || sort.startsWith('-') };
}
function jobsOf(page) {
const { place, answers } = page;
const logs = page.fleetLogs.map((known, number) => {
const slot = jobsSlot(known, number === 0);
const answer = answers.of(slot);
const pages = page.pagesOf(slot).map(({ data }) => data.workloads);
return { known, answer, pages, found: answer.data?.workloads ?? null };
});
const isOne = logs.length < 2;
const all = logs.flatMap(({ known: { log, name }, pages }) => pages.flatMap(
({ nodes }) => [...nodes].reverse().map((one) => (
{ ...one, log, cluster: isOne ? '' : name }))));
const { words } = readJobFilter(place.filter);
const chosen = all.filter((job) => {
const text = words.length === 0 ? '' : searched(job);
return words.every((word) => text.includes(word));
});
return {
logs,
jobs: sorted(JOB_COLUMNS, chosen, place.sort),
facets: facetsOf(logs.map(({ found }) => found?.facets ?? [])),
totals: totalsOf(logs.map(({ found }) => found?.totals)),
isNarrowed: words.length > 0,
};
}
function searched(job) {
const { lastEnding: ending, state, cluster } = job;
return [
objectName(job), term(state), cluster, slurmNames(job.slurm),
...(ending ? [ending.sentence, endedBy(ending), endedByWhom(ending)] : []),
].join('\n').toLowerCase();
}
function totalsOf(totals) {
const sum = (name) => totals.reduce((all, one) =>
all === null || (one && one[name] === null) ? null
: all + (one?.[name] ?? 0), 0);
return {
workloads: sum('workloads'), endings: sum('endings'),
gpuHoursLost: sum('gpuHoursLost'),
};
}
return { JOB_FACETS, inFull, JOB_COLUMNS, recorderOrder, jobsOf };
})();
const in_needs_jobs = (() => {
const { JOBS, JOBS_UP } = in_ask_ofjobs;
const { readJobFilter } = in_jobs_filter;
const { recorderOrder } = in_jobs_jobs;
const { jobsSlot, logOf, olderOf, OTHERS_EVERY } = in_needs;
const { spanOf } = in_needs_span;
const PAGE_LENGTH = 100;
function ofJobs({ place, known, cursorsOf, logs = [known] }) {
const { variables: chosen } = readJobFilter(place.filter);
const { orderBy, isDown } = recorderOrder(place.sort);
return logs.flatMap((one, number) => {
const first = {
slot: jobsSlot(one, number === 0), query: isDown ? JOBS : JOBS_UP,
variables: {
...logOf(one), ...spanOf(place, one), ...chosen, orderBy,
last: PAGE_LENGTH,
},
...(number === 0 ? {} : { every: OTHERS_EVERY }),
};
return [first, ...olderOf(first, cursorsOf)];
});
}
return { ofJobs };
})();
const in_views_jobs = (() => {
const { html } = in_html;
const { JOB_WORDS } = in_jobs_filter;
const {
inFull, jobsOf, JOB_COLUMNS, JOB_FACETS, recorderOrder,
} = in_jobs_jobs;
const { ofJobs } = in_needs_jobs;
const { readInstant } = in_time_instant;
const { clock, day, dayAndClock } = in_time_clock;
const { endedBy, endedByWhom } = in_words_ending;
const { jobsMarkdown } = in_words_markdown;
const { counted, gpuHours, prose, term } = in_words_plain;
const { partOf, slurmNames } = in_words_workload;
const { Facets } = in_views_facets;
const { Headings } = in_views_headings;
const { Holes, LeftOut } = in_views_leftout;
const { Away, Empty, Trouble, Waiting } = in_views_states;
const markdownOf = ({ jobs, place }) =>
jobsMarkdown(jobs.jobs, place.zone);
const needsOf = ofJobs;
const TONES = { DOWN: 'out', FAILED: 'out', DEGRADED: 'work', SUSPENDED: 'node',
PENDING: 'node', QUEUED: 'node' };
function Jobs({ page }) {
const { place, jobs: list } = page;
const answers = list.logs.map(({ answer }) => answer);
const failed = answers.filter(({ error }) => error !== '');
const isWaiting = answers.every(({ data }) => data === null);
return html`
<section class="fleet" aria-labelledby="title">
<h1 id="title">${isWaiting ? 'Jobs' : headline(list)}</h1>
${failed.map((answer) => html`<${Trouble} answer=${answer}
zone=${place.zone} onRetry=${() => page.answers.retry()} />`)}
${page.isOfAll && html`<${Away} away=${page.away} />`}
<${LeftOut} page=${page} />
<${Filter} page=${page} list=${list} />
${isWaiting
? failed.length === 0 && html`<${Waiting} lines=${7}
says="Loading jobs" />`
: html`<${Answered} page=${page} list=${list} />`}
${list.totals.endings === null && html`<p class="quiet">Of more than 500
jobs, states, what ended them, and GPU-hours are not counted: choose a
shorter window, or a filter.</p>`}
</section>
`;
}
function headline({ jobs, totals: { workloads, endings, gpuHoursLost }, logs,
isNarrowed }) {
const isWhole = !isNarrowed && workloads !== null;
const count = isWhole ? workloads : jobs.length;
const times = isWhole ? endings : sumOf(jobs, 'endings');
const parts = [...new Set(jobs.map(({ kind }) =>
`${partOf(kind)}s`))].sort().join(' or ');
const lost = isWhole ? gpuHoursLost : sumOf(jobs, 'gpuHoursLost');
return [
`${counted(count, 'job')}${logs.length > 1
? ` in ${counted(logs.length, 'cluster')}` : ''}`,
times > 0 && `ended or lost ${parts} ${counted(times, 'time')}`,
lost > 0 && `at least ${gpuHours(lost)} GPU-hours lost`,
].filter(Boolean).join(', ');
}
const sumOf = (jobs, name) => jobs.reduce((sum, one) => sum + one[name], 0);
function Answered({ page, list: { jobs, logs, facets } }) {
const { zone, sort } = page.place;
const { orderBy } = recorderOrder(sort);
const isOld = logs.some(({ answer: { error, key, dataKey } }) =>
error !== '' || key !== dataKey);
return html`
<div class="shift ${isOld ? 'old' : ''}">
<${Facets} page=${page} facets=${JOB_FACETS} counts=${facets} />
<div class="what-happened">
<${Holes} logs=${logs} zone=${zone} />
${jobs.length === 0
? html`<${Empty} says=${nothing(page, logs)} links=${[]} />`
: html`<table class="incidents jobs stacked">
<${Headings} page=${page} columns=${JOB_COLUMNS} />
<tbody>${jobs.map((job, n) =>
html`<${Line} key="${job.log} ${job.kind} ${job.uid} ${job.name}"
page=${page} job=${job} isChosen=${page.ui.chosen === n}
/>`)}</tbody></table>`}
${page.hasOlder && html`
<button type="button" class="more" onClick=${() => page.older()}>
${orderBy ? 'More jobs' : 'Jobs that began earlier'}</button>
<p class="quiet">${orderBy ? 'Searched' : 'Sorted, and searched'} for
causes, among the jobs above.</p>`}
</div>
</div>
`;
}
function nothing({ place: { filter } }, logs) {
const what = filter ? `No jobs match “${filter}” in this window`
: 'No jobs in this window';
return logs.every(({ found }) => found?.coverage.complete)
? `${what}.` : `${what}, in what was recorded; the recording has gaps.`;
}
function Line({ page, job, isChosen }) {
const { zone } = page.place;
const { lastEnding: ending, state, cluster } = job;
const at = readInstant(ending?.at ?? '');
const began = readInstant(job.beganAt) ?? 0;
const waits = readInstant(job.waitingSince ?? '');
const full = inFull(job);
const by = ending ? endedByWhom(ending) : '';
const sure = ending ? prose(ending.confidence) : '';
return html`
<tr class="incident ${isChosen ? 'chosen' : ''}">
<td>${at !== null && html`<time title=${dayAndClock(at, zone)}
>${clock(at, zone)}</time> <small>${day(at, zone)}</small>`}</td>
<td class="node"><a href=${page.jobLink(job)} aria-current=${isChosen}
title=${ending?.sentence ?? ''}>${job.namespace}/${job.name}</a>
${' '}<small>${[job.kind, slurmNames(job.slurm), cluster]
.filter(Boolean).join(', ')}</small></td>
<td><span class="severity ${TONES[state] ?? ''}">${term(state)}</span>${
waits !== null && html` <small>since ${clock(waits, zone)} ${
day(waits, zone)}</small>`}</td>
<td class="cause">${ending && endedBy(ending)}${by && html`
${' '}<small>by ${by}</small>`}</td>
<td data-name=${job.gpus > 0 && 'GPUs'}>${job.gpus > 0 && job.gpus}</td>
<td data-name="began"><time title="${dayAndClock(began, zone)}"
>${clock(began, zone)}</time> <small>${day(began, zone)}</small></td>
<td data-name=${job.restarts > 0 && 'restarts'}>${
job.restarts > 0 && job.restarts}</td>
<td class="lost">${job.gpuHoursLost > 0
&& `≥ ${gpuHours(job.gpuHoursLost)} GPU-h`}${
job.gpuHoursSinceCheckpoint !== null && html`
<small>and ${gpuHours(job.gpuHoursSinceCheckpoint)} since its last
checkpoint</small>`}</td>
<td class="full" data-name=${full !== null && 'in full'}>${full !== null
&& `${Math.floor(full * 100)} %`}</td>
<td>${sure && html`<span class="sure ${sure}">${sure}</span>`}</td>
</tr>
`;
}
function Filter({ page, list: { jobs, totals: { workloads } } }) {
const { filter } = page.place;
const isPart = filter !== '' || (workloads !== null && jobs.length < workloads);
const text = !isPart ? '' : workloads === null ? counted(jobs.length, 'job')
: `${jobs.length} of ${counted(workloads, 'job')}`;
return html`
<div class="filter">
<input type="search" aria-label="Filter jobs" list="job-words"
placeholder="Filter: any, preemption, down, namespace:train, llm …"
value=${filter} spellcheck="false"
onInput=${(event) =>
page.go({ filter: event.target.value }, { replace: true })} />
<datalist id="job-words">
${JOB_WORDS.map((word) => html`<option key=${word} value=${word} />`)}
</datalist>
<output>${text}</output>
</div>
`;
}
return { markdownOf, needsOf, jobsOf, Jobs };
})();
return { in_ask_ofjobs, in_jobs_jobs, in_needs_jobs, in_views_jobs };
})();
