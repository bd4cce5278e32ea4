let made;
export default ({ in_ask_fragments, in_html, in_needs, in_needs_span, in_time_clock, in_time_instant, in_views_states, in_words_plain }) => made ??= (() => {
const in_ask_ofplaces = (() => {
const { COVERAGE, LOG, OF_LOG } = in_ask_fragments;
const PLACES = `query Places(${LOG}, $at: DateTime) {
places(${OF_LOG}, at: $at) {
places { name nodes }
conflicts { node holds holdsBy other otherBy }
${COVERAGE}
}
}`;
const PLACE = `query Place(${LOG}, $name: String!, $since: DateTime,
$until: DateTime) {
place(${OF_LOG}, name: $name, since: $since, until: $until) {
name undated
relations { child relation from to witness }
claims { entry at type isKnown source says }
minutes { at claims }
${COVERAGE}
}
incidents(${OF_LOG}, place: $name, since: $since, until: $until,
last: 100, steps: 1) {
nodes { id happened cause nodes from sentence
verdicts { id node at beganAt } }
}
}`;
return { PLACES, PLACE };
})();
const in_needs_places = (() => {
const { PLACE, PLACES } = in_ask_ofplaces;
const { logOf, nameOf, written } = in_needs;
const { spanOf } = in_needs_span;
function ofPlaces({ place, known }) {
if (place.name === '') {
const variables = { ...logOf(known), at: written(place.to) };
return [{ slot: 'places', query: PLACES, variables }];
}
const variables = { ...logOf(known), name: nameOf(place),
...spanOf(place, known) };
return [{ slot: `place ${nameOf(place)}`, query: PLACE, variables }];
}
return { ofPlaces };
})();
const in_views_places = (() => {
const { html } = in_html;
const { nameOf } = in_needs;
const { ofPlaces } = in_needs_places;
const { dayAndClock } = in_time_clock;
const { readInstant } = in_time_instant;
const { counted, prose } = in_words_plain;
const { Coverage, Empty, Trouble, Waiting } = in_views_states;
const needsOf = ofPlaces;
const NODES_SHOWN = 8;
function Places({ page }) {
const name = nameOf(page.place);
const answer = page.answers.of(name === '' ? 'places' : `place ${name}`);
const { data, error } = answer;
return html`
<section class="places" aria-labelledby="title">
<div class="title"><h1 id="title">${name === '' ? 'Places'
: html`<small>Place</small> ${name}`}</h1></div>
<${Trouble} answer=${answer} zone=${page.place.zone}
onRetry=${() => page.answers.retry()} />
${data === null
? error === '' && html`<${Waiting} lines=${6} says="Loading places" />`
: name === ''
? html`<${All} page=${page} found=${data.places} />`
: html`<${One} page=${page} place=${data.place}
incidents=${data.incidents.nodes} />`}
</section>
`;
}
function All({ page, found }) {
const { places = [], conflicts = [] } = found ?? {};
if (places.length === 0) {
return html`<${Empty} says="No node names a place, by labels or claims."
links=${[]} />`;
}
return html`
<${Coverage} coverage=${found.coverage} zone=${page.place.zone} />
<table class="stacked">
<thead><tr><th scope="col">Place</th>
<th scope="col" class="number">Nodes</th>
<th scope="col">Behind it</th></tr></thead>
<tbody>${places.map(({ name, nodes }) => html`
<tr key=${name}>
<td class="whole"><${Named} page=${page} name=${name} /></td>
<td class="number" data-name="nodes">${nodes.length}</td>
<td>${namesOf(nodes)}</td></tr>`)}</tbody>
</table>
${conflicts.length > 0 && html`
<h2>Contradictions</h2>
<ul>${conflicts.map((one) => html`
<li>${one.node}: ${one.holds} by ${one.holdsBy}; ${one.other} by
${' '}${one.otherBy}, which is older</li>`)}</ul>`}
`;
}
const often = (minutes) => minutes.reduce((sum, one) => sum + one.claims, 0);
const most = (minutes) => Math.max(...minutes.map((one) => one.claims));
function namesOf(nodes) {
const more = nodes.length - NODES_SHOWN;
return [...nodes.slice(0, NODES_SHOWN), ...(more > 0 ? [`${more} more`] : [])]
.join(', ');
}
function Named({ page, name }) {
const [kind, ...rest] = name.split('/');
const to = kind === 'node' ? { view: ('node') }
: { view: ('places'), kind };
return html`<a href=${page.href({ ...to, name: rest.join('/') })}>${name}</a>`;
}
function One({ page, place, incidents }) {
const { zone } = page.place;
const at = (text, none) => {
const instant = readInstant(text ?? '');
return instant === null ? none : dayAndClock(instant, zone);
};
if (place === null) {
return html`<${Empty} says="Nothing was behind it in this window, and
nothing was claimed of it." links=${[
{ href: page.href({ view: 'places' }), says: 'All places' }]} />`;
}
return html`
<${Coverage} coverage=${place.coverage} zone=${zone} />
<h2>What happened there</h2>
${incidents.length === 0
? html`<p>${place.claims.length === 0 ? 'No incidents.'
: 'Claims, and no incident of a node behind it.'}</p>`
: html`<ol class="happened">${incidents.map((one) => html`
<li key=${one.id}><a href=${page.incidentLink(one)}>${one.sentence}</a>
${' '}<small>${prose(one.cause)}, ${at(one.from, '')}</small></li>`)}
</ol>`}
<h2>What was claimed of it</h2>
${place.claims.length === 0 ? html`<p>Nothing.</p>` : html`
<ul class="claims">${place.claims.map((one) => html`
<li key=${one.entry}><a href=${page.keep({ entry: one.entry })}
>${at(one.at, '')}</a> ${one.says}${
one.isKnown ? '' : ' (unknown type)'}</li>`)}</ul>`}
${often(place.minutes) > place.claims.length && html`
<p class="quiet">${counted(often(place.minutes), 'claim')} in all, in
${' '}${counted(place.minutes.length, 'minute')}, at most
${' '}${most(place.minutes)} in one.</p>`}
<h2>What is behind it</h2>
<table class="stacked">
<thead><tr><th scope="col">Place</th><th scope="col">From</th>
<th scope="col">Until</th><th scope="col">Shown by</th></tr></thead>
<tbody>${place.relations.map((one) => html`
<tr key="${one.child} ${one.from}">
<td class="whole"><${Named} page=${page} name=${one.child} />${
one.relation === 'behind' ? '' : ` (${one.relation})`}</td>
<td data-name="from">${at(one.from, 'before')}</td>
<td data-name="until">${at(one.to, 'now')}</td>
<td data-name="shown by">${one.witness}</td></tr>`)}</tbody>
</table>
${place.undated > 0 && html`<p class="quiet">and ${
counted(place.undated, 'node')} more.</p>`}
`;
}
return { needsOf, Places };
})();
return { in_ask_ofplaces, in_needs_places, in_views_places };
})();
