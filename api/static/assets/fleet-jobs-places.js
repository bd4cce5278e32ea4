let made;
export default ({ in_needs, in_time_asked }) => made ??= (() => {
const in_needs_span = (() => {
const { written } = in_needs;
const { readAge } = in_time_asked;
const LAST = '24h';
function spanOf(place, known) {
if (place.from !== null && place.to !== null) {
return { since: written(place.from), until: written(place.to) };
}
const { began, until, kind } = known;
const everything = { since: written(began), until: null };
const age = readAge(place.last || LAST);
if (age === null || began === null || until === null) return everything;
if (until - age < began) return everything;
if (kind === 'TAPE') return { since: written(until - age), until: null };
return { since: place.last || LAST, until: null };
}
return { spanOf };
})();
return { in_needs_span };
})();
