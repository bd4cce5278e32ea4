let made;
export default ({ in_ask_ofnode, in_html, in_needs, in_needs_node, in_time_asked, in_time_clock, in_time_instant, in_timeline_arranging, in_timeline_lane, in_timeline_ofnode, in_timeline_timeline, in_views_states }) => made ??= (() => {
const in_needs_compare = (() => {
const { COMPARABLE, NODE } = in_ask_ofnode;
const { logOf, written } = in_needs;
const { asking, ofNode } = in_needs_node;
function ofBoth(state) {
const { place, known } = state;
const [first] = ofNode(state);
if (place.from === null || place.to === null) return [first];
const other = asking(
{ from: place.from + place.shift, to: place.to + place.shift }, known);
return [first, {
slot: 'compared', query: NODE,
variables: { ...logOf(known), node: place.other || place.name, ...other },
}, {
slot: 'comparable', query: COMPARABLE, isAside: true,
variables: {
...logOf(known), node: place.name, since: written(known.began),
},
}];
}
return { ofBoth };
})();
const in_timeline_pairing = (() => {
function shifted(lane, by) {
if (by === 0) return lane;
const moved = (span) =>
({ ...span, from: span.from + by, to: span.to + by });
return {
...lane,
spans: lane.spans.map(moved),
unseen: lane.unseen.map(moved),
marks: lane.marks.map((mark) => ({ ...mark, at: mark.at + by })),
};
}
function paired(left, right, names) {
const others = new Map(right.map((lane) => [lane.id, shifted(lane, names.by)]));
const lanes = left.flatMap((lane) => {
const other = others.get(lane.id);
others.delete(lane.id);
return [named(lane, 'a', names.left), ...(other
? [named(other, 'b', names.right)] : [])];
});
return [...lanes, ...[...others.values()].map(
(lane) => named(lane, 'b', names.right))];
}
const named = (lane, side, name) =>
({ ...lane, id: `${side} ${lane.id}`, title: `${name} ${lane.title}` });
return { shifted, paired };
})();
const in_views_compare = (() => {
const { html } = in_html;
const { ofBoth } = in_needs_compare;
const { readAsked } = in_time_asked;
const { readInstant } = in_time_instant;
const { dayAndClock, difference } = in_time_clock;
const { arranged } = in_timeline_arranging;
const { readied } = in_timeline_lane;
const { lanesOfNode } = in_timeline_ofnode;
const { paired } = in_timeline_pairing;
const { Timeline } = in_timeline_timeline;
const { Coverage, Empty, Trouble, Waiting } = in_views_states;
const needsOf = ofBoth;
function Compare({ page }) {
const { place } = page;
const { name, zone, shift } = place;
const other = place.other || name;
const answers = [page.answers.of(page.nodeSlot), page.answers.of('compared')];
const nodes = answers.map(({ data }) => data?.node ?? null);
const failed = answers.filter(({ error }) => error !== '');
const about = shift === 0 ? '' : `, ${difference(shift)} from it`;
return html`
<section class="compare" aria-labelledby="title">
<div class="title"><h1 id="title"><small>Compare</small> ${name}
<small> with </small> ${other}<small>${about}</small></h1></div>
<${Others} page=${page} other=${other} />
${failed.map((answer) => html`<${Trouble} answer=${answer} zone=${zone}
onRetry=${() => page.answers.retry()} />`)}
${nodes.some((node) => node === null)
? failed.length === 0 && html`<${Waiting} lines=${6}
says="Loading both" />`
: html`<${Both} page=${page} nodes=${nodes} other=${other} />`}
</section>
`;
}
function Both({ page, nodes: [left, right], other }) {
const { place } = page;
const { name, zone, shift } = place;
const lanes = (node) => lanesOfNode(
node.timeline, node.why.verdicts.slice(-1), page.sources, page.end);
const isSame = other === name;
const together = paired(lanes(left), lanes(right), {
left: isSame ? '①' : name, right: isSame ? '②' : other, by: -shift,
}).map(readied);
const window = page.nodeWindow;
const { shown, folded } = arranged(together, place, window);
const moved = (to) => page.go(to, { replace: true });
return html`
${[[left, window.from], [right, window.from + shift]].map(([node, from], n) => html`
<p key=${n} class="side"><b>${isSame ? '①②'[n] : node.name}</b>
${' '}from ${dayAndClock(from, zone)}:
${' '}${node.why.verdicts.at(-1)?.sentence ?? 'no incidents'}</p>
${!node.why.coverage.complete
&& html`<${Coverage} coverage=${node.why.coverage} zone=${zone} />`}`)}
${shown.length === 0
? html`<${Empty} says="Nothing recorded of both in this window."
links=${[]} />`
: html`<${Timeline} lanes=${shown} folded=${folded} pinned=${place.pinned}
window=${window} zone=${zone} chosen=${place.entry || null}
isOld=${false} onWindow=${moved}
onOpen=${(entry) => page.go({ entry })}
onLane=${(does, id) =>
page.lane(does, id, shown)} />`}
`;
}
function Others({ page, other }) {
const { place } = page;
const { name, from } = place;
const node = page.answers.of(page.nodeSlot).data?.node;
const gang = new Set((node?.impact.workloads ?? []).flatMap(
(hit) => hit.nodes));
const incidents = page.answers.of('comparable').data?.incidents?.nodes ?? [];
return html`
<form class="others-of" onSubmit=${(event) => {
event.preventDefault();
const { node: named, time } = event.target.elements;
const near = page.nodeWindow.from;
const at = readAsked(time.value, { now: page.now(), near, zone: place.zone });
const shift = at === null ? place.shift : at - near;
page.go({ other: named.value.trim(), shift });
}}>
<label>Node <input name="node" autocomplete="off" value=${other} /></label>
<label>from <input name="time" autocomplete="off"
placeholder="the same time" /></label>
<button type="submit">Compare</button>
</form>
<p class="suggested">
${[...gang].filter((one) => one !== name).map((one) => html`
<a key=${one} href=${page.keep({ other: one, shift: 0 })}
>${one}, of the same gang</a> `)}
${incidents.map((one) => {
const at = readInstant(one.from) ?? 0;
const began = readInstant(node?.why.verdicts.at(-1)?.beganAt ?? '') ?? from;
if (began === null || at === began) return null;
return html`<a key=${one.id} href=${page.keep({ other: '',
shift: at - began })}>${name} at ${dayAndClock(at, place.zone)}</a> `;
})}
</p>
`;
}
return { needsOf, Compare };
})();
return { in_needs_compare, in_timeline_pairing, in_views_compare };
})();
