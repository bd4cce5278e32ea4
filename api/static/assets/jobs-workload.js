let made;
export default ({ in_words_author, in_words_incident, in_words_plain }) => made ??= (() => {
const in_words_ending = (() => {
const { actorName } = in_words_author;
const { because } = in_words_incident;
const { objectName, term } = in_words_plain;
function endedBy({ endedBy: what, verdict }) {
if (!verdict) return term(what);
return `${term(what)}: ${because({ cause: verdict.cause, verdicts: [verdict] })}`;
}
const createdBy = ({ actor }) =>
actor ? `, created by ${actorName(actor)}` : '';
function endedByWhom({ actor, preemptor, verdict }) {
if (preemptor) return `${objectName(preemptor)}${createdBy(preemptor)}`;
const who = actor ?? verdict?.decision?.actor ?? null;
return who === null ? '' : actorName(who);
}
function pathOf({ verdict, evidence, pods, members }) {
if (verdict) return verdict;
const first = members.find(({ pod }) => pods.includes(pod));
const about = first ? `/${first.pod}: ` : '';
const own = evidence.filter(({ says }) =>
says.includes(about));
const steps = new Map();
for (const { entry, at, says: text } of own.length > 0 ? own : evidence) {
const says = about === '' ? text : text.split(about).at(-1);
const step = steps.get(entry);
if (step) step.says += `; ${says}`;
else steps.set(entry, { role: '', at, says, actor: null, entries: [entry] });
}
return { steps: [...steps.values()], evidence };
}
function lostOn({ nodes, pods, members }) {
const lost = new Set(members.flatMap(({ pod, node }) =>
pods.includes(pod) ? [node] : []));
return lost.size === 0 ? nodes : nodes.filter(
(node) => lost.has(node));
}
const VERDICTS_ALONE = 10;
function alike(verdicts) {
if (verdicts.length <= VERDICTS_ALONE) return verdicts.map((one) => [one]);
const groups = new Map();
for (const verdict of verdicts) {
const { happened, confidence, cause } = verdict;
const key = `${happened} ${confidence} ${because({ cause, verdicts: [verdict] })}`;
groups.set(key, [...(groups.get(key) ?? []), verdict]);
}
return [...groups.values()].sort((one, other) => other.length - one.length);
}
return { endedBy, createdBy, endedByWhom, pathOf, lostOn, alike };
})();
return { in_words_ending };
})();
