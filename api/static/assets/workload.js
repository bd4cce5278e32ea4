let made;
export default ({ in_app, in_ask_fragments, in_html, in_needs, in_needs_metrics, in_time_clock, in_time_instant, in_timeline_lane, in_timeline_ofnode, in_timeline_timeline, in_timeline_unseen, in_views_states, in_views_verdict, in_words_ending, in_words_plain, in_words_workload }) => made ??= (() => {
const in_ask_ofworkload = (() => {
const { COVERAGE, LOG, OF_LOG, PLACEMENT, ACTOR, SLURM } = in_ask_fragments;
const WORKLOAD = `query Workload(${LOG}, $name: String!,
$since: DateTime, $until: DateTime) {
workload(${OF_LOG}, name: $name, since: $since, until: $until) {
workload { kind namespace name uid group }
isGang gpus nodes ranInFullAt
placements { ${PLACEMENT} }
${COVERAGE}
}
}`;
const ENDINGS = `query Endings(${LOG}, $name: String!,
$since: DateTime, $until: DateTime) {
whyWorkload(${OF_LOG}, name: $name, since: $since, until: $until) {
note workload { kind namespace name } ${SLURM} pod state since sentence
obstacles { entry at says }
endings { id endedBy at nodes pods podCount outcome runningAgainAt gpuHoursLost
confidence sentence stopped
members { pod node says entry }
container { name exitCode reason }
actor { ${ACTOR} } preemptor { kind namespace name pod actor { ${ACTOR} } }
evidence { entry at says } missing { evidence wouldTell }
verdict { cause fault { class } decision { class actor { ${ACTOR} } }
steps { role at says actor { name tool } entries }
evidence { entry at says } }
verdicts { id node happened cause confidence sentence beganAt at
backInServiceAt fault { class } decision { class actor { ${ACTOR} } } }
moreVerdicts { happened cause nodes } }
${COVERAGE}
}
}`;
return { WORKLOAD, ENDINGS };
})();
const in_timeline_ofworkload = (() => {
const { readInstant } = in_time_instant;
const { lostOn } = in_words_ending;
const { addPlacement } = in_timeline_ofnode;
const { covered } = in_timeline_unseen;
const LANES_ALL = 40;
const LANES_MAX = 400;
function lanesOfWorkload(story, endings, sources, end) {
const lanes = new Map();
for (const placement of story.placements) {
const node = placement.node ?? 'waiting for a node';
const lane = lanes.get(node) ?? emptyLane(node);
addPlacement(lane, placement);
lanes.set(node, lane);
}
const struck = new Set(endings.flatMap(lostOn));
const isLarge = lanes.size > LANES_ALL && struck.size > 0;
for (const ending of endings) addEnding(lanes, ending);
const { gaps } = story.coverage;
return [...lanes]
.filter(([node]) => !isLarge || struck.has(node))
.slice(0, LANES_MAX)
.map(([, lane]) => covered(lane, gaps, sources, end));
}
function emptyLane(node) {
return {
id: `node ${node}`, title: node, group: 'workloads', spans: [], marks: [],
unseen: [],
};
}
function addEnding(lanes, { at, pods, members, evidence }) {
const times = new Map(evidence.map((one) =>
[one.entry, one.at]));
for (const { pod, node, says, entry } of members) {
if (pods.includes(pod)) lanes.get(node)?.marks.push({
at: readInstant(times.get(entry) ?? at) ?? 0, tone: 'notready',
label: says, entry,
});
}
}
return { LANES_ALL, lanesOfWorkload };
})();
const in_needs_workload = (() => {
const { ENDINGS, WORKLOAD } = in_ask_ofworkload;
const { logOf, nameOf } = in_needs;
const { metricsOf } = in_needs_metrics;
function ofWorkload(state) {
const { place, known } = state;
const variables = {
...logOf(known), name: nameOf(place), since: null, until: null,
};
return [
{ slot: 'endings', query: ENDINGS, variables },
{ slot: 'workload', query: WORKLOAD, variables },
...metricsOf(state),
];
}
return { ofWorkload };
})();
const in_views_workload = (() => {
const { Part } = in_app;
const { html } = in_html;
const { ofWorkload } = in_needs_workload;
const { readInstant } = in_time_instant;
const { clock, dayAndClock } = in_time_clock;
const { readied } = in_timeline_lane;
const { LANES_ALL, lanesOfWorkload } = in_timeline_ofworkload;
const { Timeline } = in_timeline_timeline;
const {
alike, createdBy, endedBy, endedByWhom, lostOn, pathOf,
} = in_words_ending;
const { counted, gpuHours, objectName, prose } = in_words_plain;
const { partOf, phaseOf, slurmNames } = in_words_workload;
const { Coverage, Empty, Figure, Trouble, Waiting } = in_views_states;
const {
About, Doubts, OtherVerdicts, Path, Sure, timesRow,
} = in_views_verdict;
const needsOf = ofWorkload;
const NODES_NAMED = 10;
const ROWS_SHOWN = 60;
const titled = (word) => word.charAt(0).toUpperCase() + word.slice(1);
const lanesOf = ({ data, endings, sources, end }) =>
lanesOfWorkload(data, endings, sources, end).map(readied);
function Workload({ page }) {
const { place } = page;
const answers = [page.answers.of('endings'), page.answers.of('workload')];
const [why, story] = [answers[0].data?.whyWorkload, answers[1].data?.workload];
const failed = answers.find(({ error }) => error !== '');
const isOld = answers.some(({ error, key, dataKey }) =>
error !== '' || key !== dataKey);
return html`
<section class="workload" aria-labelledby="title">
<div class="title">
<h1 id="title"><small>${place.kind}</small>
${' '}${place.namespace}/${place.name}
${why && html` <small>${prose(why.state)}</small>`}</h1>
${why?.slurm && html`<p class="quiet">${slurmNames(why.slurm)}</p>`}
<div class="does">
<button type="button" onClick=${() => page.copy()}>
Copy as Markdown</button>
</div>
</div>
${failed && html`<${Trouble} answer=${failed} zone=${place.zone}
onRetry=${() => page.answers.retry()} />`}
${why ? html`<div class=${isOld ? 'old' : ''}>
<${Why} page=${page} why=${why} /></div>`
: !failed && html`<${Waiting} lines=${4} says="Loading endings" />`}
${story && html`<div class=${isOld ? 'old' : ''}>
${story.placements.length === 0
? html`<p class="quiet">No ${partOf(place.kind)}s recorded.</p>`
: html`<${Story} page=${page} story=${story} />`}</div>`}
</section>
`;
}
function Why({ page, why }) {
const { zone } = page.place;
const open = page.openEnding;
return html`
<${Coverage} coverage=${why.coverage} zone=${zone}
absent=${open?.missing.map((one) => one.evidence)} />
${open === null
? html`<p class="sentence">${why.sentence}</p>
${why.obstacles.length > 0
&& html`<${Obstacles} page=${page} obstacles=${why.obstacles} />`}`
: html`<${EndingCard} key=${open.id} page=${page} ending=${open} />`}
`;
}
function Obstacles({ page, obstacles }) {
return html`
<h2>What keeps it from starting</h2>
<table class="members stacked"><tbody>${
obstacles.map(({ entry, at, says }) => html`
<tr key=${entry + says} data-entries=${entry}>
<td><time>${dayAndClock(readInstant(at) ?? 0, page.place.zone)}</time></td>
<td class="whole">${says}</td>
<td><a class="code" href=${page.keep({ entry })}>${entry}</a></td>
</tr>`)}</tbody></table>
`;
}
function EndingCard({ page, ending }) {
const { zone } = page.place;
const by = endedByWhom(ending);
const again = readInstant(ending.runningAgainAt ?? '');
const nodes = lostOn(ending);
const { podCount, stopped, outcome, gpuHoursLost, preemptor } = ending;
const rows = [
['Cause', endedBy(ending)],
...(by === '' ? [] : [['By', preemptor ? html`<a href=${
page.workloadLink(preemptor)}>${objectName(preemptor)}</a>${
createdBy(preemptor)}` : by]]),
...(nodes.length === 0 ? [] : [['On', html`<${Nodes} page=${page}
nodes=${nodes} ending=${ending} />`]]),
...(podCount === 0 ? [] : [['Lost', counted(podCount,
partOf(page.place.kind))
+ (stopped.length > 0 ? `, ${stopped.length} more stopped` : '')]]),
...(outcome === null ? [] : [['Outcome', prose(outcome)]]),
...(again === null ? [] : [['Running again', clock(again, zone)]]),
...(gpuHoursLost > 0 ? [['GPU-hours', `≥ ${gpuHours(gpuHoursLost)} lost`]] : []),
timesRow(readInstant(ending.at) ?? 0, zone),
];
return html`
<article class="verdict open" id="ending-${ending.id}">
<header>
<p class="sentence">${ending.sentence}</p>
<${Sure} verdict=${ending} />
</header>
<${About} rows=${rows} />
<${Path} page=${page} verdict=${pathOf(ending)} />
</article>
`;
}
function Nodes({ page, nodes, ending }) {
const left = nodes.length - NODES_NAMED;
return html`${nodes.slice(0, NODES_NAMED).map((node, place) => html`
${place > 0 && ', '}<a key=${node}
href=${page.nodeLink(node, ending)}>${node}</a>`)}${left > 0
&& ` and ${counted(left, 'more node', 'more nodes')}`}`;
}
function Story({ page, story }) {
const { place, endings, openEnding: open } = page;
const { zone } = place;
const lost = endings.reduce((sum,
one) => sum + (one.gpuHoursLost ?? 0), 0);
const full = readInstant(story.ranInFullAt ?? '');
const part = partOf(place.kind);
const what = story.isGang ? `all ${part}s required` : 'Pods run independently';
const unseen = story.nodes.length - page.lanes.length;
return html`
<h2>${titled(part)}s by node</h2>
${story.nodes.length > LANES_ALL && unseen > 0 && html`<p class="quiet">
Only nodes on which ${part}s were lost: ${counted(unseen, 'other node')} not
drawn.</p>`}
${page.lanes.length === 0
? html`<${Empty} says="No ${part}s recorded in this window." links=${[]} />`
: html`<${Timeline} lanes=${page.lanes} folded=${[]}
pinned=${place.pinned} window=${page.workloadWindow} zone=${zone}
chosen=${place.entry || null} isOld=${false}
onWindow=${(to) => page.go(to, { replace: true })}
onOpen=${(entry) => page.go({ entry })}
onLane=${(does, id) =>
page.lane(does, id, page.lanes)} />`}
${page.kept.length > 0 && html`<${Part} page=${page} name="metrics" />`}
<div class="figures">
<${Figure} value=${String(story.gpus)}
says="${story.gpus === 1 ? 'GPU' : 'GPUs'}, ${what}" />
<${Figure} value=${String(story.nodes.length)}
says=${story.nodes.length === 1 ? 'node' : 'nodes'} />
<${Figure} value="≥ ${gpuHours(lost)}" says="GPU-hours lost, plus
any work since the last checkpoint (not recorded)" />
<${Figure} value=${full === null ? 'never'
: dayAndClock(full, zone)} says="first ran in full" />
</div>
${open !== null && html`
<${Lost} page=${page} ending=${open} />
<${Doubts} page=${page} verdict=${{ ...pathOf(open), rivals: [],
contradictions: [], gaps: [], missing: open.missing,
evidenceLeftOut: 0 }} />
<${OnNodes} page=${page} ending=${open} />
<${OtherVerdicts} page=${page} title="Also ended" noun="time"
verdicts=${endings.filter((one) => one !== open)
.reverse()} />`}
<h2>${titled(part)}s</h2>
<${Pods} page=${page} placements=${story.placements} />
`;
}
function Member({ page, namespace, name }) {
if (partOf(page.place.kind) !== 'Pod') return name;
return html`<a href=${page.objectLink({ kind: 'Pod', namespace, name })}
>${name}</a>`;
}
function Lost({ page, ending: { pods, members, stopped } }) {
if (members.length === 0) return null;
const left = members.length - ROWS_SHOWN, part = partOf(page.place.kind);
const isLost = ({ pod }) => pods.includes(pod);
const inOrder = [...members.filter(isLost),
...members.filter((one) => !isLost(one))];
return html`
<h2>Lost ${part}s <small>${counted(pods.length, part)}${stopped.length > 0
&& `; ${counted(stopped.length, 'other')} stopped because the workload
did not go on`}</small></h2>
<table class="members stacked">
<thead><tr><th scope="col">${titled(part)}</th><th scope="col">Node</th>
<th scope="col">What its record says</th><th scope="col">Entry</th></tr>
</thead>
<tbody>${inOrder.slice(0, ROWS_SHOWN).map((one) => html`
<tr key=${one.pod} data-entries=${one.entry}>
<td class="whole"><${Member} page=${page} name=${one.pod}
namespace=${page.place.namespace} />${
!isLost(one) && html` <small>stopped</small>`}</td>
<td data-name="on">${one.node && html`<a href=${page.href({
view: 'node', name: one.node })}>${one.node}</a>`}</td>
<td class="whole">${one.says}</td>
<td><a class="code" href=${page.keep({ entry: one.entry })}
>${one.entry}</a></td>
</tr>`)}</tbody>
</table>
${left > 0 && html`<p class="quiet">and ${counted(left, `more ${part}`)}</p>`}
`;
}
function OnNodes({ page, ending }) {
const groups = alike(ending.verdicts);
if (groups.length === 0) return null;
return html`
<h2>What happened to the nodes</h2>
<ul class="on-nodes">
${groups.map((group) => html`
<li key=${group[0].id}>${group[0].sentence}
${' '}<${Sure} verdict=${group[0]} />
${' '}<small>${group.length > 1 && `and ${group.length - 1} alike: `}
<${Nodes} page=${page} ending=${ending}
nodes=${group.map(({ node }) => node)} /></small></li>`)}
${ending.moreVerdicts.map((more) => html`
<li key="${more.happened} ${more.cause}">and ${counted(
more.nodes, 'more node')}: ${more.happened} (${more.cause})</li>`)}
</ul>
`;
}
function Pods({ page, placements }) {
const { zone } = page.place;
const left = placements.length - ROWS_SHOWN, part = partOf(page.place.kind);
const when = (text) => {
const at = readInstant(text ?? '');
return at === null ? '' : html`<time>${dayAndClock(at, zone)}</time>`;
};
return html`
<p class="quiet">${counted(placements.length, part)}, in order of
binding.</p>
<table class="pods stacked">
<thead><tr><th scope="col">${titled(part)}</th><th scope="col">Node</th>
<th scope="col">Bound</th><th scope="col">Ran</th>
<th scope="col">Ended</th><th scope="col">How</th></tr></thead>
<tbody>${placements.slice(0, ROWS_SHOWN).map((one) => html`
<tr key="${one.uid} ${one.boundAt}">
<td class="whole"><${Member} page=${page} name=${one.pod}
namespace=${one.namespace} /></td>
<td data-name="on">${one.node && html`<a href=${page.href({ view: 'node',
name: one.node })}>${one.node}</a>`}</td>
<td data-name=${one.boundAt && 'bound'}>${when(one.boundAt)}</td>
<td data-name=${one.runningAt && 'ran'}>${when(one.runningAt)}</td>
<td data-name=${one.endedAt && 'ended'}>${when(one.endedAt)}</td>
<td>${[phaseOf(one), one.disruption, ...one.exitCodes.map(
(code) => `exit ${code}`)]
.filter(Boolean).join(', ')}</td>
</tr>`)}</tbody>
</table>
${left > 0 && html`<p class="quiet">and ${counted(left, `more ${part}`)}</p>`}
`;
}
return { needsOf, lanesOf, Workload };
})();
return { in_ask_ofworkload, in_needs_workload, in_timeline_ofworkload, in_views_workload };
})();
